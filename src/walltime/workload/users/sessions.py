"""From a log to its users' acts: jobs in batches, batches in sessions, and what each batch waited for.

- A **batch** is what a user submits without waiting for it: a job belongs to the batch of the one before it if it comes
  before that one has ended (`overlap: last`; with `any`, before all jobs of the batch have ended), or within `campaign`
  seconds of it, as by a script, or as a task of the same array or workflow.
- A batch **reacts** to the latest completion of an earlier batch, where one completed after the user's last batch had
  come: it is submitted a think time after that completion. Otherwise the user waited for nothing: it is submitted a
  fixed time after the arrival of the batch before.
- A **session** ends where a user gives no sign for more than `session_gap` seconds: neither submits nor has something
  that ends.

A job without a user is a batch and a session of its own, and waits for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import MISSING, Workload

NO_WAITS = (
    "the log does not tell how long its jobs waited, so it cannot be known what users waited for; "
    "`waits: none` assumes that no job waited"
)


@dataclass(frozen=True)
class Thresholds:
    """Where batches and sessions are cut. Times in seconds.

    `waits` says how long jobs waited: as the log has it, or not at all, for a log that does not tell.
    """

    session_gap: float = 1200.0
    campaign: float = 10.0
    overlap: Literal["last", "any"] = "last"
    waits: Literal["recorded", "none"] = "recorded"


@dataclass(frozen=True)
class Acts:
    """The batches of all users, one user after the other, each in order of arrival. Times in microseconds.

    `order` are the workload's rows by user and submission, `first` the place of each batch's first job in it (and one
    more). `end` is when the last job of a batch ended. `after` and `think`: the batch whose completion it reacts to
    (-1: none), and how long after; `before` and `gap`: the batch that has to have arrived (-1: none), and how long
    before. `idle` is how long the user had given no sign. `ends` are the jobs' own ends, in the order of `order`;
    `unknown` counts those of which the log has none: they are taken to have started at once.
    """

    workload: Workload
    order: np.ndarray
    first: np.ndarray
    user: np.ndarray
    start: np.ndarray
    last: np.ndarray
    end: np.ndarray
    session: np.ndarray
    after: np.ndarray
    think: np.ndarray
    before: np.ndarray
    gap: np.ndarray
    idle: np.ndarray
    ends: np.ndarray
    unknown: int

    def __len__(self) -> int:
        return len(self.user)

    @property
    def sizes(self) -> np.ndarray:
        """Jobs of each batch."""
        return np.diff(self.first)

    @property
    def begins(self) -> np.ndarray:
        """The first batch of each session."""
        return np.flatnonzero(np.diff(self.session, prepend=-1))


def sort_by_user(jobs: Workload) -> tuple[np.ndarray, np.ndarray]:
    """The rows by user, each user's in order of submission, and their users."""
    user = jobs.column("user").astype(np.int64)
    few = int(user.max(initial=0)) < 1 << 15  # numbers of 16 bits are sorted in linear time
    order = np.argsort(user.astype(np.int16) if few else user, kind="stable")  # rows are in order of submission already
    return order, user[order]


def begin_sessions(user: np.ndarray, idle: np.ndarray, gap: float) -> np.ndarray:
    """Which of a user's acts begin a session: those after more than `gap` without a sign; all of nobody's."""
    begins = np.ones(len(user), np.bool_)
    begins[1:] = (user[1:] != user[:-1]) | (idle[1:] > gap) | (user[1:] < 0)
    return begins


def infer_acts(jobs: Workload, thresholds: Thresholds | None = None) -> Acts:
    """The batches and sessions of a log, and what they waited for; raises InputError for a log without waits."""
    given = thresholds or Thresholds()
    order, owner = sort_by_user(jobs)
    submit = jobs.column("submit")[order]
    ends, unknown = find_ends(jobs, given.waits)
    end = ends[order]
    first = np.flatnonzero(_begin_batches(jobs, order, owner, submit, end, given))
    user, start = owner[first], submit[first]
    last = submit[np.append(first[1:], len(order)) - 1]
    done = np.maximum.reduceat(end, first) if len(first) else end
    latest = _latest_completion(user, start, done)
    completed = np.where(latest >= 0, done[latest], MISSING)
    previous = np.arange(len(user)) - 1
    follows = np.zeros(len(user), np.bool_)
    follows[1:] = (user[1:] == user[:-1]) & (user[1:] >= 0)
    reacts = follows & (completed >= start[previous])
    sign = np.maximum(last[previous], completed)
    before_end = end[first - 1]  # of the job before, which may have been the only one of its batch that ended
    sign = np.where(before_end <= start, np.maximum(sign, before_end), sign)
    idle = np.where(follows, start - sign, 0)
    begins = begin_sessions(user, idle, given.session_gap * SECOND)
    ordered = follows & (~reacts | (latest != previous))
    return Acts(
        workload=jobs,
        order=order,
        first=np.append(first, len(order)),
        user=user,
        start=start,
        last=last,
        end=done,
        session=np.cumsum(begins) - 1,
        after=np.where(reacts, latest, -1),
        think=np.where(reacts, start - completed, 0),
        before=np.where(ordered, previous, -1),
        gap=np.where(ordered & ~reacts, start - start[previous], 0),
        idle=idle,
        ends=end,
        unknown=unknown,
    )


