"""Whether a job would fit if some running jobs had gone, and which of them it needs to go."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.cores import Ledger  # noqa: F401 - as in victims.pxd
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.trial import Trial
from walltime.policy.api import Pass

CORES = cython.declare(cython.longlong, 0xFFFFFF)  # of a share


@cython.final
@cython.cclass
class Search:
    """Asks how it would be without some of the jobs: a trial of the ledger.

    A job that needs a single node is helped by those on that node alone: others are counted there, and stay. Not so
    where it wants licences, or where cores are kept on no certain nodes: there each may help.
    """

    def __init__(self) -> None:
        self.gained = integers(1)  # by node: the cores of the candidates there
        self.newest = integers(1)  # by node: its newest entry and one more; 0: none
        self.entry_slot = integers(64)
        self.entry_node = integers(64)
        self.entry_before = integers(64)  # as `newest`
        self.entries = 0
        self.trial = Trial()
        self.candidates = []  # the jobs that may go, the first to go first: those that matter, where that is known

    def begin(self, view: Pass, slot):
        """Seek room for this job."""
        self.view = view
        self.ledger = view.raw_ledger
        self.slot = slot
        self.cores = view.jobs.at[slot].cores
        self.nodes = None
        if isinstance(view.raw_ledger, ResourceLedger) and (view.jobs.at[slot].nodes == 1 or self.cores == 1):
            self.nodes = view.raw_ledger
            if self.nodes.counted > 0 or self.nodes.licensed_of[view.jobs.at[slot].shape]:
                self.nodes = None
            elif len(self.newest) < self.nodes.n:
                self.gained = integers(self.nodes.n)
                self.newest = integers(self.nodes.n)
        self.candidates = []
        return self.trial.begin(view.raw_ledger)

    def end(self):
        """All jobs are back where they were."""
        k: cython.Py_ssize_t
        self.trial.end()
        for k in range(self.entries):
            self.gained[self.entry_node[k]] = self.newest[self.entry_node[k]] = 0
        self.entries = 0
        return 0

    def enough_without(self, one):
        """Whether the job fits, now that this one may go, too."""
        if self.nodes is not None:
            return self.enough_on_its_nodes(one)
        self.candidates.append(one)
        self.trial.take_away(one)
        return self.cores <= self.ledger.free and self.view.fits(self.slot)

    def enough_on_its_nodes(self, one):
        k: cython.Py_ssize_t
        node: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.nodes.lines.kinds
        first: cython.Py_ssize_t = self.nodes.shares.first[one]
        free: cython.longlong
        reached: list = []
        for k in range(first, first + self.nodes.shares.length[one]):
            node = self.nodes.shares.at[k] >> 24
            self.enter(one, node)
            self.gained[node] += self.nodes.shares.at[k] & CORES
            free = self.nodes.lines.cap[node * kinds] - self.nodes.lines.used[node * kinds]
            if free + self.gained[node] >= self.cores:
                reached.append(node)
        return len(reached) > 0 and self.enough_on(reached)

    def enter(self, one, node):
        """The candidate is on the node."""
        k: cython.Py_ssize_t = self.entries
        if k == len(self.entry_slot):
            self.entry_slot = doubled(self.entry_slot)
            self.entry_node = doubled(self.entry_node)
            self.entry_before = doubled(self.entry_before)
        self.entry_slot[k] = one
        self.entry_node[k] = node
        self.entry_before[k] = self.newest[node]
        self.entries += 1
        self.newest[node] = self.entries
        return 0

    def enough_on(self, nodes: list):
        """Whether the job fits on one of these nodes, the candidates that are there being gone."""
        node: cython.Py_ssize_t
        one: cython.Py_ssize_t
        k: cython.Py_ssize_t
        there: dict = {}  # the entry of each
        for node in nodes:
            k = self.newest[node]
            while k > 0:
                there[self.entry_slot[k - 1]] = k
                k = self.entry_before[k - 1]
        self.candidates = sorted(there, key=there.__getitem__)
        for one in self.candidates:
            self.trial.take_away(one)
        if self.view.fits(self.slot):
            return True
        for one in self.candidates:
            self.trial.bring_back(one)
        return False

    def needed(self):
        """Of the candidates, without which the job fits: those that really have to go."""
        one: cython.Py_ssize_t
        k: cython.Py_ssize_t
        last: cython.Py_ssize_t = len(self.candidates) - 1
        needed: list = [self.candidates[last]]
        for k in range(last - 1, -1, -1):
            one = self.candidates[k]
            self.trial.bring_back(one)
            if not self.view.fits(self.slot):
                self.trial.take_away(one)
                needed.append(one)
        needed.reverse()
        return needed
