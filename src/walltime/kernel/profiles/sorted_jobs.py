"""Jobs sorted by a number, in blocks: what a plan knows of its promises."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

BLOCK = cython.declare(cython.Py_ssize_t, 64)
HALF = cython.declare(cython.Py_ssize_t, 32)


def before(a, b, c, d):
    """Whether the pair (a, b) comes before (c, d)."""
    return a < c or (a == c and b < d)


@cython.final
@cython.cclass
class SortedJobs:
    """Jobs by a number, of equal ones by slot; beside it a promise, and the job's place in the queue: key and seq.

    They lie in blocks of up to 64. A block knows its first, the latest promise in it and the first place.
    """

    def __init__(self) -> None:
        self.number = integers(BLOCK)
        self.slot = integers(BLOCK)
        self.promise = integers(BLOCK)
        self.key = integers(BLOCK)
        self.seq = integers(BLOCK)
        self.order = integers(1)
        self.count = integers(1)
        self.first_number = integers(1)
        self.first_slot = integers(1)
        self.latest = integers(1)
        self.least_key = integers(1)
        self.least_seq = integers(1)
        self.spare = integers(1)
        self.spares = 1
        self.blocks = 0

    def insert(self, number, slot, promise, key, seq):
        """Put a job in."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        if self.blocks == 0:
            self.open(0)
        p = self.block_of(number, slot)
        if self.count[p] == BLOCK:
            self.split(p)
            p = self.block_of(number, slot)
        k = self.place_in(p, number, slot)
        i = self.order[p] * BLOCK + self.count[p]
        while i > k:
            self.copy(i, i - 1)
            i -= 1
        self.number[k] = number
        self.slot[k] = slot
        self.promise[k] = promise
        self.key[k] = key
        self.seq[k] = seq
        self.count[p] += 1
        if self.count[p] == 1 or promise > self.latest[p]:
            self.latest[p] = promise
        if self.count[p] == 1 or before(key, seq, self.least_key[p], self.least_seq[p]):
            self.least_key[p] = key
            self.least_seq[p] = seq
        self.note_first(p)
        return 0

    def remove(self, number, slot):
        """Take a job out."""
        p: cython.Py_ssize_t = self.block_of(number, slot)
        i: cython.Py_ssize_t = self.place_in(p, number, slot)
        stop: cython.Py_ssize_t = self.order[p] * BLOCK + self.count[p] - 1
        promise: cython.longlong = self.promise[i]
        seq: cython.longlong = self.seq[i]
        while i < stop:
            self.copy(i, i + 1)
            i += 1
        self.count[p] -= 1
        if self.count[p] == 0:
            return self.drop(p)
        self.note_first(p)
        if p + 1 < self.blocks and self.count[p] + self.count[p + 1] <= HALF:
            self.merge(p)
        elif promise == self.latest[p] or seq == self.least_seq[p]:
            self.bound(p)
        return 0

    def promise_again(self, number, slot, promise):
        """The job has another promise."""
        p: cython.Py_ssize_t = self.block_of(number, slot)
        i: cython.Py_ssize_t = self.place_in(p, number, slot)
        old: cython.longlong = self.promise[i]
        self.promise[i] = promise
        if promise >= self.latest[p]:
            self.latest[p] = promise
        elif old == self.latest[p]:
            self.bound(p)
        return 0

    def first(self):
        """The least number."""
        return self.first_number[0]

    def last(self):
        """The greatest number."""
        p: cython.Py_ssize_t = self.blocks - 1
        return self.number[self.order[p] * BLOCK + self.count[p] - 1]

    # ---- inside

    def block_of(self, number, slot):
        """The last block that begins at or before the job, else the first."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.blocks
        middle: cython.Py_ssize_t
        while high - low > 1:
            middle = (low + high) >> 1
            if before(number, slot, self.first_number[middle], self.first_slot[middle]):
                high = middle
            else:
                low = middle
        return low

    def place_in(self, p, number, slot):
        """Where in the block the job is, or would be."""
        low: cython.Py_ssize_t = self.order[p] * BLOCK
        high: cython.Py_ssize_t = low + self.count[p]
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if before(self.number[middle], self.slot[middle], number, slot):
                low = middle + 1
            else:
                high = middle
        return low

    def copy(self, to, source):
        self.number[to] = self.number[source]
        self.slot[to] = self.slot[source]
        self.promise[to] = self.promise[source]
        self.key[to] = self.key[source]
        self.seq[to] = self.seq[source]
        return 0

    def note_first(self, p):
        base: cython.Py_ssize_t = self.order[p] * BLOCK
        self.first_number[p] = self.number[base]
        self.first_slot[p] = self.slot[base]
        return 0

    def bound(self, p):
        """The block's latest promise and first place."""
        i: cython.Py_ssize_t
        base: cython.Py_ssize_t = self.order[p] * BLOCK
        latest: cython.longlong = self.promise[base]
        key: cython.longlong = self.key[base]
        seq: cython.longlong = self.seq[base]
        for i in range(base + 1, base + self.count[p]):
            latest = max(latest, self.promise[i])
            if before(self.key[i], self.seq[i], key, seq):
                key = self.key[i]
                seq = self.seq[i]
        self.latest[p] = latest
        self.least_key[p] = key
        self.least_seq[p] = seq
        return 0

    def open(self, p):
        """A new block, the p-th in order."""
        i: cython.Py_ssize_t = self.blocks
        if self.spares == 0:
            self.grow()
        while i > p:
            self.rename(i, i - 1)
            i -= 1
        self.spares -= 1
        self.order[p] = self.spare[self.spares]
        self.count[p] = 0
        self.blocks += 1
        return 0

    def drop(self, p):
        """The block is empty."""
        i: cython.Py_ssize_t
        self.spare[self.spares] = self.order[p]
        self.spares += 1
        self.blocks -= 1
        for i in range(p, self.blocks):
            self.rename(i, i + 1)
        return 0

    def rename(self, to, source):
        self.order[to] = self.order[source]
        self.count[to] = self.count[source]
        self.first_number[to] = self.first_number[source]
        self.first_slot[to] = self.first_slot[source]
        self.latest[to] = self.latest[source]
        self.least_key[to] = self.least_key[source]
        self.least_seq[to] = self.least_seq[source]
        return 0

    def split(self, p):
        """Move the second half of a full block into a new one."""
        i: cython.Py_ssize_t
        self.open(p + 1)
        for i in range(HALF):
            self.copy(self.order[p + 1] * BLOCK + i, self.order[p] * BLOCK + HALF + i)
        self.count[p] = self.count[p + 1] = HALF
        self.note_first(p + 1)
        self.bound(p)
        self.bound(p + 1)
        return 0

    def merge(self, p):
        """Put the next block's jobs into this one."""
        i: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.order[p] * BLOCK + self.count[p]
        for i in range(self.count[p + 1]):
            self.copy(end + i, self.order[p + 1] * BLOCK + i)
        self.count[p] += self.count[p + 1]
        self.drop(p + 1)
        return self.bound(p)

    def grow(self):
        room = len(self.order)
        self.number = doubled(self.number)
        self.slot = doubled(self.slot)
        self.promise = doubled(self.promise)
        self.key = doubled(self.key)
        self.seq = doubled(self.seq)
        self.order = doubled(self.order)
        self.count = doubled(self.count)
        self.first_number = doubled(self.first_number)
        self.first_slot = doubled(self.first_slot)
        self.latest = doubled(self.latest)
        self.least_key = doubled(self.least_key)
        self.least_seq = doubled(self.least_seq)
        self.spare = np.arange(2 * room - 1, -1, -1)  # at this point every block is in use
        self.spares = room
        return 0
