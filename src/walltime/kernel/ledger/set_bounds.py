"""The scalar bounds of a node set: what a job must keep to if it is to fit there."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.set_profiles import SetProfiles
from walltime.kernel.profiles.availability import Availability
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.profiles.running_profile import RunningProfile

NEVER = cython.declare(cython.longlong, _NEVER)
OTHERS_RUN = cython.declare(cython.Py_ssize_t, 2)  # as in EasedNodes


@cython.cclass
class SetBounds(SetProfiles):
    """Bounds of each set, kept up to date as nodes and holds change."""

    def update(self, i):
        """The node's running jobs have changed: tell what keeps an account of it."""
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t
        e: cython.longlong
        former: cython.longlong
        kinds: cython.Py_ssize_t = self.timelines.kinds
        left: cython.longlong = self.timelines.cap[i * kinds] - self.timelines.used[i * kinds]
        free: cython.longlong = self.everything.value[i]
        pool: NodePool
        if self.tells_room:
            self.tell_room(i)
        if not self.timed and left >= 0 and self.over == 0:
            return self.everything.set(i, left)
        self.over += (left < 0) - self.short[i]
        self.short[i] = left < 0
        if left < 0:
            left = 0
        if not self.timed:
            return self.everything.set(i, left)
        for k in range(self.sets_from[i], self.sets_from[i + 1]):
            pool = self.pools[self.sets_at[k]]
            pool.set(i, left)
        self.node_starts.changed(i)
        self.timelines.ease(i)
        if self.timelines.noted:
            self.timelines.since.put(i, OTHERS_RUN)
        s = -1
        for k in range(self.sets_from[i], self.sets_from[i + 1]):
            s = max(s, self.of_set[self.sets_at[k]].lone)
        e = self.timelines.kept_on[i] if s >= 0 else -1  # what a hold bars matters where it is the only one
        while e >= 0:
            former = self.timelines.kept_barred[e]
            self.timelines.kept_barred[e] = self.barred_by(e)
            for k in range(self.sets_from[i], self.sets_from[i + 1]):
                s = self.sets_at[k]
                if self.of_set[s].lone >= 0 and self.held[self.of_set[s].lone].slot == self.timelines.kept_by[e]:
                    self.of_set[s].barred += self.timelines.kept_barred[e] - former
                    self.lose(s, free, former, -1)
                    self.lose(s, left, self.timelines.kept_barred[e], 1)
            e = self.timelines.kept_beside[e]
        return 0

    def drain(self, nodes, empty) -> None:
        """Nothing new starts on the nodes any more (or again); what runs there stays."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        self.time_nodes()
        self.drained += len(nodes) if empty else -len(nodes)
        for node in nodes:
            i = node
            for r in range(kinds):
                self.timelines.cap[i * kinds + r] = 0 if empty else self.timelines.full[i * kinds + r]
            self.update(i)
        self.version += 1
        self.bound()

    def focus(self, node_set, local):
        h: cython.Py_ssize_t
        s: cython.Py_ssize_t = node_set if node_set > 0 else 0
        pool: NodePool = self.pools[s]
        if self.of_set[s].measured != self.version:
            self.measure(s)
        self.most_free = pool.total
        self.most_extra = self.extra_of(s)
        self.most_window = self.of_set[s].first_hold - self.now if self.of_set[s].first_hold < NEVER else NEVER
        if local:
            h = self.of_set[s].lone
            self.most_free = pool.level_to(pool.top)
            self.most_extra = min(self.most_extra, self.most_free if h < 0 else self.most_beside(h, s))
        return 0

    def focus_beside(self, node_set, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        s: cython.Py_ssize_t = node_set if node_set > 0 else 0
        self.focus(node_set, False)
        if h < 0:
            self.most_extra = self.most_free
            self.most_window = NEVER
            return 0
        self.most_window = self.held[h].start - self.now
        if self.of_set[s].lone == h and self.pins == 0 and (self.held[h].count == 0 or self.held[h].set == s):
            return 0  # then the bound is exact
        self.most_extra = self.number_beside(h, s) if self.held[h].count > 0 else self.left_beside(h, s)
        self.most_extra = max(0, min(self.most_free, self.most_extra))
        return 0

    def number_beside(self, h, s):
        """Cores of the set that are left when the hold begins, beside it and all that is kept there at that time, of
        its own domain also as a number of other nodes: all the domain's are in the set."""
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        time: cython.longlong = max(self.now, self.held[h].start)
        left: cython.longlong = self.number(s, time, -1)
        for k in range(self.holds):
            g = self.by_start[k]
            if self.held[g].count == 0 or self.held[g].set == s or not self.held[g].start <= time < self.held[g].end:
                continue
            if self.jobs.at[self.held[g].slot].domain == self.jobs.at[self.held[h].slot].domain:
                left -= self.held[g].count
        return left

    def left_beside(self, h, s):
        """Cores of the set that are free now and, on the same nodes, when the hold begins, beside all with names."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        left: cython.longlong
        sum: cython.longlong = 0
        time: cython.longlong = max(self.now, self.held[h].start)
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                left = self.timelines.left_at(i, time)
                if left > 0 and self.timelines.kept_on[i] >= 0:
                    left -= min(left, self.timelines.kept_at(i, -1, time))
                sum += max(0, min(self.everything.value[i], left))
        return sum

    def part_of(self, slot):
        """What it wants of each node, in cores, where that says something about it."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        least: cython.longlong
        if x < 0 or self.jobs.at[slot].choice >= 0 or self.nodes_of[x] == 0:
            return 0
        least = self.timelines.each[self.demand_of[x] * self.timelines.kinds]
        return least if least < self.levels and self.jobs.at[slot].cores <= least * self.nodes_of[x] else 0

    def extra_of(self, s):
        """Cores of the set for a job that outlasts the start of the only hold there."""
        h: cython.Py_ssize_t = self.of_set[s].lone
        pool: NodePool = self.pools[s]
        if h < 0 or self.held[h].count == 0:
            return pool.total - self.of_set[s].barred
        if self.held[h].set != s:
            return pool.total
        if self.held[h].start <= self.now or self.over > 0 or self.named > 0:
            return max(0, min(pool.total, self.number(s, max(self.now, self.held[h].start), -1)))
        if self.of_set[s].spared != self.version:
            self.of_set[s].spare = self.number(s, self.held[h].start, -1)
            self.of_set[s].spared = self.version
        return max(0, min(pool.total, self.of_set[s].spare))

    def most_beside(self, h, s):
        """The most that a single node of the set offers beside the hold; where it is by number, a bound of that."""
        pool: NodePool = self.pools[s]
        v: cython.longlong = pool.level_to(pool.top)
        nodes: cython.longlong = 0
        if self.held[h].count > 0:
            return v
        while v > 0:
            nodes += pool.count[v] - self.lost[s * self.levels + v]
            if nodes > 0:
                break
            v -= 1
        return v

    def set_time(self, now):
        if now == self.now:
            return 0
        self.now = now
        self.timelines.now = self.licensing.now = now
        return 0 if self.holds == 0 else self.approach_holds(now)

    @cython.final
    def approach_holds(self, now):
        """The holds are nearer, or begin or end."""
        k: cython.Py_ssize_t
        plan: Availability
        for k in range(self.sets if self.planned and self.counted > 0 else 0):
            plan = self.plans[k]
            if plan is not None:
                plan.forget(now)
        if now >= self.edge:
            self.version += 1
            self.find_edge()
        elif self.knows_spare():
            self.window = self.held[self.of_set[0].lone].start - now
            return 0
        return self.bound()

    @cython.final
    def knows_spare(self):
        """Whether nothing but numbers has changed since the only hold was measured, a number of cores itself."""
        return self.of_set[0].spared == self.version and self.pins == 0 and self.over == 0 and self.named == 0

    def find_edge(self):
        """When next a hold begins or ends."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.edge = NEVER
        for k in range(self.holds):
            h = self.by_start[k]
            if self.now < self.held[h].start < self.edge:
                self.edge = self.held[h].start
            if self.now < self.held[h].end < self.edge:
                self.edge = self.held[h].end
        return 0

    def touches(self, h, s):
        """Whether the hold keeps something on a node of the set, or may do so."""
        e: cython.longlong = self.held[h].first
        i: cython.Py_ssize_t
        if self.held[h].count > 0 or self.crosses[self.held[h].set * self.sets + s] == 0:
            return self.crosses[self.held[h].set * self.sets + s] == 1
        if self.held[h].set == s:
            return e >= 0
        while e >= 0:
            i = self.timelines.kept_node[e]
            if i < self.n and self.member[s * self.n + i]:
                return True
            e = self.timelines.kept_next[e]
        return False

    def measure(self, s):
        """Which holds bear on the set: when the first begins; if it is the only one, what it bars.

        That is what is free now and cannot be had by a job that outlasts the hold's start.
        """
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        e: cython.longlong
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        self.of_set[s].measured = self.version
        self.of_set[s].first_hold = NEVER
        self.of_set[s].lone = -1
        self.of_set[s].barred = 0
        for k in range(s * self.levels, (s + 1) * self.levels):
            self.lost[k] = 0
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held[h].end > self.now and not self.is_pinned(h) and self.touches(h, s):
                found += 1
                self.of_set[s].lone = h
                if found == 2:
                    break
                self.of_set[s].first_hold = self.held[h].start
        for k in range(self.holds if found == 0 else 0):  # only what is pinned bears on it
            h = self.by_start[k]
            if self.held[h].end > self.now and self.touches(h, s):
                self.of_set[s].first_hold = self.held[h].start
                break
        if found != 1:
            self.of_set[s].lone = -1
            return 0
        if self.held[self.of_set[s].lone].count > 0:
            return 0
        e = self.held[self.of_set[s].lone].first
        while e >= 0:
            i = self.timelines.kept_node[e]
            if i < self.n and self.member[s * self.n + i]:
                self.timelines.kept_barred[e] = self.barred_by(e)
                self.bar(s, e, 1)
            e = self.timelines.kept_next[e]
        return 0

    def bar(self, s, e, sign):
        """Count what the entry bars on its node, which is one of the set; or count it no more."""
        self.of_set[s].barred += sign * self.timelines.kept_barred[e]
        return self.lose(s, self.everything.value[self.timelines.kept_node[e]], self.timelines.kept_barred[e], sign)

    def lose(self, s, free, barred, sign):
        """A node of the set has so many free cores, of which so many cannot be had beside the only hold."""
        if barred > 0:
            self.lost[s * self.levels + free] += sign
            self.lost[s * self.levels + free - barred] -= sign
        return 0

    def beside(self, s, least):
        """How many nodes of the set have at least so many free cores beside the only hold."""
        v: cython.longlong = self.levels - 1
        pool: NodePool = self.pools[s]
        found: cython.longlong = pool.at_least(least)
        while v >= least:
            found -= self.lost[s * self.levels + v]
            v -= 1
        return found

    def barred_by(self, e):
        free: cython.longlong = self.everything.value[self.timelines.kept_node[e]]
        left: cython.longlong
        if free == 0:
            return 0
        left = (
            self.timelines.left_at(self.timelines.kept_node[e], self.timelines.kept_start[e])
            - self.timelines.kept_amounts[e * self.timelines.kinds]
        )
        if left >= free:
            return 0
        return free - left if left > 0 else free

    def is_pinned(self, h):
        return self.jobs.at[self.held[h].slot].pinned

    def bound(self):
        """The bounds of the whole cluster."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        if self.holds == 0:
            self.free = self.extra = self.everything.total
            self.longest = self.closing = self.window = NEVER
            return 0
        if self.knows_spare():
            self.free = self.everything.total
            self.extra = max(0, min(self.free, self.of_set[0].spare))
            self.window = self.held[self.of_set[0].lone].start - self.now
            return 0
        if self.of_set[0].measured != self.version:
            self.measure(0)
        self.longest = NEVER
        for k in range(self.holds if self.pins > 0 else 0):
            h = self.by_start[k]
            if self.held[h].all and self.held[h].end > self.now and self.held[h].start - self.now < self.longest:
                self.longest = self.held[h].start - self.now  # from then on there is nothing
        self.closing = self.longest
        self.free = self.everything.total
        self.window = self.of_set[0].first_hold - self.now if self.of_set[0].first_hold < NEVER else NEVER
        self.extra = self.extra_of(0)
        return 0

    def foresee(self, free_profile: FreeProfile):
        """Whole nodes that are all alike can be counted where every job may use all of them."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        profile: RunningProfile
        if not self.whole or self.sets > 1 or self.unlike > 0:
            return False
        if self.pins > 0 or self.drained > 0 or self.capacity != self.size:
            return False
        self.follow(0)
        profile = self.profiles[0]
        free_profile.begin(self.now, self.everything.total // self.everything.top, self.everything.top)
        for p in range(profile.blocks):
            base = profile.heads[p].base
            for k in range(base, base + profile.heads[p].count):
                free_profile.release(profile.rows[k].time, self.shares.spots[profile.rows[k].slot].length)
        return True
