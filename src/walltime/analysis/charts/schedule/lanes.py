"""Which rows of a picture each allocation covers: cores as rows, jobs as rectangles that never overlap.

Compiled: a schedule of a million jobs is laid out in about a second. Where a cluster is a plain number of cores, no
record says which cores a job had; then it gets the smallest gap that it fits into, or else the largest gaps, so that it
is in as few pieces as can be.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.heap import EventHeap

WORDS = cython.declare(cython.Py_ssize_t, 3)  # a rectangle: its allocation, its lowest row, the row above its highest


@cython.final
@cython.cclass
class Lanes:
    """Free rows as sorted intervals, and the rectangles that were made of them."""

    def __init__(self, rows) -> None:
        self.low, self.high = integers(64), integers(64)
        self.rects = integers(WORDS * 1024)
        self.made = 0
        self.top = rows
        self.count = 1 if rows > 0 else 0
        self.low[0], self.high[0] = 0, rows

    def mark(self, owner, low, high):
        """A rectangle more; joined with the last one if it lies right above."""
        last: cython.Py_ssize_t = WORDS * (self.made - 1)
        if self.made > 0 and self.rects[last] == owner and self.rects[last + 2] == low:
            self.rects[last + 2] = high
            return 0
        if WORDS * (self.made + 1) > len(self.rects):
            self.rects = doubled(self.rects)
        last += WORDS
        self.rects[last] = owner
        self.rects[last + 1] = low
        self.rects[last + 2] = high
        self.made += 1
        return 0

    def take(self, owner, rows):
        """Cover so many rows; more than there are (an illegal schedule) get rows of their own on top."""
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t
        need: cython.longlong = rows
        part: cython.longlong
        while need > 0 and self.count > 0:
            best = 0
            for i in range(1, self.count):
                part = self.high[i] - self.low[i]
                if self.high[best] - self.low[best] < need:
                    if part > self.high[best] - self.low[best]:
                        best = i
                elif need <= part < self.high[best] - self.low[best]:
                    best = i
            part = min(need, self.high[best] - self.low[best])
            self.mark(owner, self.low[best], self.low[best] + part)
            self.cut(best, part)
            need -= part
        if need > 0:
            self.mark(owner, self.top, self.top + need)
            self.top += need
        return 0

    def cut(self, i, rows):
        """Take the lowest rows of an interval; remove it if nothing is left."""
        j: cython.Py_ssize_t
        self.low[i] += rows
        if self.low[i] == self.high[i]:
            self.count -= 1
            for j in range(i, self.count):
                self.low[j] = self.low[j + 1]
                self.high[j] = self.high[j + 1]
        return 0

    def give(self, low, high):
        """Rows are free again."""
        i: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t
        end: cython.Py_ssize_t = self.count
        while i < end:
            j = (i + end) // 2
            if self.low[j] < low:
                i = j + 1
            else:
                end = j
        if i > 0 and self.high[i - 1] == low:
            self.high[i - 1] = high
            if i < self.count and self.low[i] == high:
                self.high[i - 1] = self.high[i]
                self.cut(i, self.high[i] - self.low[i])
            return 0
        if i < self.count and self.low[i] == high:
            self.low[i] = low
            return 0
        if self.count == len(self.low):
            self.low, self.high = doubled(self.low), doubled(self.high)
        for j in range(self.count, i, -1):
            self.low[j] = self.low[j - 1]
            self.high[j] = self.high[j - 1]
        self.low[i] = low
        self.high[i] = high
        self.count += 1
        return 0

    def table(self):
        """The rectangles as three arrays: allocation, lowest row, the row above the highest."""
        return np.array(self.rects[: WORDS * self.made]).reshape(-1, 3).T


def stack_cores(start, end, cores, capacity):
    """The rectangles of allocations that are given in order of start, on a plain number of cores."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    begin: cython.longlong[::1] = start
    stop: cython.longlong[::1] = end
    wide: cython.longlong[::1] = cores
    first: cython.longlong[::1] = integers(len(start) + 1)
    lanes: Lanes = Lanes(capacity)
    running: EventHeap = EventHeap()
    for i in range(len(begin)):
        while running.first <= begin[i]:
            running.pop()
            for j in range(first[running.slot], first[running.slot + 1]):
                lanes.give(lanes.rects[WORDS * j + 1], lanes.rects[WORDS * j + 2])
        first[i] = lanes.made
        if stop[i] > begin[i]:
            lanes.take(i, wide[i])
            running.push(stop[i], i, i, 0)
        first[i + 1] = lanes.made
    return lanes.table()


def stack_nodes(start, end, ranges, sizes):
    """The rectangles of allocations on nodes; `ranges` has rows (allocation, first node, last node, cores on each).

    The ranges are in order of their allocations, which are in order of start; `sizes` are the cores of each node.
    """
    i: cython.Py_ssize_t
    row: cython.Py_ssize_t
    node: cython.longlong
    need: cython.longlong
    owner: cython.longlong
    begin: cython.longlong[::1] = start
    stop: cython.longlong[::1] = end
    part: cython.longlong[:, ::1] = ranges
    base: cython.longlong[::1] = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    until: cython.longlong[::1] = np.full(int(base[len(base) - 1]), -(1 << 62), np.int64)
    lanes: Lanes = Lanes(0)
    for i in range(part.shape[0]):
        owner = part[i, 0]
        if stop[owner] <= begin[owner]:
            continue
        for node in range(max(part[i, 1], 0), min(part[i, 2], len(base) - 2) + 1):
            need = part[i, 3]
            for row in range(base[node], base[node + 1]):
                if need > 0 and until[row] <= begin[owner]:
                    until[row] = stop[owner]
                    lanes.mark(owner, row, row + 1)
                    need -= 1
    return lanes.table()


def shade(left, right, low, high, columns, rows):
    """How full each cell of a map is, for rectangles in units of its cells: an array of rows by columns, 0 to 1."""
    i: cython.Py_ssize_t
    x: cython.Py_ssize_t
    y: cython.Py_ssize_t
    width: cython.double
    x0: cython.double[::1] = left
    x1: cython.double[::1] = right
    y0: cython.double[::1] = low
    y1: cython.double[::1] = high
    out: cython.double[:, ::1] = np.zeros((rows, columns))
    for i in range(len(x0)):
        for x in range(max(int(x0[i]), 0), columns):
            if x >= x1[i]:
                break
            width = min(x1[i], x + 1.0) - max(x0[i], x + 0.0)
            for y in range(max(int(y0[i]), 0), rows):
                if y >= y1[i]:
                    break
                out[y, x] += width * (min(y1[i], y + 1.0) - max(y0[i], y + 0.0))
    return np.asarray(out)
