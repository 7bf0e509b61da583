"""Nodes in the order in which they will have room: how many of a set have it by a time, and when so many have it."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.node_starts import NodeStarts

NEVER = cython.declare(cython.longlong, _NEVER)
PATIENCE = cython.declare(cython.Py_ssize_t, 8)  # steps for each node after which all are sorted again

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_space import count_common


@cython.final
@cython.cclass
class Soonest:
    """For each demand that was asked about lately all nodes by `NodeStarts.time`, kept up to date from question to
    question; after every `step` of them, which ones these are: a set as in `NodeSpace`.

    After `find`, so many of a set have room from `ready` on, and `earlier` of them before that.
    """

    def __init__(self, starts: NodeStarts, nodes) -> None:
        self.starts = starts
        self.n = nodes
        self.words = (self.n + 31) // 32
        self.step = max(16, self.words)
        self.blocks = self.n // self.step + 1
        self.demand = integers(4, -1)
        self.version = integers(4)
        self.node = integers(4 * self.n)
        self.time = integers(4 * self.n)
        self.bits = integers(4 * self.blocks * self.words)
        self.ready = NEVER
        self.earlier = 0

    def row(self, d):
        """The row of a demand, up to date until something starts or ends."""
        at: cython.Py_ssize_t = self.starts.times(d)
        row: cython.Py_ssize_t = at // self.n
        while row >= len(self.demand):
            size = len(self.demand)
            self.demand = np.concatenate([self.demand, integers(size, -1)])
            self.version = doubled(self.version)
            self.node = doubled(self.node)
            self.time = doubled(self.time)
            self.bits = doubled(self.bits)
        if self.demand[row] != d or self.version[row] != self.starts.written:
            self.renew(row, d, at)
        return row

    def renew(self, row, d, at):
        """Sort the nodes of a row; hardly anything is to be done where few have changed."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        node: cython.longlong
        time: cython.longlong
        here: cython.Py_ssize_t = row * self.n
        steps: cython.Py_ssize_t = 0
        times: cython.p_longlong = words(self.starts.time)
        if self.demand[row] != d:
            self.sort(row, at)
        else:
            for i in range(here, here + self.n):
                node = self.node[i]
                time = times[at + node]
                k = i
                while k > here and self.time[k - 1] > time:
                    self.time[k] = self.time[k - 1]
                    self.node[k] = self.node[k - 1]
                    k -= 1
                self.time[k] = time
                self.node[k] = node
                steps += i - k
                if steps > PATIENCE * self.n:
                    self.sort(row, at)
                    break
        self.demand[row] = d
        self.version[row] = self.starts.written
        return self.sum_up(row)

    def sort(self, row, at):
        times = np.asarray(self.starts.time)[at : at + self.n]
        order = np.argsort(times, kind="stable")
        np.asarray(self.node)[row * self.n : row * self.n + self.n] = order
        np.asarray(self.time)[row * self.n : row * self.n + self.n] = times[order]
        return 0

    def sum_up(self, row):
        """Which nodes are the first of the row."""
        b: cython.Py_ssize_t
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        to: cython.Py_ssize_t = row * self.blocks * self.words
        bits: cython.p_longlong = words(self.bits)
        node: cython.p_longlong = words(self.node)
        for w in range(self.words):
            bits[to + w] = 0
        for b in range(1, self.blocks):
            for w in range(self.words):
                bits[to + self.words + w] = bits[to + w]
            to += self.words
            for k in range(row * self.n + (b - 1) * self.step, row * self.n + b * self.step):
                bits[to + (node[k] >> 5)] |= cython.cast(cython.longlong, 1) << (node[k] & 31)
        return 0

    def before(self, row, time):
        """How many nodes of all have room by that time."""
        low: cython.Py_ssize_t = row * self.n
        high: cython.Py_ssize_t = low + self.n
        middle: cython.Py_ssize_t
        times: cython.p_longlong = words(self.time)
        while low < high:
            middle = (low + high) >> 1
            if times[middle] > time:
                high = middle
            else:
                low = middle + 1
        return low - row * self.n

    def count(self, row, nodes, many):
        """How many of the nodes are among the first so many of the row."""
        k: cython.Py_ssize_t
        b: cython.Py_ssize_t = many // self.step
        at: cython.Py_ssize_t = row * self.n
        node: cython.p_longlong = words(self.node)
        set: cython.p_longlong = words(nodes)
        found: cython.Py_ssize_t = count_common(set, words(self.bits), (row * self.blocks + b) * self.words, self.words)
        for k in range(at + b * self.step, at + many):
            found += set[node[k] >> 5] >> (node[k] & 31) & 1
        return found

    def reaches(self, row, nodes, time, want):
        """Whether so many of the nodes have room by that time."""
        many: cython.Py_ssize_t = self.before(row, time)
        return many >= want and self.count(row, nodes, many) >= want

    def find(self, row, nodes, want):
        """When so many of the nodes will have room; NEVER where they never will."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.blocks - 1
        middle: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t = row * self.n
        found: cython.Py_ssize_t
        first: cython.Py_ssize_t = row * self.blocks * self.words
        node: cython.p_longlong = words(self.node)
        set: cython.p_longlong = words(nodes)
        self.ready = NEVER
        self.earlier = 0
        while low < high:  # the last block behind which there are fewer
            middle = (low + high + 1) >> 1
            if count_common(set, words(self.bits), first + middle * self.words, self.words) < want:
                low = middle
            else:
                high = middle - 1
        found = count_common(set, words(self.bits), first + low * self.words, self.words)
        k = low * self.step
        while k < self.n:
            found += set[node[at + k] >> 5] >> (node[at + k] & 31) & 1
            if found >= want:
                break
            k += 1
        if k == self.n:
            return NEVER
        self.ready = self.time[at + k]
        self.earlier = self.count(row, nodes, self.before(row, self.ready - 1))
        return self.ready

    def mark(self, row, nodes, time, out):
        """`out` are those of the nodes that have room by that time."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        many: cython.Py_ssize_t = self.before(row, time)
        b: cython.Py_ssize_t = many // self.step
        at: cython.Py_ssize_t = row * self.n
        node: cython.p_longlong = words(self.node)
        first: cython.Py_ssize_t = (row * self.blocks + b) * self.words
        for w in range(self.words):
            out[w] = nodes[w] & self.bits[first + w]
        for k in range(at + b * self.step, at + many):
            out[node[k] >> 5] |= nodes[node[k] >> 5] & cython.cast(cython.longlong, 1) << (node[k] & 31)
        return 0
