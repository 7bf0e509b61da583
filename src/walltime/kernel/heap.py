"""Future events: a 4-ary min-heap ordered by (time, seq), two whole words, never packed into one."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)
WORDS = cython.declare(cython.Py_ssize_t, 4)  # an entry: time, seq, slot, stamp

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.final
@cython.cclass
class EventHeap:
    """`pop` moves the first event into the fields `time`, `seq`, `slot` and `stamp`.

    The stamp is the owner's: it tells an event of this attempt of a job from one that has gone stale.
    """

    def __init__(self) -> None:
        self.entries = integers(WORDS * 256)
        self.size = 0
        self.time = self.seq = self.stamp = 0
        self.slot = -1

    def push(self, time, seq, slot, stamp):
        """Add an event."""
        i: cython.Py_ssize_t
        p: cython.Py_ssize_t
        if WORDS * self.size == len(self.entries):
            self.grow()
        a: cython.p_longlong = words(self.entries)
        i = self.size
        self.size += 1
        while i > 0:
            p = (i - 1) >> 2
            if a[4 * p] < time or (a[4 * p] == time and a[4 * p + 1] <= seq):
                break
            a[4 * i] = a[4 * p]
            a[4 * i + 1] = a[4 * p + 1]
            a[4 * i + 2] = a[4 * p + 2]
            a[4 * i + 3] = a[4 * p + 3]
            i = p
        a[4 * i] = time
        a[4 * i + 1] = seq
        a[4 * i + 2] = slot
        a[4 * i + 3] = stamp
        return 0

    def grow(self):
        self.entries = doubled(self.entries)
        return 0

    def next_time(self):
        """The time of the first event, or NEVER."""
        return self.entries[0] if self.size > 0 else NEVER

    def pop(self):
        """Take the first event off the heap, into the fields."""
        i: cython.Py_ssize_t = 0
        c: cython.Py_ssize_t
        m: cython.Py_ssize_t
        e: cython.Py_ssize_t
        a: cython.p_longlong = words(self.entries)
        if self.size == 0:
            raise IndexError("pop from an empty heap")
        self.time = a[0]
        self.seq = a[1]
        self.slot = a[2]
        self.stamp = a[3]
        self.size -= 1
        n: cython.Py_ssize_t = self.size
        if n == 0:
            return 0
        time: cython.longlong = a[4 * n]
        seq: cython.longlong = a[4 * n + 1]
        while True:
            c = 4 * i + 1
            if c >= n:
                break
            m = c
            e = c + 4 if c + 4 < n else n
            c += 1
            while c < e:
                if a[4 * c] < a[4 * m] or (a[4 * c] == a[4 * m] and a[4 * c + 1] < a[4 * m + 1]):
                    m = c
                c += 1
            if a[4 * m] > time or (a[4 * m] == time and a[4 * m + 1] >= seq):
                break
            a[4 * i] = a[4 * m]
            a[4 * i + 1] = a[4 * m + 1]
            a[4 * i + 2] = a[4 * m + 2]
            a[4 * i + 3] = a[4 * m + 3]
            i = m
        a[4 * i] = time
        a[4 * i + 1] = seq
        a[4 * i + 2] = a[4 * n + 2]
        a[4 * i + 3] = a[4 * n + 3]
        return 0
