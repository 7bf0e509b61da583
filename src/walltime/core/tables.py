"""The tables of a result: their columns, and the one way from the engine's integers to a Polars column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from walltime.core.codes import find_first, translate
from walltime.core.errors import InputError
from walltime.core.rounding import round_seconds
from walltime.core.time import SECOND
from walltime.core.workload import MISSING, Workload

SCHEMA = 2
"""Version of the result folder's layout."""

STATES = ("completed", "timeout", "failed", "cancelled", "rejected", "running", "waiting")

OUTCOMES = (*STATES, "suspended", "requeued", "preempted", "resized")
"""How an interval of allocations ended: as the job did, or it went on later; `resized`: at once, with fewer nodes."""

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

PLANS: dict[str, Any] = {"time": pl.Float64, "job_id": pl.Int64, "planned": pl.Float64, "nodes": pl.String}
"""plans.parquet, kept where the scenario says so (`record: {plans: true}`): from `time` on the job was planned to start
at `planned`, on these `nodes` (by number, as `0-3,7`; empty where any serve)."""

OUTAGE_KINDS = ("failure", "maintenance", "reservation")

SERIES: dict[str, Any] = {"time": pl.Float64, "series": pl.String, "entity": pl.String, "value": pl.Float64}
"""series.parquet: the mean of a quantity over the interval that begins at `time`; of fair share, the value then."""


@dataclass(frozen=True)
class Traffic:
    """What programs moved in a cluster: from `start` to `end` (microseconds) `rate` bytes a second, of a kind (0 read,
    1 written, 2 sent, 3 received) at an end: a node or, behind those, a component. `capacity` by kind and end."""

    start: np.ndarray
    end: np.ndarray
    owner: np.ndarray
    kind: np.ndarray
    rate: np.ndarray
    capacity: np.ndarray
    names: list[str]


@dataclass
class Record:
    """What an engine wrote down: the two tables that are the truth, and what a reader must know about them.

    `facts` are counts and settings that the tables cannot tell: capacity, skipped jobs, killed jobs, perfect estimates.
    `durations` (seconds of CPU and wall time) may differ between runs and never enter the digest. `outages` (columns of
    `OUTAGES`) is None where nothing was ever down or reserved; `samples` (of `SERIES`) where no part kept any;
    `resources` (of `RESOURCES`) where cores are all that is counted; `plans` (of `PLANS`) where they are not wanted.
    `traffic` is by cluster, only of a run that was to tell series of nodes; it goes into the series and is not kept.
    `horizon` is where a record ends (microseconds) that is a piece of a longer one, which its tables cannot tell.
    """

    jobs: pl.DataFrame
    allocations: pl.DataFrame
    facts: dict[str, Any] = field(default_factory=dict)
    durations: dict[str, float] = field(default_factory=dict)
    outages: pl.DataFrame | None = None
    samples: pl.DataFrame | None = None
    resources: pl.DataFrame | None = None
    plans: pl.DataFrame | None = None
    traffic: dict[str, Traffic] | None = None
    horizon: int | None = None


class Figures(Record):
    """What is left of a run whose scenario says `record: summary`: its figures, but no row of any job."""

    def __init__(self, summarise: Callable[..., dict[str, Any]], record: Record, series: pl.DataFrame | None) -> None:
        self.summarise = summarise
        """The summary, of another observation window if one is told (`warmup`, `cooldown`)."""
        self.series = series
        self.facts, self.durations = record.facts, record.durations

    @classmethod
    def of(
        cls, summary: dict[str, Any], facts: dict[str, Any], durations: dict[str, float], series: pl.DataFrame | None
    ) -> Figures:
        """Figures that were computed before."""

        def summarise(warmup: float | None = None, cooldown: float | None = None) -> dict[str, Any]:
            if warmup is not None or cooldown is not None:
                what = "another window asks for the jobs, of which the run has kept no row (record: summary)"
                raise InputError(what, value="warmup" if cooldown is None else "cooldown")
            return summary

        none = pl.DataFrame()
        return cls(summarise, Record(none, none, facts, durations), series)

    def __repr__(self) -> str:
        return f"<Figures of {self.facts.get('submitted', 'some')} jobs>"

    def __getattr__(self, name: str) -> Any:
        if name in ("jobs", "allocations"):
            what = "this asks for the jobs, of which the run has kept no row (record: summary); run it with tables"
            raise InputError(what, value=name)
        raise AttributeError(name)


