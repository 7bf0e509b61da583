"""The jobs of a draft on a table of all nodes over time: where they have room, and which nodes they get."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.drafts.draft_base import DraftBase
from walltime.kernel.drafts.draft_memory import Places
from walltime.kernel.drafts.draft_requests import Easier, Requests
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_table import NodeTable

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import has_node, meet_nodes, move_words, pick_nodes, put_node


@cython.final
@cython.cclass
class DraftTable(DraftBase):
    """Jobs that want so many nodes, and the same of each, from a placement that cares about nothing else.

    It says and does what the ledger would, a microsecond where that takes many: `find` is its `earliest`, and `enter`
    keeps the nodes that it would keep. The ledger itself is left as it was when the table was made.

    The nodes of a job are a set. The ledger tells them in an order that comes from all that had room: a job that has
    entered keeps these too, and its nodes are put in order when they are asked for.
    """

    def __init__(self) -> None:
        DraftBase.__init__(self)
        self.table, self.aside = NodeTable(), NodeTable()
        self.requests = Requests()
        self.easier = Easier()
        self.request, self.length, self.start, self.first, self.listed = (integers(65) for _ in range(5))
        self.listed_before = integers(65)
        self.node = integers(256)
        self.nodes, self.room, self.nodes_before, self.room_before = (integers(0) for _ in range(4))
        self.told = integers(16)
        self.spare, self.sizes, self.of_size = integers(0), integers(0), integers(0)
        self.size = self.used = 0
        self.starts_over = False
        self.found_for = -1
        self.found_at = self.found_version = -1

    # ---- from the ledger

    def begin(self, slots, shapes, length, count):
        """Take over what the ledger has now; False where it cannot.

        Something is below nought where a job is late, or a closing is where jobs are: then all bits are made again.
        """
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.mine = integers(self.ledger.hold_room)
        for i in range(count):
            h = self.ledger.held_by(slots[i])
            if h >= 0:
                self.mine[h] = 1
        whole: cython.bint = not self.counts and self.take_over(slots, shapes, length, count, self.bits, False)
        if self.counts or self.table.over:
            whole = self.take_over(slots, shapes, length, count, self.bits_below, True) and not self.table.over
        return whole

    def take_over(self, slots, shapes, length, count, bits, below):
        """The same with so many bits; False where a hold is of another kind."""
        i: cython.Py_ssize_t
        self.size = self.used = 0
        self.found_for = -1
        self.starts_over = False
        self.base.form(self.ledger.n, bits, below)
        self.fill_base()
        self.table.form(self.base.n, bits, below)
        self.aside.form(self.base.n, bits, below)
        self.table.join(self.base, self.base, self.base.begin[0])
        self.requests.clear(self.ledger, self.base)
        self.easier.jobs = 0
        self.spare = integers(self.base.span)
        self.nodes = self.room = self.nodes_before = self.room_before = integers(0)
        self.make_room(count)
        self.find_sizes()
        for i in range(count):
            self.add(i, shapes[i], length[i])
            if not self.read(i, slots[i]):
                return False
        return True

    def find_sizes(self):
        """How many cores nodes have, and which: what a job has that is alone."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.ledger.timelines.kinds
        if not self.counts:
            return 0
        found: list = sorted({self.ledger.timelines.full[i * kinds] for i in range(self.ledger.n)})
        self.sizes = np.array(found, np.int64)
        self.of_size = integers(len(found) * self.base.span)
        for k in range(len(found)):
            for i in range(self.ledger.n):
                if self.ledger.timelines.full[i * kinds] == self.sizes[k]:
                    put_node(words(self.of_size), k * self.base.span, i)
        return 0

    def make_room(self, jobs):
        while len(self.request) <= jobs:
            self.request, self.length, self.listed = doubled(self.request), doubled(self.length), doubled(self.listed)
            self.start, self.first = doubled(self.start), doubled(self.first)
            self.listed_before = doubled(self.listed_before)
        many: cython.Py_ssize_t = len(self.request) * self.base.span
        if len(self.nodes) < many:
            self.nodes, self.room = np.resize(self.nodes, many), np.resize(self.room, many)
            self.nodes_before, self.room_before = np.resize(self.nodes_before, many), np.resize(self.room_before, many)
        return 0

    def add(self, i, x, length):
        """One more job, of this shape, which is out."""
        q: cython.Py_ssize_t = self.requests.enter(x, self.base, self.unit)
        self.make_room(i + 1)
        self.request[i] = q
        self.length[i] = length
        self.start[i] = -1
        self.listed[i] = 0
        self.first[i] = self.used
        self.used += self.requests.want[q]
        self.size = i + 1
        while len(self.node) < self.used:
            self.node = doubled(self.node)
        while len(self.told) < self.requests.want[q]:
            self.told = doubled(self.told)
        return 0

    def read(self, i, slot):
        """Put the job where the ledger has it; False where that is not what it asks for."""
        r: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        x: cython.Py_ssize_t = self.requests.shape[self.request[i]]
        d: cython.Py_ssize_t = ledger.demand_of[x]
        h: cython.Py_ssize_t = ledger.held_by(slot)
        p: cython.Py_ssize_t = self.first[i]
        amount: cython.longlong
        if h < 0:
            return True
        if ledger.held[h].shape != x or ledger.held[h].end - ledger.held[h].start != self.length[i]:
            return False
        e: cython.longlong = ledger.held[h].first
        while e >= 0:
            if p == self.used:
                return False
            self.node[p] = ledger.timelines.kept_node[e]
            for r in range(kinds):
                amount = ledger.timelines.each[d * kinds + r]
                if r == 0 and ledger.timelines.alone[d]:
                    amount = ledger.timelines.full[self.node[p] * kinds]
                if ledger.timelines.kept_amounts[e * kinds + r] != amount:
                    return False
            p += 1
            e = ledger.timelines.kept_next[e]
        if p != self.used:
            return False
        self.mark_listed(i)
        return self.put(i, ledger.held[h].start) == 0

    # ---- questions

    def find(self, i, after):
        """The first time at or after `after` at which the job has room; its own nodes are not in its way."""
        q: cython.Py_ssize_t = self.request[i]
        requests: Requests = self.requests
        table: NodeTable = self.table
        table.asks = requests.asks[q]
        move_words(words(table.ask), 0, words(requests.ask), 3 * q * requests.columns, 3 * table.asks)
        table.roughs = requests.roughs[q]
        move_words(words(table.rough), 0, words(requests.rough), 3 * q * requests.columns, 3 * table.roughs)
        move_words(words(table.serve), 0, words(requests.serve), q * table.span, table.span)
        table.own_begin = table.own_end = NEVER
        if self.start[i] >= 0:
            table.own_begin = self.start[i]
            table.own_end = self.start[i] + self.length[i]
            move_words(words(table.own), 0, words(self.nodes), i * table.span, table.span)
        if self.starts_over:
            after = self.easier.not_before(i, after)
        self.found_for = i
        self.found_at = table.earliest(requests.want[q], self.length[i], after, NEVER)
        self.found_version = table.version
        return self.found_at

    # ---- changes

    def enter(self, i, start):
        """The job, which is out, begins then, on the nodes that the ledger would choose: of those with room the ones
        that have it last by what runs; of equal ones the lowest numbers."""
        q: cython.Py_ssize_t = self.request[i]
        w: cython.Py_ssize_t = self.table.span
        requests: Requests = self.requests
        known: cython.bint = self.found_for == i and self.found_at == start
        known = known and self.found_version == self.table.version
        if not known and self.find(i, start) != start:
            raise EngineError(f"a job of a plan has no room at {start}")
        if requests.first[q] < 0:
            requests.order(q)
        found: cython.p_longlong = words(self.table.found)
        nodes: cython.p_longlong = words(self.nodes)
        pairs: cython.p_longlong = words(requests.pair)
        pick_nodes(found, pairs, requests.first[q], requests.last[q], requests.want[q], nodes, i * w, w)
        move_words(words(self.room), i * w, found, 0, w)
        self.listed[i] = 0
        if self.starts_over:
            self.easier.tried[i] = start
        return self.put(i, start)

    def enter_at(self, i, start, places: Places):
        """The same on these very nodes."""
        k: cython.Py_ssize_t
        for k in range(places.count[i]):
            self.node[self.first[i] + k] = places.node[places.first[i] + k]
        self.mark_listed(i)
        return self.put(i, start)

    def mark_listed(self, i):
        """The nodes of the job are those that are listed."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.base.span
        for k in range(i * w, (i + 1) * w):
            self.nodes[k] = 0
        for k in range(self.first[i], self.first[i] + self.requests.want[self.request[i]]):
            put_node(words(self.nodes), i * w, self.node[k])
        self.listed[i] = 1
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
        c: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.base.span
        q: cython.Py_ssize_t = self.request[i]
        at: cython.Py_ssize_t = q * self.requests.columns
        self.table.freed[last] -= sign * self.requests.want[q]
        for c in range(self.requests.columns):
            if c == 0 and self.requests.alone[q]:
                self.change_whole(i, first, last, sign)
            elif self.requests.amount[at + c] > 0:
                self.table.change_all(first, last, c, self.nodes, i * w, sign * self.requests.amount[at + c])
        return 0

    def change_whole(self, i, first, last, sign):
        """The same of all their cores."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.base.span
        spare: cython.p_longlong = words(self.spare)
        for k in range(len(self.sizes)):
            if meet_nodes(words(self.of_size), k * w, words(self.nodes), i * w, spare, 0, w) > 0:
                self.table.change_all(first, last, 0, self.spare, 0, sign * (self.sizes[k] // self.unit[0]))
        return 0

    # ---- all behind one again

    def start_over(self, sequence, position):
        """The jobs of the sequence from this position on are out, none of which begins before one that stays; `back`
        leads to where they were. Before the first of them begins, the table is as it was."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        end: cython.longlong
        time: cython.longlong = NEVER
        kept: NodeTable = self.table
        many: cython.Py_ssize_t = self.size * kept.span
        move_words(words(self.nodes_before), 0, words(self.nodes), 0, many)
        move_words(words(self.room_before), 0, words(self.room), 0, many)
        move_words(words(self.listed_before), 0, words(self.listed), 0, self.size)
        for k in range(position, self.size):
            i = sequence[k]
            time = min(time, self.start[i])
            self.start[i] = -1
        time = max(time, kept.begin[0])
        self.table = self.aside
        self.aside = kept
        self.table.join(kept, self.base, time)
        self.table.cut(time)
        for k in range(position):
            i = sequence[k]
            end = self.start[i] + self.length[i]
            if self.start[i] >= time:
                self.put(i, self.start[i])
            elif end >= time:
                self.change(i, self.table.find(time), self.table.cut(end), -1)
        self.found_for = -1
        self.starts_over = True
        self.over_from = time
        self.easier.begin(self.requests, self.request, self.length, self.size)
        return 0

    def end_over(self):
        """All are in again."""
        self.table.leave(self.over_from)
        self.starts_over = False
        return 0

    def back(self):
        """All is as it was at `start_over`, but when the jobs begin, which has to be told."""
        kept: NodeTable = self.aside
        self.aside = self.table
        self.table = kept
        self.nodes, self.nodes_before = self.nodes_before, self.nodes
        self.room, self.room_before = self.room_before, self.room
        self.listed, self.listed_before = self.listed_before, self.listed
        self.starts_over = False
        self.found_for = -1
        return 0

    # ---- what it has

    def tell(self, i):
        """Put the nodes of the job into `told`, in the order in which the ledger would tell them."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        t: cython.longlong
        ledger: ResourceLedger = self.ledger
        x: cython.Py_ssize_t = self.requests.shape[self.request[i]]
        s: cython.Py_ssize_t = ledger.set_of[x]
        want: cython.Py_ssize_t = ledger.nodes_of[x]
        if self.listed[i]:
            return move_words(words(self.told), 0, words(self.node), self.first[i], want)
        at: cython.Py_ssize_t = ledger.node_starts.times(ledger.demand_of[x])
        times: cython.p_longlong = words(ledger.node_starts.time)
        later: cython.longlong = ledger.now + 1
        ledger.smallest.clear(want)
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for j in range(ledger.range_first[k], ledger.range_last[k]):
                if not has_node(words(self.room), i * self.base.span, j):
                    continue
                t = times[at + j]
                t = ledger.now if t < 0 else t if t > later else later
                if ledger.smallest.count == want and -t >= ledger.smallest.worst:
                    continue
                ledger.smallest.put(cython.cast(cython.double, -t), j)
        for k in range(want):
            self.told[k] = ledger.smallest.node[want - 1 - k]
        return 0

    def note(self, i, places: Places):
        """Remember the nodes of the job."""
        k: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.requests.shape[self.request[i]]
        d: cython.Py_ssize_t = self.ledger.demand_of[x]
        each: cython.longlong = self.ledger.timelines.each[d * self.ledger.timelines.kinds]
        self.tell(i)
        places.begin(i)
        for k in range(self.ledger.nodes_of[x]):
            places.add(i, self.told[k], each, 1, d)
        return 0

    def agrees(self, i, slot):
        """Whether the ledger has the job at the same place."""
        ledger: ResourceLedger = self.ledger
        p: cython.Py_ssize_t = 0
        h: cython.Py_ssize_t = ledger.held_by(slot)
        if h < 0 or self.start[i] < 0:
            return (h < 0) == (self.start[i] < 0)
        if ledger.held[h].start != self.start[i]:
            return False
        self.tell(i)
        e: cython.longlong = ledger.held[h].first
        while e >= 0:
            if ledger.timelines.kept_node[e] != self.told[p]:
                return False
            p += 1
            e = ledger.timelines.kept_next[e]
        return True

    def kept_for(self, i) -> list:
        """What is kept for a job, as (node, amounts)."""
        ledger: ResourceLedger = self.ledger
        job: cython.Py_ssize_t = i
        x: cython.Py_ssize_t = self.requests.shape[self.request[job]]
        d: cython.Py_ssize_t = ledger.demand_of[x]
        found: list = []
        if self.start[job] < 0:
            return found
        self.tell(job)
        for k in range(ledger.nodes_of[x]):
            amounts = ledger.timelines.wanted(d)
            if ledger.timelines.alone[d]:
                amounts[0] = ledger.timelines.full[self.told[k] * ledger.timelines.kinds]
            found.append((int(self.told[k]), tuple(amounts)))
        return found
