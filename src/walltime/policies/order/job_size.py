"""Slurm's job size factor."""

from __future__ import annotations

import cython

from walltime.core.time import SECOND
from walltime.kernel.jobs import JobTable, require_job

MINUTE = cython.declare(cython.longlong, 60 * SECOND)


@cython.final
@cython.cclass
class JobSize:
    """From 0 to 1; a plain number of cores (`nodes` 0) has no nodes, and cores alone count."""

    def __init__(self, cores: float, nodes: float, favor_small: bool, relative: bool) -> None:
        self.cores = cores
        self.nodes = nodes
        self.favor_small = favor_small
        self.relative = relative

    def of(self, jobs: JobTable, slot):
        """The factor of the job in a slot."""
        require_job(jobs, slot)
        cores: cython.double = jobs.at[slot].cores
        nodes: cython.double = max(jobs.at[slot].nodes, 1)
        minutes: cython.double
        size: cython.double
        if self.relative:
            if self.nodes > 0 and nodes * self.cores / self.nodes > cores:
                cores = nodes * self.cores / self.nodes
            minutes = cython.cast(cython.double, jobs.at[slot].requested) / cython.cast(cython.double, MINUTE)
            size = cores / max(minutes, 1.0) / self.cores
            size = 1.0 - size if self.favor_small else size
        elif self.favor_small:
            size = (self.cores - cores) / self.cores
            if self.nodes > 0:
                size = (max(self.nodes - nodes, 0.0) / self.nodes + size) / 2.0
        else:
            size = cores / self.cores
            if self.nodes > 0:
                size = (nodes / self.nodes + size) / 2.0
        return min(max(size, 0.0), 1.0)
