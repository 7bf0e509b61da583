"""What a ledger has beside the jobs of a draft, as a table of all nodes over time."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable  # noqa: F401 - as in draft_base.pxd
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_table import NodeTable, bits_for, common
from walltime.kernel.profiles.timelines import Timelines

MOST = cython.declare(cython.longlong, 1 << 50)  # no sum of amounts on a node is above
BYTES = cython.declare(cython.longlong, 1 << 27)  # nor is a table larger


@cython.cclass
class DraftBase:
    """The table that a draft begins with, for jobs that want so many nodes, and the same of each.

    A column for each resource; one more, if a job wants nodes alone, has 1 on a node where nothing is, and 1 less for
    each thing on it.
    """

    def __init__(self) -> None:
        self.base = NodeTable()
        self.mine = integers(64)
        self.unit, self.bits, self.bits_below = integers(1), integers(1), integers(1)
        self.counts = False

    def serves(self, ledger: ResourceLedger, slots, shapes, count):
        """Whether it can stand in for the ledger where these jobs, of these shapes, are concerned."""
        k: cython.Py_ssize_t
        x: cython.Py_ssize_t
        self.ledger = ledger
        self.jobs = ledger.jobs
        if not ledger.place.plain or ledger.counted > 0:
            return False
        self.counts = False
        for k in range(count):
            x = shapes[k]
            self.counts = self.counts or (x >= 0 and ledger.timelines.alone[ledger.demand_of[x]])
        if not self.find_units(slots, shapes, count):
            return False
        steps: cython.longlong = 2 * ledger.holds + ledger.shares.slots + 64
        if steps * (ledger.n // 8 + 64) * int(np.sum(self.bits_below)) > BYTES:
            return False
        for k in range(count):  # noqa: SIM110, a generator is slow
            if not self.knows(shapes[k]):
                return False
        return True

    def find_units(self, slots, shapes, count):
        """How much a number counts of each resource, and how many bits it has: memory is told in bytes, and all of it
        may be whole gigabytes. False where no number will do."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        lines: Timelines = ledger.timelines
        kinds: cython.Py_ssize_t = lines.kinds
        largest: cython.longlong
        least: cython.longlong
        others: cython.longlong = ledger.holds
        for k in range(count):
            others -= ledger.held_by(slots[k]) >= 0
        self.unit, self.bits, self.bits_below = integers(kinds, 1), integers(kinds), integers(kinds + self.counts)
        for r in range(kinds):
            self.unit[r] = max(self.unit_of(r, shapes, count), 1)
            largest = least = 0
            for i in range(ledger.n):
                largest = max(largest, lines.full[i * kinds + r], lines.used[i * kinds + r])
                least = min(least, lines.cap[i * kinds + r] - lines.used[i * kinds + r])
            if largest > MOST:
                return False
            self.bits[r] = bits_for(largest // self.unit[r])
            if others > 0:
                largest += largest * (1 + ledger.pins)  # closings of a node may overlap
            largest = (largest - least) // self.unit[r]  # a job of the draft may be where one that runs is late
            if largest > MOST:
                return False
            self.bits_below[r] = bits_for(largest) + 1
        if self.counts:
            self.bits_below[kinds] = bits_for(ledger.holds + ledger.shares.slots + 1) + 1
        return True

    def unit_of(self, r, shapes, count):
        """The largest amount of a resource that all amounts are multiples of."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        lines: Timelines = self.ledger.timelines
        kinds: cython.Py_ssize_t = lines.kinds
        unit: cython.longlong = 0
        for i in range(self.ledger.n):
            unit = common(common(unit, lines.full[i * kinds + r]), lines.cap[i * kinds + r])
            for k in range(lines.count[i]):
                unit = common(unit, lines.rows[lines.base[i] + k * lines.width + 2 + r])
        for k in range(self.ledger.holds):
            e: cython.longlong = self.ledger.held[self.ledger.by_start[k]].first
            while e >= 0 and unit > 1:
                unit = common(unit, lines.kept_amounts[e * kinds + r])
                e = lines.kept_next[e]
        for k in range(count):
            x: cython.Py_ssize_t = shapes[k]
            if x >= 0:
                unit = common(unit, lines.each[self.ledger.demand_of[x] * kinds + r])
        return unit

    def knows(self, x):
        """Whether jobs of this shape are of the kind."""
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        if x < 0:
            return False
        if ledger.nodes_of[x] == 0 or ledger.parts_in[x] > 0 or ledger.licensed_of[x]:
            return False
        d: cython.Py_ssize_t = ledger.demand_of[x]
        if ledger.timelines.alone[d] and not self.counts:
            return False
        for r in range(kinds):
            amount: cython.longlong = ledger.timelines.each[d * kinds + r]
            if amount % self.unit[r] != 0 or bits_for(amount // self.unit[r]) > self.bits[r]:
                return False
        return ledger.timelines.each[d * kinds] > 0

    def fill_base(self):
        """What is left beside what runs, and is kept for others."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        self.base.clear(ledger.now)
        for i in range(ledger.n):
            for r in range(kinds):
                left: cython.longlong = ledger.timelines.cap[i * kinds + r] - ledger.timelines.used[i * kinds + r]
                self.base.change(0, 1, r, i, left // self.unit[r])
            if self.counts:
                self.base.change(0, 1, kinds, i, 1 - ledger.timelines.count[i])
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
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        for i in range(ledger.n):
            many += ledger.timelines.count[i]
        end: cython.longlong[::1] = integers(many)
        node: cython.longlong[::1] = integers(many)
        at: cython.longlong[::1] = integers(many)
        many = 0
        for i in range(ledger.n):
            for k in range(ledger.timelines.count[i]):
                at[many] = ledger.timelines.base[i] + k * ledger.timelines.width
                end[many] = max(ledger.timelines.rows[at[many]], ledger.now + 1)
                node[many] = i
                many += 1
        order: cython.longlong[::1] = np.argsort(np.asarray(end), kind="stable")
        for k in range(many):
            p = order[k]
            step = self.base.cut(end[p])
            for r in range(kinds):
                self.base.change(
                    step, self.base.count, r, node[p], ledger.timelines.rows[at[p] + 2 + r] // self.unit[r]
                )
            if self.counts:
                self.base.change(step, self.base.count, kinds, node[p], 1)
            self.base.freed[step] += 1
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
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        for k in range(ledger.holds):
            h = ledger.by_start[k]
            if self.mine[h]:
                continue
            if ledger.held[h].all:
                self.base.shut(ledger.held[h].start, ledger.held[h].end)
                continue
            first = self.base.cut(ledger.held[h].start)
            last = self.base.cut(ledger.held[h].end)
            e = ledger.held[h].first
            while e >= 0:
                i = ledger.timelines.kept_node[e]
                for r in range(kinds):
                    kept: cython.longlong = ledger.timelines.kept_amounts[e * kinds + r]
                    self.base.change(first, last, r, i, -(kept // self.unit[r]))
                if self.counts:
                    self.base.change(first, last, kinds, i, -1)
                self.base.freed[last] += 1
                e = ledger.timelines.kept_next[e]
        return 0
