"""Which nodes a job gets that starts now: its placement chooses among those that keep every promise."""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.fitting import Fitting
from walltime.kernel.ledger.node_pool import NodePool
from walltime.kernel.ledger.place import Place  # noqa: F401 - as in choosing.pxd
from walltime.kernel.profiles.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core
WORD = cython.declare(cython.Py_ssize_t, 32)  # as in NodePool

if not cython.compiled:
    from walltime.kernel.ledger.node_pool import __builtin_ctzll


@cython.cclass
class Choosing(Fitting):
    """The nodes of a job that starts."""

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        Fitting.__init__(self, jobs, nodes, index)
        self.before_node = integers(self.n)
        self.before_cores = integers(self.n)
        self.wanted = integers(self.timelines.kinds)
        self.placing = self.place

    def choose_narrowed(self, slot, x, pool: NodePool, until):
        """Show the placement what the job may take on each node, and let it choose."""
        self.narrow(slot, x, pool, until)
        if not (self.suits(x, pool) and self.licensed(slot, x, self.now, until)):
            pool.undo(0)
            self.timelines.blind = self.licensing.blind = (
                True  # a job that is resumed goes before what is kept for others
            )
            self.narrow(slot, x, pool, until)
            fits: cython.bint = self.suits(x, pool) and self.licensed(slot, x, self.now, until)
            self.timelines.blind = self.licensing.blind = False
            if not fits:
                pool.undo(0)
                raise EngineError(f"job {self.jobs.at[slot].job_id} takes nodes where it does not fit")
        try:
            return self.choose(slot, x, pool)
        finally:
            pool.undo(0)

    def may_take_all(self, x, pool: NodePool):
        """Whether cores anywhere serve the job, and it may take all that is free: the most frequent case."""
        if self.plain_of[x] > 0:
            return self.named == 0 and not self.restricted and self.plain_of[x] <= pool.total
        return (
            self.nodes_of[x] == 0
            and self.named == 0
            and not self.restricted
            and not self.licensed_of[x]
            and self.cores_of[x] <= pool.total
            and self.any_serve(x)
        )

    def choose_parts(self, slot, x, pool: NodePool, until):
        """The parts of one whose nodes differ, the largest first: each is placed on nodes that those before it left."""
        if self.pick_parts(slot, x, pool, until):
            return self.divide(slot, x, pool)
        self.timelines.blind = self.licensing.blind = True  # as above
        try:
            if not self.pick_parts(slot, x, pool, until):
                raise EngineError(f"job {self.jobs.at[slot].job_id} takes nodes where it does not fit")
        finally:
            self.timelines.blind = self.licensing.blind = False
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
                least = self.timelines.each[self.demand_of[z] * self.timelines.kinds]
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
        if self.nodes_of[x] == 0 or self.timelines.kinds == 1 or self.restricted or not self.place.plain:
            return False
        return self.placing.leftover != 0 or (self.placing.lowest and not self.timelines.simple[self.demand_of[x]])

    def choose_clear(self, slot, x, pool: NodePool, until):
        """Choose as the placement would, node by node; False where there are not enough that have room until then."""
        d: cython.Py_ssize_t = self.demand_of[x]
        if not self.licensed(slot, x, self.now, until):
            return False
        if not pool.enough(self.timelines.each[d * self.timelines.kinds], self.nodes_of[x]):
            return False
        pool.clear()
        if self.placing.leftover == 0:
            return self.find_clear(slot, x, pool, until) and self.divide(slot, x, pool)
        if not self.timelines.bare[d]:
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
        least: cython.longlong = self.timelines.each[d * self.timelines.kinds]
        sign: cython.longlong = self.placing.leftover
        level: cython.longlong = pool.level_from(least) if sign > 0 else pool.level_to(pool.top)
        self.smallest.clear(self.nodes_of[x])
        self.meet(slot, self.set_of[x], self.now, until)
        for k in range(self.meets):
            i = self.met[k]
            if pool.value[i] >= least and self.timelines.clear(i, d, slot, self.now, until):
                self.smallest.put(sign * self.leftover(i, d, self.timelines.offer(i, A_CORE, slot, self.now, until)), i)
        self.know_room()
        self.rough.ask(self.timelines.each, d * self.timelines.kinds, 1)
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
        kinds: cython.Py_ssize_t = self.timelines.kinds
        need: cython.longlong
        gap: cython.double = best - cores - 1e-9  # sums are rounded
        rest: cython.double = 0.0  # all that can be left over
        for r in range(1, kinds):
            if self.scale[r] > 0:
                rest += 1.0 - self.timelines.each[d * kinds + r] / self.scale[r]
        if rest < gap:
            return False
        for r in range(1, kinds):
            need = self.timelines.each[d * kinds + r]
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
                        key = self.placing.leftover * self.leftover(i, d, level)
                        if key <= self.smallest.worst and self.timelines.clear(i, d, slot, self.now, until):
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
        if not self.timelines.bare[d]:
            self.weigh(d)
        if nodes == 0:
            self.placing.spread(pool, self.cores_of[x], slot)
        elif self.timelines.kinds > 1 and self.placing.leftover != 0:
            self.choose_by_leftover(x, pool)
        else:
            self.placing.pick(pool, nodes, self.timelines.each[d * self.timelines.kinds], slot)
        return 0

    def divide(self, slot, x, pool: NodePool):
        """Divide the job's cores over the chosen nodes in order of their numbers."""
        k: cython.Py_ssize_t
        cores: cython.longlong = self.cores_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        taken: cython.longlong = 0
        if pool.chosen == 1 and nodes == 0 and pool.share[0] == cores:
            return True
        pool.sort()
        if nodes > 0 and not pool.explicit and pool.chosen == nodes:
            for k in range(nodes):
                pool.share[k] = cores // nodes + (1 if k < cores % nodes else 0)
        for k in range(pool.chosen):
            taken += pool.share[k]
        if pool.chosen != nodes > 0:
            raise EngineError(f"job {self.jobs.at[slot].job_id} is given {pool.chosen} nodes where it wants {nodes}")
        if taken < cores or (taken > cores and not self.timelines.alone[self.demand_of[x]]):
            raise EngineError(f"job {self.jobs.at[slot].job_id} is given {taken} cores where it wants {cores}")
        return True

    def weigh(self, d):
        """A job gets what it asks for: from now on these resources count in what is left over."""
        r: cython.Py_ssize_t
        for r in range(1, self.timelines.kinds):
            if self.timelines.each[d * self.timelines.kinds + r] > 0:
                self.scale[r] = self.most_of[r]
        return 0

    def choose_by_leftover(self, x, pool: NodePool):
        """The nodes on which the least, or the most, is left over beside the job, of all resources that a job has had
        so far: one that no job asks for changes no placement."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = -1
        d: cython.Py_ssize_t = self.demand_of[x]
        level: cython.longlong = pool.level_from(self.timelines.each[d * self.timelines.kinds])
        self.smallest.clear(self.nodes_of[x])
        while level >= 0:
            i = pool.first_of(level, i + 1)
            if i < 0:
                level = pool.level_from(level + 1)
            else:
                self.smallest.put(self.placing.leftover * self.leftover(i, d, level), i)
        for k in range(self.smallest.count):
            pool.put(self.smallest.node[k], 0)
        return 0

    def leftover(self, i, d, cores):
        """What is left of each resource, as a part of the most that a node has of it, in sum: of cores, beside what is
        kept for other jobs, which leaves so many."""
        r: cython.Py_ssize_t
        lines: Timelines = self.timelines
        at: cython.Py_ssize_t = i * lines.kinds
        wants: cython.Py_ssize_t = d * lines.kinds
        left: cython.longlong
        sum: cython.double = cython.cast(cython.double, cores - lines.each[wants]) / self.scale[0]
        for r in range(1, lines.kinds):
            if self.scale[r] > 0:
                left = lines.cap[at + r] - lines.used[at + r] - lines.each[wants + r]
                sum += cython.cast(cython.double, left) / self.scale[r]
        return sum

    def put(self, slot, x, i, cores):
        """The job is on the node, with so many cores."""
        d: cython.Py_ssize_t
        if not self.timed:
            self.timelines.used[i * self.timelines.kinds] += cores
            return self.update(i)
        d = self.demand_on(slot, x, i, cores)
        # A job that is alone has all that the node ever has, also what is out of order just now.
        self.timelines.start(
            i,
            slot,
            self.jobs.at[slot].expected_end,
            self.timelines.full[i * self.timelines.kinds] if self.timelines.alone[d] else cores,
            d,
            1 if self.nodes_of[x] > 0 else cores,
        )
        return self.update(i)
