"""From a workload's columns to the shapes that a ledger of resources knows: equal requests are looked at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.cluster.nodes import Layout
from walltime.cluster.requests import make_request, parse_constraint, refusal
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.kernel.resources import ResourceLedger

Array = np.ndarray[Any, Any]
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
TEXTS = ("resources", "licences", "constraint")


class RequestBook:
    """Shapes for the jobs of a cluster; `masks` are the nodes of its queues (None: all), `names` their names."""

    def __init__(self, layout: Layout, ledger: ResourceLedger, masks: list[Array | None], names: list[str]) -> None:
        self.layout = layout
        self.ledger = ledger
        self.masks = masks
        self.names = names
        self.counts: list[int] = []

    def shapes(self, batch: Workload, rows: Array, queue: int) -> tuple[Array, list[str], Array]:
        """For rows of a batch, as jobs of a queue (-1: of none): shape numbers, reasons, and the reason of each row
        that can never run (-1: it can); raises InputError."""
        present = [name for name in (*NUMBERS, *TEXTS) if batch.has(name)]
        if "cores" not in present:
            present.append("cores")
        columns = [batch.column(name)[rows] for name in present]
        group = np.zeros(len(rows), np.int64)
        for column in columns:
            _, codes = np.unique(column, return_inverse=True)
            _, group = np.unique(group * (int(codes.max(initial=0)) + 1) + codes, return_inverse=True)
        first = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
        first[group] = np.arange(len(rows))
        shape = np.empty(len(first), np.int64)
        why = np.full(len(first), -1, np.int64)
        reasons: list[str] = []
        for place, row in enumerate(first.tolist()):
            told: dict[str, Any] = {}
            for name, column in zip(present, columns, strict=True):
                code = int(column[row])
                told[name] = code if name in NUMBERS else batch.label_names(name)[code] if code >= 0 else ""
            try:
                shape[place], reason = self.shape_of(told, queue)
            except InputError as error:
                job = int(batch.column("job_id")[rows[row]])
                raise InputError(
                    f"job {job}: {error.what}", value=error.value, file=batch.source or None, choices=error.choices
                ) from None
            if reason is not None:
                if reason not in reasons:
                    reasons.append(reason)
                why[place] = reasons.index(reason)
        return shape[group], reasons, why[group]

    def shape_of(self, told: dict[str, Any], queue: int) -> tuple[int, str | None]:
        """The shape of one request, and why it can never run, where it cannot."""
        constraint = told.pop("constraint", "")
        mask = self.masks[queue] if queue >= 0 else None
        nodes = np.ones(self.layout.count, bool) if mask is None else mask
        if constraint:
            nodes = nodes & parse_constraint(self.layout, constraint)
        request = make_request(self.layout, nodes, **told)
        reason = refusal(
            self.layout,
            nodes,
            request,
            self.names[queue] if queue >= 0 and mask is not None else None,
            constraint or None,
        )
        if reason is not None:
            return -1, reason
        shape = self.ledger.intern(request, self.ledger.add_set(nodes))
        self.counts += [1] * (shape + 1 - len(self.counts))
        self.counts[shape] = max(request.nodes, 1)
        return shape, None

    def nodes(self, shapes: Array) -> Array:
        """How many nodes jobs of these shapes ask for; 1 where they do not say."""
        return np.array([*self.counts, 1], np.int64)[shapes]
