"""Aggressive backfilling: whatever fits, starts; nothing is reserved, so wide jobs may starve."""

from __future__ import annotations

import cython

from walltime.policies.backfill.candidates import Candidates, find_order
from walltime.policy.api import InOrder, Pass, Policy, require_open


@cython.cclass
class Aggressive(Policy):
    """Go through the queue in order and start every job that fits, without any reservation.

    `candidates` names an order in which those behind the first blocked job are tried instead of the queue's own.
    """

    def __init__(self, candidates=None) -> None:
        Policy.__init__(self)
        order = find_order(candidates)
        self.candidates = None if order is None else Candidates(order)
        self.rule = InOrder(0, self.candidates)

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t
        require_open(p)
        if self.candidates is not None:
            slot = p.raw_queue.head()
            while slot >= 0 and p.fits(slot):
                p.start_here(slot)
                slot = p.raw_queue.head()
            return self.candidates.start_waiting(p)
        slot = p.candidate(-1)
        while slot >= 0:
            p.start_here(slot)
            slot = p.candidate(-1)
        return 0
