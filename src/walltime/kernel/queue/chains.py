"""Slots of a job table strung on chains: each is on one chain at most, and joins or leaves it at once."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable


@cython.final
@cython.cclass
class Chains:
    """Numbered chains, each from its `first` slot to its `last` one by `after`, and back by `before`; -1 ends both.

    `cores` is what the jobs of a chain have asked for in sum. A chain that is empty goes on to exist.
    """

    def __init__(self, jobs: JobTable) -> None:
        self.jobs = jobs
        self.count = 0
        self.first = integers(16)
        self.last = integers(16)
        self.cores = integers(16)
        self.before = integers(64)
        self.after = integers(64)
        self.of = integers(64)  # the slot's chain and one more; 0: none

    def add(self):
        """One more chain; its number."""
        k: cython.Py_ssize_t = self.count
        if k == len(self.first):
            self.first = doubled(self.first)
            self.last = doubled(self.last)
            self.cores = doubled(self.cores)
        self.first[k] = self.last[k] = -1
        self.count += 1
        return k

    def chain(self, slot):
        """The chain that the slot is on, or -1."""
        return self.of[slot] - 1 if slot < len(self.of) else -1

    def join(self, chain, slot, now):
        """The slot joins the chain at its end, but before slots that started now, too, and entered the system later."""
        at: cython.Py_ssize_t = self.last[chain]
        follower: cython.Py_ssize_t = -1
        while slot >= len(self.of):
            self.of = doubled(self.of)
            self.before = doubled(self.before)
            self.after = doubled(self.after)
        while at >= 0 and self.jobs.at[at].start == now and self.jobs.at[at].seq > self.jobs.at[slot].seq:
            follower = at
            at = self.before[at]
        self.of[slot] = chain + 1
        self.before[slot] = at
        self.after[slot] = follower
        if at >= 0:
            self.after[at] = slot
        else:
            self.first[chain] = slot
        if follower >= 0:
            self.before[follower] = slot
        else:
            self.last[chain] = slot
        self.cores[chain] += self.jobs.at[slot].cores
        return 0

    def leave(self, slot):
        """The slot is on no chain any more."""
        chain: cython.Py_ssize_t = self.of[slot] - 1
        before: cython.Py_ssize_t = self.before[slot]
        after: cython.Py_ssize_t = self.after[slot]
        if before >= 0:
            self.after[before] = after
        else:
            self.first[chain] = after
        if after >= 0:
            self.before[after] = before
        else:
            self.last[chain] = before
        self.cores[chain] -= self.jobs.at[slot].cores
        self.of[slot] = 0
        return 0
