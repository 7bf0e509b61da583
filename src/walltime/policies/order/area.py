"""By area: estimate x cores, the smallest or the largest first.

J. Lelong, V. Reis, D. Trystram, "Tuning EASY-backfilling queues", JSSPP 2017 (there SAF and LAF). The product is a
floating-point number: areas that differ by less than one part in 10^15 are equal.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order, float_key


@cython.cclass
class SmallestArea(Order):
    """Smallest area first: by estimate x cores, the lowest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return float_key(
            cython.cast(cython.double, jobs.at[slot].estimate) * cython.cast(cython.double, jobs.at[slot].cores)
        )


@cython.cclass
class LargestArea(Order):
    """Largest area first: by estimate x cores, the highest first."""

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        return float_key(
            -cython.cast(cython.double, jobs.at[slot].estimate) * cython.cast(cython.double, jobs.at[slot].cores)
        )
