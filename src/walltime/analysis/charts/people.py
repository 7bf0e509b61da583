"""Pictures of who submits, who waits, and who gains or loses."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Bars, Cells, Chart, Panel, Points, short_names
from walltime.analysis.charts.overtime import only_one
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, group
from walltime.analysis.compare import compare_by, distinct_labels
from walltime.analysis.metrics import KEYS
from walltime.analysis.metrics import by as figures_by
from walltime.analysis.winners import find_winners
from walltime.core.errors import InputError

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = tuple(f"{hour:02d}" for hour in range(24))
FIGURES = {
    "mean_wait": ("mean wait", "duration"),
    "median_wait": ("median wait", "duration"),
    "p95_wait": ("95 % wait", "duration"),
    "max_wait": ("longest wait", "duration"),
    "mean_bounded_slowdown": ("mean bounded slowdown", "number"),
    "core_seconds": ("core-seconds", "number"),
    "jobs": ("jobs", "count"),
}


def users(results: Sequence[Shown], of: str = "mean_wait", by: str = "user", most: int = 20) -> Chart:
    """The mean wait (or another figure) of each user, or queue, size, ...; the heaviest ones."""
    words, kind = _figure(of)
    _check_key(results, by)
    tables = [figures_by(result.record, by) for result in results]
    first = tables[0].head(most)
    marks = []
    for number, (label, table) in enumerate(zip(find_labels(results), tables, strict=True)):
        mine = first.select(by).join(table, on=by, how="left", nulls_equal=True, maintain_order="left")
        marks.append(Bars(label, mine[of].cast(pl.Float64).to_numpy(), number))
    y = Axis(by, "category", categories=_names(first[by].to_list(), by))
    notes = [f"{most} of {tables[0].height:,}: those with the most core-seconds."] if tables[0].height > most else []
    panel = Panel(Axis(words, kind, low=0), y, tuple(marks))
    return Chart("users", f"{words.capitalize()} by {by}", (panel,), find_clock(results), tuple(notes))


def fairness(results: Sequence[Shown], by: str = "user") -> Chart:
    """Each user's mean bounded slowdown against the work they had done: who pays for whom."""
    _check_key(results, by)
    marks, notes = [], []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        table = figures_by(result.record, by).filter(
            pl.col("mean_bounded_slowdown").is_not_null() & (pl.col("core_seconds") > 0) & pl.col(by).is_not_null()
        )
        hours = table["core_seconds"].to_numpy() / 3600
        slow = table["mean_bounded_slowdown"].to_numpy()
        names = short_names(table[by].to_list()) if table.height <= 300 else ()
        marks.append(Points(label, hours, slow, number, names))
        index = result.summary.get("jain_fairness")
        if by == "user" and index is not None:
            notes.append(f"Jain's fairness index, {label}: {index:.2f}.")
    axes = Axis("core-hours used", "number", log=True), Axis("mean bounded slowdown", "number", log=True)
    notes.append("An index of 1: all users fare alike; 1/n: one of n bears everything." if notes else "")
    title = f"Slowdown and work by {by}"
    return Chart("fairness", title, (Panel(*axes, tuple(marks)),), find_clock(results), tuple(filter(None, notes)))


