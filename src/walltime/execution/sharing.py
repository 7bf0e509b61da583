"""Ideal processor sharing: the tasks of a node run at once, each at the same part of its cores' speed.

It is what round robin tends to as its quantum shrinks and its switches cost nothing, and it is exact: a node counts the
cpu time V that a task would have received since the node was last idle. With n tasks on c cores V grows at the rate
min(1, c / n), and a task that came at V0 with the need w has done it when V is V0 + w. So a change costs the logarithm
of the tasks on the node, and no time slice is ever played. Kleinrock, "Time-shared systems", JACM 14(2), 1967.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.execution.lists import NodeLists
from walltime.execution.tasks import TaskExecution
from walltime.execution.tasktable import TaskTable, Want

NEVER = cython.declare(cython.longlong, _NEVER)
ENDLESS = cython.declare(cython.longlong, 1 << 60)
NOISE = cython.declare(cython.double, 1e-3)  # of a microsecond: what floating point may add to a whole number
FAR = cython.declare(cython.double, 1e11)  # from here on V is counted from a new zero

if not cython.compiled:
    COMPUTE = Want.COMPUTE


@cython.final
@cython.cclass
class ProcessorSharing(TaskExecution):
    """Tasks share the cores of their node evenly, without slices and without cost.

    `tasks` is how the tasks of a job meet where its profile does not tell (`sequential`, `lock-step`, `master-slave`),
    `step` the seconds of work between meetings in lock step, `delay` what a meeting takes (seconds, or a distribution),
    `waiting` what a task does meanwhile (`block` or `spin`), `sync_delay` a delay of nodes that tell none.
    """

    def __init__(self, tasks="sequential", step=1.0, delay=0.0, waiting="block", sync_delay=0.0) -> None:
        TaskExecution.__init__(self, tasks, step, delay, waiting, sync_delay)

    def equip(self, layouts, seed, profiles=()):
        TaskExecution.equip(self, layouts, seed, profiles)
        self.virtual = np.zeros(self.n)
        self.sharers = np.zeros(self.n, np.int64)
        self.heap = NodeLists(self.n)
        return 0

    def advance(self, i, now):
        table: TaskTable = self.table
        clock: cython.double = 0.0  # since the node was last played
        span: cython.double = now - self.at[i]
        slowness: cython.double
        gap: cython.double
        t: cython.Py_ssize_t
        while self.heap.length[i] > 0:
            t = self.heap.at[self.heap.first[i]]
            slowness = 1.0
            if self.sharers[i] > self.cores[i]:
                slowness = cython.cast(cython.double, self.sharers[i]) / cython.cast(cython.double, self.cores[i])
            gap = (table.at[t].finish - self.virtual[i]) * slowness
            if clock + gap > span + NOISE:
                self.virtual[i] += (span - clock) / slowness
                break
            if gap > 0.0:
                clock += gap
                self.virtual[i] = table.at[t].finish
            self.leave(i, 0)
            self.sharers[i] -= 1
            table.at[t].left = 0
            self.report(t)
        self.at[i] = now
        if self.heap.length[i] == 0:
            self.virtual[i] = 0.0
        elif self.virtual[i] > FAR:
            self.rebase(i)
        return 0

    def predict(self, i):
        t: cython.Py_ssize_t
        gap: cython.double
        whole: cython.longlong
        if self.heap.length[i] == 0:
            return NEVER
        t = self.heap.at[self.heap.first[i]]
        if self.table.at[t].left >= ENDLESS:
            return NEVER
        gap = self.table.at[t].finish - self.virtual[i]
        if self.sharers[i] > self.cores[i]:
            gap = gap * cython.cast(cython.double, self.sharers[i]) / cython.cast(cython.double, self.cores[i])
        gap -= NOISE
        if gap <= 0.0:
            return self.at[i]
        whole = cython.cast(cython.longlong, gap)
        return self.at[i] + whole + (1 if cython.cast(cython.double, whole) < gap else 0)

    def rebase(self, i):
        """Count the node's V from zero again, before it grows so large that it becomes coarse."""
        k: cython.Py_ssize_t
        for k in range(self.heap.first[i], self.heap.first[i] + self.heap.length[i]):
            self.table.at[self.heap.at[k]].finish -= self.virtual[i]
        self.virtual[i] = 0.0
        return 0

    def ready(self, t):
        i: cython.Py_ssize_t = self.table.at[t].node
        self.sharers[i] += 1
        if self.table.at[t].state != COMPUTE:
            return 0
        self.table.at[t].finish = self.virtual[i] + self.table.at[t].left
        self.heap.append(i, t)
        return self.rise(i, self.heap.length[i] - 1, t)

    def rest(self, t):
        i: cython.Py_ssize_t = self.table.at[t].node
        if self.table.at[t].state == COMPUTE:
            if self.table.at[t].position < 0:  # it has been reported, and shares no more
                return 0
            self.leave(i, self.table.at[t].position)
        self.sharers[i] -= 1
        return 0

    def remaining(self, t):
        left: cython.double
        whole: cython.longlong
        if self.table.at[t].position < 0 or self.table.at[t].left >= ENDLESS:
            return self.table.at[t].left
        left = self.table.at[t].finish - self.virtual[self.table.at[t].node] - NOISE
        if left <= 0.0:
            return 0
        whole = cython.cast(cython.longlong, left)
        return whole + (1 if cython.cast(cython.double, whole) < left else 0)

    # ---- the heap of a node: tasks by finish, then by number

    def before(self, a, b):
        x: cython.double = self.table.at[a].finish
        y: cython.double = self.table.at[b].finish
        return x < y or (x == y and a < b)

    def rise(self, i, k, t):
        """Put the task where it belongs, from place k upwards."""
        p: cython.Py_ssize_t
        other: cython.Py_ssize_t
        at: cython.longlong[::1] = self.heap.at
        first: cython.Py_ssize_t = self.heap.first[i]
        while k > 0:
            p = (k - 1) >> 1
            other = at[first + p]
            if not self.before(t, other):
                break
            at[first + k] = other
            self.table.at[other].position = k
            k = p
        at[first + k] = t
        self.table.at[t].position = k
        return 0

    def leave(self, i, k):
        """Take the task at place k out."""
        c: cython.Py_ssize_t
        t: cython.Py_ssize_t
        n: cython.Py_ssize_t
        at: cython.longlong[::1] = self.heap.at
        first: cython.Py_ssize_t = self.heap.first[i]
        self.table.at[at[first + k]].position = -1
        self.heap.length[i] -= 1
        n = self.heap.length[i]
        if k == n:
            return 0
        t = at[first + n]
        if k > 0 and self.before(t, at[first + ((k - 1) >> 1)]):
            return self.rise(i, k, t)
        while True:
            c = 2 * k + 1
            if c >= n:
                break
            if c + 1 < n and self.before(at[first + c + 1], at[first + c]):
                c += 1
            if not self.before(at[first + c], t):
                break
            at[first + k] = at[first + c]
            self.table.at[at[first + k]].position = k
            k = c
        at[first + k] = t
        self.table.at[t].position = k
        return 0
