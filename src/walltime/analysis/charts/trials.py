"""The trials of a tuning: one figure over the trials, or two against each other with the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from walltime.analysis.charts.chart import Axis, Chart, Clock, Line, Panel, Points
from walltime.analysis.charts.response import find_kind

NOTE = "Means over the repetitions that were tuned on; on others the best is not as good."


def draw_progress(figure: str, values: Sequence[float], held: Sequence[bool], present: float, *, least: bool) -> Chart:
    """Each trial's figure in order, the best so far among those that meet the constraints, and the present one."""
    number, value, holds = np.arange(1, len(values) + 1), np.array(values), np.array(held)
    best = np.where(holds, value, np.inf if least else -np.inf)
    best = np.minimum.accumulate(best) if least else np.maximum.accumulate(best)
    known = np.isfinite(best)
    marks: list[Line | Points] = [
        Line("best so far", number[known], best[known], 0, step=True),
        Line("present", np.array([1, len(values)]), np.array([present, present]), "ink", dashed=True),
        Points("trial", number[holds], value[holds], 0),
    ]
    if not holds.all():
        marks.append(Points("breaks a constraint", number[~holds], value[~holds], "muted"))
    panel = Panel(Axis("trial", "count"), Axis(figure, find_kind(figure)), tuple(marks))
    return Chart("trials", f"{figure} by trial", (panel,), Clock(), (NOTE,))


def draw_front(
    figures: tuple[str, str],
    values: tuple[Sequence[float], Sequence[float]],
    held: Sequence[bool],
    front: Sequence[tuple[str, float, float]],
    present: tuple[float, float],
) -> Chart:
    """Two figures of each trial; the front that no trial beats in both, and the present setting."""
    x, y, holds = np.array(values[0]), np.array(values[1]), np.array(held)
    edge = sorted(front, key=lambda one: one[1])
    across, up = np.array([one[1] for one in edge]), np.array([one[2] for one in edge])
    names = tuple(one[0] for one in edge)
    marks: list[Line | Points] = [Points("trial", x[holds], y[holds], "muted")]
    if not holds.all():
        marks.append(Points("breaks a constraint", x[~holds], y[~holds], "waiting"))
    marks += [
        Line("Pareto front", across, up, 0, dashed=True),
        Points("on the front", across, up, 0, names),
        Points("present", np.array([present[0]]), np.array([present[1]]), 1, ("present",)),
    ]
    axes = [Axis(figure, find_kind(figure)) for figure in figures]
    title = f"{figures[1]} against {figures[0]}"
    return Chart("trials", title, (Panel(axes[0], axes[1], tuple(marks)),), Clock(), (NOTE,))
