"""Charts drawn by matplotlib: a Figure of its own for each, no window, no global state."""

from __future__ import annotations

import itertools
import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from walltime.analysis.charts.chart import (
    Axis,
    Bars,
    Boxes,
    Cells,
    Chart,
    Line,
    Panel,
    Points,
    ScheduleBlocks,
    short_names,
)
from walltime.analysis.charts.palette import Theme
from walltime.analysis.charts.ticks import find_ticks
from walltime.analysis.plots import marks
from walltime.analysis.plots.style import settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 8.0
"""Inches of a picture that does not say otherwise."""
_PANEL = 2.9
_ROW = 0.26
_INCHES_A_TICK = 0.85


def draw(chart: Chart, theme: Theme, width: float | None = None, height: float | None = None) -> Figure:
    """The chart as a matplotlib Figure, width and height in inches; without a height, as high as its contents ask."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    wide = width or WIDTH
    columns = _columns(chart, wide)
    lines = math.ceil(len(chart.panels) / columns)
    words = _Words(chart, wide)
    high = height or words.above + words.below + _height(chart, lines, wide)
    with matplotlib.rc_context(settings(theme)), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a user's name may hold what no font has
        rect = (0.0, words.below / high, 1.0, 1 - (words.above + words.below) / high)
        layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.05, hspace=0.04, wspace=0.03, rect=rect)
        figure = Figure(figsize=(wide, high), layout=layout)
        axes = figure.subplots(lines, columns, squeeze=False).flatten()
        for place, panel in zip(axes, chart.panels, strict=False):
            _draw_panel(figure, place, panel, chart, theme, wide / columns)
        for place in axes[len(chart.panels) :]:
            place.set_visible(False)
        words.write(figure, theme, high)
    return figure


class _Words:
    """Title and one legend for all panels above, notes below; `above` and `below` are the inches they take."""

    def __init__(self, chart: Chart, width: float) -> None:
        self.chart = chart
        self.title = textwrap.wrap(chart.title, max(20, int(width * 9)))
        self.notes = [line for note in chart.notes for line in textwrap.wrap(note, max(30, int(width * 15.5)))]
        entries = marks.legend_entries(chart)
        self.columns = 0
        if len(entries) > 1 or (entries and any(isinstance(mark, ScheduleBlocks) for mark in chart.marks)):
            longest = max(len(label) for label, _, _ in entries)
            self.columns = max(1, min(len(entries), int(width * 12.5 / (longest + 6))))
        self.above = 0.14 + 0.2 * len(self.title)
        self.legend = self.above
        if self.columns:
            self.above += 0.06 + 0.185 * math.ceil(len(entries) / self.columns)
        self.below = 0.06 + 0.15 * len(self.notes) if self.notes else 0.0

    def write(self, figure: Figure, theme: Theme, height: float) -> None:
        """Put them on the figure, which has left room for them."""
        figure.text(0.012, 1 - 0.08 / height, "\n".join(self.title), va="top", fontsize=12, fontweight="bold")
        if self.notes:
            text = "\n".join(self.notes)
            figure.text(0.012, 0.05 / height, text, va="bottom", fontsize=7.5, color=theme.soft, linespacing=1.35)
        if not self.columns:
            return
        entries = marks.legend_entries(self.chart, theme)
        # A label that begins with an underscore would be left out by matplotlib.
        labels = [f" {label}" if label.startswith("_") else label for label, _, _ in entries]
        legend = figure.legend(
            [_handle(colour, style, theme) for _, colour, style in entries],
            labels,
            ncols=self.columns,
            columnspacing=1.4,
            handlelength=1.6,
            loc="upper left",
            bbox_to_anchor=(0.006, 1 - self.legend / height),
            borderaxespad=0.0,
        )
        legend.set_in_layout(False)


def _handle(colour: str, style: Any, theme: Theme) -> Any:
    """The sample of a mark in the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if style == "patch":
        return Patch(color=colour)
    if style.strip("-") and style != "point":
        return Patch(facecolor=theme.fade(0.75), edgecolor=colour, hatch=style, linewidth=0.4)
    if style == "point":
        return Line2D([], [], color=colour, marker="o", linestyle="", markersize=4)
    return Line2D([], [], color=colour, linestyle=style)


def _columns(chart: Chart, width: float) -> int:
    """Maps and bars stand beside each other where there is room; what shares an axis of time stands below."""
    if len(chart.panels) < 2 or any(panel.x.kind == "time" for panel in chart.panels):
        return 1
    return max(1, min(2, len(chart.panels), int(width / 3.4)))


def _height(chart: Chart, lines: int, width: float) -> float:
    """Inches of all panels: as many as the rows of bars and boxes ask for, or what looks well at that width."""
    rows = max((_count_rows(panel) for panel in chart.panels), default=0)
    grown = max(1.0, math.sqrt(width / WIDTH))
    one = max(1.1, 0.75 + _ROW * rows) if rows else grown * (_PANEL if lines > 1 else 3.2)
    return min(one * lines, 40.0)


