"""Promised starts: holds that are made, moved forward, loosened and dropped."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.ledger.naming import Naming

NEVER = cython.declare(cython.longlong, _NEVER)
EASED = cython.declare(cython.Py_ssize_t, 4096)  # as in Timelines
MANY = cython.declare(cython.Py_ssize_t, 32)  # holds with names times this, over the nodes: dropped all at once


@cython.cclass
class Holding(Naming):
    """The holds. A job's own hold never stands in its way."""

    def hold(self, slot, start):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        h: cython.Py_ssize_t
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)
        if self.holds_only(slot) and (
            self.place.by_room
            or (self.planned_for == slot and self.planned_at == start and self.planned == self.changes())
        ):
            return self.renew(slot, x, start, end)
        if self.keeps_number(slot):
            return self.renew_number(slot, x, start, end)
        found: cython.bint = self.is_found(slot, start)
        if not found:
            self.recalled = self.swept_for = self.tabled_for = -1
        if self.counted > 0:
            self.name_unclear(slot, x, start, end)
            self.keep_names()
        self.make_hold(slot, start, end)
        h = self.made
        self.held[h].set = self.set_of[x]
        self.held[h].shape = x
        if not self.is_placed(slot, x, start, end):
            self.held[h].count = self.takes(x)
            self.counted += 1
            self.of_set[self.set_of[x]].counted += 1
            self.plan_hold(h, -1)
        elif self.recalled >= 0:
            self.keep_recalled(slot, x, start, end)
        else:
            self.swept = self.swept_for == slot
            self.keep_named(slot, x, start, end)
        self.swept = False
        self.keep_licences(slot, x, start, end)
        self.enter_hold(h)
        self.note_hold(h, found)
        if self.memory.count > 0:
            self.compare(h)
        self.lay_hold(h)
        self.version += 1
        return self.bound()

    def keeps_number(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if h < 0 or self.holds != 1 or self.counted != 1 or self.over > 0 or self.pins > 0 or self.tries > 0:
            return False
        if self.memory.count > 0 or x < 0 or self.held[h].shape != x or self.jobs.at[slot].choice >= 0:
            return False
        return self.plain_of[x] > 0 or (self.any_serve(x) and not self.licensed_of[x])

    def renew_number(self, slot, x, start, end):
        """The only hold, a number of cores, is for another time; where that is the same, so is all else."""
        h: cython.Py_ssize_t = self.held_by(slot)
        cores: cython.longlong = self.takes(x)
        self.pure = False
        self.recalled = self.swept_for = self.tabled_for = -1
        if self.held[h].start == start and self.held[h].end == end and self.held[h].count == cores:
            return self.bound()
        self.plan_hold(h, 1)
        self.held[h].start = start
        self.held[h].end = end
        self.held[h].count = cores
        self.plan_hold(h, -1)
        self.edge = min(self.edge, start, end)
        self.timelines.eases += 1
        self.valid_from = self.timelines.eases
        self.version += 1
        return self.bound()

    def advance(self, slot):
        start: cython.longlong = self.jobs.at[slot].promise
        time: cython.longlong
        self.pure = False
        if start <= self.now and not self.fits(slot):  # amid an instant: some jobs ending at it are still in its place
            return start
        if start > self.now and self.is_settled(slot, start):
            return start
        self.limit = start
        time = min(self.earliest(slot, self.now), start)
        self.limit = NEVER
        self.hold_again(slot, time)
        self.jobs.at[slot].promise = time
        return time

    def is_settled(self, slot, start):
        """Whether a look of the job would find what its last look found.

        What was added since takes nothing from its hold, and gives it nothing. What was eased matters on a node that it
        has, on one that has room for it before its promise, and on one that it would rather keep at its promise.
        """
        p: cython.longlong
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        d: cython.Py_ssize_t = self.demand_of[x]
        s: cython.Py_ssize_t = self.set_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        first: cython.longlong
        if h < 0 or self.holds <= self.few or self.held[h].looked < self.valid_from:
            return False
        if self.timelines.eases - self.held[h].looked > min(self.n, EASED):
            return False
        if self.held[h].shape != x or self.held[h].start != start or self.held[h].end - start != length:
            return False
        if self.held[h].count != 0 or not self.nodes_decide(x) or self.is_late(s):
            return False
        self.glance += 1
        self.timelines.leave_aside(slot)
        for p in range(self.held[h].looked, self.timelines.eases):
            i = self.timelines.eased[p & (EASED - 1)]
            if self.glanced[i] == self.glance or not self.member[s * self.n + i]:
                continue
            self.glanced[i] = self.glance
            first = self.timelines.first_time(i, d)
            if self.timelines.aside_mark[i] == self.timelines.asides:
                return False
            if self.timelines.first_clear(i, d, slot, self.now, length, start, first) < start:
                return False
            rather: cython.bint = first >= self.held[h].worst if self.ranks_by_end(x) else i < self.held[h].worst
            if rather and first <= start and self.timelines.clear(i, d, slot, start, start + length):
                return False
        self.held[h].looked = self.timelines.eases
        return True

    def hold_again(self, slot, start):
        """Another hold in the place of the job's own, which until then others leave alone; what is another one by it
        is told, and the look is remembered where a later one can be spared."""
        e: cython.longlong
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)
        same: cython.bint = h >= 0 and self.held[h].start == start and self.held[h].end == end
        e = self.held[h].first if h >= 0 else -1
        while e >= 0:
            self.before_node[n] = self.timelines.kept_node[e]
            self.before_cores[n] = self.timelines.kept_amounts[e * self.timelines.kinds]
            n += 1
            e = self.timelines.kept_next[e]
        self.timelines.quiet = True
        self.hold(slot, start)
        self.timelines.quiet = False
        h = self.held_by(slot)
        self.timelines.leave_aside(slot)
        for k in range(n):
            i = self.before_node[k]
            e = self.timelines.aside_entry[i] if self.timelines.aside_mark[i] == self.timelines.asides else -1
            if not same or e < 0 or self.timelines.kept_amounts[e * self.timelines.kinds] != self.before_cores[k]:
                self.timelines.ease(i)
        if self.held[h].count == 0 and self.nodes_decide(x):
            self.held[h].shape = x
            self.held[h].worst = self.worst_of(h, x)
            self.held[h].looked = self.timelines.eases
        return 0

    def worst_of(self, h, x):
        """Of the hold's nodes that which it would give up first: the first to be free, and when that is; or the one
        with the highest number."""
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong = self.held[h].first
        by_end: cython.bint = self.ranks_by_end(x)
        worst: cython.longlong = NEVER if by_end else -1
        at = self.node_starts.times(self.demand_of[x])
        while e >= 0:
            i = self.timelines.kept_node[e]
            worst = min(worst, self.node_starts.time[at + i]) if by_end else max(worst, i)
            e = self.timelines.kept_next[e]
        return worst

    def loosen(self, slot):
        return 0  # it never does; and until it is replaced others are named around it

    def make_hold(self, slot, start, end):
        """An empty hold that the others do not know yet: `made`."""
        if self.unlike > 0:
            self.time_nodes()
        if self.holds > 0:
            self.unhold(slot)
        h: cython.Py_ssize_t = self.new_hold(slot, start, end)
        self.made = h
        self.held[h].first = self.held[h].licences = -1
        self.held[h].all = self.held[h].count = self.held[h].set = 0
        self.held[h].looked = self.held[h].made = -1
        self.edge = min(self.edge, start, end)
        return 0

    def unhold(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        if h < 0:
            return 0
        self.drop_hold(h)
        return self.bound()

    def drop_hold(self, h):
        """The hold is there no more; the bounds do not know yet."""
        self.strike_hold(h)
        self.lift_hold(h)
        self.forget_hold(h)
        self.version += 1
        return 0

    def forget_hold(self, h):
        """Nothing is kept for it any more."""
        self.timelines.forget(self.held[h].first)
        self.licensing.forget(self.held[h].licences)
        if self.held[h].count > 0:
            self.plan_hold(h, 1)
            self.counted -= 1
            self.of_set[self.held[h].set].counted -= 1
            self.timelines.eases += 1  # of no node, so of any
            self.valid_from = self.timelines.eases
        else:
            self.named -= 1
        self.held[h].made = -1
        return self.free_hold(h)

    def release_holds(self):
        h: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = 0
        if self.holds == 0:
            return 0
        self.remember()
        self.timelines.noted = False
        if self.pins == 0 and self.domain < 0 and self.named * MANY > self.n:  # else one by one, not node by node
            self.timelines.forget_all()
            for j in range(self.holds):
                self.held[self.by_start[j]].first = -1
        for j in range(self.holds):
            h = self.by_start[j]
            if (self.domain < 0 or self.jobs.at[self.held[h].slot].domain == self.domain) and not self.is_pinned(h):
                self.jobs.at[self.held[h].slot].promise = -1  # also of one that has come to a limit since
                self.forget_hold(h)
            else:
                self.by_start[k] = h
                k += 1
        self.holds = k
        self.pure = k == 0
        self.watching = False
        self.timelines.noted = self.memory.count > 0
        for j in range(self.sets if self.counted == 0 else 0):
            self.plans[j] = None
        self.version += 1
        return self.bound()

    def name_around(self, h):
        """Give names to the holds inside which this one begins."""
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        self.choose_none()
        for k in range(self.holds):
            g = self.by_start[k]
            if self.held[g].count > 0 and self.held[g].start < self.held[h].start < self.held[g].end:
                self.chosen[g] = self.touches(h, self.held[g].set)
        self.name_chosen(-1)
        return self.keep_names()
