"""The figures of a grid of scenarios: maps over two axes, curves with intervals over one, bars where it has no numbers.

A grid is a mapping from the labels of its cells, in the order of the axes, to the values of the repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from walltime.analysis.charts.chart import Axis, Bars, Cells, Chart, Clock, Line, Panel, Points, short_names, shorten
from walltime.analysis.charts.response import find_kind
from walltime.analysis.headline import FIGURES
from walltime.analysis.noise import Interval, estimate
from walltime.core.errors import InputError

MOST_PANELS = 12
"""Combinations of further axes that are drawn."""
MOST_LINES = 8
"""Curves in one panel: as many as there are colours that can be told apart."""
MEANS = "Means over the repetitions."
INTERVALS = "Means over the repetitions; dashed lines, or lines at bars, are their 95 % intervals."

Labels = tuple[str, ...]


@dataclass(frozen=True)
class FigureGrid:
    """One figure over a grid: the axes with their labels, and the values of the repetitions of each cell."""

    figure: str
    axes: dict[str, Labels]
    values: Mapping[Labels, Sequence[float]]

    @property
    def words(self) -> str:
        """What the figure is called."""
        return next((one.words for one in FIGURES if one.key == self.figure), self.figure)

    @property
    def telling(self) -> list[str]:
        """The axes that have more than one label."""
        return [axis for axis, labels in self.axes.items() if len(labels) > 1]

    def estimate(self, chosen: Mapping[str, str]) -> Interval | None:
        """The mean of a cell by its labels; None where nothing is known of it."""
        labels = tuple(chosen.get(axis, own[0]) for axis, own in self.axes.items())
        values = self.values.get(labels) or ()
        return estimate(values) if len(values) else None

    def choose(self, axis: str | None, others: Sequence[str]) -> str:
        """The axis of this name; by default the first with numbers among `others`, or the first."""
        if axis is not None:
            if axis not in others:
                raise InputError("the grid has no such axis to draw over", value=axis, choices=others)
            return axis
        return next((one for one in others if _numbers(self.axes[one]) is not None), others[0])


def draw_map(grid: FigureGrid, across: str | None = None) -> Chart:
    """The grid as a heat map over two axes, a panel for each combination of the others; raises InputError."""
    axes = grid.telling
    if len(axes) < 2:
        raise InputError("a heat map needs two axes with more than one label", value=", ".join(axes) or "none")
    x = grid.choose(across, axes)
    y = next(axis for axis in axes if axis != x)
    columns, rows = grid.axes[x], grid.axes[y]
    scale = Axis(grid.words, find_kind(grid.figure))
    panels = []
    for title, fixed in _combine(grid, [axis for axis in axes if axis not in (x, y)]):
        found = [[grid.estimate(fixed | {x: column, y: row}) for column in columns] for row in rows]
        means = np.array([[np.nan if one is None else one.mean for one in line] for line in found])
        edges = np.arange(len(columns) + 1) - 0.5, np.arange(len(rows) + 1) - 0.5
        sides = Axis(x, "category", categories=short_names(columns)), Axis(y, "category", categories=short_names(rows))
        panels.append(Panel(*sides, (Cells(*edges, means, scale),), title))
    return _chart("heat-map", _same_colours(panels), f"{grid.words} by {x} and {y}")


def draw_curves(grid: FigureGrid, across: str | None = None) -> Chart:
    """The figure over one axis with intervals, a line for each label of another; bars where labels are no numbers."""
    axes = grid.telling
    if not axes:
        raise InputError("there is one cell only: nothing to draw a curve over", value=grid.figure)
    x = grid.choose(across, axes)
    others = [axis for axis in axes if axis != x]
    lines = max(others, key=lambda axis: len(grid.axes[axis]) <= MOST_LINES, default=None)
    numbers = _numbers(grid.axes[x])
    panels = []
    for title, fixed in _combine(grid, [axis for axis in others if axis != lines]):
        marks: list[Line | Points | Bars] = []
        for number, label in enumerate(grid.axes[lines][:MOST_LINES] if lines else ("",)):
            chosen = fixed | ({lines: label} if lines else {})
            found = [grid.estimate(chosen | {x: own}) for own in grid.axes[x]]
            name = shorten(f"{lines} {label}" if lines else grid.words, 40)
            marks += _bars(name, found, number) if numbers is None else _curve(name, numbers, found, number)
        kind = find_kind(grid.figure)
        if numbers is None:
            categories = short_names(grid.axes[x])
            panels.append(
                Panel(Axis(grid.words, kind, low=0), Axis(x, "category", categories=categories), tuple(marks), title)
            )
        else:
            panels.append(Panel(Axis(x), Axis(grid.words, kind, low=0), tuple(marks), title))
    more = len(grid.axes[lines]) - MOST_LINES if lines else 0
    notes = [f"{more} more labels of {lines} are not drawn."] if more > 0 else []
    chart = _chart("curves", panels, f"{grid.words} by {x}")
    return replace(chart, notes=(*chart.notes, *notes))


def _curve(name: str, x: np.ndarray, found: Sequence[Interval | None], colour: int) -> list[Line | Points | Bars]:
    order = np.argsort(x, kind="stable")
    known = [(x[place], found[place]) for place in order]
    pairs = [(at, one) for at, one in known if one is not None]
    at = np.array([at for at, _ in pairs])
    mean = np.array([one.mean for _, one in pairs])
    low = np.array([one.mean if one.low is None else one.low for _, one in pairs])
    high = np.array([one.mean if one.high is None else one.high for _, one in pairs])
    edges = [Line("", at, side, colour, dashed=True) for side in (low, high) if (side != mean).any()]
    return [Line(name, at, mean, colour), *edges, Points("", at, mean, colour)]


def _bars(name: str, found: Sequence[Interval | None], colour: int) -> list[Line | Points | Bars]:
    sides = [
        np.array([np.nan if one is None or getattr(one, side) is None else getattr(one, side) for one in found])
        for side in ("mean", "low", "high")
    ]
    return [Bars(name, sides[0], colour, sides[1], sides[2])]


def _combine(grid: FigureGrid, axes: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The combinations of labels of these axes that have a cell, with a title for each; not more than are drawn."""
    found = []
    for labels in product(*(grid.axes[axis] for axis in axes)):
        fixed = dict(zip(axes, labels, strict=True))
        places = {list(grid.axes).index(axis): label for axis, label in fixed.items()}
        if any(all(cell[place] == label for place, label in places.items()) for cell in grid.values):
            found.append((", ".join(f"{axis} {shorten(label)}" for axis, label in fixed.items()), fixed))
    return found[:MOST_PANELS]


def _chart(kind: str, panels: Sequence[Panel], title: str) -> Chart:
    notes = [MEANS if kind == "heat-map" else INTERVALS]
    if len(panels) == MOST_PANELS:
        notes.append(f"At most {MOST_PANELS} combinations of the other axes are drawn.")
    return Chart(kind, title[:1].upper() + title[1:], tuple(panels), Clock(), tuple(notes))


def _same_colours(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with one scale of colours."""
    maps = [mark for panel in panels for mark in panel.marks if isinstance(mark, Cells)]
    known = np.concatenate([mark.values[np.isfinite(mark.values)] for mark in maps]) if maps else np.empty(0)
    if not len(known):
        raise InputError("no cell of the grid has this figure")
    low, high = float(known.min()), float(known.max())
    made = []
    for panel, mark in zip(panels, maps, strict=True):
        scale = replace(mark.scale, low=low, high=high if high > low else low + 1)
        made.append(replace(panel, marks=(replace(mark, scale=scale),)))
    return made


def _numbers(labels: Labels) -> np.ndarray | None:
    """The labels as numbers; None where one is none."""
    try:
        found = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return found if np.isfinite(found).all() else None
