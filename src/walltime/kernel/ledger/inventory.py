"""What a cluster has, and what jobs ask for: nodes with several resources, node sets, requests as shapes, bounds."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.availability import Availability
from walltime.kernel.ledger.cores import Ledger
from walltime.kernel.ledger.free_profile import FreeProfile
from walltime.kernel.ledger.node_pool import NodePool, RoughRoom
from walltime.kernel.ledger.node_starts import NodeStarts, Smallest
from walltime.kernel.ledger.place import Place  # noqa: F401 - as in inventory.pxd
from walltime.kernel.ledger.running_profile import RunningProfile
from walltime.kernel.ledger.shares import Shares
from walltime.kernel.ledger.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
BLOCK = cython.declare(cython.Py_ssize_t, 64)  # as in RunningProfile
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node
OTHERS_RUN = cython.declare(cython.Py_ssize_t, 2)  # as in EasedNodes
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core
FEW = cython.declare(cython.Py_ssize_t, 16)  # so many nodes of a hold are looked at one by one
FEW_HOLDS = 16
"""So many holds are looked at one by one; what more of them keep together is known as steps over time."""
UNLIMITED = 1 << 60  # an amount that is not counted, as in cluster.nodes


@cython.cclass
class Inventory(Ledger):
    """The state of a ledger of resources; what can be asked of it is in `ResourceLedger`.

    A job's `shape` is a number that `intern` gave its request for one of the node sets; set 0 are all nodes. Each set
    has a pool of its own, in which other nodes have nothing. `licensing` is to licences what `lines` is to nodes: each
    is a node with that many cores.
    """

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        table = np.ascontiguousarray(nodes.capacity, np.int64)
        licences, pace, switches = nodes.licences, nodes.pace, nodes.switches
        sizes = table[:, 0].copy()
        largest = table.max(axis=0)
        Ledger.__init__(self, jobs, int(sizes.sum()), index)
        self.place = nodes.place
        self.whole = nodes.whole
        self.resources = tuple(nodes.resources)
        self.n = len(table)
        self.lines = Timelines(table)
        self.licensing = Timelines(np.array(licences, np.int64).reshape(-1, 1))
        self.licences = self.licensing.n
        self.node_starts = NodeStarts(self.lines, self.n)
        self.smallest = Smallest()
        self.rough = RoughRoom(self.n, largest.tolist())
        self.shares = Shares()
        self.ranges = self.shares.ranges
        self.pace = np.full(self.n, FULL_SPEED, np.int64) if pace is None else np.ascontiguousarray(pace, np.int64)
        self.paced = bool((np.asarray(self.pace) != FULL_SPEED).any())
        self.most_of = np.where((largest > 0) & (largest < UNLIMITED), largest, 0).astype(np.float64)
        self.scale = np.zeros(len(largest))
        self.scale[0] = self.most_of[0]
        self.shapes = 0
        self.shape_numbers = {}
        self.nothing = (0,) * (table.shape[1] - 1)
        self.set_sizes = []
        self.models = []
        self.cores_of = integers(16)
        self.nodes_of = integers(16)
        self.demand_of = integers(16)
        self.set_of = integers(16)
        self.can = integers(16)
        self.licensed_of = integers(16)
        self.any_of = integers(16)
        self.parts_in = integers(16)
        self.parts_on = {}
        self.licence_of = integers(16 * max(1, self.licences))
        self.sets = 0
        self.set_numbers = {}
        self.masks = []
        self.pools = []
        self.timed = False
        self.unlike = 0
        self.edge = NEVER
        self.profiles = []
        self.followed = integers(4)
        self.follows = 0
        self.holds = 0
        self.few = FEW_HOLDS
        self.by_start = integers(8)
        self.hold_of = integers(64, -1)
        self.spare_holds = np.arange(7, -1, -1)
        self.spares = 8
        self.made = 0
        self.held_slot = integers(8)
        self.held_start = integers(8)
        self.held_end = integers(8)
        self.held_first = integers(8)
        self.held_all = integers(8)
        self.held_count = integers(8)
        self.held_set = integers(8)
        self.held_licences = integers(8)
        self.held_shape = integers(8)
        self.held_looked = integers(8)
        self.held_worst = integers(8)
        self.held_made = integers(8, -1)
        self.valid_from = 0
        self.counted_in = integers(0)
        self.counted = self.named = 0
        self.plans = []
        self.planned_free = integers(0)
        self.short = integers(self.n)
        self.over = 0
        self.ends = []
        self.glance = 0
        self.glanced = integers(self.n)
        self.drained = 0
        self.version = 0
        self.measured = integers(0)
        self.set_cores = integers(0)
        self.first_hold = integers(0)
        self.lone = integers(0)
        self.barred = integers(0)
        self.levels = int(largest[0]) + 1
        self.lost = integers(0)
        self.parts = self.levels
        self.part_free = integers(self.levels)
        self.part_extra = integers(self.levels)
        self.spared = integers(0)
        self.spare = integers(0)
        self.mark = integers(self.n)
        self.stamp = 0
        self.met = integers(self.n)
        self.meets = 0
        self.place.prepare(jobs, sizes, nodes.whole, nodes.seed)
        self.place.connect(np.zeros(self.n, np.int64) if switches is None else np.ascontiguousarray(switches, np.int64))
        self.place.survey(self)
        for node in range(self.n if table.shape[1] > 1 else 0):
            self.tell_room(node)
        self.add_set(np.ones(self.n, bool))
        self.everything = self.pools[0]

    def share_licences(self, other: Inventory):
        """The licences are those of another ledger; to be told before the first request."""
        self.licensing = other.licensing
        return 0

    # ---- node sets

    def add_set(self, mask):
        """The number of a node set, given as a mask of the nodes; the same for equal ones."""
        i: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        left: cython.longlong
        nodes = np.ascontiguousarray(mask, bool)
        key = nodes.tobytes()
        if key in self.set_numbers:
            return self.set_numbers[key]
        sizes = np.where(nodes, np.asarray(self.lines.full)[: self.n * kinds : kinds], 0)
        pool: NodePool = NodePool(sizes, True, self.place.treed)
        for i in range(self.n):
            if nodes[i]:
                left = self.lines.cap[i * kinds] - self.lines.used[i * kinds]
                pool.set(i, left if left > 0 else 0)
        self.set_numbers[key] = self.sets
        self.masks.append(nodes)
        self.pools.append(pool)
        self.profiles.append(None)
        self.ends.append(None)
        self.plans.append(None)
        self.planned_free = np.append(self.planned_free, 0)
        self.counted_in = np.append(self.counted_in, 0)
        self.sets += 1
        self.measured = np.append(self.measured, -1)
        self.set_cores = np.append(self.set_cores, np.int64(sizes.sum()))
        self.set_sizes.append(np.sort(-sizes[nodes]))
        rows, counts = np.unique(np.asarray(self.lines.full).reshape(-1, kinds)[nodes], axis=0, return_counts=True)
        self.models.append((rows.tolist(), counts.tolist()))
        self.first_hold = np.append(self.first_hold, NEVER)
        self.lone = np.append(self.lone, -1)
        self.barred = np.append(self.barred, 0)
        self.lost = np.append(self.lost, integers(self.levels))
        self.spared = np.append(self.spared, -1)
        self.spare = np.append(self.spare, 0)
        self.list_sets()
        if self.sets > 1:
            self.time_nodes()
        return self.sets - 1

    def list_sets(self):
        """Sets as ranges of nodes, and the sets of each node."""
        table = np.array(self.masks)
        self.member = table.reshape(-1).astype(np.int64)
        self.crosses = (table.astype(np.int64) @ table.T.astype(np.int64) > 0).reshape(-1).astype(np.int64)
        sizes = np.asarray(self.lines.full)[: self.n * self.lines.kinds : self.lines.kinds]
        self.alike = np.array([len(set(sizes[mask].tolist())) <= 1 for mask in self.masks], np.int64)
        self.largest = np.array([sizes[mask].max(initial=1) for mask in self.masks], np.int64)
        self.sets_from = np.append(0, np.cumsum(table.sum(axis=0))).astype(np.int64)
        self.sets_at = np.nonzero(table.T)[1].astype(np.int64)
        edges = np.diff(np.pad(table, ((0, 0), (1, 1))).astype(np.int8), axis=1)
        rows, self.range_first = (side.astype(np.int64) for side in np.nonzero(edges == 1))
        self.range_last = np.nonzero(edges == -1)[1].astype(np.int64)
        self.range_of = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int64)

    # ---- requests

    def intern(self, request, node_set):
        """The shape number of a request (see cluster.requests) for nodes of the set; the same for equal ones."""
        k: cython.Py_ssize_t
        x: cython.Py_ssize_t
        alone = request.exclusive or self.whole
        licences = tuple(request.licences) if any(request.licences) else ()
        key = (node_set, request.cores, request.nodes, tuple(request.each), alone, licences, tuple(request.parts))
        if key in self.shape_numbers:
            return self.shape_numbers[key]
        if not 0 <= node_set < self.sets:
            raise EngineError(f"no node set {node_set}: there are {self.sets}")
        x = self.add_shape(key, request.cores, request.nodes, self.lines.demand(tuple(request.each), alone), node_set)
        self.licensed_of[x] = bool(licences)
        if licences:
            self.unlike += 1
            self.time_nodes()
        for k in range(len(licences)):
            if licences[k]:
                self.licence_of[x * self.licences + k] = self.licensing.demand((licences[k],), False)
        self.can[x] = self.could(request, node_set)
        if request.parts:
            self.parts_in[x] = self.add_parts(request, alone, node_set)
            if self.any_of[x] and not self.any_of[x + 1]:  # the largest part wants more than nodes
                self.any_of[x] = 0
                self.unlike += 1
                self.time_nodes()
        return x

    def intern_plain(self, cores, nodes, per_node, node_set):
        """The shape number of a request for cores, so many nodes, or so many cores on each (0 or less: not told), and
        for nothing else; -1 where the set could not serve it."""
        x: cython.Py_ssize_t
        each: cython.longlong = 1
        fitting: cython.longlong
        if nodes <= 0:
            nodes = (cores + per_node - 1) // per_node if per_node > 0 else 0
        if nodes > cores and not self.whole:
            nodes = cores
        if nodes > 0:
            each = (cores + nodes - 1) // nodes
            if self.whole and per_node > each:
                each = per_node
        key = (node_set, cores, nodes, (each, *self.nothing), self.whole, (), ())
        if key in self.shape_numbers:
            return self.shape_numbers[key]
        if cores > self.set_cores[node_set] or not self.place.plain:
            return -1
        fitting = self.set_sizes[node_set].searchsorted(-each, "right") if nodes > 0 else 0
        if fitting < nodes:
            return -1
        x = self.add_shape(key, cores, nodes, self.lines.demand((each, *self.nothing), self.whole), node_set)
        self.can[x] = 1
        return x

    def intern_packed(self, cores, memory, node_set):
        """The shape numbers of requests for so many cores and so much memory of one node each, and for nothing else:
        `intern` of many at once. The set can serve them, and nodes are shared."""
        k: cython.Py_ssize_t
        x: cython.Py_ssize_t
        wanted: cython.longlong[::1] = cores
        amounts: cython.longlong[::1] = memory
        found: cython.longlong[::1] = integers(len(cores))
        rest = self.nothing[1:]
        for k in range(len(wanted)):
            each = (wanted[k], amounts[k], *rest)
            key = (node_set, wanted[k], 1, each, False, (), ())
            known = self.shape_numbers.get(key)
            if known is None:
                x = self.add_shape(key, wanted[k], 1, self.lines.demand(each, False), node_set)
                self.can[x] = 1
            else:
                x = known
            found[k] = x
        return np.asarray(found)

    def add_shape(self, key, cores, nodes, d, node_set):
        """A new shape, without licences."""
        k: cython.Py_ssize_t
        x: cython.Py_ssize_t = self.shapes
        if x == len(self.cores_of):
            self.cores_of = doubled(self.cores_of)
            self.nodes_of = doubled(self.nodes_of)
            self.demand_of = doubled(self.demand_of)
            self.set_of = doubled(self.set_of)
            self.can = doubled(self.can)
            self.licensed_of = doubled(self.licensed_of)
            self.licence_of = doubled(self.licence_of)
            self.any_of = doubled(self.any_of)
            self.parts_in = doubled(self.parts_in)
        self.cores_of[x] = cores
        self.nodes_of[x] = nodes
        self.demand_of[x] = d
        self.set_of[x] = node_set
        self.licensed_of[x] = self.parts_in[x] = 0
        for k in range(self.licences):
            self.licence_of[x * self.licences + k] = -1
        if self.whole:
            self.any_of[x] = self.place.plain and self.alike[node_set] and self.lines.bare[d]
        else:
            self.any_of[x] = nodes == 0 and self.lines.bare[d] and not self.lines.alone[d]
        if not self.any_of[x]:
            self.unlike += 1
            self.time_nodes()
        self.shape_numbers[key] = x
        self.shapes += 1
        return x

    def add_parts(self, request, alone, node_set):
        """The shapes that follow that of a request whose nodes differ, by the smallest of which it was taken: each part
        by itself, the largest first, and each together with those before it. As a node that serves one part serves all
        behind it, it can be served where each of the latter can. How many parts there are."""
        total: cython.longlong = 0
        sums = []
        for nodes, each in request.parts:
            d = self.lines.demand(tuple(each), alone)
            total += nodes
            sums.append((total, d))
            self.add_shape((self.shapes,), nodes * each[0], nodes, d, node_set)
        for nodes, d in sums:
            self.add_shape((self.shapes,), nodes * self.lines.each[d * self.lines.kinds], nodes, d, node_set)
        return len(sums)

    def demand_on(self, slot, x, i, cores):
        """What the job wants of a node that it has, with so many cores."""
        z: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        if self.parts_in[x] == 0:
            return self.demand_of[x]
        seq, demands = self.parts_on.get(slot, (-1, {}))
        if seq == self.jobs.at[slot].seq and i in demands:
            return demands[i]
        for z in range(x + 1, x + 1 + self.parts_in[x]):  # it ran before the simulation began
            if self.lines.each[self.demand_of[z] * kinds] <= cores:
                return self.demand_of[z]
        return self.demand_of[x]

    def demand_kept(self, x, e):
        """What the request wants of the node of an entry of its hold."""
        r: cython.Py_ssize_t
        z: cython.Py_ssize_t
        d: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        for z in range(x + 1, x + 1 + self.parts_in[x]):
            d = self.demand_of[z]
            least: cython.longlong = self.lines.each[d * kinds]
            cores: cython.longlong = self.lines.kept_amounts[e * kinds]  # of a node that it has alone, all
            if least == cores or (self.lines.alone[d] and least < cores):
                for r in range(1, kinds):
                    if self.lines.each[d * kinds + r] != self.lines.kept_amounts[e * kinds + r]:
                        break
                else:
                    return d
        return self.demand_of[x]

    def count_nodes(self, shapes):
        """How many nodes requests of these shapes want; 1 where they do not say (-1: no shape)."""
        i: cython.Py_ssize_t
        numbers: cython.longlong[::1] = shapes
        found: cython.longlong[::1] = integers(len(shapes), 1)
        for i in range(len(numbers)):
            if numbers[i] >= 0 and self.nodes_of[numbers[i]] > 0:
                found[i] = self.nodes_of[numbers[i]]
        return np.asarray(found)

    def in_all(self, x: cython.Py_ssize_t, licences=()) -> dict:
        """What a request of this shape asks for of each resource, on all its nodes; and of licences, by their names."""
        k: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        shapes = range(x + 1, x + 1 + self.parts_in[x]) if self.parts_in[x] > 0 else [x]
        found = dict.fromkeys(self.resources, 0)
        for z in shapes:
            times = self.nodes_of[z] if self.nodes_of[z] > 0 else self.cores_of[z]
            for k in range(kinds):
                found[self.resources[k]] += times * self.lines.each[self.demand_of[z] * kinds + k]
        for k in range(self.licences if self.licensed_of[x] else 0):
            if self.licence_of[x * self.licences + k] >= 0:
                found[licences[k]] = self.licensing.each[self.licence_of[x * self.licences + k]]
        return {name: int(amount) for name, amount in found.items()}

    def could(self, request, node_set) -> bool:
        """Whether the request could be served by the set's nodes, empty and in full health."""
        if request.lacking:
            return False
        if any(amount > self.licensing.full[k] for k, amount in enumerate(request.licences)):
            return False
        if request.nodes > 0 and not self.place.plain:
            return self.could_suit(request, node_set)
        wanted: cython.longlong = 0
        for nodes, each in request.parts:
            wanted += nodes
            if self.count_fitting(each, node_set) < wanted:
                return False
        rows, counts = self.models[node_set]
        have: cython.longlong = 0
        for row, count in zip(rows, counts, strict=True):
            times = min(amount // need for amount, need in zip(row, request.each, strict=True) if need > 0)
            have += count * (times if request.nodes == 0 else times > 0)
        return have >= (request.nodes or request.cores)

    def count_fitting(self, each, node_set) -> int:
        """How many nodes of the set have so much, empty."""
        rows, counts = self.models[node_set]
        fitting = [all(has >= need for has, need in zip(row, each, strict=True)) for row in rows]
        return sum(count for count, fits in zip(counts, fitting, strict=True) if fits)

    def could_suit(self, request, node_set) -> bool:
        """The same where the placement cares which nodes they are."""
        amounts = np.asarray(self.lines.full).reshape(-1, self.lines.kinds)
        each = np.array(request.each)
        nodes = np.where(self.masks[node_set][:, None], amounts, 0)
        offers = np.min(nodes[:, each > 0] // each[each > 0], axis=1)
        pool = NodePool(np.where(offers > 0, nodes[:, 0], 0), True, True)
        return bool(self.place.suits(pool, request.nodes, request.each[0]))

    def possible(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if not 0 <= x < self.shapes:
            raise EngineError(f"job {self.jobs.at[slot].job_id} has no shape: {x}")
        return self.can[x]

    # ---- what changes

    def time_nodes(self):
        """Begin to keep the running jobs of each node by expected end: until now numbers of cores told everything."""
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        cores: cython.longlong
        if self.timed:
            return 0
        self.timed = True
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding != 1 or self.jobs.at[slot].cluster != self.index:
                continue
            for k in range(self.shares.first_of(slot), self.shares.last_of(slot)):
                i = self.shares.at[k] >> 24
                cores = self.shares.at[k] & CORES
                self.lines.used[i * self.lines.kinds] -= cores
                self.lines.start(i, slot, self.jobs.at[slot].expected_end, cores, A_CORE, 0)
        return 0

    def update(self, i):
        """The node's running jobs have changed: tell what keeps an account of it."""
        k: cython.Py_ssize_t
        s: cython.Py_ssize_t
        e: cython.longlong
        former: cython.longlong
        kinds: cython.Py_ssize_t = self.lines.kinds
        left: cython.longlong = self.lines.cap[i * kinds] - self.lines.used[i * kinds]
        free: cython.longlong = self.everything.value[i]
        pool: NodePool
        if kinds > 1:
            self.tell_room(i)
        self.over += (left < 0) - self.short[i]
        self.short[i] = left < 0
        if left < 0:
            left = 0
        if not self.timed:
            return self.everything.set(i, left)
        for k in range(self.sets_from[i], self.sets_from[i + 1]):
            pool = self.pools[self.sets_at[k]]
            pool.set(i, left)
        self.node_starts.changed(i)
        self.lines.ease(i)
        if self.lines.noted:
            self.lines.since.put(i, OTHERS_RUN)
        s = -1
        for k in range(self.sets_from[i], self.sets_from[i + 1]):
            s = max(s, self.lone[self.sets_at[k]])
        e = self.lines.kept_on[i] if s >= 0 else -1  # what a hold bars matters where it is the only one
        while e >= 0:
            former = self.lines.kept_barred[e]
            self.lines.kept_barred[e] = self.barred_by(e)
            for k in range(self.sets_from[i], self.sets_from[i + 1]):
                s = self.sets_at[k]
                if self.lone[s] >= 0 and self.held_slot[self.lone[s]] == self.lines.kept_by[e]:
                    self.barred[s] += self.lines.kept_barred[e] - former
                    self.lose(s, free, former, -1)
                    self.lose(s, left, self.lines.kept_barred[e], 1)
            e = self.lines.kept_beside[e]
        return 0

    def tell_room(self, i):
        """What is free on the node of each resource."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        for r in range(kinds):
            self.rough.set(i, r, self.lines.cap[i * kinds + r] - self.lines.used[i * kinds + r])
        return 0

    def drain(self, nodes, empty) -> None:
        """Nothing new starts on the nodes any more (or again); what runs there stays."""
        i: cython.Py_ssize_t
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        self.time_nodes()
        self.drained += len(nodes) if empty else -len(nodes)
        for node in nodes:
            i = node
            for r in range(kinds):
                self.lines.cap[i * kinds + r] = 0 if empty else self.lines.full[i * kinds + r]
            self.update(i)
        self.version += 1
        self.bound()

    def jobs_on(self, nodes) -> list:
        """The jobs that run on one of the nodes, in order of entry."""
        found = set()
        self.time_nodes()
        for node in nodes:
            found.update(self.lines.slots_on(node))
        return sorted((slot for slot in found if self.jobs.at[slot].seq >= 0), key=self.jobs.seq.__getitem__)

    def within(self, slot, s):
        """Whether the running job has a node in the set."""
        k: cython.Py_ssize_t
        for k in range(self.shares.first_of(slot), self.shares.last_of(slot)):
            if self.member[s * self.n + (self.shares.at[k] >> 24)]:
                return True
        return False

    def follow(self, s):
        """Begin to keep the set's running jobs by expected end."""
        slot: cython.Py_ssize_t
        if self.profiles[s] is not None:
            return 0
        profile: RunningProfile = RunningProfile()
        self.profiles[s] = profile
        if self.follows == len(self.followed):
            self.followed = doubled(self.followed)
        self.followed[self.follows] = s
        self.follows += 1
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding == 1 and self.jobs.at[slot].cluster == self.index and self.within(slot, s):
                profile.insert(self.jobs.at[slot].expected_end, self.jobs.at[slot].seq, slot)
        return 0

    def follow_ends(self, s):
        """Begin to keep the cores that the set's running jobs will free, by expected end."""
        slot: cython.Py_ssize_t
        cores: cython.longlong
        if self.ends[s] is not None:
            return 0
        profile: RunningProfile = RunningProfile()
        self.ends[s] = profile
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding == 1 and self.jobs.at[slot].cluster == self.index:
                cores = self.cores_within(slot, s)
                if cores > 0:
                    profile.insert(self.jobs.at[slot].expected_end, self.jobs.at[slot].seq, cores)
        return 0

    def cores_within(self, slot, s):
        """Cores that the running job has on nodes of the set."""
        k: cython.Py_ssize_t
        cores: cython.longlong = 0
        for k in range(self.shares.first_of(slot), self.shares.last_of(slot)):
            if self.member[s * self.n + (self.shares.at[k] >> 24)]:
                cores += self.shares.at[k] & CORES
        return cores

    def enroll(self, slot, end, enters):
        """The job enters or leaves the list of running jobs of every set that has one."""
        k: cython.Py_ssize_t
        cores: cython.longlong
        profile: RunningProfile
        plan: Availability
        for k in range(self.follows):
            if self.within(slot, self.followed[k]):
                profile = self.profiles[self.followed[k]]
                if enters:
                    profile.insert(end, self.jobs.at[slot].seq, slot)
                else:
                    profile.remove(end, self.jobs.at[slot].seq)
        for k in range(self.sets):
            profile = self.ends[k]
            if profile is not None:
                cores = self.cores_within(slot, k)
                if self.spared[k] == self.version and end > self.held_start[self.lone[k]]:
                    self.spare[k] += -cores if enters else cores
                if cores > 0:
                    if enters:
                        profile.insert(end, self.jobs.at[slot].seq, cores)
                    else:
                        profile.remove(end, self.jobs.at[slot].seq)
                    if self.plans[k] is not None:
                        cores = -cores if enters else cores
                        self.planned_free[k] += cores
                        plan = self.plans[k]
                        plan.add(self.now, end, cores)
        return 0

    # ---- numbers of cores

    def number(self, s, time, slot):
        """Cores of the set that are left at that time, now or later, beside running jobs and the holds of others."""
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        ends: RunningProfile
        plan: Availability
        have: cython.longlong = pool.total
        if self.counted > self.few and self.over == 0:
            plan = self.plan_of(s)
            ends = self.ends[s]
            have = plan.at(max(time, self.now))
            if time <= self.now:
                have -= ends.released_by(self.now)  # they are still there
            h = self.held_by(slot)
            own: cython.bint = h >= 0 and self.held_count[h] > 0 and self.held_set[h] == s
            if own and self.held_start[h] <= time < self.held_end[h]:
                have += self.held_count[h]
            return have - (self.kept_by_name(s, time, slot) if self.named > 0 else 0)
        if time > self.now and self.over == 0:
            self.follow_ends(s)
            ends = self.ends[s]
            have += ends.released_by(time)
        elif time > self.now:  # somewhere more is in use than there is: its end frees less than it has
            have = 0
            for k in range(self.range_of[s], self.range_of[s + 1]):
                for i in range(self.range_first[k], self.range_last[k]):
                    have += max(self.lines.left_at(i, time), 0)
        if self.named > 0:
            have -= self.kept_by_name(s, time, slot)
        for k in range(self.holds if self.counted > 0 else 0):
            h = self.by_start[k]
            if self.held_count[h] == 0 or self.held_set[h] != s or self.held_slot[h] == slot:
                continue
            if self.held_start[h] <= time < self.held_end[h]:
                have -= self.held_count[h]
        return have

    def plan_of(self, s):
        """The cores of the set over time, beside running jobs and the holds that are a number of them."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        plan: Availability
        if self.plans[s] is not None and self.planned_free[s] == pool.total:
            return self.plans[s]
        self.follow_ends(s)
        ends: RunningProfile = self.ends[s]
        plan = Availability(pool.total + ends.released_by(NEVER))
        for p in range(ends.blocks):
            base = ends.order[p] * BLOCK
            for k in range(base, base + ends.count[p]):
                plan.add(self.now, ends.time[k], -ends.cores[k])
        self.plans[s] = plan
        self.planned_free[s] = pool.total
        for k in range(self.holds):
            if self.held_set[self.by_start[k]] == s:
                self.plan_hold(self.by_start[k], -1)
        return plan

    def plan_hold(self, h, sign):
        """The cores of a hold without names are taken out of the plan of its set, or put back."""
        plan: Availability = self.plans[self.held_set[h]]
        if plan is not None and self.held_count[h] > 0:
            plan.add(max(self.held_start[h], self.now), self.held_end[h], sign * self.held_count[h])
        return 0

    def held_by(self, slot):
        """The hold of the job, or -1."""
        return self.hold_of[slot] if 0 <= slot < len(self.hold_of) else -1

    def first_after(self, start):
        """How many holds begin at or before `start`: the place of the first that begins later."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.holds
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.held_start[self.by_start[middle]] <= start:
                low = middle + 1
            else:
                high = middle
        return low

    def apart(self, s):
        """Whether all holds without names that bear on the set are of this very set."""
        k: cython.Py_ssize_t
        for k in range(self.sets):
            if k != s and self.counted_in[k] > 0 and self.crosses[k * self.sets + s] == 1:
                return False
        return True

    def kept_by_name(self, s, time, slot):
        """Of the cores that running jobs leave at that time, those that named holds of others keep."""
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong
        left: cython.longlong
        k: cython.Py_ssize_t
        sum: cython.longlong = 0
        if self.named > self.few:
            for k in range(self.range_of[s], self.range_of[s + 1]):
                for i in range(self.range_first[k], self.range_last[k]):
                    if self.lines.kept_on[i] >= 0:
                        left = self.lines.left_at(i, time)
                        if left > 0:
                            sum += min(left, self.lines.kept_at(i, slot, time))
            return sum
        self.glance += 1
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held_start[h] <= time < self.held_end[h] and self.held_slot[h] != slot:
                e = self.held_first[h]
                while e >= 0:
                    i = self.lines.kept_node[e]
                    if i < self.n and self.member[s * self.n + i] and self.glanced[i] != self.glance:
                        self.glanced[i] = self.glance
                        left = self.lines.left_at(i, time)
                        if left > 0:
                            sum += min(left, self.lines.kept_at(i, slot, time))
                    e = self.lines.kept_next[e]
        return sum

    # ---- holds of others

    def conflicts(self, slot, start, end):
        """Whether some other job's hold lies in that time."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held_start[h] >= end:
                return False
            if self.held_all[h] or self.held_slot[h] == slot:
                continue
            if self.held_start[h] < end and self.held_end[h] > start:
                return True
        return False

    def meet(self, slot, s, start, end):
        """Put into `met` the nodes of the set on which something is kept for other jobs in that time."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        i: cython.Py_ssize_t
        e: cython.longlong
        self.meets = 0
        self.stamp += 1
        if self.named > self.few:
            return self.meet_nodes(slot, s, start, end)
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held_start[h] < end and self.held_end[h] > start and self.held_slot[h] != slot:
                e = self.held_first[h]
                while e >= 0:
                    i = self.lines.kept_node[e]
                    if i < self.n and self.mark[i] != self.stamp and self.member[s * self.n + i]:
                        self.mark[i] = self.stamp
                        self.met[self.meets] = i
                        self.meets += 1
                    e = self.lines.kept_next[e]
        return 0

    def meet_nodes(self, slot, s, start, end):
        """The same, node by node: where there are many holds."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        for k in range(self.range_of[s], self.range_of[s + 1]):
            for i in range(self.range_first[k], self.range_last[k]):
                if self.lines.keeps(i, slot, start, end):
                    self.mark[i] = self.stamp
                    self.met[self.meets] = i
                    self.meets += 1
        return 0

    def licensed(self, slot, x, start, end):
        """Whether all licences of the request are left from `start` to `end`."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        if self.licensed_of[x]:
            for k in range(self.licences):
                d = self.licence_of[x * self.licences + k]
                if d >= 0 and not self.licensing.clear(k, d, slot, start, end):
                    return False
        return True

    def when_licensed(self, slot, x, after, length):
        """No start between `after` and this time has the licences; `after` itself where it has them."""
        k: cython.Py_ssize_t
        d: cython.Py_ssize_t
        time: cython.longlong
        latest: cython.longlong = after
        if self.licensed_of[x]:
            for k in range(self.licences):
                d = self.licence_of[x * self.licences + k]
                if d >= 0:
                    time = self.licensing.first_clear(k, d, slot, after, length, NEVER, self.licensing.first_time(k, d))
                    if time > latest:
                        latest = time
        return latest

    # ---- the bounds and the clock

    def focus(self, node_set, local):
        h: cython.Py_ssize_t
        s: cython.Py_ssize_t = node_set if node_set > 0 else 0
        pool: NodePool = self.pools[s]
        if self.measured[s] != self.version:
            self.measure(s)
        self.most_free = pool.total
        self.most_extra = self.extra_of(s)
        self.most_window = self.first_hold[s] - self.now if self.first_hold[s] < NEVER else NEVER
        if local:
            h = self.lone[s]
            self.most_free = pool.level_to(pool.top)
            self.most_extra = min(self.most_extra, self.most_free if h < 0 else self.most_beside(h, s))
        return 0

    def part_of(self, slot):
        """What it wants of each node, in cores, where that says something about it."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        least: cython.longlong
        if x < 0 or self.jobs.at[slot].choice >= 0 or self.nodes_of[x] == 0:
            return 0
        least = self.lines.each[self.demand_of[x] * self.lines.kinds]
        return least if least < self.levels and self.jobs.at[slot].cores <= least * self.nodes_of[x] else 0

    def extra_of(self, s):
        """Cores of the set for a job that outlasts the start of the only hold there."""
        h: cython.Py_ssize_t = self.lone[s]
        pool: NodePool = self.pools[s]
        if h < 0 or self.held_count[h] == 0:
            return pool.total - self.barred[s]
        if self.held_set[h] != s:
            return pool.total
        if self.held_start[h] <= self.now or self.over > 0 or self.named > 0:
            return max(0, min(pool.total, self.number(s, max(self.now, self.held_start[h]), -1)))
        if self.spared[s] != self.version:
            self.spare[s] = self.number(s, self.held_start[h], -1)
            self.spared[s] = self.version
        return max(0, min(pool.total, self.spare[s]))

    def most_beside(self, h, s):
        """The most that a single node of the set offers beside the hold; where it has many nodes, a bound of that."""
        e: cython.longlong = self.held_first[h]
        i: cython.Py_ssize_t
        pool: NodePool = self.pools[s]
        level: cython.longlong = pool.level_to(pool.top)
        most: cython.longlong = 0
        kept: cython.Py_ssize_t = 0
        found: cython.longlong
        if self.held_count[h] > 0:
            return level
        while e >= 0:
            i = self.lines.kept_node[e]
            if i < self.n and self.member[s * self.n + i]:
                most = max(most, pool.value[i] - self.lines.kept_barred[e])
                kept += 1
                if kept > FEW:
                    return level
            e = self.lines.kept_next[e]
        while level > most and pool.count[level] <= kept:  # maybe all of them are kept
            found = 0
            e = self.held_first[h]
            while e >= 0:
                i = self.lines.kept_node[e]
                if i < self.n and self.member[s * self.n + i] and pool.value[i] == level:
                    found += 1
                e = self.lines.kept_next[e]
            if pool.count[level] > found:
                break
            level = pool.level_to(level - 1)
        return max(level, most)

    def bounds_of(self, node_set, local=False) -> tuple:
        """The bounds of a node set as (free, extra, window): for checks and for a person."""
        self.focus(node_set, local)
        return (self.most_free, self.most_extra, self.most_window)

    def set_time(self, now):
        k: cython.Py_ssize_t
        plan: Availability
        self.now = now
        self.lines.now = self.licensing.now = now
        for k in range(self.sets if self.counted > 0 else 0):
            plan = self.plans[k]
            if plan is not None:
                plan.forget(now)
        if self.holds > 0:
            if now >= self.edge:
                self.version += 1
                self.find_edge()
            return self.bound()
        return 0

    def find_edge(self):
        """When next a hold begins or ends."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        self.edge = NEVER
        for k in range(self.holds):
            h = self.by_start[k]
            if self.now < self.held_start[h] < self.edge:
                self.edge = self.held_start[h]
            if self.now < self.held_end[h] < self.edge:
                self.edge = self.held_end[h]
        return 0

    def touches(self, h, s):
        """Whether the hold keeps something on a node of the set, or may do so."""
        e: cython.longlong = self.held_first[h]
        i: cython.Py_ssize_t
        if self.held_count[h] > 0 or self.crosses[self.held_set[h] * self.sets + s] == 0:
            return self.crosses[self.held_set[h] * self.sets + s] == 1
        if self.held_set[h] == s:
            return e >= 0
        while e >= 0:
            i = self.lines.kept_node[e]
            if i < self.n and self.member[s * self.n + i]:
                return True
            e = self.lines.kept_next[e]
        return False

    def measure(self, s):
        """Which holds bear on the set: when the first begins; if it is the only one, what it bars.

        That is what is free now and cannot be had by a job that outlasts the hold's start.
        """
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        e: cython.longlong
        i: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        self.measured[s] = self.version
        self.first_hold[s] = NEVER
        self.lone[s] = -1
        self.barred[s] = 0
        for k in range(s * self.levels, (s + 1) * self.levels):
            self.lost[k] = 0
        for k in range(self.holds):
            h = self.by_start[k]
            if self.held_end[h] > self.now and not self.is_pinned(h) and self.touches(h, s):
                found += 1
                self.lone[s] = h
                if found == 2:
                    break
                self.first_hold[s] = self.held_start[h]
        for k in range(self.holds if found == 0 else 0):  # only what is pinned bears on it
            h = self.by_start[k]
            if self.held_end[h] > self.now and self.touches(h, s):
                self.first_hold[s] = self.held_start[h]
                break
        if found != 1:
            self.lone[s] = -1
            return 0
        if self.held_count[self.lone[s]] > 0:
            return 0
        e = self.held_first[self.lone[s]]
        while e >= 0:
            i = self.lines.kept_node[e]
            if i < self.n and self.member[s * self.n + i]:
                self.lines.kept_barred[e] = self.barred_by(e)
                self.bar(s, e, 1)
            e = self.lines.kept_next[e]
        return 0

    def bar(self, s, e, sign):
        """Count what the entry bars on its node, which is one of the set; or count it no more."""
        self.barred[s] += sign * self.lines.kept_barred[e]
        return self.lose(s, self.everything.value[self.lines.kept_node[e]], self.lines.kept_barred[e], sign)

    def lose(self, s, free, barred, sign):
        """A node of the set has so many free cores, of which so many cannot be had beside the only hold."""
        if barred > 0:
            self.lost[s * self.levels + free] += sign
            self.lost[s * self.levels + free - barred] -= sign
        return 0

    def beside(self, s, least):
        """How many nodes of the set have at least so many free cores beside the only hold."""
        v: cython.longlong = self.levels - 1
        pool: NodePool = self.pools[s]
        found: cython.longlong = pool.at_least(least)
        while v >= least:
            found -= self.lost[s * self.levels + v]
            v -= 1
        return found

    def barred_by(self, e):
        free: cython.longlong = self.everything.value[self.lines.kept_node[e]]
        left: cython.longlong
        if free == 0:
            return 0
        left = (
            self.lines.left_at(self.lines.kept_node[e], self.lines.kept_start[e])
            - self.lines.kept_amounts[e * self.lines.kinds]
        )
        if left >= free:
            return 0
        return free - left if left > 0 else free

    def is_pinned(self, h):
        return self.jobs.at[self.held_slot[h]].pinned

    def bound(self):
        """The bounds of the whole cluster."""
        k: cython.Py_ssize_t
        h: cython.Py_ssize_t
        pool: NodePool = self.pools[0]
        if self.measured[0] != self.version:
            self.measure(0)
        self.longest = NEVER
        for k in range(self.holds if self.pins > 0 else 0):
            h = self.by_start[k]
            if self.held_all[h] and self.held_end[h] > self.now and self.held_start[h] - self.now < self.longest:
                self.longest = self.held_start[h] - self.now  # from then on there is nothing
        self.closing = self.longest
        self.free = pool.total
        self.window = self.first_hold[0] - self.now if self.first_hold[0] < NEVER else NEVER
        self.extra = self.extra_of(0)
        return 0

    # ---- whole nodes that are all alike

    def foresee(self, free_profile: FreeProfile):
        """Whole nodes that are all alike can be counted where every job may use all of them."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        profile: RunningProfile
        if not self.whole or self.sets > 1 or self.unlike > 0:
            return False
        if self.pins > 0 or self.drained > 0 or self.capacity != self.size:
            return False
        self.follow(0)
        profile = self.profiles[0]
        free_profile.begin(self.now, self.everything.total // self.everything.top, self.everything.top)
        for p in range(profile.blocks):
            base = profile.order[p] * BLOCK
            for k in range(base, base + profile.count[p]):
                free_profile.release(profile.time[k], self.shares.length[profile.cores[k]])
        return True

    def units(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        return self.takes(x) // self.everything.top

    def any_serve(self, x):
        """Whether any cores of its set serve the request, or any nodes where they are given as a whole."""
        return self.any_of[x] and not (self.whole and self.capacity != self.size)

    def takes(self, x):
        """Cores that the request takes: of whole nodes, which are all alike, all."""
        nodes: cython.longlong = self.nodes_of[x]
        size: cython.longlong = self.largest[self.set_of[x]]
        if not self.lines.alone[self.demand_of[x]]:
            return self.cores_of[x]
        return (nodes if nodes > 0 else (self.cores_of[x] + size - 1) // size) * size

    def need(self, slot):
        """Of whole nodes, their mean size; a job that names no number of them needs as many as hold its cores."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        mean: cython.longlong = self.size // self.n
        nodes: cython.longlong
        if x < 0 or not self.lines.alone[self.demand_of[x]]:
            return self.jobs.at[slot].cores
        nodes = self.nodes_of[x] if self.nodes_of[x] > 0 else (self.cores_of[x] + mean - 1) // mean
        return min(max(self.cores_of[x], nodes * mean), self.size)

    # ---- for the record

    def refuse(self, cores, nodes, per_node) -> str:
        return "more nodes of that size than the cluster has"

    def describe(self, slot):
        found: cython.Py_ssize_t = self.shares.describe(slot)
        self.ranges = self.shares.ranges
        return found

    def shares_of(self, slot) -> list:
        """The job's nodes as (node, cores): for checks and for a person."""
        return self.shares.pairs(slot)

    def free_of(self, node: cython.Py_ssize_t) -> list:
        """What is free on a node now, of each resource; for a licence, of its number behind the nodes."""
        kinds: cython.Py_ssize_t = self.lines.kinds
        if node >= self.n:
            return [int(self.licensing.cap[node - self.n] - self.licensing.used[node - self.n])] + [0] * (kinds - 1)
        return [int(self.lines.cap[node * kinds + r] - self.lines.used[node * kinds + r]) for r in range(kinds)]

    def kept_for(self, slot) -> list:
        """What is kept for a job, as (node, amounts): licences have the numbers behind the nodes."""
        out = []
        h: cython.Py_ssize_t = self.held_by(slot)
        e: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.lines.kinds
        if h >= 0:
            e = self.held_first[h]
            while e >= 0:
                amounts = [int(self.lines.kept_amounts[e * kinds + r]) for r in range(kinds)]
                out.append((int(self.lines.kept_node[e]), tuple(amounts)))
                e = self.lines.kept_next[e]
            e = self.held_licences[h]
            while e >= 0:
                amounts = [int(self.licensing.kept_amounts[e])] + [0] * (kinds - 1)
                out.append((self.n + int(self.licensing.kept_node[e]), tuple(amounts)))
                e = self.licensing.kept_next[e]
        return sorted(out)
