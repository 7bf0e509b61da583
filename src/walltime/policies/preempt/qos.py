"""Jobs of one quality of service displace those of another."""

from __future__ import annotations

from walltime.core.errors import InputError
from walltime.kernel.jobs import JobTable
from walltime.policy.preempt import Preempt
from walltime.policy.surroundings import Surroundings


class ByQos(Preempt):
    """By `ranks` of the qualities of service; whoever has none, or one that is not named, has the rank 0."""

    def attach(self, around: Surroundings) -> None:
        if not self.ranks:
            raise InputError("preempt by qos needs ranks, such as {urgent: 1, scavenger: -1}")
        self.codes = around.codes["qos"]
        self.of: list[int] = []

    def rank(self, jobs: JobTable, slot: int) -> int:
        code = int(jobs.qos[slot])
        if code >= len(self.of):
            self.of = [self.ranks.get(name, 0) for name in self.codes]
        return self.of[code] if code >= 0 else 0
