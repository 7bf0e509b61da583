"""Topology: nodes on as few switches as can be, so that a job's messages stay close."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place


@cython.cclass
class Topology(Place):
    """The switch that can serve the job alone with the fewest nodes to spare, there the lowest-numbered nodes.

    Where no switch can, the switches with the most nodes that suit it, one after the other. Of equal switches, the
    lowest number. A request without a shape counts free cores instead of nodes.
    """

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        if self.switches == 0:  # none are told: all nodes are on one
            self.connect(np.zeros(len(sizes), np.int64))
        return 0

    def connect(self, switches):
        self.switch = switches
        self.switches = int(max(switches)) + 1
        self.has = integers(self.switches)
        return 0

    def pick(self, pool: NodePool, nodes, least, slot):
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        self.count(pool, least, False)
        while pool.chosen < nodes:
            s = self.next(nodes)
            if s < 0:
                break
            for i in range(pool.size):
                if self.switch[i] == s and pool.value[i] >= least and pool.chosen < nodes:
                    pool.put(i, 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        got: cython.longlong
        want: cython.longlong = cores
        self.count(pool, 1, True)
        while cores > 0:
            s = self.next(want)
            if s < 0:
                break
            for i in range(pool.size):
                if self.switch[i] == s and pool.value[i] > 0 and cores > 0:
                    got = pool.value[i] if pool.value[i] < cores else cores
                    pool.put(i, got)
                    cores -= got
        return 0

    def count(self, pool: NodePool, least, cores):
        """How many nodes that suffice each switch has, or how many free cores."""
        i: cython.Py_ssize_t
        for i in range(self.switches):
            self.has[i] = 0
        for i in range(pool.size):
            if pool.value[i] >= least:
                self.has[self.switch[i]] += pool.value[i] if cores else 1
        return 0

    def next(self, want):
        """The switch to take now: one that has all that is wanted, but as little as can be; else the one that has the
        most. It is not told again; -1 where there is none left."""
        s: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        for s in range(self.switches):
            if self.has[s] == 0:
                continue
            if best < 0:
                best = s
            elif self.has[best] >= want:
                if want <= self.has[s] < self.has[best]:
                    best = s
            elif self.has[s] > self.has[best]:
                best = s
        if best >= 0:
            self.has[best] = 0
        return best
