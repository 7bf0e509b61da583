"""What users do in a simulation: batches, what each waits for, and when its user is there to submit it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import numpy as np

from walltime.core.random import uniforms
from walltime.core.time import SECOND
from walltime.workload.calendar import time_of_week
from walltime.workload.users.rhythm import find_hours, hours_until
from walltime.workload.users.sessions import Acts

ACCEPTS = 35 * 60 * SECOND
"""A session of Alea's takes batches until so long before its last arrival."""
OPENS, SHUTS = 9 * 3600 * SECOND, 15 * 3600 * SECOND
"""The hours of a session that Alea makes up, the day after."""


class Presence(enum.IntEnum):
    """When users submit a batch that is ready."""

    ALWAYS = 0  # at once
    HOURS = 1  # in their working hours
    SESSIONS = 2  # in their recorded sessions, then from nine to three, as Alea has it


class After(enum.IntEnum):
    """What of another batch a batch waits for."""

    ARRIVAL = 0
    COMPLETION = 1


@dataclass(frozen=True)
class Waits:
    """Which batch waits for which: `target` for what (After) of `source`, and so long after it."""

    source: np.ndarray
    target: np.ndarray
    what: np.ndarray
    offset: np.ndarray


@dataclass(frozen=True)
class Sessions:
    """Sessions in which users submit, one user after the other: `first` is each user's first (and one more)."""

    first: np.ndarray
    start: np.ndarray
    last: np.ndarray


_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class UserPlan:
    """All that the closed loop needs. Times in microseconds, on the workload's clock.

    The jobs of batch `b` are `rows[first[b]:first[b + 1]]`, each `offset` after the batch begins. `ready` is when a
    batch is that waits for nothing. What waits for batch `b` is `listeners[heard[b]:heard[b + 1]]`, with `what` and
    `delay` beside it; `pending` is how much each batch waits for.
    """

    rows: np.ndarray
    offset: np.ndarray
    first: np.ndarray
    user: np.ndarray
    ready: np.ndarray
    pending: np.ndarray
    heard: np.ndarray
    listeners: np.ndarray
    what: np.ndarray
    delay: np.ndarray
    presence: Presence
    clock: int
    skip: np.ndarray = field(default_factory=lambda: _NONE)
    sessions: Sessions = field(default_factory=lambda: Sessions(_NONE, _NONE, _NONE))


def make_plan(acts: Acts, presence: Presence, waits: Waits | None = None, sessions: Sessions | None = None) -> UserPlan:
    """The plan of a log's users: they wait as inferred or as `waits` says, in the recorded or the given sessions."""
    given = infer_waits(acts) if waits is None else waits
    count = len(acts)
    order = np.argsort(given.source, kind="stable")
    heard = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(given.source, minlength=count), out=heard[1:])
    pending = np.bincount(given.target, minlength=count)
    submit = acts.workload.column("submit")[acts.order]
    return UserPlan(
        rows=np.ascontiguousarray(acts.order, np.int64),
        offset=submit - np.repeat(acts.start, acts.sizes),
        first=acts.first.astype(np.int64),
        user=acts.user,
        ready=np.where(pending == 0, acts.start, 0),
        pending=pending.astype(np.int64),
        heard=heard,
        listeners=given.target[order].astype(np.int64),
        what=given.what[order].astype(np.int64),
        delay=given.offset[order].astype(np.int64),
        presence=presence,
        clock=time_of_week(acts.workload),
        skip=hours_until(find_hours(acts)).ravel() if presence == Presence.HOURS else _NONE,
        sessions=sessions or (find_sessions(acts) if presence == Presence.SESSIONS else Sessions(_NONE, _NONE, _NONE)),
    )


def infer_waits(acts: Acts, think: np.ndarray | None = None) -> Waits:
    """What each batch waits for, as was inferred; with other think times where they are given."""
    reacting, following = np.flatnonzero(acts.after >= 0), np.flatnonzero(acts.before >= 0)
    pause = acts.think if think is None else think
    return Waits(
        source=np.concatenate([acts.after[reacting], acts.before[following]]),
        target=np.concatenate([reacting, following]),
        what=np.repeat([After.COMPLETION, After.ARRIVAL], [len(reacting), len(following)]),
        offset=np.concatenate([pause[reacting], acts.gap[following]]),
    )


def find_sessions(acts: Acts) -> Sessions:
    """The recorded sessions: first and last arrival."""
    begins = acts.begins
    people = acts.user[begins] >= 0
    user = acts.user[begins][people]
    last = np.maximum.reduceat(acts.last, begins)[people] if len(begins) else _NONE
    first = np.searchsorted(user, np.arange(int(user.max(initial=-1)) + 2))
    return Sessions(first, acts.start[begins][people], last)


def draw_think_times(acts: Acts, seed: int, gap: float) -> np.ndarray:
    """Think times inside sessions drawn from those of the same user, others as recorded.

    A draw belongs to a user, by name, and to the number of the user's batch: the same under every scheduler.
    """
    think = acts.think.copy()
    short = (acts.after >= 0) & (acts.idle <= gap * SECOND)
    pool = np.sort(acts.think[short])
    names = acts.workload.label_names("user")
    for code in np.unique(acts.user[short]).tolist():
        mine = np.flatnonzero(acts.user == code)
        inside = mine[short[mine]]
        own = np.sort(acts.think[inside])
        values = own if len(own) >= 5 else pool
        draws = uniforms(seed, f"users.think.{names[code]}", inside - mine[0])
        think[inside] = values[(draws * len(values)).astype(np.int64)]
    return think
