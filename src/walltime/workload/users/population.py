"""More or fewer users from the same pool: each is drawn from those of a log, with everything that the user does."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, MISSING, Workload, sort_by_submission
from walltime.workload.calendar import WEEK
from walltime.workload.users.sessions import sort_by_user

_MOMENTS = ("submit", "begin", "deadline", "cancel")


def resample(jobs: Workload, count: int, seed: int) -> Workload:
    """The workload of so many users; jobs without a user stay as they are.

    The k-th user is drawn by its number alone, so that a larger population has all users of a smaller one. Each begins
    some whole weeks earlier or later, so that hours of the day and days of the week stay, inside the time of the log.
    One who is drawn again gets a number behind the name.
    """
    order, user = sort_by_user(jobs)
    codes, first = np.unique(user[user >= 0], return_index=True)
    if not len(codes):
        raise InputError("the jobs have no users, of whom more or fewer could be drawn", file=jobs.source or None)
    if jobs.has("preceding_job") or (jobs.has("dependencies") and any(jobs.column("dependencies"))):
        raise InputError("jobs that name other jobs cannot be drawn again for another user", file=jobs.source or None)
    nobody = int(np.count_nonzero(user < 0))
    edges = np.append(first, len(user) - nobody) + nobody
    drawn = (uniforms(seed, "users.population", np.arange(count)) * len(codes)).astype(np.int64)
    rows = [order[:nobody]] + [order[edges[one] : edges[one + 1]] for one in drawn.tolist()]
    weeks = _draw_weeks(jobs.column("submit"), rows[1:], seed)
    sizes = [len(one) for one in rows]
    taken = np.concatenate(rows)
    later = np.repeat(np.append(0, weeks), sizes) * (WEEK * SECOND)
    names, number = _name_all([jobs.label_names("user")[int(codes[one])] for one in drawn])
    columns = _take(jobs, taken, later)
    columns["user"] = np.repeat(np.append(MISSING, number), sizes).astype(np.int32)
    columns["job_id"] = np.arange(1, len(taken) + 1)
    return jobs.replace(sort_by_submission(columns), labels=jobs.labels | {"user": names})


def _draw_weeks(submit: np.ndarray, people: list[np.ndarray], seed: int) -> np.ndarray:
    """By how many weeks each user's jobs are moved, all inside the time of the log."""
    week = WEEK * SECOND
    low, high = int(submit[0]), int(submit[-1])
    earlier = np.array([(int(submit[rows[0]]) - low) // week for rows in people], np.int64)
    after = np.array([(high - int(submit[rows[-1]])) // week for rows in people], np.int64)
    draws = uniforms(seed, "users.population.weeks", np.arange(len(people)))
    return np.asarray((draws * (earlier + after + 1)).astype(np.int64) - earlier)


def _name_all(names: list[str]) -> tuple[list[str], np.ndarray]:
    """The names, those that occur again with a number; each user's code is its place."""
    seen: dict[str, int] = {}
    given, known = [], set(names)
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        new = name
        while seen[name] > 1 and (new := f"{name}.{seen[name]}") in known:
            seen[name] += 1
        known.add(new)
        given.append(new)
    return given, np.arange(len(given))


def _take(jobs: Workload, rows: np.ndarray, later: np.ndarray) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, values in jobs.columns.items():
        if COLUMNS[name].kind == "text":
            columns[name] = [values[row] for row in rows.tolist()]
        else:
            columns[name] = values[rows]
            if name in _MOMENTS:
                columns[name] = np.where(columns[name] >= 0, columns[name] + later, columns[name])
    return columns
