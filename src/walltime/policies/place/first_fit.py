"""First fit: the nodes with the lowest numbers."""

from __future__ import annotations

import cython

from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place


@cython.cclass
class FirstFit(Place):
    """Go through the nodes by number and take what is free."""

    def __init__(self) -> None:
        Place.__init__(self)
        self.treed = True
        self.lowest = True

    def pick(self, pool: NodePool, nodes, least, slot):
        i: cython.Py_ssize_t = -1
        while pool.chosen < nodes:
            i = pool.first_with(least, i + 1)
            if i < 0:
                break
            pool.put(i, 0)
        return 0

    def spread(self, pool: NodePool, cores, slot):
        i: cython.Py_ssize_t = -1
        got: cython.longlong
        while cores > 0:
            i = pool.first_with(1, i + 1)
            if i < 0:
                break
            got = pool.value[i] if pool.value[i] < cores else cores
            pool.put(i, got)
            cores -= got
        return 0
