"""The user's request as the estimate."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Estimate


@cython.cclass
class RequestedTime(Estimate):
    """A job will run as long as its user asked for."""

    field = "requested"  # of a job, and so the engine need not ask

    def estimate(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].requested
