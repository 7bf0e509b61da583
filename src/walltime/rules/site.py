"""A site's rules, applied to the jobs of a workload before they arrive: queue, lane, counters, and rejections.

All of this is known when a job is read. What changes while the simulation runs is left to the kernel: counters in
`kernel.quotas`, lines in `kernel.queue.lines`, nodes in the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from walltime.cluster.requests import parse_parts
from walltime.core.errors import InputError
from walltime.core.time import format_duration, microseconds
from walltime.core.workload import MISSING, Workload
from walltime.kernel.queue.choices import Choices
from walltime.rules.accounts import Accounts, Charges
from walltime.rules.limits import Counters
from walltime.rules.matching import match_any, match_people
from walltime.rules.numbering import number_rows
from walltime.rules.routing import NOWHERE, Router
from walltime.rules.terms import MEMORY, USUAL, Terms, find_terms
from walltime.scenario import Checkpoint, Cluster, Part, Queue, Reservation
from walltime.scenario.outages import reserved_cores, usable_reservations

Array = np.ndarray[Any, Any]
ELSEWHERE = "bound to a reservation of another cluster"
SHAPED = ("cores", "nodes", "cores_per_node", "parts")
GPUS = ("gpus", "gpus_per_node")


def refuse_unknown_reservations(batch: Workload, names: list[str]) -> None:
    """Raise InputError for a job that is bound to a reservation which is none of these."""
    if not batch.has("reservation"):
        return
    labels, codes = batch.label_names("reservation"), batch.column("reservation")
    for code in np.unique(codes[codes >= 0]).tolist():
        if labels[code] not in names:
            raise InputError(
                "jobs are bound to a reservation that no job can use",
                value=labels[code],
                file=batch.source or None,
                choices=names,
            )


def stands_in_lines(cluster: Cluster) -> bool:
    """Whether jobs wait in several lines, or at limits; else they wait in one queue."""
    return bool(
        cluster.queues or cluster.limits or cluster.scheduler.preempt is not None or usable_reservations(cluster)
    )


class Requests(Protocol):
    """What makes shapes of requests, where the ledger counts more than cores."""

    def shapes(
        self, batch: Workload, rows: Array | range, queue: int, terms: Terms = USUAL
    ) -> tuple[Array, list[str], Array]:
        """For rows of a batch, as jobs of a queue (-1: of none) on its terms: shape numbers, reasons, and the reason of
        each row that can never run (-1: it can)."""

    def nodes(self, shapes: Array) -> Array:
        """How many nodes jobs of these shapes ask for; 1 where they do not say."""


@dataclass(frozen=True)
class Lane:
    """Jobs of one tier on one set of nodes: the queues that stand in it, and the order of it."""

    tier: int
    queues: tuple[int, ...]
    order: Part
    domain: int
    local: bool
    """Whether its jobs need a single node each: then no more than one node has must be free for them."""
    reservation: int = -1
    """The reservation that its jobs are bound to, by its number in the scenario."""


@dataclass(frozen=True)
class Option:
    """A queue in which some jobs may be, and what each of them is there: as an entry of `Choices`, and the reason for
    which it is turned away (-1: it is not)."""

    queue: int
    shape: Array
    rules: Array
    gpus: Array
    memory: Array
    refused: Array

    def entry(self, i: int) -> tuple[int, int, int, int, int]:
        """That of the job with this number."""
        return self.queue, int(self.shape[i]), int(self.rules[i]), int(self.gpus[i]), int(self.memory[i])


@dataclass
class Ruled:
    """What the rules make of a batch, by row."""

    batch: Workload
    lane: Array
    domain: Array
    queue: Array
    rules: Array
    shape: Array
    choice: Array
    memory: Array
    gpus: Array
    refused: Array
    """Index of the reason for which the job is turned away; -1 for none."""
    more: bool = True
    """Whether more than the shape is told; else nothing but that is to be read, and no job is turned away."""


@dataclass
class ReservedDomain:
    """A reservation that jobs may use: a domain of its own."""

    number: int
    reservation: Reservation
    cores: int
    domain: int
    lane_of: dict[int, int] = field(default_factory=dict)
    """The lane of a queue's jobs, by the queue's number."""
    requests: Requests | None = None


class SiteRules:
    """The rules of one cluster. Batches are given to `apply` in order; their labels are numbered the same in all."""

    def __init__(
        self,
        cluster: Cluster,
        queue_labels: list[str],
        counters: Counters | None,
        choices: Choices,
        checkpoint: Checkpoint | None,
        requests: Requests | None = None,
        alone: bool = True,
    ) -> None:
        self.cluster = cluster
        self.names = list(cluster.queues)
        self.queues: list[Queue] = list(cluster.queues.values())
        self.router = Router(cluster)
        self.accounts = Accounts(cluster.accounts)
        self.counters = counters
        self.choices = choices
        self.checkpoint = checkpoint
        self.requests = requests
        self.alone = alone  # else a queue that this cluster does not have may be another's
        self.terms, self.usual = find_terms(cluster)
        self.lined = stands_in_lines(cluster)
        self.reasons: list[str] = []
        self.charges: Charges
        self.several = {label: found for label in queue_labels if len(found := self.router.name(label) or ()) > 1}
        self.masks = self._masks()
        self.tiers = self._tiers()
        self.domains = self._domains()
        self.lanes: list[Lane] = []
        self.lane_of: dict[tuple[tuple[int, ...], bool], int] = {}
        self._make_lanes()
        self.bound = [
            ReservedDomain(
                number, one, reserved_cores(one, cluster), max((lane.domain for lane in self.lanes), default=0) + 1 + k
            )
            for k, (number, one) in enumerate(usable_reservations(cluster))
        ]
        for bound in self.bound:
            self._make_bound_lanes(bound)
        self.kinds: dict[tuple[int, ...], int] = {}

    # ---- queues, before any job

    def _masks(self) -> list[Array | None]:
        """The nodes of each queue; None for all."""
        layout = self.cluster.layout()
        return [None if queue.nodes is None or layout is None else layout.select(queue.nodes) for queue in self.queues]

    def _order(self, queue: Queue) -> Part:
        return queue.order or self.cluster.scheduler.order

    def _tiers(self) -> list[int]:
        """The class of each queue: by priority, and among equal ones by the first of them that has its order."""
        keys = [(-queue.priority, self._order(queue)) for queue in self.queues]
        classes = [(key[0], keys.index(key)) for key in keys]
        ranked = sorted(set(classes))
        return [ranked.index(entry) for entry in classes]

    def _domains(self) -> list[int]:
        """The domain of each queue: those that share nodes, directly or through others, have the same."""
        domain = list(range(len(self.queues)))

        def join(a: int, b: int) -> None:
            old, new = domain[b], domain[a]
            for number, value in enumerate(domain):
                if value == old:
                    domain[number] = new

        for a in range(len(self.queues)):
            for b in range(a):
                first, second = self.masks[a], self.masks[b]
                if first is None or second is None or bool(np.any(first & second)):
                    join(a, b)
        for numbers in self.several.values():
            for other in numbers[1:]:
                join(numbers[0], other)
        met = list(dict.fromkeys(domain))
        return [met.index(value) for value in domain]

    def _make_lanes(self) -> None:
        entries: list[tuple[int, ...]] = [(number,) for number in range(len(self.queues))]
        for numbers in self.several.values():  # some of them may not take a job: it has the choice of the others
            for count in range(2, len(numbers) + 1):
                entries += combinations(numbers, count)
        entries = list(dict.fromkeys(entries))
        entries.sort(key=lambda numbers: min(self.tiers[number] for number in numbers))
        for numbers in entries or [()]:
            tier, domain, order = 0, 0, self.cluster.scheduler.order
            if numbers:
                first = min(numbers, key=lambda number: self.tiers[number])
                tier, domain, order = self.tiers[first], self.domains[first], self._order(self.queues[first])
            for local in (False,) if self.cluster.nodes is None else (False, True):
                self.lane_of[numbers, local] = len(self.lanes)
                self.lanes.append(Lane(tier, numbers, order, domain, local))

    def _make_bound_lanes(self, bound: ReservedDomain) -> None:
        """Bound jobs keep the tier and the order of their queues, and have no use for these queues' nodes."""
        numbers = sorted(range(len(self.queues)), key=lambda number: self.tiers[number])
        for number in numbers or (NOWHERE,):
            bound.lane_of[number] = len(self.lanes)
            tier, order = (0, self.cluster.scheduler.order)
            if number >= 0:
                tier, order = self.tiers[number], self._order(self.queues[number])
            self.lanes.append(Lane(tier, (), order, bound.domain, False, bound.number))

    def mask_of(self, lane: Lane) -> Array | None:
        """The nodes on which jobs of the lane may run; None for all."""
        masks = [self.masks[number] for number in lane.queues]
        if not masks or any(mask is None for mask in masks):
            return None
        return np.asarray(np.array([mask for mask in masks if mask is not None]).any(axis=0))

    # ---- jobs

    def apply(self, batch: Workload, brief: bool = False) -> Ruled:
        """The batch with its jobs in their queues, and what the kernel has to know of each; raises InputError.

        With `brief` the caller looks at `more` before anything but the shape.
        """
        plain = not asks_for_more(batch) and not batch.has("reservation") and not self.usual.fills
        if brief and not self.lined and plain:
            return self._apply_to_one_line(batch)
        size = len(batch)
        refused = np.full(size, -1, np.int64)
        self.charges = Charges(self.accounts, batch)
        entry = self._enter(batch, refused)
        nowhere = refused >= 0
        batch = self._grow(batch, entry, nowhere)
        none = np.full(size, -1, np.int64)
        ruled = Ruled(
            batch,
            lane=np.zeros(size, np.int64),
            domain=np.zeros(size, np.int64),
            queue=batch.column("queue").astype(np.int64),
            rules=none.copy(),
            shape=none.copy(),
            choice=none.copy(),
            memory=np.zeros(size, np.int64),
            gpus=np.zeros(size, np.int64),
            refused=refused,
        )
        if asks_for_more(batch):
            ruled.memory = total_memory(batch, count_nodes(batch))
            ruled.gpus = total_gpus(batch, count_nodes(batch))
        local = self._local(batch)
        whose = self._binding(batch)
        if whose is not None and not self.alone:
            elsewhere = (whose < 0) & (batch.column("reservation") >= 0) & (refused < 0)
            refused[elsewhere] = self._reason(ELSEWHERE)
        for numbers, rows in entry.items():
            if whose is None:
                self._describe(ruled, local, numbers, rows)
                continue
            free = rows[whose[rows] < 0]
            if len(free):
                self._describe(ruled, local, numbers, free)
            for k, bound in enumerate(self.bound):
                if len(own := rows[whose[rows] == k]):
                    self._describe_bound(ruled, bound, numbers[0] if numbers else NOWHERE, own)
        if self.queues:
            ruled.batch = self._relabelled(batch, np.where(nowhere, MISSING, ruled.queue))
        return ruled

    def _grow(self, batch: Workload, entry: dict[tuple[int, ...], Array], nowhere: Array) -> Workload:
        """The batch in which jobs that ask for more memory with a core than they may have more cores; those that no
        queue takes stay as they are."""
        if not any(terms.most_core for terms in (*self.terms, self.usual)):
            return batch
        columns = dict(batch.columns)
        for numbers, entered in entry.items():
            terms = self._terms(numbers[0] if numbers else NOWHERE)
            rows = entered[~nowhere[entered]]
            if not terms.most_core or not len(rows):
                continue
            told = {name: batch.column(name)[rows] for name in (*SHAPED, *MEMORY)}
            for name, column in terms.grow(told, len(rows)).items():
                columns[name] = np.array(columns.get(name, batch.column(name)))
                columns[name][rows] = column
        return batch.replace(columns)

    def _apply_to_one_line(self, batch: Workload) -> Ruled:
        """The same where jobs differ in nothing but the cores and nodes that they ask for: without this a site of nodes
        alone would spend a tenth of a run on columns that say one thing."""
        size = len(batch)
        same = np.zeros(size, np.int64)  # costs no memory, as nothing reads it
        words: list[str] = []
        shape = why = same
        if self.requests is not None:
            shape, words, why = self.requests.shapes(batch, range(size), NOWHERE, self.usual)
        if not words:
            return Ruled(batch, same, same, same, same, shape, same, same, same, same, more=False)
        none = np.full(size, -1, np.int64)
        refused = np.array([*(self._reason(word) for word in words), -1], np.int64)[why]
        queue = batch.column("queue").astype(np.int64)
        return Ruled(batch, same, same, queue, none, shape, none, same, same, refused)

    def _binding(self, batch: Workload) -> Array | None:
        """Which of the reservations each row is bound to, -1 for none; None where no row is. Raises InputError."""
        if not batch.has("reservation") or not np.any(batch.column("reservation") >= 0):
            return None
        names = [bound.reservation.name for bound in self.bound]
        labels, codes = batch.label_names("reservation"), batch.column("reservation")
        if self.alone:
            refuse_unknown_reservations(batch, names)
        place = [names.index(label) if label in names else -1 for label in labels]
        return np.asarray(np.array([*place, -1], np.int64)[codes])

    def _describe_bound(self, ruled: Ruled, bound: ReservedDomain, number: int, rows: Array) -> None:
        """Lane, counters and shapes of jobs that are bound to a reservation, and which of them are rejected."""
        batch, name = ruled.batch, bound.reservation.name
        bad = self._turned_away(batch, rows, number)
        shapes = np.full(len(rows), -1, np.int64)
        if bound.requests is not None:
            shapes, words, why = bound.requests.shapes(batch, rows, 0, self._terms(number))
            self._add_up(ruled, bound.requests, shapes, rows, self._terms(number))
            said = [word.replace(f"queue {name}", f"reservation {name}") for word in words]
            bad = np.where(bad < 0, np.array([*(self._reason(word) for word in said), -1], np.int64)[why], bad)
        allowed = match_any(bound.reservation, batch, self.charges)[rows]
        time = batch.column("requested_time")[rows]
        if self.checkpoint is not None:
            time = self.checkpoint.granted(time)
        checks = (
            (batch.column("cores")[rows] > bound.cores, f"more cores than reservation {name} has"),
            (time > microseconds(bound.reservation.length), f"more time than reservation {name} lasts"),
            (~allowed, f"not allowed in reservation {name}"),
        )
        for mask, text in checks:
            if mask.any():
                bad = np.where((bad < 0) & mask, self._reason(text), bad)
        ruled.lane[rows] = bound.lane_of[number]
        ruled.domain[rows] = bound.domain
        if number >= 0:
            ruled.queue[rows] = number
        ruled.shape[rows] = shapes
        ruled.rules[rows] = self._counter_sets(batch, rows, number)
        ruled.refused[rows] = np.where(ruled.refused[rows] < 0, bad, ruled.refused[rows])

    def _stand(self, ruled: Ruled, local: Array, numbers: tuple[int, ...], rows: Array | slice) -> None:
        """Jobs that are in one queue, or have the choice of several, in their lane."""
        wide = self.lane_of[numbers, False]
        one_node = self.lane_of.get((numbers, True), wide)
        ruled.lane[rows] = wide if one_node == wide else np.where(local[rows], one_node, wide)
        ruled.domain[rows] = self.lanes[wide].domain
        if numbers:
            ruled.queue[rows] = numbers[0]

    def _local(self, batch: Workload) -> Array:
        """Jobs that cannot be on more than one node."""
        cores, each = batch.column("cores"), batch.column("cores_per_node")
        return np.asarray((cores == 1) | (batch.column("nodes") == 1) | ((batch.column("nodes") < 0) & (each >= cores)))

    def _reason(self, text: str) -> int:
        if text not in self.reasons:
            self.reasons.append(text)
        return self.reasons.index(text)

    def _enter(self, batch: Workload, refused: Array) -> dict[tuple[int, ...], Array]:
        """Rows by the queues in which they may run; those that no queue takes are refused."""
        size = len(batch)
        if not self.queues:
            return {(): np.arange(size)}
        way, code = self.router.enter(batch, self.charges), batch.column("queue")
        for label, numbers in zip(batch.label_names("queue"), way.named, strict=True):
            if numbers is not None and (numbers, False) not in self.lane_of:
                raise InputError("jobs that name several queues must be in the first batch of the stream", value=label)
        if self.alone:
            self.router.refuse_strangers(batch, way)
        nowhere = ~way.known & (way.to == NOWHERE)
        refused[nowhere] = self._reason("no queue takes it")
        entry: dict[tuple[int, ...], Array] = {}
        for number, numbers in enumerate(way.named):
            rows = np.flatnonzero(code == number)
            if numbers is not None and len(rows):
                entry[numbers] = np.concatenate([entry[numbers], rows]) if numbers in entry else rows
        for number in range(len(self.queues)):
            rows = np.flatnonzero(way.to == number)
            if len(rows):
                key = (number,)
                entry[key] = np.concatenate([entry[key], rows]) if key in entry else rows
        left = np.flatnonzero(nowhere)
        if len(left):
            entry[(0,)] = np.concatenate([entry[(0,)], left]) if (0,) in entry else left
        return entry

    def _relabelled(self, batch: Workload, queue: Array) -> Workload:
        """The batch with the queues in which its jobs are; where one has a choice, the record says where it ran."""
        columns = dict(batch.columns) | {"queue": queue.astype(np.int32)}
        return batch.replace(columns, labels=dict(batch.labels) | {"queue": self.names})

    def _describe(self, ruled: Ruled, local: Array, numbers: tuple[int, ...], rows: Array) -> None:
        """Lane, counters and shapes of jobs that name the same queues, and which of them are rejected."""
        options = []
        for number in numbers or (NOWHERE,):
            bad = self._turned_away(ruled.batch, rows, number)
            counter_sets = self._counter_sets(ruled.batch, rows, number)
            shapes = np.full(len(rows), -1, np.int64)
            if self.requests is not None:
                terms = self._terms(number).within(self._terms(numbers[0])) if numbers else self.usual
                shapes, words, why = self.requests.shapes(ruled.batch, rows, number, terms)
                numbered = np.array([*(self._reason(word) for word in words), -1], np.int64)
                bad = np.where(bad < 0, numbered[why], bad)
                self._add_up(ruled, self.requests, shapes, rows, terms)
            options.append(Option(number, shapes, counter_sets, ruled.gpus[rows], ruled.memory[rows], bad))
        if len(options) > 1:
            self._choose(ruled, local, rows, options)
            return
        every = not numbers and len(rows) == len(ruled.batch)  # without queues they are in order
        at = slice(None) if every else rows
        self._stand(ruled, local, numbers, at)
        ruled.shape[at], ruled.rules[at] = options[0].shape, options[0].rules
        ruled.refused[at] = np.where(ruled.refused[at] < 0, options[0].refused, ruled.refused[at])

    def _terms(self, number: int) -> Terms:
        return self.terms[number] if number >= 0 else self.usual

    def _add_up(self, ruled: Ruled, requests: Requests, shapes: Array, rows: Array, terms: Terms) -> None:
        """The memory and GPUs of jobs of these shapes, which tell how many nodes they have, on these terms."""
        if not asks_for_more(ruled.batch) and not terms.fills:
            return
        nodes = count_nodes(ruled.batch)
        nodes[rows] = requests.nodes(shapes)
        ruled.memory[rows] = total_memory(ruled.batch, nodes, terms)[rows]
        ruled.gpus[rows] = total_gpus(ruled.batch, nodes)[rows]

    def _choose(self, ruled: Ruled, local: Array, rows: Array, options: list[Option]) -> None:
        """What each job that names several queues may choose from: those that do not turn it away."""
        cores, time = ruled.batch.column("cores"), ruled.batch.column("requested_time")
        for i, row in enumerate(rows.tolist()):
            left, reason = [], -1
            for option in options:
                why, (_, _, counter_set, gpus, memory) = int(option.refused[i]), (entry := option.entry(i))
                if why < 0 and self.counters is not None:
                    whose = self.counters.too_small(counter_set, cores[row], gpus, memory, time[row])
                    why = -1 if whose is None else self._reason(f"more than {whose} may have at once")
                if why < 0:
                    left.append(entry)
                elif reason < 0:
                    reason = why
            here = np.array([row])
            self._stand(ruled, local, tuple(entry[0] for entry in left) or (options[0].queue,), here)
            if not left:
                ruled.refused[row] = reason
                continue
            _, ruled.shape[row], ruled.rules[row], ruled.gpus[row], ruled.memory[row] = left[0]
            if len(left) > 1:
                counted = None if self.counters is None else self.counters.together([entry[2] for entry in left])
                ruled.choice[row] = self.choices.define(left, -1 if counted is None else counted)

    def _turned_away(self, batch: Workload, rows: Array, number: int) -> Array:
        """For each row the reason for which the queue does not take it, or -1."""
        why = np.full(len(rows), -1, np.int64)
        if number < 0:
            return why
        queue, name = self.queues[number], self.names[number]
        cores = batch.column("cores")[rows]
        if queue.max_time is not None:
            text = f"more time than queue {name} gives ({format_duration(queue.max_time)})"
            why[batch.column("requested_time")[rows] > microseconds(queue.max_time)] = self._reason(text)
        if queue.min_cores is not None:
            why[cores < queue.min_cores] = self._reason(f"fewer cores than queue {name} takes ({queue.min_cores})")
        if queue.max_cores is not None:
            why[cores > queue.max_cores] = self._reason(f"more cores than queue {name} takes ({queue.max_cores})")
        allowed = match_people(queue, batch, self.charges)[rows]
        if not allowed.all():
            why[~allowed] = self._reason(f"not allowed in queue {name}")
        return why

    def _counter_sets(self, batch: Workload, rows: Array, number: int) -> Array:
        """The counters of each row, as a job of the queue."""
        if self.counters is None:
            return np.full(len(rows), -1, np.int64)
        columns = [batch.column("user")[rows], batch.column("group")[rows], self.charges.code[rows]]
        columns.append(batch.column("qos")[rows])
        names = [batch.label_names("user"), batch.label_names("group"), self.charges.names, batch.label_names("qos")]
        if number < 0:
            columns.append(batch.column("queue")[rows])
            names.append(batch.label_names("queue"))
        alike, first = number_rows(columns)
        found = np.empty(len(first), np.int64)
        entities = ("user", "group", "account", "qos", "queue")
        for index, row in enumerate(first.tolist()):
            job: dict[str, str | None] = {"queue": self.names[number] if number >= 0 else None}
            for entity, column, labels in zip(entities, columns, names, strict=False):
                job[entity] = labels[int(column[row])] if column[row] >= 0 else None
            found[index] = self.counters.counter_set(job)
        return found[alike]


