"""Round robin: one cluster after the other."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import cluster_at


@cython.cclass
class RoundRobin(Broker):
    """The next cluster, in the order of the scenario, after the one that got the last job; those that may not take
    this job are passed over."""

    def __init__(self) -> None:
        self.last = -1

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        chosen: cython.int = cluster_at(clusters, 0, slot).index
        for i in range(len(clusters)):
            if cluster_at(clusters, i, slot).index > self.last:
                chosen = cluster_at(clusters, i, slot).index
                break
        self.last = chosen
        return chosen
