"""By size: the fewest or the most cores first.

S. Majumdar, D. Eager, R. Bunt, "Scheduling in multiprogrammed parallel systems", SIGMETRICS 1988 (smallest); K. Li and
K.-H. Cheng, "Job scheduling in a partitionable mesh using a two-dimensional buddy system partitioning scheme", IEEE
TPDS 2(4), 1991 (largest, which packs better).
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order


@cython.cclass
class Smallest(Order):
    """Smallest job first: by cores, the fewest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].cores


@cython.cclass
class Largest(Order):
    """Largest job first: by cores, the most first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return -jobs.at[slot].cores
