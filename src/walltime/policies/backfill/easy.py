"""EASY backfilling: a job may overtake if it does not delay the head of the queue.

D. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995; A. Mu'alem and D. Feitelson, "Utilization, predictability,
workloads, and user runtime estimates in scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001. Candidates by
an order of their own: D. Tsafrir, Y. Etsion, D. Feitelson, "Backfilling using system-generated predictions rather than
user runtime estimates", IEEE TPDS 18(6), 2007. Slack, in another form: D. Talby, D. Feitelson, "Supporting priorities
and improving utilization of the IBM SP scheduler using slack-based backfilling", IPPS 1999; W. Ward, C. Mahood,
J. West, "Scheduling jobs on parallel systems using a relaxed backfill strategy", JSSPP 2002.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.time import LATEST as _LATEST
from walltime.core.time import NEVER as _NEVER
from walltime.policies.backfill.candidates import Candidates, find_order
from walltime.policy.api import Cause, InOrder, Pass, Policy, require_open

NEVER = cython.declare(cython.longlong, _NEVER)
LATEST = cython.declare(cython.longlong, _LATEST)

if not cython.compiled:
    ARRIVAL = Cause.ARRIVAL


@cython.cclass
class Easy(Policy):
    """Reserve the head's earliest start; start those behind it, in queue order, that leave the reservation alone.

    `candidates` names an order in which those behind the head are tried instead of the queue's own. With `alpha` they
    may delay the head a little: it starts at the latest alpha x its estimate after the earliest start that it was ever
    found to have while it was the blocked head; so never later than that after its first promise. Zero is EASY itself.
    """

    def __init__(self, candidates=None, alpha=0.0) -> None:
        Policy.__init__(self)
        if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 0 <= alpha < float("inf"):
            raise InputError("alpha must be a number from 0", value=alpha)
        order = find_order(candidates)
        self.candidates = None if order is None else Candidates(order)
        self.alpha = alpha
        self.rule = InOrder(1, self.candidates, lasting="alpha" if alpha > 0 else "")
        self.blocked = -1  # the head that holds a reservation since an earlier pass, or -1
        self.head_seq = -1  # the blocked head, and the earliest start that it has been found to have
        self.head_start = 0

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t
        if p is None or not p.open:
            require_open(p)
        # Nothing but arrivals behind the head since the pass that blocked it: its reservation stands, unless it has
        # come to a limit, and what did not fit beside it then does not fit now. Only the new ones need a look. This
        # holds for every order of the candidates and every alpha, as neither moves a reservation unless something is
        # released; and under the cause ARRIVAL alone. Where keys change with time the queue is never quiet.
        if self.blocked >= 0 and p.causes == ARRIVAL and p.raw_queue.quiet(self.blocked) and p.admits(self.blocked):
            return self.consider_arrivals(p)
        kept: cython.bint = self.blocked >= 0 and p.release_but(self.blocked)
        slot = p.raw_queue.head()
        if self.blocked < 0 or (kept and slot != self.blocked):
            p.release()
        self.blocked = -1
        while slot >= 0 and p.would_fit(slot):
            p.start_head(slot)
            slot = p.raw_queue.head()
        if slot < 0:
            return 0
        if self.alpha > 0:
            self.reserve_late(p, slot)
        else:
            p.reserve(slot)
        self.blocked = slot
        if self.candidates is not None:
            return self.candidates.start_waiting(p)
        p.start_candidates()
        return 0

    def consider_arrivals(self, p: Pass):
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        if self.candidates is not None:
            return self.candidates.start_fresh(p)
        slot = p.raw_queue.fresh(0)
        while slot > -2:
            if slot >= 0 and p.would_fit(slot):
                p.start_here(slot)
            i += 1
            slot = p.raw_queue.fresh(i)
        return 0

    def reserve_late(self, p: Pass, slot):
        """Reserve the head's start as late as alpha allows, or at its earliest where that is later still."""
        time: cython.longlong = p.earliest(slot)
        slack: cython.double = self.alpha * cython.cast(cython.double, p.jobs.at[slot].estimate)
        latest: cython.longlong
        if p.jobs.at[slot].seq != self.head_seq:
            self.head_seq = p.jobs.at[slot].seq
            self.head_start = time
        elif time < self.head_start:
            self.head_start = time
        if time == NEVER:
            return 0
        latest = self.head_start + (cython.cast(cython.longlong, slack) if slack < LATEST else LATEST)
        if latest > time:
            time = latest
        return p.promise(slot, time, p.jobs.at[slot].estimate)
