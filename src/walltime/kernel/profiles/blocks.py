"""A list of rows for each of many owners, all in one array: what runs on each node, what is kept there."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers


@cython.cclass
class Blocks:
    """Each owner has a block of `room` rows of `width` numbers, from `base` on; the first `count` of them are its own.

    A block is a power of two in rows. One that became too small is kept for the next owner that wants its size.
    """

    def __init__(self, owners, width, rows) -> None:
        self.width = width
        self.base = integers(owners, -1)
        self.count = integers(owners)
        self.room = integers(owners)
        self.rows = integers(rows * self.width)
        self.end = 0
        self.spare = integers(64, -1)

    def widen(self, i):
        """Room for twice as many rows of the owner."""
        k: cython.Py_ssize_t = 0
        old: cython.Py_ssize_t = self.base[i]
        size: cython.Py_ssize_t = self.room[i] * 2 if self.room[i] > 0 else 4
        new: cython.Py_ssize_t
        p: cython.Py_ssize_t
        while (1 << k) < size:
            k += 1
        if self.spare[k] >= 0:
            new = self.spare[k]
            self.spare[k] = self.rows[new]
        else:
            while self.end + size * self.width > len(self.rows):
                self.rows = doubled(self.rows)
            new = self.end
            self.end += size * self.width
        if old >= 0:
            for p in range(self.count[i] * self.width):
                self.rows[new + p] = self.rows[old + p]
            self.rows[old] = self.spare[k - 1]
            self.spare[k - 1] = old
        self.base[i] = new
        self.room[i] = size
        return 0
