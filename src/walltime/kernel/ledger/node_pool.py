"""Free cores of every node, and quick answers to what a placement asks about them."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

WORD = cython.declare(cython.Py_ssize_t, 32)  # bits of a word that are used: no sign to think of
FULL = cython.declare(cython.longlong, 0xFFFFFFFF)  # a word with all of them
FEW = cython.declare(cython.Py_ssize_t, 24)  # so many are sorted by insertion
ASSUMED = cython.declare(cython.Py_ssize_t, 64)  # assumptions for which there is room at first

if not cython.compiled:
    from walltime.kernel.arrays import words

    def __builtin_ctzll(word):
        return (int(word) & -int(word)).bit_length() - 1

    def __builtin_clzll(word):
        return 64 - int(word).bit_length()


STEPS = cython.declare(cython.Py_ssize_t, 44)  # thresholds of a resource


@cython.final
@cython.cclass
class RoughRoom:
    """Which nodes may have room for a demand: for each resource and each of some thresholds, a bitmap of the nodes that
    have at least so much of it free.

    A demand is looked up at the highest thresholds that are not above it. So every node that has room is found, and
    some that have not quite enough.
    """

    def __init__(self, nodes, most) -> None:
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        limit: cython.double
        self.kinds = len(most)
        self.words = (nodes + WORD - 1) // WORD
        self.limits = integers(self.kinds * STEPS)
        self.reached = integers(nodes * self.kinds)
        self.bits = integers((self.kinds * STEPS + 1) * self.words)  # the last one has all nodes
        self.rows = integers(self.kinds)
        self.asked = 0
        for r in range(self.kinds):
            limit = max(1, most[r])
            for k in range(STEPS):  # each 1.18 times the one before, the highest is the most that a node has
                self.limits[r * STEPS + STEPS - 1 - k] = max(1, int(limit))
                limit /= 1.18
        for k in range(nodes):
            self.bits[self.kinds * STEPS * self.words + (k >> 5)] |= cython.cast(cython.longlong, 1) << (k & 31)

    def set(self, i, r, free):
        """The node has so much of the resource."""
        at: cython.Py_ssize_t = r * STEPS
        k: cython.Py_ssize_t = self.reached[i * self.kinds + r]
        w: cython.Py_ssize_t = i >> 5
        bit: cython.longlong = cython.cast(cython.longlong, 1) << (i & 31)
        while k < STEPS and self.limits[at + k] <= free:
            self.bits[(at + k) * self.words + w] |= bit
            k += 1
        while k > 0 and self.limits[at + k - 1] > free:
            k -= 1
            self.bits[(at + k) * self.words + w] &= ~bit
        self.reached[i * self.kinds + r] = k
        return 0

    def ask(self, each, at, first):
        """From now on `among` is about so much of each resource: the amounts from place `at` on, those of the resources
        from `first` on."""
        k: cython.Py_ssize_t
        r: cython.Py_ssize_t
        self.asked = 0
        for r in range(first, self.kinds):
            if each[at + r] >= self.limits[r * STEPS]:
                k = STEPS - 1
                while self.limits[r * STEPS + k] > each[at + r]:
                    k -= 1
                self.rows[self.asked] = (r * STEPS + k) * self.words
                self.asked += 1
        if self.asked == 0:
            self.rows[0] = self.kinds * STEPS * self.words
            self.asked = 1
        return 0

    def among(self, w):
        """Of 32 nodes, those that may have room."""
        k: cython.Py_ssize_t
        word: cython.longlong = self.bits[self.rows[0] + w]
        for k in range(1, self.asked):
            word &= self.bits[self.rows[k] + w]
        return word


@cython.final
@cython.cclass
class NodePool:
    """Nodes by number, each with so many free cores; `total` of them together.

    Always kept: how many nodes have exactly f free cores. With `ranked`, also which ones, as a bitmap for each f with a
    bitmap of its words above it: the lowest-numbered node of a level is found in a few steps. With `treed`, a tree of
    maxima: the first node from a number on that has at least f. A change costs the same for any number of nodes, or
    its logarithm.

    `assume` is a change that `undo` takes back: a question about another time is answered by the same structures.
    """

    def __init__(self, free, ranked=True, treed=True) -> None:
        i: cython.Py_ssize_t
        values: cython.longlong[::1] = np.ascontiguousarray(free, np.int64)
        self.size = len(values)
        self.top = 0
        for i in range(self.size):
            if values[i] > self.top:
                self.top = values[i]
        self.total = 0
        self.ranked = ranked
        self.treed = treed
        self.words = (self.size + WORD - 1) // WORD
        self.heads = (self.words + WORD - 1) // WORD
        self.leaves = 1
        while self.leaves < self.size:
            self.leaves *= 2
        self.make_room()
        self.count[0] = self.size
        self.levels[0] = 1
        self.assumed = 0
        self.chosen = 0
        self.explicit = False
        self.longest = 0
        for i in range(self.size):
            if ranked:
                self.enter(i, 0)
            self.set(i, values[i])

    def make_room(self):
        """All its arrays, which are pieces of one: there is a pool for each set of nodes."""
        levels: cython.Py_ssize_t = self.top + 1
        bits: cython.Py_ssize_t = levels * self.words if self.ranked else 1
        summary: cython.Py_ssize_t = levels * self.heads if self.ranked else 1
        tree: cython.Py_ssize_t = 2 * self.leaves if self.treed else 1
        listed: cython.Py_ssize_t = self.top // WORD + 1
        size: cython.Py_ssize_t = 4 * self.size + levels + listed + bits + summary + tree + 2 * self.words + 2 * ASSUMED
        room: cython.longlong[::1] = integers(size)
        self.room = room
        self.value, room = words(room), room[self.size :]
        self.node, room = room[: self.size], room[self.size :]
        self.share, room = room[: self.size], room[self.size :]
        self.spot, room = room[: self.size], room[self.size :]
        self.count, room = words(room), room[levels:]
        self.levels, room = words(room), room[listed:]
        self.bits, room = words(room), room[bits:]
        self.summary, room = words(room), room[summary:]
        self.tree, room = room[:tree], room[tree:]
        self.mask, room = room[: self.words], room[self.words :]
        self.wide, room = room[: self.words], room[self.words :]
        self.changed, self.former = room[:ASSUMED], room[ASSUMED:]
        return 0

    def set(self, i, free):
        """The node has so many free cores."""
        old: cython.longlong = self.value[i]
        x: cython.Py_ssize_t
        most: cython.longlong
        if old == free:
            return 0
        self.value[i] = free
        self.total += free - old
        self.count[old] -= 1
        if self.count[old] == 0:
            self.levels[old >> 5] &= ~(cython.cast(cython.longlong, 1) << (old & 31))
        if self.count[free] == 0:
            self.levels[free >> 5] |= cython.cast(cython.longlong, 1) << (free & 31)
        self.count[free] += 1
        if self.ranked:
            self.leave(i, old)
            self.enter(i, free)
        if self.treed:
            x = self.leaves + i
            self.tree[x] = free
            x >>= 1
            while x > 0:
                most = self.tree[2 * x]
                if self.tree[2 * x + 1] > most:
                    most = self.tree[2 * x + 1]
                if self.tree[x] == most:
                    break
                self.tree[x] = most
                x >>= 1
        return 0

    def enter(self, i, free):
        w: cython.Py_ssize_t = i >> 5
        self.bits[free * self.words + w] |= cython.cast(cython.longlong, 1) << (i & 31)
        self.summary[free * self.heads + (w >> 5)] |= cython.cast(cython.longlong, 1) << (w & 31)
        return 0

    def leave(self, i, free):
        w: cython.Py_ssize_t = i >> 5
        self.bits[free * self.words + w] &= ~(cython.cast(cython.longlong, 1) << (i & 31))
        if self.bits[free * self.words + w] == 0:
            self.summary[free * self.heads + (w >> 5)] &= ~(cython.cast(cython.longlong, 1) << (w & 31))
        return 0

    def assume(self, i, free):
        """Set for the time being."""
        if self.value[i] == free:
            return 0
        if self.assumed == len(self.changed):
            self.changed = doubled(self.changed)
            self.former = doubled(self.former)
        self.changed[self.assumed] = i
        self.former[self.assumed] = self.value[i]
        self.assumed += 1
        return self.set(i, free)

    def undo(self, mark):
        """Take assumptions back, the last first, until `mark` of them stand."""
        while self.assumed > mark:
            self.assumed -= 1
            self.set(self.changed[self.assumed], self.former[self.assumed])
        return 0

    # ---- questions

    def at_least(self, least):
        """How many nodes have at least so many free cores."""
        found: cython.longlong = 0
        v: cython.longlong = self.top
        while v >= least:
            found += self.count[v]
            v -= 1
        return found

    def enough(self, least, nodes):
        """Whether so many nodes have at least so many free cores."""
        found: cython.longlong = 0
        v: cython.longlong = self.top
        while v >= least:
            found += self.count[v]
            if found >= nodes:
                return True
            v -= 1
        return nodes <= 0

    def level_from(self, free):
        """The lowest number of free cores, `free` or more, that some node has; -1 where there is none."""
        w: cython.Py_ssize_t
        word: cython.longlong
        if free > self.top:
            return -1
        w = free >> 5
        word = self.levels[w] & ~((cython.cast(cython.longlong, 1) << (free & 31)) - 1)
        while word == 0:
            w += 1
            if w > self.top >> 5:
                return -1
            word = self.levels[w]
        return w * WORD + __builtin_ctzll(word)

    def level_to(self, free):
        """The highest number of free cores, `free` or less, that some node has; -1 where there is none."""
        w: cython.Py_ssize_t
        word: cython.longlong
        if free < 0:
            return -1
        if free > self.top:
            free = self.top
        w = free >> 5
        word = self.levels[w] & ((cython.cast(cython.longlong, 2) << (free & 31)) - 1)
        while word == 0:
            w -= 1
            if w < 0:
                return -1
            word = self.levels[w]
        return w * WORD + 63 - __builtin_clzll(word)

    def first_of(self, free, start):
        """The lowest-numbered node from `start` on that has exactly so many free cores, or -1; needs `ranked`."""
        base: cython.Py_ssize_t = free * self.words
        head: cython.Py_ssize_t = free * self.heads
        w: cython.Py_ssize_t = 0
        h: cython.Py_ssize_t = 0
        word: cython.longlong
        if start > 0:
            if start >= self.size:
                return -1
            w = start >> 5
            word = self.bits[base + w] & ~((cython.cast(cython.longlong, 1) << (start & 31)) - 1)
            if word != 0:
                return w * WORD + __builtin_ctzll(word)
            w += 1
            h = w >> 5
            if h >= self.heads:
                return -1
        word = self.summary[head + h] & ~((cython.cast(cython.longlong, 1) << (w & 31)) - 1)
        while word == 0:
            h += 1
            if h == self.heads:
                return -1
            word = self.summary[head + h]
        w = h * WORD + __builtin_ctzll(word)
        return w * WORD + __builtin_ctzll(self.bits[base + w])

    def first_with(self, least, start):
        """The lowest-numbered node from `start` on with at least so many free cores, or -1; needs `treed`."""
        x: cython.Py_ssize_t = self.leaves + start
        if start >= self.size:
            return -1
        while self.tree[x] < least:
            while x & 1:
                x >>= 1
            if x == 0:
                return -1
            x += 1
        while x < self.leaves:
            x *= 2
            if self.tree[x] < least:
                x += 1
        return x - self.leaves

    def first_run(self, nodes, least):
        """Where the first run of so many nodes begins that have at least so much free each, or -1; needs `ranked`."""
        self.gather(least)
        return self.seek_run(nodes)

    def gather(self, least):
        """In `wide` are the nodes that have at least so many free cores, and no others."""
        w: cython.Py_ssize_t
        level: cython.longlong = self.level_to(self.top)
        for w in range(self.words):
            self.wide[w] = 0
        while level >= least and level >= 0:
            self.widen(level)
            level = self.level_to(level - 1)
        return 0

    def widen(self, free):
        """The nodes with exactly so many free cores are in `wide`, too."""
        h: cython.Py_ssize_t
        w: cython.Py_ssize_t
        word: cython.longlong
        base: cython.Py_ssize_t = free * self.words
        for h in range(self.heads):
            word = self.summary[free * self.heads + h]
            while word != 0:
                w = h * WORD + __builtin_ctzll(word)
                word &= word - 1
                self.wide[w] |= self.bits[base + w]
        return 0

    def seek_run(self, nodes):
        """Where the first run of so many nodes in `wide` begins, or -1: then `longest` is how many the longest has."""
        w: cython.Py_ssize_t
        p: cython.Py_ssize_t
        ones: cython.Py_ssize_t
        length: cython.Py_ssize_t = 0
        word: cython.longlong
        self.longest = 0
        for w in range(self.words):
            word = self.wide[w]
            p = 0
            while p < WORD:
                ones = WORD - p if word >> p == FULL >> p else __builtin_ctzll(~(word >> p))
                length += ones
                p += ones
                if length > self.longest:
                    self.longest = length
                    if length >= nodes:
                        return w * WORD + p - length
                if p == WORD:
                    break
                length = 0
                p = WORD if word >> p == 0 else p + __builtin_ctzll(word >> p)
        return -1

    # ---- what a placement says

    def clear(self):
        """Nothing is chosen yet."""
        self.chosen = 0
        self.explicit = False
        return 0

    def put(self, i, cores):
        """Choose one more node, and cores on it (0: as many as the job's shape says)."""
        self.node[self.chosen] = i
        self.share[self.chosen] = cores
        self.chosen += 1
        return 0

    def sort(self):
        """The chosen nodes in order of their numbers."""
        k: cython.Py_ssize_t
        j: cython.Py_ssize_t
        i: cython.longlong
        c: cython.longlong
        word: cython.longlong
        if self.chosen <= FEW:
            for k in range(1, self.chosen):
                i = self.node[k]
                c = self.share[k]
                j = k
                while j > 0 and self.node[j - 1] > i:
                    self.node[j] = self.node[j - 1]
                    self.share[j] = self.share[j - 1]
                    j -= 1
                self.node[j] = i
                self.share[j] = c
            return 0
        for k in range(self.chosen):
            i = self.node[k]
            self.mask[i >> 5] |= cython.cast(cython.longlong, 1) << (i & 31)
            self.spot[i] = self.share[k]
        j = 0
        for k in range(self.words):
            word = self.mask[k]
            self.mask[k] = 0
            while word != 0:
                i = k * WORD + __builtin_ctzll(word)
                word &= word - 1
                self.node[j] = i
                self.share[j] = self.spot[i]
                j += 1
        return 0

    # ---- for Python

    def free_cores(self) -> np.ndarray:
        """Free cores by node, as a copy."""
        return np.array(self.room[: self.size])

    def pairs(self) -> list:
        """What is chosen, as (node, cores)."""
        return [(int(self.node[k]), int(self.share[k])) for k in range(self.chosen)]

    def fix(self):
        """The cores that were put beside the nodes are meant as they are."""
        self.explicit = True
