"""Migration: jobs that wait in one cluster move to another that would start them earlier."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.engine.cluster import Changes, Cluster
from walltime.kernel.jobs import JobTable
from walltime.kernel.source import Source

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class Migration(Source):
    """Looks at the first `depth` waiting jobs of each cluster, in order: `every` so many microseconds, or with 0
    whenever something other than an arrival has happened in a cluster, and then for this one as a target only.

    A job moves to the cluster that is predicted to start it first, if that is earlier by at least `gain` than where it
    is; at most `most` times. One for which others have been told to leave stays. It keeps the time from which it has
    been waiting. `moves` counts.
    """

    def __init__(self, every, gain, most, depth) -> None:
        Source.__init__(self)
        self.background = self.endless = True
        self.every = every
        self.gain = gain
        self.most = most
        self.depth = depth
        self.moves = 0
        self.moved = {}
        self.due = False
        self.clusters = []
        self.changes = None
        self.options = {}

    def join(self, clusters, changes: Changes, options) -> None:
        """Called once, before the run; `options` are the clusters that each job may go to, by slot."""
        self.clusters = clusters
        self.changes = changes
        self.options = options

    def fire(self, now):
        self.due = True
        self.next = NEVER
        return 0

    def look(self, opened, now):
        """Move the jobs that gain by it; `opened` are the clusters in which something has happened."""
        cluster: Cluster
        alone: cython.bint = self.due and len(opened) == 0
        moves: cython.longlong = self.moves
        if self.every > 0:
            opened = self.clusters if self.due else []
            self.due = False
        if opened:
            for cluster in opened:
                cluster.target = True
            for cluster in self.clusters:
                if cluster.waiting > 0:
                    self.look_through(cluster, now)
            for cluster in opened:
                cluster.target = False
        # Where no job runs, none moves, and nothing else has happened, another look would find the same.
        if alone and self.changes.running == 0 and self.moves == moves:
            return 0
        if self.every > 0 and self.next == NEVER and self.changes.waiting > 0:
            self.next = (now // self.every + 1) * self.every
        return 0

    def look_through(self, cluster: Cluster, now):
        """One cluster's waiting jobs."""
        slot: cython.Py_ssize_t
        left: cython.Py_ssize_t = self.depth
        for domain in cluster.domains:
            for slot in cluster.waiting_in(domain):
                if left == 0:
                    return 0
                left -= 1
                self.consider(cluster, slot, now)
        return 0

    def consider(self, cluster: Cluster, slot, now):
        """Move the job if it gains enough."""
        jobs: JobTable = cluster.ledger.jobs
        other: Cluster
        best: Cluster = None
        time: cython.longlong
        first: cython.longlong = NEVER
        here: cython.longlong
        options: list = self.options[slot]
        if len(options) < 2 or jobs.at[slot].pinned or self.moved.get(jobs.at[slot].seq, 0) >= self.most:
            return 0
        here = cluster.predict(slot)
        if here < now + self.gain:
            return 0
        for other in options:
            if other is cluster or not other.target:
                continue
            time = other.predict(slot)
            if time < first:
                best = other
                first = time
        if best is None or first > here - self.gain or best.count_in(jobs, slot) is not None:
            return 0
        self.moved[jobs.at[slot].seq] = self.moved.get(jobs.at[slot].seq, 0) + 1
        self.moves += 1
        cluster.give_up(jobs, slot, now)
        return best.take_in(jobs, slot, now)
