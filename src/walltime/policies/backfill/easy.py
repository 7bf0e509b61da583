"""EASY backfilling: a job may overtake if it does not delay the head of the queue.

D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; A. Mu'alem and D. Feitelson, "Utilization, predictability,
workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

import cython

from walltime.policy.api import Cause, Pass, Policy

if not cython.compiled:
    ARRIVAL = Cause.ARRIVAL


@cython.cclass
class Easy(Policy):
    """Reserve the head's earliest start; start those behind it, in queue order, that leave the reservation alone."""

    def __init__(self) -> None:
        self.blocked = -1  # the head that holds a reservation since an earlier pass, or -1

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t
        # Nothing but arrivals at the end of the queue since the pass that blocked the head: its reservation stands,
        # and whoever did not fit beside it then does not fit now. Only the new ones need a look.
        if self.blocked >= 0 and p.causes == ARRIVAL and not p.queue.disturbed:
            return self.consider_arrivals(p)
        self.blocked = -1
        p.release()
        slot = p.queue.head()
        while slot >= 0 and p.ledger.fits(slot):
            p.start(slot)
            slot = p.queue.head()
        if slot < 0:
            return 0
        p.reserve(slot)
        self.blocked = slot
        slot = p.candidate(-1)
        while slot >= 0:
            p.start(slot)
            slot = p.candidate(-1)
        return 0

    def consider_arrivals(self, p: Pass):
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t = p.queue.fresh(0)
        while slot > -2:
            if slot >= 0 and p.ledger.fits(slot):
                p.start(slot)
            i += 1
            slot = p.queue.fresh(i)
        return 0
