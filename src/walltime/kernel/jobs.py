"""The job table: a job that is in the system is a slot; slots are used again once a job has left."""

from __future__ import annotations

import enum

import cython

from walltime.kernel.arrays import doubled, integers

class State(enum.IntEnum):
    """Where a job is in its life; the compiled modules know the same numbers from jobs.pxd."""

    FUTURE = 0
    HELD = 1
    WAITING = 2
    RUNNING = 3
    SUSPENDED = 4
    ENDING = 5
    COMPLETED = 6
    TIMEOUT = 7
    FAILED = 8
    CANCELLED = 9
    REJECTED = 10


class Place(enum.IntEnum):
    """Where a job stands in its queue: a negative number, or its place in the queue's tail."""

    PARKED = -3
    LINE = -2
    OUTSIDE = -1


if not cython.compiled:
    FUTURE = State.FUTURE
    OUTSIDE = Place.OUTSIDE


@cython.final
@cython.cclass
class JobTable:
    """Columns indexed by slot, all 64-bit integers, times in microseconds.

    `seq` is the order of entry and breaks every tie; `stamp` changes with each use of the slot and each attempt, so
    that an event can tell whether it is still meant; `row` is the job's line in the tables of descriptions.
    `run_time` and `known_end` are hidden from policies: the scheduler never sees how long a job will really run.
    Adding a job may move every column: keep no view of one across a call that may add jobs.
    """

    def __init__(self) -> None:
        self.size = 0
        self.live = 0
        self.entered = 0
        self.spares = 0
        self.spare = integers(64)
        empty = integers(64)
        self.seq = empty.copy()
        self.row = empty.copy()
        self.job_id = empty.copy()
        self.stamp = empty.copy()
        self.submit = empty.copy()
        self.eligible = empty.copy()
        self.cores = empty.copy()
        self.requested = empty.copy()
        self.user = empty.copy()
        self.group = empty.copy()
        self.account = empty.copy()
        self.queue = empty.copy()
        self.priority = empty.copy()
        self.run_time = empty.copy()
        self.known_end = empty.copy()
        self.state = empty.copy()
        self.cluster = empty.copy()
        self.attempt = empty.copy()
        self.start = empty.copy()
        self.first_start = empty.copy()
        self.held = empty.copy()
        self.progress = empty.copy()
        self.lost = empty.copy()
        self.backfilled = empty.copy()
        self.limit = empty.copy()
        self.estimate = empty.copy()
        self.expected_end = empty.copy()
        self.corrections = empty.copy()
        self.key = empty.copy()
        self.place = empty.copy()
        self.holding = empty.copy()

    def add(self, submit, run_time, requested, cores):
        """A slot for a new job, in the state FUTURE, labels and the rest at their defaults."""
        s: cython.Py_ssize_t
        if self.spares > 0:
            self.spares -= 1
            s = self.spare[self.spares]
        else:
            if self.size == len(self.seq):
                self.grow()
            s = self.size
            self.size += 1
        self.live += 1
        self.seq[s] = self.entered
        self.row[s] = self.entered
        self.job_id[s] = self.entered + 1
        self.entered += 1
        self.stamp[s] += 1
        self.submit[s] = submit
        self.eligible[s] = submit
        self.cores[s] = cores
        self.requested[s] = requested
        self.run_time[s] = run_time
        self.user[s] = self.group[s] = self.account[s] = self.queue[s] = -1
        self.priority[s] = 0
        self.state[s] = FUTURE
        self.cluster[s] = 0
        self.attempt[s] = 0
        self.start[s] = self.first_start[s] = -1
        self.held[s] = self.progress[s] = self.lost[s] = self.backfilled[s] = 0
        self.limit[s] = requested
        self.estimate[s] = requested
        self.corrections[s] = 0
        self.key[s] = 0
        self.place[s] = OUTSIDE
        self.holding[s] = 0
        return s

    def drop(self, slot):
        """Give the slot back; whoever still has an event for it finds another stamp."""
        if self.spares == len(self.spare):
            self.spare = doubled(self.spare)
        self.spare[self.spares] = slot
        self.spares += 1
        self.stamp[slot] += 1
        self.live -= 1
        return 0

    def grow(self):
        self.seq = doubled(self.seq)
        self.row = doubled(self.row)
        self.job_id = doubled(self.job_id)
        self.stamp = doubled(self.stamp)
        self.submit = doubled(self.submit)
        self.eligible = doubled(self.eligible)
        self.cores = doubled(self.cores)
        self.requested = doubled(self.requested)
        self.user = doubled(self.user)
        self.group = doubled(self.group)
        self.account = doubled(self.account)
        self.queue = doubled(self.queue)
        self.priority = doubled(self.priority)
        self.run_time = doubled(self.run_time)
        self.known_end = doubled(self.known_end)
        self.state = doubled(self.state)
        self.cluster = doubled(self.cluster)
        self.attempt = doubled(self.attempt)
        self.start = doubled(self.start)
        self.first_start = doubled(self.first_start)
        self.held = doubled(self.held)
        self.progress = doubled(self.progress)
        self.lost = doubled(self.lost)
        self.backfilled = doubled(self.backfilled)
        self.limit = doubled(self.limit)
        self.estimate = doubled(self.estimate)
        self.expected_end = doubled(self.expected_end)
        self.corrections = doubled(self.corrections)
        self.key = doubled(self.key)
        self.place = doubled(self.place)
        self.holding = doubled(self.holding)
        return 0

    def slots(self) -> list:
        """The slots in use, in order of entry."""
        free = {self.spare[i] for i in range(self.spares)}
        seq = list(self.seq)
        return sorted((s for s in range(self.size) if s not in free), key=seq.__getitem__)

