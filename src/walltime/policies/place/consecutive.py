"""Consecutive: the smallest run of nodes that suffices, as Slurm chooses where nothing else is configured."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place

WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodeSpace

if not cython.compiled:

    def __builtin_ctzll(word):
        return (int(word) & -int(word)).bit_length() - 1


def mark(marked, first, last):
    """Put the nodes from `first` on, and before `last`, into the set."""
    w: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    one: cython.longlong = 1
    for w in range(first // WORD, (last + WORD - 1) // WORD):
        low = max(first - WORD * w, 0)
        high = min(last - WORD * w, WORD)
        marked[w] |= (one << high) - (one << low)
    return 0


@cython.cclass
class Consecutive(Place):
    """Nodes with room that are neighbours by number form a run. The job is on the first nodes of the smallest run that
    suffices; where none does, on all of the largest, and its rest on the others in the same way.

    A request without a shape goes to one node of its run where it can: the one with the fewest free cores that suffice.
    """

    def __init__(self) -> None:
        Place.__init__(self)
        self.first = integers(1)
        self.last = integers(1)
        self.room = integers(1)
        self.runs = 0

    def pick(self, pool: NodePool, nodes, least, slot):
        self.find_runs(pool, max(least, 1), True)
        return self.take(pool, nodes)

    def pick_marked(self, nodes, marked):
        """As `pick`, of the nodes of a set, words of 32 nodes; those that are not chosen are taken out of it."""
        w: cython.Py_ssize_t
        r: cython.Py_ssize_t
        bit: cython.Py_ssize_t
        many: cython.Py_ssize_t
        word: cython.longlong
        self.clear_runs(WORD * len(marked))
        for w in range(len(marked)):
            word = marked[w]
            bit = WORD * w
            while word != 0:
                many = __builtin_ctzll(word)
                bit += many
                word >>= many
                many = __builtin_ctzll(~word)
                if self.runs > 0 and self.last[self.runs - 1] == bit:
                    self.last[self.runs - 1] += many
                    self.room[self.runs - 1] += many
                else:
                    self.first[self.runs] = bit
                    self.last[self.runs] = bit + many
                    self.room[self.runs] = many
                    self.runs += 1
                bit += many
                word >>= many
            marked[w] = 0
        while nodes > 0:
            r = self.best(nodes)
            if r < 0:
                break
            many = min(self.room[r], nodes)
            nodes -= many
            mark(marked, self.first[r], self.first[r] + many)
            self.room[r] = 0
        return 0

    def take(self, pool: NodePool, nodes):
        """`pool.put` that many nodes of the best runs."""
        r: cython.Py_ssize_t
        i: cython.Py_ssize_t
        while pool.chosen < nodes:
            r = self.best(nodes - pool.chosen)
            if r < 0:
                break
            for i in range(self.first[r], self.last[r]):
                if pool.chosen < nodes:
                    pool.put(i, 0)
            self.room[r] = 0
        return 0

    def spread(self, pool: NodePool, cores, slot):
        r: cython.Py_ssize_t
        i: cython.Py_ssize_t
        got: cython.longlong
        self.find_runs(pool, 1, False)
        while cores > 0:
            r = self.best(cores)
            if r < 0:
                break
            i = self.single(pool, r, cores)
            if i >= 0:
                pool.put(i, cores)
                break
            for i in range(self.first[r], self.last[r]):
                if cores > 0:
                    got = pool.value[i] if pool.value[i] < cores else cores
                    pool.put(i, got)
                    cores -= got
            self.room[r] = 0
        return 0

    def find_runs(self, pool: NodePool, least, nodes):
        """Nodes with at least so many free cores in runs; `room` of a run is its nodes, or its free cores."""
        i: cython.Py_ssize_t
        open: cython.bint = False
        self.clear_runs(pool.size)
        for i in range(pool.size):
            if pool.value[i] < least:
                open = False
                continue
            if not open:
                open = True
                self.first[self.runs] = i
                self.room[self.runs] = 0
                self.runs += 1
            self.last[self.runs - 1] = i + 1
            self.room[self.runs - 1] += 1 if nodes else pool.value[i]
        return 0

    def clear_runs(self, nodes):
        """No run yet, of so many nodes."""
        if len(self.first) <= nodes // 2:
            self.first = integers(nodes // 2 + 1)
            self.last = integers(nodes // 2 + 1)
            self.room = integers(nodes // 2 + 1)
        self.runs = 0
        return 0

    def best(self, want):
        """The run with the least room that suffices, or, where none does, with the most; the first of equals."""
        r: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        for r in range(self.runs):
            if self.room[r] == 0:
                continue
            if best < 0:
                best = r
            elif self.room[best] >= want:
                if want <= self.room[r] < self.room[best]:
                    best = r
            elif self.room[r] > self.room[best]:
                best = r
        return best

    def single(self, pool: NodePool, r, cores):
        """The node of the run with the fewest free cores that suffice, or -1."""
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t = -1
        for i in range(self.first[r], self.last[r]):
            if pool.value[i] >= cores and (best < 0 or pool.value[i] < pool.value[best]):
                best = i
        return best
