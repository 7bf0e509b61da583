"""By deadline.

C. Liu and J. Layland, "Scheduling algorithms for multiprogramming in a hard-real-time environment", JACM 20(1), 1973.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Edf(Order):
    """Earliest deadline first; jobs without a deadline come after all others, in order of entry."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return jobs.at[slot].deadline if jobs.at[slot].deadline >= 0 else NEVER
