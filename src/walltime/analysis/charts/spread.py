"""Pictures of how a quantity is spread over the jobs: distribution functions, histograms, boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walltime.analysis.charts.chart import Axis, Boxes, Chart, Line, Panel
from walltime.analysis.charts.overtime import only_one
from walltime.analysis.charts.quantities import (
    SMALLEST,
    Quantity,
    Shown,
    find_clock,
    find_labels,
    find_quantity,
    group,
    measure,
    measure_known,
)
from walltime.analysis.statistics import Groups, group_means
from walltime.core.errors import InputError

POINTS = 400
BINS = 40
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def cdf(results: Sequence[Shown], of: str = "wait", by: str | None = None) -> Chart:
    """The share of jobs whose wait (or another quantity) is at most so long; with `by`, of one result by group."""
    quantity = find_quantity(of)
    samples = _by_group(only_one(results, "cdf --by"), of, by) if by else _by_result(results, of)
    marks = []
    for number, (label, values) in enumerate(samples.items()):
        x, y = distribution(values, quantity)
        marks.append(Line(label, x, y, number, step=True))
    panel = Panel(quantity.axis(), Axis("share of jobs", "share", low=0, high=1), tuple(marks))
    title = f"Distribution of {quantity.words}" + (f" by {by}" if by else "")
    return Chart("cdf", title, (panel,), find_clock(results), _notes(quantity))


def histogram(results: Sequence[Shown], of: str = "wait", bins: int = BINS) -> Chart:
    """How many jobs have a wait (or another quantity) of about so much."""
    quantity = find_quantity(of)
    if not 1 <= bins <= 1000:
        raise InputError("a histogram has 1 to 1,000 bins", value=bins)
    samples = {label: _floor(values, quantity) for label, values in _by_result(results, of).items()}
    low, high = min(float(v.min()) for v in samples.values()), max(float(v.max()) for v in samples.values())
    edges = np.geomspace(low, high, bins + 1) if quantity.log and high > low else np.linspace(low, high or 1, bins + 1)
    around: dict[str, float] = {}
    if high <= low:  # one value: a bar of its own, not the whole width
        edges = np.array([low * 0.9, low * 1.1]) if low else np.array([-0.5, 0.5])
        around = {"low": low / 2, "high": low * 5} if quantity.log else {}
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    marks = []
    for number, (label, values) in enumerate(samples.items()):
        counts = np.histogram(values, edges)[0].astype(float)
        marks.append(Line(label, edges, np.append(counts, 0.0), number, step=True, fill=True))
    panel = Panel(quantity.axis(**around), Axis("jobs", "count", low=0), tuple(marks))
    return Chart("histogram", f"Histogram of {quantity.words}", (panel,), find_clock(results), _notes(quantity))


def boxes(results: Sequence[Shown], of: str = "wait", by: str = "size", most: int = 15) -> Chart:
    """Quartiles of a quantity for each size class, queue, user, ...; the heaviest ones first."""
    quantity = find_quantity(of)
    grouping = group(results[0], by, most)
    names = grouping.names
    marks = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        codes = grouping.codes if number == 0 else _codes_like(result, by, grouping.full)
        values = measure(result.record, of)
        known = codes >= 0
        codes, values = codes[known], _floor(values[known], quantity)
        groups = Groups.of(codes, values, len(names))
        figures = np.column_stack([groups.quantile(fraction) for fraction in QUANTILES])
        marks.append(Boxes(label, figures, group_means(codes, values, len(names)), groups.count, number))
    full = np.flatnonzero(np.sum([mark.counts for mark in marks], axis=0) > 0)
    if not len(full):
        raise InputError("no job has this quantity", value=of)
    marks = [Boxes(m.label, m.figures[full], m.means[full], m.counts[full], m.colour) for m in marks]
    y = Axis(by, "category", categories=tuple(names[i] for i in full))
    notes = ("Box: quartiles and median. Whiskers: 5 % and 95 %. Dot: mean.", *_notes(quantity))
    panel = Panel(quantity.axis(), y, tuple(marks))
    return Chart("boxes", f"{quantity.words.capitalize()} by {by}", (panel,), find_clock(results), notes)


def distribution(values: np.ndarray, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """The empirical distribution function, exact at about 400 of its steps."""
    ordered = np.sort(_floor(values, quantity))
    x = np.unique(ordered)
    last = np.searchsorted(ordered, x, side="right") / len(ordered)
    if len(x) > POINTS:
        at_quantiles = np.unique(np.searchsorted(last, np.linspace(0, 1, POINTS // 2)[1:]))
        grid = np.geomspace(max(x[0], 1e-9), x[-1], POINTS // 2) if x[0] > 0 else np.linspace(x[0], x[-1], POINTS // 2)
        at_values = np.searchsorted(x, grid, side="right") - 1
        keep = np.unique(np.clip(np.concatenate((at_quantiles, at_values, [0, len(x) - 1])), 0, len(x) - 1))
        x, last = x[keep], last[keep]
    return np.concatenate((x[:1], x)), np.concatenate(([0.0], last))


def _by_result(results: Sequence[Shown], of: str) -> dict[str, np.ndarray]:
    labels = find_labels(results)
    return {label: measure_known(result, of) for label, result in zip(labels, results, strict=True)}


def _by_group(result: Shown, of: str, by: str) -> dict[str, np.ndarray]:
    grouping = group(result, by, 8)
    values = measure(result.record, of)
    measure_known(result, of)
    parts = {name: values[(grouping.codes == i) & ~np.isnan(values)] for i, name in enumerate(grouping.names)}
    return {name: part for name, part in parts.items() if len(part)}


def _codes_like(result: Shown, by: str, names: Sequence[str | None]) -> np.ndarray:
    """The groups of another result's jobs, by the first one's list of names; unknown names are with the others."""
    own = group(result, by)
    if by == "size":
        return own.codes
    place = {name: number for number, name in enumerate(names)}
    others = len(names) - 1 if names and str(names[-1]).startswith("all others") else -1
    return np.asarray(np.array([place.get(name, others) for name in own.full], np.int64)[own.codes])


def _floor(values: np.ndarray, quantity: Quantity) -> np.ndarray:
    """On a logarithmic axis nothing is smaller than where it begins."""
    return np.maximum(values, SMALLEST[quantity.kind]) if quantity.log else values


def _notes(quantity: Quantity) -> tuple[str, ...]:
    if quantity.kind == "duration" and quantity.log:
        return ("Less than a second is shown as a second. Started jobs only.",)
    return ("Started jobs only.",)
