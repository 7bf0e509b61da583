"""From what became of the jobs to the tables of a result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from walltime.core.tables import (
    ALLOCATIONS,
    JOBS,
    OUTCOMES,
    STATES,
    label_series,
    time_series,
    workload_columns,
)
from walltime.core.time import SECOND
from walltime.core.workload import Workload, encode_labels
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import Attempt, TraceJob

ASKED = ("job_id", "name", "cores", "requested_time", "memory", "gpus")
"""What of a job its user may ask for otherwise, besides its queue."""
LIMIT_SLACK = 100.0
"""Seconds by which a job may outlive its request: limits are whole minutes, and looked at every half minute."""


def build_tables(
    jobs: Sequence[TraceJob], workload: Workload, site: Site, cluster: str, base: int, last: int
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The jobs table in order of submission, and the allocations table in order of start.

    A job that was not submitted before the run was cut off is in neither. `last` is when that was, or when the run was
    over.
    """
    entered = sorted((job for job in jobs if job.state != "future"), key=lambda job: (job.submit, job.row))
    return _jobs(entered, workload, site, cluster, base, last), _allocations(entered, cluster, base, _Places(site))


def _jobs(jobs: Sequence[TraceJob], workload: Workload, site: Site, cluster: str, base: int, last: int) -> pl.DataFrame:
    work = workload.column("run_time")
    figures = [_measure(job, base, last, job.asked.get("run_time", int(work[job.row]))) for job in jobs]
    rows = np.array([job.row for job in jobs], np.int64)
    columns: dict[str, Any] = {name: series.gather(rows) for name, series in workload_columns(workload).items()}
    state = np.array([STATES.index(job.state) for job in jobs], np.int32)

    def times(name: str) -> pl.Series:
        return time_series(name, np.array([figure[name] for figure in figures], np.int64))

    if workload.has("queue"):
        columns["queue"] = _name_queues(jobs, workload)
    held = [len(job.attempts[-1].nodes) if job.attempts and not site.pool else None for job in jobs]
    columns |= {
        "cluster": label_series("cluster", np.where(state == STATES.index("rejected"), -1, 0), [cluster]),
        "submit": time_series("submit", np.array([job.submit - base for job in jobs], np.int64)),
        "requested_time": time_series("requested_time", workload.column("requested_time")[rows]),
        "cores": pl.Series("cores", workload.column("cores")[rows]),
        "nodes": pl.Series("nodes", held, dtype=pl.Int64).fill_null(columns["nodes"]),
        **{name: times(name) for name in ("eligible", "start", "end", "run_time", "held_time", "wait")},
        "state": label_series("state", state, list(STATES)),
        "restarts": pl.Series("restarts", [figure["restarts"] for figure in figures], dtype=pl.Int64),
        "backfilled": pl.Series("backfilled", [job.backfilled for job in jobs], dtype=pl.Boolean),
        "lost_core_seconds": pl.Series(
            "lost_core_seconds", [figure["lost"] / SECOND for figure in figures], dtype=pl.Float64
        ),
    }
    for name in ASKED if any(job.asked for job in jobs) else ():
        columns[name] = _as_asked(name, columns[name], jobs)
    return pl.DataFrame([columns[name].alias(name) for name in JOBS])


def _as_asked(name: str, told: pl.Series, jobs: Sequence[TraceJob]) -> pl.Series:
    """A column of the log with what users have asked for instead."""
    unit = SECOND if name == "requested_time" else 1
    values = [
        value
        if not job.asked or job.asked.get(name) is None
        else job.asked[name] / SECOND
        if unit > 1
        else job.asked[name]
        for job, value in zip(jobs, told.to_list(), strict=True)
    ]
    return pl.Series(name, values, dtype=told.dtype if told.dtype.is_numeric() else pl.String)


def _name_queues(jobs: Sequence[TraceJob], workload: Workload) -> pl.Series:
    """As the trace has them; of several that a job names, the one in which it ran."""
    names, code = workload.label_names("queue"), workload.column("queue")
    told = [names[code[job.row]] if code[job.row] >= 0 else None for job in jobs]
    labels = [job.asked.get("queue", label) for job, label in zip(jobs, told, strict=True)]
    found = [
        job.attempts[-1].partition if label is not None and "," in label and job.attempts else label
        for job, label in zip(jobs, labels, strict=True)
    ]
    return label_series("queue", *encode_labels(found))


