"""Future events: a 4-ary min-heap ordered by (time, seq), two whole words, never packed into one."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import aligned

NEVER = cython.declare(cython.longlong, _NEVER)
BEYOND = cython.declare(cython.longlong, (1 << 63) - 1)  # where there is no event: no time and no seq is larger

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.prefetch import prefetch_line

    ROOT = 3

    def first_of(times, held, rows, c):
        return min(range(c, c + 4), key=lambda i: (times[i], rows[4 * held[i]]))


# The children of place i are 4 i - 8 and the next three, its parent is i // 4 + 2.


@cython.final
@cython.cclass
class EventHeap:
    """`first` is the time of the first event, or NEVER; `pop` moves it into `time`, `seq`, `slot` and `stamp`.

    The stamp is the owner's: it tells an event of this attempt of a job from one that has gone stale.

    `times` is the heap, so that a search touches little else. `held` has, beside each time, which of the `rows` the
    event is, four words: seq, slot, stamp and one that is not used. Behind the last event `held` has the rows that are
    free.
    """

    def __init__(self) -> None:
        self.size = 0
        self.first = NEVER
        self.time = self.seq = self.stamp = 0
        self.slot = -1
        self.times = aligned(256, BEYOND)
        self.held = np.arange(256)
        self.rows = aligned(4 * 256, BEYOND)

    def push(self, time, seq, slot, stamp):
        """Add an event."""
        i: cython.Py_ssize_t = self.size + ROOT
        if i == len(self.times):
            self.grow()
        if time < self.first:
            self.first = time
        r: cython.p_longlong = words(self.rows)
        row: cython.longlong = self.held[i]
        self.size += 1
        r[4 * row] = seq
        r[4 * row + 1] = slot
        r[4 * row + 2] = stamp
        return self.rise(i, time, row)

    def rise(self, i, time, row):
        """Put the event of that row at place i, or above those before it that come later."""
        p: cython.Py_ssize_t
        t: cython.p_longlong = words(self.times)
        h: cython.p_longlong = words(self.held)
        r: cython.p_longlong = words(self.rows)
        seq: cython.longlong = r[4 * row]
        while i > ROOT:
            p = (i >> 2) + 2
            if t[p] < time or (t[p] == time and r[4 * h[p]] <= seq):
                break
            t[i] = t[p]
            h[i] = h[p]
            i = p
        t[i] = time
        h[i] = row
        return 0

    def grow(self):
        n: cython.Py_ssize_t = len(self.times)
        times = aligned(2 * n, BEYOND)
        rows = aligned(8 * n, BEYOND)
        times[:n] = self.times
        rows[: 4 * n] = self.rows
        self.times = times
        self.rows = rows
        self.held = np.concatenate([np.asarray(self.held), np.arange(n, 2 * n)])
        return 0

    def pop(self):
        """Take the first event off the heap, into the fields."""
        i: cython.Py_ssize_t = ROOT
        c: cython.Py_ssize_t = ROOT + 1
        p: cython.Py_ssize_t
        t: cython.p_longlong = words(self.times)
        h: cython.p_longlong = words(self.held)
        r: cython.p_longlong = words(self.rows)
        row: cython.longlong = h[ROOT]
        if self.size == 0:
            raise IndexError("pop from an empty heap")
        self.time = t[ROOT]
        self.seq = r[4 * row]
        self.slot = r[4 * row + 1]
        self.stamp = r[4 * row + 2]
        self.size -= 1
        n: cython.Py_ssize_t = self.size + ROOT
        time: cython.longlong = t[n]
        last: cython.longlong = h[n]
        t[n] = BEYOND
        h[n] = row
        r[4 * row] = BEYOND
        if n == ROOT:
            self.first = NEVER
            return 0
        while c < n:  # the place goes down to the lowest level, and the last event from there up, mostly nowhere
            prefetch_line(cython.address(t[4 * c - 8]), 0)  # the children of all four
            prefetch_line(cython.address(t[4 * c - 8]), 1)
            p = first_of(t, h, r, c)
            t[i] = t[p]
            h[i] = h[p]
            i = p
            c = 4 * p - 8
        self.rise(i, time, last)
        self.first = t[ROOT]
        return 0

    def first_seq(self):
        """The seq of the first event; there is one."""
        return self.rows[4 * self.held[ROOT]]

    def first_slot(self):
        """The slot of the first event; there is one."""
        return self.rows[4 * self.held[ROOT] + 1]
