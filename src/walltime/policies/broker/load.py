"""By what a cluster has to do: least loaded, most free, shortest queue; of equals the first in the scenario."""

from __future__ import annotations

import cython

from walltime.policies.broker.best import Best
from walltime.policy.clusters import ClusterView, less_loaded


@cython.cclass
class LeastLoaded(Best):
    """The lowest load: cores in use and asked for by jobs that wait there, over the cluster's cores."""

    def is_better(self, a: ClusterView, b: ClusterView):
        return less_loaded(a, b)


@cython.cclass
class MostFree(Best):
    """The most free cores, less those that jobs ask for that wait there already."""

    def is_better(self, a: ClusterView, b: ClusterView):
        return a.ledger.free - a.waiting_cores > b.ledger.free - b.waiting_cores


@cython.cclass
class ShortestQueue(Best):
    """The fewest waiting jobs; of equals the lowest load."""

    def is_better(self, a: ClusterView, b: ClusterView):
        return a.waiting < b.waiting or (a.waiting == b.waiting and less_loaded(a, b))
