"""The user's request, scaled.

D. Zotkin, P. Keleher, "Job-length estimation and performance in backfilling schedulers", HPDC 1999, found that doubling
requests shortens waits; D. Tsafrir, D. Feitelson, "The dynamics of backfilling: solving the mystery of why increased
inaccuracy may help", IISWC 2006, explain it.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.time import LATEST as _LATEST
from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Estimate

LATEST = cython.declare(cython.longlong, _LATEST)


@cython.cclass
class Factor(Estimate):
    """A job will run for `factor` times what its user asked for, to the nearest microsecond."""

    def __init__(self, factor) -> None:
        Estimate.__init__(self)
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < float("inf"):
            raise InputError("the factor must be a number above 0", value=factor)
        self.factor = factor

    def estimate(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        scaled: cython.double = cython.cast(cython.double, jobs.at[slot].requested) * self.factor + 0.5
        return cython.cast(cython.longlong, scaled) if scaled < LATEST else LATEST
