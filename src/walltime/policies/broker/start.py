"""Earliest start: where the job would begin first, by the clusters' own plans."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView, cluster_at, less_loaded


@cython.cclass
class EarliestStart(Broker):
    """The earliest start that a cluster predicts, with the jobs that wait there before it planned first; of equals the
    lowest load."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        first: cython.longlong
        time: cython.longlong
        other: ClusterView
        if len(clusters) == 1:
            return best.index
        first = best.predict(slot)
        for i in range(1, len(clusters)):
            other = cluster_at(clusters, i, slot)
            time = other.predict(slot)
            if time < first or (time == first and less_loaded(other, best)):
                best = other
                first = time
        return best.index
