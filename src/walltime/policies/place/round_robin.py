"""Round robin: each task on the next node, going on where the last job ended."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place


@cython.cclass
class RoundRobin(Place):
    """The tasks on the nodes in the order of their numbers, one each, behind the node that got the last one; full nodes
    are passed over, and how loaded the others are is not looked at. This is what PVM does. Nodes that are given as a
    whole are filled one after the other instead: a job takes no more of them than it needs.
    """

    def __init__(self) -> None:
        Place.__init__(self)
        self.treed = True
        self.following = 0

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        self.got = integers(len(sizes))
        self.whole = whole
        return 0

    def pick(self, pool: NodePool, nodes, least, slot):
        i: cython.Py_ssize_t = self.following
        while pool.chosen < nodes:
            i = pool.first_with(least, i)
            if i < 0:
                i = pool.first_with(least, 0)
            pool.put(i, 0)
            i += 1
        self.following = i if i < pool.size else 0
        return 0

    def spread(self, pool: NodePool, cores, slot):
        i: cython.Py_ssize_t = self.following
        k: cython.Py_ssize_t
        while cores > 0:
            i = pool.first_with(1, i)
            if i < 0:
                i = pool.first_with(1, 0)
            if self.got[i] < pool.value[i]:
                if self.got[i] == 0:
                    pool.put(i, 0)
                self.got[i] += min(pool.value[i], cores) if self.whole else 1
                cores -= self.got[i] if self.whole else 1
                self.following = i + 1 if i + 1 < pool.size else 0
            i += 1
        for k in range(pool.chosen):
            pool.share[k] = self.got[pool.node[k]]
            self.got[pool.node[k]] = 0
        return 0

    def position(self):
        return self.following

    def go_back(self, position):
        self.following = position
        return 0
