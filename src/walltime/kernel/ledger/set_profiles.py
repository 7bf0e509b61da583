"""The cores of each node set over time: what runs there, and what is held there, by number and by name."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled
from walltime.kernel.ledger.inventory import Inventory
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.release_profile import ReleaseProfile
from walltime.kernel.profiles.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class SetProfiles(Inventory):
    """Running jobs and holds, set by set."""

    def follow(self, s):
        """Begin to keep the set's running jobs by expected end."""
        slot: cython.Py_ssize_t
        if self.profiles[s] is not None:
            return 0
        profile: RunningProfile = RunningProfile()
        self.profiles[s] = profile
        if self.follows == len(self.followed):
            self.followed = doubled(self.followed)
        self.followed[self.follows] = s
        self.follows += 1
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding == 1 and self.jobs.at[slot].cluster == self.index and self.within(slot, s):
                profile.insert(self.jobs.at[slot].expected_end, self.jobs.at[slot].seq, slot)
        return 0

    def follow_ends(self, s):
        """Begin to keep the cores that the set's running jobs will free, by expected end."""
        slot: cython.Py_ssize_t
        cores: cython.longlong
        if self.ends[s] is not None:
            return 0
        ends: ReleaseProfile = ReleaseProfile()
        self.ends[s] = ends
        if s == 0:
            self.ending = ends
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding == 1 and self.jobs.at[slot].cluster == self.index:
                cores = self.cores_within(slot, s)
                if cores > 0:
                    ends.insert(self.jobs.at[slot].expected_end, cores)
        return 0

    def enroll(self, slot, end, cores, enters):
        """The job, which has so many cores, enters or leaves the list of running jobs of every set that has one."""
        if self.follows > 0 or self.sets > 1:
            self.enroll_sets(slot, end, enters)
        return self.enroll_cores(0, self.ending, end, cores, enters) if self.ending is not None else 0

    @cython.final
    def enroll_sets(self, slot, end, enters):
        """The same in the lists that tell which jobs they are, and in the sets but the first, which has all nodes."""
        k: cython.Py_ssize_t
        if self.follows > 0:
            self.enroll_followed(slot, end, enters)
        for k in range(1, self.sets):
            if self.ends[k] is not None:
                self.enroll_cores(k, self.ends[k], end, self.cores_within(slot, k), enters)
        return 0

    def enroll_followed(self, slot, end, enters):
        """The same in the lists that tell which jobs they are."""
        k: cython.Py_ssize_t
        profile: RunningProfile
        for k in range(self.follows):
            if self.within(slot, self.followed[k]):
                profile = self.profiles[self.followed[k]]
                if enters:
                    profile.insert(end, self.jobs.at[slot].seq, slot)
                else:
                    profile.remove(end, self.jobs.at[slot].seq)
        return 0

    @cython.final
    def enroll_cores(self, k, ends: ReleaseProfile, end, cores, enters):
        """The same in what set k knows of the cores that its jobs will free."""
        if self.of_set[k].spared == self.version and end > self.held[self.of_set[k].lone].start:
            self.of_set[k].spare += -cores if enters else cores
        if cores == 0:
            return 0
        if enters:
            ends.insert(end, cores)
        else:
            ends.remove(end, cores)
        if self.planned:
            self.plan_cores(k, end, -cores if enters else cores)
        return 0

    def plan_cores(self, k, end, cores):
        """From now to `end` so many cores more are free in what is planned for set k, if anything is."""
        plan: Availability = self.plans[k]
        if plan is None:
            return 0
        self.of_set[k].planned_free += cores
        return plan.add(self.now, end, cores)

    def number(self, s, time, slot):
        """Cores of the set that are left at that time, now or later, beside running jobs and the holds of others."""
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        ends: ReleaseProfile
        plan: Availability
        have: cython.longlong = pool.total
        if self.counted > self.few and self.over == 0:
            plan = self.plan_of(s)
            ends = self.ends[s]
            have = plan.at(max(time, self.now))
            if time <= self.now:
                have -= ends.released_by(self.now)  # they are still there
            h = self.held_by(slot)
            own: cython.bint = h >= 0 and self.held[h].count > 0 and self.held[h].set == s
            if own and self.held[h].start <= time < self.held[h].end:
                have += self.held[h].count
            return have - (self.kept_by_name(s, time, slot) if self.named > 0 else 0)
        if time > self.now and self.over == 0:
            self.follow_ends(s)
            ends = self.ends[s]
            have += ends.released_by(time)
        elif time > self.now:  # somewhere more is in use than there is: its end frees less than it has
            have = 0
            for k in range(self.range_of[s], self.range_of[s + 1]):
                for i in range(self.range_first[k], self.range_last[k]):
                    have += max(self.timelines.left_at(i, time), 0)
        if self.named > 0:
            have -= self.kept_by_name(s, time, slot)
        for k in range(self.holds if self.counted > 0 else 0):
            h = self.by_start[k]
            if self.held[h].count == 0 or self.held[h].set != s or self.held[h].slot == slot:
                continue
            if self.held[h].start <= time < self.held[h].end:
                have -= self.held[h].count
        return have

    def plan_of(self, s):
        """The cores of the set over time, beside running jobs and the holds that are a number of them."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        plan: Availability
        if self.plans[s] is not None and self.of_set[s].planned_free == pool.total:
            return self.plans[s]
        self.follow_ends(s)
        ends: ReleaseProfile = self.ends[s]
        plan = Availability(pool.total + ends.released_by(NEVER))
        for p in range(ends.blocks):
            base = ends.heads[p].base
            for k in range(base, base + ends.heads[p].count):
                plan.add(self.now, ends.rows[k].time, -ends.rows[k].cores)
        self.plans[s] = plan
        self.planned = True
        self.of_set[s].planned_free = pool.total
        for k in range(self.holds):
            if self.held[self.by_start[k]].set == s:
                self.plan_hold(self.by_start[k], -1)
        return plan

    def plan_hold(self, h, sign):
        """The cores of a hold without names are taken out of the plan of its set, or put back."""
        plan: Availability = self.plans[self.held[h].set]
        if plan is not None and self.held[h].count > 0:
            plan.add(max(self.held[h].start, self.now), self.held[h].end, sign * self.held[h].count)
        return 0

    def apart(self, s):
        """Whether all holds without names that bear on the set are of this very set."""
        k: cython.Py_ssize_t
        for k in range(self.sets):
            if k != s and self.of_set[k].counted > 0 and self.crosses[k * self.sets + s] == 1:
                return False
        return True

    def kept_by_name(self, s, time, slot):
        """Of the cores that running jobs leave at that time, those that named holds of others keep."""
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong
        left: cython.longlong
        k: cython.Py_ssize_t
        sum: cython.longlong = 0
        if self.named > self.few:
            for k in range(self.range_of[s], self.range_of[s + 1]):
                for i in range(self.range_first[k], self.range_last[k]):
                    if self.timelines.kept_on[i] >= 0:
                        left = self.timelines.left_at(i, time)
                        if left > 0:
                            sum += min(left, self.timelines.kept_at(i, slot, time))
            return sum
        self.glance += 1
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start <= time < self.held[h].end and self.held[h].slot != slot:
                e = self.held[h].first
                while e >= 0:
                    i = self.timelines.kept_node[e]
                    if i < self.n and self.member[s * self.n + i] and self.glanced[i] != self.glance:
                        self.glanced[i] = self.glance
                        left = self.timelines.left_at(i, time)
                        if left > 0:
                            sum += min(left, self.timelines.kept_at(i, slot, time))
                    e = self.timelines.kept_next[e]
        return sum

    def conflicts(self, slot, start, end):
        """Whether some other job's hold lies in that time."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start >= end:
                return False
            if self.held[h].all or self.held[h].slot == slot:
                continue
            if self.held[h].start < end and self.held[h].end > start:
                return True
        return False

    def meet(self, slot, s, start, end):
        """Put into `met` the nodes of the set on which something is kept for other jobs in that time."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong
        self.meets = 0
        self.stamp += 1
        if self.named > self.few:
            return self.meet_nodes(slot, s, start, end)
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].start < end and self.held[h].end > start and self.held[h].slot != slot:
                e = self.held[h].first
                while e >= 0:
                    i = self.timelines.kept_node[e]
                    if i < self.n and self.mark[i] != self.stamp and self.member[s * self.n + i]:
                        self.mark[i] = self.stamp
                        self.met[self.meets] = i
                        self.meets += 1
                    e = self.timelines.kept_next[e]
        return 0

    def meet_nodes(self, slot, s, start, end):
        """The same, node by node: where there are many holds."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if self.timelines.keeps(i, slot, start, end):
                    self.mark[i] = self.stamp
                    self.met[self.meets] = i
                    self.meets += 1
        return 0

    def licensed(self, slot, x, start, end):
        """Whether all licences of the request are left from `start` to `end`."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        if self.licensed_of[x]:
            for k in range(self.licences):
                d = self.licence_of[x * self.licences + k]
                if d >= 0 and not self.licensing.clear(k, d, slot, start, end):
                    return False
        return True

    def when_licensed(self, slot, x, after, length):
        """No start between `after` and this time has the licences; `after` itself where it has them."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        time: cython.longlong
        latest: cython.longlong = after
        if self.licensed_of[x]:
            for k in range(self.licences):
                d = self.licence_of[x * self.licences + k]
                if d >= 0:
                    time = self.licensing.first_clear(k, d, slot, after, length, NEVER, self.licensing.first_time(k, d))
                    if time > latest:
                        latest = time
        return latest

    def kept_for(self, slot) -> list:
        """What is kept for a job, as (node, amounts): licences have the numbers behind the nodes."""
        out = []
        h: cython.Py_ssize_t = self.held_by(slot)
        e: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        if h >= 0:
            e = self.held[h].first
            while e >= 0:
                amounts = [int(self.timelines.kept_amounts[e * kinds + r]) for r in range(kinds)]
                out.append((int(self.timelines.kept_node[e]), tuple(amounts)))
                e = self.timelines.kept_next[e]
            e = self.held[h].licences
            while e >= 0:
                amounts = [int(self.licensing.kept_amounts[e])] + [0] * (kinds - 1)
                out.append((self.n + int(self.licensing.kept_node[e]), tuple(amounts)))
                e = self.licensing.kept_next[e]
        return sorted(out)