def _measure(job: TraceJob, base: int, last: int, work: int) -> dict[str, int]:
    """Times in microseconds since the trace's zero, -1 where there is none; a completed job has done its `work`."""
    submit = job.submit - base
    arrived = submit if job.submitted is None else job.submitted - base
    eligible = -1 if job.state == "rejected" else max(arrived, -1 if job.begin is None else job.begin - base)
    held = sum(attempt.held(last) for attempt in job.attempts)
    began = [begin for attempt in job.attempts for begin, _, _ in attempt.intervals()]
    start = began[0] - base if began else -1
    end = job.end - base if job.end is not None and job.state != "rejected" else -1
    final = job.attempts[-1] if job.attempts and job.state != "waiting" else None  # earlier ones began from nothing
    done = 0 if final is None else final.held(last)
    kept = 0 if final is None or final.outcome in ("preempted", "failed") else done
    cores = int(job.request.get("min_cpus", 1))
    wait = (last - base if end < 0 else end) - submit - held
    return {
        "eligible": min(eligible, start) if start >= 0 else eligible,
        "start": start,
        "end": end,
        "run_time": work if job.state == "completed" else done if began else -1,
        "held_time": held if began else -1,
        "wait": wait if began else -1,
        "restarts": len(job.attempts) - (1 if job.attempts and job.state != "waiting" else 0),
        "lost": (held - kept) * cores,
    }


def count_disruptions(jobs: Sequence[TraceJob], failures: int) -> dict[str, int]:
    """How often which of them happened to the jobs; `failures` of nodes. Nothing where there was none."""
    attempts = [
        (attempt, attempt is job.attempts[-1] and job.end is not None) for job in jobs for attempt in job.attempts
    ]
    counts = {
        "preemptions": sum(attempt.outcome == "preempted" for attempt, _ in attempts),
        "suspensions": sum(len(attempt.pauses) for attempt, _ in attempts),
        "interruptions": sum(attempt.outcome in ("requeued", "failed") for attempt, _ in attempts),
        "requeues": sum(attempt.outcome in ("requeued", "preempted") and not last for attempt, last in attempts),
        "failures": failures,
    }
    return counts if any(counts.values()) else {}


class _Places:
    """How allocations write their nodes: `0-3:24,7:5`, by the nodes' numbers in the site's order; a pool has none."""

    def __init__(self, site: Site) -> None:
        self.number = {node.name: index for index, node in enumerate(site.nodes)}
        self.sizes = [node.cpus for node in site.nodes]
        self.linear, self.pool = site.linear, site.pool

    def write(self, attempt: Attempt) -> tuple[str | None, int]:
        """The text, and the sum of the cores."""
        if self.pool:
            return None, len(attempt.nodes)
        pairs = sorted(
            (self.number[name], self.sizes[self.number[name]] if self.linear else cpus)
            for name, cpus in zip(attempt.nodes, attempt.cpus, strict=True)
        )
        runs: list[list[int]] = []
        for node, cpus in pairs:
            if runs and runs[-1][1] + 1 == node and runs[-1][2] == cpus:
                runs[-1][1] = node
            else:
                runs.append([node, node, cpus])
        texts = [f"{first}:{cpus}" if first == last else f"{first}-{last}:{cpus}" for first, last, cpus in runs]
        return ",".join(texts), sum(cpus for _, cpus in pairs)


def _allocations(jobs: Sequence[TraceJob], cluster: str, base: int, places: _Places) -> pl.DataFrame:
    rows = [
        (begin, index, turn, job, attempt, end, outcome)
        for index, job in enumerate(jobs)
        for turn, attempt in enumerate(job.attempts)
        for begin, end, outcome in attempt.intervals()
    ]
    rows.sort(key=lambda row: row[:3])
    written = [places.write(row[4]) for row in rows]
    outcome = np.array([OUTCOMES.index(row[6]) for row in rows], np.int32)
    ends = [-1 if row[5] is None else row[5] - base for row in rows]
    columns = {
        "job_id": pl.Series("job_id", [row[3].label for row in rows], dtype=pl.Int64),
        "attempt": pl.Series("attempt", [row[2] for row in rows], dtype=pl.Int64),
        "cluster": label_series("cluster", np.zeros(len(rows), np.int32), [cluster]),
        "start": time_series("start", np.array([row[0] - base for row in rows], np.int64)),
        "end": time_series("end", np.array(ends, np.int64)),
        "cores": pl.Series("cores", [cores for _, cores in written], dtype=pl.Int64),
        "nodes": pl.Series("nodes", [text for text, _ in written], dtype=pl.String),
        "outcome": label_series("outcome", outcome, list(OUTCOMES)),
    }
    return pl.DataFrame([columns[name].alias(name) for name in ALLOCATIONS])
