"""No backfilling: the queue's order is kept to the letter."""

from __future__ import annotations

import cython

from walltime.policy.api import Pass, Policy


@cython.cclass
class NoBackfill(Policy):
    """Start the head of the queue while it fits; nobody overtakes."""

    def __init__(self) -> None:
        Policy.__init__(self)
        self.strict = True

    def schedule(self, p: Pass):
        slot: cython.Py_ssize_t = p.queue.head()
        while slot >= 0 and p.fits(slot):
            p.start(slot)
            slot = p.queue.head()
        return 0
