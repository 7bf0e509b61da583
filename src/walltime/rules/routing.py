"""The way into a cluster's queues: the queue that a job names, else the first route that takes it, else the default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.rules.accounts import Charges
from walltime.rules.matching import match_label, match_people, match_size
from walltime.scenario import Cluster
from walltime.scenario.rules import Route

Array = np.ndarray[Any, Any]
NOWHERE = -1


@dataclass(frozen=True)
class Entrance:
    """Where the rows of a batch go."""

    named: list[tuple[int, ...] | None]
    """For each label of the batch the queues that it names; None if not all are the cluster's."""
    known: Array
    """Rows with a label that names queues of the cluster."""
    to: Array
    """For every other row the queue that a route or the default gives it, or `NOWHERE`."""


class Router:
    """The queues of one cluster as labels name them, and its routes."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.queues = list(cluster.queues.values())
        self.number = {name: number for number, name in enumerate(cluster.queues)}
        self.default = next((number for number, queue in enumerate(self.queues) if queue.default), NOWHERE)

    def name(self, label: str) -> tuple[int, ...] | None:
        """The queues that a label names, the preferred one first; None if one of them is not the cluster's."""
        names = [label] if label in self.number else [name.strip() for name in label.split(",")]
        if not all(name in self.number for name in names):
            return None
        numbers = {self.number[name] for name in names}
        return tuple(sorted(numbers, key=lambda number: (-self.queues[number].priority, number)))

    def enter(self, batch: Workload, charges: Charges) -> Entrance:
        """Where each row goes."""
        named = [self.name(label) for label in batch.label_names("queue")]
        known = np.array([*(found is not None for found in named), False])[batch.column("queue")]
        to = np.full(len(batch), NOWHERE, np.int64)
        left = ~known
        for route in self.cluster.routes:
            rows = left & _match_route(route, batch, charges)
            to[rows] = self.number[route.queue]
            left &= ~rows
        to[left] = self.default
        return Entrance(named, known, to)

    def refuse_strangers(self, batch: Workload, entry: Entrance) -> None:
        """Raise InputError for a row that names a queue which the cluster lacks, and that goes nowhere."""
        code = batch.column("queue")
        rows = ~entry.known & (entry.to == NOWHERE) & (code >= 0)
        if rows.any():
            raise InputError(
                "jobs name a queue that the cluster does not have, and no route takes them",
                value=batch.label_names("queue")[int(code[int(np.argmax(rows))])],
                file=batch.source or None,
                choices=list(self.number),
            )


def _match_route(route: Route, batch: Workload, charges: Charges) -> Array:
    mask = match_size(route, batch) & match_people(route, batch, charges)
    return mask & match_label(batch, "queue", route.named) if route.named is not None else mask
