"""Weighted: several criteria at once, each with a weight."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Broker
from walltime.policy.clusters import ClusterView
from walltime.scenario.brokering import CRITERIA


class Weighted(Broker):
    """The highest sum of weight x criterion, each criterion in proportion to its largest value among the clusters.

    `weights` names criteria: `performance` (the attribute of that name, else the speed), `available` (cores free and
    not asked for), `load`, `queue` (waiting jobs), `start` (predicted wait), and any attribute of the clusters, such as
    `reliability` and `connectivity`. One of which less is better gets a weight below zero. Of equals the first.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        super().__init__()
        if not isinstance(weights, Mapping) or not weights:
            raise InputError("weights must be a mapping of criteria and numbers, such as {performance: 2, load: -1}")
        for name, weight in weights.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
                raise InputError(f"the weight of {name} must be a number", value=weight)
        self.weights = {str(name): float(weight) for name, weight in weights.items()}
        self.jobs: JobTable | None = None

    def prepare(self, jobs: JobTable, clusters: list[ClusterView], seed: int) -> int:
        """Raises InputError for a criterion that a cluster does not have."""
        for name in self.weights:
            for cluster in clusters:
                if name not in CRITERIA and name not in cluster.attributes:
                    known = [*CRITERIA, *cluster.attributes]
                    raise InputError(f"cluster {cluster.name} has no such attribute", value=name, choices=known)
        return 0

    def route(self, slot: int, clusters: list[ClusterView]) -> int:
        scores = [0.0] * len(clusters)
        for name, weight in self.weights.items():
            values = [measure(name, cluster, slot) for cluster in clusters]
            largest = max(abs(value) for value in values)
            if largest > 0:
                scores = [score + weight * value / largest for score, value in zip(scores, values, strict=True)]
        return clusters[scores.index(max(scores))].index


def measure(name: str, cluster: ClusterView, slot: int) -> float:
    """What a cluster has of a criterion."""
    own: dict[str, Any] = cluster.attributes
    if name in own:
        return float(own[name])
    if name == "performance":
        return cluster.speed
    if name == "available":
        return float(max(cluster.free - cluster.waiting_cores, 0))
    if name == "load":
        return min(cluster.load, 1e9)  # infinite where no core works
    if name == "queue":
        return float(cluster.waiting)
    start = cluster.predict(slot)
    return (min(start, NEVER) - cluster.ledger.now) / SECOND
