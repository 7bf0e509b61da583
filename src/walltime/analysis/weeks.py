"""One trace as repetitions: its weeks, of which the first day each is warm-up and counts in no figure.

Jobs of one week share a fate, so an interval is over weeks and never over jobs; the day that is left out keeps what
one week hands on to the next from making neighbours alike (batch means with gaps, A. M. Law, "Simulation Modeling and
Analysis", section 9.5).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.metrics import EXPERIMENT, find_utilizations, slowdown_column
from walltime.analysis.verdict import WEEKS, Verdict, judge
from walltime.core.time import microseconds

if TYPE_CHECKING:
    from walltime.analysis.compare import Comparable
    from walltime.analysis.winners import Pairs
    from walltime.core.tables import Record

WEEK = 7 * 86_400.0
WARMUP = 86_400.0
"""Seconds at the beginning of each week that count in no figure."""


def judge_weeks(before: tuple[str, Comparable], after: tuple[str, Comparable], pairs: Pairs) -> list[Verdict]:
    """The verdicts of the mean wait, the 95 % wait, the mean bounded slowdown and the utilization over whole weeks.

    They are over the jobs that started in both results. Means are those over all these jobs, each week counting as
    much as it has jobs; the 95 % wait is the mean of those of the weeks. Not yet corrected for their number.
    """
    tables = [jobs.filter(pairs.both) for jobs in (pairs.old, pairs.new)]
    submit = _seconds(tables[0], "submit")
    weeks = find_weeks(submit, float(pairs.old["submit"].max() or 0.0))  # type: ignore[arg-type]
    waits, slowdowns = [_seconds(jobs, "wait") for jobs in tables], [slowdown_column(jobs) for jobs in tables]
    present = np.unique(weeks[weeks >= 0])
    values: dict[str, list[Any]] = {"mean_wait": _share(weeks, waits)}
    values["p95_wait"] = [[float(np.quantile(own[weeks == week], 0.95)) for week in present] for own in waits]
    values["mean_bounded_slowdown"] = _share(weeks, slowdowns)
    spans = [_span(float(submit.min()), week) for week in present] if len(present) > 1 else []
    values["utilization_window"] = [find_utilizations(result.record, spans) for _, result in (before, after)]
    return [
        judge(metric, (after[0], new), (before[0], old), basis=WEEKS)
        for metric, (old, new) in values.items()
        if len(old) and None not in [*old, *new]
    ]


def find_weeks(submit: np.ndarray, last: float) -> np.ndarray:
    """The week of each submission from the first on; -1 in a week's warm-up, and in a week that `last` does not end.

    Where there is no whole week, the jobs are all of one.
    """
    if not len(submit):
        return np.zeros(0, np.int64)
    since = submit - submit.min()
    weeks = np.floor(since / WEEK).astype(np.int64)
    whole = int((last - submit.min()) // WEEK)
    if not whole:
        return np.zeros(len(submit), np.int64)
    return np.where((since % WEEK >= WARMUP) & (weeks < whole), weeks, -1)


def each_week(record: Record) -> Iterator[tuple[int, Record]]:
    """Each whole week with the record in which its jobs, after the warm-up, are the experiment and all others are not.

    Of jobs that have phases already only those of the experiment count. Where there is no whole week, the record as it
    is is the only one.
    """
    jobs = record.jobs
    submit = _seconds(jobs, "submit")
    if not len(submit) or float(np.ptp(submit)) < WEEK:
        yield 0, record
        return
    weeks = find_weeks(submit, float(submit.max()))
    if jobs["phase"].null_count() < jobs.height:
        weeks = np.where((jobs["phase"].cast(pl.String) == EXPERIMENT).fill_null(False).to_numpy(), weeks, -1)
    for week in np.unique(weeks[weeks >= 0]).tolist():
        phase = np.where(weeks == week, EXPERIMENT, "other")
        yield week, replace(record, jobs=jobs.with_columns(pl.Series("phase", phase, dtype=pl.String)))


def share_weeks(weeks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What each week adds to the mean over all values, times the number of weeks: their mean is that mean."""
    present, index = np.unique(weeks, return_inverse=True)
    return np.bincount(index, values, len(present)) * len(present) / max(1, len(values))


def _share(weeks: np.ndarray, columns: list[np.ndarray]) -> list[np.ndarray]:
    known = (weeks >= 0) & ~np.isnan(columns[0] + columns[1])
    return [share_weeks(weeks[known], values[known]) for values in columns]


def _span(first: float, week: int) -> tuple[int, int]:
    """A week after its warm-up, in microseconds."""
    begin = first + week * WEEK
    return microseconds(begin + WARMUP), microseconds(begin + WEEK)


def _seconds(jobs: pl.DataFrame, name: str) -> np.ndarray:
    return np.asarray(jobs[name].cast(pl.Float64).to_numpy())
