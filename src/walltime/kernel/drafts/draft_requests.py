"""What the jobs of a draft ask for, as a table of nodes can be asked."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_table import NodeTable

ROUGH = cython.declare(cython.Py_ssize_t, 3)  # so many of the highest bits; four told little more
EASIER = cython.declare(cython.Py_ssize_t, 8)  # so many jobs are listed for each; twice as many told no more
LOOKS = cython.declare(cython.Py_ssize_t, 4096)  # so many are asked; one in ten or twenty asks for no more

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import move_words, put_node, put_run


@cython.final
@cython.cclass
class Requests:
    """The requests of some jobs, numbered: how many nodes, how much of each, which serve, and in which order the ledger
    would take them."""

    def __init__(self) -> None:
        self.columns = self.span = self.count = self.pairs = 0
        self.number = integers(64, -1)
        self.pair = integers(256)
        self.runs = 0
        self.run, self.group, self.time, self.filled, self.word = (integers(0) for _ in range(5))
        self.shape, self.want, self.set, self.alone = (integers(0) for _ in range(4))
        self.asks, self.roughs, self.first, self.last = (integers(0) for _ in range(4))
        self.amount, self.ask, self.rough, self.serve = (integers(0) for _ in range(4))

    def clear(self, ledger: ResourceLedger, table: NodeTable):
        """No request is here; they will be asked of a table of this form."""
        q: cython.Py_ssize_t
        for q in range(self.count):
            self.number[self.shape[q]] = -1
        self.ledger = ledger
        self.count = self.pairs = 0
        if self.columns != table.columns or self.span != table.span or len(self.group) != ledger.n:
            self.columns = table.columns
            self.span = table.span
            self.run = integers(ledger.n + 1)
            self.group, self.time, self.filled, self.word = (integers(ledger.n) for _ in range(4))
            self.shape = integers(0)
        return self.make_room(64)

    def make_room(self, count):
        if len(self.shape) >= count:
            return 0
        self.shape, self.want = np.resize(self.shape, count), np.resize(self.want, count)
        self.set, self.alone = np.resize(self.set, count), np.resize(self.alone, count)
        self.asks, self.roughs = np.resize(self.asks, count), np.resize(self.roughs, count)
        self.first, self.last = np.resize(self.first, count), np.resize(self.last, count)
        self.amount = np.resize(self.amount, count * self.columns)
        self.ask = np.resize(self.ask, 3 * count * self.columns)
        self.rough = np.resize(self.rough, 3 * count * self.columns)
        self.serve = np.resize(self.serve, count * self.span)
        return 0

    def enter(self, x, table: NodeTable, unit):
        """The number of a request of the ledger."""
        c: cython.Py_ssize_t
        k: cython.Py_ssize_t
        ledger: ResourceLedger = self.ledger
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        d: cython.Py_ssize_t = ledger.demand_of[x]
        s: cython.Py_ssize_t = ledger.set_of[x]
        while x >= len(self.number):
            self.number = np.concatenate([self.number, integers(len(self.number), -1)])
        if self.number[x] >= 0:
            return self.number[x]
        q: cython.Py_ssize_t = self.count
        self.make_room(q + 1 if q < len(self.shape) else 2 * q)
        self.count += 1
        self.number[x] = q
        self.shape[q] = x
        self.want[q] = ledger.nodes_of[x]
        self.set[q] = s
        self.alone[q] = ledger.timelines.alone[d]
        self.first[q] = -1
        for c in range(self.columns):
            amount: cython.longlong = ledger.timelines.each[d * kinds + c] // unit[c] if c < kinds else 1
            self.amount[q * self.columns + c] = amount
        self.list_asks(q, table)
        w: cython.Py_ssize_t = self.span
        if q > 0 and self.set[q - 1] == s and not self.alone[q - 1] and not self.alone[q]:
            move_words(words(self.serve), q * w, words(self.serve), (q - 1) * w, w)
            return q
        for k in range(q * w, (q + 1) * w):
            self.serve[k] = 0
        for k in range(ledger.n):
            if ledger.member[s * ledger.n + k] == 1 and (not self.alone[q] or ledger.timelines.large(k, d)):
                put_node(words(self.serve), q * w, k)
        return q

    def list_asks(self, q, table: NodeTable):
        """What is asked of a node, bit by bit."""
        c: cython.Py_ssize_t
        a: cython.Py_ssize_t
        low: cython.longlong
        need: cython.longlong
        at: cython.Py_ssize_t = q * self.columns
        self.asks[q] = self.roughs[q] = 0
        for c in range(self.columns):
            need = self.amount[at + c]
            if need == 0 or (c == self.ledger.timelines.kinds) != self.alone[q]:  # a node alone is a whole one
                continue
            if table.below:
                need += cython.cast(cython.longlong, 1) << (table.bits[c] - 1)
            a = 3 * (at + self.asks[q])
            self.ask[a] = table.first[c]
            self.ask[a + 1] = table.bits[c]
            self.ask[a + 2] = need
            self.asks[q] += 1
            low = max(table.bits[c] - ROUGH - table.below, 0)
            if need >> low > 0:
                a = 3 * (at + self.roughs[q])
                self.rough[a] = table.first[c] + low
                self.rough[a + 1] = table.bits[c] - low
                self.rough[a + 2] = need >> low
                self.roughs[q] += 1
        return 0

    def no_harder(self, p, q):
        """Whether nodes that serve one request serve the other too, and it wants no more of them."""
        c: cython.Py_ssize_t
        if self.want[p] > self.want[q] or self.set[p] != self.set[q] or self.alone[p] > self.alone[q]:
            return False
        for c in range(self.columns):  # noqa: SIM110, a generator is slow
            if self.amount[p * self.columns + c] > self.amount[q * self.columns + c]:
                return False
        return True

    # ---- which nodes are taken first

    def order(self, q):
        """Make the pairs of a word's place and nodes in it: those that have room last by what runs come first, of equal
        ones the lowest numbers."""
        g: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t = self.pairs
        groups: cython.Py_ssize_t = self.sort_nodes(q)
        for g in range(groups):
            self.word[g] = -1
            self.filled[g] = 0
        for k in range(self.runs):
            g = self.group[k]
            i = self.run[k] >> 6
            self.filled[g] += 1 if self.word[g] != i else 0
            self.word[g] = (self.run[k + 1] - 1) >> 6
            self.filled[g] += self.word[g] - i
        self.first[q] = at
        for g in range(groups):
            at += self.filled[g]
            self.filled[g] = at - self.filled[g] - 1  # its last pair so far
            self.word[g] = -1
        self.last[q] = self.pairs = at
        while len(self.pair) < 2 * at:
            self.pair = doubled(self.pair)
        for k in range(self.runs):
            g = self.group[k]
            for i in range(self.run[k] >> 6, ((self.run[k + 1] - 1) >> 6) + 1):
                if self.word[g] != i:
                    self.word[g] = i
                    self.filled[g] += 1
                    self.pair[2 * self.filled[g]] = i
                    self.pair[2 * self.filled[g] + 1] = 0
                put_run(words(self.pair), 2 * self.filled[g] + 1, self.run[k] - 64 * i, self.run[k + 1] - 64 * i)
        return 0

    def sort_nodes(self, q):
        """The runs of nodes that have room at the same time by what runs, and the group of each: one for each time, the
        last time first; how many groups there are."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        t: cython.longlong
        groups: cython.Py_ssize_t = 0
        ledger: ResourceLedger = self.ledger
        at: cython.Py_ssize_t = ledger.node_starts.times(ledger.demand_of[self.shape[q]])
        time: cython.p_longlong = words(ledger.node_starts.time)
        self.runs = 0
        for k in range(ledger.n):
            if k > 0 and time[at + k] == time[at + k - 1]:
                continue
            self.run[self.runs] = k
            self.runs += 1
            t = self.time_of(time[at + k])
            g = self.group_of(t, groups)
            if g == groups or self.time[g] != t:
                for j in range(groups, g, -1):
                    self.time[j] = self.time[j - 1]
                self.time[g] = t
                groups += 1
        self.run[self.runs] = ledger.n
        for k in range(self.runs):
            self.group[k] = self.group_of(self.time_of(time[at + self.run[k]]), groups)
        return groups

    def time_of(self, time):
        """When a node that has room at that time by what runs, -1 for now, has it to the ledger's mind."""
        now: cython.longlong = self.ledger.now
        return now if time < 0 else max(time, now + 1)

    def group_of(self, time, groups):
        """The place of a time among those of the groups, from the last on: of the first that is not later."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = groups
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.time[middle] > time:
                low = middle + 1
            else:
                high = middle
        return low


@cython.final
@cython.cclass
class Easier:
    """For each job others that ask for no more of anything, nor for longer: while jobs are only put in, it has no room
    before one of these had.

    Of those that ask for no more the hardest are listed: what they were told is what easier ones were told, or later.
    """

    def __init__(self) -> None:
        self.jobs = 0
        self.count, self.other, self.tried = (integers(0) for _ in range(3))

    def begin(self, requests: Requests, request, length, jobs):
        """So many jobs are going to be put in, none of which was asked; for each, what it asks for, and how long."""
        i: cython.Py_ssize_t
        if self.jobs != jobs:
            self.jobs = jobs
            self.count, self.other, self.tried = integers(jobs), integers(jobs * EASIER), integers(jobs)
            self.list_jobs(requests, request, length)
        for i in range(jobs):
            self.tried[i] = -1
        return 0

    def list_jobs(self, requests: Requests, request, length):
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t
        order: cython.longlong[::1] = self.sort_jobs(requests, request, length)
        for k in range(self.jobs):
            i = order[k]
            p = k + 1
            while self.count[i] < EASIER and p < min(k + LOOKS, self.jobs):
                j = order[p]
                if length[j] <= length[i] and requests.no_harder(request[j], request[i]):
                    self.other[i * EASIER + self.count[i]] = j
                    self.count[i] += 1
                p += 1
        return 0

    def sort_jobs(self, requests: Requests, request, length):
        """The jobs, those that ask for much first: one that asks for no more than another is behind it or its equal."""
        asked = np.asarray(request)[: self.jobs]
        amounts = np.asarray(requests.amount).reshape(-1, requests.columns)[asked]
        hardness = np.zeros(self.jobs)
        for values in (np.asarray(length)[: self.jobs], np.asarray(requests.want)[asked], *amounts.T):
            ranks = np.unique(values, return_inverse=True)[1]
            hardness += ranks / (ranks.max() + 1)
        return np.argsort(-hardness, kind="stable")

    def not_before(self, i, after):
        """A time before which the job has no room: a later one for `after`, or itself."""
        k: cython.Py_ssize_t
        for k in range(i * EASIER, i * EASIER + self.count[i]):
            after = max(after, self.tried[self.other[k]])
        return after
