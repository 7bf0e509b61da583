"""First come, first served: by the time at which a job became eligible."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order


@cython.cclass
class Fcfs(Order):
    """Jobs in the order in which they became eligible."""

    field = "eligible"  # of a job, and so the engine need not ask

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].eligible
