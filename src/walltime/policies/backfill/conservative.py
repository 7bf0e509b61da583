"""Conservative backfilling: every job has a promise, made when it is submitted and kept.

A. Mu'alem and D. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
SP2 with backfilling", IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.policies.backfill.candidates import Candidates, find_order
from walltime.policy.api import Cause, Pass, Policy, require_open

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    RELEASE, _, ORDER, _, CAPACITY, TIMER, ESTIMATE = Cause


@cython.cclass
class Conservative(Policy):
    """Each job is given the earliest start that delays nobody's promise; when jobs end early, promises move forward.

    At an instant where jobs ended or left, the waiting ones are looked at one by one in queue order: each moves to the
    earliest time at which it fits, never later than promised (`candidates` names another order for that: who is first
    to profit from what became free). Then this instant's arrivals are placed, then what is
    due starts. Where the plan itself has broken (the machine shrank, a job outlived its estimate), everybody is placed
    anew in queue order: then a promise may be lost.
    """

    def __init__(self, candidates=None) -> None:
        Policy.__init__(self)
        self.plans = True
        order = find_order(candidates)
        self.candidates = None if order is None else Candidates(order)
        self.woken = -1  # for when the next pass has been asked for

    def schedule(self, p: Pass):
        i: cython.Py_ssize_t
        waiting: cython.longlong[::1] = require_open(p).raw_queue.ordered()
        if p.causes & (CAPACITY | ESTIMATE):
            self.replan(p, waiting)
        elif p.causes & (RELEASE | ORDER):
            self.move_forward(p, waiting)
        if p.causes == TIMER and p.now != self.woken and (p.lines is None or p.now != p.lines.opening):
            return self.start_due(p, waiting)  # asked for a promise that has moved since
        i = 0
        while waiting[i] >= 0:  # those who have just come, or whom a limit has let in again
            if p.jobs.at[waiting[i]].promise < 0:
                p.reserve(waiting[i])
            i += 1
        return self.start_due(p, waiting)

    def move_forward(self, p: Pass, waiting):
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        if self.candidates is not None:
            while waiting[i] >= 0:
                i += 1
            for slot in self.candidates.rank(p, list(waiting[:i])):
                if p.jobs.at[slot].promise >= 0:
                    p.advance(slot)
            return 0
        while waiting[i] >= 0:
            slot = waiting[i]
            if p.jobs.at[slot].promise >= 0:
                p.advance(slot)
            i += 1
        return 0

    def replan(self, p: Pass, waiting):
        i: cython.Py_ssize_t = 0
        p.release()
        while waiting[i] >= 0:
            p.reserve(waiting[i])
            i += 1
        return 0

    def start_due(self, p: Pass, waiting):
        """Start whose time has come, and ask for a pass at the next promise."""
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        promise: cython.longlong
        next: cython.longlong = NEVER
        while waiting[i] >= 0:
            slot = waiting[i]
            i += 1
            promise = p.jobs.at[slot].promise
            if 0 <= promise <= p.now and p.admits(slot) and (not p.amid or p.fits(slot)):
                p.start(slot)  # amid an instant it may have to wait for another end, or a correction, of this instant
        if p.quotas is not None:
            self.take_back(p, waiting)
        i = 0
        while waiting[i] >= 0:
            promise = p.jobs.at[waiting[i]].promise
            if p.now < promise < next:
                next = promise
            i += 1
        if next < NEVER and (self.woken <= p.now or next < self.woken):
            p.wake(next)
            self.woken = next
        return 0

    def take_back(self, p: Pass, waiting):
        """Who has come to a limit by the starts of this pass has no promise any more."""
        i: cython.Py_ssize_t = 0
        counter: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        while waiting[i] >= 0:
            slot = waiting[i]
            counter = p.quotas.refuser(slot) if p.jobs.at[slot].promise >= 0 else -1  # in the queue that it is for
            if counter >= 0:
                p.raw_ledger.unhold(slot)
                p.jobs.at[slot].promise = -1
                p.lines.park(slot, counter)
            i += 1
        return 0
