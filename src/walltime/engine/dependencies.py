"""Jobs that wait for other jobs, and arrays of which only so many tasks run at once.

Every condition is a counter that the starts and ends of jobs count down; no job is searched for. A job's start and end
cost as many steps as there are conditions on it, and a workload without any costs nothing, as there is no such object.
"""

from __future__ import annotations

from collections import deque

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.sources import Planned, Releases
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Moment, Source
from walltime.workload.conditions import text as conditions

NEVER = cython.declare(cython.longlong, _NEVER)
AFTER = cython.declare(cython.longlong, conditions.AFTER)
AFTEROK = cython.declare(cython.longlong, conditions.AFTEROK)
AFTERNOTOK = cython.declare(cython.longlong, conditions.AFTERNOTOK)

NEVER_MET = "a dependency that can never be met"

if not cython.compiled:
    HELD, COMPLETED = State.HELD, State.COMPLETED
    ENTERED, ELIGIBLE, STARTED, LEFT = Moment.ENTERED, Moment.ELIGIBLE, Moment.STARTED, Moment.LEFT


@cython.final
@cython.cclass
class Dependencies(Planned):
    """The conditions of a workload's rows, as a `Graph` of `walltime.workload.conditions.dependencies`.

    A job whose conditions can no longer be met is cancelled, at rank RELEASES of the same instant, or with `stay` held
    for ever. Jobs submitted live wait for no other. `jobs` counts those with conditions, `doomed` those whose
    conditions could no longer be met.
    """

    def __init__(self, graph, releases: Releases, stay=False) -> None:
        Planned.__init__(self)
        self.hears = ENTERED | ELIGIBLE | STARTED | LEFT
        self.releases = releases  # lets held jobs in at their time
        self.stay = stay
        self.doomed = 0
        self.jobs = graph.jobs
        self.expression = graph.expression
        self.needed = graph.needed.copy()
        self.spare = graph.spare.copy()
        self.any_of = graph.any_of
        self.owner = graph.owner
        self.pending = graph.pending.copy()
        self.kind = graph.kind
        self.bad = np.zeros(len(graph.kind), np.int64)  # whether one of those waited for has not completed
        self.offset = graph.offset
        self.first = graph.first
        self.listeners = graph.listeners
        self.group = graph.group
        self.single = graph.single
        self.aware = graph.aware
        self.ready = np.where(graph.any_of, _NEVER, 0).astype(np.int64)  # when the expression is met, as far as known
        self.waiting = {}  # held jobs by expression, as (slot, stamp, begin)
        groups = int(graph.group.max(initial=-1)) + 1
        self.members = [deque() for _ in range(groups)]  # jobs of one user and name in the system, as (slot, seq)
        self.running = np.zeros(groups, np.int64)

    def entered(self, slot, begin):
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        x: cython.Py_ssize_t
        if row < 0:
            return begin
        if self.group[row] >= 0:
            self.members[self.group[row]].append((slot, jobs.at[slot].seq))
            self.settle(self.group[row])
        x = self.expression[row]
        if x < 0:
            return begin
        if self.needed[x] == 0 and (not self.any_of[x] or self.ready[x] <= self.engine.now):
            return max(begin, self.ready[x])
        if self.spare[x] == 0:
            self.doom(slot)
            return NEVER
        self.waiting.setdefault(x, []).append((slot, jobs.at[slot].stamp, begin))
        if self.needed[x] == 0:  # one of several is met, at a time to come
            return max(begin, self.ready[x])
        return NEVER

    def admits(self, slot):
        """An aware task counts as eligible since its submission."""
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        if row >= 0 and self.aware[row]:
            jobs.at[slot].eligible = jobs.at[slot].submit
        return True

    def started(self, slot):
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        i: cython.Py_ssize_t
        if row < 0:
            return 0
        if self.group[row] >= 0:
            self.running[self.group[row]] += 1
        for i in range(self.first[row], self.first[row + 1]):
            if self.kind[self.listeners[i]] == AFTER:
                self.occur(self.listeners[i])
        return 0

    def left(self, slot, state):
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t
        if row < 0:
            return 0
        for i in range(self.first[row], self.first[row + 1]):
            c = self.listeners[i]
            if self.kind[c] == AFTER:
                if jobs.at[slot].first_start < 0:
                    self.occur(c)
            elif self.kind[c] == AFTEROK and state != COMPLETED:
                self.fail(c)
            elif self.kind[c] == AFTERNOTOK and state == COMPLETED and self.pending[c] == 1 and not self.bad[c]:
                self.fail(c)  # all have completed
            else:
                self.bad[c] |= state != COMPLETED
                self.occur(c)
        if self.group[row] >= 0:
            if jobs.at[slot].first_start >= 0:
                self.running[self.group[row]] -= 1
            self.settle(self.group[row])
        return 0

    def occur(self, c):
        """One of those that the condition waits for has done what it waits for."""
        x: cython.Py_ssize_t = self.owner[c]
        time: cython.longlong
        if self.pending[c] <= 0:
            return 0
        self.pending[c] -= 1
        if self.pending[c] > 0 or self.spare[x] == 0:
            return 0
        time = self.engine.now + self.offset[c]
        if self.any_of[x]:
            if time >= self.ready[x]:
                return 0
            self.ready[x] = time
            self.needed[x] = 0
            return self.release(x)
        if time > self.ready[x]:
            self.ready[x] = time
        self.needed[x] -= 1
        return self.release(x) if self.needed[x] == 0 else 0

    def fail(self, c):
        """The condition can never be met."""
        x: cython.Py_ssize_t = self.owner[c]
        if self.pending[c] <= 0:
            return 0
        self.pending[c] = -1
        if self.spare[x] == 0:
            return 0  # it has failed already
        self.spare[x] -= 1
        if self.spare[x] == 0 and self.needed[x] > 0:
            for slot, stamp, _ in self.waiting.pop(x, ()):
                if self.is_held(slot, stamp):
                    self.doom(slot)
        return 0

    def release(self, x):
        """Have the waiting jobs let in when it is time. With alternatives, an earlier time may still come."""
        for slot, stamp, begin in self.waiting.get(x, ()):
            if self.is_held(slot, stamp):
                self.releases.plan(slot, max(begin, self.ready[x]))
        if not self.any_of[x] or self.ready[x] <= self.engine.now:
            self.waiting.pop(x, None)
        return 0

    def is_held(self, slot, stamp):
        """Whether the slot still has the held job of that stamp."""
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].stamp == stamp and jobs.at[slot].state == HELD

    def doom(self, slot):
        self.doomed += 1
        return 0 if self.stay else self.plan(slot, self.engine.now)

    def happen(self, slot, now):
        return self.engine.withdraw(slot, NEVER_MET)

    def settle(self, group):
        """The first of its user and name may go, if none of the others runs."""
        jobs: JobTable = self.engine.jobs
        slot: cython.Py_ssize_t
        seq: cython.longlong
        c: cython.Py_ssize_t
        members = self.members[group]
        while members:
            slot, seq = members[0]
            if jobs.at[slot].seq == seq and jobs.at[slot].state < COMPLETED:
                c = self.single[jobs.at[slot].row]
                if c >= 0 and self.pending[c] > 0 and self.running[group] == 0:
                    self.occur(c)
                break
            members.popleft()
        return 0


