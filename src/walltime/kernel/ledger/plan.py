"""One number of cores, planned ahead: any number of promises."""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.offers import Offers
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class PlanLedger(Ledger):
    """One number of cores, planned ahead: any number of promises, each a hold over its job's estimate.

    A job takes up at least a microsecond of the plan, so that even one of no length needs its cores at its start.
    """

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Ledger.__init__(self, jobs, capacity, index)
        self.plan = Availability(capacity)
        self.promised = {}
        self.moves = 0  # promises that have moved forward so far
        self.offers = None  # until a policy wants to know which promises can move

    def possible(self, slot):
        return self.jobs.at[slot].cores <= self.size

    def duration(self, slot):
        return self.jobs.at[slot].estimate if self.jobs.at[slot].estimate > 0 else 1

    def planned_end(self, slot):
        """Up to when the running job is entered in the plan."""
        if self.jobs.at[slot].expected_end > self.jobs.at[slot].start:
            return self.jobs.at[slot].expected_end
        return self.jobs.at[slot].start + 1

    def fits(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        promise: cython.longlong = self.jobs.at[slot].promise
        if cores > self.free:
            return False
        if promise < 0:
            promise = NEVER
        return promise <= self.now or self.plan.earliest(cores, self.duration(slot), self.now, promise) == self.now

    def take(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        if cores > self.free:
            raise EngineError(f"{cores} cores taken where {self.free} are free")
        self.free -= cores
        self.extra = self.free
        self.jobs.at[slot].holding = 1
        if self.jobs.at[slot].promise < 0:
            return self.plan.add(self.now, self.now + self.duration(slot), -cores)
        start: cython.longlong = self.jobs.at[slot].promise
        self.forget(slot)
        return self.shift(start, self.now, self.duration(slot), cores)

    def give(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.planned_end(slot)
        self.free += cores
        self.extra = self.free
        self.jobs.at[slot].holding = 0
        self.early += end > self.now and self.jobs.at[slot].seq >= 0
        return self.free_up(self.now, end, cores)

    def prolong(self, slot, until):
        cores: cython.longlong = self.jobs.at[slot].cores
        before: cython.longlong = self.planned_end(slot)
        after: cython.longlong
        self.jobs.at[slot].expected_end = until
        after = self.planned_end(slot)
        self.plan.add(before, after, -cores)
        return self.free_up(after, before, cores)

    def earliest(self, slot, after):
        cores: cython.longlong = self.jobs.at[slot].cores
        if cores > self.capacity:
            return NEVER
        return self.plan.earliest(cores, self.duration(slot), after, NEVER)

    def best_gap(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        length: cython.longlong = self.duration(slot)
        left: cython.longlong
        least: cython.longlong = NEVER
        best: cython.longlong = NEVER
        self.plan.seek_pieces(self.now)
        while self.plan.next_piece(cores, NEVER):
            left = self.plan.piece_end - self.plan.piece_start - length
            if left >= 0 and (best == NEVER or left < least):
                least = left
                best = self.plan.piece_start
        return best

    def hold(self, slot, start):
        self.unhold(slot)
        self.jobs.at[slot].promise = start
        self.promised[slot] = None
        if self.offers is not None and self.jobs.at[slot].seq >= 0:
            self.offers.enter(slot)
        return self.plan.add(start, start + self.duration(slot), -self.jobs.at[slot].cores)

    def unhold(self, slot):
        start: cython.longlong = self.jobs.at[slot].promise
        if start >= 0:
            self.forget(slot)
            self.free_up(start, start + self.duration(slot), self.jobs.at[slot].cores)
        return 0

    def forget(self, slot):
        """The job has no promise any more; the plan does not know yet."""
        start: cython.longlong = self.jobs.at[slot].promise
        self.jobs.at[slot].promise = -1
        self.promised.pop(slot, None)
        if self.offers is not None:
            self.offers.leave(slot, start)
        return 0

    def free_up(self, start, end, cores):
        """So many cores more are free in the plan from `start` to `end`."""
        if start < self.now:
            start = self.now
        self.plan.add(start, end, cores)
        if self.offers is not None:
            self.offers.rise(start, end, cores)
        return 0

    def shift(self, start, time, length, cores):
        """What was entered from `start` on is entered from `time` on. Where the two overlap, only the ends change."""
        if time < start:
            self.plan.add(time, min(time + length, start), -cores)
            return self.free_up(max(start, time + length), start + length, cores)
        self.plan.add(max(time, start + length), time + length, -cores)
        return self.free_up(start, min(time, start + length), cores)

    def release_holds(self):
        slot: cython.Py_ssize_t
        offers: Offers = self.offers
        self.moves = 0  # promises that have moved forward so far
        self.offers = None  # a job that is planned again looks at everything
        for slot in list(self.promised):
            if not self.jobs.at[slot].pinned:
                self.unhold(slot)
        if offers is not None:
            self.track(offers.queue)
        return 0

    def shut(self, blocker, nodes, until):
        self.unhold(blocker)
        self.jobs.at[blocker].start = self.now
        self.jobs.at[blocker].expected_end = until
        return self.put_back(blocker, None)

    def keep_shut(self, blocker, nodes, start, end):
        self.pins += 1
        self.jobs.at[blocker].estimate = end - start
        return self.hold(blocker, start)

    def put_back(self, slot, where):
        cores: cython.longlong = self.jobs.at[slot].cores
        self.free -= cores
        self.extra = self.free
        self.jobs.at[slot].holding = 1
        self.early -= self.planned_end(slot) > self.now and self.jobs.at[slot].seq >= 0
        return self.plan.add(self.now, self.planned_end(slot), -cores)

    def has_room(self, slot, where, until) -> bool:
        cores: cython.longlong = self.jobs.at[slot].cores
        return cores <= self.free and self.plan.earliest(cores, max(until - self.now, 1), self.now, NEVER) == self.now

    # ---- promises that move forward

    def advance(self, slot):
        """A promise moves from s to an earlier t iff the job's cores are free from t until t + estimate or s, whichever
        comes first, for from s on they are its own already: a search that changes nothing unless it succeeds."""
        start: cython.longlong = self.jobs.at[slot].promise
        cores: cython.longlong = self.jobs.at[slot].cores
        time: cython.longlong
        if start <= self.now:
            return start
        if self.offers is not None and self.offers.mover == slot:
            time = self.offers.target
        else:
            time = self.plan.earliest(cores, self.duration(slot), self.now, start)
        if time >= start:
            return start
        self.moves += 1
        self.jobs.at[slot].promise = time
        if self.offers is not None:
            self.offers.moved(slot, start)
        self.shift(start, time, self.duration(slot), cores)
        return time

    def track(self, queue: Queue):
        slot: cython.Py_ssize_t
        if queue is None:
            self.offers = None
            return False
        self.offers = Offers(self.jobs, self.plan, queue)
        self.offers.now = self.now
        for slot in self.promised:
            if self.jobs.at[slot].seq >= 0:
                self.offers.enter(slot)
        self.offers.offer_everything()
        return True

    def begin_moves(self):
        return self.offers.begin()

    def mover(self):
        return self.offers.next()

    def promises(self):
        return self.offers.size

    def due(self, slots):
        return self.offers.due(self.now, slots)

    def next_promise(self):
        return self.offers.next_promise(self.now)

    def set_time(self, now):
        self.now = now
        if self.offers is not None:
            self.offers.now = now
        return self.plan.forget(now)
