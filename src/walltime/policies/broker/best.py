"""The best of the clusters that may take a job, by one comparison."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView, cluster_at


@cython.cclass
class Best(Broker):
    """The cluster that no other is better than; of several such the first in the scenario."""

    def route(self, slot, clusters):
        i: cython.Py_ssize_t
        best: ClusterView = cluster_at(clusters, 0, slot)
        other: ClusterView
        for i in range(1, len(clusters)):
            other = cluster_at(clusters, i, slot)
            if self.is_better(other, best):
                best = other
        return best.index

    def is_better(self, a: ClusterView, b: ClusterView):
        """Whether a job would rather go to `a`."""
        raise NotImplementedError(f"{type(self).__name__}.is_better")
