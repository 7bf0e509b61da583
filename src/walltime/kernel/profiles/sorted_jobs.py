"""Jobs sorted by a number, in blocks: what a plan knows of its promises."""

from __future__ import annotations

import cython

from walltime.kernel.profiles.sorted_rows import SortedRows, structs

BLOCK = cython.declare(cython.Py_ssize_t, 64)


def before(a, b, c, d):
    """Whether the pair (a, b) comes before (c, d)."""
    return a < c or (a == c and b < d)


@cython.final
@cython.cclass
class SortedJobs(SortedRows):
    """Jobs by a number, of equal ones by slot; beside it a promise, and the job's place in the queue: key and seq.

    A block of them knows its first, the latest promise in it and the first place.
    """

    def __init__(self) -> None:
        SortedRows.__init__(self, 5, 7, BLOCK, 1)

    def see(self):
        self.rows = structs(self.row_words, 5)
        self.heads = structs(self.head_words, 7)
        return 0

    def insert(self, number, slot, promise, key, seq):
        """Put a job in."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.block_of(number, slot)
        if self.heads[p].count == BLOCK:
            self.split(p)
            self.note_first(p + 1)
            self.bound(p)
            self.bound(p + 1)
            p = self.block_of(number, slot)
        i = self.place_in(p, number, slot)
        self.open_row(p, i)
        self.rows[i].number = number
        self.rows[i].slot = slot
        self.rows[i].promise = promise
        self.rows[i].key = key
        self.rows[i].seq = seq
        if self.heads[p].count == 1 or promise > self.heads[p].latest:
            self.heads[p].latest = promise
        if self.heads[p].count == 1 or before(key, seq, self.heads[p].least_key, self.heads[p].least_seq):
            self.heads[p].least_key = key
            self.heads[p].least_seq = seq
        return self.note_first(p)

    def remove(self, number, slot):
        """Take a job out."""
        p: cython.Py_ssize_t = self.block_of(number, slot)
        i: cython.Py_ssize_t = self.place_in(p, number, slot)
        promise: cython.longlong = self.rows[i].promise
        seq: cython.longlong = self.rows[i].seq
        self.close_row(p, i)
        if self.heads[p].count == 0:
            return self.drop_block(p)
        self.note_first(p)
        if p + 1 < self.blocks and self.heads[p].count + self.heads[p + 1].count <= BLOCK // 2:
            self.merge(p)
        elif promise == self.heads[p].latest or seq == self.heads[p].least_seq:
            self.bound(p)
        return 0

    def promise_again(self, number, slot, promise):
        """The job has another promise."""
        p: cython.Py_ssize_t = self.block_of(number, slot)
        i: cython.Py_ssize_t = self.place_in(p, number, slot)
        old: cython.longlong = self.rows[i].promise
        self.rows[i].promise = promise
        if promise >= self.heads[p].latest:
            self.heads[p].latest = promise
        elif old == self.heads[p].latest:
            self.bound(p)
        return 0

    def first(self):
        """The least number."""
        return self.heads[0].first_number

    def last(self):
        """The greatest number."""
        p: cython.Py_ssize_t = self.blocks - 1
        return self.rows[self.heads[p].base + self.heads[p].count - 1].number

    # ---- inside

    def block_of(self, number, slot):
        """The last block that begins at or before the job, else the first."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.blocks
        middle: cython.Py_ssize_t
        while high - low > 1:
            middle = (low + high) >> 1
            if before(number, slot, self.heads[middle].first_number, self.heads[middle].first_slot):
                high = middle
            else:
                low = middle
        return low

    def place_in(self, p, number, slot):
        """Where in the block the job is, or would be."""
        low: cython.Py_ssize_t = self.heads[p].base
        high: cython.Py_ssize_t = low + self.heads[p].count
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if before(self.rows[middle].number, self.rows[middle].slot, number, slot):
                low = middle + 1
            else:
                high = middle
        return low

    def note_first(self, p):
        base: cython.Py_ssize_t = self.heads[p].base
        self.heads[p].first_number = self.rows[base].number
        self.heads[p].first_slot = self.rows[base].slot
        return 0

    def bound(self, p):
        """The block's latest promise and first place."""
        i: cython.Py_ssize_t
        base: cython.Py_ssize_t = self.heads[p].base
        latest: cython.longlong = self.rows[base].promise
        key: cython.longlong = self.rows[base].key
        seq: cython.longlong = self.rows[base].seq
        for i in range(base + 1, base + self.heads[p].count):
            latest = max(latest, self.rows[i].promise)
            if before(self.rows[i].key, self.rows[i].seq, key, seq):
                key = self.rows[i].key
                seq = self.rows[i].seq
        self.heads[p].latest = latest
        self.heads[p].least_key = key
        self.heads[p].least_seq = seq
        return 0

    def merge(self, p):
        """Put the next block's jobs into this one."""
        i: cython.Py_ssize_t
        for i in range(self.heads[p + 1].count):
            self.rows[self.heads[p].base + self.heads[p].count + i] = self.rows[self.heads[p + 1].base + i]
        self.heads[p].count += self.heads[p + 1].count
        self.drop_block(p + 1)
        return self.bound(p)
