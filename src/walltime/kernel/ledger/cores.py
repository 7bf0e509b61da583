"""What is free, now and later: the interface that policies know, and its form for a plain number of cores."""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.profiles.release_profile import ReleaseProfile
from walltime.kernel.queue.bounds import Bounds
from walltime.kernel.queue.waiting import Queue

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Ledger(Bounds):
    """Resources as slots of a job table ask for them; a job's duration is its `estimate`, its end `expected_end`.

    A *hold* reserves what a job needs from a time on, for its estimate. `fits` respects every hold but the job's own.
    `free`, `window` and `extra` are scalar bounds for the queue's index: a job that fits has cores <= extra, or
    cores <= free and an estimate <= window, and in any case an estimate <= longest. They are necessary; whether they
    suffice is for `fits` to say. A hold of a slot that is *pinned* stays when all others are released.
    """

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Bounds.__init__(self)
        self.jobs = jobs
        self.index = index  # of the cluster whose resources these are
        self.now = 0
        self.size = capacity  # in full health
        self.capacity = capacity
        self.free = capacity
        self.window = NEVER
        self.extra = capacity
        self.longest = NEVER
        self.closing = NEVER  # how long until all of it is shut
        self.pins = 0  # pinned holds so far: from the first on `release_holds` looks at each
        self.early = 0
        self.on_nodes = False  # whether there are some, so that `describe` tells something
        self.domain = -1  # the domain of the holds that `release_holds` drops; -1: all

    def focus(self, node_set, local):
        self.most_free = self.free
        self.most_extra = self.extra
        self.most_window = self.window
        return 0

    def focus_beside(self, node_set, slot):
        """Let `most_free` be what is free of these nodes (-1: of all), `most_extra` what of it is left when the job's
        hold begins, beside that and others of that time, and `most_window` how long that is. No mere bounds."""
        raise NotImplementedError(f"{type(self).__name__}.focus_beside")

    def shut(self, blocker, nodes, until):
        """The blocker has these nodes (where there are none: its cores), whatever is there, from now to `until`."""
        raise NotImplementedError(f"{type(self).__name__}.shut")

    def keep_shut(self, blocker, nodes, start, end):
        """The blocker will have them from `start` to `end`: a pinned hold."""
        raise NotImplementedError(f"{type(self).__name__}.keep_shut")

    def pin(self, slot, start) -> None:
        """A hold for the job that is not dropped until it starts or leaves."""
        self.pins += 1
        self.jobs.at[slot].pinned = 1
        self.hold(slot, start)

    def confine(self, nodes):
        """Until `lift`, jobs fit and are placed on these nodes only, given by number."""
        raise PolicyError("nodes are named, but the cluster is a plain number of cores")

    def lift(self):
        """Jobs fit and are placed on all nodes again."""
        return 0

    def where(self, slot) -> list:
        """Where the running job is: what `put_back` needs to have it there again."""
        return []

    def put_back(self, slot, where):
        """The job is where it was, until its expected end."""
        raise NotImplementedError(f"{type(self).__name__}.put_back")

    def has_room(self, slot, where, until) -> bool:
        """Whether the job could be there from now to `until`, beside pinned holds."""
        raise NotImplementedError(f"{type(self).__name__}.has_room")

    def possible(self, slot):
        """Whether the job could ever run here, on an empty machine in full health."""
        raise NotImplementedError(f"{type(self).__name__}.possible")

    def fits(self, slot):
        """Whether the job may start now, and hold its resources for its estimate, without touching a hold."""
        raise NotImplementedError(f"{type(self).__name__}.fits")

    def take(self, slot):
        """The job gets its resources until its `expected_end`; its own hold is gone."""
        raise NotImplementedError(f"{type(self).__name__}.take")

    def give(self, slot):
        """The job gives its resources back, now."""
        raise NotImplementedError(f"{type(self).__name__}.give")

    def give_node(self, slot, node):
        """The running job gives back what it has on one of its nodes, now; it keeps another at least."""
        raise NotImplementedError(f"{type(self).__name__}.give_node")

    def prolong(self, slot, until):
        """The running job's expected end moves to `until`."""
        raise NotImplementedError(f"{type(self).__name__}.prolong")

    def earliest(self, slot, after):
        """The first time at or after `after` from which the job fits for its estimate, or NEVER."""
        raise NotImplementedError(f"{type(self).__name__}.earliest")

    def best_gap(self, slot):
        """The start of the gap that the job fills best: of those that have room for it the one of which the least time
        is left, the earliest of equal ones; or NEVER. What lasts for ever is the last resort."""
        raise NotImplementedError(f"{type(self).__name__}.best_gap")

    def hold(self, slot, start):
        """Reserve the job's resources from `start` for its estimate; replaces its earlier hold."""
        raise NotImplementedError(f"{type(self).__name__}.hold")

    def unhold(self, slot):
        """Drop the job's hold, if it has one."""
        raise NotImplementedError(f"{type(self).__name__}.unhold")

    def loosen(self, slot):
        """The job is about to be planned again: let its own hold not stand in its way."""
        return self.unhold(slot)

    def suppose(self, trial):
        """From now on, or no more, what is taken away will be put back as it was."""
        return 0

    def release_holds(self):
        """Drop every hold that is not pinned, or, of a ledger with node sets, those of the jobs of `domain` where it is
        not -1."""
        raise NotImplementedError(f"{type(self).__name__}.release_holds")

    def holds_only(self, slot):
        """Whether the only hold is of this job, and one that is better changed than made again."""
        return False

    def keeps_number(self, slot):
        """The same of one that keeps a number of cores on nodes."""
        return False

    def advance(self, slot):
        """Move the job's hold to the earliest time at which it fits, never later than it is; its start."""
        start: cython.longlong = self.jobs.at[slot].promise
        time: cython.longlong
        if start <= self.now and not self.fits(slot):  # amid an instant: some jobs ending at it are still in its place
            return start
        self.unhold(slot)
        time = self.earliest(slot, self.now)
        if time > start:
            time = start
        self.hold(slot, time)
        self.jobs.at[slot].promise = time
        return time

    # ---- promises that move forward: what becomes free tells whose

    def track(self, queue: Queue):
        """From now on know which promises of the waiting jobs of this queue can move; whether the ledger can. Without a
        queue: not any more.

        The jobs must keep their places in the queue. Only a ledger that keeps track is asked for what comes next.
        """
        return False

    def begin_moves(self):
        """Let the waiting jobs look, one by one in the order of the queue, at what has become free."""
        raise NotImplementedError(f"{type(self).__name__}.begin_moves")

    def mover(self):
        """The next job whose promise may move, or -1. Every job that can move is told; `advance` decides."""
        raise NotImplementedError(f"{type(self).__name__}.mover")

    def promises(self):
        """How many waiting jobs have a promise."""
        raise NotImplementedError(f"{type(self).__name__}.promises")

    def due(self, slots):
        """Write the jobs whose time has come, in the order of the queue, to `slots`; how many there are."""
        raise NotImplementedError(f"{type(self).__name__}.due")

    def next_promise(self):
        """The first promise after this moment, or NEVER."""
        raise NotImplementedError(f"{type(self).__name__}.next_promise")

    def set_time(self, now):
        """The clock moved; called before each pass."""
        self.now = now
        return 0

    def foresee(self, free_profile: FreeProfile):
        """Write down what will be free when as one number, where that tells all that a plan has to know; whether so.
        The holds, none of which is pinned, are left aside."""
        return False

    def units(self, slot):
        """What the job asks for in the units of the free_profile."""
        return self.jobs.at[slot].cores

    def refuse(self, cores, nodes, per_node) -> str:
        """Why a request that is not `possible` can never run here, for a person."""
        return "more cores than the cluster has"

    def need(self, slot):
        """Cores that the job takes up: those of whole nodes, where it has them for itself."""
        return self.jobs.at[slot].cores

    def describe(self, slot):
        """How many entries of `ranges` now tell on which nodes the job is; 0 where there are no nodes."""
        return 0


