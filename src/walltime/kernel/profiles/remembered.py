"""What a plan was, once it has been taken back: to make the same plan again where nothing that matters has changed."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers

LESS_KEPT = cython.declare(cython.Py_ssize_t, 1)  # how a node was eased: less is kept there,
OTHERS_RUN = cython.declare(cython.Py_ssize_t, 2)  # or other jobs run there


@cython.final
@cython.cclass
class EasedNodes:
    """Nodes, each of them once, and how they were eased: the most of it."""

    def __init__(self, nodes) -> None:
        self.how = integers(nodes)
        self.node = integers(nodes)
        self.count = 0

    def put(self, i, how):
        if self.how[i] == 0:
            self.node[self.count] = i
            self.count += 1
        if how > self.how[i]:
            self.how[i] = how
        return 0

    def clear(self):
        k: cython.Py_ssize_t
        for k in range(self.count):
            self.how[self.node[k]] = 0
        self.count = 0
        return 0


@cython.final
@cython.cclass
class RememberedPlan:
    """The promises of a plan that was taken back, in the order in which they were made, and what was eased since.

    A job's look saw the promises made before its own. So what was eased for a job are the nodes on which other jobs
    run, those of promises that were dropped, and those of promises before its own that are not made again as they were,
    or not yet.
    """

    def __init__(self, nodes) -> None:
        self.count = 0
        self.slot = integers(64)
        self.seq = integers(64)
        self.shape = integers(64)
        self.start = integers(64)
        self.length = integers(64)
        self.first = integers(65)
        self.gone = integers(64)
        self.node = integers(256)
        self.place = integers(64, -1)  # by slot
        self.next = 0
        self.eased = EasedNodes(nodes)
        self.crowded = integers(nodes)
        self.plan = 1

    def clear(self):
        """Nothing is remembered."""
        k: cython.Py_ssize_t
        self.plan += 1
        for k in range(self.count):
            self.place[self.slot[k]] = -1
        self.count = self.next = 0
        return 0

    def note(self, slot, seq, shape, start, length):
        """One more promise; its nodes are told one by one."""
        k: cython.Py_ssize_t = self.count
        if k == len(self.slot):
            self.slot = doubled(self.slot)
            self.seq = doubled(self.seq)
            self.shape = doubled(self.shape)
            self.start = doubled(self.start)
            self.length = doubled(self.length)
            self.gone = doubled(self.gone)
            self.first = np.concatenate([self.first, integers(k)])
        while slot >= len(self.place):
            self.place = np.concatenate([self.place, integers(len(self.place), -1)])
        self.place[slot] = k
        self.slot[k] = slot
        self.seq[k] = seq
        self.shape[k] = shape
        self.start[k] = start
        self.length[k] = length
        self.gone[k] = 1
        self.first[k + 1] = self.first[k]
        self.count += 1
        return 0

    def note_node(self, i):
        """One more node of the last promise."""
        p: cython.Py_ssize_t = self.first[self.count]
        if p == len(self.node):
            self.node = doubled(self.node)
        self.node[p] = i
        self.first[self.count] += 1
        return 0

    def find(self, slot, seq):
        """Which promise is the job's, or -1."""
        k: cython.Py_ssize_t
        if self.count == 0 or slot >= len(self.place):
            return -1
        k = self.place[slot]
        return k if k >= 0 and self.seq[k] == seq else -1

    def pass_over(self, k):
        """Those before this one that are not there again are not there for it."""
        j: cython.Py_ssize_t
        for j in range(self.next, k):
            if self.gone[j]:
                self.give_up(j)
        if k > self.next:
            self.next = k
        return 0

    def give_up(self, k):
        """The promise is not made as it was."""
        p: cython.Py_ssize_t
        for p in range(self.first[k], self.first[k + 1]):
            self.eased.put(self.node[p], LESS_KEPT)
        return 0
