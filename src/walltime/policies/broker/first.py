"""First: the first of the clusters that may take a job, in the order of the scenario."""

from __future__ import annotations

import cython

from walltime.policy.api import Broker
from walltime.policy.clusters import cluster_at


@cython.cclass
class First(Broker):
    """No choice at all: what the bindings leave, in the order of the scenario."""

    def route(self, slot, clusters):
        return cluster_at(clusters, 0, slot).index
