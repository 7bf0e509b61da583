"""Which nodes are not kept for planned jobs, interval by interval: each backfill cycle begins with an empty table.

Slurm calls it the node space map. A planned job keeps whole nodes, from its start to its end; what runs is not in it.
A set of nodes is a row of words, a bit for each node.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

WORD = cython.declare(cython.Py_ssize_t, 32)  # bits of a word that are used: no sign to think of
FULL = cython.declare(cython.longlong, 0xFFFFFFFF)
NONE = cython.declare(cython.longlong, -1)

if not cython.compiled:

    def __builtin_popcountll(word):
        return int(word).bit_count()


@cython.final
@cython.cclass
class NodeSpace:
    """Intervals one behind the other, the last up to `close`; of each the nodes that no planned job keeps."""

    def __init__(self, nodes) -> None:
        self.n = nodes
        self.words = (nodes + WORD - 1) // WORD
        self.close = 0
        self.begin = integers(64)
        self.row = np.arange(64)
        self.spare = np.arange(63, -1, -1)
        self.spares = 63
        self.bits = integers(64 * self.words)
        self.count = 0

    def clear(self, begin, close):
        """One interval in which nothing is kept."""
        w: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(len(self.spare)):
            self.spare[k] = len(self.spare) - 1 - k
        self.spares = len(self.spare) - 1
        self.row[0] = 0
        self.begin[0] = begin
        self.close = close
        self.count = 1
        for w in range(self.words):
            self.bits[w] = FULL
        return 0

    def end(self, k):
        return self.begin[k + 1] if k + 1 < self.count else self.close

    def find(self, time):
        """The first interval that ends behind that time; as many as there are where none does."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.count
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) // 2
            if self.begin[middle] > time:
                high = middle
            else:
                low = middle + 1
        return self.count if time >= self.close else max(low - 1, 0)

    def span(self, nodes, start, end, out, least):
        """`out` are those of the nodes that are kept for no job in any interval from `start` on that begins at or
        before `end`; where they are fewer than `least`, some more may be among them, but not as many as that.
        The next time worth trying: the end of the first interval behind which there are others, or -1.
        """
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        at: cython.Py_ssize_t
        later: cython.longlong = NONE
        for w in range(self.words):
            out[w] = nodes[w]
        for k in range(self.find(start), self.count):
            if later >= 0 and least > 0 and count_nodes(out) < least:
                break
            if later < 0 and k + 1 < self.count and self.lets_in(k, nodes, out):
                later = self.begin[k + 1]
            if self.begin[k] > end:
                break
            at = self.row[k] * self.words
            for w in range(self.words):
                out[w] &= self.bits[at + w]
        return later

    def lets_in(self, k, nodes, out):
        """Whether the interval behind this one has nodes that are not among those found so far."""
        w: cython.Py_ssize_t
        here: cython.Py_ssize_t = self.row[k] * self.words
        next: cython.Py_ssize_t = self.row[k + 1] * self.words
        for w in range(self.words):  # noqa: SIM110, a generator is slow
            if nodes[w] & self.bits[next + w] & ~(out[w] & self.bits[here + w]):
                return True
        return False

    def overlaps(self, nodes, start, end):
        """Whether one of the nodes is kept for a job between these times."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for k in range(self.count):
            if self.end(k) > start and self.begin[k] < end:
                at = self.row[k] * self.words
                for w in range(self.words):
                    if nodes[w] & ~self.bits[at + w]:
                        return True
        return False

    def reserve(self, nodes, start, end):
        """Keep the nodes between these times, as far as the table reaches."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        at: cython.Py_ssize_t
        first: cython.Py_ssize_t
        last: cython.Py_ssize_t
        if start < self.begin[0]:
            start = self.begin[0]
        if end > self.close:
            end = self.close
        if start >= end:
            return 0
        first = self.cut(start)
        last = self.cut(end)
        for k in range(first, last):
            at = self.row[k] * self.words
            for w in range(self.words):
                self.bits[at + w] &= ~nodes[w]
        return 0

    def cut(self, time):
        """The interval that begins at this time, made where there is none."""
        k: cython.Py_ssize_t = 0
        j: cython.Py_ssize_t
        w: cython.Py_ssize_t
        new: cython.Py_ssize_t
        old: cython.Py_ssize_t
        if time >= self.close:
            return self.count
        while k < self.count and self.begin[k] < time:
            k += 1
        if k < self.count and self.begin[k] == time:
            return k
        if self.spares == 0:
            self.grow()
        self.spares -= 1
        new = self.spare[self.spares]
        for j in range(self.count, k, -1):
            self.begin[j] = self.begin[j - 1]
            self.row[j] = self.row[j - 1]
        old = self.row[k - 1] * self.words
        self.begin[k] = time
        self.row[k] = new
        self.count += 1
        for w in range(self.words):
            self.bits[new * self.words + w] = self.bits[old + w]
        return k

    def grow(self):
        """Twice as many intervals."""
        size: cython.Py_ssize_t = len(self.begin)
        k: cython.Py_ssize_t
        self.begin = doubled(self.begin)
        self.row = doubled(self.row)
        self.spare = doubled(self.spare)
        self.bits = doubled(self.bits)
        for k in range(size):
            self.spare[k] = 2 * size - 1 - k
        self.spares = size
        return 0

    # ---- for Python

    def entries(self) -> list:
        """(begin, end, the nodes that are kept for no job) of each interval: for checks and for a person."""
        found = []
        k: cython.Py_ssize_t
        for k in range(self.count):
            at = self.row[k] * self.words
            free = [i for i in range(self.n) if self.bits[at + i // WORD] >> i % WORD & 1]
            found.append((self.begin[k], self.end(k), free))
        return found


def no_nodes(n):
    """A set of none of so many nodes."""
    return integers((n + WORD - 1) // WORD)


def put_node(nodes, i):
    nodes[i >> 5] |= cython.cast(cython.longlong, 1) << (i & 31)
    return 0


def has_node(nodes, i):
    return (nodes[i >> 5] >> (i & 31)) & 1 == 1


def count_nodes(nodes):
    w: cython.Py_ssize_t
    found: cython.Py_ssize_t = 0
    for w in range(len(nodes)):
        found += __builtin_popcountll(nodes[w])
    return found
