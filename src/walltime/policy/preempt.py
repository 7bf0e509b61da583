"""The part that says which jobs a job may preempt: ranks, what becomes of the preempted, and which go first."""

from __future__ import annotations

from collections.abc import Mapping

import cython

from walltime.core.errors import InputError
from walltime.core.time import parse_duration
from walltime.kernel.jobs import JobTable, require_job  # noqa: F401 - as in preempt.pxd
from walltime.policy.surroundings import Surroundings

MODES = ("requeue", "kill", "suspend", "checkpoint")
VICTIMS = ("youngest", "smallest", "lowest")
LARGEST = 1 << 31


@cython.cclass
class Preempt:
    """A waiting job may displace running ones of a lower rank, no more of them than it needs to start.

    `mode` is what becomes of them; they have `grace` to leave by themselves. Of the lowest rank first, and there the
    `youngest`, the `smallest`, or those of the `lowest` priority first. A part of your own overrides `rank`.
    """

    def __init__(
        self,
        mode: str = "requeue",
        grace: str | float = 0,
        victims: str = "youngest",
        ranks: Mapping[str, int] | None = None,
    ) -> None:
        if mode not in MODES:
            raise InputError("no such mode", value=mode, choices=MODES)
        if victims not in VICTIMS:
            raise InputError("no such choice of victims", value=victims, choices=VICTIMS)
        self.mode = mode
        self.victims = victims
        self.grace = 0 if grace in (0, "0", "0s") else parse_duration(grace)
        self.ranks = dict(ranks or {})
        for name, rank in self.ranks.items():
            if isinstance(rank, bool) or not isinstance(rank, int) or not -LARGEST < rank < LARGEST:
                raise InputError(f"the rank of {name} is not a whole number, or beyond 2^31", value=rank)

    def attach(self, around: Surroundings) -> None:
        """Called once, before the run, with the cluster that it is for."""

    def rank(self, jobs, slot):
        """The job's rank; it may displace jobs of any lower one."""
        raise NotImplementedError(f"{type(self).__name__}.rank")

    def cost(self, jobs, slot):
        """Which job of one rank goes first: lower first, and of equal ones the youngest."""
        require_job(jobs, slot)
        if self.victims == "smallest":
            return jobs.at[slot].cores
        if self.victims == "lowest":
            return jobs.at[slot].priority
        return 0
