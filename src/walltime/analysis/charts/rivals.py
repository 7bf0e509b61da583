"""Pictures of results side by side: headline figures with intervals, and what changes for each job."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walltime.analysis.charts.chart import Axis, Bars, Chart, Line, Panel, short_names
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, measure
from walltime.analysis.noise import estimate
from walltime.analysis.repetitions import find_repetitions, name_groups
from walltime.analysis.winners import pair_rows
from walltime.core.errors import InputError

BATCHES = 20
METRICS = {
    "mean_wait": ("mean wait", "duration", "wait"),
    "p95_wait": ("95 % wait", "duration", None),
    "mean_bounded_slowdown": ("mean bounded slowdown", "number", "slowdown"),
    "utilization_window": ("utilization", "share", None),
}
"""Headline figures: words, kind of axis, and the quantity of a job that it is the mean of."""


def compare(results: Sequence[Shown], repeated: bool = False) -> Chart:
    """Headline figures of each policy with 95 % intervals; results that differ in the seed alone are repetitions."""
    groups = find_repetitions(results, repeated)
    several = len(groups) < len(results)
    names = name_groups(groups)
    if several:
        names = [f"{name} (n = {len(members)})" for name, members in zip(names, groups, strict=True)]
    panels, known = [], False
    for metric, (words, kind, quantity) in METRICS.items():
        rows = [
            _repetitions(members, metric) if several else _batches(members[0], metric, quantity) for members in groups
        ]
        values, low, high = (np.array(column, float) for column in zip(*rows, strict=True))
        bars = Bars(words, values, 0, low, high)
        y = Axis("", "category", categories=short_names(names))
        panels.append(Panel(Axis(words, kind, low=0, high=1 if kind == "share" else None), y, (bars,)))
        known = known or not np.isnan(low).all()
    notes = _interval_notes(groups, several, known)
    return Chart("compare", "Headline figures", tuple(panels), find_clock(results), notes)


def _interval_notes(groups: Sequence[Sequence[Shown]], several: bool, known: bool) -> tuple[str, ...]:
    """What the intervals are, and what they are not; `known` where there are some."""
    if not several:
        notes = [
            f"95 % intervals of means over {BATCHES} batches of jobs in order of submission: how uneven the time was, "
            "not whether policies differ (that is what repetitions with other seeds, or --shake, are for)."
            if known
            else "No intervals: there are too few jobs."
        ]
        if len(find_repetitions([members[0] for members in groups], repeated=True)) < len(groups):
            notes.append("Results that differ in their traces alone are taken together by --repeated.")
        return tuple(notes)
    notes = ["Means and 95 % t-intervals over n repetitions; none where there is one only."]
    if any(len(members) > 1 and len({_digest(result) for result in members}) == 1 for members in groups):
        notes.append("Repetitions that are all the same: the seed changes nothing in them.")
    return tuple(notes)


def _digest(result: Shown) -> object:
    return result.summary.get("digest") or id(result)


def change(results: Sequence[Shown], of: str = "wait") -> Chart:
    """Job by job, how much longer or shorter the wait is than under the first result: the share of jobs below."""
    if len(results) < 2:
        raise InputError("the plot change compares results with the first; give at least two")
    labels, differences = find_labels(results), []
    for result in results[1:]:
        differences.append(find_changes(results[0], result, of))
    if not all(len(values) for values in differences):
        raise InputError("the results have no job in common that started in both")
    low = min(float(np.quantile(values, 0.01)) for values in differences)
    high = max(float(np.quantile(values, 0.99)) for values in differences)
    low, high = (low, high) if low < high else (low - 1, high + 1)
    marks = []
    for number, (label, values) in enumerate(zip(labels[1:], differences, strict=True), 1):
        x = np.linspace(low, high, 401)
        share = np.searchsorted(np.sort(values), x, side="right") / len(values)
        marks.append(Line(label, x, share, number))
    axis = Axis(f"change of {of} against {labels[0]}", "duration" if of != "slowdown" else "number", low=low, high=high)
    notes = ["Left of zero: better than before. The outermost 1 % on either side are not shown."]
    for label, values in zip(labels[1:], differences, strict=True):
        better, worse = int((values < 0).sum()), int((values > 0).sum())
        notes.append(f"{label}: {better:,} jobs better, {worse:,} worse, {len(values) - better - worse:,} the same.")
    panel = Panel(axis, Axis("share of jobs", "share", low=0, high=1), tuple(marks))
    return Chart("change", f"Change of {of}, job by job", (panel,), find_clock(results), tuple(notes))


def find_changes(base: Shown, other: Shown, of: str = "wait") -> np.ndarray:
    """The change of a quantity for each job that started in both, in microsecond-exact steps for times."""
    rows = pair_rows(*(result.record.jobs["job_id"].to_numpy() for result in (base, other)))
    before, after = (measure(result.record, of)[mine] for result, mine in zip((base, other), rows, strict=True))
    change = after - before
    return np.asarray(np.round(change[~np.isnan(change)], 6))


def _repetitions(results: Sequence[Shown], metric: str) -> tuple[float, float, float]:
    values = [float(value) for result in results if (value := result.summary.get(metric)) is not None]
    if not values:
        return np.nan, np.nan, np.nan
    interval = estimate(values)
    low, high = interval.low, interval.high
    return interval.mean, np.nan if low is None else low, np.nan if high is None else high


def _batches(result: Shown, metric: str, quantity: str | None) -> tuple[float, float, float]:
    """The figure as the summary has it, with the interval that the means of batches give."""
    value = result.summary.get(metric)
    if value is None:
        return np.nan, np.nan, np.nan
    means: list[float] = []
    if quantity is not None:
        values = measure(result.record, quantity)
        values = values[~np.isnan(values)]
        means = [float(part.mean()) for part in np.array_split(values, BATCHES) if len(values) >= 10 * BATCHES]
    if len(means) < 2:
        return float(value), np.nan, np.nan
    interval = estimate(means)
    half = (interval.high or 0.0) - interval.mean
    return float(value), max(0.0, float(value) - half), float(value) + half
