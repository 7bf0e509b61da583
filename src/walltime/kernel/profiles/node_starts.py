"""When each node will have room for a demand, kept up to date from question to question."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)
EASED = cython.declare(cython.Py_ssize_t, 4096)  # as in Timelines

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.final
@cython.cclass
class Smallest:
    """The `want` smallest of the keys that are put, of equal ones the lowest nodes: a heap, the largest on top.

    Where nodes are put in rising order, a key that is not below `worst` cannot be among them; else one above it.
    """

    def __init__(self) -> None:
        self.want = self.count = 0
        self.worst = float("inf")
        self.key = np.zeros(16)
        self.node = integers(16)

    def clear(self, want):
        self.want = want
        self.count = 0
        self.worst = float("inf")
        while want > len(self.node):
            self.key = np.zeros(2 * len(self.node))
            self.node = integers(2 * len(self.node))
        return 0

    def put(self, key, node):
        """Consider one more."""
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        if self.count < self.want:
            a = self.count
            self.count += 1
            self.key[a] = key
            self.node[a] = node
            while a > 0 and self.behind(a, (a - 1) >> 1):
                self.swap(a, (a - 1) >> 1)
                a = (a - 1) >> 1
        elif key < self.key[0] or (key == self.key[0] and node < self.node[0]):
            a = 0
            self.key[0] = key
            self.node[0] = node
            while 2 * a + 1 < self.count:
                b = 2 * a + 1
                if b + 1 < self.count and self.behind(b + 1, b):
                    b += 1
                if not self.behind(b, a):
                    break
                self.swap(a, b)
                a = b
        if self.count == self.want:
            self.worst = self.key[0]
        return 0

    def behind(self, a, b):
        return self.key[a] > self.key[b] or (self.key[a] == self.key[b] and self.node[a] > self.node[b])

    def swap(self, a, b):
        key: cython.double = self.key[a]
        node: cython.longlong = self.node[a]
        self.key[a] = self.key[b]
        self.node[a] = self.node[b]
        self.key[b] = key
        self.node[b] = node
        return 0


@cython.final
@cython.cclass
class Soonest:
    """A time for each node as a tree of the least: which node is the first to have room, without a look at all of them.

    `least[1]` is of all nodes, `least[2 * j]` and `least[2 * j + 1]` are of the halves of those of `least[j]`.
    """

    def __init__(self, nodes) -> None:
        self.span = 1
        while self.span < nodes:
            self.span *= 2
        self.least = integers(2 * self.span, NEVER)
        self.read = -1

    def fill(self, time, nodes):
        """The times of all nodes."""
        least: cython.p_longlong = words(self.least)
        j: cython.Py_ssize_t
        for j in range(nodes):
            least[self.span + j] = time[j]
        for j in range(self.span - 1, 0, -1):
            least[j] = min(least[2 * j], least[2 * j + 1])
        return 0

    def set(self, i, time):
        """The node has another time."""
        least: cython.p_longlong = words(self.least)
        j: cython.Py_ssize_t = self.span + i
        least[j] = time
        while j > 1:
            j >>= 1
            time = min(least[2 * j], least[2 * j + 1])
            if least[j] == time:
                break
            least[j] = time
        return 0

    def least_of(self, first, last):
        """The least time of the nodes from `first` up to but without `last`."""
        least: cython.p_longlong = words(self.least)
        found: cython.longlong = NEVER
        first += self.span
        last += self.span
        while first < last:
            if first & 1:
                found = min(found, least[first])
                first += 1
            if last & 1:
                last -= 1
                found = min(found, least[last])
            first >>= 1
            last >>= 1
        return found

    def leftmost(self, first, bound):
        """The first node from `first` on whose time is not beyond `bound`; there must be one."""
        least: cython.p_longlong = words(self.least)
        j: cython.Py_ssize_t = self.span + first
        while True:
            while not j & 1:
                j >>= 1
            if least[j] <= bound:
                break
            j += 1
        while j < self.span:
            j *= 2
            if least[j] > bound:
                j += 1
        return j - self.span


@cython.cclass
class NodeTimes:
    """A time for every node in each of some rows, in `time`: for the demands that were asked about lately."""

    def __init__(self, lines: Timelines, nodes, most) -> None:
        self.timelines = lines
        self.n = nodes
        self.most = most
        self.kept = 0
        self.time = integers(8 * self.n)
        self.demand = integers(self.most, -1)
        self.read = integers(self.most)
        self.asked = integers(self.most)
        self.clock = 0

    def claim(self):
        """A row: a new one, or that which was not asked for for longest, with its demand."""
        row: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        if self.kept < self.most:
            row = self.kept
            self.kept += 1
            if self.kept * self.n > len(self.time):
                self.time = doubled(self.time)
        else:
            for k in range(1, self.most):
                if self.asked[k] < self.asked[row]:
                    row = k
        self.read[row] = -1
        return row


@cython.final
@cython.cclass
class NodeStarts(NodeTimes):
    """`Timelines.first_time` of every node, for the demands that were asked about lately.

    Each of these has a row of `time`. Nodes that change are written into a log; a row that is asked for again is made
    new for the nodes in the log since it was read last, or for all where they are many.
    """

    def __init__(self, lines: Timelines, nodes) -> None:
        super().__init__(lines, nodes, max(8, min(1024, (1 << 23) // max(1, nodes))))
        self.computed = 0
        self.place = integers(16, -1)
        size = 64
        while size < self.n:
            size *= 2
        self.log = integers(size)
        self.mask = size - 1
        self.written = 0
        self.trees = []

    def changed(self, i):
        """Something has started, ended or moved on the node."""
        self.log[self.written & self.mask] = i
        self.written += 1
        return 0

    def times(self, d):
        """Where in `time` the demand's row begins; it is up to date until something changes."""
        row: cython.Py_ssize_t
        i: cython.Py_ssize_t
        at: cython.Py_ssize_t
        p: cython.longlong
        while d >= len(self.place):
            self.place = np.concatenate([self.place, integers(len(self.place), -1)])
        row = self.place[d]
        if row < 0:
            row = self.fresh(d)
        self.clock += 1
        self.asked[row] = self.clock
        at = row * self.n
        if self.read[row] < 0 or 2 * (self.written - self.read[row]) > self.n:
            for i in range(self.n):
                self.time[at + i] = self.timelines.first_time(i, d)
            self.computed += self.n
        else:
            self.computed += self.written - self.read[row]
            for p in range(self.read[row], self.written):
                i = self.log[p & self.mask]
                self.time[at + i] = self.timelines.first_time(i, d)
        self.read[row] = self.written
        return at

    def soonest(self, d):
        """The same times as a tree, for a search for the first node of some."""
        at: cython.Py_ssize_t = self.times(d)
        i: cython.Py_ssize_t
        p: cython.longlong
        tree: Soonest
        while d >= len(self.trees):
            self.trees.append(None)
        tree = self.trees[d]
        if tree is None:
            tree = self.trees[d] = Soonest(self.n)
        if tree.read < 0 or 2 * (self.written - tree.read) > self.n:
            tree.fill(words(self.time[at:]), self.n)
        else:
            for p in range(tree.read, self.written):
                i = self.log[p & self.mask]
                tree.set(i, self.time[at + i])
        tree.read = self.written
        return tree

    def fresh(self, d):
        """A row for the demand."""
        row: cython.Py_ssize_t = self.claim()
        if self.demand[row] >= 0:
            self.place[self.demand[row]] = -1
        self.place[d] = row
        self.demand[row] = d
        return row


