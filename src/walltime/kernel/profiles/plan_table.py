"""What nodes have left while a plan is made: all nodes at once over time, beside what runs and what is promised."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.profiles.blocks import Blocks
from walltime.kernel.profiles.node_starts import NodeStarts
from walltime.kernel.profiles.node_table import NodeTable, bits_for, common
from walltime.kernel.profiles.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)
AMOUNTS = cython.declare(cython.Py_ssize_t, 2)  # as in Timelines: of a running job, behind its end and its slot
LINES = cython.declare(cython.Py_ssize_t, 128)  # so many lines of the cache has a row at most
LINE = cython.declare(cython.Py_ssize_t, 512)  # nodes in one

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import move_words, put_node


@cython.final
@cython.cclass
class PlanTable:
    """A table that is laid when a plan is made from nothing, and to which each promise is added.

    What runs is kept in a table of its own, which follows the nodes that have changed since the last plan. There a job
    is on its nodes up to its expected end. One that should have ended by now is there at this moment alone.
    """

    def __init__(self, lines: Timelines, starts: NodeStarts, nodes) -> None:
        self.timelines = lines
        self.starts = starts
        self.n = nodes
        self.kinds = lines.kinds
        self.base, self.table = NodeTable(), NodeTable()
        self.unit, self.bits, self.amounts = (integers(self.kinds) for _ in range(3))
        self.demands = 0
        self.fits = False
        self.read = -1
        self.tasks = Blocks(nodes, 1 + self.kinds, 64)
        self.cap = integers(nodes * self.kinds)
        self.serve, self.nodes = integers(0), integers(0)
        self.sets = self.many = 0

    # ---- what runs

    def form(self):
        """Count in units of which all amounts are multiples: memory is told in bytes, and all of it may be whole
        gigabytes. Whether there are few enough nodes for numbers of that length."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        d: cython.Py_ssize_t
        lines: Timelines = self.timelines
        unit: cython.longlong
        largest: cython.longlong
        other: cython.bint = self.demands == 0
        for r in range(self.kinds):
            unit = self.unit[r]
            for i in range(self.n if self.demands == 0 else 0):
                unit = common(unit, lines.full[i * self.kinds + r])
            for d in range(self.demands, lines.demands):
                unit = common(unit, lines.each[d * self.kinds + r])
            unit = 1 if r == 0 else max(unit, 1)
            other = other or unit != self.unit[r]
            self.unit[r] = unit
        self.demands = lines.demands
        if not other and self.read >= 0:
            return self.fits
        for r in range(self.kinds):
            largest = 0
            for i in range(self.n):
                largest = max(largest, lines.full[i * self.kinds + r])
            # a node that fails may have more in use than it has: there is a bit for numbers below nought
            self.bits[r] = bits_for(2 * largest // self.unit[r]) + 1
        self.fits = np.sum(self.bits) * ((self.n + LINE - 1) // LINE) <= LINES
        if not self.fits:
            return False
        self.base.form(self.n, self.bits, True)
        self.table.form(self.n, self.bits, True)
        self.base.clear(lines.now)
        self.tasks = Blocks(self.n, 1 + self.kinds, 64)
        self.cap = integers(self.n * self.kinds)
        self.nodes = integers(self.base.span)
        self.sets = 0
        self.read = -1
        return True

    def lay(self, now):
        """From now on the table is beside what runs; whether there is one."""
        i: cython.Py_ssize_t
        p: cython.longlong
        starts: NodeStarts = self.starts
        if (self.demands != self.timelines.demands or self.read < 0) and not self.form():
            return False
        if not self.fits:
            return False
        self.base.forget(now)
        if self.read < 0 or starts.written - self.read > starts.mask:
            for i in range(self.n):
                if not self.follow(i):
                    return False
        else:
            for p in range(self.read, starts.written):
                if not self.follow(starts.log[p & starts.mask]):
                    return False
        self.read = starts.written
        self.table.join(self.base, self.base, self.base.begin[0])
        self.put_late(now)
        return True

    def follow(self, i):
        """Let the base have what runs on the node; False where that is no whole number of units, or too much."""
        r: cython.Py_ssize_t
        delta: cython.longlong
        lines: Timelines = self.timelines
        p: cython.Py_ssize_t = lines.base[i]
        q: cython.Py_ssize_t = self.tasks.base[i]
        last: cython.Py_ssize_t = p + lines.count[i] * lines.width
        last_known: cython.Py_ssize_t = q + self.tasks.count[i] * self.tasks.width
        for r in range(self.kinds):
            delta = lines.cap[i * self.kinds + r] // self.unit[r] - self.cap[i * self.kinds + r]
            if lines.used[i * self.kinds + r] > 2 * lines.full[i * self.kinds + r]:
                self.read = -1
                return False
            if delta != 0:
                self.base.change(0, self.base.count, r, i, delta)
                self.cap[i * self.kinds + r] += delta
        while p < last or q < last_known:
            if p < last and q < last_known and self.is_same(p, q):
                p += lines.width
                q += self.tasks.width
            elif p == last or (q < last_known and self.tasks.rows[q] <= lines.rows[p]):
                self.leave(i, q)
                q += self.tasks.width
            else:
                if not self.enter(i, p):
                    return False
                p += lines.width
        return self.note(i) == 0

    def is_same(self, p, q):
        """Whether what runs is what was entered."""
        r: cython.Py_ssize_t
        if self.timelines.rows[p] != self.tasks.rows[q]:
            return False
        for r in range(self.kinds):
            if self.timelines.rows[p + AMOUNTS + r] != self.tasks.rows[q + 1 + r] * self.unit[r]:
                return False
        return True

    def enter(self, i, p):
        """A job runs on the node."""
        r: cython.Py_ssize_t
        step: cython.Py_ssize_t
        end: cython.longlong = self.timelines.rows[p]
        for r in range(self.kinds):
            self.amounts[r] = self.timelines.rows[p + AMOUNTS + r] // self.unit[r]
            if self.amounts[r] * self.unit[r] != self.timelines.rows[p + AMOUNTS + r]:
                self.unit[r] = common(self.unit[r], self.timelines.rows[p + AMOUNTS + r])
                self.read = -1
                self.demands = 0
                return False
        if end <= self.base.begin[0]:
            return True
        step = self.base.cut(end)
        self.base.freed[step] += 1
        for r in range(self.kinds):
            if self.amounts[r] != 0:
                self.base.change(0, step, r, i, -self.amounts[r])
        return True

    def leave(self, i, q):
        """One of those that were entered does not run there any more."""
        r: cython.Py_ssize_t
        step: cython.Py_ssize_t
        end: cython.longlong = self.tasks.rows[q]
        if end <= self.base.begin[0]:
            return 0
        step = self.base.find(end)
        self.base.freed[step] -= 1
        for r in range(self.kinds):
            if self.tasks.rows[q + 1 + r] != 0:
                self.base.change(0, step, r, i, self.tasks.rows[q + 1 + r])
        return self.base.leave(end)

    def note(self, i):
        """Remember what was entered."""
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        lines: Timelines = self.timelines
        while self.tasks.room[i] < lines.count[i]:
            self.tasks.widen(i)
        for k in range(lines.count[i]):
            p = lines.base[i] + k * lines.width
            q = self.tasks.base[i] + k * self.tasks.width
            self.tasks.rows[q] = lines.rows[p]
            for r in range(self.kinds):
                self.tasks.rows[q + 1 + r] = lines.rows[p + AMOUNTS + r] // self.unit[r]
        self.tasks.count[i] = lines.count[i]
        return 0

    def put_late(self, now):
        """A job that should have ended by now is gone a microsecond later."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        q: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        for i in range(self.n):
            q = self.tasks.base[i]
            stop: cython.Py_ssize_t = q + self.tasks.count[i] * self.tasks.width
            while q < stop and self.tasks.rows[q] <= now:
                first = self.table.cut(now)
                last = self.table.cut(now + 1)
                self.table.freed[last] += 1
                for r in range(self.kinds):
                    self.table.change(first, last, r, i, -self.tasks.rows[q + 1 + r])
                q += self.tasks.width
        return 0

    # ---- promises

    def put(self, e, start, end):
        """So much is kept from `start` to `end`: the entries from this one on."""
        first: cython.Py_ssize_t = self.table.cut(start)
        return self.change(e, first, self.table.cut(end), -1)

    def take(self, e, start, end):
        """It is no longer kept."""
        self.change(e, self.table.find(start), self.table.find(end), 1)
        self.table.leave(end)
        return self.table.leave(start)

    def change(self, e, first, last, sign):
        """The nodes of the entries have so much more, or less, between these steps."""
        r: cython.Py_ssize_t
        lines: Timelines = self.timelines
        amount: cython.longlong
        same: cython.bint = self.gather(e, words(self.nodes))
        self.table.freed[last] -= sign * self.many
        if same:
            for r in range(self.kinds if e >= 0 else 0):
                if lines.kept_amounts[e * self.kinds + r] > 0:
                    amount = lines.kept_amounts[e * self.kinds + r] // self.unit[r]
                    self.table.change_all(first, last, r, self.nodes, 0, sign * amount)
            return 0
        while e >= 0:
            for r in range(self.kinds):
                amount = lines.kept_amounts[e * self.kinds + r] // self.unit[r]
                self.table.change(first, last, r, lines.kept_node[e], sign * amount)
            e = lines.kept_next[e]
        return 0

    def gather(self, e, nodes):
        """Put the nodes of the entries into a set; whether as much is kept on each."""
        r: cython.Py_ssize_t
        k: cython.Py_ssize_t
        f: cython.longlong = e
        same: cython.bint = True
        lines: Timelines = self.timelines
        self.many = 0
        for k in range(self.table.span):
            nodes[k] = 0
        while f >= 0:
            put_node(nodes, 0, lines.kept_node[f])
            for r in range(self.kinds):
                if lines.kept_amounts[f * self.kinds + r] != lines.kept_amounts[e * self.kinds + r]:
                    same = False
            self.many += 1
            f = lines.kept_next[f]
        return same

    # ---- questions

    def ask(self, d, s, member):
        """Ask for a demand on the nodes of a set; whether the table can be asked."""
        r: cython.Py_ssize_t
        need: cython.longlong
        asks: cython.Py_ssize_t = 0
        table: NodeTable = self.table
        if self.timelines.alone[d]:
            return False
        for r in range(self.kinds):
            need = self.timelines.each[d * self.kinds + r] // self.unit[r]
            if need > 0:
                if bits_for(need) >= self.bits[r]:
                    return False
                table.ask[3 * asks] = table.first[r]
                table.ask[3 * asks + 1] = table.bits[r]
                table.ask[3 * asks + 2] = need + (cython.cast(cython.longlong, 1) << (table.bits[r] - 1))
                asks += 1
        table.asks = asks
        table.roughs = 0
        table.own_begin = table.own_end = NEVER
        while self.sets <= s:
            self.know_set(member)
        move_words(words(table.serve), 0, words(self.serve), s * table.span, table.span)
        return asks > 0

    def leave_aside(self, e, start, end):
        """What is asked for is kept for the job itself meanwhile, on the nodes of these entries."""
        self.table.own_begin = start
        self.table.own_end = end
        return self.gather(e, words(self.table.own))

    def know_set(self, member):
        """One more set of nodes."""
        i: cython.Py_ssize_t
        span: cython.Py_ssize_t = self.table.span
        if len(self.serve) < (self.sets + 1) * span:
            self.serve = np.resize(self.serve, 2 * (self.sets + 1) * span)
        for i in range(span):
            self.serve[self.sets * span + i] = 0
        for i in range(self.n):
            if member[self.sets * self.n + i]:
                put_node(words(self.serve), self.sets * span, i)
        self.sets += 1
        return 0