def find_ends(jobs: Workload, waits: str = "recorded") -> tuple[np.ndarray, int]:
    """When each job left in the log, and of how many jobs that is not known; raises InputError where it is of none."""
    submit, run = jobs.column("submit"), np.maximum(jobs.column("run_time"), 0)
    wait = jobs.column("recorded_wait") if waits == "recorded" else np.zeros(len(jobs), np.int64)
    cancelled = (jobs.column("run_time") == MISSING) & (jobs.column("cancel") != MISSING)
    known = (wait != MISSING) | cancelled
    if len(jobs) and not np.any(wait != MISSING):
        raise InputError(NO_WAITS, file=jobs.source or None)
    end = submit + np.maximum(wait, 0) + run
    return np.where(cancelled, np.maximum(jobs.column("cancel"), submit), end), int(np.count_nonzero(~known))


def _begin_batches(
    jobs: Workload, order: np.ndarray, user: np.ndarray, submit: np.ndarray, end: np.ndarray, given: Thresholds
) -> np.ndarray:
    """Which jobs begin a batch."""
    begins = np.ones(len(order), np.bool_)
    until = end if given.overlap == "last" else _running_maximum(user, end)
    goes_on = submit[1:] < until[:-1]
    goes_on |= np.diff(submit) <= microseconds(given.campaign)
    for column in ("array", "workflow"):
        if jobs.has(column):
            label = jobs.column(column)[order]
            goes_on |= (label[1:] == label[:-1]) & (label[1:] >= 0)
    begins[1:] = ~goes_on | (user[1:] != user[:-1]) | (user[1:] < 0)
    return begins


def _running_maximum(user: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The largest value so far of each user."""
    out = values.copy()
    edges = np.flatnonzero(np.diff(user)) + 1
    for low, high in zip(np.append(0, edges), np.append(edges, len(user)), strict=True):
        np.maximum.accumulate(out[low:high], out=out[low:high])
    return out


def _latest_completion(user: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """For each batch the earlier one of its user that completed last, by its arrival; -1 where none has."""
    found, by_end = _find_before(user, end, user, start)
    number = np.arange(len(user))
    while True:  # of batches that come and end in one instant, those before it alone
        batch = np.where(found >= 0, by_end[found], -1)
        wrong = batch >= number
        if not wrong.any():
            break
        found[wrong] -= 1
    alike = (batch >= 0) & (user[batch] == user) & (end[batch] <= start)
    return np.where(alike, batch, -1)


def _find_before(
    owner: np.ndarray, times: np.ndarray, user: np.ndarray, moments: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each moment of a user the place of the last time of its or an earlier user, in the order that is returned."""
    if not len(times):
        return np.full(len(user), -1), np.zeros(0, np.int64)
    low = min(int(times.min()), int(moments.min(initial=times.min())))
    span = max(int(times.max()), int(moments.max(initial=times.max()))) - low + 1
    if span * (int(owner.max()) + 2) < 1 << 62:
        keys = (owner + 1) * span + (times - low)
        by_time = np.argsort(keys, kind="stable")  # almost in order already, which this sort is quick at
        return np.searchsorted(keys[by_time], (user + 1) * span + (moments - low), "right") - 1, by_time
    by_time = np.lexsort((times, owner))
    kind = np.repeat([0, 1], [len(times), len(moments)])
    merged = np.lexsort((kind, np.append(times, moments), np.append(owner, user)))
    seen = np.cumsum(merged < len(times)) - 1
    found = np.empty(len(moments), np.int64)
    asked = merged >= len(times)
    found[merged[asked] - len(times)] = seen[asked]
    return found, by_time


def measure_lift(acts: Acts, within: float, campaign: float = Thresholds.campaign) -> tuple[float, float]:
    """How often users submit within so many seconds after a job of theirs has ended, and how often they would by
    chance: measured with the same submissions a day and a week later, at the same hour of the day."""
    owner = np.repeat(acts.user, acts.sizes)
    submit = acts.workload.column("submit")[acts.order]
    act = np.ones(len(owner), np.bool_)  # not what a script submits at once
    act[1:] = (owner[1:] != owner[:-1]) | (np.diff(submit) > campaign * SECOND)
    act &= owner >= 0
    user, start = owner[act], submit[act]

    def share(shift: int) -> float:
        found, by_end = _find_before(owner, acts.ends, user, start + shift)
        job = np.where(found >= 0, by_end[found], -1)
        near = (job >= 0) & (owner[job] == user) & (start + shift - acts.ends[job] <= within * SECOND)
        return float(near.mean()) if len(near) else 0.0

    day = 86_400 * SECOND
    return share(0), (share(day) + share(7 * day)) / 2
