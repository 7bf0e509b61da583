"""Whether a job would fit if some running jobs had gone, and which of them it needs to go."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.interface import Ledger  # noqa: F401 - as in victims.pxd
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.trial import Trial
from walltime.policy.api import Pass

CORES = cython.declare(cython.longlong, 0xFFFFFF)  # of a share


@cython.final
@cython.cclass
class VictimSearch:
    """Asks how it would be without some of the jobs: a trial of the ledger.

    A job that needs a single node is helped by those on that node alone: others are counted there, and stay. Not so
    where it wants licences, or where cores are kept on no certain nodes: there each may help. One that wants several
    nodes is asked about once so many of them would have the cores: up to then the candidates are counted, and stay.
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
            else:
                self.make_room(self.nodes.n)
        self.candidates = []
        self.away = 0
        self.lacking = 0
        return self.trial.begin(view.raw_ledger)

    def count_lacking(self, ledger: ResourceLedger, x):
        """How many more nodes have to have the cores for the job, those being gone that leave anyway."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = ledger.set_of[x]
        kinds: cython.Py_ssize_t = ledger.timelines.kinds
        self.each = ledger.timelines.each[ledger.demand_of[x] * kinds]
        if ledger.nodes_of[x] == 0 or ledger.parts_in[x] > 0:
            return 0
        self.make_room(ledger.n)
        self.wide = ledger
        self.set = s
        self.lacking = ledger.nodes_of[x]
        for k in range(ledger.range_of[s], ledger.range_of[s + 1]):
            for i in range(ledger.range_first[k], ledger.range_last[k]):
                self.lacking -= ledger.timelines.cap[i * kinds] - ledger.timelines.used[i * kinds] >= self.each
        return 0

    def make_room(self, nodes):
        if len(self.newest) < nodes:
            self.gained = integers(nodes)
            self.newest = integers(nodes)
        return 0

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
        if not self.candidates and isinstance(self.ledger, ResourceLedger) and self.view.jobs.at[self.slot].choice < 0:
            self.count_lacking(self.ledger, self.view.jobs.at[self.slot].shape)
        self.candidates.append(one)
        if self.lacking > 0:
            self.gain(one)
        if self.lacking > 0:
            return False
        while self.away < len(self.candidates):
            self.trial.take_away(self.candidates[self.away])
            self.away += 1
        return self.cores <= self.ledger.free and self.view.fits(self.slot)

    def gain(self, one):
        """Count what the candidate's nodes have more without it."""
        k: cython.Py_ssize_t
        node: cython.Py_ssize_t
        free: cython.longlong
        kinds: cython.Py_ssize_t = self.wide.timelines.kinds
        shares: cython.p_longlong = self.wide.shares.of(one)
        for k in range(self.wide.shares.count(one)):
            node = shares[k] >> 24
            free = self.wide.timelines.cap[node * kinds] - self.wide.timelines.used[node * kinds] + self.gained[node]
            self.enter(one, node)
            self.gained[node] += shares[k] & CORES
            if free < self.each <= free + (shares[k] & CORES):
                self.lacking -= self.wide.member[self.set * self.wide.n + node]
        return 0

    def enough_on_its_nodes(self, one):
        k: cython.Py_ssize_t
        node: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.nodes.timelines.kinds
        shares: cython.p_longlong = self.nodes.shares.of(one)
        free: cython.longlong
        x: cython.Py_ssize_t = self.view.jobs.at[self.slot].shape
        s: cython.Py_ssize_t = self.nodes.set_of[x] * self.nodes.n
        choosing: cython.bint = self.view.jobs.at[self.slot].choice >= 0
        reached: list = []
        for k in range(self.nodes.shares.count(one)):
            node = shares[k] >> 24
            self.enter(one, node)
            self.gained[node] += shares[k] & CORES
            free = self.nodes.timelines.cap[node * kinds] - self.nodes.timelines.used[node * kinds]
            if free + self.gained[node] < self.cores:
                continue
            if choosing or (self.nodes.member[s + node] and self.nodes.timelines.large(node, self.nodes.demand_of[x])):
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
