"""Pictures of waits over time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Chart, Line, Panel
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels, time_axis
from walltime.analysis.series import choose_interval
from walltime.analysis.statistics import Groups
from walltime.core.errors import InputError
from walltime.core.time import format_duration

ENOUGH = 20
"""Jobs that an interval must have in the mean, so that their 95 % wait means something."""


def median_wait(results: Sequence[Shown], minutes: float | None = None) -> Chart:
    """The median wait of the jobs submitted in each interval: a minute, or the shortest that leaves 500 of them."""
    marks, lengths = [], []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        submit, wait = _find_waits(result)
        first, last = float(submit.min()), float(submit.max())
        length = max(60.0, choose_interval(last - first, 500)) if minutes is None else 60.0 * minutes
        if not 0 < length < np.inf or (last - first) / length > 1e6:
            raise InputError("minutes is not a length of intervals that suits this result", value=minutes)
        time, groups = _group(submit, wait, length)
        marks.append(Line(label, time, groups.quantile(0.5), number, step=True))
        lengths.append(length)
    panel = Panel(time_axis(results), Axis("median wait", "duration", low=0), tuple(marks))
    note = f"By time of submission, in intervals of {format_duration(max(lengths))}; gaps: no job was submitted."
    return Chart("median-wait", "Median wait over time", (panel,), find_clock(results), (note,))


def waits(results: Sequence[Shown]) -> Chart:
    """The median and the 95 % wait of the jobs submitted in each interval, and the band between them."""
    marks, lengths = [], []
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        submit, wait = _find_waits(result)
        span = float(submit.max() - submit.min())
        length = max(60.0, choose_interval(span, min(200, max(1, len(submit) // ENOUGH))))
        time, groups = _group(submit, wait, length)
        middle, most = groups.quantile(0.5), groups.quantile(0.95)
        name = f"{label}, " if len(results) > 1 else ""
        marks.append(Line(f"{name}95 %", time, most, number, step=True, fill=True, dashed=True, base=middle))
        marks.append(Line(f"{name}median", time, middle, number, step=True))
        lengths.append(length)
    panel = Panel(time_axis(results), Axis("wait", "duration", low=0), tuple(marks))
    note = f"By time of submission, in intervals of {format_duration(max(lengths))}; gaps: no job was submitted."
    return Chart("waits", "Median and 95 % wait over time", (panel,), find_clock(results), (note,))


def _find_waits(result: Shown) -> tuple[np.ndarray, np.ndarray]:
    """Submission and wait of each job that has started; raises InputError where none has."""
    started = result.record.jobs.filter(pl.col("start").is_not_null())
    if not started.height:
        raise InputError(f"{result.label}: no job has started")
    return started["submit"].to_numpy(), started["wait"].cast(pl.Float64).to_numpy()


def _group(submit: np.ndarray, wait: np.ndarray, length: float) -> tuple[np.ndarray, Groups]:
    """The waits by interval of submission, and when each of these begins."""
    begin = float(submit.min()) // length * length
    count = int((float(submit.max()) - begin) // length) + 1
    return begin + length * np.arange(count), Groups.of(((submit - begin) // length).astype(np.int64), wait, count)


def cumulative_wait(results: Sequence[Shown]) -> Chart:
    """The waits of all jobs started so far, added up: where a policy loses time, and where it makes it good."""
    marks, waited = [], False
    for number, (label, result) in enumerate(zip(find_labels(results), results, strict=True)):
        started = result.record.jobs.filter(pl.col("start").is_not_null()).sort("start")
        if not started.height:
            raise InputError(f"{result.label}: no job has started")
        total = np.cumsum(started["wait"].cast(pl.Float64).to_numpy())
        waited = waited or bool(total[-1])
        keep = np.unique(np.linspace(0, started.height - 1, 500).astype(np.int64))
        marks.append(Line(label, started["start"].to_numpy()[keep], total[keep] / 3600, number, step=True))
    axis = Axis("sum of waits so far (hours)", "number", low=0, high=None if waited else 1.0)
    panel = Panel(time_axis(results), axis, tuple(marks))
    return Chart("cumulative-wait", "Waits added up", (panel,), find_clock(results), ("By time of start.",))
