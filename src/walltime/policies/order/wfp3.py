"""WFP3: waiting weighs with its cube, and wide jobs are favoured.

W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE Cluster
2009.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_jobs
from walltime.policy.api import Order, float_key


@cython.cclass
class Wfp3(Order):
    """Largest (wait / requested time)^3 x cores first, at each pass.

    A request of zero counts as one microsecond.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = True

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        x: cython.double
        requested: cython.longlong
        for i in range(len(slots)):
            s = slots[i]
            requested = jobs.at[s].requested if jobs.at[s].requested > 0 else 1
            x = cython.cast(cython.double, now - jobs.at[s].eligible) / cython.cast(cython.double, requested)
            # Products only, and in this order: every machine rounds them alike, which pow() does not promise.
            keys[i] = float_key(-(x * x * x * cython.cast(cython.double, jobs.at[s].cores)))
        return 0