@cython.final
@cython.cclass
class TaskLimits(Source):
    """Arrays of which only so many tasks may be waiting or running at once; the others are held, and go in their order.

    `array` has each row's array (-1: none with a limit), `limits` how many tasks of each. A held task is eligible all
    the while: it loses nothing by it in the queue.
    """

    def __init__(self, array, limits, releases: Releases) -> None:
        Source.__init__(self)
        self.hears = ELIGIBLE | LEFT
        self.releases = releases  # lets held tasks in
        self.array = array
        self.room = limits.copy()
        self.inside = np.zeros(len(array), np.int64)  # rows that have a place
        self.outside = [deque() for _ in limits]  # held tasks, as (slot, stamp)

    def admits(self, slot):
        """Whether there is a place for the task, or it has one already; otherwise it will be let in when there is."""
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        if row < 0 or self.array[row] < 0 or self.inside[row]:
            return True
        if self.room[self.array[row]] > 0:
            self.room[self.array[row]] -= 1
            self.inside[row] = True
            return True
        self.outside[self.array[row]].append((slot, jobs.at[slot].stamp))
        return False

    def left(self, slot, state):
        """The job's place is the next task's."""
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = jobs.at[slot].row
        other: cython.Py_ssize_t
        if row < 0 or self.array[row] < 0 or not self.inside[row]:
            return 0
        self.inside[row] = False
        outside = self.outside[self.array[row]]
        while outside:
            other, stamp = outside.popleft()
            if jobs.at[other].stamp == stamp:
                self.inside[jobs.at[other].row] = True
                return self.releases.plan(other, self.engine.now)
        self.room[self.array[row]] += 1
        return 0
