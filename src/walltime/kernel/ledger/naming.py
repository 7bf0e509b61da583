"""Which nodes are kept for a job that has been promised a start."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.ledger.choosing import Choosing
from walltime.kernel.ledger.node_pool import NodePool

NEVER = cython.declare(cython.longlong, _NEVER)
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodePool

if not cython.compiled:
    from walltime.kernel.ledger.node_pool import __builtin_ctzll


@cython.cclass
class Naming(Choosing):
    """The nodes of a hold, and what is kept there."""

    def keep_recalled(self, slot, x, start, end):
        """The hold that is being made has the nodes that it had."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        self.named += 1
        for k in range(self.memory.first[self.recalled], self.memory.first[self.recalled + 1]):
            self.keep(slot, d, self.memory.node[k], start, end, self.timelines.each[d * self.timelines.kinds], 1)
        return 0

    def keep_named(self, slot, x, start, end):
        """The hold that is being made names its nodes."""
        self.named += 1
        if self.nodes_of[x] > 0:
            return self.name_nodes(slot, x, start, end)
        return self.name_cores(slot, x, start, end)

    def keep_licences(self, slot, x, start, end):
        """It keeps the licences of the request."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.made
        for k in range(self.licences if self.licensed_of[x] else 0):
            d = self.licence_of[x * self.licences + k]
            if d >= 0:
                self.held[h].licences = self.licensing.keep(
                    self.held[h].licences, k, slot, start, end, self.licensing.each[d], d, 1
                )
        return 0

    def name_nodes(self, slot, x, start, end):
        """A shaped job keeps those of the nodes that have room throughout that have it last, holds left aside."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        least: cython.longlong = self.timelines.each[d * self.timelines.kinds]
        pool: NodePool = self.pools[self.set_of[x]]
        if self.parts_in[x] > 0:
            return self.name_parts(slot, x, start, end)
        if not self.place.plain:
            if self.place.by_room and self.holds == 0:
                return self.name_found(slot, x, start, end)
            self.imagine(slot, x, pool, start, end)
            try:
                pool.clear()
                self.place.pick(pool, self.nodes_of[x], least, slot)
            finally:
                pool.undo(0)
            for k in range(pool.chosen):
                self.keep(slot, d, pool.node[k], start, end, least, 1)
            return 0
        if self.planned_for == slot and self.planned_at == start and self.planned == self.changes():
            return self.name_found(slot, x, start, end)
        self.select_last(slot, x, self.node_starts.times(d), start, end)
        for k in range(self.smallest.count):
            self.keep(slot, d, self.smallest.node[k], start, end, least, 1)
        return 0

    def name_parts(self, slot, x, start, end):
        """The same part by part, the largest first, each of the nodes that those before it left."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        z: cython.Py_ssize_t
        self.giving += 1
        for z in range(x + 1, x + 1 + self.parts_in[x]):
            d = self.demand_of[z]
            self.select_last(slot, z, self.node_starts.times(d), start, end)
            for k in range(self.smallest.count):
                self.given[self.smallest.node[k]] = self.giving
                self.keep(slot, d, self.smallest.node[k], start, end, self.timelines.each[d * self.timelines.kinds], 1)
        self.giving += 1
        return 0

    def name_found(self, slot, x, start, end):
        """The same without holds of others: from what was found when the time was looked for."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        if self.place.plain:
            self.find_freed(x)
        else:
            self.find_rooms(x, start)
        for k in range(self.meets):
            self.keep(slot, d, self.met[k], start, end, self.timelines.each[d * self.timelines.kinds], 1)
        return 0

    def find_rooms(self, x, start):
        """Put into `met` what a placement that looks at nothing but room picks of the nodes that have it then."""
        k: cython.Py_ssize_t
        pool: NodePool = self.pools[self.set_of[x]]
        self.clear_rooms(x)
        pool.clear()
        self.place.pick_by(pool, self.nodes_of[x], self.cleared, start)
        for k in range(pool.chosen):
            self.met[k] = pool.node[k]
        self.meets = pool.chosen
        return 0

    def find_freed(self, x):
        """Put these nodes into `met`: those that will have room, from the last on, in the order of its coming."""
        k: cython.Py_ssize_t = max(0, self.frees - self.nodes_of[x])
        j: cython.Py_ssize_t = k
        i: cython.Py_ssize_t
        w: cython.Py_ssize_t
        word: cython.longlong
        pool: NodePool = self.pools[self.set_of[x]]
        self.meets = 0
        if k > 0 and self.freed_at[k - 1] == self.freed_at[k]:  # of those free at that time, the lowest numbers
            while j > 0 and self.freed_at[j - 1] == self.freed_at[k]:
                j -= 1
            i = k
            while i < self.frees and self.freed_at[i] == self.freed_at[k]:
                i += 1
            self.smallest.clear(i - k)
            k = i
            for i in range(j, k):
                self.smallest.put(0.0, self.freed[i])
            for i in range(self.smallest.count):
                self.met[self.meets] = self.smallest.node[i]
                self.meets += 1
        for i in range(k, self.frees):
            self.met[self.meets] = self.freed[i]
            self.meets += 1
        if self.meets < self.nodes_of[x]:  # and those that have it now, the lowest numbers
            pool.gather(self.timelines.each[self.demand_of[x] * self.timelines.kinds])
        for w in range(pool.words):
            if self.meets == self.nodes_of[x]:
                break
            word = pool.wide[w]
            while word != 0 and self.meets < self.nodes_of[x]:
                self.met[self.meets] = w * WORD + __builtin_ctzll(word)
                self.meets += 1
                word &= word - 1
        return 0

    def holds_only(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if h < 0 or self.holds != 1 or self.named != 1 or self.pins > 0 or self.tries > 0 or x < 0:
            return False
        if self.held[h].shape != x or self.jobs.at[slot].choice >= 0 or self.licensed_of[x] or self.any_of[x]:
            return False
        if self.parts_in[x] > 0 or self.nodes_of[x] == 0 or not self.timelines.simple[self.demand_of[x]]:
            return False
        return self.place.plain or self.place.by_room

    def renew(self, slot, x, start, end):
        """The only hold is for another time, or keeps other nodes. What is the same stays as it is."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.held_by(slot)
        d: cython.Py_ssize_t = self.demand_of[x]
        e: cython.longlong = self.held[h].first
        next: cython.longlong
        stay: cython.longlong = -1
        moves: cython.bint = self.held[h].start != start or self.held[h].end != end
        self.pure = False
        if self.place.plain:
            self.find_freed(x)
        else:
            self.find_rooms(x, start)
        self.stamp += 1
        for k in range(self.meets):
            self.mark[self.met[k]] = self.stamp
        while e >= 0:
            next = self.timelines.kept_next[e]
            i = self.timelines.kept_node[e]
            if self.mark[i] == self.stamp:
                self.mark[i] = 0  # it has its entry
                if moves:
                    self.timelines.shift(e, start, end)
                self.timelines.kept_next[e] = stay
                stay = e
            else:
                self.bar_again(h, e, -1)
                self.timelines.forget(e, next)
            e = next
        self.made = h
        self.held[h].first = self.timelines.kept_first[slot] = stay
        self.held[h].start = start
        self.held[h].end = end
        for k in range(self.meets):
            if self.mark[self.met[k]] == self.stamp:
                self.keep(slot, d, self.met[k], start, end, self.timelines.each[d * self.timelines.kinds], 1)
                self.bar_again(h, self.held[h].first, 1)
        self.edge = min(self.edge, start, end)
        self.version += 1
        if not moves:
            for i in range(self.sets):
                if (
                    self.of_set[i].lone == h
                    and self.of_set[i].measured == self.version - 1
                    and (i == 0 or i == self.held[h].set)
                ):
                    self.of_set[i].measured = self.version
        return self.bound()

    def bar_again(self, h, e, sign):
        """Count what the entry bars in the sets that it surely bears on; others are measured again."""
        i: cython.Py_ssize_t = self.timelines.kept_node[e]
        s: cython.Py_ssize_t = self.held[h].set
        if sign > 0:
            self.timelines.kept_barred[e] = self.barred_by(e)
        if self.of_set[0].lone == h:
            self.bar(0, e, sign)
        if s > 0 and self.of_set[s].lone == h and self.member[s * self.n + i]:
            self.bar(s, e, sign)
        return 0

    def name_cores(self, slot, x, start, end):
        """A shapeless job keeps what the nodes offer throughout, in order of their numbers, until it has enough."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(d)
        left: cython.longlong = self.cores_of[x]
        offer: cython.longlong
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if self.node_starts.time[at + i] <= start:
                    offer = self.timelines.offer(i, d, slot, start, end)
                    if offer > left:
                        offer = left
                    if offer > 0:
                        self.keep(slot, d, i, start, end, offer, offer)
                        left -= offer
                        if left == 0:
                            return 0
        return 0

    def keep(self, slot, d, i, start, end, cores, times):
        """One more entry of the hold that is being made; a job that wants a node alone keeps all of it."""
        h: cython.Py_ssize_t = self.made
        if self.timelines.alone[d]:
            cores = self.timelines.full[i * self.timelines.kinds]
        self.held[h].first = self.timelines.keep(self.held[h].first, i, slot, start, end, cores, d, times)
        return 0
