"""What is left on every node over time, step by step for all nodes at once: for searches that try many changes.

`Timelines` has a list of steps for each node, of which there is little to change where few jobs have promises. Here a
step is of all nodes: a question looks at the steps from its time on, each a row of bits one beside the other
(`node_bits`), which processors compare by hundreds at a time.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers, lined

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import words
    from walltime.kernel.profiles.node_bits import (
        WALLTIME_LANES,
        add_to_node,
        add_to_nodes,
        fit_nodes,
        fit_steps,
        meet_nodes,
        move_words,
        pass_times,
    )


@cython.final
@cython.cclass
class NodeTable:
    """Steps in order of time, the first from `begin[0]` on, the last for ever; of each what every node has left, a
    column for each resource.

    A step is there as long as something begins or ends at it.
    """

    def __init__(self) -> None:
        self.n = self.columns = self.groups = self.span = self.planes = self.width = self.count = 0
        self.version = 0
        self.begin, self.row, self.edges, self.freed, self.closed, self.spare = (integers(64) for _ in range(6))
        self.spares = 0
        self.first, self.bits, self.cells, self.ask, self.rough = (integers(0) for _ in range(5))
        self.serve, self.own, self.found, self.fit = (integers(0) for _ in range(4))
        self.have = integers(1)
        self.asks = self.roughs = 0
        self.below = self.over = False
        self.own_begin = self.own_end = NEVER

    def form(self, nodes, bits, below):
        """Be a table of so many nodes, with so many bits of a number, by column; whether it may be below nought."""
        self.below = below
        if nodes == self.n and np.array_equal(bits, self.bits):
            return 0
        self.n, self.columns = nodes, len(bits)
        self.groups = (nodes + 64 * WALLTIME_LANES - 1) // (64 * WALLTIME_LANES)
        self.span = self.groups * WALLTIME_LANES
        self.bits = np.array(bits)
        self.first = np.cumsum(bits) - bits
        self.planes = int(np.sum(bits))
        self.width = self.span * self.planes
        self.cells = lined(len(self.begin) * self.width)
        self.ask, self.rough = integers(3 * self.columns), integers(3 * self.columns)
        self.serve, self.own, self.found = (lined(self.span) for _ in range(3))
        self.fit = lined(64 * self.span)
        return 0

    def clear(self, begin):
        """One step, in which nodes have nothing."""
        c: cython.Py_ssize_t
        self.count = 1
        self.begin[0] = begin
        self.row[0] = self.closed[0] = self.freed[0] = 0
        self.edges[0] = 1  # it stays
        cells = np.asarray(self.cells)[: self.width].reshape(self.groups, self.planes, WALLTIME_LANES)
        cells[:] = 0
        for c in range(self.columns if self.below else 0):
            cells[:, self.first[c] + self.bits[c] - 1] = -1
        self.over = False
        return self.spare_rest()

    def spare_rest(self):
        """The rows behind the steps are spare."""
        k: cython.Py_ssize_t
        self.spares = len(self.spare) - self.count
        for k in range(self.spares):
            self.spare[k] = len(self.spare) - 1 - k
        self.version += 1
        return 0

    def join(self, other: NodeTable, behind: NodeTable, time):
        """Be as another one before that time, at which a step begins then, and as a third from then on. Questions are
        not copied. Nothing has begun or ended at a step that they do not have: it has to be said by `cut`."""
        k: cython.Py_ssize_t
        self.count = 0
        self.over = other.over or behind.over
        for k in range(other.count):
            if other.begin[k] >= time:
                break
            self.append(other, k)
        first: cython.Py_ssize_t = behind.find(time)
        split: cython.Py_ssize_t = self.count
        for k in range(first, behind.count):
            self.append(behind, k)
        if split > 0 and self.begin[split] < time:
            self.begin[split] = time
            self.edges[split] = self.freed[split] = 0
        return self.spare_rest()

    def append(self, other: NodeTable, k):
        """A step of another table is the last one."""
        at: cython.Py_ssize_t = self.count
        w: cython.Py_ssize_t = self.width
        if at == len(self.begin):
            self.make_room()
        self.begin[at] = other.begin[k]
        self.freed[at] = other.freed[k]
        self.edges[at] = other.edges[other.row[k]]
        self.closed[at] = other.closed[other.row[k]]
        self.row[at] = at
        self.count = at + 1
        return move_words(words(self.cells), at * w, words(other.cells), other.row[k] * w, w)

    def make_room(self):
        """Have room for twice as many steps; the new rows are spare."""
        k: cython.Py_ssize_t
        old: cython.Py_ssize_t = len(self.begin)
        self.begin, self.row, self.edges = doubled(self.begin), doubled(self.row), doubled(self.edges)
        self.freed, self.closed, self.spare = doubled(self.freed), doubled(self.closed), doubled(self.spare)
        cells = lined(2 * old * self.width)
        cells[: len(self.cells)] = np.asarray(self.cells)
        self.cells = cells
        for k in range(old):
            self.spare[self.spares] = 2 * old - 1 - k
            self.spares += 1
        return 0

    # ---- changes

    def find(self, time):
        """The step that the time lies in; the first for any time before."""
        k: cython.Py_ssize_t = 0
        half: cython.Py_ssize_t
        many: cython.Py_ssize_t = self.count
        while many > 1:
            half = many >> 1
            k += half * (self.begin[k + half] <= time)  # no branch: a processor could not foresee it
            many -= half
        return k

    def cut(self, time):
        """Something begins or ends at that time: the step that begins there. What is before the first is cut off."""
        k: cython.Py_ssize_t = self.find(time)
        w: cython.Py_ssize_t = self.width
        self.version += 1
        if self.begin[k] >= time:
            self.edges[self.row[k]] += 1
            return k
        if self.spares == 0:
            self.make_room()
        self.spares -= 1
        row: cython.Py_ssize_t = self.spare[self.spares]
        k += 1
        self.shift(k + 1, k)
        self.begin[k] = time
        self.row[k] = row
        self.freed[k] = 0
        self.edges[row] = 1
        self.closed[row] = self.closed[self.row[k - 1]]
        self.count += 1
        move_words(words(self.cells), row * w, words(self.cells), self.row[k - 1] * w, w)
        return k

    def leave(self, time):
        """What began or ended at that time is there no more; its amounts have been changed back."""
        k: cython.Py_ssize_t = self.find(time)
        self.version += 1
        self.edges[self.row[k]] -= 1
        if self.edges[self.row[k]] == 0:
            self.spare[self.spares] = self.row[k]
            self.spares += 1
            self.shift(k, k + 1)
            self.count -= 1
        return 0

    def forget(self, time):
        """Drop the steps that are over by then."""
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = self.find(time)
        if k == 0:
            return 0
        for j in range(k):
            self.spare[self.spares] = self.row[j]
            self.spares += 1
        self.shift(0, k)
        self.count -= k
        self.version += 1
        return 0

    def shift(self, into, k):
        """The steps from one on are others from now on."""
        many: cython.Py_ssize_t = self.count - k
        move_words(words(self.begin), into, words(self.begin), k, many)
        move_words(words(self.row), into, words(self.row), k, many)
        move_words(words(self.freed), into, words(self.freed), k, many)
        return 0

    def change(self, first, last, column, node, amount):
        """The node has so much more from one step to another."""
        k: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.first[column]
        cells: cython.p_longlong = words(self.cells)
        for k in range(first, last):
            if add_to_node(cells, self.row[k] * self.width, self.planes, p, self.bits[column], amount, node):
                self.over = True
        return 0

    def change_all(self, first, last, column, nodes, at, amount):
        """The same for each of a set of nodes."""
        p: cython.Py_ssize_t = self.first[column]
        bits: cython.Py_ssize_t = self.bits[column]
        cells: cython.p_longlong = words(self.cells)
        some: cython.p_longlong = words(nodes)
        if add_to_nodes(cells, words(self.row), first, last, self.groups, self.planes, p, bits, amount, some, at):
            self.over = True
        return 0

    def shut(self, start, end):
        """No node can be used from `start` to `end`."""
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = self.cut(start)
        last: cython.Py_ssize_t = self.cut(end)
        for k in range(first, last):
            self.closed[self.row[k]] += 1
        self.freed[last] += self.n
        return 0

    # ---- a question

    def earliest(self, want, length, after, limit):
        """The first time from `after` on, and before `limit`, from which so many nodes have room for so long, or NEVER.
        Then `found` are all that have it.

        The steps that a start would need are looked at from their last one back: where too few nodes have room from one
        of them to the last, no start up to that one will do, and what is before it need not be looked at. For the steps
        from `a` to before `r` there is in `fit` which nodes have room from each to the last of them; enough have.
        """
        start: cython.longlong = after
        a: cython.Py_ssize_t = self.find(after)
        r: cython.Py_ssize_t = a
        k: cython.Py_ssize_t
        last: cython.Py_ssize_t
        zero: cython.Py_ssize_t = a  # the step that is the first in `fit`
        w: cython.Py_ssize_t = self.span
        have: cython.longlong
        found: cython.p_longlong = words(self.found)
        while True:
            last = r
            r = pass_times(words(self.begin), r, self.count, start + length)
            while (r - zero) * w > len(self.fit):
                wider = lined(2 * len(self.fit))
                wider[: len(self.fit)] = self.fit
                self.fit = wider
            fit: cython.p_longlong = words(self.fit)
            since: cython.p_longlong = words(self.serve)
            at: cython.Py_ssize_t = 0
            k = r
            have = self.glance(r - 1, (r - 1 - zero) * w) if last < r and self.roughs > 0 else want
            if have < want:
                k -= 1
            elif last < r:
                k = self.look(last, r, zero, want)
                have = self.have[0]
                since = fit
                at = (k - zero) * w
            if have < want:
                a = k + 1
                if a == r:
                    r = a = zero = self.pass_over(a, have, want)
                if a == self.count or self.begin[a] >= limit:
                    return NEVER
                start = self.begin[a]
                continue
            k = a
            while k < last and meet_nodes(since, at, fit, (k - zero) * w, found, 0, w) < want:
                k += 1
            if k == a:
                break
            a = k
            start = self.begin[a]
            if start >= limit:
                return NEVER
            while k < last:
                meet_nodes(since, at, fit, (k - zero) * w, fit, (k - zero) * w, w)
                k += 1
        if a == last:
            move_words(found, 0, since, at, w)
        return start

    def pass_over(self, r, have, want):
        """The first step from this one on that may have so many nodes, as too few had room at the step before."""
        while r < self.count:
            have += self.freed[r]
            if have >= want:
                break
            r += 1
        return r

    def glance(self, k, at):
        """At most so many nodes have room at the step, by the highest bits of what is left on each. Most steps that are
        looked at first have too few, by far; this reads a third of a row."""
        row: cython.Py_ssize_t = self.row[k] * self.width
        rough: cython.p_longlong = words(self.rough)
        serve: cython.p_longlong = words(self.serve)
        if self.own_begin <= self.begin[k] < self.own_end:
            return cython.cast(cython.int, self.n)
        return fit_nodes(
            words(self.cells), row, self.groups, self.planes, rough, self.roughs, serve, 0, words(self.fit), at
        )

    def look(self, since, until, zero, want):
        """Put the nodes that have room from each of some steps to the last of them in `fit`, from the last step back,
        as long as they are enough: the first such step, or the one at which they are not; `have` is how many."""
        own_since: cython.Py_ssize_t = 0
        own_until: cython.Py_ssize_t = 0
        if self.own_begin < NEVER:
            own_since = pass_times(words(self.begin), since, until, self.own_begin)
            own_until = pass_times(words(self.begin), own_since, until, self.own_end)
        return fit_steps(
            words(self.cells),
            words(self.row),
            words(self.closed),
            since,
            until,
            self.groups,
            self.planes,
            words(self.ask),
            self.asks,
            words(self.serve),
            words(self.own),
            own_since,
            own_until,
            self.below,
            words(self.fit),
            zero,
            want,
            words(self.have),
        )


def common(one, other):
    """The largest common divisor; of 0 and a number that number. 1 has no smaller one."""
    while other != 0 and one != 1:
        one, other = other, one % other
    return one


def bits_for(most):
    """How many bits numbers up to that have."""
    bits: cython.longlong = 0
    while most > 0:
        most >>= 1
        bits += 1
    return bits
