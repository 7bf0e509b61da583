"""What is free on which node, now and later: the ledger of a cluster that is made of nodes.

While all holds are of shapeless jobs on shared nodes, a hold is a number of cores. That is exact: such a job can use
any core that is free at its time, whatever is kept for others. As soon as a shaped job's future is asked about, each
hold *names* nodes and cores on them, chosen by the placement from what will be free then, in order of the holds'
starts; they stay named until all are released. A node serves a candidate that ends before the hold begins there, or
with what is left beside it.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger import CoreLedger
from walltime.kernel.occupancy import NodeOccupancy
from walltime.kernel.outlook import Outlook
from walltime.kernel.place import Place
from walltime.kernel.pool import NodePool

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node


@cython.cclass
class NodeLedger(NodeOccupancy):
    """Nodes with reservations on them. Exact for any number of holds; fast for none or one, while several cost in
    proportion to the nodes that they name."""

    def __init__(self, jobs: JobTable, cores, place: Place, index=0, whole=False, pace=None, seed=0) -> None:
        NodeOccupancy.__init__(self, jobs, cores, place, index, whole, pace, seed)
        self.counts = None if whole else CoreLedger(jobs, self.size, index)
        self.alike = bool((np.asarray(self.cap) == self.pool.top).all())
        self.holds = 0
        self.named = whole
        self.pending = False
        self.held_least = 0
        self.held_slot = integers(8)
        self.held_start = integers(8)
        self.held_end = integers(8)
        self.held_first = integers(8)
        self.kept_by = integers(64)
        self.kept_node = integers(64)
        self.kept_cores = integers(64)
        self.kept_late = integers(64)
        self.kept_start = integers(64)
        self.kept_end = integers(64)
        self.kept_beside = integers(64)
        self.kept_next = np.append(np.arange(1, 64), -1)
        self.kept_spare = 0
        self.kept_on = integers(self.n, -1)
        self.beside = integers(self.pool.top + 1)
        self.beside_total = 0

    # ---- now

    def fits(self, slot):
        cores: cython.longlong = self.jobs.at[slot].cores
        end: cython.longlong
        found: cython.longlong
        level: cython.longlong
        if cores > self.free or (self.counts is not None and not self.fits_by_number(slot)):
            return False
        self.shape(slot)
        if not self.suits(cores):
            return False
        end = self.now + self.jobs.at[slot].estimate
        if end == self.now:  # whoever starts is there for a moment
            end += 1
        if not self.named or self.holds == 0 or not self.conflicts(slot, end):
            return True
        if self.pending:
            # Of two that together want more than a node has, one node serves only one; so the candidate must leave
            # the hold enough nodes. That is known without naming them.
            if self.nodes > self.surplus >= 0 and self.pool.top - self.held_least < self.least >= self.held_least:
                return False
            self.name_pending()
            self.shape(slot)
        if self.holds == 1 and self.place.plain:
            if self.nodes == 0:
                return cores <= self.beside_total
            found = 0
            level = self.pool.top
            while level >= self.least and found < self.nodes:
                found += self.beside[level]
                level -= 1
            return found >= self.nodes
        self.walk += 1
        self.respect(slot, self.now, end)
        suits: cython.bint = self.suits(cores)
        self.pool.undo(0)
        return suits

    def fits_by_number(self, slot):
        """Whether the number of cores suffices beside all holds but the job's own: necessary, and quick."""
        h: cython.Py_ssize_t
        if self.holds > 1:
            for h in range(self.holds):
                if self.held_slot[h] == slot:  # the holds' spare cores are told without what its own hold keeps
                    return self.named or self.counts.clear_of_holds(slot, self.now)
        return self.counts.fits(slot)

    def take(self, slot):
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        taken: cython.longlong = 0
        speed: cython.longlong = FULL_SPEED
        pool: NodePool = self.pool
        end: cython.longlong = self.jobs.at[slot].expected_end
        cores: cython.longlong = self.jobs.at[slot].cores
        if self.holds > 0:
            self.unhold(slot)
        self.shape(slot)
        until: cython.longlong = end if end > self.now else self.now + 1
        if self.named and self.holds > 0 and self.conflicts(slot, until):
            self.name_pending()
            self.shape(slot)
            self.walk += 1
            self.respect(slot, self.now, until)
            if not self.suits(cores):  # a job that is resumed goes before what is kept for others
                pool.undo(0)
        if not self.suits(cores):
            pool.undo(0)
            raise EngineError(f"job {self.jobs.at[slot].job_id} takes nodes where it does not fit")
        try:
            self.choose(slot)
        finally:
            pool.undo(0)
        for k in range(pool.chosen):
            taken += pool.share[k]
        if taken < cores or (taken > cores and not self.whole):
            raise EngineError(f"job {self.jobs.at[slot].job_id} is given {taken} cores where it wants {cores}")
        if self.paced and pool.chosen > 0:
            speed = self.pace[pool.node[0]]
        self.shares.allot(slot, pool.chosen)
        for k in range(pool.chosen):
            i = pool.node[k]
            if self.paced and self.pace[i] < speed:
                speed = self.pace[i]
            self.shares.at[self.shares.first[slot] + k] = i << 24 | pool.share[k]
            self.change(i, pool.share[k], end)
        self.jobs.at[slot].speed = speed
        if self.walked:
            self.by_end.insert(end, self.jobs.at[slot].seq, slot)
        if self.counts is not None:
            self.counts.take(slot)
        else:
            self.free -= taken
            self.jobs.at[slot].holding = 1
        return self.bound()

    def give(self, slot):
        k: cython.Py_ssize_t
        share: cython.longlong
        end: cython.longlong = self.jobs.at[slot].expected_end
        taken: cython.longlong = 0
        if self.holds > 1:  # beside others that stay, a hold has the nodes that it found when it was made
            self.name_pending()
        for k in range(self.shares.first[slot], self.shares.first[slot] + self.shares.length[slot]):
            share = self.shares.at[k]
            taken += share & CORES
            self.change(share >> 24, -(share & CORES), end)
        self.shares.release(slot)
        if self.walked:
            self.by_end.remove(end, self.jobs.at[slot].seq)
        if self.counts is not None:
            self.counts.give(slot)
        else:
            self.free += taken
            self.jobs.at[slot].holding = 0
        return self.bound()

    def change(self, i, cores, end):
        """So many more (or fewer) cores are in use on the node until `end`."""
        e: cython.longlong
        if self.kept_on[i] < 0:  # nothing is kept here
            if self.holds == 1 and self.named:
                self.beside[self.pool.value[i]] -= 1
                self.beside_total -= self.pool.value[i]
            self.used[i] += cores
            self.pool.set(i, self.room(i, self.used[i]))
            if self.holds == 1 and self.named:
                self.beside[self.pool.value[i]] += 1
                self.beside_total += self.pool.value[i]
            return 0
        e = self.beside_of(i)
        self.beside[e] -= 1
        self.beside_total -= e
        self.used[i] += cores
        self.pool.set(i, self.room(i, self.used[i]))
        e = self.kept_on[i]
        while e >= 0:
            if self.kept_start[e] < end:
                self.kept_late[e] += cores
            e = self.kept_beside[e]
        e = self.beside_of(i)
        self.beside[e] += 1
        self.beside_total += e
        return 0

    def prolong(self, slot, until):
        k: cython.Py_ssize_t
        e: cython.longlong
        cores: cython.longlong
        end: cython.longlong = self.jobs.at[slot].expected_end
        self.name_pending()
        if self.walked:
            self.by_end.remove(end, self.jobs.at[slot].seq)
            self.by_end.insert(until, self.jobs.at[slot].seq, slot)
        if self.named and self.holds > 0:
            for k in range(self.shares.first[slot], self.shares.first[slot] + self.shares.length[slot]):
                cores = self.shares.at[k] & CORES
                e = self.kept_on[self.shares.at[k] >> 24]
                while e >= 0:
                    if end <= self.kept_start[e] < until:
                        self.kept_late[e] += cores
                    elif until <= self.kept_start[e] < end:
                        self.kept_late[e] -= cores
                    e = self.kept_beside[e]
            self.measure()
        if self.counts is not None:
            self.counts.prolong(slot, until)
        self.jobs.at[slot].expected_end = until
        return self.bound()

    # ---- beside holds

    def conflicts(self, slot, end):
        """Whether some other job's hold begins before `end`, and is not over."""
        h: cython.Py_ssize_t
        for h in range(self.holds):
            if self.held_start[h] < end and self.held_slot[h] != slot and self.held_end[h] > self.now:
                return True
        return False

    def respect(self, slot, start, end):
        """Assume on every node what is left there from `start` to `end` beside the holds of other jobs."""
        h: cython.Py_ssize_t
        e: cython.longlong
        i: cython.Py_ssize_t
        for h in range(self.holds):
            if self.held_slot[h] != slot and self.held_start[h] < end and self.held_end[h] > start:
                e = self.held_first[h]
                while e >= 0:
                    i = self.kept_node[e]
                    self.pool.assume(i, self.room_beside(i, slot, start, end))
                    e = self.kept_next[e]
        return 0

    def room_beside(self, i, slot, start, end):
        """The least that is left on the node: availability falls only where a hold begins."""
        used: cython.longlong = self.later[i] if self.seen[i] == self.walk else self.used[i]
        least: cython.longlong = self.room(i, used + self.kept(i, slot, start))
        left: cython.longlong
        e: cython.longlong = self.kept_on[i]
        while e >= 0:
            if start < self.kept_start[e] < end and self.kept_by[e] != slot:
                left = self.room(i, self.kept_late[e] + self.kept(i, slot, self.kept_start[e]))
                if left < least:
                    least = left
            e = self.kept_beside[e]
        return least

    def kept(self, i, slot, time):
        """Cores that are kept on the node at that time for others than this job."""
        sum: cython.longlong = 0
        e: cython.longlong = self.kept_on[i]
        while e >= 0:
            if self.kept_start[e] <= time < self.kept_end[e] and self.kept_by[e] != slot:
                sum += self.kept_cores[e]
            e = self.kept_beside[e]
        return sum

    # ---- later

    def earliest(self, slot, after):
        cores: cython.longlong = self.jobs.at[slot].cores
        self.shape(slot)
        # Whom those keep out who end at this very instant, does not start before they have.
        if after <= self.now and not self.suits(cores):
            after = self.now + 1
        if not self.named and self.nodes == 0:
            return self.counts.earliest(slot, after)
        if cores > self.capacity:
            return NEVER
        self.follow()
        self.name_holds()
        self.shape(slot)
        self.planned_for = -1
        if self.holds == 0 and self.place.plain:
            return self.when_enough(slot, after)
        return self.when_clear(slot, after)

    def when_clear(self, slot, after):
        """The first time from which the job's nodes are free for its estimate, beside all holds but its own."""
        h: cython.Py_ssize_t
        mark: cython.Py_ssize_t
        time: cython.longlong = after
        next: cython.longlong
        end: cython.longlong
        suits: cython.bint
        cores: cython.longlong = self.jobs.at[slot].cores
        self.rewind()
        while True:
            if time > self.now:  # now everybody is still there, also who ends at this instant
                self.forward(time)
            mark = self.pool.assumed
            end = time + self.jobs.at[slot].estimate
            self.respect(slot, time, end if end > time else time + 1)
            suits = self.suits(cores)
            self.pool.undo(mark)
            if suits:
                break
            next = self.next_end() if self.on() else NEVER
            if next <= time:
                next = time + 1
            for h in range(self.holds):
                if time < self.held_end[h] < next and self.held_slot[h] != slot:
                    next = self.held_end[h]
            time = next
            if time >= NEVER:
                break
        self.pool.undo(0)
        return time

    # ---- holds

    def hold(self, slot, start):
        h: cython.Py_ssize_t
        end: cython.longlong = start + self.jobs.at[slot].estimate
        if self.holds > 0:
            self.unhold(slot)
        self.name_pending()
        if self.shape(slot) > 0:
            self.name_holds()
            self.named = True
        if self.counts is not None:
            self.counts.hold(slot, start)
        if self.holds == len(self.held_slot):
            self.held_slot = doubled(self.held_slot)
            self.held_start = doubled(self.held_start)
            self.held_end = doubled(self.held_end)
            self.held_first = doubled(self.held_first)
        h = self.holds
        self.held_slot[h] = slot
        self.held_start[h] = start
        self.held_end[h] = end if end > start else start + 1
        self.held_first[h] = -1
        self.holds += 1
        self.pending = self.named
        if self.pending:
            self.shape(slot)
            self.held_least = self.least
            if self.nodes == 0 or self.planned_for != slot or self.planned_at != start:
                self.surplus = -1
        return self.bound()

    def name_holds(self):
        """Let every hold name its nodes, in order of their starts."""
        h: cython.Py_ssize_t
        self.name_pending()
        if self.named or self.holds == 0:
            return 0
        self.named = True
        order: cython.longlong[::1] = np.argsort(self.held_start[: self.holds], kind="stable")
        for h in range(self.holds):
            self.name_hold(order[h])
        return self.measure()

    def name_pending(self):
        """The last hold names its nodes only now that they matter: most are dropped before that.

        Who has started in the meantime ends before it begins, so that it finds the nodes that it would have found.
        """
        if self.pending:
            self.pending = False
            self.name_hold(self.holds - 1)
            self.measure()
            self.bound()
        return 0

    def name_hold(self, h):
        """Choose the hold's nodes from what is free at its start and stays so for its length.

        Where a shaped job's cores do not divide evenly, `least` is kept on each: so much it asks of a node to start.
        """
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        cores: cython.longlong
        slot: cython.Py_ssize_t = self.held_slot[h]
        self.follow()
        self.shape(slot)
        self.rewind()
        self.forward(self.held_start[h])
        self.respect(slot, self.held_start[h], self.held_end[h])
        try:
            self.choose(slot)
        finally:
            self.pool.undo(0)
        for k in range(self.pool.chosen):
            i = self.pool.node[k]
            cores = self.pool.share[k]
            if self.nodes > 0 and cores < self.least and not self.pool.explicit:
                cores = self.least
            self.keep(h, i, cores, self.later[i] if self.seen[i] == self.walk else self.used[i])
        return 0

    def keep(self, h, i, cores, late):
        """The hold keeps so many cores on the node, of which running jobs will then have `late`."""
        e: cython.longlong = self.kept_spare
        if e < 0:
            e = len(self.kept_node)
            self.kept_by = doubled(self.kept_by)
            self.kept_node = doubled(self.kept_node)
            self.kept_cores = doubled(self.kept_cores)
            self.kept_late = doubled(self.kept_late)
            self.kept_start = doubled(self.kept_start)
            self.kept_end = doubled(self.kept_end)
            self.kept_beside = doubled(self.kept_beside)
            self.kept_next = np.concatenate([self.kept_next, np.arange(e + 1, 2 * e), [-1]])
        self.kept_spare = self.kept_next[e]
        self.kept_by[e] = self.held_slot[h]
        self.kept_node[e] = i
        self.kept_cores[e] = cores
        self.kept_late[e] = late
        self.kept_start[e] = self.held_start[h]
        self.kept_end[e] = self.held_end[h]
        self.kept_next[e] = self.held_first[h]
        self.held_first[h] = e
        self.kept_beside[e] = self.kept_on[i]
        self.kept_on[i] = e
        return 0

    def forget(self, h):
        """The hold keeps nothing any more."""
        e: cython.longlong = self.held_first[h]
        next: cython.longlong
        i: cython.Py_ssize_t
        f: cython.longlong
        while e >= 0:
            next = self.kept_next[e]
            i = self.kept_node[e]
            if self.kept_on[i] == e:
                self.kept_on[i] = self.kept_beside[e]
            else:
                f = self.kept_on[i]
                while self.kept_beside[f] != e:
                    f = self.kept_beside[f]
                self.kept_beside[f] = self.kept_beside[e]
            self.kept_next[e] = self.kept_spare
            self.kept_spare = e
            e = next
        self.held_first[h] = -1
        return 0

    def unhold(self, slot):
        h: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for h in range(self.holds):
            if self.held_slot[h] == slot:
                if self.pending and h < self.holds - 1:
                    self.name_pending()
                self.pending = False
                self.forget(h)
                self.holds -= 1
                for k in range(h, self.holds):
                    self.held_slot[k] = self.held_slot[k + 1]
                    self.held_start[k] = self.held_start[k + 1]
                    self.held_end[k] = self.held_end[k + 1]
                    self.held_first[k] = self.held_first[k + 1]
                if self.counts is not None:
                    self.counts.unhold(slot)
                self.named = self.named and (self.holds > 0 or self.whole)
                self.measure()
                break
        return self.bound()

    def release_holds(self):
        h: cython.Py_ssize_t
        for h in range(self.holds):
            self.forget(h)
        self.holds = 0
        self.named = self.whole
        self.pending = False
        if self.counts is not None:
            self.counts.release_holds()
        return self.bound()

    # ---- the bounds, the clock, the machine

    def focus(self, node_set, local):
        most: cython.longlong
        self.most_free = self.free
        self.most_extra = self.extra
        self.most_window = self.window
        if not local:
            return 0
        most = self.pool.level_to(self.pool.top)
        if most < self.most_free:
            self.most_free = most
        if self.holds == 1 and self.named and not self.pending:
            while most > 0 and self.beside[most] == 0:
                most -= 1
        if most < self.most_extra:
            self.most_extra = most
        return 0

    def measure(self):
        """Beside the only hold: how many nodes have how much left for a job that outlasts its start."""
        level: cython.Py_ssize_t
        e: cython.longlong
        left: cython.longlong
        i: cython.Py_ssize_t
        if self.holds != 1 or not self.named or self.pending:
            return 0
        for level in range(self.pool.top + 1):
            self.beside[level] = self.pool.count[level]
        self.beside_total = self.pool.total
        e = self.held_first[0]
        while e >= 0:
            i = self.kept_node[e]
            left = self.beside_of(i)
            self.beside[self.pool.value[i]] -= 1
            self.beside[left] += 1
            self.beside_total += left - self.pool.value[i]
            e = self.kept_next[e]
        return 0

    def beside_of(self, i):
        """What is left on a node of the only hold (of the last one, where there are several: then nobody asks)."""
        e: cython.longlong = self.kept_on[i]
        left: cython.longlong
        if e < 0:
            return self.pool.value[i]
        left = self.room(i, self.kept_late[e] + self.kept_cores[e])
        return left if left < self.pool.value[i] else self.pool.value[i]

    def bound(self):
        h: cython.Py_ssize_t
        first: cython.longlong = NEVER
        if self.counts is not None:
            self.free = self.counts.free
            self.window = self.counts.window
            self.extra = self.counts.extra
        else:
            for h in range(self.holds):
                if self.held_start[h] < first:
                    first = self.held_start[h]
            self.window = first - self.now if first < NEVER else NEVER
            self.extra = self.free
        if self.holds == 1 and self.named and not self.pending and self.beside_total < self.extra:
            self.extra = self.beside_total
        return 0

    def set_time(self, now):
        self.now = now
        if self.counts is not None:
            self.counts.set_time(now)
        return self.bound()

    def set_capacity(self, cores):
        """Cores go and come back on the highest-numbered nodes first."""
        i: cython.Py_ssize_t
        change: cython.longlong = cores - self.capacity
        step: cython.longlong
        self.name_pending()
        for i in range(self.n - 1, -1, -1) if change < 0 else range(self.n):
            step = change
            if step < -self.cap[i]:
                step = -self.cap[i]
            if step > self.empty.value[i] - self.cap[i]:
                step = self.empty.value[i] - self.cap[i]
            self.cap[i] += step
            change -= step
            self.pool.set(i, self.room(i, self.used[i]))
        if change != 0:
            raise EngineError(f"{cores} cores, where the nodes have {self.size}")
        if self.counts is not None:
            self.counts.set_capacity(cores)
        else:
            self.free += cores - self.capacity
        self.capacity = cores
        self.measure()
        return self.bound()

    def foresee(self, outlook: Outlook):
        """Whole nodes that are all alike, wherever they lie, can be counted."""
        p: cython.Py_ssize_t
        x: cython.Py_ssize_t
        base: cython.Py_ssize_t
        if not self.whole or not self.alike or not self.place.plain or self.capacity != self.size or self.pins > 0:
            return False
        self.follow()
        outlook.begin(self.now, self.free // self.pool.top, self.pool.top)
        for p in range(self.by_end.blocks):
            base = self.by_end.order[p] * BLOCK
            for x in range(base, base + self.by_end.count[p]):
                outlook.release(self.by_end.time[x], self.shares.length[self.by_end.cores[x]])
        return True

    def units(self, slot):
        nodes: cython.longlong = self.shape(slot)
        return nodes if nodes > 0 else (self.jobs.at[slot].cores + self.pool.top - 1) // self.pool.top

    def kept_for(self, slot) -> list:
        """The hold of a job as (node, cores); empty where it has none, or one that names no nodes."""
        out = []
        h: cython.Py_ssize_t
        e: cython.Py_ssize_t
        self.name_pending()
        for h in range(self.holds):
            e = self.held_first[h] if self.held_slot[h] == slot else -1
            while e >= 0:
                out.append((self.kept_node[e], self.kept_cores[e]))
                e = self.kept_next[e]
        return sorted(out)
