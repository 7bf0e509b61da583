"""What a draft of a plan on nodes remembers: where jobs were, and where they have room."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.resources import ResourceLedger

ANSWERS = cython.declare(cython.Py_ssize_t, 8)  # so many are kept for each job
SPANS = cython.declare(cython.Py_ssize_t, 256)  # so many changes are remembered: a power of two


@cython.final
@cython.cclass
class Places:
    """Which nodes were kept for jobs of a draft, how many cores of each, and how many times the rest of a demand."""

    def __init__(self) -> None:
        self.first, self.count = integers(64), integers(64)
        self.node, self.cores, self.times = integers(256), integers(256), integers(256)
        self.demand = integers(256)
        self.used = 0

    def clear(self, jobs):
        """Forget them all; there are so many jobs."""
        if len(self.first) < jobs:
            self.first, self.count = integers(2 * jobs), integers(2 * jobs)
        self.used = 0
        return 0

    def note(self, i, ledger: ResourceLedger, slot):
        """Remember the nodes of a job's hold."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        d: cython.Py_ssize_t
        times: cython.longlong
        x: cython.Py_ssize_t = ledger.jobs.at[slot].shape
        e: cython.longlong = ledger.held[ledger.held_by(slot)].first
        self.begin(i)
        while e >= 0:
            times = 0
            d = ledger.demand_kept(x, e)
            for r in range(1, kinds):
                if ledger.timelines.each[d * kinds + r] > 0:
                    times = ledger.timelines.kept_amounts[e * kinds + r] // ledger.timelines.each[d * kinds + r]
            self.add(i, ledger.timelines.kept_node[e], ledger.timelines.kept_amounts[e * kinds], times, d)
            e = ledger.timelines.kept_next[e]
        return 0

    def begin(self, i):
        """Nodes of the job follow."""
        self.first[i] = self.used
        self.count[i] = 0
        return 0

    def add(self, i, node, cores, times, demand):
        """One of them."""
        if self.used == len(self.node):
            self.node, self.cores = doubled(self.node), doubled(self.cores)
            self.times, self.demand = doubled(self.times), doubled(self.demand)
        self.node[self.used] = node
        self.cores[self.used] = cores
        self.times[self.used] = times
        self.demand[self.used] = demand
        self.used += 1
        self.count[i] += 1
        return 0


@cython.final
@cython.cclass
class Answers:
    """Where jobs of a draft have room, as far as it has been asked: from some time on, the first start is that.

    It stays true until something is changed on any node between that time and the end that the job would have. What the
    job itself keeps makes no difference to it.
    """

    def __init__(self) -> None:
        self.since, self.start = integers(64 * ANSWERS), integers(64 * ANSWERS)
        self.count, self.next, self.read = integers(64), integers(64), integers(64)
        self.begin, self.end, self.whose = integers(SPANS), integers(SPANS), integers(SPANS)
        self.spans = 0

    def clear(self, jobs):
        """Forget them all; there are so many jobs."""
        i: cython.Py_ssize_t
        if len(self.count) < jobs:
            self.since, self.start = integers(2 * jobs * ANSWERS), integers(2 * jobs * ANSWERS)
            self.count, self.next, self.read = integers(2 * jobs), integers(2 * jobs), integers(2 * jobs)
        for i in range(jobs):
            self.forget(i)
        return 0

    def forget(self, i):
        """Nothing is known of the job."""
        self.count[i] = self.next[i] = 0
        self.read[i] = self.spans
        return 0

    def change(self, i, begin, end):
        """What is kept for the job is another in that time."""
        k: cython.Py_ssize_t = self.spans & (SPANS - 1)
        self.begin[k] = begin
        self.end[k] = end
        self.whose[k] = i
        self.spans += 1
        return 0

    def forget_all(self):
        """Nothing is known of any job: more has changed than is remembered."""
        self.spans += SPANS + 1
        return 0

    def find(self, i, after, length):
        """The first start from `after` on, if that is known; else -1."""
        k: cython.Py_ssize_t
        if self.read[i] < self.spans:
            self.refresh(i, length)
        for k in range(i * ANSWERS, i * ANSWERS + self.count[i]):
            if self.since[k] <= after <= self.start[k]:
                return self.start[k]
        return -1

    def refresh(self, i, length):
        """Forget what may be true no longer."""
        p: cython.longlong
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t
        first: cython.Py_ssize_t = i * ANSWERS
        if self.spans - self.read[i] > SPANS:
            return self.forget(i)
        for p in range(self.read[i], self.spans):
            s = p & (SPANS - 1)
            k = first + self.count[i]
            while k > first and self.whose[s] != i:
                k -= 1
                if self.begin[s] < self.start[k] + length and self.since[k] < self.end[s]:
                    self.count[i] -= 1
                    self.since[k] = self.since[first + self.count[i]]
                    self.start[k] = self.start[first + self.count[i]]
        self.read[i] = self.spans
        return 0

    def learn(self, i, after, start):
        """From `after` on that is the first start; what was asked last of the job was `find`."""
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = i * ANSWERS
        for k in range(first, first + self.count[i]):
            if self.start[k] == start:
                self.since[k] = min(self.since[k], after)
                return 0
        if self.count[i] < ANSWERS:
            k = first + self.count[i]
            self.count[i] += 1
        else:
            k = first + self.next[i]
            self.next[i] = (self.next[i] + 1) % ANSWERS
        self.since[k] = after
        self.start[k] = start
        return 0
