"""The tables of a result: their columns, and the one way from the engine's integers to a Polars column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload

SCHEMA = 2
"""Version of the result folder's layout."""

STATES = ("completed", "timeout", "failed", "cancelled", "rejected", "running", "waiting")

OUTCOMES = (*STATES, "suspended", "requeued", "preempted")
"""How an interval of allocations ended: as the job did, or it went on later."""

JOBS: dict[str, Any] = {
    "job_id": pl.Int64,
    "name": pl.String,
    "user": pl.String,
    "group": pl.String,
    "account": pl.String,
    "queue": pl.String,
    "qos": pl.String,
    "cluster": pl.String,
    "submit": pl.Float64,
    "eligible": pl.Float64,
    "start": pl.Float64,
    "end": pl.Float64,
    "cores": pl.Int64,
    "nodes": pl.Int64,
    "memory": pl.Int64,
    "gpus": pl.Int64,
    "requested_time": pl.Float64,
    "run_time": pl.Float64,
    "held_time": pl.Float64,
    "wait": pl.Float64,
    "state": pl.String,
    "restarts": pl.Int64,
    "backfilled": pl.Boolean,
    "lost_core_seconds": pl.Float64,
    "phase": pl.String,
    "workflow": pl.String,
    "recorded_wait": pl.Float64,
}
"""jobs.parquet: a row a job, in order of entry. Text columns with few values are stored as Enum."""

ALLOCATIONS: dict[str, Any] = {
    "job_id": pl.Int64,
    "attempt": pl.Int64,
    "cluster": pl.String,
    "start": pl.Float64,
    "end": pl.Float64,
    "cores": pl.Int64,
    "nodes": pl.String,
    "outcome": pl.String,
}
"""allocations.parquet: a row for each interval in which a job held resources, in order of start."""

OUTAGES: dict[str, Any] = {
    "cluster": pl.String,
    "start": pl.Float64,
    "end": pl.Float64,
    "kind": pl.String,
    "name": pl.String,
    "nodes": pl.String,
    "cores": pl.Int64,
}
"""outages.parquet: a row for each interval in which cores were not there for all jobs, where there was one.

`kind` is one of `OUTAGE_KINDS`; `nodes` as in allocations, empty on a plain number of cores; an empty `end`: still so
when the simulation ended."""

RESOURCES: dict[str, Any] = {"job_id": pl.Int64, "resource": pl.String, "amount": pl.Int64}
"""resources.parquet: what each job holds besides cores while it runs, where more than cores is counted: bytes of
`memory`, `gpus`, licences and others by their names. A row for each job and resource of which it holds some."""

OUTAGE_KINDS = ("failure", "maintenance", "reservation")

SERIES: dict[str, Any] = {"time": pl.Float64, "series": pl.String, "entity": pl.String, "value": pl.Float64}
"""series.parquet: the mean of a quantity over the interval that begins at `time`; of fair share, the value then."""


@dataclass
class Record:
    """What an engine wrote down: the two tables that are the truth, and what a reader must know about them.

    `facts` are counts and settings that the tables cannot tell: capacity, skipped jobs, killed jobs, perfect estimates.
    `durations` (seconds of CPU and wall time) may differ between runs and never enter the digest. `outages` (columns of
    `OUTAGES`) is None where nothing was ever down or reserved; `samples` (of `SERIES`) where no part kept any;
    `resources` (of `RESOURCES`) where cores are all that is counted.
    """

    jobs: pl.DataFrame
    allocations: pl.DataFrame
    facts: dict[str, Any] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    outages: pl.DataFrame | None = None
    samples: pl.DataFrame | None = None
    resources: pl.DataFrame | None = None


def time_series(name: str, microseconds: np.ndarray) -> pl.Series:
    """Seconds, empty where the time is negative (missing)."""
    series = pl.Series(name, np.asarray(microseconds) / SECOND)
    missing = np.asarray(microseconds) < 0
    return series if not missing.any() else series.set(pl.Series(missing), None)


def ticks(series: pl.Series, missing: int = MISSING) -> np.ndarray:
    """Whole microseconds from a column of seconds, `missing` where it is empty or not a number."""
    seconds = series.cast(pl.Float64).to_numpy()
    known = np.isfinite(seconds)
    out = np.full(len(seconds), missing, np.int64)
    out[known] = np.rint(seconds[known] * SECOND).astype(np.int64)
    return out


def label_series(name: str, codes: np.ndarray, names: list[str]) -> pl.Series:
    """Codes as an Enum column, empty where the code is missing."""
    kind = pl.Enum(names)
    if not names or not len(codes):
        return pl.Series(name, [None] * len(codes), dtype=kind)
    clean = np.where(codes < 0, 0, codes).astype(np.uint32)
    series = pl.Series(name, clean).cat.to(kind)
    missing = codes < 0
    return series if not missing.any() else series.set(pl.Series(missing), None)


def integer_series(name: str, values: np.ndarray) -> pl.Series:
    """Integers, empty where missing (-1)."""
    series = pl.Series(name, np.asarray(values, np.int64))
    missing = values == MISSING
    return series if not missing.any() else series.set(pl.Series(missing), None)


def constant(name: str, value: Any, size: int, schema: dict[str, Any] = JOBS) -> pl.Series:
    """A column of one value, in the column's own type."""
    return pl.Series(name, [value], dtype=schema[name]).new_from_index(0, size)


def workload_columns(workload: Workload) -> dict[str, pl.Series]:
    """The columns of `jobs` that come from the workload alone, in its row order."""
    size = len(workload)
    columns: dict[str, pl.Series] = {"job_id": pl.Series("job_id", workload.column("job_id"))}
    columns["name"] = (
        pl.Series("name", workload.column("name"), dtype=pl.String)
        if workload.has("name")
        else constant("name", None, size)
    )
    for name in ("user", "group", "account", "queue", "qos", "phase", "workflow"):
        columns[name] = (
            label_series(name, workload.column(name), workload.label_names(name))
            if workload.has(name)
            else constant(name, None, size)
        )
    for name in ("nodes", "memory"):
        columns[name] = (
            integer_series(name, workload.column(name)) if workload.has(name) else constant(name, None, size)
        )
    columns["gpus"] = pl.Series("gpus", workload.column("gpus"))
    columns["recorded_wait"] = (
        time_series("recorded_wait", workload.column("recorded_wait"))
        if workload.has("recorded_wait")
        else constant("recorded_wait", None, size)
    )
    return columns
