"""By expansion factor, which grows while a job waits.

S. Srinivasan, R. Kettimuthu, V. Subramani, P. Sadayappan, "Characterization of backfilling strategies for parallel job
scheduling", ICPP Workshops 2002 (there XFactor).
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.policies.order.urgency import Urgency


@cython.cclass
class Expansion(Urgency):
    """Largest expansion factor first: (wait + estimate) / estimate, at each pass.

    An estimate of zero counts as one microsecond.
    """

    def value(self, jobs: JobTable, slot, wait):
        estimate: cython.longlong = jobs.at[slot].estimate if jobs.at[slot].estimate > 0 else 1
        return cython.cast(cython.double, wait + estimate) / cython.cast(cython.double, estimate)
