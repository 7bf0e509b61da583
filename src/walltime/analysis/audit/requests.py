"""What the jobs of a result asked for, all at once: shares of nodes, licences, and whether an empty machine has them.

Read from the workload's columns and the cluster alone, in other words than the engine's, so that a mistake there does
not hide itself here. Rows are those of the result's table of jobs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from walltime.analysis.audit.parts import AuditedPart, read_parts
from walltime.cluster import hostlist
from walltime.cluster.nodes import UNCOUNTED
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Reservation, Scenario
from walltime.scenario.outages import reserved_cores, reserved_nodes
from walltime.scenario.values import read_share

_PLACES = ("node", "core", "job")


def ask_whole_cores(workload: Workload, scenario: Scenario) -> Workload:
    """What jobs get for what they ask for where `cores` are threads: on each of their nodes all threads of a core."""
    threads = max(cluster.threads_per_core for cluster in scenario.clusters)
    if threads == 1:
        return workload
    cores, nodes = workload.column("cores"), np.maximum(workload.column("nodes"), 1)
    each = workload.column("cores_per_node")
    shaped = (each > 0) & (workload.column("nodes") > 0)
    on_a_node = threads * np.ceil(np.where(each > 0, each, np.ceil(cores / nodes)) / threads).astype(np.int64)
    plain = threads * nodes * np.ceil(cores / (threads * nodes)).astype(np.int64)
    columns = dict(workload.columns) | {"cores": np.where(cores > 0, np.where(shaped, nodes * on_a_node, plain), cores)}
    if workload.has("cores_per_node"):
        columns["cores_per_node"] = np.where(each > 0, on_a_node, each)
    return workload.replace(columns)


def ask_on_terms(workload: Workload, rows: np.ndarray, cluster: Cluster, queue: np.ndarray) -> Workload:
    """The same where the jobs at `rows` (-1: none) are in queues of the cluster, by number (-1: none), which may say
    more of what their jobs get than these do themselves."""
    whole = [queue.sharing == "whole" for queue in cluster.queues.values()]
    asked = _ask_for_memory(workload, rows, cluster, _find_first(workload, rows, cluster, queue))
    if not any(whole):
        return asked
    mine = (rows >= 0) & np.array([*whole, False])[queue]
    exclusive = asked.column("exclusive").copy()
    exclusive[rows[mine]] = 1
    return asked.replace(dict(asked.columns) | {"exclusive": exclusive})


def read_memory(cluster: Cluster, key: str) -> list[tuple[float, str]]:
    """What each queue says of memory: bytes, and for what; "" where nothing is said. Last, for jobs that are in none,
    what a cluster without queues says: where there are some, no queue takes these jobs."""
    found = []
    for one in (*cluster.queues.values(), None):
        own = None if one is None else getattr(one, key)
        text = getattr(cluster, key) if own is None and (one is not None or not cluster.queues) else own
        size, per = (0, text or "") if text in (None, "all") else read_share(text)
        found.append((float(size), per))
    return found


def _find_first(workload: Workload, rows: np.ndarray, cluster: Cluster, queue: np.ndarray) -> np.ndarray:
    """The queue that tells a job's memory: the most urgent of those that it names, or the one in which it is."""
    names = list(cluster.queues)
    urgency = [-one.priority for one in cluster.queues.values()]
    firsts = []
    for label in workload.label_names("queue"):
        named = [] if label in names else [name.strip() for name in label.split(",")]
        ours = [names.index(name) for name in named] if named and set(named) <= set(names) else []
        firsts.append(min(ours, key=lambda number: (urgency[number], number), default=-1))
    first = np.array([*firsts, -1])[np.append(workload.column("queue"), -1)[rows]]
    return np.where(first >= 0, first, queue)


