"""Is every job on nodes that it may use, with everything it asked for, and no more than there is?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.audit.requests import Requests
from walltime.analysis.audit.sweep import usage_at_starts

Complaint = tuple[np.ndarray, str]
"""The allocations (by row) that are to blame, and what is wrong with them."""
_NAMES = {"gpus": "GPUs"}


@dataclass(frozen=True)
class HeldAllocations:
    """The allocations of a cluster: their jobs' rows, times and queues (numbers, -1: none), by row of allocation.

    `whole` is the allocation that tells all nodes of the job, of one that has given some of them back."""

    job: np.ndarray
    begin: np.ndarray
    stop: np.ndarray
    queue: np.ndarray
    whole: np.ndarray


def find_misused(
    requests: Requests, held: HeldAllocations, placed: Placements, rows: np.ndarray, *, ours: bool = True
) -> Iterator[Complaint]:
    """What is wrong with the allocations `rows` besides their cores, which are looked at elsewhere.

    How many nodes a job has that does not say is our own rule; where the schedule is not `ours`, it does not hold.
    """
    layout = requests.layout
    if layout is None or not requests.known or not len(rows):
        return
    there = placed.node < layout.count
    on = _Entries(requests, held, placed.of[there], placed.node[there], placed.cores[there])
    yield from on.find_strange_nodes()
    if ours:
        yield from _find_uneven(on, rows)
    for kind in requests.kinds:
        yield from on.find_crowded(kind)
    yield from on.find_company()
    yield from _find_licences(requests, held, rows)


class _Entries:
    """A row for each node of each allocation."""

    def __init__(
        self, requests: Requests, held: HeldAllocations, of: np.ndarray, node: np.ndarray, cores: np.ndarray
    ) -> None:
        self.requests, self.held, self.of, self.node, self.cores = requests, held, of, node, cores
        self.job = held.job[of]
        self.count = np.bincount(of, minlength=len(held.job))[held.whole]  # nodes that each was given
        self.nodes = self.count[of]
        self.shapeless = (requests.told[self.job] == 0) & ~requests.bound[self.job]

    def find_strange_nodes(self) -> Iterator[Complaint]:
        """Nodes that the job's queue does not have, or without the properties that it asked for."""
        for number, name in enumerate(self.requests.cluster.queues):
            mine = (self.held.queue[self.of] == number) & (self.requests.reservation[self.job] < 0)
            bad = mine & ~self.requests.queue_mask(number)[self.node]
            yield self.of[bad], f"is on a node that queue {name} does not have"
        constraint = self.requests.constraint[self.job]
        for code in np.unique(constraint[constraint >= 0]).tolist():
            bad = (constraint == code) & ~self.requests.constraint_mask(code)[self.node]
            text = self.requests.workload.label_names("constraint")[code]
            yield self.of[bad], f"is on a node without the properties {text}"

    def amount(self, kind: str) -> np.ndarray:
        """What each entry's job needs there."""
        whole = self.requests.share(kind, self.job, self.nodes)
        apart = self.cores * self.requests.with_a_core(kind, self.job)
        amount = np.where(self.shapeless, apart, whole)
        for index in np.flatnonzero(self.requests.parted[self.job]):
            amount[index] = self.requests.part_amount(kind, int(self.job[index]), int(self.cores[index]))
        return amount

    def find_crowded(self, kind: str) -> Iterator[Complaint]:
        """Nodes that have less than a job needs, or than all of their jobs need together."""
        layout = self.requests.layout
        if layout is None:
            return
        has, amount, name = layout.amounts(kind), self.amount(kind), _NAMES.get(kind, kind)
        alone = self.requests.alone[self.job]
        if kind != "cores":
            small = amount > has[self.node]
            yield self.of[small & ~(alone & self.shapeless)], f"is on a node that has less {name} than it needs"
            shared = np.where(alone, 0, amount)  # jobs that want nodes of their own are checked apart
            (used,) = usage_at_starts(self.held.begin[self.of], self.held.stop[self.of], self.node, shared)
            crowded = (used > has[self.node]) & ~alone & ~small
            yield self.of[crowded], f"is on a node where more {name} is in use than it has"
        elif "memory" in self.requests.kinds:
            yield from self._find_starved(has, layout.amounts("memory"))

    def _find_starved(self, cores: np.ndarray, memory: np.ndarray) -> Iterator[Complaint]:
        """Jobs without a shape on whole nodes, whose memory does not suffice for their cores."""
        each = self.requests.with_a_core("memory", self.job)
        offer = np.where(
            each > 0, np.minimum(cores[self.node], memory[self.node] // np.maximum(each, 1)), cores[self.node]
        )
        chosen = self.shapeless & self.requests.alone[self.job]
        sums = np.bincount(self.of[chosen], offer[chosen], len(self.held.job)).astype(np.int64)
        met = np.unique(self.of[chosen])
        short = sums[met] < self.requests.cores[self.held.job[met]]
        yield met[short], "has nodes with less memory than it needs"

    def find_company(self) -> Iterator[Complaint]:
        """Jobs beside one that has asked for nodes of its own."""
        alone = self.requests.exclusive[self.job]
        if not alone.any():
            return
        layout = self.requests.layout
        part = alone & (self.cores != (0 if layout is None else layout.cores()[self.node]))
        yield self.of[part], "has a part of a node, and asked for nodes of its own"
        places = np.flatnonzero(np.isin(self.node, np.unique(self.node[alone])))
        tenants = np.where(alone[places], len(self.of) + 1, 1)
        of = self.of[places]
        (used,) = usage_at_starts(self.held.begin[of], self.held.stop[of], self.node[places], tenants)
        company = used > np.where(alone[places], len(self.of) + 1, len(self.of))
        yield of[company], "shares a node with a job that asked for nodes of its own, or is that job"


def _find_uneven(on: _Entries, rows: np.ndarray) -> Iterator[Complaint]:
    """Jobs that want what nodes have, and tell no number of them: on more or fewer than needed, or not evenly."""
    requests, held = on.requests, on.held
    bound = rows[requests.bound[held.job[rows]]]
    if not len(bound):
        return
    for places, among in requests.by_set(held.job[bound], held.queue[bound]):
        fewest = requests.find_fewest(held.job[bound[places]], among)
        wrong = on.count[bound[places]] != fewest
        yield bound[places][wrong], "has another number of nodes than the fewest on which it fits"
    cores = requests.cores[on.job]
    uneven = (on.cores > -(-cores // on.nodes)) | (on.cores < cores // on.nodes)
    yield on.of[requests.bound[on.job] & ~requests.alone[on.job] & uneven], "is not divided evenly over its nodes"


def _find_licences(requests: Requests, held: HeldAllocations, rows: np.ndarray) -> Iterator[Complaint]:
    """Licences of which more are in use than there are."""
    has = {} if requests.layout is None else requests.layout.licences
    for name, amount in requests.licences.items():
        users = rows[amount[held.job[rows]] > 0]
        wanted = amount[held.job[users]]
        (used,) = usage_at_starts(held.begin[users], held.stop[users], np.zeros(len(users), np.int64), wanted)
        yield users[used > has.get(name, 0)], f"uses a licence of {name} beyond the {has.get(name, 0)} that there are"
