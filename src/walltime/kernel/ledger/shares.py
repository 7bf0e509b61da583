"""Which job has how many cores on which node."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers

if not cython.compiled:
    from walltime.kernel.arrays import words

    spots_in = words

CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node


@cython.final
@cython.cclass
class Shares:
    """A job's shares lie side by side in a block of `at`, each as node << 24 | cores; `spots[slot]` tells where its
    first one is and how many they are.

    Blocks are powers of two; one that is given back serves the next job of its size. The addresses `at` and `spots` are
    void once there is more room.
    """

    def __init__(self) -> None:
        self.table = integers(128)
        self.blocks = integers(1024)
        self.point()
        self.end = 0
        self.spare = integers(32, -1)
        self.ranges = integers(16)

    def point(self):
        """There is more room."""
        self.slots = len(self.table) // 2
        self.spots = spots_in(self.table)
        self.at = words(self.blocks)
        return 0

    def allot(self, slot, nodes):
        """Room for so many shares of the job."""
        size: cython.Py_ssize_t = 1
        k: cython.Py_ssize_t = 0
        while slot >= self.slots:
            self.table = doubled(self.table)
            self.point()
        while size < nodes:
            size *= 2
            k += 1
        if self.spare[k] >= 0:
            self.spots[slot].first = self.spare[k]
            self.spare[k] = self.at[self.spots[slot].first]
        else:
            while self.end + size > len(self.blocks):
                self.blocks = doubled(self.blocks)
                self.point()
            self.spots[slot].first = self.end
            self.end += size
        self.spots[slot].length = nodes
        return 0

    def allot_one(self, slot, share):
        """The only share of the job."""
        at: cython.Py_ssize_t = self.spare[0]
        if at < 0 or slot >= self.slots:
            self.allot(slot, 1)
            at = self.spots[slot].first
        else:
            self.spare[0] = self.at[at]
            self.spots[slot].first = at
            self.spots[slot].length = 1
        self.at[at] = share
        return 0

    def release(self, slot):
        """The job has no shares any more."""
        size: cython.Py_ssize_t = 1
        k: cython.Py_ssize_t = 0
        while size < self.spots[slot].length:
            size *= 2
            k += 1
        self.at[self.spots[slot].first] = self.spare[k]
        self.spare[k] = self.spots[slot].first
        self.spots[slot].length = 0
        return 0

    def remove(self, slot, node):
        """The job has left the node; the cores that it had there, -1 where it was not there."""
        k: cython.Py_ssize_t
        cores: cython.longlong = -1
        for k in range(self.spots[slot].first, self.spots[slot].first + self.spots[slot].length):
            if cores >= 0:
                self.at[k - 1] = self.at[k]
            elif self.at[k] >> 24 == node:
                cores = self.at[k] & CORES
        if cores >= 0:
            self.spots[slot].length -= 1
        return cores

    def first_of(self, slot):
        """Where the job's shares begin; as `last_of` where it has none."""
        return self.spots[slot].first if slot < self.slots else 0

    def last_of(self, slot):
        """Behind the job's last share."""
        return self.spots[slot].first + self.spots[slot].length if slot < self.slots else 0

    def describe(self, slot):
        """Write into `ranges` on which nodes the job is: equal shares on consecutive nodes packed as
        first << 44 | (nodes - 1) << 24 | cores; how many there are."""
        k: cython.Py_ssize_t = self.spots[slot].first
        end: cython.Py_ssize_t = k + self.spots[slot].length
        found: cython.Py_ssize_t = 0
        start: cython.longlong
        length: cython.longlong
        if len(self.ranges) < self.spots[slot].length:
            self.ranges = integers(2 * self.spots[slot].length)
        while k < end:
            start = self.at[k]
            length = 1
            k += 1
            while k < end and self.at[k] == start + (length << 24):
                length += 1
                k += 1
            self.ranges[found] = (start >> 24) << 44 | (length - 1) << 24 | (start & CORES)
            found += 1
        return found

    def pairs(self, slot) -> list:
        """The job's shares as (node, cores): for checks and for a person."""
        s: cython.Py_ssize_t = slot
        return [divmod(self.at[k], 1 << 24) for k in range(self.first_of(s), self.last_of(s))]
