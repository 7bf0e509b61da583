"""How a quantity is spread over the jobs of each cell, all repetitions together: of what the analysis `distributions`
keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from walltime.analysis.analyses.jobs import PER_DECADE, VARIABLES
from walltime.analysis.charts.chart import Axis, Boxes, Chart, Clock, Line, Panel, short_names
from walltime.analysis.charts.grids import MOST_LINES
from walltime.analysis.charts.quantities import QUANTITIES, SMALLEST, Quantity
from walltime.core.errors import InputError
from walltime.experiments.grouping import QUANTILES, find_quantiles, merge_distributions

if TYPE_CHECKING:
    from walltime.experiments.reporting.contents import ReportContents

TURNAROUND = QUANTITIES["response"]
CLASSES = ("cores", "core-hours", "all")
"""What the classes of jobs are made by."""
TOGETHER = 5
"""Kept bins in one of a picture: ten from a number to ten times it."""


@dataclass(frozen=True)
class Spread:
    """A histogram: the edges of its bins, and how many jobs each has. A bin from 0 to 0 has the zeros."""

    low: np.ndarray
    high: np.ndarray
    jobs: np.ndarray

    @property
    def mean(self) -> float:
        """Exact to half the width of a bin."""
        return float((np.sqrt(self.low * self.high) * self.jobs).sum() / self.jobs.sum())


def draw_cdf(contents: ReportContents, of: str = "wait", by: str | None = None) -> Chart:
    """The share of the jobs of each cell whose wait (or another variable) is at most so much."""
    return _draw(contents, "cdf", of, by, _steps)


def draw_histogram(contents: ReportContents, of: str = "wait", by: str | None = None) -> Chart:
    """The share of the jobs of each cell whose wait (or another variable) is about so much."""
    return _draw(contents, "histogram", of, by, _bins)


def _draw(
    contents: ReportContents,
    kind: str,
    of: str,
    by: str | None,
    shape: Callable[[Spread, Quantity], tuple[np.ndarray, np.ndarray]],
) -> Chart:
    quantity = _find_quantity(of)
    panels, more = [], 0
    for label, cells in _find_spreads(contents, of, by or "all").items():
        marks = []
        names = short_names(list(cells), 40)
        for number, (name, spread) in enumerate(zip(names, cells.values(), strict=True)):
            if number < MOST_LINES:
                x, y = shape(spread, quantity)
                marks.append(Line(name, x, y, number, step=True, fill=kind == "histogram"))
        more = max(more, len(cells) - MOST_LINES)
        up = Axis("share of jobs", "share", low=0, high=1 if kind == "cdf" else None)
        panels.append(Panel(quantity.axis(), up, tuple(marks), _title(label, by)))
    notes = (*_notes(quantity), *([f"{more} more cells are not drawn."] if more > 0 else []))
    words = "Distribution" if kind == "cdf" else "Histogram"
    return Chart(kind, f"{words} of {quantity.words}", tuple(panels), Clock(), notes)


def draw_boxes(contents: ReportContents, of: str = "wait", by: str | None = None) -> Chart:
    """Quartiles of a variable for each class of jobs, beside each other for each cell."""
    quantity = _find_quantity(of)
    found = _find_spreads(contents, of, by or "cores")
    cells = list(dict.fromkeys(cell for spreads in found.values() for cell in spreads))[:MOST_LINES]
    none = [np.nan] * len(QUANTILES)
    marks = []
    for number, (cell, name) in enumerate(zip(cells, short_names(cells, 40), strict=True)):
        own = [spreads.get(cell) for spreads in found.values()]
        figures = [none if one is None else find_quantiles(one.low, one.high, one.jobs) for one in own]
        means = [np.nan if one is None else one.mean for one in own]
        counts = [0 if one is None else int(one.jobs.sum()) for one in own]
        floor = SMALLEST[quantity.kind] if quantity.log else -np.inf
        marks.append(Boxes(name, np.maximum(figures, floor), np.maximum(means, floor), np.array(counts), number))
    y = Axis(by or "cores", "category", categories=short_names(list(found)))
    notes = ("Box: quartiles and median. Whiskers: 5 % and 95 %. Dot: mean.", *_notes(quantity))
    title = f"{quantity.words.capitalize()} by {by or 'cores'}"
    return Chart("boxes", title, (Panel(quantity.axis(), y, tuple(marks)),), Clock(), notes)


def _find_quantity(of: str) -> Quantity:
    if of not in VARIABLES:
        raise InputError("the analysis distributions has no such variable", value=of, choices=VARIABLES)
    return TURNAROUND if of == "turnaround" else QUANTITIES[of]


def _find_spreads(contents: ReportContents, of: str, by: str) -> dict[str, dict[str, Spread]]:
    """By class, and by the name of the cell."""
    if by not in CLASSES:
        raise InputError("jobs of an experiment are not told apart by", value=by, choices=CLASSES)
    merged = merge_distributions(contents.store, contents.name)
    kind, label, variable = (
        f"{name}_distributions" if name in contents.axes else name for name in ("by", "class", "variable")
    )
    merged = merged.filter(pl.col(kind) == by, pl.col(variable) == of)
    names = {tuple(cell.labels.values()): cell.name for cell in contents.cells}
    found: dict[str, dict[str, Spread]] = {}
    for key, part in merged.group_by([label, *contents.axes], maintain_order=True):
        columns = (part[name].to_numpy() for name in ("low", "high", "jobs"))
        found.setdefault(str(key[0]), {})[names[key[1:]]] = Spread(*columns)
    if not found:
        raise InputError("no job has this quantity", value=of)
    return found


def _title(label: str, by: str | None) -> str:
    unit = "" if by in (None, "all") else " core" if label == "1" else f" {by}"
    return label + unit if unit else ""


def _steps(spread: Spread, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    x = _floor(spread.high, quantity)
    shares = np.cumsum(spread.jobs) / spread.jobs.sum()
    return np.concatenate((x[:1], x)), np.concatenate(([0.0], shares))


def _bins(spread: Spread, quantity: Quantity) -> tuple[np.ndarray, np.ndarray]:
    """Wider bins, all of one width on a scale of ratios; what is smaller than the axis is in its first."""
    places = np.floor(np.log10(_floor(spread.low, quantity).clip(1e-9)) * PER_DECADE / TOGETHER + 1e-6).astype(np.int64)
    first = int(places.min())
    shares = np.bincount(places - first, weights=spread.jobs) / spread.jobs.sum()
    edges = 10.0 ** ((first + np.arange(len(shares) + 1)) * TOGETHER / PER_DECADE)
    return edges, np.append(shares, 0.0)


def _floor(values: np.ndarray, quantity: Quantity) -> np.ndarray:
    return np.maximum(values, SMALLEST[quantity.kind]) if quantity.log else values


def _notes(quantity: Quantity) -> Iterator[str]:
    yield "Jobs of all repetitions together, ended ones only; exact to 4.7 %, the width of a kept bin."
    if quantity.kind == "duration":
        yield "Less than a second is shown as a second."