def winners(results: Sequence[Shown], by: str = "user", of: str = "mean_wait", most: int = 24) -> Chart:
    """By how much each user's mean wait changes against the first result: who gains most and who loses most."""
    if len(results) != 2:
        raise InputError(f"the plot winners compares two results; {len(results)} were given")
    words, kind = _figure(of)
    _check_key(results, by)
    table, apart = _find_paired(results, by) if of == "mean_wait" else (_find_differences(results, by, of), 0)
    total = table.height
    if not (table["difference"] != 0).any():
        raise InputError(f"no {by} gains or loses: the results are alike")
    if total > most:
        table = table.head(most // 2).vstack(table.tail(most - most // 2))
    if by != "size":
        table = table.sort("difference", by)
    known = {side: table[side].cast(pl.Float64).to_numpy() for side in ("low", "high") if side in table.columns}
    bars = Bars("change", table["difference"].to_numpy(), "change", **known)
    y = Axis(by, "category", categories=_names(table[by].to_list(), by))
    old, new = find_labels(results)
    panel = Panel(Axis(f"change of {words}", kind), y, (bars,))
    notes = ["Below zero: better than before."]
    if known:
        notes.append("Jobs that started in both. Lines: 95 % intervals over weeks, if ten or more. Pale: may be noise.")
    if apart:
        notes.append(f"{apart:,} more have no job that started in both.")
    if total > most:
        sides = "who save most waiting in sum, and those who save least or lose" if known else "at both ends"
        notes.append(f"{most} of {total:,}: those {sides}.")
    title = f"Who gains and who loses by {by}, {new} against {old}"
    return Chart("winners", title, (panel,), find_clock(results), tuple(notes))


def _find_paired(results: Sequence[Shown], by: str) -> tuple[pl.DataFrame, int]:
    """Each group's change of the mean wait, job by job, with its interval where it can be judged; by their sums.

    Also the number of groups of which no job started in both results.
    """
    found = find_winners(results[0], results[1], by)
    table = found.table.filter(pl.col("difference").is_not_null())
    judged = pl.col("verdict") != "few jobs"
    sides = [pl.when(judged).then(pl.col(side)).alias(side) for side in ("low", "high")]
    return table.select(by, "difference", *sides), found.balance.apart


def _find_differences(results: Sequence[Shown], by: str, of: str) -> pl.DataFrame:
    """Each group's change of a figure, the smallest first."""
    column = f"{distinct_labels(results)[1]} difference"
    table = compare_by(results, by, metric=of).filter(pl.col(column).is_not_null())
    return table.select(by, pl.col(column).alias("difference"))


def arrivals(results: Sequence[Shown]) -> Chart:
    """Submissions by hour of the day and day of the week: when people work."""
    result = only_one(results, "arrivals")
    counts, days, note = count_arrivals(result)
    cells = Cells(np.arange(25) - 0.5, np.arange(8) - 0.5, counts, Axis("jobs submitted", "count"))
    x = Axis("hour of the day", "category", categories=HOURS)
    panel = Panel(x, Axis("", "category", categories=days), (cells,))
    return Chart("arrivals", "Submissions by hour and weekday", (panel,), find_clock(results), (note,))


def count_arrivals(result: Shown) -> tuple[np.ndarray, tuple[str, ...], str]:
    """Submissions by weekday (Monday first) and hour, the days' names, and what calendar it is."""
    submit = result.record.jobs["submit"].drop_nulls()
    if not len(submit):
        raise InputError(f"{result.label}: there are no jobs")
    origin = result.record.facts.get("origin") or {}
    epoch, name = origin.get("epoch"), origin.get("timezone")
    seconds = submit.to_numpy() + (epoch or 0.0)
    if epoch is None:
        day, hour = (seconds // 86_400).astype(np.int64) % 7, (seconds % 86_400 // 3600).astype(np.int64)
        days = tuple(f"day {number}" for number in range(1, 8))
        note = "The trace does not tell when it began: day 1, hour 00 is its time zero."
    else:
        try:
            zone = str(ZoneInfo(str(name))) if name else str(UTC)
        except (ZoneInfoNotFoundError, ValueError):
            zone = str(UTC)
        moments = pl.Series((seconds * 1000).astype(np.int64)).cast(pl.Datetime("ms", "UTC"))
        local = moments.dt.convert_time_zone(zone)
        day, hour = local.dt.weekday().to_numpy() - 1, local.dt.hour().to_numpy()
        days, note = DAYS, f"Local time: {zone}."
    counts = np.bincount(day.astype(np.int64) * 24 + hour, minlength=168).reshape(7, 24)
    return counts.astype(float), days, note


def _names(names: Sequence[str | None], by: str) -> tuple[str, ...]:
    """The groups' names for an axis; sizes with their unit."""
    return short_names([f"{name} core{'' if name == '1' else 's'}" if by == "size" else name for name in names])


def _figure(of: str) -> tuple[str, str]:
    if of not in FIGURES:
        raise InputError("unknown figure of a group of jobs", value=of, choices=FIGURES)
    return FIGURES[of]


def _check_key(results: Sequence[Shown], by: str) -> None:
    if by not in KEYS:
        raise InputError("unknown key to group by", value=by, choices=KEYS)
    for result in results:
        group(result, by)
