"""The queues that a job may choose from which names several, and what it is in each of them."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable


@cython.final
@cython.cclass
class Choices:
    """What jobs that name several queues may choose from, by number: (queue, shape, rules, GPUs, memory), the preferred
    first. What a job asks for in all may differ, as its nodes may be more in one queue than in another; limits count
    that of the queue in which it is. `counted` are the rules under which they count as submitted: those of all queues.
    """

    def __init__(self) -> None:
        self.size = 0
        self.first = integers(64)
        self.queue = integers(64)
        self.shape = integers(64)
        self.rules = integers(64)
        self.gpus = integers(64)
        self.memory = integers(64)
        self.counted = integers(64)
        self.entries = 0
        self.known = {}

    def define(self, entries, counted) -> int:
        """The number of this list of choices."""
        key = tuple(entries)
        if key not in self.known:
            self.known[key] = self.size
            for queue, shape, rules, gpus, memory in key:
                if self.entries == len(self.queue):
                    self.queue = doubled(self.queue)
                    self.shape = doubled(self.shape)
                    self.rules = doubled(self.rules)
                    self.gpus = doubled(self.gpus)
                    self.memory = doubled(self.memory)
                self.queue[self.entries] = queue
                self.shape[self.entries] = shape
                self.rules[self.entries] = rules
                self.gpus[self.entries] = gpus
                self.memory[self.entries] = memory
                self.entries += 1
            self.counted[self.size] = counted
            self.size += 1
            if self.size == len(self.first):
                self.first = doubled(self.first)
                self.counted = doubled(self.counted)
            self.first[self.size] = self.entries
        return self.known[key]

    def differ(self, choice):
        """Whether the request is another one in one of these queues."""
        k: cython.Py_ssize_t
        for k in range(self.first[choice] + 1, self.first[choice + 1]):  # noqa: SIM110 - a generator would be an object
            if self.shape[k] != self.shape[k - 1]:
                return True
        return False

    def put(self, jobs: JobTable, slot, k):
        """The job is in that one of its queues."""
        jobs.at[slot].queue = self.queue[k]
        jobs.at[slot].shape = self.shape[k]
        jobs.at[slot].rules = self.rules[k]
        return 0

    def entry_of(self, jobs: JobTable, slot):
        """In which of its queues the job is."""
        choice: cython.longlong = jobs.at[slot].choice
        k: cython.Py_ssize_t = self.first[choice]
        while k + 1 < self.first[choice + 1] and self.queue[k] != jobs.at[slot].queue:
            k += 1
        return k
