"""The marks of a chart as matplotlib draws them, and what the legend says of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.analysis.charts.chart import Axis, Bars, Boxes, Cells, Chart, Line, Panel, Points, ScheduleBlocks, shorten
from walltime.analysis.charts.palette import LIGHT, Theme
from walltime.analysis.charts.ticks import find_ticks, write_number
from walltime.core.tables import OUTAGE_KINDS
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from walltime.analysis.charts.schedule.layout import Schedule

Entry = tuple[str, str, str]
"""A line of the legend: label, colour, and a line's style, "point", "patch", or the letters of a hatch."""
_MANY = 4_000
"""Rectangles beyond which a vector file gets a picture of them instead."""
_FEW = 300
_LINE, _WIDER = 1.4, 0.7
"""The width of a line, and how much wider one is than the next above it, in points."""
FEW_LINES = 3
"""Lines beyond which all are of one width."""
_NARROW, _SMALL = 0.035, 0.03
"""Inches of a block's sides from which on it is set apart from its neighbours, where blocks are many."""
_LETTER = 0.066
"""Inches of a letter of the values beside bars."""
HEIGHT = 2.4
"""Inches of a schedule's rows in a picture of the usual height."""
_NAMES = 14
"""Names of nodes that have room one above the other."""
_FEW_NODES = 40
"""Nodes up to which there is a fine line between them."""
MOST_VALUES = 60
"""Bars beyond which their values are not written beside them."""


def legend_entries(chart: Chart, theme: Theme = LIGHT) -> list[Entry]:
    """What the legend has to tell; nothing for what the axes say already."""
    entries: dict[tuple[str, str], Entry] = {}
    for mark in chart.marks:
        if isinstance(mark, ScheduleBlocks):
            colouring = mark.colouring
            colours = theme.classes(colouring.scale, len(colouring.names), colouring.grey)
            present = set(np.unique(colouring.classes).tolist())
            for number, name in enumerate(colouring.names):
                if number in present:
                    entries.setdefault((name, ""), (name, colours[number], "patch"))
            for kind in OUTAGE_KINDS:
                if kind in mark.schedule.outages.kinds:
                    entries.setdefault((kind, "hatch"), (kind, theme.soft, theme.hatch(kind)))
        elif (
            isinstance(mark, Cells)
            or not mark.label
            or mark.colour == "change"
            or (isinstance(mark, Bars) and chart.kind == "compare")
        ):
            continue
        else:
            solid = isinstance(mark, Bars | Boxes) or (
                isinstance(mark, Line) and mark.base is not None and not mark.dashed
            )
            style = "patch" if solid else "point" if isinstance(mark, Points) else "-"
            if isinstance(mark, Line) and mark.dashed:
                style = "--"
            entries.setdefault((mark.label, style), (mark.label, theme.colour(mark.colour), style))
    return list(entries.values())


def draw_line(axes: Axes, mark: Line, theme: Theme, below: int = 0) -> None:
    """A line; a step holds its value until the next point, the last one as long as the one before.

    It is the wider the more lines come after it (`below` of them), so that it is seen where they lie upon it.
    """
    x, y, base = mark.x, mark.y, np.zeros(len(mark.x)) if mark.base is None else mark.base
    colour = theme.colour(mark.colour)
    if mark.step and len(x) > 1:
        x = np.append(x, 2 * x[-1] - x[-2] if x[-1] > x[-2] else x[-1])
        y, base = np.append(y, y[-1]), np.append(base, base[-1])
    if mark.fill:
        solid = mark.base is not None and not mark.dashed  # a dashed line has a pale band below it
        way: Any = "post" if mark.step else None
        axes.fill_between(x, y, base, step=way, color=colour, alpha=0.85 if solid else 0.16, linewidth=0)
        if solid:
            return
    width = _LINE + _WIDER * below
    drawstyle = "steps-post" if mark.step else "default"
    axes.plot(x, y, color=colour, drawstyle=drawstyle, ls="--" if mark.dashed else "-", linewidth=width)


def draw_points(axes: Axes, mark: Points, theme: Theme) -> None:
    """Points; the more there are, the fainter."""
    many = len(mark.x) > _FEW
    axes.scatter(
        mark.x,
        mark.y,
        s=7 if many else 18,
        color=theme.colour(mark.colour),
        alpha=0.35 if many else 0.8,
        linewidths=0,
        rasterized=len(mark.x) > _MANY,
    )


