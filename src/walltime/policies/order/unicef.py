"""UNICEF: small and short jobs first, the longer they wait the more.

W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE Cluster
2009.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_jobs
from walltime.policy.api import Order, float_key

if not cython.compiled:
    from math import log2


@cython.cclass
class Unicef(Order):
    """Largest wait / (log2(cores) x requested time) first, at each pass.

    One core counts as two, whose logarithm is not zero; a request of zero counts as one microsecond.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = True

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        size: cython.double
        requested: cython.longlong
        for i in range(len(slots)):
            s = slots[i]
            requested = jobs.at[s].requested if jobs.at[s].requested > 0 else 1
            size = log2(cython.cast(cython.double, jobs.at[s].cores if jobs.at[s].cores > 2 else 2))
            keys[i] = float_key(
                -(
                    cython.cast(cython.double, now - jobs.at[s].eligible)
                    / (size * cython.cast(cython.double, requested))
                )
            )
        return 0
