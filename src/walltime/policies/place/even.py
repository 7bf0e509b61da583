"""Even: one task on each node in turn, from the one with the most room."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.policies.place.worst_fit import WorstFit


@cython.cclass
class Even(WorstFit):
    """The tasks evenly over the nodes, in order of their free places: the first to the node with the most of them, the
    lowest number of equals; where there are more tasks than nodes with a free place, round again. Nodes that are given
    as a whole are filled one after the other instead: a job takes no more of them than it needs.

    Santoso, van Albada, Basaruddin, Sloot, "A simulation environment for job scheduling on distributed systems", 2003.
    """

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        self.whole = whole
        return 0

    def spread(self, pool: NodePool, cores, slot):
        level: cython.longlong = pool.level_to(pool.top)
        rounds: cython.longlong = 0
        share: cython.longlong
        i: cython.Py_ssize_t = -1
        while not (self.whole or pool.enough(rounds + 1, cores)):  # each node that has a further place gets one more
            rounds += 1
            cores -= pool.at_least(rounds)
        while level > 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
                continue
            share = rounds if rounds < level else level
            if self.whole:
                share = level if level < cores else cores
                cores -= share
            elif cores > 0:  # what is left of the last round goes to the first nodes, which have the most places
                share += 1
                cores -= 1
            if share == 0:
                break
            pool.put(i, share)
        return 0
