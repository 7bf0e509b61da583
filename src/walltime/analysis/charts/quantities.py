"""What can be plotted of a job: each quantity with its axis, and the groups that jobs fall into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Clock, short_names
from walltime.analysis.compare import Comparable, distinct_labels
from walltime.analysis.intervals import find_horizon
from walltime.analysis.metrics import DERIVED, KEYS, core_seconds, group_codes, slowdown_column
from walltime.core.errors import InputError
from walltime.core.tables import Record
from walltime.core.time import SECOND

if TYPE_CHECKING:
    from walltime.analysis.charts.schedule.layout import Schedule

GROUPS = (*KEYS, "state", "workflow", "phase")
"""What jobs can be told apart by, where the result has it."""
OTHERS = "all others"


class Shown(Comparable, Protocol):
    """What a picture needs of a result: what a comparison needs, and the series over time."""

    @property
    def series(self) -> pl.DataFrame: ...


@dataclass(frozen=True)
class Quantity:
    """A figure of each job: its words for an axis, the axis' kind, and whether it spans orders of magnitude."""

    words: str
    kind: str
    log: bool = True

    def axis(self, **other: Any) -> Axis:
        """The axis that shows it."""
        return Axis(self.words, self.kind, self.log, **other)


QUANTITIES = {
    "wait": Quantity("wait", "duration"),
    "slowdown": Quantity("bounded slowdown", "number"),
    "response": Quantity("response time (submission to end)", "duration"),
    "run_time": Quantity("run time", "duration"),
    "requested_time": Quantity("requested time", "duration"),
    "accuracy": Quantity("run time / requested time", "share", log=False),
    "cores": Quantity("cores", "count"),
    "core_seconds": Quantity("core-seconds", "number"),
    "recorded_wait": Quantity("wait in the trace", "duration"),
    "submit": Quantity("submission", "time", log=False),
}
SMALLEST = {"duration": 1.0, "number": 1.0, "count": 1.0}
"""Where a logarithmic axis begins: what is smaller is drawn there."""


def find_quantity(name: str) -> Quantity:
    """The quantity of that name; raises InputError with the choices."""
    if name not in QUANTITIES:
        raise InputError("unknown quantity of a job", value=name, choices=QUANTITIES)
    return QUANTITIES[name]


def measure(record: Record, name: str) -> np.ndarray:
    """The quantity of each job that started, in row order, NaN where it does not apply; raises InputError."""
    find_quantity(name)
    jobs = record.jobs
    if name == "slowdown":
        values = slowdown_column(jobs)
    elif name == "core_seconds":
        values = core_seconds(record)
    elif name == "response":
        values = _column(jobs, "end") - _column(jobs, "submit")
    elif name == "accuracy":
        with np.errstate(divide="ignore", invalid="ignore"):
            values = _column(jobs, "run_time") / _column(jobs, "requested_time")
    else:
        values = _column(jobs, name)
    started = jobs["start"].is_not_null().to_numpy()
    return np.where(started & np.isfinite(values), values, np.nan)


def measure_known(result: Shown, name: str) -> np.ndarray:
    """The known values of a quantity; raises InputError naming the result where there are none."""
    values = measure(result.record, name)
    values = np.asarray(values[~np.isnan(values)])
    if not len(values):
        raise InputError(f"{result.label}: no job has this quantity", value=name)
    return values


def _column(jobs: pl.DataFrame, name: str) -> np.ndarray:
    return np.asarray(jobs[name].cast(pl.Float64).to_numpy())


@dataclass(frozen=True)
class Grouping:
    """Groups of jobs: the number of each job's group, and the groups' names, in the order in which to show them."""

    codes: np.ndarray
    names: tuple[str, ...]
    full: tuple[str | None, ...]


def group(result: Shown, by: str, most: int | None = None) -> Grouping:
    """Groups by what `by` names, the heaviest first (sizes by size); beyond `most` they are `all others`.

    Raises InputError where the jobs do not tell it.
    """
    record = result.record
    if by not in GROUPS:
        raise InputError("unknown key to group by", value=by, choices=GROUPS)
    if by not in DERIVED and not record.jobs[by].count():
        raise InputError(f"{result.label}: the jobs tell no {by}", value=by, choices=available_groups(record))
    if by in KEYS:
        codes, names = group_codes(record.jobs, by)
    else:
        texts = record.jobs[by].cast(pl.String)
        unique = texts.unique(maintain_order=True)
        numbers = pl.Series(np.arange(len(unique), dtype=np.int64))
        codes, names = texts.replace_strict(unique, numbers, return_dtype=pl.Int64).to_numpy(), unique.to_list()
    if by == "size":
        return Grouping(codes, tuple(f"{name} core{'' if name == '1' else 's'}" for name in names if name), (*names,))
    weight = np.bincount(codes, core_seconds(record), len(names))
    order = np.lexsort((np.arange(len(names)), -weight))
    rank = np.empty(len(names), np.int64)
    rank[order] = np.arange(len(names))
    ordered: list[str | None] = [names[i] for i in order]
    codes = rank[codes]
    if most is not None and len(ordered) > most:
        codes, rest = np.minimum(codes, most - 1), len(ordered) - most + 1
        ordered = [*ordered[: most - 1], f"{OTHERS} ({rest:,})"]
    return Grouping(codes, short_names(ordered), tuple(ordered))


def available_groups(record: Record) -> list[str]:
    """What this result's jobs can be told apart by."""
    return [key for key in GROUPS if key in DERIVED or record.jobs[key].count()]


def find_labels(results: Sequence[Shown]) -> list[str]:
    """The results' labels, different from each other and short enough for a legend."""
    return list(short_names(distinct_labels(results), 40))


def find_nodes(result: Shown, plan: Schedule) -> np.ndarray:
    """The lowest rows of the nodes in a schedule; raises InputError where a cluster has none."""
    plain = next((band.name for band in plan.bands if not len(band.nodes)), None)
    if plain is not None:
        who = "the cluster" if len(plan.bands) == 1 else f"the cluster {plain}"
        raise InputError(f"{result.label}: {who} is a plain number of cores and has no nodes")
    return plan.nodes


def find_unit(results: Sequence[Shown]) -> str:
    """What jobs hold: cores, or places where tasks share the time of cores."""
    return "places" if any(result.record.facts.get("shared_time") for result in results) else "cores"


def find_clock(results: Sequence[Shown]) -> Clock:
    """How to write times of these results: the first one's calendar, if all began at its zero, or else none."""
    record = results[0].record
    first = record.jobs["submit"].min()
    if len({(result.record.facts.get("origin") or {}).get("epoch") for result in results}) > 1:
        return Clock()
    last = max((find_horizon(result.record) or 0) / SECOND for result in results)
    return Clock.of(record.facts.get("origin"), float(first) if first is not None else 0.0, last)  # type: ignore[arg-type]


def time_axis(results: Sequence[Shown], first: float | None = None, last: float | None = None) -> Axis:
    """The axis of time on the trace's clock, from first to last where they are given."""
    begins = [float(result.record.jobs["submit"].min() or 0.0) for result in results]  # type: ignore[arg-type]
    ends = [(find_horizon(result.record) or 0) / SECOND for result in results]
    low, high = min(begins) if first is None else first, max(ends) if last is None else last
    return Axis(find_clock(results).describe(low, max(low, high)), "time", low=first, high=last)
