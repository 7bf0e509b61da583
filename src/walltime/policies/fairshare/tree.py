"""The tree of accounts and users with their shares, and the three ways to make a factor of shares and use.

A node is a number, parents before children; node 0 is the root. A *leaf* is a node that is charged: a user in an
account, or whatever else fair share is counted by.
"""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, doubles, integers
from walltime.kernel.queue.sorting import sort_by
from walltime.kernel.usage import Usage, blunt
from walltime.policy.api import float_key

FORMULAS = ("alea", "classic", "fair-tree")
FEW = cython.declare(cython.Py_ssize_t, 24)  # siblings that are sorted where they are

if not cython.compiled:
    from math import inf

    INFINITY = inf

    def exp2(x):
        """Two to the power of x."""
        return 2.0**x


@cython.final
@cython.cclass
class ShareTree:
    """Shares, use, and what follows of them: for each node `share` (of the whole, normalised), `use` (core-seconds),
    and for each leaf `factor` (0 to 1, higher is better) and `standing` (lower is better, the finer of the two)."""

    def __init__(self, width=1) -> None:
        self.width = width
        self.size = 0
        self.leaves = 0
        self.parent = integers(16)
        self.charged = integers(16)  # the leaf's number in the usage ledger; -1 for a node that is none
        self.given = doubles(16)  # shares as they are given
        self.share = doubles(16)
        self.part = doubles(16)  # the node's shares over those of all its siblings and itself
        self.own = doubles(16 * width)  # what the leaf has used itself, as it was read last
        self.read_at = -1  # and when
        self.leaf_of = integers(16)  # of each number in the usage ledger
        self.used = doubles(16 * width)
        self.use = doubles(16)
        self.effective = doubles(16)
        self.level = doubles(16)
        self.standing = doubles(16)
        self.factors = doubles(16)
        self.factored = True  # whether they follow the standings
        self.first = integers(17)  # of each node's children, in `child`
        self.child = integers(16)
        self.line = integers(16)  # nodes that are given ranks, the children of one behind those of another
        self.key = integers(16)  # and what they are sorted by
        self.tie = integers(16)
        self.known = 0  # how many nodes the shares have been normalised for
        self.add(-1, 1.0, -1)

    def add(self, parent, shares, charged):
        """A new node's number; `charged` is its number in the usage ledger if it is a leaf, else -1."""
        node: cython.Py_ssize_t = self.size
        if node == len(self.parent):
            self.parent = doubled(self.parent)
            self.charged = doubled(self.charged)
            self.child = doubled(self.child)
            self.line = doubled(self.line)
            self.key = doubled(self.key)
            self.tie = doubled(self.tie)
            self.given = doubled(self.given)
            self.share = doubled(self.share)
            self.part = doubled(self.part)
            self.own = doubled(self.own)
            self.used = doubled(self.used)
            self.use = doubled(self.use)
            self.effective = doubled(self.effective)
            self.level = doubled(self.level)
            self.standing = doubled(self.standing)
            self.factors = doubled(self.factors)
            self.first = integers(len(self.parent) + 1)
        self.parent[node] = parent
        self.given[node] = shares
        self.charged[node] = charged
        if charged >= 0:
            self.leaves += 1
            while charged >= len(self.leaf_of):
                self.leaf_of = doubled(self.leaf_of)
            self.leaf_of[charged] = node
        self.size = node + 1
        return node

    @property
    def factor(self):
        """The factor of each node. Most orders look at standings alone, so these are made when they are asked for."""
        i: cython.Py_ssize_t
        if not self.factored:
            for i in range(self.known):
                self.factors[i] = exp2(-self.standing[i])
            self.factored = True
        return self.factors

    def figures(self) -> tuple:
        """The factor and the use of each node, as they are now."""
        i: cython.Py_ssize_t
        factors, use = doubles(self.size), doubles(self.size)
        factors_at: cython.double[::1] = factors
        use_at: cython.double[::1] = use
        for i in range(self.size):
            factors_at[i] = self.factor_of(i)
            use_at[i] = self.use[i]
        return factors, use

    def factor_of(self, node):
        """That of one node."""
        return self.factors[node] if self.factored or node >= self.known else exp2(-self.standing[node])

    def calculate(self, usage: Usage, time, formula, dampening):
        """Everything, by the use at the time; `formula` is the place in FORMULAS."""
        if self.known < self.size:
            self.normalise()
        self.read(usage, time)
        self.sum_use()
        self.factored = formula == 2
        if formula == 0:
            self.by_target()
        elif formula == 1:
            self.by_effective_use(dampening)
        else:
            self.by_rank()
        return 0

    def normalise(self):
        """Shares of the whole, and the lists of children."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.size
        siblings: cython.double[::1] = doubles(n)
        place: cython.longlong[::1] = integers(n)
        for i in range(n + 1):
            self.first[i] = 0
        for i in range(1, n):
            siblings[self.parent[i]] += self.given[i]
            self.first[self.parent[i] + 1] += 1
        self.share[0] = self.part[0] = 1.0
        for i in range(1, n):
            self.part[i] = self.given[i] / siblings[self.parent[i]] if siblings[self.parent[i]] > 0 else 0.0
            self.share[i] = self.share[self.parent[i]] * self.part[i]
        for i in range(n):
            self.first[i + 1] += self.first[i]
        for i in range(1, n):
            self.child[self.first[self.parent[i]] + place[self.parent[i]]] = i
            place[self.parent[i]] += 1
        self.known = n
        return 0

    def read(self, usage: Usage, time):
        """The leaves' own use; only of those of which it may have changed, where time alone changes none."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        if self.read_at >= 0 and usage.stands(self.read_at, time):
            for i in range(usage.changes):
                for k in range(w):
                    self.own[self.leaf_of[usage.changed[i]] * w + k] = usage.read(usage.changed[i], k, time)
        else:
            for i in range(self.size):
                for k in range(w if self.charged[i] >= 0 else 0):
                    self.own[i * w + k] = usage.read(self.charged[i], k, time)
        self.read_at = time
        return usage.forget_marks()

    def sum_use(self):
        """The use of each node: the leaves' own, the others' that of all below them; of several resources the one of
        which most was used, each measured against what the cluster has."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        w: cython.Py_ssize_t = self.width
        above: cython.Py_ssize_t
        most: cython.double
        sum: cython.double
        for k in range(w):
            for i in range(self.size):
                self.used[i * w + k] = self.own[i * w + k]
            above = 0
            sum = self.used[k]  # what is known so far of the node above
            for i in range(self.size - 1, 0, -1):
                if self.parent[i] != above:
                    self.used[above * w + k] = sum
                    above = self.parent[i]
                    sum = self.used[above * w + k]
                sum += self.used[i * w + k]
            self.used[above * w + k] = sum
        for i in range(self.size):
            most = 0.0
            for k in range(w):
                if self.used[i * w + k] > most:
                    most = self.used[i * w + k]
            self.use[i] = most
        return 0

    def by_target(self):
        """Alea: F = 2**-(U / S), U the part of all use that is the leaf's, S its share of the whole."""
        i: cython.Py_ssize_t
        use: cython.double
        for i in range(self.size):
            use = self.use[i] / self.use[0] if self.use[0] > 0 else 0.0
            self.standing[i] = blunt(self.ratio(use, self.share[i]))
        return 0

    def ratio(self, use, share):
        """Use over share; the worst is that of a user without a share."""
        if share > 0:
            return use / share
        return INFINITY

    def by_effective_use(self, dampening):
        """Slurm's classic formula: F = 2**-(E / S / d), E = U for the nodes below the root, else
        E = U + (E of the parent - U) * (shares / those of all siblings)."""
        i: cython.Py_ssize_t
        use: cython.double
        self.effective[0] = 1.0
        self.standing[0] = 0.0
        for i in range(1, self.size):
            use = self.use[i] / self.use[0] if self.use[0] > 0 else 0.0
            if self.parent[i] > 0:
                use = use * (1.0 - self.part[i]) + self.effective[self.parent[i]] * self.part[i]
            self.effective[i] = use
            self.standing[i] = blunt(self.ratio(use, self.share[i]) / dampening)
        return 0

    def by_rank(self):
        """Slurm's Fair Tree: siblings by their shares over their use, all below the better one before all below the
        other; F = rank / number of leaves, equal ones having the same rank."""
        i: cython.Py_ssize_t
        part: cython.double
        for i in range(1, self.size):
            part = self.use[i] / self.use[self.parent[i]] if self.use[self.parent[i]] > 0 else 0.0
            if self.part[i] <= 0:
                self.level[i] = 0.0
            elif part <= 0:
                self.level[i] = INFINITY
            else:
                self.level[i] = blunt(self.part[i] / part)
        self.rank = self.next_rank = self.leaves
        return self.visit(0, self.list_children(0, 0), False)

    def list_children(self, node, end):
        """Put the node's children behind the first `end` of `line`; where they end."""
        at: cython.Py_ssize_t
        for at in range(self.first[node], self.first[node + 1]):
            self.line[end] = self.child[at]
            end += 1
        return end

    def visit(self, begin, end, tied):
        """Give ranks to the leaves among these nodes of `line` and below them, the best first; the first one shares the
        rank of the last leaf where `tied`. What is below them is listed behind them: no node is there twice."""
        i: cython.Py_ssize_t = begin
        k: cython.Py_ssize_t
        last: cython.Py_ssize_t
        node: cython.Py_ssize_t
        self.arrange(begin, end)
        while i < end:
            node = self.line[i]
            if i > begin:
                tied = self.key[i] == self.key[i - 1]
            if self.tie[i] == 0:
                if not tied:
                    self.rank = self.next_rank
                self.next_rank -= 1
                self.factors[node] = cython.cast(cython.double, self.rank) / cython.cast(cython.double, self.leaves)
                self.standing[node] = -cython.cast(cython.double, self.rank)
                i += 1
                continue
            k = i
            last = end
            while k < end and self.key[k] == self.key[i]:  # accounts that are equal are looked at as one
                node = self.line[k]
                self.factors[node] = cython.cast(cython.double, self.next_rank) / cython.cast(
                    cython.double, self.leaves
                )
                last = self.list_children(node, last)
                k += 1
            self.visit(end, last, tied)
            i = k
        return 0

    def arrange(self, begin, end):
        """Sort these nodes of `line` by their levels, the highest first, and leaves before accounts."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        node: cython.longlong
        key: cython.longlong
        tie: cython.longlong
        for i in range(begin, end):
            node = self.line[i]
            key = float_key(-self.level[node])
            tie = self.charged[node] < 0
            k = i
            if end - begin <= FEW:
                while k > begin and (self.key[k - 1] > key or (self.key[k - 1] == key and self.tie[k - 1] > tie)):
                    self.line[k] = self.line[k - 1]
                    self.key[k] = self.key[k - 1]
                    self.tie[k] = self.tie[k - 1]
                    k -= 1
            self.line[k] = node
            self.key[k] = key
            self.tie[k] = tie
        if end - begin > FEW:
            sort_by(self.key[begin:end], self.tie[begin:end], self.line[begin:end], end - begin)
        return 0
