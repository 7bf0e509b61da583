"""Pictures of the schedule itself: cores over time, nodes over time, one schedule against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from walltime.analysis.charts.chart import Axis, Cells, Chart, Line, Panel, ScheduleBlocks
from walltime.analysis.charts.overtime import only_one
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, find_nodes, find_unit, time_axis
from walltime.analysis.charts.schedule.colouring import choose_way, colour_all, colour_by_shift
from walltime.analysis.charts.schedule.lanes import shade
from walltime.analysis.charts.schedule.layout import MOST_JOBS, Schedule, explain_rows, lay_out, lay_out_all
from walltime.analysis.charts.schedule.outages import RESERVED
from walltime.core.dates import read_moment
from walltime.core.errors import InputError

_MAP = (400, 200)


def schedule(
    results: Sequence[Shown],
    by: str | None = None,
    begin: str | float | None = None,
    end: str | float | None = None,
    most: int = MOST_JOBS,
) -> Chart:
    """Which job held which cores when, coloured by user, queue, size, wait, ...; between two times of the trace."""
    panels, notes = [], []
    window = read_window(results, begin, end)
    plans = [_lay_out(result, window, most) for result in results]
    way = by or choose_way(plans[0].jobs)
    colourings = colour_all([plan.jobs for plan in plans], way)
    for label, plan, colouring in zip(find_labels(results), plans, colourings, strict=True):
        panels.append(_panel(results, plan, ScheduleBlocks(plan, colouring), label if len(results) > 1 else ""))
        notes.append((f"{label}: " if len(results) > 1 else "") + plan.rule)
    notes += [*filter(None, [explain_rows(plans)]), *_explain_edges(plans)]
    return Chart("schedule", f"Schedule, by {way}", tuple(panels), find_clock(results), tuple(dict.fromkeys(notes)))


def schedule_diff(
    results: Sequence[Shown],
    begin: str | float | None = None,
    end: str | float | None = None,
    most: int = MOST_JOBS,
) -> Chart:
    """The schedules of the results after the first; colours tell what starts earlier or later than in the first."""
    if len(results) < 2:
        raise InputError("the plot schedule-diff compares results with the first; give at least two")
    labels, panels, window = find_labels(results), [], read_window(results, begin, end)
    rule = ""
    for label, result in zip(labels[1:], results[1:], strict=True):
        plan = _lay_out(result, window, most)
        blocks = ScheduleBlocks(plan, colour_by_shift(plan.jobs, results[0].record.jobs))
        panels.append(_panel(results, plan, blocks, f"{label} against {labels[0]}"))
        rule = plan.rule
    title = f"What starts earlier or later than under {labels[0]}"
    return Chart("schedule-diff", title, tuple(panels), find_clock(results), (rule,))


def nodes(results: Sequence[Shown]) -> Chart:
    """How full each node was over time; where nodes are many, neighbours are shown together."""
    result = only_one(results, "nodes")
    plan = lay_out_all(result.record)
    find_nodes(result, plan)
    cells = _map_rows(plan, (plan.start, plan.end, plan.low, plan.high), Axis("cores in use", "share", low=0, high=1))
    if result.record.facts.get("shared_time"):  # most places are never taken: how many tasks there were tells more
        edges = np.append(plan.nodes, plan.rows)
        places = np.diff(np.interp(cells.y, np.arange(len(edges)), edges)) / np.diff(cells.y)
        cells = replace(cells, values=cells.values * places[:, None], scale=Axis("tasks on a node", "number", low=0))
    panel = Panel(time_axis(results), _node_axis(plan), (cells,))
    return Chart("nodes", "Use of the nodes", (panel,), find_clock(results))


def failures(results: Sequence[Shown]) -> Chart:
    """Which nodes were down when, by failure or for maintenance: a map of nodes (or cores) over time."""
    result = only_one(results, "failures")
    record = result.record
    if record.outages is None or not (record.outages["kind"].cast(str) != RESERVED).any():
        raise InputError(f"{result.label}: nothing was ever down")
    plan = lay_out(replace(record, allocations=record.allocations.head(0)))
    out = plan.outages
    down = out.kinds != RESERVED
    blocks = tuple(column[down] for column in (out.start, out.end, out.low, out.high))
    cells = _map_rows(plan, blocks, Axis("cores down", "share", low=0, high=1))
    kinds = out.table["kind"].gather(np.unique(out.of)).cast(str).value_counts(sort=True)
    notes = [f"{count:,} × {kind}." for kind, count in kinds.iter_rows() if kind != RESERVED]
    notes += filter(None, [explain_rows([plan], "were down")])
    panel = Panel(time_axis(results), _node_axis(plan), (cells,))
    return Chart("failures", "Down times", (panel,), find_clock(results), tuple(notes))


def _map_rows(plan: Schedule, blocks: tuple[np.ndarray, ...], scale: Axis) -> Cells:
    """How full each node (or group of cores) is with rectangles (starts, ends, lowest rows, rows above) over time."""
    start, end, low, high = blocks
    edges = np.append(plan.nodes, plan.rows) if len(plan.nodes) else np.arange(plan.rows + 1)
    count, columns = len(edges) - 1, _MAP[0]
    lines = min(count, _MAP[1])
    width = (plan.last - plan.first) / columns
    left, right = ((np.clip(side, plan.first, plan.last) - plan.first) / width for side in (start, end))
    # From rows of cores to rows of nodes: a node has the same height, whatever its cores.
    bottom, top = (np.interp(side, edges, np.arange(len(edges))) * (lines / count) for side in (low, high))
    full = np.minimum(shade(left, right, bottom, top, columns, lines), 1.0)
    return Cells(plan.first + width * np.arange(columns + 1), np.linspace(0, count, lines + 1), full, scale)


def _node_axis(plan: Schedule) -> Axis:
    """Nodes upward, or cores where there are no nodes."""
    known = len(plan.nodes)
    return Axis("node" if known else "cores", "count", low=0, high=known or plan.rows)


def node_load(results: Sequence[Shown]) -> Chart:
    """How much of the time each node's cores were in use: is the work spread evenly?"""
    marks = []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        plan = lay_out_all(result.record)
        found = find_nodes(result, plan)
        edges = np.append(found, plan.rows)
        # A rectangle may reach over many nodes: sums by core first, then by node.
        work = np.zeros(plan.rows + 1)
        np.add.at(work, plan.low, plan.end - plan.start)
        np.add.at(work, plan.high, plan.start - plan.end)
        by_node = np.add.reduceat(np.cumsum(work)[:-1], found)
        share = by_node / (np.diff(edges) * (plan.last - plan.first))
        marks.append(Line(label, np.arange(len(found) + 1.0), np.append(share, share[-1]), number, step=True))
    x = Axis("node", "count", low=0, high=max(float(mark.x[-1]) for mark in marks))
    panel = Panel(x, Axis(f"share of its {find_unit(results)} in use", "share", low=0, high=1), tuple(marks))
    return Chart(
        "node-load", "Work of each node", (panel,), find_clock(results), ("From first submission to last end.",)
    )


