"""Contiguous: nodes with consecutive numbers, as for networks where neighbours are close."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Contiguous(Place):
    """The first run of consecutive nodes that all suffice; a shaped request waits until there is one.

    A request without a shape takes the first stretch of nodes with free cores that holds all of it; where there is
    none it is not refused: it takes the lowest numbers.
    """

    def __init__(self) -> None:
        Place.__init__(self)
        self.plain = False
        self.by_room = True
        self.falling = integers(1)

    def suits(self, pool: NodePool, nodes, least):
        return pool.enough(least, nodes) and self.run(pool, nodes, least) >= 0

    def when(self, times, nodes):
        """Of all runs of so many nodes, that whose last node suffices first: `falling` has the nodes of the run that
        ends here which suffice later than all behind them."""
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t = 0
        last: cython.Py_ssize_t = 0
        best: cython.longlong = NEVER
        if len(self.falling) < len(times):
            self.falling = integers(len(times))
        for i in range(len(times)):
            while last > first and times[self.falling[last - 1]] <= times[i]:
                last -= 1
            self.falling[last] = i
            last += 1
            if self.falling[first] <= i - nodes:
                first += 1
            if i >= nodes - 1 and times[self.falling[first]] < best:
                best = times[self.falling[first]]
        return best

    def pick(self, pool: NodePool, nodes, least, slot):
        i: cython.Py_ssize_t = self.run(pool, nodes, least)
        k: cython.Py_ssize_t
        if i >= 0:
            for k in range(nodes):
                pool.put(i + k, 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        i: cython.Py_ssize_t = self.stretch(pool, cores)
        got: cython.longlong
        while cores > 0 and i < pool.size:
            if pool.value[i] > 0:
                got = pool.value[i] if pool.value[i] < cores else cores
                pool.put(i, got)
                cores -= got
            i += 1
        return 0

    def run(self, pool: NodePool, nodes, least):
        """Where the first run begins, or -1."""
        i: cython.Py_ssize_t
        length: cython.longlong = 0
        for i in range(pool.size):
            if pool.value[i] < least:
                length = 0
                continue
            length += 1
            if length == nodes:
                return i + 1 - nodes
        return -1

    def stretch(self, pool: NodePool, cores):
        """Where the first stretch of nodes with free cores begins that holds them all, or 0."""
        i: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        sum: cython.longlong = 0
        for i in range(pool.size):
            if pool.value[i] == 0:
                sum = 0
                begin = i + 1
                continue
            sum += pool.value[i]
            if sum >= cores:
                return begin
        return 0
