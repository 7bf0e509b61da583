"""Which job has which cores on which node, and how that changes as running jobs end.

A job asks for cores alone (*shapeless*), or for a number of nodes, or for so many cores a node (*shaped*). A shaped
request is so many nodes, over which its cores are divided evenly: each node needs ceil(cores / nodes) free cores, and
the lowest-numbered of the chosen ones get the odd ones. Nodes are shared between jobs core by core, or given as a
whole: then a shapeless job gets nodes until their cores suffice.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger import Ledger
from walltime.kernel.place import Place
from walltime.kernel.pool import NodePool
from walltime.kernel.profile import RunningProfile
from walltime.kernel.shares import Shares

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node


@cython.cclass
class NodeOccupancy(Ledger):
    """Nodes of given cores, placed by `place`; `pace` is each node's speed in millionths.

    A *walk* goes through the running jobs by expected end; `later` is then what is in use on the nodes that it has
    `seen`, at its time.
    """

    def __init__(self, jobs: JobTable, cores, place: Place, index, whole, pace, seed) -> None:
        sizes = np.ascontiguousarray(cores, np.int64)
        Ledger.__init__(self, jobs, int(sizes.sum()), index)
        self.place = place
        self.whole = whole
        self.n = len(sizes)
        self.cap = sizes.copy()
        self.used = integers(self.n)
        self.pace = np.full(self.n, FULL_SPEED, np.int64) if pace is None else np.ascontiguousarray(pace, np.int64)
        self.paced = bool((np.asarray(self.pace) != FULL_SPEED).any())
        self.pool = NodePool(sizes, place.ranked, place.treed)
        self.empty = NodePool(sizes, False, False)
        self.nodes = self.least = 0
        self.shares = Shares()
        self.by_end = RunningProfile()
        self.walked = False
        self.block = self.entry = 0
        self.walk = 0
        self.seen = integers(self.n)
        self.later = integers(self.n)
        self.step = 0
        self.stepped = integers(self.n)
        self.touch = integers(self.n)
        self.touched = 0
        self.planned_for = self.planned_at = self.surplus = -1  # what `when_enough` found last
        self.ranges = self.shares.ranges
        place.prepare(jobs, sizes, whole, seed)

    # ---- the request

    def shape(self, slot):
        """How many nodes the job wants (0: any), with `least` cores on each."""
        cores: cython.longlong = self.jobs.at[slot].cores
        nodes: cython.longlong = self.jobs.at[slot].nodes
        each: cython.longlong = self.jobs.at[slot].per_node
        if nodes <= 0 and each > 0:
            nodes = (cores + each - 1) // each
        if nodes <= 0:
            self.nodes = 0
            self.least = 1
            return 0
        if nodes > cores and not self.whole:
            nodes = cores
        self.nodes = nodes
        self.least = (cores + nodes - 1) // nodes
        if self.whole and each > self.least:
            self.least = each
        return nodes

    def suits(self, cores):
        """Whether the request that was looked at last can be served from the pool as it stands."""
        if self.nodes == 0:
            return cores <= self.pool.total
        if self.place.plain:
            return self.pool.enough(self.least, self.nodes)
        return self.place.suits(self.pool, self.nodes, self.least)

    def possible(self, slot):
        if self.jobs.at[slot].cores > self.size:
            return False
        return self.shape(slot) == 0 or self.place.suits(self.empty, self.nodes, self.least)

    def need(self, slot):
        """Of whole nodes, their mean size; a job that names no number of them needs as many as hold its cores."""
        cores: cython.longlong = self.jobs.at[slot].cores
        mean: cython.longlong = self.size // self.n
        nodes: cython.longlong
        if not self.whole:
            return cores
        nodes = self.shape(slot)
        if nodes == 0:
            nodes = (cores + mean - 1) // mean
        return min(max(cores, nodes * mean), self.size)

    def room(self, i, used):
        """Cores that a job may take on the node when so many are in use."""
        if self.whole:
            return self.cap[i] if used <= 0 else 0
        return self.cap[i] - used if used < self.cap[i] else 0

    # ---- who has what

    def choose(self, slot):
        """Ask the placement, and give every chosen node its share, in order of the numbers."""
        k: cython.Py_ssize_t
        cores: cython.longlong = self.jobs.at[slot].cores
        self.pool.clear()
        if self.nodes == 0:
            self.place.spread(self.pool, cores, slot)
            self.pool.sort()
        else:
            self.place.pick(self.pool, self.nodes, self.least, slot)
            self.pool.sort()
            if not self.pool.explicit:
                self.divide(cores)
        if self.whole:
            for k in range(self.pool.chosen):
                self.pool.share[k] = self.cap[self.pool.node[k]]
        return 0

    def divide(self, cores):
        """The job's cores evenly over the chosen nodes, the odd ones to the lowest numbers."""
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.pool.chosen
        if n == 0:
            return 0
        each: cython.longlong = cores // n
        odd: cython.longlong = cores - each * n
        for k in range(n):
            self.pool.share[k] = each + 1 if k < odd else each
        return 0

    # ---- a walk into the future

    def follow(self):
        """Begin to keep the running jobs by expected end."""
        s: cython.Py_ssize_t
        if self.walked:
            return 0
        self.walked = True
        for s in self.jobs.slots():
            if self.jobs.at[s].holding == 1 and self.jobs.at[s].cluster == self.index:
                self.by_end.insert(self.jobs.at[s].expected_end, self.jobs.at[s].seq, s)
        return 0

    def rewind(self):
        """A new walk through the expected ends."""
        self.block = 0
        self.entry = 0
        self.walk += 1
        return 0

    def on(self):
        """Whether there is a further expected end."""
        while self.block < self.by_end.blocks and self.entry >= self.by_end.count[self.block]:
            self.block += 1
            self.entry = 0
        return self.block < self.by_end.blocks

    def next_end(self):
        return self.by_end.time[self.by_end.order[self.block] * BLOCK + self.entry]

    def forward(self, time):
        """Walk on to `time`: `later` is what is in use then, and the pool shows it."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        job: cython.Py_ssize_t
        self.touched = 0
        self.step += 1
        while self.on() and self.next_end() <= time:
            job = self.by_end.cores[self.by_end.order[self.block] * BLOCK + self.entry]
            self.entry += 1
            for k in range(self.shares.first[job], self.shares.first[job] + self.shares.length[job]):
                i = self.shares.at[k] >> 24
                if self.seen[i] != self.walk:
                    self.seen[i] = self.walk
                    self.later[i] = self.used[i]
                self.later[i] -= self.shares.at[k] & CORES
                if self.stepped[i] != self.step:
                    self.stepped[i] = self.step
                    self.touch[self.touched] = i
                    self.touched += 1
        for k in range(self.touched):
            i = self.touch[k]
            self.pool.assume(i, self.room(i, self.later[i]))
        return 0

    def when_enough(self, slot, after):
        """The first time at which enough is free, where nothing is kept for anybody: nodes are only counted."""
        job: cython.Py_ssize_t
        time: cython.longlong = after
        want: cython.longlong = self.nodes
        have: cython.longlong
        if want == 0:
            want = self.jobs.at[slot].cores
            have = self.pool.total
        else:
            have = self.pool.at_least(self.least)
        self.rewind()
        while self.on():
            if self.next_end() > time:
                if have >= want:
                    break
                time = self.next_end()
            job = self.by_end.cores[self.by_end.order[self.block] * BLOCK + self.entry]
            self.entry += 1
            have += self.gain(job)
        self.planned_for = slot
        self.planned_at = time
        self.surplus = have - want
        return time if have >= want else NEVER

    def gain(self, job):
        """The job's end, in a walk: how many more nodes then suffice, or cores where any will do."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        used: cython.longlong
        before: cython.longlong
        behind: cython.longlong
        gain: cython.longlong = 0
        shares: cython.longlong[::1] = self.shares.at
        cap: cython.longlong[::1] = self.cap
        seen: cython.longlong[::1] = self.seen
        later: cython.longlong[::1] = self.later
        least: cython.longlong = self.least
        for k in range(self.shares.first[job], self.shares.first[job] + self.shares.length[job]):
            i = shares[k] >> 24
            used = later[i] if seen[i] == self.walk else self.used[i]
            behind = used - (shares[k] & CORES)
            later[i] = behind
            seen[i] = self.walk
            if self.whole:  # `room`, by hand
                before = cap[i] if used <= 0 else 0
                behind = cap[i] if behind <= 0 else 0
            else:
                before = cap[i] - used
                behind = cap[i] - behind
            if self.nodes == 0:
                gain += (behind if behind > 0 else 0) - (before if before > 0 else 0)
            elif before < least <= behind:
                gain += 1
        return gain

    # ---- for the record

    def refuse(self, cores, nodes, per_node) -> str:
        if cores > self.size:
            return "more cores than the cluster has"
        if nodes <= 0 < per_node:
            nodes = -(-cores // per_node)
        if nodes > self.n:
            return "more nodes than the cluster has"
        if max(per_node if self.whole else 0, -(-cores // max(nodes, 1))) > self.pool.top:
            return "more cores on a node than any node has"
        return "more nodes of that size than the cluster has"

    def describe(self, slot):
        found: cython.Py_ssize_t = self.shares.describe(slot)
        self.ranges = self.shares.ranges
        return found

    def shares_of(self, slot) -> list:
        """The job's nodes as (node, cores): for checks and for a person."""
        return self.shares.pairs(slot)
