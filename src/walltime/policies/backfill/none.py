"""No backfilling: the queue's order is kept to the letter."""

from __future__ import annotations

import cython

from walltime.policy.api import InOrder, Pass, Policy, require_open


@cython.cclass
class NoBackfill(Policy):
    """Start the head of the queue while it fits; no job overtakes."""

    def __init__(self) -> None:
        Policy.__init__(self)
        self.strict = True
        self.rule = InOrder(0, overtakes=False)

    def schedule(self, p: Pass):
        if p is None:
            require_open(p)
        p.start_heads()
        return 0
