"""Backfilling with lookahead: not the next job that fits, but the set of jobs that fills the machine best.

E. Shmueli, D. Feitelson, "Backfilling with lookahead to optimize the packing of parallel jobs", Journal of Parallel and
Distributed Computing 65(9), 2005. They bound the work by looking at the first 50 jobs of the queue; here the bound is
on those that could start now, so that a long queue of jobs that cannot hides none that can.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.kernel.ledger.interface import Ledger
from walltime.policies.backfill.packing import choose
from walltime.policy.api import Cause, Pass, Policy, require_open

if not cython.compiled:
    ARRIVAL = Cause.ARRIVAL


@cython.cclass
class Lookahead(Policy):
    """Reserve the head's earliest start; behind it start those jobs that together use the most cores now.

    None of them may delay the head. The first `depth` jobs in queue order that could start now are considered. Of
    several best sets the one that has the first of them is taken; where all have it, or none, the one that has the
    second; and so on. On nodes the set is chosen by numbers of cores of those of its queues, what is free now and what
    is left when the head starts: a job of it that does not find its nodes, once those before it have theirs, is left
    out, and the best set of those that still fit is started next, until none fits.
    """

    def __init__(self, depth=50) -> None:
        Policy.__init__(self)
        if isinstance(depth, bool) or not isinstance(depth, int) or not 1 <= depth <= 1_000_000:
            raise InputError("depth must be a whole number from 1", value=depth)
        self.depth = depth
        self.blocked = -1  # the head that holds a reservation since an earlier pass which considered all jobs, or -1

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t
        require_open(p)
        # After arrivals at the end of the queue alone: no other job fits beside the reservation, or it would have been
        # started too. That is so only if the last pass did not leave out jobs beyond its depth.
        if self.blocked >= 0 and p.causes == ARRIVAL and p.raw_queue.quiet(self.blocked) and p.admits(self.blocked):
            return self.start_best(p, self.blocked, self.find_fresh(p))
        self.blocked = -1
        p.release()
        slot = p.raw_queue.head()
        while slot >= 0 and p.fits(slot):
            p.start(slot)
            slot = p.raw_queue.head()
        if slot < 0:
            return 0
        p.reserve(slot)
        self.blocked = slot
        return self.start_best(p, slot, self.find_fitting(p))

    def find_fitting(self, p: Pass):
        """Those behind the head that could start now, one more than may be considered at the most."""
        found: list = []
        slot: cython.Py_ssize_t = p.candidate(-1)
        while slot >= 0 and len(found) <= self.depth:
            found.append(slot)
            slot = p.candidate(slot)
        return found

    def find_fresh(self, p: Pass):
        """The same among the jobs that joined at the end of the queue since the last pass."""
        found: list = []
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t = p.raw_queue.fresh(0)
        while slot > -2 and len(found) <= self.depth:
            if slot >= 0 and p.fits(slot):
                found.append(slot)
            i += 1
            slot = p.raw_queue.fresh(i)
        return found

    def start_best(self, p: Pass, head, found):
        """Start the best set of those found behind the head; then that of the others, while some still fit.

        Where cores are just a number, none does. On nodes some of the set may find their cores on the wrong ones.
        """
        slot: cython.Py_ssize_t
        window: cython.longlong
        ledger: Ledger = p.raw_ledger
        sizes: list
        short: list
        others: list
        if len(found) > self.depth:
            found.pop()
            self.blocked = -1
        while found:
            ledger.focus_beside(p.node_set, head)
            window = ledger.most_window
            sizes = [p.jobs.at[slot].cores for slot in found]
            short = [p.jobs.at[slot].estimate <= window for slot in found]
            best = choose(sizes, short, ledger.most_free, ledger.most_extra)
            chosen = set(best) or {0}  # all of them fit, if only one by one
            others = []
            for i, slot in enumerate(found):
                if i in chosen and p.fits(slot):
                    p.start(slot)
                else:
                    others.append(slot)
            found = [slot for slot in others if p.fits(slot)]
        return 0
