"""How much is kept on each node over time, as steps: what all holds together take."""

from __future__ import annotations

import cython

from walltime.kernel.profiles.blocks import Blocks

TIME = cython.declare(cython.Py_ssize_t, 0)  # a step: when it begins,
EDGES = cython.declare(cython.Py_ssize_t, 1)  # how many entries begin or end there,
THERE = cython.declare(cython.Py_ssize_t, 2)  # how many entries there are from then on, to the next step,
AMOUNTS = cython.declare(cython.Py_ssize_t, 3)  # and how much of each resource they keep

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import move_words


@cython.final
@cython.cclass
class KeptSteps(Blocks):
    """A block of steps for each node, in order of time; before the first of them nothing is kept.

    A step is there as long as an entry begins or ends at it. So a question that leaves one entry aside finds a step
    where that begins and where it ends.
    """

    def __init__(self, nodes, kinds) -> None:
        super().__init__(nodes, AMOUNTS + kinds, 256)
        self.kinds = kinds

    def add(self, i, start, end, amounts, at):
        """So much is kept from `start` to `end`: the amounts from place `at` on."""
        last: cython.Py_ssize_t = self.base[i] + (self.count[i] - 1) * self.width
        behind: cython.bint = self.count[i] == 0 or self.rows[last] <= start
        if behind and self.count[i] + 2 <= self.room[i] and start < end:
            return self.add_last(last, i, start, end, amounts, at)
        first: cython.Py_ssize_t = self.cut(i, start)
        last = self.cut(i, end)
        return self.change(self.base[i] + first, self.base[i] + last, 1, amounts, at)

    def remove(self, i, start, end, amounts, at):
        """An entry that was added is there no more."""
        p: cython.Py_ssize_t = self.base[i] + EDGES
        if self.count[i] == 2 and self.rows[p] == self.rows[p + self.width] == 1:  # the only one
            self.count[i] = 0
            return 0
        first: cython.Py_ssize_t = self.find(i, start)
        last: cython.Py_ssize_t = self.find(i, end)
        self.change(first, last, -1, amounts, at)
        self.leave(i, last)
        return self.leave(i, first)

    def find(self, i, time):
        """Where the step is that `time` lies in; -1 before the first."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.count[i]
        middle: cython.Py_ssize_t
        base: cython.Py_ssize_t = self.base[i]
        if high > 0 and self.rows[base + (high - 1) * self.width] <= time:  # behind the last, as often as not
            return base + (high - 1) * self.width
        while low < high:
            middle = (low + high) >> 1
            if self.rows[base + middle * self.width] <= time:
                low = middle + 1
            else:
                high = middle
        return base + (low - 1) * self.width if low > 0 else -1

    # ---- inside

    def add_last(self, p, i, start, end, amounts, at):
        """Nothing else is kept on the node from then on, where its last step is at `p`: a step where it begins, if that
        is not there, and one where it ends."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        if self.count[i] == 0 or self.rows[p] < start:
            p += w
            self.rows[p + TIME] = start
            self.rows[p + EDGES] = 0
            self.count[i] += 1
        self.rows[p + EDGES] += 1
        self.rows[p + THERE] = 1
        self.rows[p + w + TIME] = end
        self.rows[p + w + EDGES] = 1
        self.rows[p + w + THERE] = 0
        for r in range(self.kinds):
            self.rows[p + AMOUNTS + r] = amounts[at + r]
            self.rows[p + w + AMOUNTS + r] = 0
        self.count[i] += 1
        return 0

    def change(self, p, last, sign, amounts, at):
        r: cython.Py_ssize_t
        while p < last:
            self.rows[p + THERE] += sign
            for r in range(self.kinds):
                self.rows[p + AMOUNTS + r] += sign * amounts[at + r]
            p += self.width
        return 0

    def cut(self, i, time):
        """An entry begins or ends at `time`; how far behind the first step that is."""
        r: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        before: cython.Py_ssize_t = self.find(i, time)
        p: cython.Py_ssize_t
        q: cython.Py_ssize_t
        if before >= 0 and self.rows[before] == time:
            self.rows[before + EDGES] += 1
            return before - self.base[i]
        if self.count[i] == self.room[i]:
            self.widen(i)
            before = self.find(i, time)
        p = before + w if before >= 0 else self.base[i]
        q = self.base[i] + self.count[i] * w
        move_words(words(self.rows), p + w, words(self.rows), p, q - p)
        self.rows[p + TIME] = time
        self.rows[p + EDGES] = 1
        for r in range(THERE, w):
            self.rows[p + r] = self.rows[before + r] if before >= 0 else 0
        self.count[i] += 1
        return p - self.base[i]

    def leave(self, i, p):
        """One entry fewer begins or ends at the step; without any it is like the one before."""
        w: cython.Py_ssize_t = self.width
        last: cython.Py_ssize_t = self.base[i] + (self.count[i] - 1) * w
        self.rows[p + EDGES] -= 1
        if self.rows[p + EDGES] == 0:
            move_words(words(self.rows), p, words(self.rows), p + w, last - p)
            self.count[i] -= 1
        return 0
