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
        self.ranked = True
        self.plain = False
        self.by_room = True
        self.falling = integers(1)

    def suits(self, pool: NodePool, nodes, least):
        return pool.enough(least, nodes) and pool.first_run(nodes, least) >= 0

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

    def pick_by(self, pool: NodePool, nodes, times, time):
        i: cython.Py_ssize_t = 0
        first: cython.Py_ssize_t = 0
        while i < len(times) and i - first < nodes:
            if times[i] > time:
                first = i + 1
            i += 1
        for i in range(first, first + nodes):
            pool.put(i, 0)
        return 0

    def widest(self, pool: NodePool, most):
        """The longest runs."""
        v: cython.Py_ssize_t
        for v in range(pool.words):
            pool.wide[v] = 0
        for v in range(len(most) - 1, 0, -1):
            if v <= pool.top and pool.count[v] > 0:
                pool.widen(v)
                pool.seek_run(pool.size + 1)
                most[v] = pool.longest
            else:
                most[v] = most[v + 1] if v + 1 < len(most) else 0
        return 0

    def pick(self, pool: NodePool, nodes, least, slot):
        i: cython.Py_ssize_t = pool.first_run(nodes, least)
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
