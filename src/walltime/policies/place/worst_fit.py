"""Worst fit: the emptiest nodes, so that the load is spread."""

from __future__ import annotations

import cython

from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place


@cython.cclass
class WorstFit(Place):
    """Nodes with the most free cores; of equal ones, the lowest number."""

    def __init__(self) -> None:
        Place.__init__(self)
        self.ranked = True
        self.leftover = -1

    def pick(self, pool: NodePool, nodes, least, slot):
        level: cython.longlong = pool.level_to(pool.top)
        i: cython.Py_ssize_t = -1
        while pool.chosen < nodes and level >= least:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
            else:
                pool.put(i, 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        level: cython.longlong = pool.level_to(pool.top)
        got: cython.longlong
        i: cython.Py_ssize_t = -1
        while cores > 0 and level > 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
                continue
            got = level if level < cores else cores
            pool.put(i, got)
            cores -= got
        return 0
