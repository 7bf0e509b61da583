"""The actual run time as the estimate: what could be gained if all run times were known."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Estimate


@cython.cclass
class Perfect(Estimate):
    """A job will run for as long as it really will, or to its limit; results are labelled as perfect estimates.

    The request stands in for a run time that the workload does not tell.
    """

    def __init__(self) -> None:
        Estimate.__init__(self)
        self.oracle = True

    def estimate(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        if jobs.at[slot].run_time < 0:
            return jobs.at[slot].requested
        return jobs.at[slot].run_time if jobs.at[slot].run_time < jobs.at[slot].limit else jobs.at[slot].limit
