"""UNICEF: small and short jobs first, the longer they wait the more.

W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE Cluster
2009.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.policies.order.urgency import Urgency

if not cython.compiled:
    from math import log2


@cython.cclass
class Unicef(Urgency):
    """Largest wait / (log2(cores) x requested time) first, at each pass.

    One core counts as two, whose logarithm is not zero; a request of zero counts as one microsecond.
    """

    def value(self, jobs: JobTable, slot, wait):
        requested: cython.longlong = jobs.at[slot].requested if jobs.at[slot].requested > 0 else 1
        size: cython.double = log2(cython.cast(cython.double, jobs.at[slot].cores if jobs.at[slot].cores > 2 else 2))
        return cython.cast(cython.double, wait) / (size * cython.cast(cython.double, requested))
