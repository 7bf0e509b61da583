"""What a part may know of the cluster that it works for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from walltime.core.workload import Origin
from walltime.scenario import Cluster, Nodes


class Accruals(Protocol):
    """From when on the age of waiting jobs counts."""

    def since(self, slot: int) -> int | None:
        """From when on that of the job in the slot does, NEVER where it does not yet; None where no limit is on it."""


@dataclass(frozen=True)
class Surroundings:
    """The cluster as the scenario describes it, and the numbers under which the job table knows its users.

    `codes` are the names of users, groups, accounts, queues and QOS with their numbers in the job table's columns, by
    column. Names may be added while a simulation runs, none is ever taken away. Where the cluster has queues, a job's
    `queue` is its place among them and not in `codes`. `ledgers` has, once they are made, the ledgers by which jobs'
    shapes are known, by the numbers of a cluster and of a reservation's domain there, -1 for all others.
    `accruals` knows which waiting jobs grow older, where limits say how many may.
    """

    cluster: Cluster
    codes: Mapping[str, Mapping[str, int]]
    origin: Origin = field(default_factory=Origin)
    ledgers: dict[tuple[int, int], Any] = field(default_factory=dict)
    accruals: Accruals | None = None


def join_surroundings(
    clusters: Sequence[Cluster], codes: Mapping[str, Mapping[str, int]], origin: Origin
) -> Surroundings:
    """All clusters as one, for a part that works for all of them: their nodes, accounts and shares together, of equal
    names those of the first. Cores without nodes are one node; queues are each cluster's own affair."""
    groups: list[dict[str, Any]] = []
    accounts: dict[str, Any] = {}
    shares: dict[str, float] = {}
    for cluster in reversed(clusters):
        accounts |= cluster.accounts
        shares |= cluster.shares
    for cluster in clusters:
        plain = ({"count": 1, "cores": cluster.cores},) if cluster.cores is not None else ()
        for group in cluster.nodes or plain:
            given = group if isinstance(group, dict) else group.model_dump(exclude_defaults=True)
            groups.append(given | {"name": f"{len(groups)}."})
    together = Cluster(name="all", nodes=tuple(Nodes(**group) for group in groups), accounts=accounts, shares=shares)
    return Surroundings(together, codes, origin)
