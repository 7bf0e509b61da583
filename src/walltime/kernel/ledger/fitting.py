"""Whether a job can start now: on which nodes it has room, beside what is kept there for others."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.recalling import Recalling
from walltime.kernel.profiles.node_space import has_node, no_nodes, put_node

NEVER = cython.declare(cython.longlong, _NEVER)
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodePool

if not cython.compiled:
    from walltime.kernel.ledger.node_pool import __builtin_ctzll


@cython.cclass
class Fitting(Recalling):
    """What fits now. While it is `restricted`, jobs fit and are placed on some of the nodes only."""

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        Recalling.__init__(self, jobs, nodes, index)
        self.restricted = False
        self.usable = integers(1)
        self.placed = -1

    def restrict(self, nodes):
        """Until `lift`, jobs fit and are placed on these nodes only, a set as in `NodeSpace`."""
        self.restricted = True
        self.usable = nodes
        return 0

    def confine(self, nodes):
        i: cython.Py_ssize_t
        chosen: cython.longlong[::1] = no_nodes(self.n)
        for node in nodes:
            if not isinstance(node, int | np.integer) or not 0 <= node < self.n:
                raise PolicyError(f"there is no node {node!r}: they are 0 to {self.n - 1}")
            i = node
            put_node(chosen, i)
        return self.restrict(chosen)

    def lift(self):
        self.restricted = False
        return 0

    def may_use(self, slot, i):
        """Whether the node is one of those that the job asks for, whatever is free there."""
        return self.member[self.set_of[self.jobs.at[slot].shape] * self.n + i] == 1

    def wants(self, slot) -> tuple:
        """How many nodes the job asks for, 0 for cores anywhere, and what it wants on each, or with each core.

        Of one whose nodes differ, that of the part which is being placed; before that, the least.
        """
        job: cython.Py_ssize_t = slot
        x: cython.Py_ssize_t = self.jobs.at[job].shape
        if not 0 <= x < self.shapes:
            raise EngineError(f"job {self.jobs.at[job].job_id} has no shape: {x}")
        if self.parts_in[x] > 0 and self.placed >= 0:
            x = self.placed
        return int(self.nodes_of[x]), self.timelines.wanted(self.demand_of[x])

    def mask_of(self, slot) -> np.ndarray:
        """The nodes that the job may use, as a mask."""
        job: cython.Py_ssize_t = slot
        return self.masks[self.set_of[self.jobs.at[job].shape]].copy()

    def leave_out(self, x, pool: NodePool):
        """Assume in the pool that the other nodes have nothing."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        if not self.restricted:
            return 0
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if not has_node(self.usable, i):
                    pool.assume(i, 0)
        return 0

    def fits(self, slot):
        return self.fits_among(slot) if not self.restricted else self.fits_there(slot)

    @cython.final
    def fits_there(self, slot):
        """Whether it fits on the nodes that jobs may use now."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        pool: NodePool = self.pools[self.set_of[x]]
        self.leave_out(x, pool)
        try:
            return self.fits_among(slot)
        finally:
            pool.undo(0)

    @cython.final
    def fits_among(self, slot):
        """The same on what the pool shows."""
        h: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        plain: cython.longlong = self.plain_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)  # a job that starts is there for a moment
        if plain == 0:
            return self.fits_request(slot, x, length)
        if plain > self.everything.total or length > self.longest:
            return False
        if self.holds == 0:
            return True  # the most frequent case
        if self.holds > 1 or self.counted == 0 or self.of_set[0].spared != self.version or self.over > 0:
            return self.fits_request(slot, x, length)
        h = self.by_start[0]  # a number of cores, and so much is left beside it
        return self.held[h].start >= self.now + length or self.held[h].slot == slot or self.of_set[0].spare >= plain

    @cython.final
    def fits_request(self, slot, x, length):
        """The same of any request, for so long."""
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        pool: NodePool = cython.cast(NodePool, self.pools[self.set_of[x]])
        end: cython.longlong = self.now + length
        if self.cores_of[x] > pool.total or length > self.longest:
            return False
        if nodes > 0 and not pool.enough(self.timelines.each[d * self.timelines.kinds], nodes):
            return False
        if self.holds == 0 and nodes == 0 and self.timelines.simple[d] and not self.licensed_of[x]:
            return True
        if self.counted == 0:
            return self.fits_named(slot, x, pool, end)
        s: cython.Py_ssize_t = self.set_of[x]
        if self.of_set[s].spared == self.version and self.holds == 1 and self.over == 0 and not self.licensed_of[x]:
            h: cython.Py_ssize_t = self.by_start[0]  # a number of cores of this set, and so much is left beside it
            if self.any_serve(x):
                return self.held[h].start >= end or self.held[h].slot == slot or self.of_set[s].spare >= self.takes(x)
        if not self.leaves_numbers(slot, x, self.now, end, self.takes(x)):
            return False
        if not self.fits_named(slot, x, pool, end):
            return False
        if self.name_unclear(slot, x, self.now, end) == 0:
            return True
        suits: cython.bint = self.leaves_numbers(slot, x, self.now, end, self.takes(x))
        suits = suits and self.fits_named(slot, x, pool, end)
        self.take_names_back()
        return suits

    def fits_named(self, slot, x, pool: NodePool, end):
        """Whether the nodes and licences are there beside the named holds."""
        if self.licensed_of[x] and not self.licensed(slot, x, self.now, end):
            return False
        return self.fits_nodes(slot, x, pool, end) if self.parts_in[x] == 0 else self.fits_parts(slot, x, pool, end)

    def fits_parts(self, slot, x, pool: NodePool, end):
        """Whether each part has its nodes together with those before it."""
        y: cython.Py_ssize_t
        for y in range(x + 1 + self.parts_in[x], x + 1 + 2 * self.parts_in[x]):
            if not pool.enough(self.timelines.each[self.demand_of[y] * self.timelines.kinds], self.nodes_of[y]):
                return False
            if not self.fits_nodes(slot, y, pool, end):
                return False
        return True

    def fits_nodes(self, slot, x, pool: NodePool, end):
        """Whether the nodes are there, or the cores of one that wants no certain nodes."""
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        if nodes > 0 and not self.place.plain:
            mark: cython.Py_ssize_t = pool.assumed
            self.narrow(slot, x, pool, end)
            suits: cython.bint = self.suits(x, pool)
            pool.undo(mark)
            return suits
        if self.named == 0 and (self.any_serve(x) or self.timelines.simple[d]):
            return True
        if not self.timelines.simple[d]:
            return self.fits_fully(slot, x, pool, end)
        return self.fits_simply(slot, x, pool, end)

    def fits_simply(self, slot, x, pool: NodePool, end):
        """Whether cores alone suffice beside the holds: what the pool says, less what they take from it."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        least: cython.longlong = self.timelines.each[d * self.timelines.kinds]
        have: cython.longlong
        if not self.conflicts(slot, self.now, end):
            return True
        if self.holds_once():
            return self.fits_beside(x, pool)
        self.meet(slot, self.set_of[x], self.now, end)
        if nodes == 0:
            have = pool.total
            for k in range(self.meets):
                i = self.met[k]
                have -= max(pool.value[i] - self.timelines.offer(i, d, slot, self.now, end), 0)
            return have >= self.cores_of[x]
        if pool.enough(least, nodes + self.meets):
            return True
        have = pool.at_least(least)
        for k in range(self.meets):
            i = self.met[k]
            if pool.value[i] >= least and not self.timelines.clear(i, d, slot, self.now, end):
                have -= 1
                if have < nodes:
                    return False
        return have >= nodes

    def focus_parts(self, node_set):
        """So many nodes may have that at most, and so many cores are there for such a job."""
        v: cython.Py_ssize_t
        s: cython.Py_ssize_t = node_set if node_set > 0 else 0
        lost: cython.longlong = 0
        mark: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        if self.of_set[s].measured != self.version:
            self.measure(s)
        self.place.widest(pool, self.part_free)
        if not self.place.plain and self.holds_once():
            mark = pool.assumed
            self.narrow_beside(s, pool)
            self.place.widest(pool, self.part_extra)
            pool.undo(mark)
        else:
            for v in range(self.levels - 1, 0, -1):
                lost += self.lost[s * self.levels + v] if self.place.plain else 0
                self.part_extra[v] = self.part_free[v] - lost
        for v in range(self.levels):
            self.part_free[v] *= v
            self.part_extra[v] *= v
        return 0

    def holds_once(self):
        """Whether there is one hold, still to begin: then what it bars on each node is known."""
        return self.holds == 1 and self.pins == 0 and self.tries == 0 and self.held[self.by_start[0]].start > self.now

    def fits_beside(self, x, pool: NodePool):
        """The same beside the only hold, for a job that outlasts its start: what it bars on each node is known."""
        e: cython.longlong = self.held[self.by_start[0]].first
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        least: cython.longlong = self.timelines.each[self.demand_of[x] * self.timelines.kinds]
        have: cython.longlong
        if nodes == 0:
            return pool.total - self.barred_in(s) >= self.cores_of[x]
        if self.of_set[s].measured != self.version:
            self.measure(s)
        if pool.assumed == 0:
            return self.beside(s, least) >= nodes
        have = pool.at_least(least)
        while e >= 0 and have >= nodes:
            i = self.timelines.kept_node[e]
            if self.member[s * self.n + i] and pool.value[i] - self.timelines.kept_barred[e] < least <= pool.value[i]:
                have -= 1
            e = self.timelines.kept_next[e]
        return have >= nodes

    def barred_in(self, s):
        """What a job that outlasts the start of the only hold cannot have of the set's free cores."""
        if self.of_set[s].measured != self.version:
            self.measure(s)
        return self.of_set[s].barred

    def fits_fully(self, slot, x, pool: NodePool, end):
        """Whether enough nodes with free cores have the rest too, and stay so beside the holds."""
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        level: cython.longlong = pool.level_to(pool.top)
        least: cython.longlong = self.timelines.each[d * self.timelines.kinds]
        i: cython.Py_ssize_t = -1
        want: cython.longlong = nodes if nodes > 0 else self.cores_of[x]
        if nodes > 0 and self.timelines.kinds > 1:
            pool.clear()
            return self.find_clear(slot, x, pool, end)
        while level >= least and want > 0:  # downwards: a node with many free cores has most likely the rest too
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
            elif nodes == 0:
                want -= self.timelines.offer(i, d, slot, self.now, end)
            elif self.timelines.clear(i, d, slot, self.now, end):
                want -= 1
        return want <= 0

    def find_clear(self, slot, x, pool: NodePool, end):
        """Put the lowest-numbered nodes that have room until then; whether there are enough."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        word: cython.longlong
        least: cython.longlong = self.timelines.each[d * self.timelines.kinds]
        self.know_room()
        self.rough.ask(self.timelines.each, d * self.timelines.kinds, 0)
        for w in range(pool.words):
            word = self.rough.among(w)
            while word != 0:
                i = w * WORD + __builtin_ctzll(word)
                word &= word - 1
                if pool.value[i] >= least and self.timelines.clear(i, d, slot, self.now, end):
                    pool.put(i, 0)
                    if pool.chosen == self.nodes_of[x]:
                        return True
        return False

    def narrow(self, slot, x, pool: NodePool, end):
        """Assume in the pool what the job may take on each node from now to `end`."""
        self.narrow_by_holds(slot, x, pool, end)
        return self.leave_out(x, pool)

    def narrow_by_holds(self, slot, x, pool: NodePool, end):
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = -1
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        level: cython.longlong
        if self.named == 0 and self.any_serve(x):
            return 0
        if self.timelines.simple[d]:
            if not self.timelines.blind and self.conflicts(slot, self.now, end):
                if self.holds_once():
                    return self.narrow_beside(self.set_of[x], pool)
                self.meet(slot, self.set_of[x], self.now, end)
                for k in range(self.meets):
                    i = self.met[k]
                    pool.assume(i, self.timelines.offer(i, A_CORE, slot, self.now, end))
            return 0
        level = pool.level_from(self.timelines.each[d * self.timelines.kinds])
        while level >= 0:  # upwards: a node that is assumed to have less is not met again
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            elif nodes == 0:
                pool.assume(i, self.timelines.offer(i, d, slot, self.now, end))
            elif not self.timelines.clear(i, d, slot, self.now, end):
                pool.assume(i, 0)
            elif self.timelines.kept_on[i] >= 0:
                pool.assume(i, self.timelines.offer(i, A_CORE, slot, self.now, end))
        return 0

    def narrow_beside(self, s, pool: NodePool):
        """Assume in the pool what the set's nodes have beside the only hold, for a job that outlasts its start."""
        e: cython.longlong = self.held[self.by_start[0]].first
        i: cython.Py_ssize_t
        if self.of_set[s].measured != self.version:
            self.measure(s)
        while e >= 0:
            i = self.timelines.kept_node[e]
            if self.timelines.kept_barred[e] > 0 and self.member[s * self.n + i]:
                pool.assume(i, max(0, pool.value[i] - self.timelines.kept_barred[e]))
            e = self.timelines.kept_next[e]
        return 0

    def has_cores(self, i, d, slot, cores, end):
        """Whether a job that has fewer cores on this node than on others finds these, where it needs nothing else."""
        if not self.timelines.simple[d] or self.timelines.alone[d]:
            return False
        return self.timelines.offer(i, A_CORE, slot, self.now, end) >= cores