def draw_bars(axes: Axes, mark: Bars, number: int, of: int, panel: Panel, theme: Theme) -> None:
    """Horizontal bars, those of several results beside each other; a change is blue below zero and orange above."""
    thick = 0.74 / of
    position = np.arange(len(mark.values)) + (number - (of - 1) / 2) * thick
    colours: Any = theme.colour(mark.colour)
    if mark.colour == "change":
        sure = [True] * len(mark.values) if mark.low is None else (mark.low > 0) | (np.asarray(mark.high) < 0)
        shades = [theme.diverging[1 if value < 0 else -2] for value in mark.values]
        colours = [(shade, 1.0 if clear else 0.45) for shade, clear in zip(shades, sure, strict=True)]
        axes.axvline(0, color=theme.soft, linewidth=0.8)
    axes.barh(position, np.nan_to_num(mark.values), thick * 0.92, color=colours)
    if mark.low is not None and mark.high is not None:
        known = ~np.isnan(mark.low)
        axes.hlines(position[known], mark.low[known], mark.high[known], color=theme.ink, linewidth=1.3)
        for edge in (mark.low, mark.high):
            axes.plot(edge[known], position[known], "|", color=theme.ink, markersize=6)
    # Room for the end of the longest bar or interval.
    top = float(np.nanmax(np.concatenate((mark.values, [] if mark.high is None else mark.high, [0.0]))))
    if panel.x.high is None and top > 0 and mark.colour != "change":
        axes.set_xlim(0, max(1.06 * top, axes.get_xlim()[1]))


def write_values(axes: Axes, groups: Sequence[Bars], panel: Panel, theme: Theme, width: float) -> None:
    """The value of each bar at its end, or at that of its interval; the axis gets room for them."""
    if len(groups) * len(panel.y.categories) > MOST_VALUES:
        return
    written: list[tuple[float, float, str]] = []
    for number, mark in enumerate(groups):
        position = np.arange(len(mark.values)) + (number - (len(groups) - 1) / 2) * 0.74 / len(groups)
        ends = np.nan_to_num(mark.values)
        if mark.low is not None and mark.high is not None:
            ends = np.where(ends < 0, np.fmin(ends, mark.low), np.fmax(ends, mark.high))
        texts = [tell_value(panel.x, value) for value in mark.values]
        written += zip(position.tolist(), ends.tolist(), texts, strict=True)
    low, high = axes.get_xlim()
    for _ in range(8):  # the wider the axis, the wider a text on it
        letter = (high - low) / (0.62 * width) * _LETTER
        low = min([low, *(end - letter * (len(text) + 1) for _, end, text in written if end < 0)])
        high = max([high, *(end + letter * (len(text) + 1) for _, end, text in written if end >= 0)])
    axes.set_xlim(low, high)
    for at, end, text in written:
        side = -1 if end < 0 else 1
        align = "right" if side < 0 else "left"
        offset: Any = {"xytext": (3.5 * side, 0), "textcoords": "offset points"}
        axes.annotate(text, (end, at), **offset, ha=align, va="center", fontsize=7.5, color=theme.soft)


def tell_value(axis: Axis, value: float) -> str:
    """A value as a person reads it: more exact than at the axis."""
    if np.isnan(value):
        return "–"
    if axis.kind == "duration":
        return format_duration(value).replace("-", "−")
    if axis.kind == "share":
        return f"{100 * value:.1f} %"
    return write_number(round(value) if axis.kind == "count" else float(f"{value:.3g}")).replace("-", "−")


def draw_boxes(axes: Axes, mark: Boxes, number: int, of: int, theme: Theme) -> None:
    """Boxes lying on their sides: whiskers, quartiles, median, mean."""
    thick = 0.74 / of
    colour = theme.colour(mark.colour)
    for row, (low, first, median, third, high) in enumerate(mark.figures):
        if np.isnan(median):
            continue
        position = row + (number - (of - 1) / 2) * thick
        axes.hlines(position, low, high, color=colour, linewidth=1.0)
        axes.barh(
            position, third - first, thick * 0.8, first, color=colour, alpha=0.35, edgecolor=colour, linewidth=0.8
        )
        axes.vlines(median, position - thick * 0.4, position + thick * 0.4, color=colour, linewidth=2.2)
        axes.plot(mark.means[row], position, "o", color=colour, markersize=3.5)


