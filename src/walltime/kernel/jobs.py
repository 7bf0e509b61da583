"""The job table: a job that is in the system is a slot; slots are used again once a job has left."""

from __future__ import annotations

import enum

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.kernel.arrays import doubled, integers, untouched

FIELDS = (
    "key",
    "seq",
    "cores",
    "estimate",
    "expected_end",
    "position",
    "state",
    "holding",
    "promise",
    "stamp",
    "start",
    "first_start",
    "limit",
    "progress",
    "used",
    "attempt",
    "run_time",
    "speed",
    "row",
    "eligible",
    "held",
    "lost",
    "backfilled",
    "cluster",
    "submit",
    "requested",
    "known_end",
    "corrections",
    "job_id",
    "pinned",
    "saved",
    "choice",
    "user",
    "group",
    "account",
    "queue",
    "priority",
    "nodes",
    "per_node",
    "deadline",
    "qos",
    "memory",
    "gpus",
    "line",
    "shape",
    "lane",
    "domain",
    "rules",
)
"""As in JobFields of jobs.pxd, in its order."""

FULL_SPEED = cython.declare(cython.longlong, 1_000_000)  # work done in a microsecond of wall time, in millionths

FEW = 1 << 18  # slots: a hundred megabytes

HIDDEN = ("run_time", "known_end")
"""What only the engine may know: the scheduler never sees how long a job will really run."""


class State(enum.IntEnum):
    """Where a job is in its life; the compiled modules know the same numbers from jobs.pxd."""

    FUTURE = 0
    HELD = 1
    WAITING = 2
    RUNNING = 3
    SUSPENDED = 4
    COMPLETED = 5
    TIMEOUT = 6
    FAILED = 7
    CANCELLED = 8
    REJECTED = 9


class Outcome(enum.IntEnum):
    """How an interval ended in which a job ran, besides the states in which it may have left."""

    REQUEUED = 10  # interrupted, and it waits again
    PREEMPTED = 11  # displaced by another job
    RESIZED = 12  # it goes on with fewer nodes


class QueuePosition(enum.IntEnum):
    """Where a job is in its queue: a negative number, or its position in the queue's tail."""

    LINE = -2
    OUTSIDE = -1


if not cython.compiled:

    def fetch_rest(row):
        return None

    FUTURE = State.FUTURE
    OUTSIDE = QueuePosition.OUTSIDE


def time_for(work, speed):
    """The microseconds of wall time in which so much work is done, rounded up."""
    if speed == FULL_SPEED:
        return work
    whole: cython.longlong = work // speed  # apart, because work times a million may be too large
    return whole * FULL_SPEED + ((work - whole * speed) * FULL_SPEED + speed - 1) // speed


def done_in(time, speed):
    """The work that is done in so many microseconds of wall time, rounded down."""
    if speed == FULL_SPEED:
        return time
    whole: cython.longlong = time // FULL_SPEED
    return whole * speed + (time - whole * FULL_SPEED) * speed // FULL_SPEED


def seal(jobs):
    """From now on Python can only look: columns cannot be written, and no job is added or dropped by a method."""
    require_table(jobs)
    jobs.sealed = True
    jobs.views = {}
    return 0


def writable(jobs: JobTable, name: str):
    """A column of a sealed table that can be written; for execution models and sources, which are parts of the engine.
    Take it again each time: the table may have moved."""
    require_table(jobs)
    if name not in FIELDS or name in HIDDEN:
        raise AttributeError(f"a job has no field {name!r} that may be written")
    return jobs.table[name]


def add_blocker(jobs, cores):
    """A slot for something that is no job and takes the place of one: a node that is down, a reservation.

    Its `seq` is below zero, and its hold, where it has one, is pinned.
    """
    require_table(jobs)
    s: cython.Py_ssize_t = jobs.enter(0, 0, 0, cores)
    jobs.entered -= 1
    jobs.blockers += 1
    jobs.live -= 1
    jobs.at[s].seq = -1 - jobs.blockers
    jobs.at[s].pinned = 1
    return s


def drop_blocker(jobs, slot):
    """Give a blocker's slot back."""
    require_job(jobs, slot)
    if jobs.at[slot].seq >= 0:
        raise PolicyError(f"{slot} is the slot of a job, not of a blocker")
    jobs.leave(slot)
    jobs.live += 1
    return 0


def require_table(jobs):
    if jobs is None or jobs.table is None:
        raise PolicyError("there is no table of jobs")
    return 0


def require_job(jobs, slot):
    """Raise PolicyError unless the number is that of a job in the table; every hook of a compiled part asks."""
    if jobs is None or not 0 <= slot < jobs.size:
        raise PolicyError(f"{slot} is not the slot of a job")
    return 0


def require_jobs(jobs, slots, keys):
    """The same for many slots, and for the array that takes a key of each."""
    i: cython.Py_ssize_t
    if jobs is None or slots is None or keys is None or len(keys) < len(slots):
        raise PolicyError("keys takes a table of jobs, an array of slots, and an array for as many keys")
    for i in range(len(slots)):
        if not 0 <= slots[i] < jobs.size:
            raise PolicyError(f"{slots[i]} is not the slot of a job")
    return 0


