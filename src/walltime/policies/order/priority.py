"""By the priority that the workload gives."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order


@cython.cclass
class Priority(Order):
    """By the workload's column `priority`, the highest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return -jobs.at[slot].priority