def asks_for_more(batch: Workload) -> bool:
    """Whether some job may ask for memory or GPUs."""
    return any(batch.has(name) for name in (*MEMORY, *GPUS))


def total_memory(batch: Workload, nodes: Array, terms: Terms = USUAL) -> Array:
    """Bytes that each job asks for in all, on so many nodes; where it does not say, what it has on these terms."""
    if not any(batch.has(name) for name in MEMORY) and not terms.fills:
        return np.zeros(len(batch), np.int64)
    filled = terms.fill({name: batch.column(name) for name in MEMORY}, len(batch))
    per_node, per_core = (filled.get(name, batch.column(name)) for name in ("memory_per_node", "memory_per_core"))
    total = np.where(per_core >= 0, per_core * batch.column("cores"), batch.column("memory"))
    return np.asarray(np.maximum(np.where(per_node >= 0, per_node * nodes, total), 0), np.int64)


def total_gpus(batch: Workload, nodes: Array) -> Array:
    """GPUs that each job asks for in all, on so many nodes."""
    if not any(batch.has(name) for name in GPUS):
        return np.zeros(len(batch), np.int64)
    per_node = batch.column("gpus_per_node")
    return np.asarray(np.maximum(np.where(per_node >= 0, per_node * nodes, batch.column("gpus")), 0), np.int64)


def count_nodes(batch: Workload) -> Array:
    """Nodes that each job asks for, those of all its parts together; one where it does not say."""
    nodes, each = batch.column("nodes"), np.maximum(batch.column("cores_per_node"), 1)
    shaped = np.where(batch.column("cores_per_node") > 0, -(-batch.column("cores") // each), 1)
    told = np.where(nodes > 0, nodes, shaped)
    if batch.has("parts"):
        sums = [max(sum(part.nodes for part in parse_parts(text)), 1) for text in batch.label_names("parts")]
        told = np.where(batch.column("parts") >= 0, np.array([*sums, 1])[batch.column("parts")], told)
    return np.asarray(told, np.int64)
