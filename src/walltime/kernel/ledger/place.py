"""Where a job runs: the interface between the ledger of nodes and a placement."""

from __future__ import annotations

import cython

from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool


@cython.cclass
class Place:
    """Chooses nodes from a pool that shows what the job may take on each, holds of other jobs already taken off.

    `ranked` and `treed` say which of the pool's structures it needs. `plain` says that a shaped request suits whenever
    enough nodes are large enough; one that also cares which nodes they are overrides `suits` and is not plain.
    `leftover` tells a ledger that counts more than cores which nodes a shaped request is to get: those with the least
    left over (1), with the most (-1), or those that `pick` chooses by their free cores (0). `lowest` says that it picks
    the lowest-numbered ones that suffice. `by_room` says of one that is not plain that it looks at nothing but which
    nodes suffice, that one more does no harm, and that it answers `when` and `pick_by`. `divided` says that `of` gives
    jobs other placements than itself.
    """

    def __init__(self) -> None:
        self.ranked = False
        self.treed = False
        self.plain = True
        self.leftover = 0
        self.lowest = False
        self.by_room = False
        self.divided = False

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        """Called once, before the first job: the nodes' cores, whether nodes are given as a whole, the seed."""
        return 0

    def connect(self, switches):
        """Called before the first job where it is known on which switch each node is."""
        return 0

    def of(self, slot):
        """The placement of the job: itself, unless queues have placements of their own."""
        return self

    def survey(self, ledger):
        """Called before the first job: the ledger of the nodes, which knows what is free there of every resource."""
        return None

    def suits(self, pool: NodePool, nodes, least):
        """Whether `nodes` nodes with `least` free cores each can be chosen."""
        return pool.enough(least, nodes)

    def when(self, times, nodes):
        """From when on so many nodes can be chosen, where `times` says from when on each of them suffices."""
        raise NotImplementedError(f"{type(self).__name__}.when")

    def pick_by(self, pool: NodePool, nodes, times, time):
        """As `pick`, of those nodes that suffice by then."""
        raise NotImplementedError(f"{type(self).__name__}.pick_by")

    def widest(self, pool: NodePool, most):
        """For each number of cores but 0, how many nodes can be chosen at most that have as many free."""
        v: cython.Py_ssize_t
        nodes: cython.longlong = 0
        for v in range(len(most) - 1, 0, -1):
            nodes += pool.count[v] if v <= pool.top else 0
            most[v] = nodes
        return 0

    def pick(self, pool: NodePool, nodes, least, slot):
        """`pool.put` that many nodes, each with `least` free cores; called only where `suits` says so."""
        raise NotImplementedError(f"{type(self).__name__}.pick")

    def spread(self, pool: NodePool, cores, slot):
        """`pool.put` nodes, and how many cores on each, until `cores` are together; called where they are free."""
        raise NotImplementedError(f"{type(self).__name__}.spread")

    def position(self):
        """What it remembers of the jobs that it has placed, if that is anything."""
        return 0

    def go_back(self, position):
        """What it has placed since was only planned."""
        return 0


@cython.final
@cython.cclass
class QueuePlaces(Place):
    """Each queue's own placement, by the queue's number; all of them are plain."""

    def __init__(self, places) -> None:
        Place.__init__(self)
        self.divided = True
        self.places = list(places)
        self.distinct = list(dict.fromkeys(places))
        self.ranked = any(place.ranked for place in self.distinct)
        self.treed = any(place.treed for place in self.distinct)

    def of(self, slot):
        return self.places[self.jobs.at[slot].queue]

    def prepare(self, jobs: JobTable, sizes, whole, seed):
        self.jobs = jobs
        for place in self.distinct:
            place.prepare(jobs, sizes, whole, seed)
        return 0

    def connect(self, switches):
        for place in self.distinct:
            place.connect(switches)
        return 0

    def survey(self, ledger):
        for place in self.distinct:
            place.survey(ledger)
