"""The hours in which users work: a user who is ready at another hour comes back in the next of these."""

from __future__ import annotations

import numpy as np

from walltime.core.time import SECOND
from walltime.workload.calendar import HOURS, time_of_week
from walltime.workload.users.sessions import Acts

HOUR = 3600 * SECOND
FEW = 20
"""A user with fewer batches than this works in the site's usual hours too."""
_KIND_OF_DAY = np.array([0, 0, 0, 0, 0, 1, 2])  # Monday to Friday, Saturday, Sunday
_DAYS = np.array([5.0, 1.0, 1.0])


def find_hours(acts: Acts) -> np.ndarray:
    """For each user which of the week's 168 hours are working hours.

    An hour is one in which the user has begun a batch, on any day of the same kind: Monday to Friday, Saturday, Sunday.
    Users of whom little is known have the usual hours of the site beside their own: those in which at least half as
    many batches begin as in the mean hour. Every recorded batch begins in a working hour of its user.
    """
    people = acts.user >= 0
    users = int(acts.user.max(initial=-1)) + 1
    hour = (acts.start[people] + time_of_week(acts.workload)) // HOUR % HOURS
    index = _KIND_OF_DAY[hour // 24] * 24 + hour % 24
    counts = np.zeros((users, 72), np.int64)
    np.add.at(counts, (acts.user[people], index), 1)
    rate = counts.sum(0).reshape(3, 24) / _DAYS[:, None]
    usual = (rate >= 0.5 * rate.mean()).ravel() & (counts.sum(0) > 0)
    works = (counts > 0) | ((counts.sum(1) < FEW)[:, None] & usual)
    return np.asarray(works.reshape(users, 3, 24)[:, _KIND_OF_DAY].reshape(users, HOURS))


def hours_until(works: np.ndarray) -> np.ndarray:
    """For each user and hour of the week: so many hours later begins the next working hour; 0 for a working hour."""
    out = np.zeros(works.shape, np.int64)
    next_one = np.full(len(works), -1)
    for hour in range(2 * HOURS - 1, -1, -1):
        next_one = np.where(works[:, hour % HOURS], hour, next_one)
        if hour < HOURS:
            out[:, hour] = next_one - hour
    return out
