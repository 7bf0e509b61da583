"""Jobs that would skew a model: found, removed and reported one kind at a time.

- Jobs without a run time (cancelled in the queue): a model of what runs cannot use them.
- System tests: jobs on (nearly) the whole machine that are so rare that no user can have meant them as work.
- Flurries: weeks in which one user submitted many times what all others together usually do (Feitelson and Tsafrir,
  Workload sanitation for performance evaluation, ISPASS 2006). The user's jobs of such a week are removed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload

_WEEK = 7 * 86_400 * SECOND
_SMALLEST_FLURRY = 200
_NEARLY_ALL = 0.95
_RARE = 0.001


@dataclass(frozen=True)
class Removal:
    """One thing that cleaning took out: what, how many jobs and core-hours, where, and whose they were."""

    what: str
    jobs: int
    core_hours: float
    detail: str = ""
    user: str = ""


def clean(workload: Workload, flurry: float = 5.0, system_tests: bool = True) -> tuple[Workload, list[Removal]]:
    """The jobs that a model should be made of, and what was removed.

    `flurry` is how many times the others' median week one user's week must be to count as a flurry (0: none is).
    """
    if flurry < 0:
        raise InputError("the factor of a flurry cannot be negative (0 removes none)", value=flurry)
    removals: list[Removal] = []
    unknown = workload.column("run_time") <= 0
    jobs = _remove(workload, unknown, "no run time (cancelled before the start)", "", removals)
    if system_tests and jobs.machine_cores:
        large = jobs.column("cores") >= _NEARLY_ALL * jobs.machine_cores
        if 0 < np.count_nonzero(large) <= max(3, _RARE * len(jobs)):
            detail = f"on at least {_NEARLY_ALL:.0%} of {jobs.machine_cores} cores"
            jobs = _remove(jobs, large, "system tests", detail, removals)
    flurries = _flurries(jobs, flurry) if flurry and len(jobs) else []
    gone = np.zeros(len(jobs), np.bool_)
    for mask, detail, user in flurries:
        _note(jobs, mask, Removal("flurry", 0, 0.0, detail, user), removals)
        gone |= mask
    if gone.any():
        jobs = jobs.select(~gone)
    return jobs, removals


def _remove(jobs: Workload, bad: np.ndarray, what: str, detail: str, removals: list[Removal]) -> Workload:
    if not bad.any():
        return jobs
    _note(jobs, bad, Removal(what, 0, 0.0, detail), removals)
    return jobs.select(~bad)


def _note(jobs: Workload, bad: np.ndarray, removal: Removal, removals: list[Removal]) -> None:
    run = np.maximum(jobs.column("run_time")[bad], 0) / (3600 * SECOND)
    work = float(np.dot(run, jobs.column("cores")[bad].astype(np.float64)))
    removals.append(replace(removal, jobs=int(np.count_nonzero(bad)), core_hours=work))


def _flurries(jobs: Workload, factor: float) -> list[tuple[np.ndarray, str, str]]:
    """The jobs of each flurry, its week in words, and its user."""
    if not jobs.has("user"):
        return []
    submit, user = jobs.column("submit"), jobs.column("user").astype(np.int64)
    week = (submit - submit[0]) // _WEEK
    weeks, users = int(week[-1]) + 1, len(jobs.label_names("user"))
    if weeks < 4:  # what is usual cannot be told from less
        return []
    totals = np.bincount(week, minlength=weeks)
    known = user >= 0
    cells, counts = np.unique(week[known] * users + user[known], return_counts=True)
    table = dict(zip(cells.tolist(), counts.tolist(), strict=True))
    found = []
    for cell in cells[counts >= _SMALLEST_FLURRY].tolist():
        number, who = divmod(cell, users)
        others = [total - table.get(each * users + who, 0) for each, total in enumerate(totals.tolist())]
        usual = float(np.median(others))
        if table[cell] > factor * max(usual, 1.0):
            mask = (week == number) & (user == who)
            detail = f"week {number + 1}: {table[cell]} jobs of one user; the others usually {usual:.0f}"
            found.append((mask, detail, jobs.label_names("user")[who]))
    return found