def _ask_for_memory(workload: Workload, rows: np.ndarray, cluster: Cluster, first: np.ndarray) -> Workload:
    """Jobs that say nothing of memory with what they have of it, and those with more cores that need them for it."""
    usual, most = (read_memory(cluster, key) for key in ("default_memory", "max_memory"))
    layout = cluster.layout()
    if layout is None or not any(per for _, per in (*usual, *most)):
        return workload
    names = ("cores", "cores_per_node", "memory_per_node", "memory_per_core", "exclusive")
    columns = dict(workload.columns) | {name: workload.column(name).astype(np.int64) for name in names}
    total, nodes = workload.column("memory"), workload.column("nodes")
    silent = (total <= 0) & (columns["memory_per_node"] <= 0) & (columns["memory_per_core"] <= 0)
    patterns = [one.nodes for one in cluster.queues.values()] + [None]
    for number, (size, per) in enumerate(usual):
        mine = np.unique(rows[(rows >= 0) & (first == (number if number < len(cluster.queues) else -1))])
        mine = mine[silent[mine]]
        pattern = patterns[number]
        there = layout.amounts("memory")[slice(None) if pattern is None else layout.select(pattern)]
        if per == "all" and there.min() != there.max():
            columns["exclusive"][mine] = 1
        elif (per == "node" and size) or (per == "all" and there.min() < UNCOUNTED):
            columns["memory_per_node"][mine] = size or there.min()
        elif per == "core" and size:
            columns["memory_per_core"][mine] = size
    for number, (size, per) in enumerate(most):
        mine = np.unique(rows[(rows >= 0) & (first == (number if number < len(cluster.queues) else -1))])
        for row in mine.tolist() if per == "core" else ():
            if workload.column("parts")[row] < 0:
                _grow(columns, row, int(total[row]), int(nodes[row]), int(size))
    return workload.replace(columns)


def _grow(columns: dict[str, np.ndarray], row: int, total: int, nodes: int, most: int) -> None:
    """A job that asks for more memory with a core than it may has more cores for each."""
    cores, each, on_node, with_core = (
        int(columns[name][row]) for name in ("cores", "cores_per_node", "memory_per_node", "memory_per_core")
    )
    count = nodes if nodes > 0 else math.ceil(cores / each) if each > 0 else 0
    if on_node > 0 and not count:
        columns["cores"][row] = max(cores, math.ceil(on_node / most))
        return
    if on_node > 0:
        factor = math.ceil(math.ceil(on_node / most) / math.ceil(cores / count))
    elif with_core > 0:
        factor = math.ceil(with_core / most)
        columns["memory_per_core"][row] = math.ceil(with_core / factor)
    else:
        factor = max(1, math.ceil(math.ceil(max(total, 0) / cores) / most))
    columns["cores"][row] = cores * factor
    columns["cores_per_node"][row] = each * factor if each > 0 else each


@dataclass(frozen=True)
class NodeSet:
    """Nodes as classes of equal ones: `table` has a row for each kind of resource, `counts` how many nodes each."""

    table: np.ndarray
    counts: np.ndarray

    @property
    def size(self) -> int:
        return int(self.counts.sum())


