"""Pictures of the schedule itself: cores over time, nodes over time, one schedule against another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walltime.analysis.charts.chart import Axis, Blocks, Cells, Chart, Line, Panel
from walltime.analysis.charts.colouring import WAYS, colour_by, colour_by_shift, find_ways
from walltime.analysis.charts.lanes import shade
from walltime.analysis.charts.layout import MOST_JOBS, Schedule, lay_out
from walltime.analysis.charts.overtime import only_one
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, time_axis
from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds

_MAP = (400, 200)


def schedule(
    results: Sequence[Shown],
    by: str | None = None,
    begin: str | float | None = None,
    end: str | float | None = None,
    most: int = MOST_JOBS,
) -> Chart:
    """Who held which cores when, coloured by user, queue, size, wait, ...; between two times of the trace."""
    panels, notes = [], []
    window = _window(begin, end)
    for label, result in zip(find_labels(results), results, strict=True):
        plan = _lay_out(result, window, most)
        blocks = Blocks(plan, colour_by(plan.jobs, by or _default(plan)))
        panels.append(_panel(results, plan, blocks, label if len(results) > 1 else ""))
        notes.append((f"{label}: " if len(results) > 1 else "") + plan.rule)
    if any(not len(band.nodes) for panel in panels for band in panel.marks[0].schedule.bands):  # type: ignore[union-attr]
        notes.append("The cluster is a number of cores: which of them a job had is the picture's choice.")
    notes.append("An edge at its start marks a job that was backfilled.")
    words = panels[0].marks[0].colouring.by  # type: ignore[union-attr]
    return Chart("schedule", f"Schedule, by {words}", tuple(panels), find_clock(results), tuple(dict.fromkeys(notes)))


def schedule_diff(
    results: Sequence[Shown],
    begin: str | float | None = None,
    end: str | float | None = None,
    most: int = MOST_JOBS,
) -> Chart:
    """The schedules of the results after the first; colours tell what starts earlier or later than in the first."""
    if len(results) < 2:
        raise InputError("the plot schedule-diff compares results with the first; give at least two")
    labels, panels, window = find_labels(results), [], _window(begin, end)
    rule = ""
    for label, result in zip(labels[1:], results[1:], strict=True):
        plan = _lay_out(result, window, most)
        blocks = Blocks(plan, colour_by_shift(plan.jobs, results[0].record.jobs))
        panels.append(_panel(results, plan, blocks, f"{label} against {labels[0]}"))
        rule = plan.rule
    title = f"What starts earlier or later than under {labels[0]}"
    return Chart("schedule-diff", title, tuple(panels), find_clock(results), (rule,))


def nodes(results: Sequence[Shown]) -> Chart:
    """How full each node was over time; where nodes are many, neighbours are shown together."""
    result = only_one(results, "nodes")
    plan = lay_out(result.record, 1 << 62)
    found = np.concatenate([band.nodes for band in plan.bands])
    if not len(found) or any(not len(band.nodes) for band in plan.bands):
        raise InputError(f"{result.label}: the cluster is a plain number of cores and has no nodes")
    edges = np.append(found, plan.rows)
    lines, columns = min(len(found), _MAP[1]), _MAP[0]
    width = (plan.last - plan.first) / columns
    left, right = ((side - plan.first) / width for side in (plan.start, plan.end))
    # From rows of cores to rows of nodes: a node has the same height, whatever its cores.
    low, high = (np.interp(side, edges, np.arange(len(edges))) * (lines / len(found)) for side in (plan.low, plan.high))
    full = np.minimum(shade(left, right, low, high, columns, lines), 1.0)
    rows = np.linspace(0, len(found), lines + 1)
    cells = Cells(plan.first + width * np.arange(columns + 1), rows, full, Axis("cores in use", "share", low=0, high=1))
    panel = Panel(time_axis(results), Axis("node", "count", low=0, high=len(found)), (cells,))
    return Chart("nodes", "Use of the nodes", (panel,), find_clock(results))


def node_load(results: Sequence[Shown]) -> Chart:
    """How much of the time each node's cores were in use: is the work spread evenly?"""
    marks = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        plan = lay_out(result.record, 1 << 62)
        found = np.concatenate([band.nodes for band in plan.bands])
        if not len(found) or any(not len(band.nodes) for band in plan.bands):
            raise InputError(f"{result.label}: the cluster is a plain number of cores and has no nodes")
        edges = np.append(found, plan.rows)
        # A rectangle may reach over many nodes: sums by core first, then by node.
        work = np.zeros(plan.rows + 1)
        np.add.at(work, plan.low, plan.end - plan.start)
        np.add.at(work, plan.high, plan.start - plan.end)
        by_node = np.add.reduceat(np.cumsum(work)[:-1], found)
        share = by_node / (np.diff(edges) * (plan.last - plan.first))
        marks.append(Line(label, np.arange(len(found) + 1.0), np.append(share, share[-1]), number, step=True))
    x = Axis("node", "count", low=0, high=max(float(mark.x[-1]) for mark in marks))
    panel = Panel(x, Axis("share of its cores in use", "share", low=0, high=1), tuple(marks))
    return Chart(
        "node-load", "Work of each node", (panel,), find_clock(results), ("From first submission to last end.",)
    )


def _lay_out(result: Shown, window: tuple[float | None, float | None], most: int) -> Schedule:
    plan = lay_out(result.record, most, window=window)
    if not len(plan.of):
        raise InputError(f"{result.label}: no job ran" + ("" if window == (None, None) else " in this window"))
    return plan


def _panel(results: Sequence[Shown], plan: Schedule, blocks: Blocks, title: str) -> Panel:
    axis = time_axis(results)
    x = Axis(axis.label, "time", low=plan.first, high=plan.last)
    words = "cores, node by node" if any(len(band.nodes) for band in plan.bands) else "cores"
    return Panel(x, Axis(words, "count", low=0, high=plan.rows), (blocks,), title)


def _default(plan: Schedule) -> str:
    """By user where there are some, else by size."""
    ways = find_ways(plan.jobs)
    return next((way for way in WAYS if way in ways), "size")


def _window(begin: str | float | None, end: str | float | None) -> tuple[float | None, float | None]:
    first, last = (None if side is None else seconds(parse_duration(side)) for side in (begin, end))
    if first is not None and last is not None and first >= last:
        raise InputError("the picture would end before it begins", value=f"{begin} to {end}")
    return first, last
