"""First come, first served: by the time at which a job became eligible, or was submitted."""

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


@cython.cclass
class Submission(Order):
    """Jobs in the order of their submission, also those that had to wait for others or for their time at first.

    Slurm's priority/basic: a job keeps the priority that it got at its submission.
    """

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].submit
