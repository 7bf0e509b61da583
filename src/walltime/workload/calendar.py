"""Days and weeks on a workload's clock."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload

DAY = 86_400
WEEK = 7 * DAY
HOURS = 168
"""Hours of a week."""


def hour_of_week(jobs: Workload, moments: np.ndarray) -> np.ndarray:
    """Hours since Monday 0:00, local time, of moments on the workload's clock.

    A clock without an origin is taken to begin on a Monday, unless its times are so late that they must count from
    1970.
    """
    seconds = np.asarray(moments) // SECOND + _epoch(jobs, moments)
    offset = _zone(jobs)
    days, index = np.unique(seconds // DAY, return_inverse=True)
    ahead = np.array([offset(int(day) * DAY // 900) for day in days], np.int64)
    return np.asarray(((seconds + ahead[index]) // 3600 + 3 * 24) % HOURS)


def time_of_week(jobs: Workload) -> int:
    """How far the week has gone when the workload's clock begins: microseconds since Monday 0:00, local time.

    Of a zone with summer time, the time that it has at the first submission: one that does not change.
    """
    submit = jobs.column("submit")
    epoch = _epoch(jobs, submit)
    first = (int(submit[0]) // SECOND if len(submit) else 0) + epoch
    ahead = _zone(jobs)(first // DAY * DAY // 900)
    return ((epoch + ahead + 3 * DAY) % WEEK) * SECOND


def _epoch(jobs: Workload, moments: np.ndarray) -> int:
    """Seconds since 1970 at the zero of the workload's clock."""
    if jobs.origin.epoch is not None:
        return int(jobs.origin.epoch)
    from_1970 = len(moments) > 0 and int(moments.min()) > 10 * 365 * DAY * SECOND
    return 0 if from_1970 else 4 * DAY  # 1970 began on a Thursday


def _zone(jobs: Workload) -> Callable[[int], int]:
    from walltime.workload.formats.sacct.reader import zone_offset

    try:
        return zone_offset(jobs.origin.timezone)
    except InputError:
        return zone_offset(None)
