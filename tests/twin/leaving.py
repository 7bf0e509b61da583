"""Jobs whose processes leave one by one, in the slow twin: of all programs the only ones that it knows.

The profile `leaving` says how long each process stays, one a node. One that has left gives its cores back at once; the
last keeps its own until the job ends, and so do those that would leave together with it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from twin.courses import Execution
from twin.jobs import Job
from walltime.core.time import microseconds

if TYPE_CHECKING:
    from twin.site import Site


class Leaving(Execution):
    """When the process on each node leaves, by job."""

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.leaves: dict[Job, dict[int, int]] = {}

    def begin(self, job: Job) -> None:
        stays = json.loads(job.profile or "")["args"]["stays"]
        ends = {node: self.site.now + microseconds(stay) for (node, _), stay in zip(job.shares, stays, strict=True)}
        job.own_end = max(ends.values())
        self.leaves[job] = {node: end for node, end in ends.items() if end < job.own_end}

    def drop(self, job: Job) -> None:
        self.leaves.pop(job, None)

    def times(self) -> list[int]:
        return [time for leaves in self.leaves.values() for time in leaves.values()]

    def advance(self) -> None:
        for job, leaves in self.leaves.items():
            gone = {node for node, time in leaves.items() if time == self.site.now}
            if gone:
                self.leaves[job] = {node: time for node, time in leaves.items() if node not in gone}
                self.site.shrink(job, gone)