def find_whole(owner: np.ndarray, attempt: np.ndarray, resized: np.ndarray) -> np.ndarray:
    """Of each allocation, in the order of their starts, the row that tells what the job was given: its own, or, where
    the job had given nodes back before in the same attempt, the first one of that."""
    whole = np.arange(len(owner))
    if not resized.any():
        return whole
    order = np.lexsort((attempt, owner))
    new = np.r_[True, (np.diff(owner[order]) != 0) | (np.diff(attempt[order]) != 0)]
    first = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    before = np.cumsum(resized[order]) - resized[order]
    whole[order] = np.where(before > before[first], order[first], order)
    return whole


def time_series(name: str, microseconds: np.ndarray) -> pl.Series:
    """Seconds, empty where the time is negative (missing)."""
    times = np.asarray(microseconds)
    series = pl.Series(name, times / SECOND)
    return series if not len(times) or times.min() >= 0 else series.set(pl.Series(times < 0), None)


def ticks(series: pl.Series, missing: int = MISSING) -> np.ndarray:
    """Whole microseconds from a column of seconds, `missing` where it is empty or not a number."""
    return round_seconds(series.cast(pl.Float64).to_numpy(), missing)


def label_series(name: str, codes: np.ndarray, names: list[str]) -> pl.Series:
    """Codes as an Enum column, empty where the code is missing."""
    kind = pl.Enum(names)
    if not names or not len(codes):
        return pl.Series(name, [None] * len(codes), dtype=kind)
    missing = codes < 0 if codes.min() < 0 else None
    width = np.min_scalar_type(len(names))  # as polars keeps them: nothing is converted
    clean = (codes if missing is None else np.where(missing, 0, codes)).astype(width)
    series = pl.Series(name, clean).cat.to(kind)
    return series if missing is None else series.set(pl.Series(missing), None)


def label_codes(series: pl.Series) -> tuple[np.ndarray, list[str | None]]:
    """The number of each cell's text, and the texts in order of first appearance; empty cells are one of them."""
    if isinstance(series.dtype, pl.Enum):  # its codes are at hand
        texts = [*series.dtype.categories.to_list(), None]
        codes = enum_codes(series)
        first = find_first(codes, len(texts))
        numbers = np.zeros(len(texts), np.int64)
        numbers[first] = np.arange(len(first))
        return translate(codes, numbers), [texts[code] for code in first]
    cells = series.cast(pl.String)
    names = cells.unique(maintain_order=True)
    if not len(names):
        return np.empty(0, np.int64), []
    numbered = pl.Series(np.arange(len(names), dtype=np.int64))
    return cells.replace_strict(names, numbered, return_dtype=pl.Int64).to_numpy(), names.to_list()


def enum_codes(series: pl.Series) -> np.ndarray:
    """The places of the cells' texts among the categories; of an empty one it is the number of categories."""
    codes = series.to_physical().cast(pl.UInt32)
    if codes.null_count():
        codes = codes.fill_null(len(series.dtype.categories))  # type: ignore[attr-defined]
    return codes.to_numpy()


def is_label(series: pl.Series, *texts: str) -> np.ndarray:
    """Which cells hold one of the texts; an empty one does not."""
    if isinstance(series.dtype, pl.Enum):
        codes = series.to_physical()
        chosen = [place for place, text in enumerate(series.dtype.categories.to_list()) if text in texts]
        found = [(codes == place).fill_null(False).to_numpy() for place in chosen]
        return np.logical_or.reduce(found) if found else np.zeros(len(series), bool)
    numbers, names = label_codes(series)
    return np.asarray(np.array([name in texts for name in names], bool)[numbers])


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
    columns["gpus"] = pl.Series("gpus", workload.column("gpus")) if workload.has("gpus") else constant("gpus", 0, size)
    columns["recorded_wait"] = (
        time_series("recorded_wait", workload.column("recorded_wait"))
        if workload.has("recorded_wait")
        else constant("recorded_wait", None, size)
    )
    return columns