def _count_rows(panel: Panel) -> float:
    """The height that bars and boxes ask for, in rows."""
    groups = [mark for mark in panel.marks if isinstance(mark, Bars | Boxes)]
    return len(panel.y.categories) * max(1.0, 0.72 * len(groups)) if groups else 0.0


def _draw_panel(figure: Figure, axes: Axes, panel: Panel, chart: Chart, theme: Theme, width: float) -> None:
    groups = [mark for mark in panel.marks if isinstance(mark, Bars | Boxes)]
    lines = sum(isinstance(mark, Line) and isinstance(mark.colour, int) for mark in panel.marks)
    after = lines if lines <= marks.FEW_LINES else 0
    for mark in panel.marks:
        if isinstance(mark, Line):
            after = max(after - isinstance(mark.colour, int), 0)
            marks.draw_line(axes, mark, theme, after if isinstance(mark.colour, int) else 0)
        elif isinstance(mark, Points):
            marks.draw_points(axes, mark, theme)
        elif isinstance(mark, Cells):
            marks.draw_cells(figure, axes, mark, panel, theme)
        elif isinstance(mark, ScheduleBlocks):
            marks.draw_blocks(axes, mark, theme, width)
        elif isinstance(mark, Bars):
            marks.draw_bars(axes, mark, groups.index(mark), len(groups), panel, theme)
        else:
            marks.draw_boxes(axes, mark, groups.index(mark), len(groups), theme)
    if bars := [mark for mark in groups if isinstance(mark, Bars)]:
        marks.write_values(axes, bars, panel, theme, width)
    if any(isinstance(mark, Line) for mark in panel.marks) and not panel.x.log:
        axes.margins(x=0)
    if panel.title:
        axes.set_title(panel.title, color=theme.ink)
    _set_axis(axes, "x", panel.x, chart, max(2, int((width - 1.2) / _INCHES_A_TICK)), width)
    _set_axis(axes, "y", panel.y, chart, 5, width)
    if groups:
        axes.set_ylim(len(panel.y.categories) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
    elif any(isinstance(mark, Cells | ScheduleBlocks) for mark in panel.marks):
        axes.grid(visible=False)
    for mark in panel.marks:
        if isinstance(mark, ScheduleBlocks):
            marks.name_nodes(axes, mark.schedule)


def _set_axis(axes: Axes, which: str, axis: Axis, chart: Chart, count: int, width: float) -> None:
    """Scale, limits, ticks and label; the ticks are ours, so that every renderer writes the same.

    `count` ticks are wanted in a panel of so many inches of width.
    """
    setter: Any = getattr(axes, f"set_{which}scale")
    side: Any = getattr(axes, f"{which}axis")
    getattr(axes, f"set_{which}label")(axis.label)
    if axis.kind == "category":
        side.set_ticks(range(len(axis.categories)), labels=_thin(axis.categories, which, count, width))
        side.set_tick_params(length=0)
        return
    if axis.log:
        setter("log")
    low, high = getattr(axes, f"get_{which}lim")()
    low, high = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    if axis.low is not None and axis.high is None and axis.kind in ("count", "duration"):
        high = max(high, low + 1)  # no job waits: not a thousandth of a second
    if axis.log:
        low, high = _widen(low, high)
    elif low == high:
        high = low + 1  # an instant, as of a result in which no time passes
    getattr(axes, f"set_{which}lim")(low, high)
    side.set_minor_locator(_none())
    ticks = find_ticks(axis, low, high, count, chart.clock)
    side.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])


def _widen(low: float, high: float) -> tuple[float, float]:
    """Limits of a logarithmic axis: a decade where nothing is shown, twice either way where all is one value."""
    if low <= 0:
        low, high = (high / 10, high) if high > 1 else (1.0, 10.0)
    return (low / 2, high * 2) if high / low < 1.01 else (low, high)


def _thin(names: Sequence[str], which: str, count: int, width: float) -> list[str]:
    """Names below an axis, every so many of them where they would touch; beside one, no wider than a third."""
    if which == "y":
        return list(short_names(names, max(12, int(width * 5.5))))
    room = count * 10 / max(1, len(names))
    every = next((n for n in range(1, len(names)) if _fit(names[::n], n * room)), max(1, len(names)))
    return [name if number % every == 0 else "" for number, name in enumerate(names)]


def _fit(names: Sequence[str], room: float) -> bool:
    """Whether names so many letters apart do not touch, and the outer ones stay on the page."""
    lengths = [len(name) for name in names]
    return max(lengths[0], lengths[-1]) <= 1.2 * room and all(
        one + other + 3 <= 2 * room for one, other in itertools.pairwise(lengths)
    )


def _none() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()
