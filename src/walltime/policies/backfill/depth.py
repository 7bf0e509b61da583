"""Backfilling with several reservations: between EASY, which has one, and having one for every job.

S.-H. Chiang, A. Arpaci-Dusseau, M. Vernon, "The impact of more accurate requested runtimes on production job scheduling
performance", JSSPP 2002, compare numbers of reservations. Nothing is promised beyond the pass: each one plans from
scratch.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.policies.backfill.candidates import Candidates, find_order
from walltime.policy.api import Cause, InOrder, Pass, Policy, require_open

if not cython.compiled:
    ARRIVAL = Cause.ARRIVAL


@cython.cclass
class Depth(Policy):
    """Go through the queue in order: what fits starts, the first `depth` that do not get a reservation each.

    A job fits if it delays none of the reservations made before it. Behind the last reservation a job that fits beside
    all of them starts, in queue order, or in that of `candidates`, which names one. A depth of 1 is EASY.
    """

    def __init__(self, depth=1, candidates=None) -> None:
        Policy.__init__(self)
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= 1_000_000:
            raise InputError("depth must be a whole number from 1", value=depth)
        self.depth = depth
        order = find_order(candidates)
        self.candidates = None if order is None else Candidates(order)
        self.rule = InOrder(depth, self.candidates)
        self.reserved = 0  # reservations of this pass, or those that stand since an earlier one
        self.stands = False  # whether they do as long as nothing but arrivals happens
        self.last = -1  # the last job that has one

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t
        require_open(p)
        # As in EASY: after arrivals behind the jobs that have a reservation all of these stand, unless one has come to
        # a limit, and only the new jobs count; unless one was for the very instant of its pass, which has gone by.
        if self.stands and p.causes == ARRIVAL and p.raw_queue.quiet(self.last) and p.stand():
            if self.candidates is None:
                return self.consider_arrivals(p)
            if self.reserved == self.depth:
                return self.candidates.start_fresh(p)
        self.reserved = 0
        self.stands = True
        self.last = -1
        p.release()
        slot = p.raw_queue.head()
        while slot >= 0 and self.reserved < self.depth:
            self.consider(p, slot)
            slot = p.raw_queue.behind(slot)
        if self.reserved < self.depth:
            return 0
        if self.candidates is not None:
            return self.candidates.start_waiting(p)
        slot = p.candidate(self.last)  # the jobs before it have had their turn
        while slot >= 0:
            p.start_here(slot)
            slot = p.candidate(self.last)
        return 0

    def consider_arrivals(self, p: Pass):
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t = p.raw_queue.fresh(0)
        while slot > -2:
            if slot >= 0:
                self.consider(p, slot)
            i += 1
            slot = p.raw_queue.fresh(i)
        return 0

    def consider(self, p: Pass, slot):
        """Start the job, or reserve for it, or let it wait."""
        if p.fits(slot):
            return p.start_here(slot)
        if self.reserved < self.depth and p.admits(slot):
            if p.reserve(slot) <= p.now:
                self.stands = False
            self.reserved += 1
            self.last = slot
        return 0
