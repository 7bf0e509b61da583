"""By what a cluster has to do: least loaded, most free, shortest queue; of equals the first in the scenario."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView, cluster_at, less_loaded


@cython.cclass
class LeastLoaded(Broker):
    """The lowest load: cores in use and asked for by jobs that wait there, over the cluster's cores."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        for i in range(1, len(clusters)):
            if less_loaded(cluster_at(clusters, i, slot), best):
                best = cluster_at(clusters, i, slot)
        return best.index


@cython.cclass
class MostFree(Broker):
    """The most free cores, less those that jobs ask for that wait there already."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        other: ClusterView
        for i in range(1, len(clusters)):
            other = cluster_at(clusters, i, slot)
            if other.ledger.free - other.waiting_cores > best.ledger.free - best.waiting_cores:
                best = other
        return best.index


@cython.cclass
class ShortestQueue(Broker):
    """The fewest waiting jobs; of equals the lowest load."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        other: ClusterView
        for i in range(1, len(clusters)):
            other = cluster_at(clusters, i, slot)
            if other.waiting < best.waiting or (other.waiting == best.waiting and less_loaded(other, best)):
                best = other
        return best.index
