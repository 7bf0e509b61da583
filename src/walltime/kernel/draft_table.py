"""The jobs of a draft on a table of all nodes over time: where they have room, and which nodes they get."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.draft_memory import Places
from walltime.kernel.jobs import JobTable  # noqa: F401 - as in draft_table.pxd
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.timelines import Timelines
from walltime.kernel.node_table import NodeTable

NEVER = cython.declare(cython.longlong, _NEVER)
MOST = cython.declare(cython.longlong, 1 << 50)  # no sum of amounts on a node is above
BYTES = cython.declare(cython.longlong, 1 << 27)  # nor is a table larger
STEPS = cython.declare(cython.longlong, 30_000)  # so many are counted in 16 bits, and nodes
OUTSIDE = cython.declare(cython.int, 32_767)  # as in NodeTable

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.cfunc
def common(one: cython.longlong, other: cython.longlong) -> cython.longlong:
    """The largest common divisor; of 0 and a number that number. 1 has no smaller one."""
    while other != 0 and one != 1:
        one, other = other, one % other
    return one


@cython.final
@cython.cclass
class DraftTable:
    """Jobs that want so many nodes, and the same of each, from a placement that cares about nothing else.

    It says and does what the ledger would, a microsecond where that takes many: `find` is its `earliest`, and `enter`
    keeps the nodes that it would keep. The ledger itself is left as it was when the table was made.
    """

    def __init__(self) -> None:
        self.table, self.base, self.aside = NodeTable(), NodeTable(), NodeTable()
        self.shape, self.length, self.start, self.first = (integers(65) for _ in range(4))
        self.node = integers(256)
        self.mine = integers(64)
        self.size = self.used = 0
        self.unit = integers(1)
        self.cell = 2
        self.tried = integers(64)
        self.tries = 0
        self.starts_over = False
        self.found_for = -1
        self.found_at = self.found_version = -1

    # ---- from the ledger

    def serves(self, ledger: ResourceLedger, slots, count):
        """Whether it can stand in for the ledger where these jobs are concerned."""
        k: cython.Py_ssize_t
        self.ledger = ledger
        self.jobs = ledger.jobs
        if not ledger.place.plain or ledger.counted > 0:
            return False
        steps: cython.longlong = 2 * ledger.holds + len(ledger.shares.first) + 64
        if max(steps, ledger.n) > STEPS or not self.find_units(slots, count):
            return False
        if steps * ledger.n * (ledger.lines.kinds + 1) * self.cell > BYTES:
            return False
        for k in range(count):  # noqa: SIM110, a generator is slow
            if not self.knows(slots[k]):
                return False
        return True

    def find_units(self, slots, count):
        """How many bytes a number has, and how much it counts of each resource: memory is told in bytes, and all of it
        may be whole gigabytes. False where no number will do."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        lines: Timelines = ledger.lines
        kinds: cython.Py_ssize_t = lines.kinds
        most: cython.longlong = 0
        largest: cython.longlong
        unit: cython.longlong
        self.unit = integers(kinds + 1, 1)
        for r in range(kinds):
            largest = unit = 0
            for i in range(ledger.n):
                largest = max(largest, lines.full[i * kinds + r], lines.used[i * kinds + r])
                unit = common(common(unit, lines.full[i * kinds + r]), lines.cap[i * kinds + r])
                for k in range(lines.count[i]):
                    unit = common(unit, lines.rows[lines.base[i] + k * lines.width + 2 + r])
            for k in range(ledger.holds):
                e: cython.longlong = ledger.held_first[ledger.by_start[k]]
                while e >= 0 and unit > 1:
                    unit = common(unit, lines.kept_amounts[e * kinds + r])
                    e = lines.kept_next[e]
            for k in range(count):
                x: cython.Py_ssize_t = self.jobs.at[slots[k]].shape
                if x >= 0:
                    unit = common(unit, lines.each[ledger.demand_of[x] * kinds + r])
            self.unit[r] = max(unit, 1)
            if largest > MOST:
                return False
            most = max(most, largest // self.unit[r] * (3 + ledger.pins))  # closings of a node may overlap
        self.cell = 2 if most < 1 << 15 else 4 if most < 1 << 31 else 8
        return most < MOST

    def knows(self, slot):
        """Whether the job is of the kind."""
        r: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        if x < 0 or self.jobs.at[slot].choice >= 0:
            return False
        if ledger.nodes_of[x] == 0 or ledger.parts_in[x] > 0 or ledger.licensed_of[x]:
            return False
        for r in range(kinds):
            if ledger.lines.each[ledger.demand_of[x] * kinds + r] % self.unit[r] != 0:
                return False
        return ledger.lines.each[ledger.demand_of[x] * kinds] > 0

    def begin(self, slots, length, count):
        """Take over what the ledger has now; False where a hold is of another kind."""
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.make_room(count)
        self.size = self.used = 0
        self.found_for = -1
        self.mine = integers(len(self.ledger.held_slot))
        for i in range(count):
            h = self.ledger.held_by(slots[i])
            if h >= 0:
                self.mine[h] = 1
        self.fill_base()
        self.table.copy(self.base)
        for i in range(count):
            self.add(i, slots[i], length[i])
            if not self.read(i, slots[i]):
                return False
        return True

    def make_room(self, jobs):
        while len(self.shape) <= jobs:
            self.shape, self.length = doubled(self.shape), doubled(self.length)
            self.start, self.first = doubled(self.start), doubled(self.first)
            self.tried = integers(len(self.shape))
        return 0

    def add(self, i, slot, length):
        """One more job, which is out."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        self.make_room(i + 1)
        self.shape[i] = x
        self.length[i] = length
        self.start[i] = -1
        self.first[i] = self.used
        self.used += self.ledger.nodes_of[x]
        self.size = i + 1
        while len(self.node) < self.used:
            self.node = doubled(self.node)
        return 0

    def read(self, i, slot):
        """Put the job where the ledger has it; False where that is not what it asks for."""
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        x: cython.Py_ssize_t = self.shape[i]
        d: cython.Py_ssize_t = ledger.demand_of[x]
        h: cython.Py_ssize_t = ledger.held_by(slot)
        p: cython.Py_ssize_t = self.first[i]
        amount: cython.longlong
        if h < 0:
            return True
        if ledger.held_shape[h] != x or ledger.held_end[h] - ledger.held_start[h] != self.length[i]:
            return False
        e: cython.longlong = ledger.held_first[h]
        while e >= 0:
            if p == self.used:
                return False
            self.node[p] = ledger.lines.kept_node[e]
            for r in range(kinds):
                amount = ledger.lines.each[d * kinds + r]
                if r == 0 and ledger.lines.alone[d]:
                    amount = ledger.lines.full[self.node[p] * kinds]
                if ledger.lines.kept_amounts[e * kinds + r] != amount:
                    return False
            p += 1
            e = ledger.lines.kept_next[e]
        return p == self.used and self.put(i, ledger.held_start[h]) == 0

    def fill_base(self):
        """What is left beside what runs, and is kept for others. A last column counts down what is on the node."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        self.base.clear(ledger.n, kinds + 1, self.cell, ledger.now)
        for i in range(ledger.n):
            for r in range(kinds):
                left: cython.longlong = ledger.lines.cap[i * kinds + r] - ledger.lines.used[i * kinds + r]
                self.base.change(0, 1, r, i, left // self.unit[r])
            self.base.change(0, 1, kinds, i, -ledger.lines.count[i])
        self.fill_ends()
        return self.fill_holds()

    def fill_ends(self):
        """A job that runs is gone at its expected end, and not before the next microsecond."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        p: cython.Py_ssize_t
        step: cython.Py_ssize_t
        many: cython.Py_ssize_t = 0
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        for i in range(ledger.n):
            many += ledger.lines.count[i]
        end: cython.longlong[::1] = integers(many)
        node: cython.longlong[::1] = integers(many)
        at: cython.longlong[::1] = integers(many)
        many = 0
        for i in range(ledger.n):
            for k in range(ledger.lines.count[i]):
                at[many] = ledger.lines.base[i] + k * ledger.lines.width
                end[many] = max(ledger.lines.rows[at[many]], ledger.now + 1)
                node[many] = i
                many += 1
        order: cython.longlong[::1] = np.argsort(np.asarray(end), kind="stable")
        for k in range(many):
            p = order[k]
            step = self.base.cut(end[p])
            for r in range(kinds):
                self.base.change(step, self.base.count, r, node[p], ledger.lines.rows[at[p] + 2 + r] // self.unit[r])
            self.base.change(step, self.base.count, kinds, node[p], 1)
        return 0

    def fill_holds(self):
        """What is kept for others than the jobs of the draft."""
        h: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        i: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        e: cython.longlong
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        for k in range(ledger.holds):
            h = ledger.by_start[k]
            if self.mine[h]:
                continue
            if ledger.held_all[h]:
                self.base.shut(ledger.held_start[h], ledger.held_end[h])
                continue
            first = self.base.cut(ledger.held_start[h])
            last = self.base.cut(ledger.held_end[h])
            e = ledger.held_first[h]
            while e >= 0:
                i = ledger.lines.kept_node[e]
                for r in range(kinds):
                    kept: cython.longlong = ledger.lines.kept_amounts[e * kinds + r]
                    self.base.change(first, last, r, i, -(kept // self.unit[r]))
                self.base.change(first, last, kinds, i, -1)
                e = ledger.lines.kept_next[e]
        return 0

    # ---- questions

    def find(self, i, after):
        """The first time at or after `after` at which the job has room; its own nodes are not in its way."""
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        x: cython.Py_ssize_t = self.shape[i]
        d: cython.Py_ssize_t = ledger.demand_of[x]
        s: cython.Py_ssize_t = ledger.set_of[x]
        table: NodeTable = self.table
        table.forget_question()
        if ledger.lines.alone[d]:
            table.ask(kinds, 0)
        else:
            for r in range(kinds):
                if ledger.lines.each[d * kinds + r] > 0:
                    table.ask(r, ledger.lines.each[d * kinds + r] // self.unit[r])
        if s > 0 or ledger.lines.alone[d]:
            table.everywhere = False
            for k in range(ledger.n):
                serves: cython.bint = ledger.member[s * ledger.n + k] == 1
                serves = serves and (not ledger.lines.alone[d] or ledger.lines.large(k, d))
                table.outside[k] = 0 if serves else OUTSIDE
        self.show_own(i, 1)
        if self.starts_over:
            after = self.not_before(i, after)
        self.found_for = i
        self.found_at = table.earliest(ledger.nodes_of[x], self.length[i], after)
        self.found_version = table.version
        self.show_own(i, -1)
        if self.starts_over:
            self.tried[self.tries] = i
            self.tries += 1
        return self.found_at

    def not_before(self, i, after):
        """A time before which the job has no room, as one that asks for no more of anything had none, and since then
        jobs were only put in: a later start for `after`, or itself."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        x: cython.Py_ssize_t = self.shape[i]
        d: cython.Py_ssize_t = ledger.demand_of[x] * kinds
        each: cython.p_longlong = words(ledger.lines.each)
        for k in range(self.tries):
            j = self.tried[k]
            y: cython.Py_ssize_t = self.shape[j]
            if self.start[j] <= after or self.length[j] > self.length[i] or ledger.nodes_of[y] > ledger.nodes_of[x]:
                continue
            if ledger.set_of[x] != ledger.set_of[y]:
                continue
            if ledger.lines.alone[ledger.demand_of[y]] and not ledger.lines.alone[ledger.demand_of[x]]:
                continue
            other: cython.Py_ssize_t = ledger.demand_of[y] * kinds
            for r in range(kinds):
                if each[other + r] > each[d + r]:
                    break
            else:
                after = self.start[j]
        return after

    def show_own(self, i, sign):
        """Tell the table what the job itself keeps; or that it is to forget it."""
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        table: NodeTable = self.table
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        d: cython.Py_ssize_t = ledger.demand_of[self.shape[i]]
        if self.start[i] < 0:
            return 0
        table.own_begin = self.start[i]
        table.own_end = self.start[i] + self.length[i]
        for k in range(self.first[i], self.first[i] + ledger.nodes_of[self.shape[i]]):
            for r in range(kinds):
                each: cython.longlong = ledger.lines.each[d * kinds + r] // self.unit[r]
                table.own[r * table.n + self.node[k]] += sign * each
            table.own[kinds * table.n + self.node[k]] += sign
        return 0

    # ---- changes

    def enter(self, i, start):
        """The job, which is out, begins then, on the nodes that the ledger would choose."""
        known: cython.bint = self.found_for == i and self.found_at == start
        known = known and self.found_version == self.table.version
        if not known and self.find(i, start) != start:
            raise EngineError(f"a job of a plan has no room at {start}")
        self.choose(i, start)
        return self.put(i, start)

    def choose(self, i, start):
        """Of the nodes that were found those that have room last by what runs; of equal ones the lowest numbers."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        t: cython.longlong
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape[i]
        s: cython.Py_ssize_t = ledger.set_of[x]
        want: cython.Py_ssize_t = ledger.nodes_of[x]
        at: cython.Py_ssize_t = ledger.node_starts.times(ledger.demand_of[x])
        times: cython.p_longlong = words(ledger.node_starts.time)
        later: cython.longlong = ledger.now + 1
        last: cython.short[::1] = self.table.last
        ledger.smallest.clear(want)
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for j in range(ledger.range_first[k], ledger.range_last[k]):
                if last[j] > self.table.at:
                    continue
                t = times[at + j]
                t = ledger.now if t < 0 else t if t > later else later
                if ledger.smallest.count == want and -t >= ledger.smallest.worst:
                    continue
                ledger.smallest.put(cython.cast(cython.double, -t), j)
        for k in range(want):
            self.node[self.first[i] + k] = ledger.smallest.node[want - 1 - k]
        return 0

    def enter_at(self, i, start, places: Places):
        """The same on these very nodes."""
        self.take_nodes(i, places)
        return self.put(i, start)

    def take_nodes(self, i, places: Places):
        k: cython.Py_ssize_t
        for k in range(places.count[i]):
            self.node[self.first[i] + k] = places.node[places.first[i] + k]
        return 0

    def put(self, i, start):
        """The job begins then, on its nodes."""
        first: cython.Py_ssize_t = self.table.cut(start)
        self.start[i] = start
        return self.change(i, first, self.table.cut(start + self.length[i]), -1)

    def leave(self, i):
        """Take the job out."""
        start: cython.longlong = self.start[i]
        end: cython.longlong = start + self.length[i]
        self.change(i, self.table.find(start), self.table.find(end), 1)
        self.table.leave(end)
        self.table.leave(start)
        self.start[i] = -1
        return 0

    def change(self, i, first, last, sign):
        """Its nodes have so much more, or less, between these steps."""
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.shape[i]
        at: cython.Py_ssize_t = self.first[i]
        want: cython.Py_ssize_t = ledger.nodes_of[x]
        kinds: cython.Py_ssize_t = ledger.lines.kinds
        d: cython.Py_ssize_t = ledger.demand_of[x]
        amount: cython.longlong
        for r in range(kinds):
            amount = ledger.lines.each[d * kinds + r] // self.unit[r]
            if r == 0 and ledger.lines.alone[d]:
                for k in range(at, at + want):
                    amount = ledger.lines.full[self.node[k] * kinds] // self.unit[0]
                    self.table.change(first, last, 0, self.node[k], sign * amount)
            elif amount > 0:
                self.table.change_all(first, last, r, self.node, at, want, sign * amount)
        return self.table.change_all(first, last, kinds, self.node, at, want, sign)

    def clear(self):
        """All jobs are out; `back` leads to where they were."""
        i: cython.Py_ssize_t
        kept: NodeTable = self.table
        self.table = self.aside
        self.aside = kept
        self.table.copy(self.base)
        self.found_for = -1
        self.starts_over = True
        self.tries = 0
        for i in range(self.size):
            self.start[i] = -1
        return 0

    def back(self):
        """The table is what it was at `clear`; where the jobs were has to be told."""
        kept: NodeTable = self.aside
        self.aside = self.table
        self.table = kept
        self.starts_over = False
        self.found_for = -1
        return 0

    # ---- what it has

    def note(self, i, places: Places):
        """Remember the nodes of the job."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.ledger.demand_of[self.shape[i]]
        each: cython.longlong = self.ledger.lines.each[d * self.ledger.lines.kinds]
        places.begin(i)
        for k in range(self.first[i], self.first[i] + self.ledger.nodes_of[self.shape[i]]):
            places.add(i, self.node[k], each, 1, d)
        return 0

    def agrees(self, i, slot):
        """Whether the ledger has the job at the same place."""
        ledger: ResourceLedger = self.ledger
        p: cython.Py_ssize_t = self.first[i]
        h: cython.Py_ssize_t = ledger.held_by(slot)
        if h < 0 or self.start[i] < 0:
            return (h < 0) == (self.start[i] < 0)
        if ledger.held_start[h] != self.start[i]:
            return False
        e: cython.longlong = ledger.held_first[h]
        while e >= 0:
            if ledger.lines.kept_node[e] != self.node[p]:
                return False
            p += 1
            e = ledger.lines.kept_next[e]
        return True

    def kept_for(self, i) -> list:
        """What is kept for a job, as (node, amounts)."""
        ledger: ResourceLedger = self.ledger
        job: cython.Py_ssize_t = i
        d: cython.Py_ssize_t = ledger.demand_of[self.shape[job]]
        found = []
        for k in range(self.first[job], self.first[job] + ledger.nodes_of[self.shape[job]]):
            amounts = ledger.lines.wanted(d)
            if ledger.lines.alone[d]:
                amounts[0] = ledger.lines.full[self.node[k] * ledger.lines.kinds]
            found.append((int(self.node[k]), tuple(amounts)))
        return found if self.start[job] >= 0 else []
