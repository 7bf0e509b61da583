"""Best fit: the fullest nodes on which the job still fits, so that empty ones stay empty."""

from __future__ import annotations

import cython

from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place


@cython.cclass
class BestFit(Place):
    """Nodes with the fewest free cores that suffice; of equal ones, the lowest number.

    A request without a shape goes to one node where it can; else it fills the emptiest nodes, one by one, until its
    rest fits on one, which is again the fullest that can hold it.
    """

    def __init__(self) -> None:
        Place.__init__(self)
        self.ranked = True
        self.leftover = 1

    def pick(self, pool: NodePool, nodes, least, slot):
        level: cython.longlong = pool.level_from(least)
        i: cython.Py_ssize_t = -1
        while pool.chosen < nodes and level >= 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            else:
                pool.put(i, 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        level: cython.longlong
        smallest: cython.longlong = pool.level_from(cores)
        i: cython.Py_ssize_t
        if smallest >= 0:
            pool.put(pool.first_of(smallest, 0), cores)
            return 0
        level = pool.level_to(pool.top)
        i = pool.first_of(level, 0)
        while level > 0:
            if cores <= level:  # every node that is chosen already has left a lower level, or this one, before i
                smallest = pool.level_from(cores)
                pool.put(i if smallest == level else pool.first_of(smallest, 0), cores)
                break
            pool.put(i, level)
            cores -= level
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
                if level > 0:
                    i = pool.first_of(level, 0)
        return 0
