"""Running jobs by their expected end."""

from __future__ import annotations

import cython

from walltime.kernel.profiles.sorted_rows import SortedRows, structs

BLOCK = cython.declare(cython.Py_ssize_t, 64)


@cython.final
@cython.cclass
class RunningProfile(SortedRows):
    """Rows of time, seq and slot, by (time, seq); each block knows its last time and seq."""

    def __init__(self) -> None:
        SortedRows.__init__(self, 3, 4, BLOCK, 64)
        self.heads[0].last_time = -1

    def see(self):
        self.rows = structs(self.row_words, 3)
        self.heads = structs(self.head_words, 4)
        return 0

    def insert(self, time, seq, slot):
        """Add a running job."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.block_of(time, seq)
        if self.heads[p].count == BLOCK:
            self.split(p)
            self.note_last(p)
            p = self.block_of(time, seq)
        i = self.row_of(p, time, seq)
        self.open_row(p, i)
        self.rows[i].time = time
        self.rows[i].seq = seq
        self.rows[i].slot = slot
        return self.note_last(p)

    def remove(self, time, seq):
        """Take a job out; KeyError where it is not in."""
        p: cython.Py_ssize_t = self.block_of(time, seq)
        i: cython.Py_ssize_t = self.row_of(p, time, seq)
        end: cython.Py_ssize_t = self.heads[p].base + self.heads[p].count
        if i == end or self.rows[i].time != time or self.rows[i].seq != seq:
            raise KeyError((time, seq))
        self.close_row(p, i)
        if self.heads[p].count > 0:
            return self.note_last(p)
        self.heads[p].last_time = -1
        return self.drop_block(p)

    def note_last(self, p):
        i: cython.Py_ssize_t = self.heads[p].base + self.heads[p].count - 1
        self.heads[p].last_time = self.rows[i].time
        self.heads[p].last_seq = self.rows[i].seq
        return 0

    def entries(self) -> list:
        """Everything as (time, seq, slot), in order: for checks and for a person."""
        out = []
        for p in range(self.blocks):
            base = self.heads[p].base
            for x in range(base, base + self.heads[p].count):
                out.append((self.rows[x].time, self.rows[x].seq, self.rows[x].slot))
        return out

    def block_of(self, time, seq):
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.blocks - 1  # the last block takes everything above
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.heads[mid].last_time < time or (
                self.heads[mid].last_time == time and self.heads[mid].last_seq < seq
            ):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def row_of(self, p, time, seq):
        lo: cython.Py_ssize_t = self.heads[p].base
        hi: cython.Py_ssize_t = lo + self.heads[p].count
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.rows[mid].time < time or (self.rows[mid].time == time and self.rows[mid].seq < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo
