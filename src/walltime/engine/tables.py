"""From the engine's integers to the tables of a result."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import ALLOCATIONS, JOBS, STATES, label_series, time_series, workload_columns
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.engine.recorder import ALLOCATION_WORDS, JOB_WORDS
from walltime.kernel.jobs import State

STATE_CODES = np.array(
    [STATES.index({"future": "waiting", "held": "waiting"}.get(name, name)) if name in STATES or name in ("future", "held")
     else STATES.index("running") for name in (state.name.lower() for state in State)],
    np.int32,
)
"""The published state behind each of the engine's; a suspended or ending job still runs."""


def build_tables(simulation: Simulation, arrivals: Arrivals, clusters: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The jobs table in order of entry and the allocations table in order of start."""
    return (
        _jobs(simulation.recorder.jobs, arrivals, simulation.live_jobs, clusters),
        _allocations(simulation.recorder.allocations, clusters),
    )


def _jobs(rows: Any, arrivals: Arrivals, live: list[dict[str, Any]], clusters: list[str]) -> pl.DataFrame:
    order = np.argsort(rows.column(JOB_WORDS.index("seq")), kind="stable")

    def word(name: str) -> np.ndarray:
        return rows.column(JOB_WORDS.index(name), order)

    described = _descriptions(arrivals, live, word("row"))
    submit, start, end, held = word("submit"), word("first_start"), word("end"), word("held")
    state = STATE_CODES[word("state")]
    still_running = (state == STATES.index("running")) & (start >= 0)
    wait = np.where(start < 0, -1, np.where(still_running, start - submit, end - submit - held))
    columns = {
        **described,
        "cluster": label_series("cluster", np.where(state == STATES.index("rejected"), -1, word("cluster")), clusters),
        "submit": time_series("submit", submit),
        "eligible": time_series("eligible", word("eligible")),
        "start": time_series("start", start),
        "end": time_series("end", end),
        "cores": pl.Series("cores", word("cores")),
        "requested_time": time_series("requested_time", word("requested")),
        "run_time": time_series("run_time", np.where(start < 0, -1, word("progress"))),
        "wait": time_series("wait", wait),
        "state": label_series("state", state, list(STATES)),
        "restarts": pl.Series("restarts", word("attempt")),
        "backfilled": pl.Series("backfilled", word("backfilled") != 0),
        "lost_core_seconds": pl.Series("lost_core_seconds", word("lost") / SECOND),
        "phase": pl.repeat(None, len(order), dtype=pl.String, eager=True),
        "workflow": pl.repeat(None, len(order), dtype=pl.String, eager=True),
    }
    return pl.DataFrame([columns[name].alias(name) for name in JOBS])


def _descriptions(arrivals: Arrivals, live: list[dict[str, Any]], row: np.ndarray) -> dict[str, pl.Series]:
    """The workload's own columns for the given rows; negative rows are the live jobs, counted from -1 down."""
    batches = list(arrivals.batches)
    if live:
        batches.append(_live_workload(live))
        arrived = sum(len(batch) for batch in arrivals.batches)
        row = np.where(row < 0, arrived - 1 - row, row)
    if not batches:
        batches = [Workload({"submit": np.zeros(0, np.int64), "run_time": np.zeros(0, np.int64)})]
    parts = [workload_columns(batch) for batch in batches]
    out = {}
    whole = np.array_equal(row, np.arange(sum(len(batch) for batch in batches)))
    for name in parts[0]:
        series = parts[0][name] if len(parts) == 1 else pl.concat([part[name].cast(JOBS[name]) for part in parts])
        out[name] = series if whole else series.gather(row)
    return out


def _live_workload(live: list[dict[str, Any]]) -> Workload:
    """What live sources submitted, as a table; its rows are in order of entry."""
    columns: dict[str, list[Any]] = {}
    for name in ("job_id", "submit", "run_time", "requested_time", "cores", "user", "group", "account", "queue", "name"):
        values = [job.get(name) for job in live]
        if any(value is not None for value in values):
            times = name in ("submit", "run_time", "requested_time")
            columns[name] = [value / SECOND if times and value is not None else value for value in values]
    return Workload.from_columns(**columns)


def _allocations(rows: Any, clusters: list[str]) -> pl.DataFrame:
    order = np.lexsort((rows.column(ALLOCATION_WORDS.index("seq")), rows.column(ALLOCATION_WORDS.index("start"))))

    def word(name: str) -> np.ndarray:
        return rows.column(ALLOCATION_WORDS.index(name), order)

    columns = {
        "job_id": pl.Series("job_id", word("job_id")),
        "attempt": pl.Series("attempt", word("attempt")),
        "cluster": label_series("cluster", word("cluster"), clusters),
        "start": time_series("start", word("start")),
        "end": time_series("end", word("end")),
        "cores": pl.Series("cores", word("cores")),
        "nodes": pl.repeat(None, len(order), dtype=pl.String, eager=True),
        "outcome": label_series("outcome", STATE_CODES[word("outcome")], list(STATES)),
    }
    return pl.DataFrame([columns[name].alias(name) for name in ALLOCATIONS])
