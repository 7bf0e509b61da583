"""A draft of a plan where any cores serve: one number of them over time."""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.availability import Availability

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class CoreDraft(Draft):
    """Jobs that are a number of cores of the ledger's plan: on a plain number of cores, and on nodes where all jobs of
    the draft, and all holds, are of one node set of which any cores, or any whole nodes, serve.

    A move costs four changes of intervals and one search, whatever the size of the plan. A re-ordering starts from a
    copy of the plan without the draft's jobs, and is undone by a copy of the plan that was kept.
    """

    def __init__(self) -> None:
        Draft.__init__(self)
        self.given, self.kept, self.base = Availability(0), Availability(0), Availability(0)
        self.late = 0
        self.placed_again = False
        self.taken = integers(64)

    def serves(self, ledger: Ledger, slots, count):
        """Whether the promises of these jobs are numbers of cores, and would be in any other of their queues."""
        k: cython.Py_ssize_t
        nodes: ResourceLedger
        if isinstance(ledger, PlanLedger):
            return True
        nodes = ledger
        for k in range(count):
            if nodes.jobs.at[slots[k]].choice >= 0 and self.choices.differ(nodes.jobs.at[slots[k]].choice):
                return False
        return count > 0 and nodes.counts_alone(slots, count)

    def open(self, ledger: Ledger, slots, count):
        i: cython.Py_ssize_t
        nodes: ResourceLedger
        Draft.open(self, ledger, slots, count)
        self.ledger = ledger
        self.late = 0
        self.closing = NEVER
        if isinstance(ledger, PlanLedger):
            self.plan = cython.cast(PlanLedger, ledger).plan
            for i in range(count):
                self.taken[i] = self.cores[i]
        else:
            nodes = ledger
            self.plan = nodes.counted_plan(slots[0])
            self.late = nodes.late_cores(slots[0])
            self.closing = nodes.first_closing()
            for i in range(count):
                self.taken[i] = nodes.takes(self.jobs.at[self.slot[i]].shape)
        self.given.copy(self.plan)
        self.kept_stale = self.base_stale = True
        self.placed_again = False
        return 0

    def make_room(self, room):
        if len(self.taken) < room:
            self.taken = integers(2 * room)
        return Draft.make_room(self, room)

    def admit(self, slot):
        i: cython.Py_ssize_t = Draft.admit(self, slot)
        self.taken[i] = self.cores[i]
        return i

    def close(self):
        if self.opened:
            self.give_back()
            self.plan.copy(self.given)
            self.opened = False
        return 0

    def commit(self) -> list:
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        start: cython.longlong
        changed = self.changes()
        self.remember()
        self.close()
        for slot, _ in changed:
            self.ledger.unhold(slot)
        for i in range(self.size):
            self.settle_in(i, self.best_where[i])
        for slot, start in changed:
            if start < self.now or self.ledger.earliest(slot, start) != start:
                raise PolicyError(
                    f"job {self.jobs.at[slot].job_id} has no room at {start / SECOND:g} s, where a plan has it"
                )
            self.ledger.hold(slot, start)
        return changed

    def give_back(self):
        """Their starts; the index follows when the draft is closed."""
        i: cython.Py_ssize_t
        for i in range(self.size):
            self.start[i] = self.first[i]
            self.settle_in(i, self.home[i])
        return 0

    def find(self, i, after):
        """Cores of jobs that should have ended by now are free in the plan, but not yet. From a closing on it does not
        tell which nodes are there: no job goes so far."""
        start: cython.longlong = self.plan.earliest(self.taken[i], self.length[i], after, NEVER)
        if start <= self.now and self.late > 0 and self.plan.at(self.now) - self.late < self.taken[i]:
            start = self.plan.earliest(self.taken[i], self.length[i], self.now + 1, NEVER)
        return start if start <= self.closing - self.length[i] else NEVER

    def enter(self, i, start):
        return self.plan.add(start, start + self.length[i], -self.taken[i])

    def leave(self, i):
        return self.plan.add(self.start[i], self.start[i] + self.length[i], self.taken[i])

    def remember(self):
        i: cython.Py_ssize_t
        for i in range(self.size):
            self.best[i] = self.start[i]
            self.best_where[i] = self.where[i]
        return 0

    def recall(self):
        i: cython.Py_ssize_t
        for i in range(self.size):
            if self.start[i] != self.best[i]:
                self.lift(i)
        for i in range(self.size):
            self.settle_in(i, self.best_where[i])
            if self.start[i] < 0:
                self.lay(i, self.best[i])
        return self.keep()

    def free_area(self, start, end):
        return self.plan.area(start, end)

    def steps(self) -> list:
        """Free cores over time as the draft stands, as (time, free)."""
        return self.plan.steps()

    # ---- all of them

    def move_in_sequence(self, source, target):
        if self.kept_stale and self.touches == 0:
            self.kept.copy(self.plan)
            self.kept_stale = False
        return Draft.move_in_sequence(self, source, target)

    def place_behind(self, position):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        if self.kept_stale:  # something was touched before, and nothing placed again yet
            return Draft.place_behind(self, position)
        self.placed_again = True
        if self.base_stale:
            self.make_base()
        self.plan.copy(self.base)
        for k in range(position):
            i = self.sequence[k]
            self.enter(i, self.start[i])
        for k in range(position, self.size):
            i = self.sequence[k]
            self.touch(i)
            self.start[i] = -1
            self.out += 1
            self.settle(i, self.now)
        return 0

    def make_base(self):
        """The plan without the jobs of the draft: the same all the time."""
        i: cython.Py_ssize_t
        self.base.copy(self.given)
        for i in range(self.size):
            self.base.add(self.first[i], self.first[i] + self.length[i], self.taken[i])
        self.base_stale = False
        return 0

    def keep(self):
        self.kept_stale = self.kept_stale or self.touches > 0
        self.placed_again = False
        return Draft.keep(self)

    def undo_index(self):
        if self.placed_again:
            self.placed_again = False
            return self.plan.copy(self.kept)
        return Draft.undo_index(self)
