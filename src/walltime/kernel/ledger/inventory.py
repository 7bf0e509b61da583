"""What a cluster has, and what jobs ask for: nodes with several resources, node sets, requests as shapes."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers, lined
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.holds import Holds
from walltime.kernel.ledger.node_pool import NodePool, RoughRoom
from walltime.kernel.ledger.place import Place  # noqa: F401 - as in inventory.pxd
from walltime.kernel.ledger.shares import Shares
from walltime.kernel.profiles.node_starts import NodeStarts, Smallest
from walltime.kernel.profiles.release_profile import ReleaseProfile  # noqa: F401 - as in inventory.pxd
from walltime.kernel.profiles.timelines import Timelines

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a share that is its cores; above it is the node
A_CORE = cython.declare(cython.Py_ssize_t, 0)  # the demand for one core
FEW_HOLDS = 16
"""So many holds are looked at one by one; what more of them keep together is known as steps over time."""
UNLIMITED = 1 << 60  # an amount that is not counted, as in cluster.nodes
NEW_SET = (0, 0, -1, _NEVER, -1, 0, -1, 0)
"""What is known of a set at first, in the order of SetFields."""

if not cython.compiled:
    from walltime.kernel.arrays import words as sets_in


@cython.cclass
class Inventory(Holds):
    """The state of a ledger of resources; what can be asked of it is in `ResourceLedger`.

    A job's `shape` is a number that `intern` gave its request for one of the node sets; set 0 are all nodes. Each set
    has a pool of its own, in which other nodes have nothing. `licensing` is to licences what `timelines` is to nodes:
    each is a node with that many cores.
    """

    def __init__(self, jobs: JobTable, nodes: Hardware, index=0) -> None:
        table = np.ascontiguousarray(nodes.capacity, np.int64)
        licences, pace, switches = nodes.licences, nodes.pace, nodes.switches
        sizes = table[:, 0].copy()
        largest = table.max(axis=0)
        Holds.__init__(self, jobs, int(sizes.sum()), index)
        self.on_nodes = True
        self.place = nodes.place
        self.whole = nodes.whole
        self.names_all = nodes.named
        self.resources = tuple(nodes.resources)
        self.n = len(table)
        self.timelines = Timelines(table)
        self.licensing = Timelines(np.array(licences, np.int64).reshape(-1, 1))
        self.licences = self.licensing.n
        self.node_starts = NodeStarts(self.timelines, self.n)
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
        self.model_rows = self.model_of = None
        self.cores_of = integers(16)
        self.nodes_of = integers(16)
        self.demand_of = integers(16)
        self.set_of = integers(16)
        self.can = integers(16)
        self.licensed_of = integers(16)
        self.any_of = integers(16)
        self.plain_of = integers(16)
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
        self.few = FEW_HOLDS
        self.made = 0
        self.valid_from = 0
        self.counted = self.named = 0
        self.plans = []
        self.planned = False
        self.short = integers(self.n)
        self.over = 0
        self.ends = []
        self.ending = None
        self.glance = 0
        self.glanced = integers(self.n)
        self.drained = 0
        self.version = 0
        self.set_cores = integers(0)
        self.levels = int(largest[0]) + 1
        self.lost = integers(0)
        self.parts = 1  # until a job wants so much of each of some nodes
        self.part_free = integers(self.levels)
        self.part_extra = integers(self.levels)
        self.set_table = integers(0)
        self.mark = integers(self.n)
        self.stamp = 0
        self.met = integers(self.n)
        self.meets = 0
        self.place.prepare(jobs, sizes, nodes.whole, nodes.seed)
        self.place.connect(np.zeros(self.n, np.int64) if switches is None else np.ascontiguousarray(switches, np.int64))
        self.place.survey(self)
        self.tells_room = False
        self.add_set(np.ones(self.n, bool))
        self.everything = self.pools[0]

    def share_licences(self, other: Inventory):
        """The licences are those of another ledger; to be told before the first request."""
        self.licensing = other.licensing
        return 0

    def add_set(self, mask):
        """The number of a node set, given as a mask of the nodes; the same for equal ones."""
        return self.add_sets([mask])[0]

    def add_sets(self, masks):
        """The numbers of several node sets: `add_set` of each. They are listed once, which takes longer the more sets
        there are."""
        before: cython.Py_ssize_t = self.sets
        numbers = []
        for mask in masks:
            nodes = np.ascontiguousarray(mask, bool)
            key = nodes.tobytes()
            if key not in self.set_numbers:
                self.set_numbers[key] = self.sets
                self.enter_set(nodes)
            numbers.append(self.set_numbers[key])
        if self.sets > before:
            self.lengthen_sets(self.sets - before)
            self.list_sets()
            if self.sets > 1:
                self.time_nodes()
        return numbers

    def enter_set(self, nodes):
        """A new node set, which is not listed yet."""
        i: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        left: cython.longlong
        full = np.asarray(self.timelines.full).reshape(-1, kinds)
        sizes = np.where(nodes, full[:, 0], 0)
        pool: NodePool = NodePool(sizes, True, self.place.treed)
        for i in np.flatnonzero(nodes).tolist():
            left = self.timelines.cap[i * kinds] - self.timelines.used[i * kinds]
            pool.set(i, left if left > 0 else 0)
        self.masks.append(nodes)
        self.pools.append(pool)
        self.profiles.append(None)
        self.ends.append(None)
        self.plans.append(None)
        self.set_sizes.append(np.sort(-sizes[nodes]))
        self.models.append(None)
        self.sets += 1

    def lengthen_sets(self, count):
        """Room for so many new sets in what is kept by set."""
        cores = [-sizes.sum() for sizes in self.set_sizes[self.sets - count :]]
        self.set_cores = np.concatenate((self.set_cores, np.array(cores, np.int64)))
        self.lost = np.concatenate((self.lost, integers(count * self.levels)))
        table = lined(len(NEW_SET) * self.sets)
        table[: len(self.set_table)] = self.set_table
        table[len(self.set_table) :] = np.tile(np.array(NEW_SET, np.int64), count)
        self.set_table = table
        self.of_set = sets_in(self.set_table)

    def list_sets(self):
        """Sets as ranges of nodes, and the sets of each node."""
        i: cython.Py_ssize_t
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        table = np.array(self.masks)
        self.member = table.reshape(-1).astype(np.int64)
        alike = [len(sizes) == 0 or sizes[0] == sizes[len(sizes) - 1] for sizes in self.set_sizes]
        self.alike = np.array(alike, np.int64)
        self.largest = np.array([max(-sizes[0], 1) if len(sizes) else 1 for sizes in self.set_sizes], np.int64)
        self.sets_from = np.append(0, np.cumsum(table.sum(axis=0))).astype(np.int64)
        self.sets_at = np.nonzero(table.T)[1].astype(np.int64)
        self.crosses = integers(self.sets * self.sets)
        for i in range(self.n):
            for a in range(self.sets_from[i], self.sets_from[i + 1]):
                for b in range(self.sets_from[i], self.sets_from[i + 1]):
                    self.crosses[self.sets_at[a] * self.sets + self.sets_at[b]] = 1
        within = np.zeros((self.sets, self.n + 2), np.int8)  # with a node before and behind that is in none
        within[:, 1 : self.n + 1] = table
        edges = within[:, 1:] - within[:, : self.n + 1]
        rows, self.range_first = (side.astype(np.int64) for side in np.nonzero(edges == 1))
        self.range_last = np.nonzero(edges == -1)[1].astype(np.int64)
        self.range_of = np.searchsorted(rows, np.arange(len(table) + 1)).astype(np.int64)

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
        x = self.add_shape(
            key, request.cores, request.nodes, self.timelines.demand(tuple(request.each), alone), node_set
        )
        self.licensed_of[x] = bool(licences)
        if licences:
            self.unlike += 1
            self.time_nodes()
        for k in range(len(licences)):
            if licences[k]:
                self.licence_of[x * self.licences + k] = self.licensing.demand((licences[k],), False)
        self.can[x] = self.could(request, node_set)
        if licences or request.parts or not self.can[x]:
            self.plain_of[x] = 0
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
        x = self.add_shape(key, cores, nodes, self.timelines.demand((each, *self.nothing), self.whole), node_set)
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
                x = self.add_shape(key, wanted[k], 1, self.timelines.demand(each, False), node_set)
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
            self.plain_of = doubled(self.plain_of)
            self.parts_in = doubled(self.parts_in)
        self.cores_of[x] = cores
        self.nodes_of[x] = nodes
        self.demand_of[x] = d
        self.set_of[x] = node_set
        self.licensed_of[x] = self.parts_in[x] = 0
        for k in range(self.licences):
            self.licence_of[x * self.licences + k] = -1
        if self.names_all:
            self.any_of[x] = 0
        elif self.whole:
            self.any_of[x] = self.place.plain and self.alike[node_set] and self.timelines.bare[d]
        else:
            self.any_of[x] = nodes == 0 and self.timelines.bare[d] and not self.timelines.alone[d]
        self.plain_of[x] = cores if self.any_of[x] and not self.whole and node_set == 0 else 0
        if nodes > 0:
            self.parts = self.levels
        if not self.any_of[x]:
            self.unlike += 1
            if self.holds > 0 or self.timelines.kinds > 1 or not self.timelines.simple[d]:
                self.time_nodes()  # else what is free now tells all, as long as nothing is held
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
            d = self.timelines.demand(tuple(each), alone)
            total += nodes
            sums.append((total, d))
            self.add_shape((self.shapes,), nodes * each[0], nodes, d, node_set)
        for nodes, d in sums:
            self.add_shape((self.shapes,), nodes * self.timelines.each[d * self.timelines.kinds], nodes, d, node_set)
        return len(sums)

    def demand_on(self, slot, x, i, cores):
        """What the job wants of a node that it has, with so many cores."""
        z: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        if self.parts_in[x] == 0:
            return self.demand_of[x]
        seq, demands = self.parts_on.get(slot, (-1, {}))
        if seq == self.jobs.at[slot].seq and i in demands:
            return demands[i]
        for z in range(x + 1, x + 1 + self.parts_in[x]):  # it ran before the simulation began
            if self.timelines.each[self.demand_of[z] * kinds] <= cores:
                return self.demand_of[z]
        return self.demand_of[x]

    def demand_kept(self, x, e):
        """What the request wants of the node of an entry of its hold."""
        r: cython.Py_ssize_t
        z: cython.Py_ssize_t
        d: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        for z in range(x + 1, x + 1 + self.parts_in[x]):
            d = self.demand_of[z]
            least: cython.longlong = self.timelines.each[d * kinds]
            cores: cython.longlong = self.timelines.kept_amounts[e * kinds]  # of a node that it has alone, all
            if least == cores or (self.timelines.alone[d] and least < cores):
                for r in range(1, kinds):
                    if self.timelines.each[d * kinds + r] != self.timelines.kept_amounts[e * kinds + r]:
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
        kinds: cython.Py_ssize_t = self.timelines.kinds
        shapes = range(x + 1, x + 1 + self.parts_in[x]) if self.parts_in[x] > 0 else [x]
        found = dict.fromkeys(self.resources, 0)
        for z in shapes:
            times = self.nodes_of[z] if self.nodes_of[z] > 0 else self.cores_of[z]
            for k in range(kinds):
                found[self.resources[k]] += times * self.timelines.each[self.demand_of[z] * kinds + k]
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
        rows, counts = self.models_of(node_set)
        have: cython.longlong = 0
        for row, count in zip(rows, counts, strict=True):
            times = min(amount // need for amount, need in zip(row, request.each, strict=True) if need > 0)
            have += count * (times if request.nodes == 0 else times > 0)
        return have >= (request.nodes or request.cores)

    def models_of(self, node_set) -> tuple:
        """What nodes of the set that are alike have, empty, and how many they are; found when it is first asked for."""
        if self.models[node_set] is None:
            if self.model_of is None:
                full = np.asarray(self.timelines.full).reshape(-1, self.timelines.kinds)
                rows, model = np.unique(full, axis=0, return_inverse=True)
                self.model_rows, self.model_of = [tuple(row) for row in rows.tolist()], model.reshape(-1)
            counts = np.bincount(self.model_of[self.masks[node_set]], minlength=len(self.model_rows)).tolist()
            found = [(row, count) for row, count in zip(self.model_rows, counts, strict=True) if count > 0]
            self.models[node_set] = [row for row, _ in found], [count for _, count in found]
        return self.models[node_set]

    def count_fitting(self, each, node_set) -> int:
        """How many nodes of the set have so much, empty."""
        rows, counts = self.models_of(node_set)
        fitting = [all(has >= need for has, need in zip(row, each, strict=True)) for row in rows]
        return sum(count for count, fits in zip(counts, fitting, strict=True) if fits)

    def could_suit(self, request, node_set) -> bool:
        """The same where the placement cares which nodes they are."""
        amounts = np.asarray(self.timelines.full).reshape(-1, self.timelines.kinds)
        each = np.array(request.each)
        nodes = np.where(self.masks[node_set][:, None], amounts, 0)
        offers = np.min(nodes[:, each > 0] // each[each > 0], axis=1)
        pool = NodePool(np.where(offers > 0, nodes[:, 0], 0), True, True)
        return bool(self.place.suits(pool, request.nodes, request.each[0]))

    def possible(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        if not 0 <= x < self.shapes:
            raise EngineError(f"job {self.jobs.at[slot].job_id} has no shape: {x}")
        return True if self.plain_of[x] > 0 else self.can[x]

    def time_nodes(self):
        """Begin to keep the running jobs of each node by expected end: until now numbers of cores told everything."""
        k: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        i: cython.Py_ssize_t
        cores: cython.longlong
        shares: cython.p_longlong
        if self.timed:
            return 0
        self.timed = True
        for slot in self.jobs.slots():
            if self.jobs.at[slot].holding != 1 or self.jobs.at[slot].cluster != self.index:
                continue
            shares = self.shares.of(slot)
            for k in range(self.shares.count(slot)):
                i = shares[k] >> 24
                cores = shares[k] & CORES
                self.timelines.used[i * self.timelines.kinds] -= cores
                self.timelines.start(i, slot, self.jobs.at[slot].expected_end, cores, A_CORE, 0)
        return 0

    def know_room(self):
        """From now on `rough` knows what is free on each node: a request asks for more than cores."""
        i: cython.Py_ssize_t
        if self.tells_room or self.timelines.kinds == 1:
            return 0
        self.tells_room = True
        for i in range(self.n):
            self.tell_room(i)
        return 0

    def tell_room(self, i):
        """What is free on the node of each resource."""
        r: cython.Py_ssize_t
        kinds: cython.Py_ssize_t = self.timelines.kinds
        for r in range(kinds):
            self.rough.set(i, r, self.timelines.cap[i * kinds + r] - self.timelines.used[i * kinds + r])
        return 0

    def jobs_on(self, nodes) -> list:
        """The jobs that run on one of the nodes, in order of entry."""
        found = set()
        self.time_nodes()
        for node in nodes:
            found.update(self.timelines.slots_on(node))
        return sorted((slot for slot in found if self.jobs.at[slot].seq >= 0), key=self.jobs.seq.__getitem__)

    def within(self, slot, s):
        """Whether the running job has a node in the set."""
        k: cython.Py_ssize_t
        shares: cython.p_longlong = self.shares.of(slot)
        for k in range(self.shares.count(slot)):  # noqa: SIM110 - a generator would be an object
            if self.member[s * self.n + (shares[k] >> 24)]:
                return True
        return False

    @cython.final
    def cores_within(self, slot, s):
        """Cores that the running job has on nodes of the set."""
        k: cython.Py_ssize_t
        cores: cython.longlong = 0
        shares: cython.p_longlong = self.shares.of(slot)
        count: cython.Py_ssize_t = self.shares.count(slot)
        for k in range(count):
            if s == 0 or self.member[s * self.n + (shares[k] >> 24)]:
                cores += shares[k] & CORES
        return cores

    def units(self, slot):
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        return self.takes(x) // self.everything.top

    @cython.final
    def any_serve(self, x):
        """Whether any cores of its set serve the request, or any nodes where they are given as a whole."""
        return self.any_of[x] and not (self.whole and self.capacity != self.size)

    @cython.final
    def takes(self, x):
        """Cores that the request takes: of whole nodes, which are all alike, all."""
        if self.plain_of[x] > 0:
            return self.plain_of[x]
        nodes: cython.longlong = self.nodes_of[x]
        size: cython.longlong = self.largest[self.set_of[x]]
        if not self.timelines.alone[self.demand_of[x]]:
            return self.cores_of[x]
        return (nodes if nodes > 0 else (self.cores_of[x] + size - 1) // size) * size

    def need(self, slot):
        """Of whole nodes, their mean size; a job that names no number of them needs as many as hold its cores."""
        x: cython.Py_ssize_t = self.jobs.at[slot].shape
        mean: cython.longlong = self.size // self.n
        nodes: cython.longlong
        if x < 0 or not self.timelines.alone[self.demand_of[x]]:
            return self.jobs.at[slot].cores
        nodes = self.nodes_of[x] if self.nodes_of[x] > 0 else (self.cores_of[x] + mean - 1) // mean
        return min(max(self.cores_of[x], nodes * mean), self.size)

    def refuse(self, cores, nodes, per_node) -> str:
        return "more nodes of that size than the cluster has"

    def describe(self, slot):
        found: cython.Py_ssize_t
        share: cython.longlong
        if self.shares.spots[slot].length == 1:
            share = self.shares.spots[slot].first
            self.ranges[0] = share >> 24 << 44 | (share & CORES)
            return 1
        found = self.shares.describe(slot)
        if len(self.ranges) != len(self.shares.ranges):
            self.ranges = self.shares.ranges
        return found

    def shares_of(self, slot) -> list:
        """The job's nodes as (node, cores): for checks and for a person."""
        return self.shares.pairs(slot)

    def free_of(self, node: cython.Py_ssize_t) -> list:
        """What is free on a node now, of each resource; for a licence, of its number behind the nodes."""
        kinds: cython.Py_ssize_t = self.timelines.kinds
        if node >= self.n:
            return [int(self.licensing.cap[node - self.n] - self.licensing.used[node - self.n])] + [0] * (kinds - 1)
        return [int(self.timelines.cap[node * kinds + r] - self.timelines.used[node * kinds + r]) for r in range(kinds)]
