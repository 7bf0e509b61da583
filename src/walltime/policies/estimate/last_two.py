"""What the user's last jobs took, as an estimate of the next one.

D. Tsafrir, Y. Etsion, D. Feitelson, "Backfilling using system-generated predictions rather than user runtime
estimates", IEEE TPDS 18(6), 2007. Their correction of predictions that are outrun is the engine's, for every estimate.
"""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Estimate


@cython.cclass
class LastTwo(Estimate):
    """The mean run time of the user's last two jobs that ended, and never more than the request.

    The request itself where fewer than two of the user's jobs have ended, or the workload names no users. A job that
    was killed or cancelled counts with the time that it ran.
    """

    def __init__(self) -> None:
        Estimate.__init__(self)
        self.learns = True
        self.last = integers(64, -1)
        self.previous = integers(64, -1)

    def estimate(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        user: cython.longlong = jobs.at[slot].user
        mean: cython.longlong
        if user < 0 or user >= len(self.last) or self.previous[user] < 0:
            return jobs.at[slot].requested
        mean = (self.last[user] + self.previous[user]) // 2
        return mean if mean < jobs.at[slot].requested else jobs.at[slot].requested

    def ended(self, jobs: JobTable, slot, run):
        require_job(jobs, slot)
        user: cython.longlong = jobs.at[slot].user
        if user < 0 or len(self.last) == 0:  # the latter where it was never made
            return 0
        while user >= len(self.last):
            self.last = self.grown(self.last)
            self.previous = self.grown(self.previous)
        self.previous[user] = self.last[user]
        self.last[user] = run
        return 0

    def grown(self, values):
        """Twice as many users, the new ones without history."""
        known = len(values)
        larger = doubled(values)
        larger[known:] = -1
        return larger
