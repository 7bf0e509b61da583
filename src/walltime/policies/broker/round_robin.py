"""Round robin: one cluster after the other."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView


@cython.cclass
class RoundRobin(Broker):
    """The next cluster, in the order of the scenario, after the one that got the last job; those that may not take
    this job are passed over."""

    def __init__(self) -> None:
        self.last = -1

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        chosen: cython.int = cython.cast(ClusterView, clusters[0]).index
        for i in range(len(clusters)):
            if cython.cast(ClusterView, clusters[i]).index > self.last:
                chosen = cython.cast(ClusterView, clusters[i]).index
                break
        self.last = chosen
        return chosen
