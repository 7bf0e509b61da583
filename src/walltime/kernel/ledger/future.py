"""From when on a request can be served: the questions about the future that a ledger of resources answers."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.counted import CountedHolds
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.node_starts import RoomTimes, Soonest
from walltime.kernel.profiles.release_profile import ReleaseProfile
from walltime.kernel.profiles.room_sweep import RoomSweep
from walltime.kernel.profiles.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.cclass
class Future(CountedHolds):
    """When a job can start, by expected ends and by the holds of others; nothing changes by being asked."""

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        CountedHolds.__init__(self, jobs, nodes, index)
        self.walk = None
        self.block = self.entry = 0
        self.seen = integers(self.n)
        self.offered = integers(self.n)
        self.step = 0
        self.reach = self.limit = NEVER
        self.cleared = integers(self.n)
        self.rooms = RoomTimes(self.timelines, self.n)
        self.swept = False
        self.swept_for = -1
        self.sweep = RoomSweep(self.timelines, self.node_starts, self.rooms, self.n)
        self.asked = integers(self.n)
        self.offers_most = integers(self.n)
        self.offers_until = integers(self.n)
        self.planned_for = self.planned_at = self.planned = -1
        self.freed = integers(self.n)
        self.freed_at = integers(self.n)
        self.frees = 0
        self.given = integers(self.n)
        self.giving = 1

    def suits(self, x, pool: NodePool):
        """Whether the request can be served from the pool as it stands."""
        least: cython.longlong = self.timelines.each[self.demand_of[x] * self.timelines.kinds]
        if self.nodes_of[x] == 0:
            return self.cores_of[x] <= pool.total
        if self.place.plain:
            return pool.enough(least, self.nodes_of[x])
        return self.place.suits(pool, self.nodes_of[x], least)

    def earliest(self, slot, after):
        """What is kept beyond the end of the job makes no difference to it: so pinned holds, which may be many and far
        away, are looked at as far as the answer without the rest of them reaches."""
        time: cython.longlong
        open: cython.longlong
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        self.reach = NEVER
        if self.pins == 0:
            return self.when(slot, after)
        after = self.next_open(after, length)
        self.reach = after + length
        while True:
            time = self.when(slot, after)
            if time < NEVER:
                open = self.next_open(time, length)
                if open > time:
                    after = open
                    self.reach = after + length
                    continue
            if self.reach == NEVER or time + length <= self.reach:
                return time
            self.reach = time + length if time < NEVER else NEVER

    def best_gap(self, slot):
        """A gap lasts as long as the job could stay there: up to the start of a hold, or for ever."""
        start: cython.longlong = self.earliest(slot, self.now)
        end: cython.longlong
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        least: cython.longlong = NEVER
        best: cython.longlong = start
        while start < NEVER:
            end = self.gap_end(slot, start)
            if end - start - length < least:
                least = end - start - length
                best = start
            start = self.earliest(slot, end) if end < NEVER else NEVER
        return best

    def gap_end(self, slot, start):
        """Until when the job, which fits there, could stay if it were longer: by bisection over the starts of holds."""
        length: cython.longlong = self.jobs.at[slot].estimate
        low: cython.Py_ssize_t = self.first_after(start + max(length, 1) - 1)
        high: cython.Py_ssize_t = self.holds
        middle: cython.Py_ssize_t
        end: cython.longlong
        while low < high:  # it can stay until the holds before `low` begin
            middle = (low + high) >> 1
            end = self.held[self.by_start[middle + 1]].start if middle + 1 < self.holds else NEVER >> 1
            self.jobs.at[slot].estimate = end - start
            self.limit = start + 1
            if self.earliest(slot, start) == start:
                low = middle + 1
            else:
                high = middle
        self.jobs.at[slot].estimate = length
        self.limit = NEVER
        return self.held[self.by_start[low]].start if low < self.holds else NEVER

    def deserted(self, slot, x, time):
        """Whether, as far as is known, no job is on the set's nodes any more at that time, and nothing is kept there:
        what is possible at all is then possible, on what is not down."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        down: cython.longlong = 0
        s: cython.Py_ssize_t = self.set_of[x]
        if self.drained > 0 or self.licences > 0 or self.capacity < self.size:
            return False
        self.follow(s)
        walk: RunningProfile = self.profiles[s]
        for p in range(walk.blocks - 1, -1, -1):
            base = walk.heads[p].base
            for k in range(base + walk.heads[p].count - 1, base - 1, -1):
                if walk.rows[k].time > time:
                    if walk.rows[k].seq >= 0:
                        return False
                    down += self.jobs.at[walk.rows[k].slot].cores
            if walk.heads[p].count == 0 or walk.rows[base].time <= time:
                break
        if down > 0 and (
            self.nodes_of[x] > 0
            or not self.timelines.simple[self.demand_of[x]]
            or self.cores_of[x] > self.set_cores[s] - down
        ):
            return False
        self.meet(slot, s, time, self.reach)
        return self.meets == 0

    def next_open(self, time, length):
        """The first time from `time` on from which the cluster is not shut as a whole for so long."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start >= time + length:
                break
            if self.held[h].all and self.held[h].end > time:
                time = self.held[h].end
        return time

    def when(self, slot, after):
        """The first time from `after` on at which the job fits beside all holds."""
        time: cython.longlong
        fits: cython.bint
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        s: cython.Py_ssize_t = self.set_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        cores: cython.longlong = self.takes(x)
        serves: cython.bint = self.plain_of[x] > 0 or (not self.licensed_of[x] and self.any_serve(x))
        if serves and self.named == 0 and self.over == 0:
            time = self.when_counted(slot, x, after)
            if time >= 0:
                return time
        if self.counted == 0:
            return self.when_named(slot, after)
        if self.nodes_of[x] > 0 and not self.timelines.alone[self.demand_of[x]] and self.parts_in[x] == 0:
            cores = self.nodes_of[x] * self.timelines.each[self.demand_of[x] * self.timelines.kinds]
        time = self.when_named(slot, after)
        while time < NEVER:
            if self.leaves_numbers(slot, x, time, time + length, cores):
                if self.name_unclear(slot, x, time, time + length) == 0:
                    return time
                fits = self.leaves_numbers(slot, x, time, time + length, cores)
                fits = fits and self.when_named(slot, time) == time
                self.take_names_back()
                if fits:
                    return time
            time = self.when_named(slot, self.next_moment(s, time))
        return NEVER

    def when_counted(self, slot, x, after):
        """The same by numbers of cores alone; -1 where they do not tell."""
        own: cython.Py_ssize_t
        plan: Availability
        s: cython.Py_ssize_t = self.set_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        cores: cython.longlong = self.takes(x)
        pool: NodePool = self.pools[s]
        time: cython.longlong = after
        self.follow_ends(s)
        ends: ReleaseProfile = self.ends[s]
        if not self.apart(s):
            return -1
        if self.counted > self.few:
            if after <= self.now and self.number(s, self.now, slot) < cores:
                after = self.now + 1
            plan = self.plan_of(s)
            own = self.held_by(slot)
            if own >= 0:
                self.plan_hold(own, 1)
            time = plan.earliest(cores, length, after, NEVER)
            if own >= 0:
                self.plan_hold(own, -1)
            return time
        if pool.total + (ends.released_by(after) if after > self.now else 0) < cores:
            time = max(ends.when(cores - pool.total), after, self.now + 1)
        while time < NEVER and self.counted > 0:
            if self.number(s, time, slot) >= cores and self.leaves_numbers(slot, x, time, time + length, cores):
                break
            time = self.next_moment(s, time)
        return min(time, NEVER)

    def next_moment(self, s, time):
        """When next after `time` the answer for the set may be another: something ends, or a named hold begins."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.follow_ends(s)
        ends: ReleaseProfile = self.ends[s]
        found: cython.longlong = ends.next_end(time)
        if time == self.now and ends.released_by(time) > 0:
            found = time + 1
        for k in range(self.holds):
            h = self.by_start[k]
            if time < self.held[h].end < found:  # its own, too: others are named around it
                found = self.held[h].end
            if time < self.held[h].start < found and self.held[h].count == 0:
                found = self.held[h].start
        return found

    def when_named(self, slot, after):
        """The first time from `after` on at which the job fits beside the named holds."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if after >= NEVER:
            return NEVER
        self.time_nodes()
        if self.pins > 0 and after > self.now and self.deserted(slot, x, after):
            return after
        if self.nodes_of[x] == 0:
            return self.when_offered(slot, x, after)
        return self.when_nodes(slot, x, after) if self.parts_in[x] == 0 else self.when_parts(slot, x, after)

    def when_parts(self, slot, x, after):
        """The same for one whose nodes differ: a time at which each part has its nodes together with those before it.

        What any of them has to wait for is tried next.
        """
        y: cython.Py_ssize_t
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        time: cython.longlong = after
        next: cython.longlong
        while time < NEVER:
            next = self.when_licensed(slot, x, time, length)
            for y in range(x + 1 + self.parts_in[x], x + 1 + 2 * self.parts_in[x]):
                if next < NEVER:
                    next = max(next, self.when_nodes(slot, y, next))
            if next == time:
                return time
            time = next
        return NEVER

    def when_nodes(self, slot, x, after):
        """The same for so many nodes that have as much each."""
        if self.place.plain:
            if (
                (self.holds == 0 or self.holds_only(slot))
                and after <= self.now
                and not self.licensed_of[x]
                and self.timelines.simple[self.demand_of[x]]
            ):
                return self.when_one_freed(slot, x) if self.nodes_of[x] == 1 else self.when_freed(slot, x)
            return self.when_enough(slot, x, after)
        alone: cython.bint = self.holds == 0 or self.holds_only(slot)
        if self.place.by_room and alone and after <= self.now and not self.licensed_of[x]:
            return self.when_rooms(x)
        return self.when_rooms_last(slot, x, after) if self.place.by_room else self.when_suits(slot, x, after)

    def changes(self):
        """A number that is another one when something has started, ended or moved, or a hold has."""
        return self.node_starts.written + self.version

    def when_one_freed(self, slot, x):
        """The same without holds, for cores of a single node; of those that have room then, the first is noted."""
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        pool: NodePool = self.pools[s]
        tree: Soonest
        time: cython.longlong = NEVER
        self.planned_for = slot
        self.planned = self.changes()
        self.frees = 0
        if pool.at_least(self.timelines.each[d * self.timelines.kinds]) > 0:
            self.planned_at = self.now
            return self.now
        tree = self.node_starts.soonest(d)
        for k in range(self.range_of[s], self.range_of[s + 1]):
            time = min(time, tree.least_of(self.range_first[k], self.range_last[k]))
        if time <= self.now:
            time = self.now + 1
        self.planned_at = time
        for k in range(self.range_of[s], self.range_of[s + 1] if time < NEVER else 0):
            if tree.least_of(self.range_first[k], self.range_last[k]) <= time:
                self.freed[0] = tree.leftmost(self.range_first[k], time)
                self.freed_at[0] = time
                self.frees = 1
                break
        return time

    def when_freed(self, slot, x):
        """The same for several nodes: a walk through the expected ends, until enough nodes have room.

        The nodes that get it on the way are noted, in that order, with the time.
        """
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        job: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        member: cython.Py_ssize_t = s * self.n
        at: cython.Py_ssize_t = self.node_starts.times(d)
        times: cython.p_longlong = words(self.node_starts.time)
        shares: cython.p_longlong
        pool: NodePool = self.pools[s]
        want: cython.longlong = self.nodes_of[x] - pool.at_least(self.timelines.each[d * self.timelines.kinds])
        end: cython.longlong
        time: cython.longlong = self.now
        self.planned_for = slot
        self.planned = self.changes()
        self.frees = 0
        if want <= 0:
            self.planned_at = time
            return time
        self.follow(s)
        walk: RunningProfile = self.profiles[s]
        self.step += 1
        for p in range(walk.blocks):
            for k in range(walk.heads[p].base, walk.heads[p].base + walk.heads[p].count):
                end = walk.rows[k].time
                if end > time and self.frees >= want:
                    self.planned_at = time
                    return time
                if end > time:
                    time = end if end > self.now else self.now + 1
                elif time == self.now:
                    time = self.now + 1
                job = walk.rows[k].slot
                shares = self.shares.of(job)
                for q in range(self.shares.count(job)):
                    i = shares[q] >> 24
                    if times[at + i] == end and self.seen[i] != self.step and self.member[member + i]:
                        self.seen[i] = self.step
                        self.freed[self.frees] = i
                        self.freed_at[self.frees] = time
                        self.frees += 1
        self.planned_at = time if self.frees >= want else NEVER
        return self.planned_at

    def when_enough(self, slot, x, after):
        """When enough nodes have room: of each it is known before when it has none, and those are looked at that may
        have it first."""
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        known: cython.Py_ssize_t = -1
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)  # even of no length it needs its resources
        time: cython.longlong
        next: cython.longlong
        sweep: RoomSweep = self.sweep
        self.timelines.leave_aside(slot)
        if self.named > self.few and after <= self.now:
            known = self.rooms.times(d, length)
        sweep.begin(slot, d, length, self.limit, known)
        for k in range(self.range_of[s], self.range_of[s + 1]):
            sweep.put(self.range_first[k], self.range_last[k], after)
        while True:
            time = sweep.first(self.nodes_of[x])
            self.swept_for = slot if self.jobs.at[slot].shape == x else -1
            if time == NEVER or not self.licensed_of[x]:
                return time
            next = self.when_licensed(slot, x, time, length)
            if next == time or next >= self.limit:
                return next
            sweep.start_at(next)

    def select_last(self, slot, x, at, start, end):
        """Into `smallest` the nodes with room from `start` to `end` that have the last times; of equal ones the lowest
        numbers. Where the job has just `swept` to that time, much is known."""
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        want: cython.longlong = self.nodes_of[x]
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        t: cython.longlong
        times: cython.longlong[::1] = self.node_starts.time
        later: cython.longlong = self.now + 1
        told: cython.Py_ssize_t = 0
        self.smallest.clear(want)
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(at + self.range_first[k], at + self.range_last[k]):
                t = times[i]
                t = self.now if t < 0 else t if t > later else later
                if t > start or (self.smallest.count == want and -t >= self.smallest.worst):
                    continue
                if self.given[i - at] == self.giving:
                    continue
                if self.swept:
                    told = self.sweep.tell(i - at, start)
                if told < 0:
                    continue
                if told > 0 or self.timelines.kept_on[i - at] < 0 or self.timelines.clear(i - at, d, slot, start, end):
                    self.smallest.put(cython.cast(cython.double, -t), i - at)
        return 0

    def when_suits(self, slot, x, after):
        """The same where it matters which nodes they are: time by time."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        pool: NodePool = self.pools[s]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        time: cython.longlong = after
        next: cython.longlong
        suits: cython.bint
        while True:
            next = self.when_licensed(slot, x, time, length)
            if next == time:
                self.imagine(slot, x, pool, time, time + length)
                suits = self.suits(x, pool)
                pool.undo(0)
                if suits:
                    return time
                next = NEVER
                for k in range(self.range_of[s], self.range_of[s + 1]):
                    for i in range(self.range_first[k], self.range_last[k]):
                        next = min(next, self.timelines.next_change(i, slot, time))
            time = next
            if time == NEVER:
                return NEVER

    def when_rooms(self, x):
        """The same without holds, where it matters only which nodes have room: none that has it will lose it."""
        self.clear_rooms(x)
        return self.place.when(self.cleared, self.nodes_of[x])

    def when_rooms_last(self, slot, x, after):
        """The same beside holds: no sooner than if no node that gets room would lose it.

        That time is tried next, until those that have room then suffice.
        """
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        s: cython.Py_ssize_t = self.set_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(d)
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        time: cython.longlong = after
        next: cython.longlong
        for i in range(self.n):
            self.cleared[i] = -1 if self.member[s * self.n + i] else NEVER
        while True:
            for k in range(self.range_of[s], self.range_of[s + 1]):
                for i in range(self.range_first[k], self.range_last[k]):
                    if self.cleared[i] < time:
                        self.cleared[i] = self.timelines.first_clear(
                            i, d, slot, time, length, self.limit, self.node_starts.time[at + i]
                        )
            next = max(self.place.when(self.cleared, self.nodes_of[x]), self.when_licensed(slot, x, time, length))
            if next <= time or next == NEVER:
                return next
            time = next

    def clear_rooms(self, x):
        """Let `cleared` tell from when on each node has room."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        t: cython.longlong
        s: cython.Py_ssize_t = self.set_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(self.demand_of[x])
        for i in range(self.n if self.sets > 1 else 0):
            self.cleared[i] = NEVER
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                t = self.node_starts.time[at + i]
                self.cleared[i] = self.now if t < 0 else t if t > self.now else self.now + 1
        return 0

    def imagine(self, slot, x, pool: NodePool, start, end):
        """Assume in the pool what a shaped job may take on each node of its set from `start` to `end`."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if self.timelines.clear(i, self.demand_of[x], slot, start, end):
                    pool.assume(i, self.timelines.offer(i, A_CORE, slot, start, end))
                else:
                    pool.assume(i, 0)
        return 0

    def when_offered(self, slot, x, after):
        """When enough cores are offered to a job that wants no certain nodes: a walk through the times at which more
        may be offered."""
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        have: cython.longlong = 0  # on nodes where nothing is kept for others
        next: cython.longlong
        time: cython.longlong = after
        self.follow(s)
        walk: RunningProfile = self.profiles[s]
        self.walk = walk
        self.block = self.entry = 0
        self.step += 1
        self.meet(slot, s, after, self.reach)
        for k in range(self.meets):
            self.asked[k] = self.offers_until[k] = -1
        self.timelines.blind = True
        have = self.offered_now(slot, x)
        self.timelines.blind = False
        while time < self.limit:
            if time > self.now:
                self.timelines.blind = True
                have += self.forward(x, time)
                self.timelines.blind = False
            next = self.when_licensed(slot, x, time, length)
            if next == time:
                if self.offered_beside(slot, x, time, length, self.cores_of[x] - have):
                    return time
                next = NEVER
                if self.entry < self.walk.heads[self.block].count:
                    next = max(time + 1, self.walk.rows[self.walk.heads[self.block].base + self.entry].time)
                for k in range(self.meets):
                    if self.offers_until[k] < next:
                        next = self.offers_until[k]
            time = next
        return NEVER

    def offered_beside(self, slot, x, time, length, want):
        """Whether the nodes met offer so many cores from `time` on for so long.

        `offers_most` is what a node offered when it was `asked`; up to `offers_until` it offers no more. So where even
        that is too little, nothing is asked again.
        """
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        sum: cython.longlong = 0
        for k in range(self.meets):
            if self.offers_until[k] <= time:
                self.ask_offer(k, d, slot, time, length)
            sum += self.offers_most[k]
        for k in range(self.meets):
            if sum < want:
                return False
            if self.asked[k] < time and self.offers_most[k] > 0:
                sum -= self.offers_most[k]
                self.ask_offer(k, d, slot, time, length)
                sum += self.offers_most[k]
        return sum >= want

    def ask_offer(self, k, d, slot, time, length):
        """Ask a node that was met."""
        self.offers_most[k] = self.timelines.offer_long(self.met[k], d, slot, time, time + length)
        self.offers_until[k] = self.timelines.until
        self.asked[k] = time
        return 0

    def offered_now(self, slot, x):
        """Cores that the nodes where nothing is kept for others offer at this moment."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = -1
        d: cython.Py_ssize_t = self.demand_of[x]
        pool: NodePool = self.pools[self.set_of[x]]
        have: cython.longlong = 0
        level: cython.longlong
        if self.timelines.simple[d]:
            have = pool.total
            for k in range(self.meets):
                have -= pool.value[self.met[k]]
            return have
        level = pool.level_from(1)
        while level >= 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            elif self.mark[i] != self.stamp:
                have += self.timelines.offer_at(i, d, slot, self.now)
        return have

    def forward(self, x, time):
        """Walk on to `time`; how many cores more the nodes then offer where nothing is kept for others."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        job: cython.Py_ssize_t
        base: cython.Py_ssize_t
        offer: cython.longlong
        gain: cython.longlong = 0
        shares: cython.p_longlong
        d: cython.Py_ssize_t = self.demand_of[x]
        member: cython.Py_ssize_t = self.set_of[x] * self.n
        while self.block < self.walk.blocks:
            if self.entry >= self.walk.heads[self.block].count:
                if self.block + 1 == self.walk.blocks:
                    break
                self.block += 1
                self.entry = 0
                continue
            base = self.walk.heads[self.block].base + self.entry
            if self.walk.rows[base].time > time:
                break
            job = self.walk.rows[base].slot
            self.entry += 1
            shares = self.shares.of(job)
            for k in range(self.shares.count(job)):
                i = shares[k] >> 24
                if self.member[member + i] and self.mark[i] != self.stamp:
                    if self.seen[i] != self.step:
                        self.seen[i] = self.step
                        self.offered[i] = self.timelines.offer_at(i, d, -1, self.now)
                    offer = self.timelines.offer_at(i, d, -1, time)
                    gain += offer - self.offered[i]
                    self.offered[i] = offer
        return gain
