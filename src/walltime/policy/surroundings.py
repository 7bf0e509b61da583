"""What a part may know of the cluster that it works for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from walltime.core.workload import Origin
from walltime.scenario import Cluster


@dataclass(frozen=True)
class Surroundings:
    """The cluster as the scenario describes it, and the numbers under which the job table knows its users.

    `codes` are the names of users, groups, accounts, queues and QOS with their numbers in the job table's columns, by
    column. Names may be added while a simulation runs, none is ever taken away. Where the cluster has queues, a job's
    `queue` is its place among them and not in `codes`.
    """

    cluster: Cluster
    codes: Mapping[str, Mapping[str, int]]
    origin: Origin = field(default_factory=Origin)
