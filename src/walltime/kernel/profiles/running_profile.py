"""Running jobs by their expected end."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

BLOCK = cython.declare(cython.Py_ssize_t, 64)

if not cython.compiled:
    from walltime.kernel.arrays import words

    def move_up(a, begin, end):
        a[begin + 1 : end + 1] = a[begin:end].copy()

    def move_down(a, begin, end):
        a[begin:end] = a[begin + 1 : end + 1].copy()


@cython.final
@cython.cclass
class RunningProfile:
    """Entries (time, seq) -> slot in order, in blocks of 64: an insertion or removal moves at most a block."""

    def __init__(self) -> None:
        room: cython.Py_ssize_t = 64
        self.time = integers(room * BLOCK)
        self.seq = integers(room * BLOCK)
        self.slot = integers(room * BLOCK)
        self.order = integers(room)  # where block p's entries lie
        self.count = integers(room)
        self.last_time = integers(room)
        self.last_seq = integers(room)
        self.spare = np.arange(room - 1, -1, -1)
        self.spares = room - 1
        self.order[0] = 0
        self.last_time[0] = -1
        self.blocks = 1

    def insert(self, time, seq, slot):
        """Add a running job."""
        i: cython.Py_ssize_t
        e: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.block_of(time, seq)
        if self.count[p] == BLOCK:
            self.split(p)
            if time > self.last_time[p] or (time == self.last_time[p] and seq > self.last_seq[p]):
                p += 1
        i = self.slot_of(p, time, seq)
        e = self.order[p] * BLOCK + self.count[p]
        t: cython.p_longlong = words(self.time)
        s: cython.p_longlong = words(self.seq)
        c: cython.p_longlong = words(self.slot)
        move_up(t, i, e)
        move_up(s, i, e)
        move_up(c, i, e)
        t[i] = time
        s[i] = seq
        c[i] = slot
        self.count[p] += 1
        if time > self.last_time[p] or (time == self.last_time[p] and seq > self.last_seq[p]):
            self.last_time[p] = time
            self.last_seq[p] = seq
        return 0

    def remove(self, time, seq):
        """Take a job out; KeyError where it is not in."""
        p: cython.Py_ssize_t = self.block_of(time, seq)
        i: cython.Py_ssize_t = self.slot_of(p, time, seq)
        e: cython.Py_ssize_t = self.order[p] * BLOCK + self.count[p] - 1
        t: cython.p_longlong = words(self.time)
        s: cython.p_longlong = words(self.seq)
        c: cython.p_longlong = words(self.slot)
        if i > e or t[i] != time or s[i] != seq:
            raise KeyError((time, seq))
        move_down(t, i, e)
        move_down(s, i, e)
        move_down(c, i, e)
        self.count[p] -= 1
        if self.count[p] > 0:
            self.last_time[p] = t[e - 1]
            self.last_seq[p] = s[e - 1]
        elif self.blocks == 1:
            self.last_time[0] = -1
        else:
            self.spare[self.spares] = self.order[p]
            self.spares += 1
            self.blocks -= 1
            while p < self.blocks:
                self.order[p] = self.order[p + 1]
                self.count[p] = self.count[p + 1]
                self.last_time[p] = self.last_time[p + 1]
                self.last_seq[p] = self.last_seq[p + 1]
                p += 1
        return 0

    def entries(self) -> list:
        """Everything as (time, seq, slot), in order: for checks and for a person."""
        out = []
        for p in range(self.blocks):
            base = self.order[p] * BLOCK
            for x in range(base, base + self.count[p]):
                out.append((self.time[x], self.seq[x], self.slot[x]))
        return out

    def block_of(self, time, seq):
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.blocks - 1  # the last block takes everything above
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.last_time[mid] < time or (self.last_time[mid] == time and self.last_seq[mid] < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def slot_of(self, p, time, seq):
        lo: cython.Py_ssize_t = self.order[p] * BLOCK
        hi: cython.Py_ssize_t = lo + self.count[p]
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.time[mid] < time or (self.time[mid] == time and self.seq[mid] < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def grow(self):
        room = len(self.order)
        self.time = doubled(self.time)
        self.seq = doubled(self.seq)
        self.slot = doubled(self.slot)
        self.order = doubled(self.order)
        self.count = doubled(self.count)
        self.last_time = doubled(self.last_time)
        self.last_seq = doubled(self.last_seq)
        self.spare = np.arange(2 * room - 1, -1, -1)  # at this point every block is in use
        self.spares = room
        return 0

    def split(self, p):
        x: cython.Py_ssize_t
        if self.spares == 0:
            self.grow()
        self.spares -= 1
        new: cython.Py_ssize_t = self.spare[self.spares]
        half: cython.Py_ssize_t = BLOCK // 2
        source: cython.Py_ssize_t = self.order[p] * BLOCK + half
        target: cython.Py_ssize_t = new * BLOCK
        for x in range(half):
            self.time[target + x] = self.time[source + x]
            self.seq[target + x] = self.seq[source + x]
            self.slot[target + x] = self.slot[source + x]
        q: cython.Py_ssize_t = self.blocks
        while q > p + 1:
            self.order[q] = self.order[q - 1]
            self.count[q] = self.count[q - 1]
            self.last_time[q] = self.last_time[q - 1]
            self.last_seq[q] = self.last_seq[q - 1]
            q -= 1
        self.blocks += 1
        self.order[p + 1] = new
        self.count[p + 1] = half
        self.last_time[p + 1] = self.last_time[p]
        self.last_seq[p + 1] = self.last_seq[p]
        self.count[p] = half
        self.last_time[p] = self.time[source - 1]
        self.last_seq[p] = self.seq[source - 1]
        return 0
