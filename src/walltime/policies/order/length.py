"""By length: the shortest or the longest estimate first.

Shortest job first is the classic of single machines, where it is optimal for the mean wait (W. Smith, "Various
optimizers for single-stage production", Naval Research Logistics Quarterly 3, 1956); on parallel machines it is a
heuristic.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order


@cython.cclass
class Sjf(Order):
    """Shortest job first: by estimate, the lowest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].estimate


@cython.cclass
class Ljf(Order):
    """Longest job first: by estimate, the highest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return -jobs.at[slot].estimate
