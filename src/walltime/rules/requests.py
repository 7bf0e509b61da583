"""From a workload's columns to the shapes that a ledger of resources knows: equal requests are looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.cluster.nodes import Layout
from walltime.cluster.requests import NodeRequest, Stock, make_request, parse_constraint, refusal
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.rules.numbering import number_rows
from walltime.rules.terms import USUAL, Terms

Array = np.ndarray[Any, Any]
Key = tuple[int, str]
"""A queue (-1: none), and the properties that are asked for of its nodes."""
NUMBERS = (
    "cores",
    "nodes",
    "cores_per_node",
    "memory",
    "memory_per_node",
    "memory_per_core",
    "gpus",
    "gpus_per_node",
    "exclusive",
)
TEXTS = ("resources", "licences", "constraint", "parts")
SHAPE = ("cores", "nodes", "cores_per_node")
MANY = 10_000
"""Requests that a layout remembers at the most."""


class RequestBook:
    """Shapes for the jobs of a cluster; `masks` are the nodes of its queues (None: all), `names` their names."""

    def __init__(self, layout: Layout, ledger: ResourceLedger, masks: list[Array | None], names: list[str]) -> None:
        self.layout = layout
        self.ledger = ledger
        self.masks = masks
        self.names = names
        self._nodes: dict[Key, Array] = {}
        self._stocks: dict[Key, Stock] = {}
        self._sets: dict[Key, int] = {}
        self._outlines: dict[int, bytes | None] = {}

    def shapes(
        self, batch: Workload, rows: Array | range, queue: int, terms: Terms = USUAL
    ) -> tuple[Array, list[str], Array]:
        """For rows of a batch, as jobs of a queue (-1: of none) on its terms: shape numbers, reasons, and the reason of
        each row that can never run (-1: it can); raises InputError."""
        present = [name for name in (*NUMBERS, *TEXTS) if batch.has(name)]
        if "cores" not in present:
            present.append("cores")
        every = queue < 0 and len(rows) == len(batch)  # without queues they are in order
        columns = [batch.column(name) if every else batch.column(name)[rows] for name in present]
        group, first = number_rows(columns)
        told = {name: column[first].tolist() for name, column in zip(present, columns, strict=True)}
        for name in TEXTS:
            if name in told:
                told[name] = [batch.label_names(name)[code] if code >= 0 else "" for code in told[name]]
        if terms != USUAL:
            told = terms.ask(told, len(first))
        why = np.full(len(first), -1, np.int64)
        reasons: list[str] = []
        shape = self._simple(told, len(first), queue, packed=not terms.most_node)
        asked = {}
        for place in np.flatnonzero(shape < 0).tolist():
            try:
                key, request, reason = self._ask({name: column[place] for name, column in told.items()}, queue)
            except InputError as error:
                job = int(batch.column("job_id")[rows[first[place]]])
                raise InputError(
                    f"job {job}: {error.what}", value=error.value, file=batch.source or None, choices=error.choices
                ) from None
            if reason is None and terms.most_node:
                reason = self._find_excess(request, queue, terms.most_node)
            if reason is None:
                asked[place] = key, request
                continue
            if reason not in reasons:
                reasons.append(reason)
            why[place] = reasons.index(reason)
        sets = self._find_sets([key for key, _ in asked.values()])
        for place, (key, request) in asked.items():
            shape[place] = self.ledger.intern(request, sets[key])
        return shape[group], reasons, why[group] if reasons else np.broadcast_to(np.int64(-1), len(group))

    def _simple(self, told: dict[str, list[Any]], count: int, queue: int, *, packed: bool) -> Array:
        """The shapes of requests for cores and nodes alone, and for cores and memory of one node, which are most of
        those of a trace; -1 for others, and where the queue could not serve it."""
        none = [-1] * count
        shape = [told.get(name, none) for name in SHAPE]
        asks = {name: _asking(values) for name, values in told.items() if name not in SHAPE}
        more = np.zeros(count, np.bool_)
        for asked in asks.values():
            more |= asked
        node_set = self.ledger.add_set(self._find_nodes(queue, ""))
        made = np.full(count, -1, np.int64)
        for index in np.flatnonzero(~more).tolist():
            made[index] = self.ledger.intern_plain(shape[0][index], shape[1][index], shape[2][index], node_set)
        if "memory" not in asks or self.layout.whole or self.layout.resources()[:2] != ["cores", "memory"]:
            return made
        if not packed or not self.ledger.place.plain:
            return made
        alone = asks["memory"] & (np.array(shape[1]) == 1) & (np.array(shape[2]) <= 0)
        for name, asked in asks.items():
            if name != "memory":
                alone &= ~asked
        for name in ("memory_per_node", "memory_per_core"):  # none of it, too, goes before `memory`
            if name in told:
                alone &= np.array(told[name]) < 0
        cores, memory = np.array(shape[0], np.int64), np.array(told["memory"], np.int64)
        fits = np.zeros(count, np.bool_)
        for row in self._stock((queue, "")).rows:
            fits |= (cores <= row[0]) & (memory <= row[1])
        small = np.flatnonzero(alone & fits)
        made[small] = self.ledger.intern_packed(cores[small], memory[small], node_set)
        return made

    def _ask(self, told: dict[str, Any], queue: int) -> tuple[Key, NodeRequest, str | None]:
        """What is asked for of which nodes, and why it can never be had, where it cannot."""
        constraint = told.pop("constraint", "")
        key = (queue, constraint)
        stock, answers = self._stock(key), self.layout.answers
        named = self.names[queue] if queue >= 0 and self.masks[queue] is not None else None
        asked = (self._about(key), named, *told.items())
        if asked not in answers:
            request = make_request(stock, **told)
            answer = request, refusal(stock, request, named, constraint or None)
            if len(answers) < MANY:
                answers[asked] = answer
        else:
            answer = answers[asked]
        request, reason = answer
        if request.parts and not self.ledger.place.plain:
            raise InputError(
                "nodes that differ cannot be asked for where it matters which they are", value=told["parts"]
            )
        return key, request, reason

    def _find_excess(self, request: NodeRequest, queue: int, most: int) -> str | None:
        """Why a request that wants more memory on a node than it may have is refused; None for another."""
        kinds = self.layout.resources()
        if "memory" not in kinds:
            return None
        each = request.parts[0][1] if request.parts else request.each
        if each[kinds.index("memory")] <= most:
            return None
        whose = "the cluster" if queue < 0 else f"queue {self.names[queue]}"
        return f"more memory on a node than {whose} gives"

    def _find_sets(self, keys: list[Key]) -> dict[Key, int]:
        """The ledger's numbers of the sets of nodes, the new ones in the order in which they are named."""
        new = [key for key in dict.fromkeys(keys) if key not in self._sets]
        self._sets |= zip(new, self.ledger.add_sets([self._nodes[key] for key in new]), strict=True)
        return self._sets

    def _stock(self, key: Key) -> Stock:
        """What the nodes of a queue with some properties have."""
        if key not in self._stocks:
            answers, asked = self.layout.answers, self._about(key)
            if asked not in answers:
                nodes = self._find_nodes(*key)
                answers[asked] = nodes, Stock.of(self.layout, nodes)
            self._nodes[key], self._stocks[key] = answers[asked]
        return self._stocks[key]

    def _about(self, key: Key) -> tuple[bytes | None, str]:
        """The same for all queues of the same nodes."""
        queue, constraint = key
        if queue not in self._outlines:
            mask = self.masks[queue] if queue >= 0 else None
            self._outlines[queue] = None if mask is None else mask.tobytes()
        return self._outlines[queue], constraint

    def _find_nodes(self, queue: int, constraint: str) -> Array:
        """The nodes of a queue with these properties."""
        mask = self.masks[queue] if queue >= 0 else None
        nodes = np.ones(self.layout.count, bool) if mask is None else mask
        return nodes & parse_constraint(self.layout, constraint) if constraint else nodes

    def nodes(self, shapes: Array) -> Array:
        """How many nodes jobs of these shapes ask for; 1 where they do not say."""
        return np.asarray(self.ledger.count_nodes(np.ascontiguousarray(shapes, np.int64)))


def _asking(values: list[Any]) -> Array:
    """Where something is asked for: a number above zero, or words."""
    if values and isinstance(values[0], str):
        return np.array([bool(text) for text in values])
    return np.array(values) > 0