class Requests:
    """The requests of the jobs that stand at `rows` of the workload, on the nodes of a cluster.

    Of nodes that are not `described`, because a slurm.conf does it, only the cores are known.
    """

    def __init__(self, workload: Workload, rows: np.ndarray, cluster: Cluster, described: bool = True) -> None:
        self.workload, self.rows, self.cluster, self.described = workload, rows, cluster, described
        self.layout = cluster.layout()
        self._columns: dict[str, np.ndarray] = {}
        self.cores, self.nodes, self.cores_per_node = (
            self.column(name) for name in ("cores", "nodes", "cores_per_node")
        )
        self.exclusive = (self.column("exclusive") > 0) & (self.layout is not None)
        self.alone = self.exclusive | (self.layout is not None and self.layout.whole)
        self.constraint = self.column("constraint")
        self.reservation = self.column("reservation")
        self.named = self._read_amounts("resources", _PLACES)
        self.licences = {name: amounts[0] for name, amounts in self._read_amounts("licences", ("job",)).items()}
        self.parts = [read_parts(text) for text in workload.label_names("parts")]
        self.parted = self.column("parts") >= 0
        self.told = self._count_told()
        self.bound = self._find_bound()
        self._sets: dict[tuple[int, int, int], NodeSet] = {}

    def column(self, name: str) -> np.ndarray:
        """A column of the workload, by row of the result."""
        if name not in self._columns:
            self._columns[name] = np.asarray(self.workload.column(name)[self.rows], np.int64)
        return self._columns[name]

    def _read_amounts(self, name: str, places: tuple[str, ...]) -> dict[str, list[np.ndarray]]:
        """Lists such as `scratch:100,fpga:1/core`: for each thing its amounts, an array for each of the places."""
        texts = self.workload.label_names(name)
        tables: dict[str, np.ndarray] = {}
        for number, text in enumerate(texts):
            for item in filter(None, (part.strip() for part in text.split(","))):
                amount, _, per = item.partition("/")
                thing, _, count = amount.partition(":")
                table = tables.setdefault(thing.strip(), np.zeros((len(places), len(texts) + 1), np.int64))
                table[places.index(per.strip() or places[0]), number] += int(count or 1)
        codes = self.column(name) if tables else self.rows
        return {thing: [table[index][codes] for index in range(len(places))] for thing, table in tables.items()}

    @cached_property
    def known(self) -> bool:
        """Whether the nodes are known: then it is looked at what each of them has."""
        return self.layout is not None and self.described

    @cached_property
    def beyond_cores(self) -> bool:
        """Whether more than cores, nodes and their placement may decide where jobs run."""
        if self.layout is None or not self.described:
            return False
        places = (self.cluster.scheduler.place, *(queue.place for queue in self.cluster.queues.values()))
        return bool(
            not self.layout.plain
            or self.cluster.reservations
            or self.cluster.failures
            or self.cluster.scheduler.preempt is not None
            or self.layout.features()
            or any(queue.nodes is not None for queue in self.cluster.queues.values())
            or any(place is not None and place.name == "topology" for place in places)
            or (self.workload.column("exclusive") > 0).any()
            or any((self.workload.column(name) >= 0).any() for name in ("constraint", "resources", "licences"))
        )

    @property
    def in_a_row(self) -> bool:
        """Whether a job's nodes must have consecutive numbers."""
        place = self.cluster.scheduler.place
        return place is not None and place.name == "contiguous"

    @cached_property
    def kinds(self) -> list[str]:
        """What is counted on the nodes, or asked for of them."""
        if self.layout is None or not self.known:
            return ["cores"]
        there = self.layout.resources()
        gpus = ["gpus"] if there != ["cores"] else []  # nodes that tell of nothing but cores may have any
        return list(dict.fromkeys([*there, *gpus, *self.named]))

    def _count_told(self) -> np.ndarray:
        """How many nodes each job asks for, 0 where it does not say.

        A job has a core on each of them at least, unless it is alone there; a plain number of cores has no nodes on
        which that could be looked at, and takes what the job says.
        """
        as_told = self.alone | (self.layout is None)
        nodes = np.where(as_told, self.nodes, np.minimum(self.nodes, self.cores))
        by_size = -(-self.cores // np.maximum(self.cores_per_node, 1))
        told = np.where(self.nodes > 0, nodes, np.where(self.cores_per_node > 0, by_size, 0))
        sums = np.array([*(sum(part.nodes for part in parts) for parts in self.parts), 0], np.int64)
        return np.where(self.parted, sums[self.column("parts")], told)

    def _find_bound(self) -> np.ndarray:
        """Jobs that tell no nodes, but want what only nodes have."""
        wants = self.exclusive.copy()
        for kind, name in (("gpus", "gpus"), ("gpus", "gpus_per_node"), ("memory", "memory_per_node")):
            if kind in self.kinds:
                wants |= self.column(name) > 0
        for amounts in self.named.values():
            wants |= sum(amounts) > 0
        return np.asarray(wants & (self.told == 0) & self.known)

    # ---- amounts

    def share(self, kind: str, rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """What each node must have for jobs that are divided evenly over so many."""
        cores = -(-self.cores[rows] // nodes)
        if kind == "cores":
            return np.asarray(np.where(self.alone[rows], np.maximum(cores, self.cores_per_node[rows]), cores))
        if kind == "memory":
            total, per_node, per_core = (self.column(name)[rows] for name in self._memory)
            shared = np.where(per_core >= 0, per_core * cores, -(-np.maximum(total, 0) // nodes))
            return np.asarray(np.where(per_node >= 0, per_node, shared))
        if kind == "gpus":
            total, per_node = self.column("gpus")[rows], self.column("gpus_per_node")[rows]
            return np.asarray(np.where(per_node >= 0, per_node, -(-np.maximum(total, 0) // nodes)))
        if kind not in self.named:
            return np.zeros(len(rows), np.int64)
        per_node, per_core, in_all = (amount[rows] for amount in self.named[kind])
        return np.asarray(per_node + per_core * cores - (-in_all // nodes))

    def parts_of(self, row: int) -> list[AuditedPart]:
        return self.parts[self.column("parts")[row]]

    def part_share(self, kind: str, row: int, part: AuditedPart) -> int:
        """What a node of the part must have."""
        if kind == "cores" or kind in part.own:
            return part.cores if kind == "cores" else part.own[kind]
        nodes = int(self.told[row])
        if kind == "memory" and self.column("memory_per_node")[row] < 0 and self.column("memory_per_core")[row] >= 0:
            return int(self.column("memory_per_core")[row]) * part.cores
        if kind in self.named:
            per_node, per_core, in_all = (int(amount[row]) for amount in self.named[kind])
            return per_node + per_core * part.cores - (-in_all // nodes)
        return int(self.share(kind, np.array([row]), np.array([nodes]))[0])

    def part_amount(self, kind: str, row: int, cores: int) -> int:
        """What a node of the job must have on which it has so many cores, at the least; alone on it, of any part."""
        parts = [part for part in self.parts_of(row) if part.cores == cores] or self.parts_of(row)
        return min((self.part_share(kind, row, part) for part in parts), default=0)

    def holds_parts(self, row: int, among: NodeSet) -> bool:
        """Whether the nodes of the set, empty, could hold all parts: those of each, and of all that want more."""
        wanted = 0
        for part in self.parts_of(row):
            wanted += part.nodes
            least = np.array([[self.part_share(kind, row, part)] for kind in self.kinds])
            if int((np.all(among.table >= least, axis=0) * among.counts).sum()) < wanted:
                return False
        return True

    _memory = ("memory", "memory_per_node", "memory_per_core")

    def with_a_core(self, kind: str, rows: np.ndarray) -> np.ndarray:
        """What goes with each core of jobs that have no shape."""
        if kind != "memory":
            return np.full(len(rows), int(kind == "cores"), np.int64)
        total, per_core = self.column("memory")[rows], self.column("memory_per_core")[rows]
        return np.asarray(np.where(per_core >= 0, per_core, -(-np.maximum(total, 0) // self.cores[rows])))

    def total(self, kind: str, rows: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """What whole jobs that have so many nodes hold of memory, GPUs and the like, as limits count them."""
        if kind in self.named:
            on_node, with_core, in_all = (amount[rows] for amount in self.named[kind])
            return np.asarray(on_node * nodes + with_core * self.cores[rows] + in_all)
        if kind not in ("gpus", "memory"):
            return np.zeros(len(rows), np.int64)
        if kind == "gpus":
            total, per_node = self.column("gpus")[rows], self.column("gpus_per_node")[rows]
        else:
            told, per_node, per_core = (self.column(name)[rows] for name in self._memory)
            total = np.where(per_core >= 0, per_core * self.cores[rows], told)
        return np.asarray(np.where(per_node >= 0, per_node * nodes, np.maximum(total, 0)))

    def find_greedy(self, rows: np.ndarray, queue: np.ndarray) -> np.ndarray:
        """Which of the jobs want more memory on a node than they may, as jobs of a queue."""
        most = read_memory(self.cluster, "max_memory")
        limit = np.array([size if per == "node" else np.inf for size, per in most])[queue]
        greedy = np.zeros(len(rows), np.bool_)
        for index in np.flatnonzero(np.isfinite(limit)) if "memory" in self.kinds else ():
            row, here = rows[index : index + 1], queue[index : index + 1]
            job = int(row[0])
            if self.parted[job]:
                wanted = max(self.part_share("memory", job, part) for part in self.parts_of(job))
            elif self.told[job] or self.bound[job]:
                wanted = int(self.share("memory", row, self.count_nodes(row, here))[0])
            else:
                wanted = int(self.with_a_core("memory", row)[0])
            greedy[index] = wanted > limit[index]
        return greedy

    # ---- nodes

    def queue_mask(self, queue: int) -> np.ndarray:
        """The nodes of a queue by its number; all for -1."""
        patterns = list(self.cluster.queues.values())[queue].nodes if queue >= 0 and self.cluster.queues else None
        if self.layout is None:
            return np.zeros(0, np.bool_)
        return np.ones(self.layout.count, np.bool_) if patterns is None else self.layout.select(patterns)

    def constraint_mask(self, code: int) -> np.ndarray:
        """The nodes with the properties that a text, by its code, asks for: `a&b|c` is a and b, or c."""
        if self.layout is None or code < 0:
            return np.ones(0 if self.layout is None else self.layout.count, np.bool_)
        options = [option.split("&") for option in self.workload.label_names("constraint")[code].split("|")]
        masks = [[self._nodes_with(name.strip()) for name in option] for option in options]
        return np.asarray(np.any([np.all(together, axis=0) for together in masks], axis=0))

    def _nodes_with(self, name: str) -> np.ndarray:
        """The nodes that have a feature, or else those that a list of names spells out."""
        if self.layout is None or name in self.layout.features():
            return np.zeros(0, np.bool_) if self.layout is None else self.layout.with_feature(name)
        groups = np.repeat([group.name for group in self.layout.groups], [group.count for group in self.layout.groups])
        wanted = hostlist.expand(name) if "[" in name else [name]
        return np.asarray((groups == name) | np.isin(self.layout.names(), wanted))

    def reservation_of(self, code: int) -> Reservation | None:
        """The reservation that a label, by its code, names."""
        names = self.workload.label_names("reservation")
        return next((one for one in self.cluster.reservations if code >= 0 and one.name == names[code]), None)

    def home_mask(self, queue: int, reservation: int) -> np.ndarray:
        """The nodes of a queue, or of the reservation that jobs are bound to, by their numbers."""
        own = self.reservation_of(reservation)
        if own is None or self.layout is None:
            return self.queue_mask(queue)
        nodes = reserved_nodes(own, self.cluster)
        return np.isin(np.arange(self.layout.count), [] if nodes is None else nodes)

    def node_set(self, queue: int, constraint: int, reservation: int) -> NodeSet:
        key = (queue, constraint, reservation)
        if key not in self._sets and self.layout is not None:
            mask = self.home_mask(queue, reservation) & self.constraint_mask(constraint)
            table = np.stack([self.layout.amounts(kind)[mask] for kind in self.kinds])
            self._sets[key] = NodeSet(*np.unique(table, axis=1, return_counts=True))
        return self._sets[key]

    def by_set(self, rows: np.ndarray, queue: np.ndarray) -> Iterator[tuple[np.ndarray, NodeSet]]:
        """The rows, those that may run on the same nodes together; `queue` has the queue's number for each."""
        keys = (queue + 1) * (self.constraint.max(initial=-1) + 2) + self.constraint[rows] + 1
        keys = keys * (self.reservation.max(initial=-1) + 2) + self.reservation[rows] + 1
        for key in np.unique(keys):
            places = np.flatnonzero(keys == key)
            first = places[0]
            row = rows[first]
            yield places, self.node_set(int(queue[first]), int(self.constraint[row]), int(self.reservation[row]))

    def count_holders(self, rows: np.ndarray, nodes: np.ndarray, among: NodeSet) -> np.ndarray:
        """How many nodes of the set, empty, could hold the jobs' shares."""
        good = np.ones((len(rows), len(among.counts)), np.bool_)
        for kind, has in zip(self.kinds, among.table, strict=True):
            good &= has[None, :] >= self.share(kind, rows, nodes)[:, None]
        return np.asarray(good @ among.counts)

    def find_fewest(self, rows: np.ndarray, among: NodeSet) -> np.ndarray:
        """The fewest nodes of the set over which the jobs can be divided evenly; 0 where there is no such number."""
        fewest = np.zeros(len(rows), np.int64)
        most = np.minimum(self.cores[rows], among.size)
        left = np.arange(len(rows))
        count = 0
        while len(left := left[most[left] > count]):
            count += 1
            good = self.count_holders(rows[left], np.full(len(left), count), among) >= count
            fewest[left[good]] = count
            left = left[~good]
        return fewest

    def count_nodes(self, rows: np.ndarray, queue: np.ndarray) -> np.ndarray:
        """How many nodes the jobs ask for as jobs of a queue; one where that does not matter."""
        nodes = np.maximum(self.told[rows], 1)
        bound = np.flatnonzero(self.bound[rows])
        for places, among in self.by_set(rows[bound], queue[bound]):
            nodes[bound[places]] = np.maximum(self.find_fewest(rows[bound[places]], among), 1)
        return np.asarray(nodes)

    def find_possible(self, rows: np.ndarray, queue: np.ndarray) -> np.ndarray:
        """Which jobs could surely run on the empty machine, as jobs of a queue."""
        if self.layout is None:
            most = np.full(len(rows), self.cluster.total_cores or 0)
            for code in np.unique(self.reservation[rows]).tolist():
                own = self.reservation_of(code)
                if own is not None:
                    most[self.reservation[rows] == code] = reserved_cores(own, self.cluster)
            return np.asarray(self.cores[rows] <= most)
        possible = np.ones(len(rows), np.bool_)
        for name, amount in self.licences.items():
            possible &= amount[rows] <= self.layout.licences.get(name, 0)
        for places, among in self.by_set(rows, queue):
            chosen = rows[places]
            nodes = self.told[chosen]
            bound = np.flatnonzero(self.bound[chosen])
            nodes[bound] = self.find_fewest(chosen[bound], among)
            shaped = self.count_holders(chosen, np.maximum(nodes, 1), among) >= np.maximum(nodes, 1)
            for index in np.flatnonzero(self.parted[chosen]):
                shaped[index] = self.holds_parts(int(chosen[index]), among)
            shapeless = self._count_offers(chosen, among) >= self.cores[chosen]
            bare = (self.told[chosen] == 0) & ~self.bound[chosen]
            if self.in_a_row:  # enough nodes may still be too far apart, which is not looked at here
                shaped &= nodes == 1
            possible[places] &= np.where(bare, shapeless, shaped & (nodes > 0))
        return possible

    def _count_offers(self, rows: np.ndarray, among: NodeSet) -> np.ndarray:
        """How many cores the nodes of the set, empty, offer to jobs without a shape."""
        offers = np.repeat(among.table[:1], len(rows), axis=0)
        if "memory" in self.kinds:
            each = self.with_a_core("memory", rows)[:, None]
            has = among.table[self.kinds.index("memory")][None, :]
            offers = np.where(each > 0, np.minimum(offers, has // np.maximum(each, 1)), offers)
        return np.asarray(offers @ among.counts)