@cython.final
@cython.cclass
class JobTable:
    """Jobs by slot; every field is a 64-bit integer, times in microseconds.

    Compiled code reads and writes `at[slot].field`; Python sees a column as `jobs.field[slot]`. `seq` is the order of
    entry and breaks every tie; `stamp` changes with each use of the slot and each attempt, so that an event can tell
    whether it is still meant; `row` is the job's line in the tables of descriptions. Adding a job may move the table:
    keep no view of it across a call that may add jobs. The table of a simulation is sealed: Python cannot write its
    columns, nor add or drop a job.
    """

    def __init__(self) -> None:
        if cython.compiled and self.table is not None:
            raise PolicyError("a table of jobs is made once")
        self.size = 0
        self.live = 0
        self.entered = 0
        self.blockers = 0
        self.spares = 0
        self.spare = integers(64)
        self.table = np.zeros(64, [(name, np.int64) for name in FIELDS])
        if not cython.compiled:
            self.table = self.table.view(np.recarray)
        self.at = self.table
        self.views = {}
        self.sealed = False

    def __getattr__(self, name):
        """A field as a column for Python: a NumPy view, by slot."""
        if name not in self.views:
            if name not in FIELDS or name in HIDDEN:
                raise AttributeError(f"a job has no field {name!r} that a policy may see")
            column = self.table[name]
            self.views[name] = np.asarray(memoryview(column).toreadonly()) if self.sealed else column
        return self.views[name]

    def guard(self):
        """Raise PolicyError where the table is sealed, or has never been made."""
        if self.sealed or self.table is None:
            raise PolicyError("a policy looks at jobs; it neither adds nor drops one")
        return 0

    def add(self, submit, run_time, requested, cores):
        """A slot for a new job, in the state FUTURE, labels and the rest at their defaults."""
        self.guard()
        return self.enter(submit, run_time, requested, cores)

    def enter(self, submit, run_time, requested, cores):
        s: cython.Py_ssize_t
        if self.spares > 0:
            self.spares -= 1
            s = self.spare[self.spares]
        else:
            if self.size == len(self.at):
                self.grow()
            s = self.size
            self.size += 1
        self.live += 1
        self.at[s].seq = self.entered
        self.at[s].row = self.entered
        self.at[s].job_id = self.entered + 1
        self.entered += 1
        self.at[s].stamp += 1
        self.at[s].submit = submit
        self.at[s].eligible = -1
        self.at[s].cores = cores
        self.at[s].requested = requested
        self.at[s].limit = requested
        self.at[s].estimate = requested
        self.at[s].run_time = run_time
        self.at[s].user = -1
        self.at[s].group = -1
        self.at[s].account = -1
        self.at[s].queue = -1
        self.at[s].priority = 0
        self.at[s].nodes = -1
        self.at[s].per_node = -1
        self.at[s].deadline = -1
        self.at[s].speed = FULL_SPEED
        self.at[s].qos = -1
        self.at[s].memory = 0
        self.at[s].gpus = 0
        self.at[s].line = -1
        self.at[s].shape = -1
        self.at[s].lane = 0
        self.at[s].domain = 0
        self.at[s].rules = -1
        self.at[s].choice = -1
        self.at[s].pinned = 0
        self.at[s].saved = 0
        self.at[s].state = FUTURE
        self.at[s].cluster = 0
        self.at[s].attempt = 0
        self.at[s].start = -1
        self.at[s].first_start = -1
        self.at[s].held = 0
        self.at[s].progress = 0
        self.at[s].used = 0
        self.at[s].lost = 0
        self.at[s].backfilled = 0
        self.at[s].corrections = 0
        self.at[s].key = 0
        self.at[s].position = OUTSIDE
        self.at[s].holding = 0
        self.at[s].promise = -1
        return s

    def drop(self, slot):
        """Give the slot back; an event that is left for it finds another stamp."""
        self.guard()
        if not 0 <= slot < self.size:
            raise PolicyError(f"{slot} is not the slot of a job")
        return self.leave(slot)

    def leave(self, slot):
        if self.spares == len(self.spare):
            self.spare = doubled(self.spare)
        self.spare[self.spares] = slot
        self.spares += 1
        self.at[slot].stamp += 1
        self.live -= 1
        fetch_rest(cython.address(self.at[slot]))
        return 0

    def grow(self):
        more = 16 if len(self.table) < FEW else 4  # what is not used costs nothing, each copy does
        larger = untouched(more * len(self.table), self.table.dtype)
        larger.view(np.int64)[: self.table.view(np.int64).size] = self.table.view(np.int64)  # not field by field
        self.table = larger if cython.compiled else larger.view(np.recarray)
        self.at = self.table
        self.views = {}
        return 0

    def slots(self) -> list:
        """The slots in use, in order of entry."""
        used = np.ones(self.size, np.bool_)
        used[np.asarray(self.spare)[: self.spares]] = False
        slots = np.flatnonzero(used)
        return slots[np.argsort(self.table["seq"][slots], kind="stable")].tolist()
