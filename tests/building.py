"""Simulations that are put together by hand, without a scenario."""

from __future__ import annotations

from typing import Any

from walltime.engine.cluster import Cluster
from walltime.policies.estimate.request import RequestedTime
from walltime.policies.order.fcfs import Fcfs


def add_cluster(simulation: Any, ledger: Any, policy: Any, order: Any = None, estimate: Any = None) -> None:
    """One more cluster without rules, first come, first served by what jobs request unless told otherwise; the ledger
    was made for the simulation's jobs and this cluster's number."""
    number = len(simulation.clusters)
    cluster: Any = simulation.add(Cluster(f"c{number}", number, ledger, [order or Fcfs()], estimate or RequestedTime()))
    cluster.add_domain(None, policy)
