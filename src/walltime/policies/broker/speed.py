"""Fastest: the cluster of the highest speed, however busy."""

from __future__ import annotations

import cython

from walltime.policies.broker.best import Best
from walltime.policy.clusters import ClusterView, less_loaded


@cython.cclass
class Fastest(Best):
    """The highest speed, the mean over a cluster's cores; of equals the lowest load. With `hold` it is the fastest that
    could start the job at once."""

    def is_better(self, a: ClusterView, b: ClusterView):
        return a.speed > b.speed or (a.speed == b.speed and less_loaded(a, b))
