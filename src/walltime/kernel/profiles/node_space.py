"""Which nodes are not kept for planned jobs, interval by interval: each backfill cycle begins with an empty table.

Slurm calls it the node space map. A planned job keeps whole nodes, from its start to its end; what runs is not in it.
A set of nodes is a row of words, a bit for each node.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

WORD = cython.declare(cython.Py_ssize_t, 32)  # bits of a word that are used: no sign to think of
FULL = cython.declare(cython.longlong, 0xFFFFFFFF)
NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import words

    def count_bits(found, many):
        return sum(int(word).bit_count() for word in found[:many])

    def count_common(one, other, at, many):
        return sum(int(one[w] & other[at + w]).bit_count() for w in range(many))


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
        # a search for a start, interval by interval
        self.sets = integers(self.words)
        self.own = 0
        self.at = self.middle = self.reach = 0
        self.both = integers(self.words)
        self.suffix = integers(64 * self.words)
        self.out = integers(self.words)

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

    # ---- a search: one try after the other, each at the interval `at`

    def open(self, own, start):
        """Try first from `start` on; `own` is which of the `sets` the nodes are."""
        w: cython.Py_ssize_t
        self.own = own * self.words
        self.at = self.middle = self.reach = self.find(start)
        for w in range(self.words):
            self.both[w] = self.sets[self.own + w]
        return 0

    def follow(self, end):
        """The next interval worth trying, the first behind `at` with nodes that the one before it has not; -1: none
        before the first two that begin behind `end`.

        While none comes in, each interval has no other nodes than those that are free all the time up to there."""
        k: cython.Py_ssize_t = self.at
        while k + 1 < self.count:
            if self.lets_in(k):
                return k + 1
            if self.begin[k] > end:
                break
            k += 1
        return -1

    def lets_in(self, k):
        """Whether the interval behind this one has nodes of the set that this one has not."""
        w: cython.Py_ssize_t
        bits: cython.p_longlong = words(self.bits)
        own: cython.p_longlong = words(self.sets)
        here: cython.Py_ssize_t = self.row[k] * self.words
        next: cython.Py_ssize_t = self.row[k + 1] * self.words
        found: cython.longlong = 0
        for w in range(self.words):
            found |= own[self.own + w] & bits[next + w] & ~bits[here + w]
        return found != 0

    def gather(self, end):
        """`out` are those of the nodes that are kept for no job in any interval from `at` on that begins at or before
        `end`; how many.

        `both` are free from `middle` to `reach`, and `suffix` tells which are from each interval before to `middle`:
        so an interval is looked at twice in a search, however many tries it has."""
        w: cython.Py_ssize_t
        k: cython.Py_ssize_t
        both: cython.p_longlong = words(self.both)
        bits: cython.p_longlong = words(self.bits)
        tail: cython.p_longlong = words(self.suffix)
        while self.reach < self.count and self.begin[self.reach] <= end:
            k = self.row[self.reach] * self.words
            for w in range(self.words):
                both[w] &= bits[k + w]
            self.reach += 1
        if self.at > self.middle:
            self.turn()
            tail = words(self.suffix)
        k = self.at * self.words
        for w in range(self.words):
            self.out[w] = both[w] & tail[k + w] if self.at < self.middle else both[w]
        return count_bits(words(self.out), self.words)

    def turn(self):
        """Up to `reach`, which nodes are free from each interval on."""
        w: cython.Py_ssize_t
        k: cython.Py_ssize_t
        row: cython.Py_ssize_t
        here: cython.Py_ssize_t
        bits: cython.p_longlong
        tail: cython.p_longlong
        while len(self.suffix) < self.reach * self.words:
            self.suffix = doubled(self.suffix)
        self.middle = self.reach
        for w in range(self.words):
            self.both[w] = self.sets[self.own + w]
        bits = words(self.bits)
        tail = words(self.suffix)
        for k in range(self.reach - 1, self.at - 1, -1):
            row = self.row[k] * self.words
            here = k * self.words
            for w in range(self.words):
                tail[here + w] = bits[row + w] & (tail[here + self.words + w] if k + 1 < self.reach else self.both[w])
        return 0

    def constant(self, length):
        """Up to when, as the last try's start moves on, but not to where others come in, `out` stays the same."""
        w: cython.Py_ssize_t
        k: cython.Py_ssize_t
        lost: cython.longlong
        for k in range(self.reach, self.count):
            lost = 0
            for w in range(self.words):
                lost |= self.out[w] & ~self.bits[self.row[k] * self.words + w]
            if lost:
                return self.begin[k] - length - 1
        return NEVER

    def meets(self, own, nodes):
        """Whether one of the nodes is in this one of the `sets`."""
        w: cython.Py_ssize_t
        common: cython.longlong = 0
        for w in range(self.words):
            common |= nodes[w] & self.sets[own * self.words + w]
        return common != 0

    def overlaps(self, nodes, start, end):
        """Whether one of the nodes is kept for a job between these times."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for k in range(self.find(start), self.count):
            if self.begin[k] >= end:
                break
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
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        w: cython.Py_ssize_t
        new: cython.Py_ssize_t
        old: cython.Py_ssize_t
        if time >= self.close:
            return self.count
        k = self.find(time)
        if self.begin[k] == time:
            return k
        k += 1
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
    return count_bits(words(nodes), len(nodes))