def draw_cells(figure: Figure, axes: Axes, mark: Cells, panel: Panel, theme: Theme) -> None:
    """A map with its scale of colours at the side."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    known = mark.values[np.isfinite(mark.values)]
    known = known[known > 0] if mark.scale.log else known
    low = float(known.min()) if len(known) else 0.0
    high = float(known.max()) if len(known) else 1.0
    low, high = low if mark.scale.low is None else mark.scale.low, high if mark.scale.high is None else mark.scale.high
    if mark.scale.kind == "count" and not mark.scale.log:
        low = 0.0
    if high <= low:  # one value: in the middle of the scale
        low, high = (low / 2 if mark.scale.log else 0.0), low * 2 or 1.0
    colours = LinearSegmentedColormap.from_list("walltime", theme.diverging if mark.diverging else theme.sequence)
    norm = LogNorm(low, high) if mark.scale.log else Normalize(low, high)
    picture = axes.pcolormesh(mark.x, mark.y, mark.values, cmap=colours, norm=norm, rasterized=mark.values.size > _MANY)
    if panel.y.kind == "category":
        axes.set_ylim(len(panel.y.categories) - 0.5, -0.5)
    bar = figure.colorbar(picture, ax=axes, pad=0.02, fraction=0.05, aspect=28)
    bar.outline.set_visible(False)
    bar.minorticks_off()
    ticks = find_ticks(Axis(mark.scale.label, mark.scale.kind, mark.scale.log), low, high, 5)
    bar.set_ticks([value for value, _ in ticks], labels=[text for _, text in ticks])
    bar.set_label(mark.scale.label, color=theme.soft)


def draw_blocks(axes: Axes, mark: ScheduleBlocks, theme: Theme, width: float) -> None:
    """The rectangles of a schedule over the grey of what is not shown; few ones with their numbers."""
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import LinearSegmentedColormap, to_rgba_array

    plan, colouring = mark.schedule, mark.colouring
    if plan.veil is not None:
        grey = LinearSegmentedColormap.from_list("grey", [theme.ground, theme.muted])
        extent = (plan.first, plan.last, 0.0, float(plan.rows))
        axes.imshow(plan.veil, cmap=grey, vmin=0, vmax=1, extent=extent, origin="lower", aspect="auto", zorder=0)
    _draw_outages(axes, plan, theme)
    colours = to_rgba_array(theme.classes(colouring.scale, len(colouring.names), colouring.grey))
    start, end = np.maximum(plan.start, plan.first), np.minimum(plan.end, plan.last)
    few = len(plan.of) <= _FEW
    inch = (plan.last - plan.first) / width
    wide = (end - start > _NARROW * inch) & (plan.high - plan.low > _SMALL * plan.rows / HEIGHT)
    blocks = PolyCollection(
        _corners(start, end, plan.low, plan.high),
        facecolors=colours[colouring.codes[plan.of]],
        edgecolors=theme.ground if few else [theme.ground if apart else "none" for apart in wide],
        linewidths=0.7 if few else np.where(wide, 0.35, 0.0),
        antialiaseds=few,
        rasterized=len(plan.of) > _MANY,
        zorder=2,
    )
    axes.add_collection(blocks)
    axes.set_xlim(plan.first, plan.last)
    axes.set_ylim(0, plan.rows)
    _mark_edges(axes, mark, theme, start, end, width)
    if 1 < len(plan.nodes) <= _FEW_NODES:
        axes.hlines(plan.nodes[1:], plan.first, plan.last, color=theme.ink, linewidth=0.5, alpha=0.2, zorder=2.5)
    _name_bands(axes, plan, theme)
    if few:
        _number_blocks(axes, mark, theme, start, end, width)


def name_nodes(axes: Axes, plan: Schedule) -> None:
    """Nodes under their names instead of numbers of cores, where the site gives them; of many nodes some names."""
    if 0 < len(plan.names) == len(plan.nodes):
        edges = np.append(plan.nodes, plan.rows)
        middles = (edges[:-1] + edges[1:]) / 2
        shown = list(range(len(middles))) if len(middles) <= _NAMES else find_apart(middles, plan.rows / _NAMES)
        axes.set_yticks(middles[shown], [plan.names[number] for number in shown])
        axes.tick_params(axis="y", length=0)
        axes.set_ylabel("nodes, as high as their cores")


def find_apart(places: np.ndarray, least: float) -> list[int]:
    """Which of the rising places are at least so far apart, the first of them and then each next one."""
    chosen = [0]
    while (following := int(np.searchsorted(places, places[chosen[-1]] + least))) < len(places):
        chosen.append(following)
    return chosen


def _name_bands(axes: Axes, plan: Schedule, theme: Theme) -> None:
    """Lines between clusters, or of one cluster between partitions, and their names at the side, as there is room."""
    bands = plan.bands if len(plan.bands) > 1 else plan.parts
    for band in bands[1:]:
        axes.axhline(band.low, color=theme.ink, linewidth=0.8)
    for band in bands:
        room = HEIGHT * (band.high - band.low) / plan.rows
        upright = len(band.name) * 0.085 < room
        if upright or room > 0.15:
            middle = (band.low + band.high) / 2
            words: Any = {"rotation": 90 if upright else 0, "va": "center", "fontsize": 8, "color": theme.soft}
            axes.text(
                1.006, middle, shorten(band.name, 40 if upright else 10), words, transform=axes.get_yaxis_transform()
            )


def _corners(start: np.ndarray, end: np.ndarray, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The corners of rectangles."""
    corners = np.empty((len(start), 4, 2))
    corners[:, 0, 0] = corners[:, 1, 0] = start
    corners[:, 2, 0] = corners[:, 3, 0] = end
    corners[:, 0, 1] = corners[:, 3, 1] = low
    corners[:, 1, 1] = corners[:, 2, 1] = high
    return list(corners)


