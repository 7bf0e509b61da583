"""Pictures of two quantities of a job against each other: points, maps, the trace against the simulation, the plan
against what became of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Cells, Chart, Line, Mark, Panel, Points
from walltime.analysis.charts.quantities import (
    SMALLEST,
    Shown,
    find_clock,
    find_labels,
    find_quantity,
    measure,
    time_axis,
)
from walltime.analysis.charts.spread import distribution
from walltime.analysis.predictions import AHEAD, mean_error
from walltime.analysis.statistics import Groups, group_means
from walltime.core.errors import InputError

MOST_POINTS = 4_000
"""Points of a scatter plot, of all results together; of more jobs, every k-th in order of submission."""
TIMES_AHEAD = 25


def scatter(results: Sequence[Shown], x: str = "cores", y: str = "wait") -> Chart:
    """A point for each job, by default its wait against its size, and the medians along the way."""
    across, up = find_quantity(x), find_quantity(y)
    points: list[Mark] = []
    medians: list[Mark] = []
    step = 1
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        one, other = _both(result, x, y)
        step = max(step, -(-len(one) * len(results) // MOST_POINTS))
        points.append(Points("" if len(results) == 1 else label, one[::step], other[::step], number))
        where, median = _medians(one, other, across.log)
        if len(where) > 1:
            colour = "ink" if len(results) == 1 else number
            medians.append(Line(f"median, {label}" if len(results) > 1 else "median", where, median, colour))
    horizontal = time_axis(results) if x == "submit" else across.axis()
    notes = ["Started jobs only."]
    if step > 1:
        notes.append(f"One job in {step:,} is shown; medians are over all.")
    panel = Panel(horizontal, up.axis(), (*points, *medians))
    title = f"{up.words.capitalize()} against {across.words}"
    return Chart("scatter", title, (panel,), find_clock(results), tuple(notes))


def details(results: Sequence[Shown]) -> Chart:
    """When jobs of each size are submitted, start and end: three points for each job; a panel for each result."""
    panels, step = [], 1
    for label, result in zip(find_labels(results), results, strict=True):
        jobs = result.record.jobs.filter(pl.col("start").is_not_null())
        step = max(step, -(-3 * jobs.height // MOST_POINTS))
        shown = jobs.gather_every(step)
        cores = shown["cores"].to_numpy().astype(float)
        marks = []
        for colour, name in ((5, "submit"), (0, "start"), (1, "end")):
            times = shown[name].cast(pl.Float64).to_numpy()
            known = ~np.isnan(times)
            marks.append(Points(name, times[known], cores[known], colour))
        axes = time_axis(results), Axis("cores", "count", log=True)
        panels.append(Panel(*axes, tuple(marks), label if len(results) > 1 else ""))
    notes = ("Started jobs only.", *((f"One job in {step:,} is shown.",) if step > 1 else ()))
    return Chart("details", "Jobs by size", tuple(panels), find_clock(results), notes)


def slowdown_map(results: Sequence[Shown], of: str = "slowdown") -> Chart:
    """The mean bounded slowdown (or another quantity) of jobs by cores and run time; a panel for each result."""
    quantity = find_quantity(of)
    tables, found = [], []
    for result in results:
        cores, run, value = (measure(result.record, name) for name in ("cores", "run_time", of))
        known = ~np.isnan(cores + run + value)
        if not known.any():
            raise InputError(f"{result.label}: no job has this quantity", value=of)
        tables.append((cores[known], np.maximum(run[known], 1.0), value[known]))
        found.append((cores[known].max(), tables[-1][1].min(), tables[-1][1].max()))
    widest, shortest, longest = max(f[0] for f in found), min(f[1] for f in found), max(f[2] for f in found)
    x = 2.0 ** np.arange(0, np.ceil(np.log2(widest + 1)) + 1)
    y = np.geomspace(0.999 * shortest, 1.001 * max(10.0 * shortest, longest), 13)
    panels = []
    for label, (cores, run, value) in zip(find_labels(results), tables, strict=True):
        column = np.clip(np.searchsorted(x, cores, side="right") - 1, 0, len(x) - 2)
        row = np.clip(np.searchsorted(y, run, side="right") - 1, 0, len(y) - 2)
        size = (len(y) - 1) * (len(x) - 1)
        means = group_means(row * (len(x) - 1) + column, value, size).reshape(len(y) - 1, len(x) - 1)
        scale = Axis(f"mean {quantity.words}", quantity.kind, quantity.log)
        cells = Cells(x, y, means, scale)
        axes = Axis("cores", "count", log=True), Axis("run time", "duration", log=True)
        panels.append(Panel(*axes, (cells,), label if len(results) > 1 else ""))
    panels = _same_colours(panels)
    title = f"Mean {quantity.words} by cores and run time"
    return Chart("slowdown-map", title, tuple(panels), find_clock(results), ("Started jobs only.",))


def recorded(results: Sequence[Shown]) -> Chart:
    """Waits in the trace against simulated ones: their distributions, and job by job for each result."""
    quantity = find_quantity("wait")
    lines: list[Mark] = []
    panels = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        old, new = _both(result, "recorded_wait", "wait", "its trace tells no waits")
        if not lines:
            lines.append(Line("in the trace", *distribution(old, quantity), "ink", step=True, dashed=True))
        lines.append(Line(label, *distribution(new, quantity), number, step=True))
        top = max(float(old.max()), float(new.max()), 10.0) * 1.001
        edges = np.geomspace(1.0, top, 31)
        counts = np.histogram2d(np.maximum(new, 1.0), np.maximum(old, 1.0), (edges, edges))[0]
        cells = Cells(edges, edges, np.where(counts > 0, counts, np.nan), Axis("jobs", "count", log=True))
        same = Line("as in the trace", edges[[0, -1]], edges[[0, -1]], "ink")
        axes = Axis("wait in the trace", "duration", log=True), Axis("simulated wait", "duration", log=True)
        panels.append(Panel(*axes, (cells, same), label))
    shares = Panel(quantity.axis(), Axis("share of jobs", "share", low=0, high=1), tuple(lines), "Distributions")
    notes = ("Jobs that started in both. Less than a second is shown as a second.",)
    return Chart("recorded", "Waits in the trace and simulated", (shares, *panels), find_clock(results), notes)


def predictions(results: Sequence[Shown]) -> Chart:
    """The mean distance between planned and real start over how long before the start that was, a line a result."""
    ahead = np.geomspace(AHEAD[0], AHEAD[-1], TIMES_AHEAD)
    lines = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        errors = [mean_error(result, float(time)) for time in ahead]
        known = np.array([np.nan if error is None else max(error, 1.0) for error in errors])
        there = ~np.isnan(known)
        lines.append(Line(label, ahead[there], known[there], number))
    axes = Axis("before the start", "duration", log=True), Axis("mean error", "duration", log=True)
    return Chart("predictions", "How far ahead can the plan be believed?", (Panel(*axes, tuple(lines)),))


def _both(result: Shown, x: str, y: str, lacking: str = "no job has both") -> tuple[np.ndarray, np.ndarray]:
    """Two quantities of the jobs that have both, where they can be drawn on their axes."""
    one, other = measure(result.record, x), measure(result.record, y)
    known = ~np.isnan(one + other)
    if not known.any():
        raise InputError(f"{result.label}: {lacking}", value=f"{x}, {y}")
    drawn = []
    for name, values in ((x, one[known]), (y, other[known])):
        quantity = find_quantity(name)
        drawn.append(np.maximum(values, SMALLEST[quantity.kind]) if quantity.log else values)
    return drawn[0], drawn[1]


def _medians(x: np.ndarray, y: np.ndarray, log: bool) -> tuple[np.ndarray, np.ndarray]:
    """The median of y in some twenty classes of x; classes of few jobs are left out."""
    low, high = float(x.min()), float(x.max())
    if high <= low:
        return np.zeros(0), np.zeros(0)
    edges = np.geomspace(low, high, 21) if log else np.linspace(low, high, 21)
    codes = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, 19)
    groups = Groups.of(codes, y, 20)
    enough = groups.count >= max(min(5, len(x)), len(x) // 200)
    return group_means(codes, x, 20)[enough], groups.quantile(0.5)[enough]


def _same_colours(panels: list[Panel]) -> list[Panel]:
    """One scale of colours for all maps, so that they can be compared."""
    cells = [mark for panel in panels for mark in panel.marks if isinstance(mark, Cells)]
    low, high = (float(f([f(mark.values[~np.isnan(mark.values)]) for mark in cells])) for f in (min, max))
    if low == 1.0 == high:  # no job waits: a slowdown cannot be less
        high = 2.0
    out = []
    for panel, mark in zip(panels, cells, strict=True):
        scale = Axis(mark.scale.label, mark.scale.kind, mark.scale.log, low=low, high=high)
        out.append(Panel(panel.x, panel.y, (Cells(mark.x, mark.y, mark.values, scale),), panel.title))
    return out
