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
        require_open(p)
        if self.candidates is not None:
            p.start_heads()
            return self.candidates.start_waiting(p)
        p.start_candidates()
        return 0