@cython.cclass
class CoreLedger(Ledger):
    """One number of cores. Exact: a job fits iff the bounds say so, or, with several holds, if each has room for it.

    Between holds availability only grows, as running jobs end; so it is least at the holds' starts. Each hold keeps
    `held_spare`: the cores left over at its start. The list of running jobs by expected end is kept only once
    the future has been asked about.
    """

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Ledger.__init__(self, jobs, capacity, index)
        self.running = ReleaseProfile()
        self.profiled = False
        self.holds = 0
        self.held_slot = integers(8)
        self.held_start = integers(8)
        self.held_end = integers(8)
        self.held_cores = integers(8)
        self.held_spare = integers(8)

    def possible(self, slot):
        return self.jobs.at[slot].cores <= self.size

    def fits(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        return cores <= self.free and (self.holds == 0 or self.clear_now(slot, cores))

    @cython.final
    def clear_now(self, slot, cores):
        """Whether every hold of another job has so many cores left for this one, from now on."""
        i: cython.Py_ssize_t
        spare: cython.longlong
        end: cython.longlong = self.now + self.jobs.at[slot].estimate
        own: cython.Py_ssize_t = self.hold_of(slot) if self.holds > 1 else -1
        for i in range(self.holds):
            if self.held_start[i] >= end or self.held_slot[i] == slot:
                continue
            spare = self.held_spare[i]
            if own >= 0 and self.held_start[own] <= self.held_start[i] < self.held_end[own]:
                spare += cores  # what it holds there itself
            if spare < cores:
                return False
        return True

    @cython.final
    def hold_of(self, slot):
        """Where the job's hold is in the list, or -1."""
        i: cython.Py_ssize_t
        for i in range(self.holds):
            if self.held_slot[i] == slot:
                return i
        return -1

    def focus_beside(self, node_set, slot):
        i: cython.Py_ssize_t = self.hold_of(slot)
        self.most_free = self.most_extra = self.free
        self.most_window = NEVER
        if i >= 0:
            self.most_extra = max(0, min(self.free, self.held_spare[i]))
            self.most_window = self.held_start[i] - self.now
        return 0

    def take(self, slot):
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        if cores > self.free:
            raise EngineError(f"{cores} cores taken where {self.free} are free")
        self.free -= cores
        self.jobs.at[slot].holding = 1
        if self.profiled:
            self.running.insert(end, cores)
        if self.holds > 0:
            i = self.hold_of(slot)
            if i >= 0:
                self.drop_hold(i)
            for i in range(self.holds):
                if self.held_start[i] < end:
                    self.held_spare[i] -= cores
        self.bound()
        return 0

    def give(self, slot):
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        self.free += cores
        self.jobs.at[slot].holding = 0
        if self.profiled:
            self.running.remove(end, cores)
        for i in range(self.holds):
            if self.held_start[i] < end:
                self.held_spare[i] += cores
        self.bound()
        return 0

    def prolong(self, slot, until):
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        if self.profiled:
            self.running.remove(end, cores)
            self.running.insert(until, cores)
        self.jobs.at[slot].expected_end = until
        for i in range(self.holds):
            if end <= self.held_start[i] < until:
                self.held_spare[i] -= cores
            elif until <= self.held_start[i] < end:
                self.held_spare[i] += cores
        self.bound()
        return 0

    def earliest(self, slot, after):
        cores: cython.longlong = self.jobs.at[slot].cores
        time: cython.longlong
        if cores > self.capacity:
            return NEVER
        if not self.profiled:
            self.profile()
        time = after
        if self.available(after) < cores:
            time = self.running.when(cores - self.free)
            if time < after:
                time = after
        if self.holds == 0 or time == NEVER:
            return time
        while time < NEVER and not self.clear_of_holds(slot, time):
            time = self.next_release(time)
        return time

    def clear_of_holds(self, slot, start):
        """Whether the job's cores are left from `start` for its estimate: least are left at `start` itself and at
        the starts of holds."""
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)  # even of no length it needs its cores
        if self.left(slot, start) < cores:
            return False
        for i in range(self.holds):
            if start < self.held_start[i] < end and self.left(slot, self.held_start[i]) < cores:
                return False
        return True

    def left(self, slot, time):
        """Cores free at `time`, the holds of other jobs respected."""
        i: cython.Py_ssize_t
        left: cython.longlong = self.available(time)
        for i in range(self.holds):
            if self.held_start[i] <= time < self.held_end[i] and self.held_slot[i] != slot:
                left -= self.held_cores[i]
        return left

    def next_release(self, time):
        """The next time after `time` at which more may become free: an expected end, or the end of a hold."""
        i: cython.Py_ssize_t
        found: cython.longlong = self.running.next_end(time)
        for i in range(self.holds):
            if time < self.held_end[i] < found:
                found = self.held_end[i]
        return found

    @cython.final
    def available(self, time):
        """Cores free at `time` by the expected ends, holds left aside."""
        return self.free + self.running.released_by(time)

    def hold(self, slot, start):
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)  # even of no length it needs its cores
        spare: cython.longlong
        if not self.profiled:
            self.profile()
        i = self.hold_of(slot)
        if i >= 0:
            self.drop_hold(i)
        spare = self.available(start) - cores
        for i in range(self.holds):
            if start <= self.held_start[i] < end:
                self.held_spare[i] -= cores
            if self.held_start[i] <= start < self.held_end[i]:
                spare -= self.held_cores[i]
        if self.holds == len(self.held_slot):
            self.held_slot = doubled(self.held_slot)
            self.held_start = doubled(self.held_start)
            self.held_end = doubled(self.held_end)
            self.held_cores = doubled(self.held_cores)
            self.held_spare = doubled(self.held_spare)
        i = self.holds
        self.holds += 1
        self.held_slot[i] = slot
        self.held_start[i] = start
        self.held_end[i] = end
        self.held_cores[i] = cores
        self.held_spare[i] = spare
        self.bound()
        return 0

    def unhold(self, slot):
        i: cython.Py_ssize_t = self.hold_of(slot)
        if i >= 0:
            self.drop_hold(i)
            self.bound()
        return 0

    @cython.final
    def drop_hold(self, i):
        k: cython.Py_ssize_t
        start: cython.longlong = self.held_start[i]
        end: cython.longlong = self.held_end[i]
        cores: cython.longlong = self.held_cores[i]
        self.holds -= 1
        for k in range(i, self.holds):
            self.held_slot[k] = self.held_slot[k + 1]
            self.held_start[k] = self.held_start[k + 1]
            self.held_end[k] = self.held_end[k + 1]
            self.held_cores[k] = self.held_cores[k + 1]
            self.held_spare[k] = self.held_spare[k + 1]
        for k in range(self.holds):
            if start <= self.held_start[k] < end:
                self.held_spare[k] += cores
        return 0

    def release_holds(self):
        i: cython.Py_ssize_t
        if self.holds == 0:
            return 0
        if self.pins == 0:
            self.holds = 0
        else:
            for i in range(self.holds - 1, -1, -1):
                if not self.jobs.at[self.held_slot[i]].pinned:
                    self.drop_hold(i)
        self.bound()
        return 0

    def shut(self, blocker, nodes, until):
        self.unhold(blocker)
        self.jobs.at[blocker].cluster = self.index
        self.jobs.at[blocker].expected_end = until
        return self.put_back(blocker, None)

    def keep_shut(self, blocker, nodes, start, end):
        self.jobs.at[blocker].estimate = end - start
        self.pins += 1
        return self.hold(blocker, start)

    def put_back(self, slot, where):
        i: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        self.free -= cores
        self.jobs.at[slot].holding = 1
        if self.profiled:
            self.running.insert(end, cores)
        for i in range(self.holds):
            if self.held_start[i] < end:
                self.held_spare[i] -= cores
        self.bound()
        return 0

    def has_room(self, slot, where, until) -> bool:
        end: cython.longlong = until
        i: cython.Py_ssize_t
        if self.jobs.at[slot].cores > self.free:
            return False
        for i in range(self.holds):
            if (
                self.jobs.at[self.held_slot[i]].pinned
                and self.held_start[i] < end
                and self.held_spare[i] < self.jobs.at[slot].cores
            ):
                return False
        return True

    def set_time(self, now):
        self.now = now
        if self.holds > 0:
            self.bound()
        return 0

    @cython.final
    def bound(self):
        """The scalar bounds, from the first hold; mostly there is none, or one."""
        if self.holds > 1 or self.pins > 0:
            return self.bound_by_all()
        self.longest = self.closing = self.window = NEVER
        self.extra = self.free
        if self.holds == 1 and self.held_start[0] < NEVER:
            self.window = self.held_start[0] - self.now
            if self.held_spare[0] < self.free:
                self.extra = self.held_spare[0]
        return 0

    @cython.final
    def bound_by_all(self):
        """The same for any number of holds."""
        i: cython.Py_ssize_t
        first: cython.longlong = NEVER
        own: cython.longlong = 0  # a job that holds something for good is not in its own way
        self.extra = self.free
        self.longest = self.closing = NEVER
        for i in range(self.holds if self.pins > 0 else 0):
            if self.jobs.at[self.held_slot[i]].pinned and self.jobs.at[self.held_slot[i]].seq >= 0:
                own = max(own, self.held_cores[i])
        for i in range(self.holds):
            if self.held_start[i] < first:
                first = self.held_start[i]
                self.extra = min(self.held_spare[i] + own, self.free)
            if self.pins > 0 and self.held_spare[i] + own <= 0 and self.jobs.at[self.held_slot[i]].pinned:
                self.longest = min(self.longest, self.held_start[i] - self.now)  # from then on nothing is left
                if self.held_cores[i] >= self.size:
                    self.closing = min(self.closing, self.held_start[i] - self.now)
        self.window = first - self.now if first < NEVER else NEVER
        return 0

    def foresee(self, free_profile: FreeProfile):
        if self.pins > 0:
            return False
        if not self.profiled:
            self.profile()
        free_profile.begin(self.now, self.free, 1)
        self.running.tell(free_profile)
        return True

    def profile(self):
        """Begin to keep the running jobs by expected end. Of several ledgers of a cluster each has to do it before
        any job runs: later it could not tell whose they are."""
        s: cython.Py_ssize_t
        self.profiled = True
        for s in self.jobs.slots():
            if self.jobs.at[s].holding == 1 and self.jobs.at[s].cluster == self.index:
                self.running.insert(self.jobs.at[s].expected_end, self.jobs.at[s].cores)
        return 0