@cython.final
@cython.cclass
class RoomTimes(NodeTimes):
    """Before when no node has room for a demand for so long, beside all that is kept: as far as looks have found out.

    What is added makes it no sooner. So a row of `time` stays true but for nodes that were eased since it was read
    last: of these nothing is known, nor of a job's own nodes, where its own hold does not count.
    """

    def __init__(self, lines: Timelines, nodes) -> None:
        super().__init__(lines, nodes, max(8, min(512, (1 << 20) // max(1, nodes))))
        self.rows = {}
        self.length = integers(self.most)
        self.row = 0

    def times(self, d, length):
        """Where in `time` the row begins."""
        row: cython.Py_ssize_t = self.row
        if self.demand[row] != d or self.length[row] != length:  # mostly it is asked for again and again
            found = self.rows.get((d, length))
            row = self.row = self.fresh(d, length) if found is None else found
        self.clock += 1
        self.asked[row] = self.clock
        self.refresh(row)
        return row * self.n

    def refresh(self, row):
        """Forget what is no longer true."""
        p: cython.longlong
        at: cython.Py_ssize_t = row * self.n
        if not self.is_near(row):
            self.begin(row)
        for p in range(self.read[row], self.timelines.eases):
            self.time[at + self.timelines.eased[p & (EASED - 1)]] = 0
        self.read[row] = self.timelines.eases
        return 0

    def is_near(self, row):
        """Whether few nodes were eased since."""
        return self.read[row] >= 0 and self.timelines.eases - self.read[row] <= min(self.n, EASED)

    def begin(self, row):
        """Take over what is known of the same demand for less time: there is no room for longer then either."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        for k in range(self.kept):
            if k == row or self.demand[k] != self.demand[row] or not self.is_near(k):
                continue
            if self.length[k] <= self.length[row] and (best < 0 or self.length[k] > self.length[best]):
                best = k
        for i in range(self.n):
            self.time[row * self.n + i] = self.time[best * self.n + i] if best >= 0 else 0
        self.read[row] = self.read[best] if best >= 0 else self.timelines.eases
        return 0

    def fresh(self, d, length):
        """A row for the demand and the length of time."""
        row: cython.Py_ssize_t = self.claim()
        if self.demand[row] >= 0:
            del self.rows[self.demand[row], self.length[row]]
        self.rows[d, length] = row
        self.demand[row] = d
        self.length[row] = length
        return row