def _draw_outages(axes: Axes, plan: Schedule, theme: Theme) -> None:
    """What was down or reserved, hatched, below the jobs: in a reservation some may run."""
    from matplotlib.collections import PolyCollection

    out = plan.outages
    start, end = np.maximum(out.start, plan.first), np.minimum(out.end, plan.last)
    for kind in OUTAGE_KINDS:
        mine = out.kinds == kind
        axes.add_collection(
            PolyCollection(
                _corners(start[mine], end[mine], out.low[mine], out.high[mine]),
                facecolors=theme.fade(0.75),
                edgecolors=theme.soft,
                hatch=theme.hatch(kind),
                linewidths=0.4,
                rasterized=int(mine.sum()) > _MANY,
                zorder=1,
            )
        )


def _mark_edges(
    axes: Axes, mark: ScheduleBlocks, theme: Theme, start: np.ndarray, end: np.ndarray, width: float
) -> None:
    """A dark edge where a backfilled job starts and where a job is interrupted, if it is wide enough to show one."""
    from matplotlib.collections import LineCollection

    plan = mark.schedule
    inch = (plan.last - plan.first) / width
    seen = (end - start > 0.03 * inch) & (plan.high - plan.low > plan.rows / 150)
    backfilled = plan.jobs["backfilled"].fill_null(False).to_numpy()[plan.of] & (plan.start >= plan.first)
    for which, side in ((backfilled, start), (plan.cut & (plan.end <= plan.last), end)):
        ends = np.stack([np.column_stack((side, row)) for row in (plan.low, plan.high)], axis=1)[which & seen]
        axes.add_collection(LineCollection(list(ends), colors=theme.ink, linewidths=1.1, zorder=3))


def _number_blocks(
    axes: Axes, mark: ScheduleBlocks, theme: Theme, start: np.ndarray, end: np.ndarray, width: float
) -> None:
    """The names or numbers of the jobs that have room for one, in each of their times of running."""
    plan = mark.schedule
    names = plan.jobs["name"].to_list() if "name" in plan.jobs.columns else [None] * plan.jobs.height
    numbers = [name or number for name, number in zip(names, plan.jobs["job_id"].to_list(), strict=True)]
    wide, high = (end - start) / (plan.last - plan.first) * width, (plan.high - plan.low) / plan.rows * HEIGHT
    told: set[tuple[int, float]] = set()
    for index in np.argsort(-(plan.high - plan.low), kind="stable").tolist():
        text, job = str(numbers[plan.of[index]]), int(plan.of[index])
        if (job, start[index]) in told or wide[index] < 0.085 * len(text) + 0.1 or high[index] < 0.16:
            continue
        told.add((job, start[index]))
        middle = (start[index] + end[index]) / 2, (plan.low[index] + plan.high[index]) / 2
        box = {"boxstyle": "round,pad=0.15", "facecolor": theme.ground, "edgecolor": "none", "alpha": 0.75}
        axes.text(*middle, text, ha="center", va="center", fontsize=7.5, color=theme.ink, bbox=box, zorder=4)
