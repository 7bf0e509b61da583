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
    """A job's shares, each as node << 24 | cores. Several of them lie side by side in a block of `blocks`, and `spots`
    tells where that begins and how many they are; an only one, as most jobs have, stands in its spot itself.

    Blocks are powers of two; one that is given back serves the next job of its size. Addresses are void once there is
    more room.
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
        """Room for so many shares of the job; where they are to be written."""
        size: cython.Py_ssize_t = 2
        k: cython.Py_ssize_t = 1
        while slot >= self.slots:
            self.table = doubled(self.table)
            self.point()
        self.spots[slot].length = nodes
        if nodes < 2:
            return self.of(slot)
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
        return self.of(slot)

    def allot_one(self, slot, share):
        """The only share of the job."""
        if slot >= self.slots:
            self.allot(slot, 1)
        self.spots[slot].first = share
        self.spots[slot].length = 1
        return 0

    def of(self, slot):
        """Where the job's shares are, which are `count`."""
        if slot >= self.slots:
            return self.at
        if self.spots[slot].length < 2:
            return cython.address(self.spots[slot].first)
        return cython.address(self.at[self.spots[slot].first])

    def count(self, slot):
        return self.spots[slot].length if slot < self.slots else 0

    def release(self, slot):
        """The job has no shares any more."""
        if self.spots[slot].length > 1:
            self.give_back(slot)
        self.spots[slot].length = 0
        return 0

    def give_back(self, slot):
        """Another job may have its block."""
        size: cython.Py_ssize_t = 2
        k: cython.Py_ssize_t = 1
        while size < self.spots[slot].length:
            size *= 2
            k += 1
        self.at[self.spots[slot].first] = self.spare[k]
        self.spare[k] = self.spots[slot].first
        return 0

    def remove(self, slot, node):
        """The job has left the node; the cores that it had there, -1 where it was not there."""
        k: cython.Py_ssize_t
        cores: cython.longlong = -1
        last: cython.longlong
        shares: cython.p_longlong = self.of(slot)
        count: cython.Py_ssize_t = self.count(slot)
        for k in range(count):
            if cores >= 0:
                shares[k - 1] = shares[k]
            elif shares[k] >> 24 == node:
                cores = shares[k] & CORES
        if cores < 0:
            return cores
        last = shares[0]
        if count == 2:
            self.give_back(slot)
            self.spots[slot].first = last
        self.spots[slot].length = count - 1
        return cores

    def describe(self, slot):
        """Write into `ranges` on which nodes the job is: equal shares on consecutive nodes packed as
        first << 44 | (nodes - 1) << 24 | cores; how many there are."""
        k: cython.Py_ssize_t = 0
        end: cython.Py_ssize_t = self.spots[slot].length
        shares: cython.p_longlong = self.of(slot)
        found: cython.Py_ssize_t = 0
        start: cython.longlong
        length: cython.longlong
        if len(self.ranges) < self.spots[slot].length:
            self.ranges = integers(2 * self.spots[slot].length)
        while k < end:
            start = shares[k]
            length = 1
            k += 1
            while k < end and shares[k] == start + (length << 24):
                length += 1
                k += 1
            self.ranges[found] = (start >> 24) << 44 | (length - 1) << 24 | (start & CORES)
            found += 1
        return found

    def pairs(self, slot) -> list:
        """The job's shares as (node, cores): for checks and for a person."""
        s: cython.Py_ssize_t = slot
        shares: cython.p_longlong = self.of(s)
        return [divmod(shares[k], 1 << 24) for k in range(self.count(s))]
