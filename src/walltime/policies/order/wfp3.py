"""WFP3: waiting weighs with its cube, and wide jobs are favoured.

W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE Cluster
2009.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.policies.order.urgency import Urgency


@cython.cclass
class Wfp3(Urgency):
    """Largest (wait / requested time)^3 x cores first, at each pass.

    A request of zero counts as one microsecond.
    """

    def value(self, jobs: JobTable, slot, wait):
        requested: cython.longlong = jobs.at[slot].requested if jobs.at[slot].requested > 0 else 1
        x: cython.double = cython.cast(cython.double, wait) / cython.cast(cython.double, requested)
        # Products only, and in this order: every machine rounds them alike, which pow() does not promise.
        return x * x * x * cython.cast(cython.double, jobs.at[slot].cores)
