"""What the jobs of a draft ask for, as a table of nodes can be asked."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.profiles.node_table import NodeTable

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import put_node


@cython.final
@cython.cclass
class Requests:
    """The requests of some jobs, numbered: how many nodes, how much of each, which serve, and in which order the ledger
    would take them."""

    def __init__(self) -> None:
        self.columns = self.span = self.count = self.pairs = 0
        self.number = integers(64, -1)
        self.pair = integers(256)
        self.group, self.time, self.filled, self.word = (integers(0) for _ in range(4))
        self.shape, self.want, self.set, self.alone = (integers(0) for _ in range(4))
        self.asks, self.first, self.last = (integers(0) for _ in range(3))
        self.amount, self.ask, self.serve = (integers(0) for _ in range(3))

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
            self.group, self.time, self.filled, self.word = (integers(ledger.n) for _ in range(4))
            self.shape = integers(0)
        return self.make_room(64)

    def make_room(self, count):
        if len(self.shape) >= count:
            return 0
        self.shape, self.want = np.resize(self.shape, count), np.resize(self.want, count)
        self.set, self.alone = np.resize(self.set, count), np.resize(self.alone, count)
        self.asks = np.resize(self.asks, count)
        self.first, self.last = np.resize(self.first, count), np.resize(self.last, count)
        self.amount = np.resize(self.amount, count * self.columns)
        self.ask = np.resize(self.ask, 3 * count * self.columns)
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
        at: cython.Py_ssize_t = q * self.columns
        a: cython.Py_ssize_t = 0
        for c in range(self.columns):
            self.amount[at + c] = ledger.timelines.each[d * kinds + c] // unit[c] if c < kinds else 1
            if self.amount[at + c] > 0 and (c == kinds) == self.alone[q]:  # a node alone is a whole one
                self.ask[3 * (at + a)] = table.first[c]
                self.ask[3 * (at + a) + 1] = table.bits[c]
                self.ask[3 * (at + a) + 2] = self.amount[at + c]
                a += 1
        self.asks[q] = a
        for k in range(q * self.span, (q + 1) * self.span):
            self.serve[k] = 0
        for k in range(ledger.n):
            if ledger.member[s * ledger.n + k] == 1 and (not self.alone[q] or ledger.timelines.large(k, d)):
                put_node(words(self.serve), q * self.span, k)
        return q

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
        n: cython.Py_ssize_t = self.ledger.n
        at: cython.Py_ssize_t = self.pairs
        groups: cython.Py_ssize_t = self.sort_nodes(q)
        for g in range(groups):
            self.word[g] = -1
            self.filled[g] = 0
        for k in range(n):
            g = self.group[k]
            if self.word[g] != k >> 6:
                self.word[g] = k >> 6
                self.filled[g] += 1
        self.first[q] = at
        for g in range(groups):
            at += self.filled[g]
            self.filled[g] = at - self.filled[g] - 1  # its last pair so far
            self.word[g] = -1
        self.last[q] = self.pairs = at
        while len(self.pair) < 2 * at:
            self.pair = doubled(self.pair)
        for k in range(n):
            g = self.group[k]
            if self.word[g] != k >> 6:
                self.word[g] = k >> 6
                self.filled[g] += 1
                self.pair[2 * self.filled[g]] = k >> 6
                self.pair[2 * self.filled[g] + 1] = 0
            put_node(words(self.pair), 2 * self.filled[g] + 1, k & 63)
        return 0

    def sort_nodes(self, q):
        """The group of each node, one for each time at which nodes have room by what runs, the last time first; how
        many groups there are."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        t: cython.longlong
        groups: cython.Py_ssize_t = 0
        ledger: ResourceLedger = self.ledger
        at: cython.Py_ssize_t = ledger.node_starts.times(ledger.demand_of[self.shape[q]])
        later: cython.longlong = ledger.now + 1
        for k in range(ledger.n):
            t = ledger.node_starts.time[at + k]
            t = ledger.now if t < 0 else t if t > later else later
            g = self.group_of(t, groups)
            if g == groups or self.time[g] != t:
                for j in range(groups, g, -1):
                    self.time[j] = self.time[j - 1]
                self.time[g] = t
                groups += 1
        for k in range(ledger.n):
            t = ledger.node_starts.time[at + k]
            self.group[k] = self.group_of(ledger.now if t < 0 else t if t > later else later, groups)
        return groups

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
