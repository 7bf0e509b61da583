"""By expansion factor, which grows while a job waits.

S. Srinivasan, R. Kettimuthu, V. Subramani, P. Sadayappan, "Characterization of backfilling strategies for parallel job
scheduling", ICPP Workshops 2002 (there XFactor).
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_jobs
from walltime.policy.api import Order, float_key


@cython.cclass
class Expansion(Order):
    """Largest expansion factor first: (wait + estimate) / estimate, at each pass.

    An estimate of zero counts as one microsecond.
    """

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = True

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t
        wait: cython.longlong
        estimate: cython.longlong
        for i in range(len(slots)):
            s = slots[i]
            wait = now - jobs.at[s].eligible
            estimate = jobs.at[s].estimate if jobs.at[s].estimate > 0 else 1
            keys[i] = float_key(-(cython.cast(cython.double, wait + estimate) / cython.cast(cython.double, estimate)))
        return 0
