"""Which of many nodes has something to do first: a tournament between them."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class Agenda:
    """A time for each number below `size`; `next` is the earliest and `first` whose it is, the lowest of equals.

    Every inner place of a binary tree holds the winner of the two below it, so that a change costs the logarithm of the
    size, and nothing is left behind by times that no longer hold.
    """

    def __init__(self, size) -> None:
        self.leaves = 1
        while self.leaves < size:
            self.leaves *= 2
        self.time = np.full(self.leaves, NEVER, np.int64)
        self.tree = integers(2 * self.leaves)
        self.next = NEVER
        self.first = 0
        index: cython.Py_ssize_t
        for index in range(self.leaves):
            self.tree[self.leaves + index] = index
        for index in range(self.leaves - 1, 0, -1):
            self.tree[index] = self.tree[2 * index]

    def set(self, number, time):
        """The number has its turn at that time; NEVER: not at all."""
        x: cython.Py_ssize_t = (self.leaves + number) >> 1
        a: cython.longlong
        b: cython.longlong
        if self.time[number] == time:
            return 0
        self.time[number] = time
        while x > 0:
            a = self.tree[2 * x]
            b = self.tree[2 * x + 1]
            self.tree[x] = b if self.time[b] < self.time[a] else a
            x >>= 1
        self.first = self.tree[1] if self.leaves > 1 else 0
        self.next = self.time[self.first]
        return 0