def _lay_out(result: Shown, window: tuple[float | None, float | None], most: int) -> Schedule:
    plan = lay_out(result.record, most, window=window, tight=True)
    if not len(plan.of):
        raise InputError(f"{result.label}: no job ran" + ("" if window == (None, None) else " in this window"))
    return plan


def _panel(results: Sequence[Shown], plan: Schedule, blocks: ScheduleBlocks, title: str) -> Panel:
    x = time_axis(results, plan.first, plan.last)
    words = find_unit(results) + (", node by node" if any(len(band.nodes) for band in plan.bands) else "")
    return Panel(x, Axis(words, "count", low=0, high=plan.rows), (blocks,), title)


def _explain_edges(plans: Sequence[Schedule]) -> list[str]:
    """What the edges of the jobs mean, as far as there are such jobs."""
    notes = []
    if any(plan.jobs["backfilled"].fill_null(False).any() for plan in plans):
        notes.append("An edge at its start marks a job that was backfilled.")
    if any(plan.cut.any() for plan in plans):
        notes.append("An edge at its end marks a job that was interrupted and ran again later.")
    return notes


def read_window(
    results: Sequence[Shown], begin: str | float | None, end: str | float | None
) -> tuple[float | None, float | None]:
    """The times between which a schedule is shown, as durations or dates of the first result; raises InputError."""
    origin = dict(results[0].record.facts.get("origin") or {})
    clock = origin.get("epoch"), origin.get("timezone")
    first, last = (None if side is None else read_moment(side, *clock) for side in (begin, end))
    if first is not None and last is not None and first >= last:
        raise InputError("the picture would end before it begins", value=f"{begin} to {end}")
    return first, last
