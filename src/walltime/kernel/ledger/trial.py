"""What if? Something is taken off a ledger or put on it, the ledger is asked, and everything is as it was again.

So preemption seeks the jobs that have to go, so `explain` finds what stands in a job's way, and so a cluster tells when
a job would start behind others that have come at the same instant.
"""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.interface import Ledger


@cython.final
@cython.cclass
class Trial:
    """Of one ledger at a time, from `begin` to `end`; the ledger itself is asked in between.

    What runs is taken away and can be brought back one by one; what is shut is taken away in the same way, as its
    blocker. A closing to come is lifted, draining nodes take jobs again.
    """

    def __init__(self) -> None:
        self.ledger = None
        self.gone = {}  # where they were, by slot
        self.begun = []  # slot, expected end, speed
        self.lifted = []  # blocker, nodes, start, end
        self.drained = []

    def begin(self, ledger: Ledger):
        """Everything is there."""
        self.ledger = ledger
        return ledger.suppose(True)

    def take_away(self, slot):
        """The running job, or what is shut, has no place any more."""
        self.gone[slot] = self.ledger.where(slot)
        return self.ledger.give(slot)

    def bring_back(self, slot):
        """It is where it was."""
        where: list = self.gone.pop(slot)
        if self.ledger.jobs.at[slot].seq >= 0:
            return self.ledger.put_back(slot, where)
        return self.ledger.shut(slot, [node for node, _ in where], self.ledger.jobs.at[slot].expected_end)

    def start(self, slot, now):
        """The waiting job runs, if it fits; whether it does."""
        jobs: JobTable = self.ledger.jobs
        if not self.ledger.fits(slot):
            return False
        self.begun.append((slot, jobs.at[slot].expected_end, jobs.at[slot].speed))
        jobs.at[slot].expected_end = now + jobs.at[slot].estimate
        self.ledger.take(slot)
        return True

    def take_back(self):
        """What has been started waits again."""
        jobs: JobTable = self.ledger.jobs
        early: cython.longlong = self.ledger.early
        slot: cython.Py_ssize_t
        for slot, end, speed in self.begun:
            self.ledger.give(slot)
            jobs.at[slot].expected_end = end
            jobs.at[slot].speed = speed
        self.begun = []
        self.ledger.early = early
        return 0

    def lift(self, blocker, nodes, start, end):
        """What is to be shut from `start` to `end` will not be."""
        self.lifted.append((blocker, nodes, start, end))
        return self.ledger.unhold(blocker)

    def open_up(self, nodes: list):
        """Nodes that take no more jobs take them."""
        self.drained += nodes
        self.ledger.drain(nodes, False)
        return 0

    def end(self):
        """Everything is back."""
        if self.begun:
            self.take_back()
        slot: cython.Py_ssize_t
        if self.drained:
            self.ledger.drain(self.drained, True)
            self.drained = []
        for slot in list(self.gone):
            self.bring_back(slot)
        for blocker, nodes, start, end in self.lifted:
            self.ledger.keep_shut(blocker, nodes, start, end)
        self.lifted = []
        return self.ledger.suppose(False)
