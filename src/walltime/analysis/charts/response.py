"""The response of a figure to a value: what was tried, with intervals, and what is wanted."""

from __future__ import annotations

import numpy as np

from walltime.analysis.charts.chart import Axis, Chart, Clock, Line, Panel, Points
from walltime.analysis.noise import Interval

KINDS = {"wait": "duration", "response": "duration", "makespan": "duration", "utilization": "share"}


def find_kind(figure: str) -> str:
    """How the values of a figure are written at an axis."""
    return next((kind for word, kind in KINDS.items() if word in figure), "number")


def draw_response(
    key: str, figure: str, tried: list[tuple[float, Interval]], bound: float, found: float | None
) -> Chart:
    """The mean of a figure at each value of a key with its 95 % interval, the bound, and the value that was found."""
    x = np.array([value for value, _ in tried])
    mean = np.array([one.mean for _, one in tried])
    low = np.array([one.mean if one.low is None else one.low for _, one in tried])
    high = np.array([one.mean if one.high is None else one.high for _, one in tried])
    marks: list[Line | Points] = [
        Line("95 % interval", x, high, "muted", fill=True, base=low),
        Line("mean", x, mean, 0),
        Line("wanted", np.array([x.min(), x.max()]), np.array([bound, bound]), "ink", dashed=True),
    ]
    if found is not None:
        marks.append(Points("found", np.array([found]), mean[x == found], 1, (f"{found:g}",)))
    panel = Panel(Axis(key), Axis(figure, find_kind(figure), low=0), tuple(marks))
    notes = ("Means over repetitions with 95 % intervals; lines between the values that were tried are a guide only.",)
    return Chart("response", f"{figure} by {key}", (panel,), Clock(), notes)
