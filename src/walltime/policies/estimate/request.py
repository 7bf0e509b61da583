"""The user's request as the estimate."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.policy.api import Estimate


@cython.cclass
class Request(Estimate):
    """A job will run as long as its user asked for."""

    def estimate(self, jobs: JobTable, slot):
        return jobs.at[slot].requested
