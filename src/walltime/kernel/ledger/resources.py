"""What is free on which node, now and later, where nodes have several resources and jobs may use some of the nodes.

A shaped job wants so many distinct nodes, and the same of each, or has several such parts; a shapeless one wants cores
anywhere, each with its part of the rest. All want licences, or none. A reservation is a number of cores where any
serve; else it names its nodes when it is made, and is feasible in every resource there. A question about the future
costs the nodes that have changed since it was asked last, a look at each node of the set, and the nodes on which
something is kept.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.node_space import has_node, no_nodes, put_node
from walltime.kernel.ledger.timelines import Timelines
from walltime.kernel.recalling import Recalling

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node
EASED = cython.declare(cython.Py_ssize_t, 4096)  # as in Timelines
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodePool

if not cython.compiled:
    from walltime.kernel.ledger.node_pool import __builtin_ctzll


@cython.cclass
class ResourceLedger(Recalling):
    """The ledger of vectors of resources on nodes; exact for any number of holds.

    A job's own hold never stands in its way. `extra` counts on a job that has none. While it is `restricted`, jobs fit
    and are placed on some of the nodes only.
    """

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        Recalling.__init__(self, jobs, nodes, index)
        self.before_node = integers(self.n)
        self.before_cores = integers(self.n)
        self.wanted = integers(self.lines.kinds)
        self.restricted = False
        self.usable = integers(1)
        self.placed = -1

    # ---- now

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
        return int(self.nodes_of[x]), self.lines.wanted(self.demand_of[x])

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
        if not self.restricted:
            return self.fits_among(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        pool: NodePool = self.pools[self.set_of[x]]
        self.leave_out(x, pool)
        try:
            return self.fits_among(slot)
        finally:
            pool.undo(0)

    def fits_among(self, slot):
        """The same on what the pool shows."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        pool: NodePool = self.pools[self.set_of[x]]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)  # a job that starts is there for a moment
        end: cython.longlong = self.now + length
        if self.cores_of[x] > pool.total or length > self.longest:
            return False
        if nodes > 0 and not pool.enough(self.lines.each[d * self.lines.kinds], nodes):
            return False
        if self.counted == 0:
            return self.fits_named(slot, x, pool, end)
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
            if not pool.enough(self.lines.each[self.demand_of[y] * self.lines.kinds], self.nodes_of[y]):
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
        if self.named == 0 and (self.any_serve(x) or self.lines.simple[d]):
            return True
        if not self.lines.simple[d]:
            return self.fits_fully(slot, x, pool, end)
        return self.fits_simply(slot, x, pool, end)

    def fits_simply(self, slot, x, pool: NodePool, end):
        """Whether cores alone suffice beside the holds: what the pool says, less what they take from it."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        least: cython.longlong = self.lines.each[d * self.lines.kinds]
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
                have -= max(pool.value[i] - self.lines.offer(i, d, slot, self.now, end), 0)
            return have >= self.cores_of[x]
        if pool.enough(least, nodes + self.meets):
            return True
        have = pool.at_least(least)
        for k in range(self.meets):
            i = self.met[k]
            if pool.value[i] >= least and not self.lines.clear(i, d, slot, self.now, end):
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
        if self.measured[s] != self.version:
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

    def part_bounds(self, node_set) -> list:
        """The bounds of the parts as (free, extra): for checks and for a person."""
        self.focus_parts(node_set)
        return [(int(self.part_free[v]), int(self.part_extra[v])) for v in range(self.levels)]

    def holds_once(self):
        """Whether there is one hold, still to begin: then what it bars on each node is known."""
        return self.holds == 1 and self.pins == 0 and self.tries == 0 and self.held_start[self.by_start[0]] > self.now

    def fits_beside(self, x, pool: NodePool):
        """The same beside the only hold, for a job that outlasts its start: what it bars on each node is known."""
        e: cython.longlong = self.held_first[self.by_start[0]]
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        least: cython.longlong = self.lines.each[self.demand_of[x] * self.lines.kinds]
        have: cython.longlong
        if nodes == 0:
            return pool.total - self.barred_in(s) >= self.cores_of[x]
        if self.measured[s] != self.version:
            self.measure(s)
        if pool.assumed == 0:
            return self.beside(s, least) >= nodes
        have = pool.at_least(least)
        while e >= 0 and have >= nodes:
            i = self.lines.kept_node[e]
            if self.member[s * self.n + i] and pool.value[i] - self.lines.kept_barred[e] < least <= pool.value[i]:
                have -= 1
            e = self.lines.kept_next[e]
        return have >= nodes

    def barred_in(self, s):
        """What a job that outlasts the start of the only hold cannot have of the set's free cores."""
        if self.measured[s] != self.version:
            self.measure(s)
        return self.barred[s]

    def fits_fully(self, slot, x, pool: NodePool, end):
        """Whether enough nodes with free cores have the rest too, and stay so beside the holds."""
        d: cython.Py_ssize_t = self.demand_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        level: cython.longlong = pool.level_to(pool.top)
        least: cython.longlong = self.lines.each[d * self.lines.kinds]
        i: cython.Py_ssize_t = -1
        want: cython.longlong = nodes if nodes > 0 else self.cores_of[x]
        if nodes > 0 and self.lines.kinds > 1:
            pool.clear()
            return self.find_clear(slot, x, pool, end)
        while level >= least and want > 0:  # downwards: a node with many free cores has most likely the rest too
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_to(level - 1)
            elif nodes == 0:
                want -= self.lines.offer(i, d, slot, self.now, end)
            elif self.lines.clear(i, d, slot, self.now, end):
                want -= 1
        return want <= 0

    def find_clear(self, slot, x, pool: NodePool, end):
        """Put the lowest-numbered nodes that have room until then; whether there are enough."""
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        word: cython.longlong
        least: cython.longlong = self.lines.each[d * self.lines.kinds]
        self.rough.ask(self.lines.each, d * self.lines.kinds, 0)
        for w in range(pool.words):
            word = self.rough.among(w)
            while word != 0:
                i = w * WORD + __builtin_ctzll(word)
                word &= word - 1
                if pool.value[i] >= least and self.lines.clear(i, d, slot, self.now, end):
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
        if self.lines.simple[d]:
            if not self.lines.blind and self.conflicts(slot, self.now, end):
                if self.holds_once():
                    return self.narrow_beside(self.set_of[x], pool)
                self.meet(slot, self.set_of[x], self.now, end)
                for k in range(self.meets):
                    i = self.met[k]
                    pool.assume(i, self.lines.offer(i, A_CORE, slot, self.now, end))
            return 0
        level = pool.level_from(self.lines.each[d * self.lines.kinds])
        while level >= 0:  # upwards: a node that is assumed to have less is not met again
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            elif nodes == 0:
                pool.assume(i, self.lines.offer(i, d, slot, self.now, end))
            elif not self.lines.clear(i, d, slot, self.now, end):
                pool.assume(i, 0)
            elif self.lines.kept_on[i] >= 0:
                pool.assume(i, self.lines.offer(i, A_CORE, slot, self.now, end))
        return 0

    def narrow_beside(self, s, pool: NodePool):
        """Assume in the pool what the set's nodes have beside the only hold, for a job that outlasts its start."""
        e: cython.longlong = self.held_first[self.by_start[0]]
        i: cython.Py_ssize_t
        if self.measured[s] != self.version:
            self.measure(s)
        while e >= 0:
            i = self.lines.kept_node[e]
            if self.lines.kept_barred[e] > 0 and self.member[s * self.n + i]:
                pool.assume(i, max(0, pool.value[i] - self.lines.kept_barred[e]))
            e = self.lines.kept_next[e]
        return 0

    # ---- starts and ends

    def take(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        pool: NodePool = self.pools[self.set_of[x]]
        end: cython.longlong = self.jobs.at[slot].expected_end
        until: cython.longlong = end if end > self.now else self.now + 1
        if self.counted > 0:
            self.name_unclear(slot, x, self.now, until)
            self.keep_names()
        if self.holds > 0:
            self.unhold(slot)
        if self.parts_in[x] > 0:
            self.choose_parts(slot, x, pool, until)
        elif not (self.is_choosy(x) and self.choose_clear(slot, x, pool, until)):
            self.choose_narrowed(slot, x, pool, until)
        self.settle(slot, x, pool)
        self.jobs.at[slot].holding = 1
        self.enroll(slot, end, True)
        return self.bound()

    def choose_narrowed(self, slot, x, pool: NodePool, until):
        """Show the placement what the job may take on each node, and let it choose."""
        plain: cython.bint = self.nodes_of[x] == 0 and self.named == 0 and not self.restricted
        if plain and not self.licensed_of[x] and self.any_serve(x) and self.cores_of[x] <= pool.total:
            return self.choose(slot, x, pool)  # it may take all that is free: the most frequent case
        self.narrow(slot, x, pool, until)
        if not (self.suits(x, pool) and self.licensed(slot, x, self.now, until)):
            pool.undo(0)
            self.lines.blind = self.licensing.blind = True  # a job that is resumed goes before what is kept for others
            self.narrow(slot, x, pool, until)
            fits: cython.bint = self.suits(x, pool) and self.licensed(slot, x, self.now, until)
            self.lines.blind = self.licensing.blind = False
            if not fits:
                pool.undo(0)
                raise EngineError(f"job {self.jobs.at[slot].job_id} takes nodes where it does not fit")
        try:
            return self.choose(slot, x, pool)
        finally:
            pool.undo(0)

    def choose_parts(self, slot, x, pool: NodePool, until):
        """The parts of one whose nodes differ, the largest first: each is placed on nodes that those before it left."""
        if self.pick_parts(slot, x, pool, until):
            return self.divide(slot, x, pool)
        self.lines.blind = self.licensing.blind = True  # as above
        try:
            if not self.pick_parts(slot, x, pool, until):
                raise EngineError(f"job {self.jobs.at[slot].job_id} takes nodes where it does not fit")
        finally:
            self.lines.blind = self.licensing.blind = False
        return self.divide(slot, x, pool)

    def pick_parts(self, slot, x, pool: NodePool, until):
        """Put the nodes of all parts, with their cores; whether there are enough."""
        z: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        least: cython.longlong
        if not self.licensed(slot, x, self.now, until):
            return False
        demands: dict = {}
        self.parts_on[slot] = self.jobs.at[slot].seq, demands
        try:
            for z in range(x + 1, x + 1 + self.parts_in[x]):
                least = self.lines.each[self.demand_of[z] * self.lines.kinds]
                self.placed = z
                self.narrow(slot, z, pool, until)
                for k in range(n):
                    pool.assume(self.before_node[k], 0)
                if not pool.enough(least, self.nodes_of[z]):
                    return False
                self.pick(slot, z, pool)
                pool.undo(0)
                if pool.chosen != self.nodes_of[z]:
                    raise EngineError(f"job {self.jobs.at[slot].job_id} is given {pool.chosen} nodes for a part of it")
                for k in range(pool.chosen):
                    self.before_node[n] = pool.node[k]
                    self.before_cores[n] = least
                    demands[pool.node[k]] = self.demand_of[z]
                    n += 1
        finally:
            pool.undo(0)
            self.placed = -1
        pool.clear()
        for k in range(n):
            pool.put(self.before_node[k], self.before_cores[k])
        pool.fix()
        return True

    def is_choosy(self, x):
        """Whether nodes are to be looked at one by one, as more than cores decides, in an order that is known."""
        if self.nodes_of[x] == 0 or self.lines.kinds == 1 or self.restricted or not self.place.plain:
            return False
        return self.place.leftover != 0 or (self.place.lowest and not self.lines.simple[self.demand_of[x]])

    def choose_clear(self, slot, x, pool: NodePool, until):
        """Choose as the placement would, node by node; False where there are not enough that have room until then."""
        d: cython.Py_ssize_t = self.demand_of[x]
        if not self.licensed(slot, x, self.now, until):
            return False
        if not pool.enough(self.lines.each[d * self.lines.kinds], self.nodes_of[x]):
            return False
        pool.clear()
        if self.place.leftover == 0:
            return self.find_clear(slot, x, pool, until) and self.divide(slot, x, pool)
        if not self.lines.bare[d]:
            self.weigh(d)
        return self.rank_clear(slot, x, pool, until) and self.divide(slot, x, pool)

    def rank_clear(self, slot, x, pool: NodePool, until):
        """Put the nodes that have room until then on which the least, or the most, is left over; whether there are
        enough.

        By what is free of cores; on a node on which something is kept meanwhile that is less, so those go first.
        """
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        least: cython.longlong = self.lines.each[d * self.lines.kinds]
        sign: cython.longlong = self.place.leftover
        level: cython.longlong = pool.level_from(least) if sign > 0 else pool.level_to(pool.top)
        self.smallest.clear(self.nodes_of[x])
        self.meet(slot, self.set_of[x], self.now, until)
        for k in range(self.meets):
            i = self.met[k]
            if pool.value[i] >= least and self.lines.clear(i, d, slot, self.now, until):
                self.smallest.put(sign * self.leftover(i, d, self.lines.offer(i, A_CORE, slot, self.now, until)), i)
        self.rough.ask(self.lines.each, d * self.lines.kinds, 1)
        while level >= least:
            if sign > 0 and (level - least) / self.scale[0] > self.smallest.worst:
                break  # this much is left over of cores alone
            full: cython.bint = sign < 0 and self.smallest.count == self.nodes_of[x]
            if full and not self.ask_better(d, (level - least) / self.scale[0], -self.smallest.worst):
                break
            self.rank_level(slot, d, pool, level, until)
            level = pool.level_from(level + 1) if sign > 0 else pool.level_to(level - 1)
        for k in range(self.smallest.count):
            pool.put(self.smallest.node[k], 0)
        return pool.chosen == self.nodes_of[x]

    def ask_better(self, d, cores, best):
        """Look only at nodes that may have `best` left over, where of cores so much is, as parts of the most that a
        node has: what must be left over of the rest. False where no node has that much."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        need: cython.longlong
        gap: cython.double = best - cores - 1e-9  # sums are rounded
        rest: cython.double = 0.0  # all that can be left over
        for r in range(1, kinds):
            if self.scale[r] > 0:
                rest += 1.0 - self.lines.each[d * kinds + r] / self.scale[r]
        if rest < gap:
            return False
        for r in range(1, kinds):
            need = self.lines.each[d * kinds + r]
            self.wanted[r] = need
            if self.scale[r] > 0 and gap > 0:
                self.wanted[r] = max(need, cython.cast(cython.longlong, (gap - rest + 1.0) * self.scale[r]))
        self.rough.ask(self.wanted, 0, 1)
        return True

    def rank_level(self, slot, d, pool: NodePool, level, until):
        """Consider the nodes with so many free cores that have room and where nothing is kept meanwhile."""
        h: cython.Py_ssize_t
        w: cython.Py_ssize_t
        i: cython.Py_ssize_t
        head: cython.longlong
        word: cython.longlong
        key: cython.double
        for h in range(pool.heads):
            head = pool.summary[level * pool.heads + h]
            while head != 0:
                w = h * WORD + __builtin_ctzll(head)
                head &= head - 1
                word = pool.bits[level * pool.words + w] & self.rough.among(w)
                while word != 0:
                    i = w * WORD + __builtin_ctzll(word)
                    word &= word - 1
                    if self.mark[i] != self.stamp:
                        key = self.place.leftover * self.leftover(i, d, level)
                        if key <= self.smallest.worst and self.lines.clear(i, d, slot, self.now, until):
                            self.smallest.put(key, i)
        return 0

    def choose(self, slot, x, pool: NodePool):
        """Ask the placement, and divide the cores."""
        self.pick(slot, x, pool)
        return self.divide(slot, x, pool)

    def pick(self, slot, x, pool: NodePool):
        """Ask the placement."""
        nodes: cython.longlong = self.nodes_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        pool.clear()
        if not self.lines.bare[d]:
            self.weigh(d)
        if nodes == 0:
            self.place.spread(pool, self.cores_of[x], slot)
        elif self.lines.kinds > 1 and self.place.leftover != 0:
            self.choose_by_leftover(x, pool)
        else:
            self.place.pick(pool, nodes, self.lines.each[d * self.lines.kinds], slot)
        return 0

    def divide(self, slot, x, pool: NodePool):
        """Divide the job's cores over the chosen nodes in order of their numbers."""
        k: cython.Py_ssize_t
        cores: cython.longlong = self.cores_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        taken: cython.longlong = 0
        pool.sort()
        if nodes > 0 and not pool.explicit and pool.chosen == nodes:
            for k in range(nodes):
                pool.share[k] = cores // nodes + (1 if k < cores % nodes else 0)
        for k in range(pool.chosen):
            taken += pool.share[k]
        if pool.chosen != nodes > 0:
            raise EngineError(f"job {self.jobs.at[slot].job_id} is given {pool.chosen} nodes where it wants {nodes}")
        if taken < cores or (taken > cores and not self.lines.alone[self.demand_of[x]]):
            raise EngineError(f"job {self.jobs.at[slot].job_id} is given {taken} cores where it wants {cores}")
        return True

    def weigh(self, d):
        """A job gets what it asks for: from now on these resources count in what is left over."""
        r: cython.Py_ssize_t
        for r in range(1, self.lines.kinds):
            if self.lines.each[d * self.lines.kinds + r] > 0:
                self.scale[r] = self.most_of[r]
        return 0

    def choose_by_leftover(self, x, pool: NodePool):
        """The nodes on which the least, or the most, is left over beside the job, of all resources that a job has had
        so far: one that no job asks for changes no placement."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = -1
        d: cython.Py_ssize_t = self.demand_of[x]
        level: cython.longlong = pool.level_from(self.lines.each[d * self.lines.kinds])
        self.smallest.clear(self.nodes_of[x])
        while level >= 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            else:
                self.smallest.put(self.place.leftover * self.leftover(i, d, level), i)
        for k in range(self.smallest.count):
            pool.put(self.smallest.node[k], 0)
        return 0

    def leftover(self, i, d, cores):
        """What is left of each resource, as a part of the most that a node has of it, in sum: of cores, beside what is
        kept for other jobs, which leaves so many."""
        r: cython.Py_ssize_t
        lines: Timelines = self.lines
        at: cython.Py_ssize_t = i * lines.kinds
        wants: cython.Py_ssize_t = d * lines.kinds
        left: cython.longlong
        sum: cython.double = cython.cast(cython.double, cores - lines.each[wants]) / self.scale[0]
        for r in range(1, lines.kinds):
            if self.scale[r] > 0:
                left = lines.cap[at + r] - lines.used[at + r] - lines.each[wants + r]
                sum += cython.cast(cython.double, left) / self.scale[r]
        return sum

    def settle(self, slot, x, pool: NodePool):
        """The job is on the chosen nodes, and has its licences."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        kinds: cython.Py_ssize_t = self.lines.kinds
        cores: cython.longlong
        speed: cython.longlong = self.pace[pool.node[0]] if pool.chosen > 0 else FULL_SPEED
        self.shares.allot(slot, pool.chosen)
        for k in range(pool.chosen):
            i = pool.node[k]
            if self.paced and self.pace[i] < speed:
                speed = self.pace[i]
            cores = self.lines.cap[i * kinds] if self.lines.alone[d] else pool.share[k]
            self.shares.at[self.shares.first[slot] + k] = i << 24 | cores
            self.put(slot, x, i, cores)
        self.jobs.at[slot].speed = speed
        return self.put_licences(slot, x) if self.licensed_of[x] else 0

    def put(self, slot, x, i, cores):
        """The job is on the node, with so many cores."""
        d: cython.Py_ssize_t
        if not self.timed:
            self.lines.used[i * self.lines.kinds] += cores
            return self.update(i)
        d = self.demand_on(slot, x, i, cores)
        # A job that is alone has all that the node ever has, also what is out of order just now.
        self.lines.start(
            i,
            slot,
            self.jobs.at[slot].expected_end,
            self.lines.full[i * self.lines.kinds] if self.lines.alone[d] else cores,
            d,
            1 if self.nodes_of[x] > 0 else cores,
        )
        return self.update(i)

    def put_licences(self, slot, x):
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        end: cython.longlong = self.jobs.at[slot].expected_end
        for k in range(self.licences):
            d = self.licence_of[x * self.licences + k]
            if d >= 0:
                self.licensing.start(k, slot, end, self.licensing.each[d], d, 1)
        return 0

    def give(self, slot):
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        end: cython.longlong = self.jobs.at[slot].expected_end
        first: cython.Py_ssize_t = self.shares.first[slot]
        self.early += end > self.now and self.jobs.at[slot].seq >= 0
        self.enroll(slot, end, False)
        for k in range(first, first + self.shares.length[slot]):
            i = self.shares.at[k] >> 24
            if self.timed:
                self.lines.stop(i, slot, end)
            else:
                self.lines.used[i * self.lines.kinds] -= self.shares.at[k] & CORES
            self.update(i)
        if x >= 0 and self.licensed_of[x]:
            for k in range(self.licences):
                if self.licence_of[x * self.licences + k] >= 0:
                    self.licensing.stop(k, slot, end)
        self.shares.release(slot)
        self.jobs.at[slot].holding = 0
        return self.bound()

    def give_node(self, slot, node):
        i: cython.Py_ssize_t = node
        end: cython.longlong = self.jobs.at[slot].expected_end
        cores: cython.longlong
        self.enroll(slot, end, False)
        cores = self.shares.remove(slot, i)
        if cores < 0:
            raise EngineError(f"job {self.jobs.at[slot].job_id} gives back node {i}, which it has not")
        if self.timed:
            self.lines.stop(i, slot, end)
        else:
            self.lines.used[i * self.lines.kinds] -= cores
        self.update(i)
        self.enroll(slot, end, True)
        return self.bound()

    def prolong(self, slot, until):
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        end: cython.longlong = self.jobs.at[slot].expected_end
        first: cython.Py_ssize_t = self.shares.first[slot]
        self.enroll(slot, end, False)
        self.enroll(slot, until, True)
        for k in range(first, first + self.shares.length[slot] if self.timed else first):
            i = self.shares.at[k] >> 24
            self.lines.move(i, slot, end, until)
            self.update(i)
        if x >= 0 and self.licensed_of[x]:
            for k in range(self.licences):
                if self.licence_of[x * self.licences + k] >= 0:
                    self.licensing.move(k, slot, end, until)
        self.jobs.at[slot].expected_end = until
        return self.bound()

    # ---- holds

    def hold(self, slot, start):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        h: cython.Py_ssize_t
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)
        if self.holds_only(slot) and (
            self.place.by_room
            or (self.planned_for == slot and self.planned_at == start and self.planned == self.changes())
        ):
            return self.renew(slot, x, start, end)
        found: cython.bint = self.is_found(slot, start)
        if self.counted > 0:
            self.name_unclear(slot, x, start, end)
            self.keep_names()
        self.make_hold(slot, start, end)
        h = self.made
        self.held_set[h] = self.set_of[x]
        self.held_shape[h] = x
        if not self.is_placed(slot, x, start, end):
            self.held_count[h] = self.takes(x)
            self.counted += 1
            self.counted_in[self.set_of[x]] += 1
            self.plan_hold(h, -1)
        elif found and self.recalled >= 0:
            self.keep_recalled(slot, x, start, end)
        else:
            self.keep_named(slot, x, start, end)
        self.keep_licences(slot, x, start, end)
        self.enter_hold(h)
        self.note_hold(h, found)
        if self.memory.count > 0:
            self.compare(h)
        self.version += 1
        return self.bound()

    def keep_recalled(self, slot, x, start, end):
        """The hold that is being made has the nodes that it had."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        self.named += 1
        for k in range(self.memory.first[self.recalled], self.memory.first[self.recalled + 1]):
            self.keep(slot, d, self.memory.node[k], start, end, self.lines.each[d * self.lines.kinds], 1)
        return 0

    def keep_named(self, slot, x, start, end):
        """The hold that is being made names its nodes."""
        self.named += 1
        if self.nodes_of[x] > 0:
            return self.name_nodes(slot, x, start, end)
        return self.name_cores(slot, x, start, end)

    def keep_licences(self, slot, x, start, end):
        """It keeps the licences of the request."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.made
        for k in range(self.licences if self.licensed_of[x] else 0):
            d = self.licence_of[x * self.licences + k]
            if d >= 0:
                self.held_licences[h] = self.licensing.keep(
                    self.held_licences[h], k, slot, start, end, self.licensing.each[d], d, 1
                )
        return 0

    def advance(self, slot):
        start: cython.longlong = self.jobs.at[slot].promise
        time: cython.longlong
        self.pure = False
        if start <= self.now and not self.fits(slot):  # amid an instant: some jobs ending at it are still in its place
            return start
        if start > self.now and self.is_settled(slot, start):
            return start
        self.limit = start
        time = min(self.earliest(slot, self.now), start)
        self.limit = NEVER
        self.hold_again(slot, time)
        self.jobs.at[slot].promise = time
        return time

    def is_settled(self, slot, start):
        """Whether a look of the job would find what its last look found.

        What was added since takes nothing from its hold, and gives it nothing. What was eased matters on a node that it
        has, on one that has room for it before its promise, and on one that it would rather keep at its promise.
        """
        p: cython.longlong
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        d: cython.Py_ssize_t = self.demand_of[x]
        s: cython.Py_ssize_t = self.set_of[x]
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        first: cython.longlong
        if h < 0 or self.holds <= self.few or self.held_looked[h] < self.valid_from:
            return False
        if self.lines.eases - self.held_looked[h] > min(self.n, EASED):
            return False
        if self.held_shape[h] != x or self.held_start[h] != start or self.held_end[h] - start != length:
            return False
        if self.held_count[h] != 0 or not self.nodes_decide(x) or self.is_late(s):
            return False
        self.glance += 1
        self.lines.leave_aside(slot)
        for p in range(self.held_looked[h], self.lines.eases):
            i = self.lines.eased[p & (EASED - 1)]
            if self.glanced[i] == self.glance or not self.member[s * self.n + i]:
                continue
            self.glanced[i] = self.glance
            first = self.lines.first_time(i, d)
            if self.lines.aside_mark[i] == self.lines.asides:
                return False
            if self.lines.first_clear(i, d, slot, self.now, length, start, first) < start:
                return False
            rather: cython.bint = first >= self.held_worst[h] if self.ranks_by_end(x) else i < self.held_worst[h]
            if rather and first <= start and self.lines.clear(i, d, slot, start, start + length):
                return False
        self.held_looked[h] = self.lines.eases
        return True

    def hold_again(self, slot, start):
        """Another hold in the place of the job's own, which until then others leave alone; what is another one by it
        is told, and the look is remembered where a later one can be spared."""
        e: cython.longlong
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = 0
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        end: cython.longlong = start + max(self.jobs.at[slot].estimate, 1)
        same: cython.bint = h >= 0 and self.held_start[h] == start and self.held_end[h] == end
        e = self.held_first[h] if h >= 0 else -1
        while e >= 0:
            self.before_node[n] = self.lines.kept_node[e]
            self.before_cores[n] = self.lines.kept_amounts[e * self.lines.kinds]
            n += 1
            e = self.lines.kept_next[e]
        self.lines.quiet = True
        self.hold(slot, start)
        self.lines.quiet = False
        h = self.held_by(slot)
        self.lines.leave_aside(slot)
        for k in range(n):
            i = self.before_node[k]
            e = self.lines.aside_entry[i] if self.lines.aside_mark[i] == self.lines.asides else -1
            if not same or e < 0 or self.lines.kept_amounts[e * self.lines.kinds] != self.before_cores[k]:
                self.lines.ease(i)
        if self.held_count[h] == 0 and self.nodes_decide(x):
            self.held_shape[h] = x
            self.held_worst[h] = self.worst_of(h, x)
            self.held_looked[h] = self.lines.eases
        return 0

    def worst_of(self, h, x):
        """Of the hold's nodes that which it would give up first: the first to be free, and when that is; or the one
        with the highest number."""
        at: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong = self.held_first[h]
        by_end: cython.bint = self.ranks_by_end(x)
        worst: cython.longlong = NEVER if by_end else -1
        at = self.node_starts.times(self.demand_of[x])
        while e >= 0:
            i = self.lines.kept_node[e]
            worst = min(worst, self.node_starts.time[at + i]) if by_end else max(worst, i)
            e = self.lines.kept_next[e]
        return worst

    def loosen(self, slot):
        return 0  # it never does; and until it is replaced others are named around it

    def make_hold(self, slot, start, end):
        """An empty hold that the others do not know yet: `made`."""
        h: cython.Py_ssize_t
        if self.holds > 0:
            self.unhold(slot)
        if self.spares == 0:
            for h in range(len(self.held_slot)):
                self.spare_holds[h] = 2 * len(self.held_slot) - 1 - h
            self.spares = len(self.held_slot)
            self.spare_holds = doubled(self.spare_holds)
            self.by_start = doubled(self.by_start)
            self.held_slot = doubled(self.held_slot)
            self.held_start = doubled(self.held_start)
            self.held_end = doubled(self.held_end)
            self.held_first = doubled(self.held_first)
            self.held_all = doubled(self.held_all)
            self.held_count = doubled(self.held_count)
            self.held_set = doubled(self.held_set)
            self.held_licences = doubled(self.held_licences)
            self.held_shape = doubled(self.held_shape)
            self.held_looked = doubled(self.held_looked)
            self.held_worst = doubled(self.held_worst)
            self.held_made = doubled(self.held_made)
        self.spares -= 1
        h = self.made = self.spare_holds[self.spares]
        self.held_slot[h] = slot
        self.held_start[h] = start
        self.held_end[h] = end
        self.held_first[h] = self.held_licences[h] = -1
        self.held_all[h] = self.held_count[h] = self.held_set[h] = 0
        self.held_looked[h] = self.held_made[h] = -1
        self.edge = min(self.edge, start, end)
        return 0

    def enter_hold(self, h):
        """The hold is made."""
        k: cython.Py_ssize_t = self.holds
        place: cython.Py_ssize_t = self.first_after(self.held_start[h])
        while k > place:
            self.by_start[k] = self.by_start[k - 1]
            k -= 1
        self.by_start[k] = h
        self.holds += 1
        while self.held_slot[h] >= len(self.hold_of):
            self.hold_of = np.concatenate([self.hold_of, integers(len(self.hold_of), -1)])
        self.hold_of[self.held_slot[h]] = h
        return 0

    def name_nodes(self, slot, x, start, end):
        """A shaped job keeps those of the nodes that have room throughout that have it last, holds left aside."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        least: cython.longlong = self.lines.each[d * self.lines.kinds]
        pool: NodePool = self.pools[self.set_of[x]]
        if self.parts_in[x] > 0:
            return self.name_parts(slot, x, start, end)
        if not self.place.plain:
            if self.place.by_room and self.holds == 0:
                return self.name_found(slot, x, start, end)
            self.imagine(slot, x, pool, start, end)
            try:
                pool.clear()
                self.place.pick(pool, self.nodes_of[x], least, slot)
            finally:
                pool.undo(0)
            for k in range(pool.chosen):
                self.keep(slot, d, pool.node[k], start, end, least, 1)
            return 0
        if self.planned_for == slot and self.planned_at == start and self.planned == self.changes():
            return self.name_found(slot, x, start, end)
        self.select_last(slot, x, self.node_starts.times(d), start, end)
        for k in range(self.smallest.count):
            self.keep(slot, d, self.smallest.node[k], start, end, least, 1)
        return 0

    def name_parts(self, slot, x, start, end):
        """The same part by part, the largest first, each of the nodes that those before it left."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        z: cython.Py_ssize_t
        self.giving += 1
        for z in range(x + 1, x + 1 + self.parts_in[x]):
            d = self.demand_of[z]
            self.select_last(slot, z, self.node_starts.times(d), start, end)
            for k in range(self.smallest.count):
                self.given[self.smallest.node[k]] = self.giving
                self.keep(slot, d, self.smallest.node[k], start, end, self.lines.each[d * self.lines.kinds], 1)
        self.giving += 1
        return 0

    def name_found(self, slot, x, start, end):
        """The same without holds of others: from what was found when the time was looked for."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t = self.demand_of[x]
        if self.place.plain:
            self.find_freed(x)
        else:
            self.find_rooms(x, start)
        for k in range(self.meets):
            self.keep(slot, d, self.met[k], start, end, self.lines.each[d * self.lines.kinds], 1)
        return 0

    def find_rooms(self, x, start):
        """Put into `met` what a placement that looks at nothing but room picks of the nodes that have it then."""
        k: cython.Py_ssize_t
        pool: NodePool = self.pools[self.set_of[x]]
        self.clear_rooms(x)
        pool.clear()
        self.place.pick_by(pool, self.nodes_of[x], self.cleared, start)
        for k in range(pool.chosen):
            self.met[k] = pool.node[k]
        self.meets = pool.chosen
        return 0

    def find_freed(self, x):
        """Put these nodes into `met`: those that will have room, from the last on, in the order of its coming."""
        k: cython.Py_ssize_t = max(0, self.frees - self.nodes_of[x])
        j: cython.Py_ssize_t = k
        i: cython.Py_ssize_t
        w: cython.Py_ssize_t
        word: cython.longlong
        pool: NodePool = self.pools[self.set_of[x]]
        self.meets = 0
        if k > 0 and self.freed_at[k - 1] == self.freed_at[k]:  # of those free at that time, the lowest numbers
            while j > 0 and self.freed_at[j - 1] == self.freed_at[k]:
                j -= 1
            i = k
            while i < self.frees and self.freed_at[i] == self.freed_at[k]:
                i += 1
            self.smallest.clear(i - k)
            k = i
            for i in range(j, k):
                self.smallest.put(0.0, self.freed[i])
            for i in range(self.smallest.count):
                self.met[self.meets] = self.smallest.node[i]
                self.meets += 1
        for i in range(k, self.frees):
            self.met[self.meets] = self.freed[i]
            self.meets += 1
        if self.meets < self.nodes_of[x]:  # and those that have it now, the lowest numbers
            pool.gather(self.lines.each[self.demand_of[x] * self.lines.kinds])
        for w in range(pool.words):
            if self.meets == self.nodes_of[x]:
                break
            word = pool.wide[w]
            while word != 0 and self.meets < self.nodes_of[x]:
                self.met[self.meets] = w * WORD + __builtin_ctzll(word)
                self.meets += 1
                word &= word - 1
        return 0

    def holds_only(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if h < 0 or self.holds != 1 or self.named != 1 or self.pins > 0 or self.tries > 0 or x < 0:
            return False
        if self.held_shape[h] != x or self.jobs.at[slot].choice >= 0 or self.licensed_of[x] or self.any_of[x]:
            return False
        if self.parts_in[x] > 0 or self.nodes_of[x] == 0 or not self.lines.simple[self.demand_of[x]]:
            return False
        return self.place.plain or self.place.by_room

    def renew(self, slot, x, start, end):
        """The only hold is for another time, or keeps other nodes. What is the same stays as it is."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t = self.held_by(slot)
        d: cython.Py_ssize_t = self.demand_of[x]
        e: cython.longlong = self.held_first[h]
        next: cython.longlong
        stay: cython.longlong = -1
        moves: cython.bint = self.held_start[h] != start or self.held_end[h] != end
        self.pure = False
        if self.place.plain:
            self.find_freed(x)
        else:
            self.find_rooms(x, start)
        self.stamp += 1
        for k in range(self.meets):
            self.mark[self.met[k]] = self.stamp
        while e >= 0:
            next = self.lines.kept_next[e]
            i = self.lines.kept_node[e]
            if self.mark[i] == self.stamp:
                self.mark[i] = 0  # it has its entry
                if moves:
                    self.lines.shift(e, start, end)
                self.lines.kept_next[e] = stay
                stay = e
            else:
                self.bar_again(h, e, -1)
                self.lines.forget(e, next)
            e = next
        self.made = h
        self.held_first[h] = self.lines.kept_first[slot] = stay
        self.held_start[h] = start
        self.held_end[h] = end
        for k in range(self.meets):
            if self.mark[self.met[k]] == self.stamp:
                self.keep(slot, d, self.met[k], start, end, self.lines.each[d * self.lines.kinds], 1)
                self.bar_again(h, self.held_first[h], 1)
        self.edge = min(self.edge, start, end)
        self.version += 1
        if not moves:
            for i in range(self.sets):
                if self.lone[i] == h and self.measured[i] == self.version - 1 and (i == 0 or i == self.held_set[h]):
                    self.measured[i] = self.version
        return self.bound()

    def bar_again(self, h, e, sign):
        """Count what the entry bars in the sets that it surely bears on; others are measured again."""
        i: cython.Py_ssize_t = self.lines.kept_node[e]
        s: cython.Py_ssize_t = self.held_set[h]
        if sign > 0:
            self.lines.kept_barred[e] = self.barred_by(e)
        if self.lone[0] == h:
            self.bar(0, e, sign)
        if s > 0 and self.lone[s] == h and self.member[s * self.n + i]:
            self.bar(s, e, sign)
        return 0

    def name_cores(self, slot, x, start, end):
        """A shapeless job keeps what the nodes offer throughout, in order of their numbers, until it has enough."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        s: cython.Py_ssize_t = self.set_of[x]
        d: cython.Py_ssize_t = self.demand_of[x]
        at: cython.Py_ssize_t = self.node_starts.times(d)
        left: cython.longlong = self.cores_of[x]
        offer: cython.longlong
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if self.node_starts.time[at + i] <= start:
                    offer = self.lines.offer(i, d, slot, start, end)
                    if offer > left:
                        offer = left
                    if offer > 0:
                        self.keep(slot, d, i, start, end, offer, offer)
                        left -= offer
                        if left == 0:
                            return 0
        return 0

    def keep(self, slot, d, i, start, end, cores, times):
        """One more entry of the hold that is being made; a job that wants a node alone keeps all of it."""
        h: cython.Py_ssize_t = self.made
        if self.lines.alone[d]:
            cores = self.lines.full[i * self.lines.kinds]
        self.held_first[h] = self.lines.keep(self.held_first[h], i, slot, start, end, cores, d, times)
        return 0

    def unhold(self, slot):
        h: cython.Py_ssize_t = self.held_by(slot)
        if h < 0:
            return 0
        self.drop_hold(h)
        return self.bound()

    def drop_hold(self, h):
        """The hold is there no more; the bounds do not know yet."""
        k: cython.Py_ssize_t = self.first_after(self.held_start[h]) - 1
        while self.by_start[k] != h:
            k -= 1
        self.holds -= 1
        while k < self.holds:
            self.by_start[k] = self.by_start[k + 1]
            k += 1
        self.forget_hold(h)
        self.version += 1
        return 0

    def forget_hold(self, h):
        """Nothing is kept for it any more."""
        self.lines.forget(self.held_first[h])
        self.licensing.forget(self.held_licences[h])
        if self.held_count[h] > 0:
            self.plan_hold(h, 1)
            self.counted -= 1
            self.counted_in[self.held_set[h]] -= 1
            self.lines.eases += 1  # of no node, so of any
            self.valid_from = self.lines.eases
        else:
            self.named -= 1
        self.hold_of[self.held_slot[h]] = self.held_made[h] = -1
        self.spare_holds[self.spares] = h
        self.spares += 1
        return 0

    def release_holds(self):
        h: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t = 0
        if self.holds == 0:
            return 0
        self.remember()
        self.lines.noted = False
        for j in range(self.holds):
            h = self.by_start[j]
            if (self.domain < 0 or self.jobs.at[self.held_slot[h]].domain == self.domain) and not self.is_pinned(h):
                self.jobs.at[self.held_slot[h]].promise = -1  # also of one that has come to a limit since
                self.forget_hold(h)
            else:
                self.by_start[k] = h
                k += 1
        self.holds = k
        self.pure = k == 0
        self.watching = False
        self.lines.noted = self.memory.count > 0
        for j in range(self.sets if self.counted == 0 else 0):
            self.plans[j] = None
        self.version += 1
        return self.bound()

    # ---- what is no job, and jobs that come back

    def shut(self, blocker, nodes, until):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        cores: cython.longlong
        self.time_nodes()
        self.unhold(blocker)
        self.jobs.at[blocker].cluster = self.index
        self.jobs.at[blocker].expected_end = until
        self.shares.allot(blocker, len(nodes))
        for k in range(len(nodes)):
            i = nodes[k]
            cores = self.lines.full[i * self.lines.kinds]
            self.lines.start(i, blocker, until, cores, A_CORE, 0)
            self.shares.at[self.shares.first[blocker] + k] = i << 24 | cores
            self.update(i)
        self.jobs.at[blocker].holding = 1
        self.enroll(blocker, until, True)
        return self.bound()

    def keep_shut(self, blocker, nodes, start, end):
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.time_nodes()
        self.pins += 1
        self.make_hold(blocker, start, end)
        h = self.made
        self.held_all[h] = len(nodes) == self.n  # then only its time is kept
        for node in () if self.held_all[h] else nodes:
            i = node
            self.held_first[h] = self.lines.keep(
                self.held_first[h], i, blocker, start, end, self.lines.full[i * self.lines.kinds], A_CORE, 0
            )
        self.enter_hold(h)
        self.named += 1
        if self.counted > 0:
            self.name_around(h)
        self.version += 1
        return self.bound()

    def name_around(self, h):
        """Give names to the holds inside which this one begins."""
        k: cython.Py_ssize_t
        g: cython.Py_ssize_t
        self.choose_none()
        for k in range(self.holds):
            g = self.by_start[k]
            if self.held_count[g] > 0 and self.held_start[g] < self.held_start[h] < self.held_end[g]:
                self.chosen[g] = self.touches(h, self.held_set[g])
        self.name_chosen(-1)
        return self.keep_names()

    def where(self, slot) -> list:
        return self.shares.pairs(slot)

    def put_back(self, slot, where):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        cores: cython.longlong
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        self.shares.allot(slot, len(where))
        for k in range(len(where)):
            i, cores = where[k]
            self.shares.at[self.shares.first[slot] + k] = i << 24 | cores
            self.put(slot, x, i, cores)
        self.put_licences(slot, x)
        self.jobs.at[slot].holding = 1
        self.early -= self.jobs.at[slot].expected_end > self.now and self.jobs.at[slot].seq >= 0
        self.enroll(slot, self.jobs.at[slot].expected_end, True)
        return self.bound()

    def has_cores(self, i, d, slot, cores, end):
        """Whether a job that has fewer cores on this node than on others finds these, where it needs nothing else."""
        if not self.lines.simple[d] or self.lines.alone[d]:
            return False
        return self.lines.offer(i, A_CORE, slot, self.now, end) >= cores

    def has_room(self, slot, where, until) -> bool:
        job: cython.Py_ssize_t = slot
        x: cython.Py_ssize_t = self.jobs.at[job].shape
        end: cython.longlong = until
        if end - self.now > self.longest:
            return False
        self.time_nodes()
        if self.counted > 0:
            self.name_unclear(job, x, self.now, end)
            fits: cython.bint = self.leaves_numbers(job, x, self.now, end, self.takes(x))
            fits = fits and self.has_nodes(job, x, where, end)
            self.take_names_back()
            return fits
        return self.has_nodes(job, x, where, end)

    def has_nodes(self, job, x, where, end):
        """Whether the named holds leave it what it has there."""
        i: cython.Py_ssize_t
        d: cython.Py_ssize_t
        for node, cores in where:
            i = node
            d = self.demand_on(job, x, i, cores)
            if self.nodes_of[x] > 0 or self.lines.alone[d]:
                if not self.lines.clear(i, d, job, self.now, end) and not self.has_cores(i, d, job, cores, end):
                    return False
            elif self.lines.offer(i, d, job, self.now, end) < cores:
                return False
        return self.licensed(job, x, self.now, end)
