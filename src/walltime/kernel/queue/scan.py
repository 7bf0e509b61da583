"""The queue of an order whose keys change with time: no structure survives a pass, so none is kept."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, QueuePosition
from walltime.kernel.queue.sorting import Sorter
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    OUTSIDE = QueuePosition.OUTSIDE


@cython.final
@cython.cclass
class ScanQueue(Queue):
    """Waiting jobs in no order, their cores, estimates and keys side by side; every question is one linear look.

    Before a pass the engine has the order write new keys into `key` for the first `size` entries of `slot`, and calls
    `rekeyed`. To find the first job that fits, those that do not are passed over by their size: nothing is sorted.
    """

    def __init__(self, jobs: JobTable) -> None:
        Queue.__init__(self, jobs)
        self.slot = integers(64)
        self.cores = integers(64)
        self.estimate = integers(64)
        self.key = integers(64)
        self.seq = integers(64)

    def push(self, slot):
        i: cython.Py_ssize_t = self.size
        self.moves += 1
        if i == len(self.slot):
            self.slot = doubled(self.slot)
            self.cores = doubled(self.cores)
            self.estimate = doubled(self.estimate)
            self.key = doubled(self.key)
            self.seq = doubled(self.seq)
        self.slot[i] = slot
        self.cores[i] = self.jobs.at[slot].cores
        self.estimate[i] = self.jobs.at[slot].estimate
        self.key[i] = self.jobs.at[slot].key
        self.seq[i] = self.jobs.at[slot].seq
        self.jobs.at[slot].position = i
        self.size = i + 1
        return 0

    def remove(self, slot):
        i: cython.Py_ssize_t = self.jobs.at[slot].position
        last: cython.Py_ssize_t = self.size - 1
        if i < 0:
            raise KeyError(slot)
        self.moves += 1
        self.slot[i] = self.slot[last]
        self.cores[i] = self.cores[last]
        self.estimate[i] = self.estimate[last]
        self.key[i] = self.key[last]
        self.seq[i] = self.seq[last]
        self.jobs.at[self.slot[i]].position = i
        self.jobs.at[slot].position = OUTSIDE
        self.size = last
        return 0

    def head(self):
        return self.find(NEVER, NEVER, NEVER, -1, NEVER)

    def next(self, slot):
        return self.find(NEVER, NEVER, NEVER, slot, NEVER)

    def behind(self, slot):
        return self.find(NEVER, NEVER, NEVER, slot, NEVER)

    def find(self, free, extra, window, after, longest):
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        key: cython.longlong[::1] = self.key
        seq: cython.longlong[::1] = self.seq
        cores: cython.longlong[::1] = self.cores
        estimate: cython.longlong[::1] = self.estimate
        least: cython.longlong = 0
        bound: cython.longlong = 0
        tie: cython.longlong = -1
        if after >= 0:
            bound = self.jobs.at[after].key
            tie = self.jobs.at[after].seq
        for i in range(self.size):
            if estimate[i] > longest or (cores[i] > extra and (cores[i] > free or estimate[i] > window)):
                continue
            if best >= 0 and (key[i] > least or (key[i] == least and seq[i] > seq[best])):
                continue
            if after >= 0 and (key[i] < bound or (key[i] == bound and seq[i] <= tie)):
                continue
            best = i
            least = key[i]
        return self.slot[best] if best >= 0 else -1

    def leading(self, many, slots):
        """One look: each job that is before the last of those found so far goes to its place among them."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        key: cython.longlong[::1] = self.key
        seq: cython.longlong[::1] = self.seq
        for i in range(self.size if many > 0 else 0):
            if n == many:
                k = slots[n - 1]
                if key[i] > key[k] or (key[i] == key[k] and seq[i] > seq[k]):
                    continue
                n -= 1
            k = n
            while k > 0 and (
                key[i] < key[slots[k - 1]] or (key[i] == key[slots[k - 1]] and seq[i] < seq[slots[k - 1]])
            ):
                slots[k] = slots[k - 1]
                k -= 1
            slots[k] = i
            n += 1
        for i in range(n):
            slots[i] = self.slot[slots[i]]
        return n

    def reorder(self):
        """The keys in the job table have changed."""
        i: cython.Py_ssize_t
        for i in range(self.size):
            self.key[i] = self.jobs.at[self.slot[i]].key
        return 0

    def rekeyed(self):
        """The keys here have changed: the job table hears of it."""
        i: cython.Py_ssize_t
        for i in range(self.size):
            self.jobs.at[self.slot[i]].key = self.key[i]
        return 0

    def quiet(self, last):
        return False  # the keys are always new

    def ordered(self):
        i: cython.Py_ssize_t
        order: Sorter = self.sorter
        order.make_room(self.size)
        for i in range(self.size):
            order.keys[i] = self.key[i]
            order.ties[i] = self.seq[i]
            order.items[i] = self.slot[i]
        order.sort(self.size)
        while len(self.buffer) <= self.size:
            self.buffer = doubled(self.buffer)
        for i in range(self.size):
            self.buffer[i] = order.items[i]
        self.buffer[self.size] = -1
        return self.buffer
