"""When jobs would start if every job ran for as long as estimated: a plan of running and waiting jobs."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.profiles.availability import Availability

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class Forecast:
    """The cores of one queue over time, with all running jobs and, in queue order, all waiting jobs, each as
    early as the cores are free for its estimate.

    `strict` is for a queue in which no job overtakes: none begins before the one ahead. `promised` is for one that
    keeps promises: these stand. Where the ledger counts nodes, a promise is the earliest that is possible, for the
    cores alone do not tell. The plan stays as it is until something changes; one that joins at the end is added to it.
    """

    def __init__(self, jobs: JobTable, ledger: Ledger, cores, strict, promised, noded) -> None:
        self.jobs = jobs
        self.ledger = ledger
        self.cores = cores  # of the queue's nodes, where these are not all
        self.strict = strict
        self.promised = promised
        self.noded = noded
        self.place_of = {}
        self.end = integers(64)
        self.held = integers(64)
        self.owner = integers(64)
        self.running = 0
        self.stale = True
        self.made = -1
        self.capacity = -1
        self.shut = []  # what no job can use, as (start, end, cores); set before a plan is made
        self.main = Availability(0)  # with all waiting jobs
        self.line = []
        self.starts = {}
        self.first = NEVER
        self.floor = 0
        self.draft = Availability(0)  # with the jobs that wait before the one asked about
        self.drafted = -1
        self.draft_floor = 0

    # ---- what happens

    def started(self, slot):
        """The job runs."""
        i: cython.Py_ssize_t = self.running
        if i == len(self.end):
            self.end = doubled(self.end)
            self.held = doubled(self.held)
            self.owner = doubled(self.owner)
        self.place_of[slot] = i
        self.end[i] = self.jobs.at[slot].expected_end
        self.held[i] = self.ledger.need(slot)
        self.owner[i] = slot
        self.running += 1
        self.stale = True
        return 0

    def stopped(self, slot):
        """The job runs no longer."""
        i: cython.Py_ssize_t = self.place_of.pop(slot)
        last: cython.Py_ssize_t = self.running - 1
        if i != last:
            self.end[i] = self.end[last]
            self.held[i] = self.held[last]
            self.owner[i] = self.owner[last]
            self.place_of[self.owner[i]] = i
        self.running = last
        self.stale = True
        return 0

    def shrunk(self, slot, cores):
        """The running job has so many cores left."""
        i: cython.Py_ssize_t = self.place_of[slot]
        self.held[i] = min(self.held[i], cores)
        self.stale = True
        return 0

    def prolonged(self, slot):
        """The running job is expected to end at another time."""
        self.end[self.place_of[slot]] = self.jobs.at[slot].expected_end
        self.stale = True
        return 0

    def joined(self, slot, last):
        """The job waits; `last` tells that it does so behind all others."""
        if self.stale or not last or not self.holds_at(self.ledger.now):
            self.stale = True
            return 0
        self.enter(slot, self.ledger.now)
        self.line.append(slot)
        return 0

    # ---- the plan

    def holds_at(self, now):
        """Whether the plan is still what a new one would be: nothing has happened, and no start in it has gone by."""
        return not self.stale and (self.made == now or self.first >= now) and self.capacity == self.ledger.capacity

    def make(self, waiting, now):
        """Plan all jobs: `waiting` are the slots in queue order; promises that stand come first."""
        slot: cython.Py_ssize_t
        self.line = waiting
        self.starts = {}
        self.first = NEVER
        self.floor = 0
        self.drafted = -1
        self.begin(self.main, now)
        if self.promised:
            for slot in waiting:
                if self.jobs.at[slot].promise >= 0:
                    self.put(slot, max(now, self.jobs.at[slot].promise))
        for slot in waiting:
            if not self.promised or self.jobs.at[slot].promise < 0:
                self.enter(slot, now)
        self.made = now
        self.capacity = self.ledger.capacity
        self.stale = False
        return 0

    def begin(self, plan: Availability, now):
        """A plan of running jobs, and of what is shut."""
        i: cython.Py_ssize_t
        total: cython.longlong = self.ledger.capacity
        if 0 <= self.cores < total:
            total = self.cores
        plan.clear(total)
        for i in range(self.running):
            plan.add(now, self.end[i] if self.end[i] > now else now + 1, -self.held[i])
        for start, end, cores in self.shut:
            plan.add(max(start, now), end, -cores)
        return 0

    def enter(self, slot, now):
        return self.put(slot, self.search(self.main, slot, now, self.floor))

    def put(self, slot, start):
        self.starts[slot] = start
        if start < self.first:
            self.first = start
        if self.strict and start < NEVER:
            self.floor = start
        return self.occupy(self.main, slot, start)

    def occupy(self, plan: Availability, slot, start):
        return 0 if start >= NEVER else plan.add(start, start + self.duration(slot), -self.ledger.need(slot))

    def search(self, plan: Availability, slot, now, floor):
        """When the job would start, behind all jobs in the plan."""
        after: cython.longlong = now
        if self.strict and floor > after:
            after = floor
        if self.noded and self.jobs.at[slot].promise > after:
            after = self.jobs.at[slot].promise
        return plan.earliest(self.ledger.need(slot), self.duration(slot), after, NEVER)

    def duration(self, slot):
        return self.jobs.at[slot].estimate if self.jobs.at[slot].estimate > 0 else 1

    # ---- asking

    def behind(self, count, slot, now):
        """When a job that is not in the plan would start behind the first `count` of those that are, and beside every
        promise that stands."""
        other: cython.Py_ssize_t
        if count == len(self.line):
            return self.search(self.main, slot, now, self.floor)
        if self.drafted < 0 or self.drafted > count:
            self.begin(self.draft, now)
            self.drafted = 0
            self.draft_floor = 0
            if self.promised:
                for other in self.line:
                    if self.jobs.at[other].promise >= 0:
                        self.occupy(self.draft, other, self.starts[other])
        while self.drafted < count:
            other = self.line[self.drafted]
            self.drafted += 1
            if not self.promised or self.jobs.at[other].promise < 0:
                self.occupy(self.draft, other, self.starts[other])
                if self.strict and self.starts[other] < NEVER:
                    self.draft_floor = self.starts[other]
        return self.search(self.draft, slot, now, self.draft_floor)
