"""What orders by a figure that grows while a job waits have in common."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_jobs
from walltime.policy.api import Order, float_key


@cython.cclass
class Urgency(Order):
    """The largest `value` first, at each pass."""

    def __init__(self) -> None:
        Order.__init__(self)
        self.dynamic = True

    def keys(self, jobs: JobTable, slots, now, keys):
        require_jobs(jobs, slots, keys)
        i: cython.Py_ssize_t
        for i in range(len(slots)):
            keys[i] = float_key(-self.value(jobs, slots[i], now - jobs.at[slots[i]].eligible))
        return 0

    def value(self, jobs: JobTable, slot, wait):
        """The figure itself."""
        raise NotImplementedError(f"{type(self).__name__}.value")
