"""Fastest: the cluster of the highest speed, however busy."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView, cluster_at, less_loaded


@cython.cclass
class Fastest(Broker):
    """The highest speed, the mean over a cluster's cores; of equals the lowest load. With `hold` it is the fastest that
    could start the job at once."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        other: ClusterView
        for i in range(1, len(clusters)):
            other = cluster_at(clusters, i, slot)
            if other.speed > best.speed or (other.speed == best.speed and less_loaded(other, best)):
                best = other
        return best.index
