"""From the engine's integers to the tables of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import (
    ALLOCATIONS,
    JOBS,
    OUTAGES,
    OUTCOMES,
    STATES,
    constant,
    find_whole,
    label_series,
    time_series,
    workload_columns,
)
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload, encode_labels
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.engine.recording.columns import TIMES, allocation_columns, job_columns, order_rows, place_by_start
from walltime.engine.recording.recorder import Recorder, range_lines
from walltime.kernel.jobs import Outcome, State

PUBLISHED = {"future": "waiting", "held": "waiting", "suspended": "running"}
STATE_CODES = np.array(
    [STATES.index(PUBLISHED.get(name, name)) for name in (state.name.lower() for state in State)], np.uint8
)
"""The published state behind each of the engine's; a suspended job still runs."""
OUTCOME_CODES = np.append(STATE_CODES, np.array([OUTCOMES.index(one.name.lower()) for one in Outcome], np.uint8))
OUTCOME_CODES[State.SUSPENDED] = OUTCOMES.index("suspended")


def build_tables(simulation: Simulation, arrivals: Arrivals, clusters: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The jobs table in order of entry and the allocations table in order of start."""
    written = Written(simulation.recorder, arrivals.batches, arrivals.live_jobs, simulation.chosen)
    return tabulate(written, simulation, arrivals, clusters)


@dataclass(frozen=True)
class Written:
    """What the recorder has of some jobs, numbered from 0 by entry; what they came with, and the queues they chose."""

    recorder: Recorder
    batches: list[Workload]
    live: list[dict[str, Any]]
    chosen: dict[int, int]


def tabulate(
    written: Written, simulation: Simulation, arrivals: Arrivals, clusters: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The two tables of what is written."""
    row = order_rows(written.recorder)
    described = _descriptions(written.batches, written.live, row, written.recorder.count_jobs())
    if (moved := arrivals.submissions()) is not None:
        known = described["submit"].to_numpy()
        row = np.arange(len(known)) if row is None else row
        described["submit"] = pl.Series("submit", np.where(row >= 0, moved[np.maximum(row, 0)], known))
    del row
    where = _placements(written.recorder)
    jobs = _jobs(written.recorder, described, clusters, simulation.now)
    written.recorder.jobs.clear()
    texts = None if where is None else where.texts
    allocations = _allocations(written.recorder, described["job_id"], clusters, texts)
    if where is not None:
        jobs = jobs.with_columns(_nodes_held(where, jobs["nodes"]))
    if written.chosen:
        rules = [arrivals.site or cluster.assignments for cluster in simulation.clusters]
        names = [[] if one is None else one.names for one in rules]
        jobs = jobs.with_columns(_queues_chosen(jobs["queue"], written.chosen, names))
    return jobs, allocations


def _jobs(recorder: Recorder, described: dict[str, pl.Series], clusters: list[str], last: int) -> pl.DataFrame:
    """`last` is when the simulation ended: until then those have waited that are still in it."""
    submit = described["submit"].to_numpy()
    recorded, missing = job_columns(recorder, submit, last, STATE_CODES)
    cluster = recorded["cluster"]
    cluster[recorded["state"] == STATES.index("rejected")] = MISSING
    columns = {
        **described,
        **{name: _seconds(name, recorded[name], missing[name]) for name in TIMES},
        "cluster": label_series("cluster", cluster, clusters),
        "submit": time_series("submit", submit),
        "requested_time": time_series("requested_time", described["requested_time"].to_numpy()),
        "state": label_series("state", recorded["state"], list(STATES)),
        "restarts": _mostly_zero("restarts", recorded.get("attempt"), len(submit)),
        "backfilled": pl.Series("backfilled", recorded["backfilled"].view(np.bool_)),
        "lost_core_seconds": _mostly_zero("lost_core_seconds", recorded.get("lost"), len(submit)),
    }
    return pl.DataFrame([columns[name].alias(name) for name in JOBS])


def _seconds(name: str, seconds: np.ndarray, missing: int) -> pl.Series:
    """Times that are seconds already, empty where they are negative: `missing` of them are."""
    series = pl.Series(name, seconds)
    return series.set(pl.Series(seconds < 0), None) if missing else series


def _mostly_zero(name: str, values: np.ndarray | None, size: int) -> pl.Series:
    """The column; one that holds nothing but zeros, as this one mostly does, takes no memory."""
    return constant(name, 0, size, {**JOBS, **ALLOCATIONS}) if values is None else pl.Series(name, values)


def _descriptions(
    arrived: list[Workload], live: list[dict[str, Any]], row: np.ndarray | None, entered: int
) -> dict[str, pl.Series]:
    """The workload's own columns for the given rows; negative rows are the live jobs, counted from -1 down. None: for
    the rows of all that has `entered`, in their order."""
    batches = list(arrived)
    if live and row is not None:
        batches.append(_live_workload(live))
        row = np.where(row < 0, sum(len(batch) for batch in arrived) - 1 - row, row)
    if not batches:
        batches = [Workload({"submit": np.zeros(0, np.int64), "run_time": np.zeros(0, np.int64)})]
    parts = [_described(batch) for batch in batches]
    if live and row is not None:  # a job without a name has none, whatever else was submitted
        parts[-1]["name"] = pl.Series("name", [job.get("name") for job in live], dtype=pl.String)
    out = {}
    size = sum(len(batch) for batch in batches)
    whole = size == entered and (row is None or np.array_equal(row, np.arange(size)))
    for name in parts[0]:
        pieces = [part[name] for part in parts]
        same = all(piece.dtype == pieces[0].dtype for piece in pieces)
        series = pl.concat(pieces if same else [piece.cast(JOBS[name]) for piece in pieces])
        out[name] = series if whole else series.head(entered) if row is None else series.gather(row)
    return out


def _described(batch: Workload) -> dict[str, pl.Series]:
    """What the jobs table takes from a batch; times still in microseconds."""
    columns = workload_columns(batch)
    for name in ("submit", "requested_time", "cores"):
        columns[name] = pl.Series(name, batch.column(name))
    return columns


LIVE = (
    *("job_id", "submit", "run_time", "requested_time", "cores", "user", "group", "account", "queue", "name"),
    *("qos", "nodes", "memory", "gpus", "phase", "workflow", "recorded_wait"),
)
"""What the jobs table takes from jobs that were submitted in the run."""


def _live_workload(live: list[dict[str, Any]]) -> Workload:
    """What live sources submitted, as a table; its rows are in order of entry."""
    columns: dict[str, list[Any]] = {}
    for name, column in COLUMNS.items():
        values = [job.get(name) for job in live]
        if name == "run_time" or (name in LIVE and any(value is not None for value in values)):
            times = column.kind == "time"
            columns[name] = [value / SECOND if times and value is not None else value for value in values]
    return Workload.from_columns(**columns)


@dataclass(frozen=True)
class _Placements:
    """Where each allocation was: its nodes as a text, and how many; empty and 0 for one that was on no nodes. Those
    that are not `given` are what is left of one before, of a job that has given nodes back."""

    seq: np.ndarray
    given: np.ndarray
    texts: pl.Series
    count: np.ndarray


def _placements(recorder: Recorder) -> _Placements | None:
    """From the recorded ranges of nodes; None where no allocation was on nodes."""
    row, length, ranges = recorder.placements()
    if not len(row):
        return None
    seq = recorder.allocation_column("seq")
    lines = pl.Series([range_lines(length, ranges)]).str.split("\n").explode()
    packed = recorder.allocation_column("packed")
    whole = find_whole(seq, packed >> 32, packed & 0xFF == Outcome.RESIZED)
    count = np.zeros(len(seq), np.int64)
    count[row] = np.add.reduceat(((ranges >> 24) & 0xFFFFF) + 1, np.cumsum(length) - length)
    if len(row) < len(count):
        known = pl.Series(np.full(len(count), -1)).scatter(row, np.arange(len(row)))
        lines = lines.gather(known.replace(-1, None))
    return _Placements(seq, whole == np.arange(len(whole)), lines, count)


def _nodes_held(where: _Placements, asked: pl.Series) -> pl.Series:
    """How many nodes each job was given the last time; what it asked for where it held none."""
    last = np.zeros(len(asked), np.int64)
    given = where.given
    last[where.seq[given]] = where.count[given]  # a later one comes later in the record
    held = pl.Series("nodes", last)
    return pl.select(pl.when(held > 0).then(held).otherwise(asked).alias("nodes")).to_series()


def build_outages(simulation: Simulation, clusters: list[str]) -> pl.DataFrame | None:
    """The table of outages in order of start; None where nothing was ever shut."""
    rows = [(machine.index, one) for machine in simulation.machines for one in machine.outages]
    if not rows:
        return None
    rows.sort(key=lambda row: row[1].start)
    columns = {
        "cluster": label_series("cluster", np.array([index for index, _ in rows]), clusters),
        "start": time_series("start", np.array([one.start for _, one in rows])),
        "end": time_series("end", np.array([one.end for _, one in rows])),
        "kind": pl.Series("kind", [one.kind for _, one in rows], dtype=pl.String),
        "name": pl.Series("name", [one.name or None for _, one in rows], dtype=pl.String),
        "nodes": pl.Series("nodes", [_range_text(one.nodes, one.shares) for _, one in rows], dtype=pl.String),
        "cores": pl.Series("cores", [one.cores for _, one in rows]),
    }
    return pl.DataFrame([columns[name].alias(name) for name in OUTAGES])


def _range_text(nodes: np.ndarray | None, cores: np.ndarray | None) -> str | None:
    """Nodes as allocations write them: `0-3:24,7:5`."""
    if nodes is None or cores is None:
        return None
    cuts = np.flatnonzero((np.diff(nodes) != 1) | (np.diff(cores) != 0)) + 1
    runs = zip(np.split(nodes, cuts), np.split(cores, cuts), strict=True)
    return ",".join(f"{run[0]}:{each[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}:{each[0]}" for run, each in runs)


def _queues_chosen(queue: pl.Series, chosen: dict[int, int], clusters: list[list[str]]) -> pl.Series:
    """The queues, with those that jobs with a choice came to; every job has its order of entry as its row.

    Of several clusters, a choice is the cluster's number and, in the lower 16 bits, that of one of its queues.
    """
    if queue.dtype == pl.String:
        queue = label_series("queue", *encode_labels([name or "" for name in queue.to_list()]))
    codes = queue.to_physical().fill_null(MISSING).to_numpy().astype(np.int64)
    names = [] if queue.dtype == pl.String else queue.dtype.categories.to_list()  # type: ignore[attr-defined]
    numbers = {name: code for code, name in enumerate(names)}
    if any(clusters):
        own = [[numbers.setdefault(name, len(numbers)) for name in queues] for queues in clusters]
        chosen = {seq: own[choice >> 16][choice & 0xFFFF] for seq, choice in chosen.items()}
    codes[list(chosen)] = list(chosen.values())
    return label_series("queue", codes, list(numbers))


def _allocations(recorder: Recorder, job_id: pl.Series, clusters: list[str], nodes: pl.Series | None) -> pl.DataFrame:
    size = recorder.count_allocations()
    places = place_by_start(recorder, len(job_id))
    by_entry = places is not None
    if not by_entry:
        places = _invert(np.lexsort([recorder.allocation_column("seq"), recorder.allocation_column("start")]))
    if nodes is not None:
        nodes = nodes.gather(_invert(places[recorder.allocation_column("seq")] if by_entry else places))
    recorded, unended = allocation_columns(recorder, places, by_entry, job_id.to_numpy(), OUTCOME_CODES)
    columns = {
        "job_id": pl.Series("job_id", recorded["job_id"]),
        "attempt": _mostly_zero("attempt", recorded.get("attempt"), size),
        "cluster": label_series("cluster", recorded["cluster"], clusters),
        "start": pl.Series("start", recorded["start"]),
        "end": _seconds("end", recorded["end"], unended),
        "cores": pl.Series("cores", recorded["cores"]),
        "nodes": constant("nodes", None, size, ALLOCATIONS) if nodes is None else nodes,
        "outcome": label_series("outcome", recorded["outcome"], list(OUTCOMES)),
    }
    return pl.DataFrame([columns[name].alias(name) for name in ALLOCATIONS])


def _invert(order: np.ndarray) -> np.ndarray:
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places
