"""F1 to F4: functions of length, size and arrival that were learned from simulations.

D. Carastan-Santos, R. de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC
2017. The constants are those of the paper; the authors' published code has them with more digits.

r is the estimate in seconds (at least one), n the cores, s the time in seconds at which the job became eligible,
counted from the first job that the order was asked about, plus one (at least one). The lowest value is first.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable, require_job
from walltime.policy.api import Order, float_key

if not cython.compiled:
    from math import log10, sqrt


@cython.cclass
class Learned(Order):
    """What the four have in common: r, n and s of a job."""

    def __init__(self) -> None:
        Order.__init__(self)
        self.origin = -1  # when the first job became eligible

    def key(self, jobs: JobTable, slot):
        require_job(jobs, slot)
        r: cython.double = cython.cast(cython.double, jobs.at[slot].estimate) / 1e6
        s: cython.double
        if self.origin < 0:
            self.origin = jobs.at[slot].eligible
        s = cython.cast(cython.double, jobs.at[slot].eligible - self.origin) / 1e6 + 1.0
        if r < 1.0:
            r = 1.0
        if s < 1.0:  # an earlier job, where not every job is asked about when it joins
            s = 1.0
        return float_key(self.value(r, cython.cast(cython.double, jobs.at[slot].cores), s))

    def value(self, r, n, s):
        """The function itself."""
        raise NotImplementedError(f"{type(self).__name__}.value")


@cython.cclass
class F1(Learned):
    """Lowest log10(r) x n + 870 x log10(s) first."""

    def value(self, r, n, s):
        return log10(r) * n + 870.0 * log10(s)


@cython.cclass
class F2(Learned):
    """Lowest sqrt(r) x n + 25,600 x log10(s) first."""

    def value(self, r, n, s):
        return sqrt(r) * n + 25600.0 * log10(s)


@cython.cclass
class F3(Learned):
    """Lowest r x n + 6,860,000 x log10(s) first."""

    def value(self, r, n, s):
        return r * n + 6860000.0 * log10(s)


@cython.cclass
class F4(Learned):
    """Lowest r x sqrt(n) + 530,000 x log10(s) first."""

    def value(self, r, n, s):
        return r * sqrt(n) + 530000.0 * log10(s)
