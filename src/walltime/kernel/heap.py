"""Future events: a 4-ary min-heap ordered by (time, seq), two whole words, never packed into one."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import words

    def first_of(a, i, k):
        return k if (a[k], a[k + 1]) < (a[i], a[i + 1]) else i


# An entry is four words: time, seq, slot, stamp.


@cython.final
@cython.cclass
class EventHeap:
    """`first` is the time of the first event, or NEVER; `pop` moves it into `time`, `seq`, `slot` and `stamp`.

    The stamp is the owner's: it tells an event of this attempt of a job from one that has gone stale.
    """

    def __init__(self) -> None:
        self.entries = integers(4 * 256)
        self.size = 0
        self.first = NEVER
        self.time = self.seq = self.stamp = 0
        self.slot = -1

    def push(self, time, seq, slot, stamp):
        """Add an event."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        if 4 * self.size == len(self.entries):
            self.grow()
        if time < self.first:
            self.first = time
        a: cython.p_longlong = words(self.entries)
        i = 4 * self.size
        self.size += 1
        while i > 0:
            p = (i - 4) >> 4 << 2
            if a[p] < time or (a[p] == time and a[p + 1] <= seq):
                break
            a[i] = a[p]
            a[i + 1] = a[p + 1]
            a[i + 2] = a[p + 2]
            a[i + 3] = a[p + 3]
            i = p
        a[i] = time
        a[i + 1] = seq
        a[i + 2] = slot
        a[i + 3] = stamp
        return 0

    def grow(self):
        self.entries = doubled(self.entries)
        return 0

    def pop(self):
        """Take the first event off the heap, into the fields."""
        i: cython.Py_ssize_t = 0  # places in words: the children of i are 4 i + 4 and the next three
        c: cython.Py_ssize_t
        m: cython.Py_ssize_t
        a: cython.p_longlong = words(self.entries)
        if self.size == 0:
            raise IndexError("pop from an empty heap")
        self.time = a[0]
        self.seq = a[1]
        self.slot = a[2]
        self.stamp = a[3]
        self.size -= 1
        n: cython.Py_ssize_t = 4 * self.size
        if n == 0:
            self.first = NEVER
            return 0
        time: cython.longlong = a[n]
        seq: cython.longlong = a[n + 1]
        while True:
            c = 4 * i + 4
            if c + 12 < n:
                m = first_of(a, first_of(a, c, c + 4), first_of(a, c + 8, c + 12))
            elif c < n:
                m = c
                while c + 4 < n:
                    c += 4
                    m = first_of(a, m, c)
            else:
                break
            if a[m] > time or (a[m] == time and a[m + 1] >= seq):
                break
            a[i] = a[m]
            a[i + 1] = a[m + 1]
            a[i + 2] = a[m + 2]
            a[i + 3] = a[m + 3]
            i = m
        a[i] = time
        a[i + 1] = seq
        a[i + 2] = a[n + 2]
        a[i + 3] = a[n + 3]
        self.first = a[0]
        return 0
