"""What is free on which node, now and later, where nodes have several resources and jobs may use some of the nodes.

A shaped job wants so many distinct nodes, and the same of each, or has several such parts; a shapeless one wants cores
anywhere, each with its part of the rest. All want licences, or none. A reservation is a number of cores where any
serve; else it names its nodes when it is made, and is feasible in every resource there. A question about the future
costs the nodes that have changed since it was asked last, a look at each node of the set, and the nodes on which
something is kept.
"""

from __future__ import annotations

import cython

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.ledger.holding import Holding
from walltime.kernel.ledger.node_pool import NodePool

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core


@cython.cclass
class ResourceLedger(Holding):
    """The ledger of vectors of resources on nodes; exact for any number of holds.

    `extra` counts on a job that has no hold. What it answers and does is in the layers below; here jobs take and give.
    """

    def take(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        pool: NodePool = cython.cast(NodePool, self.pools[self.set_of[x]])
        end: cython.longlong = self.jobs.at[slot].expected_end
        until: cython.longlong = end if end > self.now else self.now + 1
        if self.counted > 0 and self.timed:  # else numbers tell everything
            self.name_unclear(slot, x, self.now, until)
            self.keep_names()
        if self.holds > 0:
            self.unhold(slot)
        if self.place.divided:
            self.placing = self.place.of(slot)
        if self.may_take_all(x, pool):
            pool.clear()
            self.placing.spread(pool, self.cores_of[x], slot)
            if pool.chosen == 1 and not self.timed and pool.share[0] == self.cores_of[x] and not self.whole:
                self.settle_one(slot, pool)
                self.jobs.at[slot].holding = 1
                self.enroll(slot, end, pool.share[0], True)
                return self.bound()
            self.divide(slot, x, pool)
        elif self.parts_in[x] > 0:
            self.choose_parts(slot, x, pool, until)
        elif not (self.is_choosy(x) and self.choose_clear(slot, x, pool, until)):
            self.choose_narrowed(slot, x, pool, until)
        self.settle(slot, x, pool)
        self.jobs.at[slot].holding = 1
        self.enroll(slot, end, self.cores_within(slot, 0), True)
        return self.bound()

    @cython.final
    def settle(self, slot, x, pool: NodePool):
        """The job is on the chosen nodes, and has its licences."""
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = pool.chosen
        kinds: cython.Py_ssize_t = self.timelines.kinds
        node: cython.p_longlong = cython.address(pool.node[0])
        share: cython.p_longlong = cython.address(pool.share[0])
        used: cython.p_longlong = cython.address(self.timelines.used[0])
        free: cython.p_longlong = cython.address(pool.value[0])
        speed: cython.longlong = self.pace[node[0]] if count > 0 else FULL_SPEED
        shares: cython.p_longlong = self.shares.allot(slot, count)
        for k in range(count if self.paced else 0):
            if self.pace[node[k]] < speed:
                speed = self.pace[node[k]]
        self.jobs.at[slot].speed = speed
        for k in range(count if self.timelines.alone[self.demand_of[x]] else 0):
            share[k] = self.timelines.cap[node[k] * kinds]
        for k in range(count):
            shares[k] = node[k] << 24 | share[k]
        if self.timed:
            for k in range(count):
                self.put(slot, x, node[k], share[k])
        else:
            for k in range(count):
                used[node[k] * kinds] += share[k]
                pool.set(node[k], free[node[k]] - share[k])
                if self.tells_room:
                    self.tell_room(node[k])
        return self.put_licences(slot, x) if self.licences > 0 and self.licensed_of[x] else 0

    @cython.final
    def settle_one(self, slot, pool: NodePool):
        """The same of a job on one node, of which numbers of cores tell everything: most jobs are small."""
        i: cython.Py_ssize_t = pool.node[0]
        cores: cython.longlong = pool.share[0]
        self.shares.allot_one(slot, i << 24 | cores)
        self.jobs.at[slot].speed = self.pace[i]
        self.timelines.used[i * self.timelines.kinds] += cores
        return pool.set(i, pool.value[i] - cores)

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
        x: cython.Py_ssize_t
        end: cython.longlong = self.jobs.at[slot].expected_end
        cores: cython.longlong = 0
        self.early += end > self.now and self.jobs.at[slot].seq >= 0
        count: cython.Py_ssize_t = self.shares.spots[slot].length
        shares: cython.p_longlong = self.shares.of(slot)
        if self.timed:
            self.enroll(slot, end, self.cores_within(slot, 0), False)
            for k in range(count):
                i = shares[k] >> 24
                self.timelines.stop(i, slot, end)
                self.update(i)
        else:
            used: cython.p_longlong = cython.address(self.timelines.used[0])
            free: cython.p_longlong = cython.address(self.everything.value[0])
            for k in range(count):
                i = shares[k] >> 24
                used[i * self.timelines.kinds] -= shares[k] & CORES
                self.everything.set(i, free[i] + (shares[k] & CORES))
                cores += shares[k] & CORES
                if self.tells_room:
                    self.tell_room(i)
            self.enroll(slot, end, cores, False)
        if self.licences > 0:
            x = self.jobs.at[slot].shape
            for k in range(self.licences if x >= 0 and self.licensed_of[x] else 0):
                if self.licence_of[x * self.licences + k] >= 0:
                    self.licensing.stop(k, slot, end)
        self.shares.release(slot)
        self.jobs.at[slot].holding = 0
        return self.bound()

    def give_node(self, slot, node):
        i: cython.Py_ssize_t = node
        end: cython.longlong = self.jobs.at[slot].expected_end
        cores: cython.longlong
        self.enroll(slot, end, self.cores_within(slot, 0), False)
        cores = self.shares.remove(slot, i)
        if cores < 0:
            raise EngineError(f"job {self.jobs.at[slot].job_id} gives back node {i}, which it has not")
        if self.timed:
            self.timelines.stop(i, slot, end)
        else:
            self.timelines.used[i * self.timelines.kinds] -= cores
        self.update(i)
        self.enroll(slot, end, self.cores_within(slot, 0), True)
        return self.bound()

    def prolong(self, slot, until):
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        end: cython.longlong = self.jobs.at[slot].expected_end
        shares: cython.p_longlong = self.shares.of(slot)
        cores: cython.longlong = self.cores_within(slot, 0)
        self.enroll(slot, end, cores, False)
        self.enroll(slot, until, cores, True)
        for k in range(self.shares.count(slot) if self.timed else 0):
            i = shares[k] >> 24
            self.timelines.move(i, slot, end, until)
            self.update(i)
        if self.licences > 0 and x >= 0 and self.licensed_of[x]:
            for k in range(self.licences):
                if self.licence_of[x * self.licences + k] >= 0:
                    self.licensing.move(k, slot, end, until)
        self.jobs.at[slot].expected_end = until
        return self.bound()

    def shut(self, blocker, nodes, until):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        cores: cython.longlong
        self.time_nodes()
        self.unhold(blocker)
        self.jobs.at[blocker].cluster = self.index
        self.jobs.at[blocker].expected_end = until
        shares: cython.p_longlong = self.shares.allot(blocker, len(nodes))
        for k in range(len(nodes)):
            i = nodes[k]
            cores = self.timelines.full[i * self.timelines.kinds]
            self.timelines.start(i, blocker, until, cores, A_CORE, 0)
            shares[k] = i << 24 | cores
            self.update(i)
        self.jobs.at[blocker].holding = 1
        self.enroll(blocker, until, self.cores_within(blocker, 0), True)
        return self.bound()

    def keep_shut(self, blocker, nodes, start, end):
        i: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.time_nodes()
        self.pins += 1
        self.make_hold(blocker, start, end)
        h = self.made
        self.held[h].all = len(nodes) == self.n  # then only its time is kept
        for node in () if self.held[h].all else nodes:
            i = node
            self.held[h].first = self.timelines.keep(
                self.held[h].first, i, blocker, start, end, self.timelines.full[i * self.timelines.kinds], A_CORE, 0
            )
        self.enter_hold(h)
        self.named += 1
        if self.counted > 0:
            self.name_around(h)
        self.version += 1
        return self.bound()

    def where(self, slot) -> list:
        return self.shares.pairs(slot)

    def put_back(self, slot, where):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        cores: cython.longlong
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        shares: cython.p_longlong = self.shares.allot(slot, len(where))
        for k in range(len(where)):
            i, cores = where[k]
            shares[k] = i << 24 | cores
            self.put(slot, x, i, cores)
        self.put_licences(slot, x)
        self.jobs.at[slot].holding = 1
        self.early -= self.jobs.at[slot].expected_end > self.now and self.jobs.at[slot].seq >= 0
        self.enroll(slot, self.jobs.at[slot].expected_end, self.cores_within(slot, 0), True)
        return self.bound()

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
            if self.nodes_of[x] > 0 or self.timelines.alone[d]:
                if not self.timelines.clear(i, d, job, self.now, end) and not self.has_cores(i, d, job, cores, end):
                    return False
            elif self.timelines.offer(i, d, job, self.now, end) < cores:
                return False
        return self.licensed(job, x, self.now, end)
