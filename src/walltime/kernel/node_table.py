"""What is left on every node over time, step by step for all nodes at once: for searches that try many changes.

`Timelines` has a list of steps for each node, of which there is little to change where few jobs have promises. Here a
step is of all nodes: a question looks at the steps from its time on, each a row of numbers one beside the other, which
processors compare many at a time.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)
OUTSIDE = cython.declare(cython.int, 32_767)  # above every step

if not cython.compiled:
    from walltime.kernel.arrays import words

    def cells_of(view):
        return view

    last_of = cells_of

    def numbers(cells, size):
        return np.asarray(cells).view(f"i{size}")

    def count_below(last, n, bound):
        return int((last[:n] < bound).sum())

    def mark_short(cells, size, at, need, last, n, mark):
        np.maximum(last[:n], (numbers(cells, size)[at : at + n] < need) * mark, out=last[:n], casting="unsafe")
        return count_below(last, n, mark)

    def mark_both(cells, size, at, need, and_at, and_need, last, n, mark):
        mark_short(cells, size, at, need, last, n, mark)
        return mark_short(cells, size, and_at, and_need, last, n, mark)

    def mark_beside(cells, size, at, need, own, own_at, last, n, mark):
        beside = numbers(cells, size)[at : at + n] + own[own_at : own_at + n]
        np.maximum(last[:n], (beside < need) * mark, out=last[:n], casting="unsafe")
        return count_below(last, n, mark)

    def add_cell(cells, size, at, amount):
        numbers(cells, size)[at] += amount

    def add_cells(cells, size, at, node, first, count, amount):
        numbers(cells, size)[at + np.asarray(node)[first : first + count]] += amount

    def copy_cells(cells, size, at, source, source_at, count):
        numbers(cells, size)[at : at + count] = numbers(source, size)[source_at : source_at + count]


@cython.final
@cython.cclass
class NodeTable:
    """Steps in order of time, the first from `begin[0]` on, the last for ever; of each what every node has left, a
    column for each resource.

    A step is there as long as something begins or ends at it.
    """

    def __init__(self) -> None:
        self.n = self.columns = self.width = self.count = 0
        self.version = 0
        self.begin, self.row, self.edges, self.closed, self.spare = (integers(64) for _ in range(5))
        self.spares = 0
        self.cells = np.zeros(1, np.int8)
        self.cell = 2
        self.asks = 0
        self.column = integers(1)
        self.need, self.own = integers(1), integers(1)
        self.outside, self.last = np.zeros(1, np.int16), np.zeros(1, np.int16)
        self.everywhere = True
        self.own_begin = self.own_end = NEVER
        self.at = 0

    def clear(self, nodes, columns, cell, begin):
        """One step, in which nodes have nothing; a number has so many bytes, 2, 4 or 8."""
        k: cython.Py_ssize_t
        if nodes != self.n or columns != self.columns or cell != self.cell:
            self.n, self.columns, self.cell, self.width = nodes, columns, cell, nodes * columns
            self.cells = self.new_cells(len(self.begin))
            self.column = integers(columns)
            self.need, self.own = integers(columns), integers(self.width)
            self.outside, self.last = np.zeros(nodes, np.int16), np.zeros(nodes, np.int16)
        for k in range(len(self.spare)):
            self.spare[k] = len(self.spare) - 1 - k
        self.spares = len(self.spare) - 1
        self.count = 1
        self.begin[0] = begin
        self.row[0] = self.closed[0] = 0
        self.edges[0] = 1  # it stays
        np.asarray(self.cells)[: self.width * cell] = 0
        self.version += 1
        return 0

    def new_cells(self, rows):
        return np.zeros(rows * self.width * self.cell, np.int8)

    def copy(self, other: NodeTable):
        """Be as another one; questions are not copied."""
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t = other.width
        self.clear(other.n, other.columns, other.cell, 0)
        while len(self.begin) < other.count:
            self.make_room(2 * len(self.begin))
        for k in range(other.count):
            self.begin[k] = other.begin[k]
            self.edges[k] = other.edges[k]
            self.closed[k] = other.closed[k]
            self.row[k] = k
            copy_cells(cells_of(self.cells), self.cell, k * w, cells_of(other.cells), other.row[k] * w, w)
        self.count = other.count
        self.spares = len(self.spare) - self.count
        for k in range(self.spares):
            self.spare[k] = len(self.spare) - 1 - k
        return 0

    def make_room(self, rows):
        """Have room for so many steps; the new rows are spare."""
        k: cython.Py_ssize_t
        old: cython.Py_ssize_t = len(self.begin)
        self.begin, self.row, self.edges = doubled(self.begin), doubled(self.row), doubled(self.edges)
        self.closed, self.spare = doubled(self.closed), doubled(self.spare)
        cells = self.new_cells(2 * old)
        cells[: len(self.cells)] = np.asarray(self.cells)
        self.cells = cells
        for k in range(old):
            self.spare[self.spares] = 2 * old - 1 - k
            self.spares += 1
        return 0

    # ---- changes

    def find(self, time):
        """The step that the time lies in; the first for any time before."""
        low: cython.Py_ssize_t = 1
        high: cython.Py_ssize_t = self.count
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.begin[middle] <= time:
                low = middle + 1
            else:
                high = middle
        return low - 1

    def cut(self, time):
        """Something begins or ends at that time: the step that begins there. What is before the first is cut off."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = self.find(time)
        old: cython.Py_ssize_t
        new: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        self.version += 1
        if self.begin[k] >= time:
            self.edges[k] += 1
            return k
        if self.spares == 0:
            self.make_room(2 * self.count)
        self.spares -= 1
        new = self.spare[self.spares] * w
        old = self.row[k] * w
        k += 1
        for j in range(self.count, k, -1):
            self.begin[j] = self.begin[j - 1]
            self.row[j] = self.row[j - 1]
            self.edges[j] = self.edges[j - 1]
            self.closed[j] = self.closed[j - 1]
        self.begin[k] = time
        self.row[k] = self.spare[self.spares]
        self.edges[k] = 1
        self.closed[k] = self.closed[k - 1]
        self.count += 1
        copy_cells(cells_of(self.cells), self.cell, new, cells_of(self.cells), old, w)
        return k

    def leave(self, time):
        """What began or ended at that time is there no more; its amounts have been changed back."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = self.find(time)
        self.version += 1
        self.edges[k] -= 1
        if self.edges[k] == 0:
            self.spare[self.spares] = self.row[k]
            self.spares += 1
            self.count -= 1
            for j in range(k, self.count):
                self.begin[j] = self.begin[j + 1]
                self.row[j] = self.row[j + 1]
                self.edges[j] = self.edges[j + 1]
                self.closed[j] = self.closed[j + 1]
        return 0

    def change(self, first, last, column, node, amount):
        """The node has so much more from one step to another."""
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t = column * self.n + node
        for k in range(first, last):
            add_cell(cells_of(self.cells), self.cell, self.row[k] * self.width + at, amount)
        return 0

    def change_all(self, first, last, column, nodes, at, count, amount):
        """The same for each of some nodes."""
        k: cython.Py_ssize_t
        column_at: cython.Py_ssize_t = column * self.n
        for k in range(first, last):
            at_row: cython.Py_ssize_t = self.row[k] * self.width + column_at
            add_cells(cells_of(self.cells), self.cell, at_row, words(nodes), at, count, amount)
        return 0

    def shut(self, start, end):
        """No node can be used from `start` to `end`."""
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.cut(start)
        for k in range(first, self.cut(end)):
            self.closed[k] += 1
        return 0

    # ---- a question

    def forget_question(self):
        """A new question: nothing is wanted, all nodes may be used, and the job itself keeps nothing."""
        self.asks = 0
        self.everywhere = True
        self.own_begin = self.own_end = NEVER
        return 0

    def ask(self, column, need):
        """So much of that is wanted of each node."""
        self.column[self.asks] = column
        self.need[self.asks] = need
        self.asks += 1
        return 0

    def earliest(self, want, length, after):
        """The first time from `after` on from which so many nodes have room for so long, or NEVER.

        Then `at` is its step, and those nodes of which `last` is at most that have it. Steps are looked at once, in
        their order. One at which too few nodes have room is in no answer; otherwise the start moves on to the first
        step from which on enough nodes had room at all steps so far.
        """
        i: cython.Py_ssize_t
        start: cython.longlong = after
        a: cython.Py_ssize_t = self.find(after)
        r: cython.Py_ssize_t = a
        last: cython.p_short = last_of(self.last)
        for i in range(self.n):
            last[i] = 0 if self.everywhere else self.outside[i]
        while True:
            while r < self.count and self.begin[r] < start + length:
                r += 1
                if self.look(r - 1, cython.cast(cython.int, r)) < want:
                    if r == self.count:
                        return NEVER
                    a = r
                    start = self.begin[a]
            if count_below(last, self.n, cython.cast(cython.int, a + 1)) >= want:
                self.at = a
                return start
            a += 1
            while count_below(last, self.n, cython.cast(cython.int, a + 1)) < want:
                a += 1
            start = self.begin[a]

    def look(self, k, mark):
        """Mark the nodes that have no room at the step; how many have."""
        i: cython.Py_ssize_t
        c: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self.n
        found: cython.int = 0
        at: cython.Py_ssize_t = self.row[k] * self.width
        size: cython.int = self.cell
        last: cython.p_short = last_of(self.last)
        cells: cython.p_char = cells_of(self.cells)
        own: cython.p_longlong = words(self.own)
        if self.closed[k] > 0:
            for i in range(n):
                last[i] = max(last[i], mark)
            return 0
        if self.own_begin <= self.begin[k] < self.own_end:
            for c in range(self.asks):
                i = self.column[c] * n
                found = mark_beside(cells, size, at + i, self.need[c], own, i, last, n, mark)
            return found
        while c + 1 < self.asks:
            found = mark_both(
                cells,
                size,
                at + self.column[c] * n,
                self.need[c],
                at + self.column[c + 1] * n,
                self.need[c + 1],
                last,
                n,
                mark,
            )
            c += 2
        if c < self.asks:
            found = mark_short(cells, size, at + self.column[c] * n, self.need[c], last, n, mark)
        return found

    # ---- for Python

    def entries(self) -> list:
        """(begin, what nodes have left: a list for each column) of each step: for checks and for a person."""
        found = []
        for k in range(self.count):
            at = self.row[k] * self.width
            cells = np.asarray(self.cells).view(f"i{self.cell}")[at : at + self.width]
            found.append((int(self.begin[k]), cells.reshape(self.columns, self.n).tolist()))
        return found
