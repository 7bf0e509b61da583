"""What is free of a plain number of cores, now and later."""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.holds import Holds
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.profiles.release_profile import ReleaseProfile

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class CoreLedger(Holds):
    """One number of cores. Exact: a job fits iff the bounds say so, or, with several holds, if each has room for it.

    Between holds availability only grows, as running jobs end; so it is least at the holds' starts. Each hold keeps
    `spare`: the cores left over at its start. The list of running jobs by expected end is kept only once
    the future has been asked about.
    """

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Holds.__init__(self, jobs, capacity, index)
        self.running = ReleaseProfile()
        self.profiled = False

    def possible(self, slot):
        return self.jobs.at[slot].cores <= self.size

    def fits(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        return cores <= self.free and (self.holds == 0 or self.clear_now(slot, cores))

    @cython.final
    def clear_now(self, slot, cores):
        """Whether every hold of another job has so many cores left for this one, from now on."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        spare: cython.longlong
        end: cython.longlong = self.now + self.jobs.at[slot].estimate
        own: cython.Py_ssize_t = self.held_by(slot) if self.holds > 1 else -1
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start >= end:
                break
            if self.held[h].slot == slot:
                continue
            spare = self.held[h].spare
            if own >= 0 and self.held[own].start <= self.held[h].start < self.held[own].end:
                spare += cores  # what it holds there itself
            if spare < cores:
                return False
        return True

    def focus_beside(self, node_set, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        self.most_free = self.most_extra = self.free
        self.most_window = NEVER
        if h >= 0:
            self.most_extra = max(0, min(self.free, self.held[h].spare))
            self.most_window = self.held[h].start - self.now
        return 0

    def take(self, slot):
        h: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        if cores > self.free:
            raise EngineError(f"{cores} cores taken where {self.free} are free")
        self.free -= cores
        self.jobs.at[slot].holding = 1
        if self.profiled:
            self.running.insert(end, cores)
        if self.holds > 0:
            h = self.held_by(slot)
            if h >= 0:
                self.drop_hold(h)
            self.spare_until(end, -cores)
        self.bound()
        return 0

    def give(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        self.free += cores
        self.jobs.at[slot].holding = 0
        if self.profiled:
            self.running.remove(end, cores)
        self.spare_until(end, cores)
        self.bound()
        return 0

    def prolong(self, slot, until):
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        if self.profiled:
            self.running.remove(end, cores)
            self.running.insert(until, cores)
        self.jobs.at[slot].expected_end = until
        self.spare_until(end, cores)
        self.spare_until(until, -cores)
        self.bound()
        return 0

    @cython.final
    def spare_until(self, end, cores):
        """So many cores more are left over at the start of every hold that begins before `end`."""
        k: cython.Py_ssize_t = 0
        while k < self.holds and self.held[self.by_start[k]].start < end:
            self.held[self.by_start[k]].spare += cores
            k += 1
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
        k: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)  # even of no length it needs its cores
        time: cython.longlong
        if self.left(slot, start) < cores:
            return False
        for k in range(self.first_after(start), self.holds):
            time = self.held[self.by_start[k]].start
            if time >= end:
                break
            if self.left(slot, time) < cores:
                return False
        return True

    def left(self, slot, time):
        """Cores free at `time`, the holds of other jobs respected."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        left: cython.longlong = self.available(time)
        for k in range(self.first_after(time)):
            h = self.by_start[k]
            if time < self.held[h].end and self.held[h].slot != slot:
                left -= self.held[h].count
        return left

    def next_release(self, time):
        """The next time after `time` at which more may become free: an expected end, or the end of a hold."""
        k: cython.Py_ssize_t
        end: cython.longlong
        found: cython.longlong = self.running.next_end(time)
        for k in range(self.holds):
            end = self.held[self.by_start[k]].end
            if time < end < found:
                found = end
        return found

    @cython.final
    def available(self, time):
        """Cores free at `time` by the expected ends, holds left aside."""
        return self.free + self.running.released_by(time)

    def hold(self, slot, start):
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)  # even of no length it needs its cores
        spare: cython.longlong
        if not self.profiled:
            self.profile()
        spare = self.available(start) - cores
        if self.holds == 1 and self.held[self.by_start[0]].slot == slot:  # the only one moves, as it mostly does
            hold = cython.address(self.held[self.by_start[0]])
            hold.start = start
            hold.end = end
            hold.count = cores
            hold.spare = spare
            self.bound()
            return 0
        if self.holds > 0:
            self.unhold(slot)
        for k in range(self.holds):
            h = self.by_start[k]
            if start <= self.held[h].start < end:
                self.held[h].spare -= cores
            if self.held[h].start <= start < self.held[h].end:
                spare -= self.held[h].count
        h = self.new_hold(slot, start, end)
        self.held[h].count = cores
        self.held[h].spare = spare
        self.enter_hold(h)
        self.bound()
        return 0

    def unhold(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        if h >= 0:
            self.drop_hold(h)
            self.bound()
        return 0

    @cython.final
    def drop_hold(self, h):
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.strike_hold(h)
        for k in range(self.holds):
            g = self.by_start[k]
            if self.held[h].start <= self.held[g].start < self.held[h].end:
                self.held[g].spare += self.held[h].count
        return self.free_hold(h)

    def release_holds(self):
        k: cython.Py_ssize_t
        if self.holds == 0:
            return 0
        if self.pins == 0:
            for k in range(self.holds):
                self.free_hold(self.by_start[k])
            self.holds = 0
        else:
            for k in range(self.holds - 1, -1, -1):
                if not self.jobs.at[self.held[self.by_start[k]].slot].pinned:
                    self.drop_hold(self.by_start[k])
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
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong = self.jobs.at[slot].expected_end
        self.free -= cores
        self.jobs.at[slot].holding = 1
        if self.profiled:
            self.running.insert(end, cores)
        self.spare_until(end, -cores)
        self.bound()
        return 0

    def has_room(self, slot, where, until) -> bool:
        end: cython.longlong = until
        cores: cython.longlong = self.jobs.at[slot].cores
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        if cores > self.free:
            return False
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start < end and self.held[h].spare < cores and self.jobs.at[self.held[h].slot].pinned:
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
        if self.holds == 1:
            hold = cython.address(self.held[self.by_start[0]])
            if hold.start < NEVER:
                self.window = hold.start - self.now
                if hold.spare < self.free:
                    self.extra = hold.spare
        return 0

    @cython.final
    def bound_by_all(self):
        """The same for any number of holds."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        until: cython.longlong
        own: cython.longlong = 0  # a job that holds something for good is not in its own way
        self.extra = self.free
        self.window = self.longest = self.closing = NEVER
        for k in range(self.holds if self.pins > 0 else 0):
            h = self.by_start[k]
            if self.jobs.at[self.held[h].slot].pinned and self.jobs.at[self.held[h].slot].seq >= 0:
                own = max(own, self.held[h].count)
        for k in range(self.holds):
            h = self.by_start[k]
            until = self.held[h].start - self.now
            if k == 0 and self.held[h].start < NEVER:
                self.window = until
                self.extra = min(self.held[h].spare + own, self.free)
            if self.pins > 0 and self.held[h].spare + own <= 0 and self.jobs.at[self.held[h].slot].pinned:
                self.longest = min(self.longest, until)  # from then on nothing is left
                if self.held[h].count >= self.size:
                    self.closing = min(self.closing, until)
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
