"""What a queue makes of its jobs' requests: nodes of their own, memory for those that say nothing of it, more cores for
those that ask for more memory with a core than there is to have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from walltime.cluster.nodes import UNCOUNTED
from walltime.scenario import Cluster
from walltime.scenario.rules import Queue
from walltime.scenario.values import ALL, read_share

Array = np.ndarray[Any, Any]
MEMORY = ("memory", "memory_per_node", "memory_per_core")


@dataclass(frozen=True)
class Terms:
    """The terms of a queue, or of a cluster without queues; bytes, 0 where nothing is said."""

    whole: bool = False
    """Its jobs have nodes of their own."""
    core: int = 0
    """What a job that says nothing of memory has with each core,"""
    node: int = 0
    """or on each of its nodes,"""
    alone: bool = False
    """or that it has nodes of its own."""
    most_core: int = 0
    """The most with a core; more cores come with more."""
    most_node: int = 0
    """The most on a node."""

    @property
    def fills(self) -> bool:
        """Whether jobs that say nothing of memory have some."""
        return bool(self.core or self.node)

    def within(self, first: Terms) -> Terms:
        """For a job that may be in several queues: what it has of memory is told by the first, whichever it is in."""
        return replace(first, whole=self.whole, most_node=self.most_node)

    def ask(self, told: Mapping[str, Any], count: int) -> dict[str, Any]:
        """The columns of so many requests, as they are asked for on these terms."""
        asked = dict(told)
        if self.whole or self.alone:
            alone = np.ones(count, np.bool_) if self.whole else _are_silent(told, count)
            asked["exclusive"] = np.where(alone, 1, np.asarray(told.get("exclusive", 0))).tolist()
        return asked | {name: column.tolist() for name, column in self.fill(told, count).items()}

    def fill(self, told: Mapping[str, Any], count: int) -> dict[str, Array]:
        """The column of memory in which jobs have some that say nothing of it; none, where nothing is to be added."""
        if not self.fills:
            return {}
        name = "memory_per_core" if self.core else "memory_per_node"
        usual = self.core or self.node
        return {name: np.where(_are_silent(told, count), usual, np.asarray(told.get(name, -1)))}

    def grow(self, told: Mapping[str, Array], count: int) -> dict[str, Array]:
        """The columns in which jobs have more cores because of their memory, and those of their memory."""
        told = {**told, **self.fill(told, count)}
        cores, nodes, each, total, per_node, per_core = (
            np.asarray(told.get(name, np.full(count, -1))) for name in ("cores", "nodes", "cores_per_node", *MEMORY)
        )
        shaped = np.where(nodes > 0, nodes, np.where(each > 0, -(-cores // np.maximum(each, 1)), 1))
        on_a_node = -(-cores // shaped)
        with_a_core = np.where(per_core > 0, per_core, -(-np.maximum(total, 0) // np.maximum(cores, 1)))
        times = np.maximum(-(-with_a_core // self.most_core), 1)
        needed = -(-np.maximum(per_node, 0) // self.most_core)
        times = np.where(per_node > 0, np.maximum(-(-needed // np.maximum(on_a_node, 1)), 1), times)
        times = np.where((np.asarray(told.get("parts", np.full(count, -1))) >= 0) | (cores < 1), 1, times)
        free = (per_node > 0) & (nodes <= 0) & (each <= 0)  # it has as many as it needs, wherever that is
        grown = np.where(free & (times > 1), needed, cores * times)
        less = np.where((per_node <= 0) & (per_core > 0) & (times > 1), -(-per_core // times), per_core)
        columns = {"cores": grown, "cores_per_node": np.where(each > 0, each * times, each), "memory_per_core": less}
        return columns | ({"memory_per_node": per_node} if self.node else {})


def _are_silent(told: Mapping[str, Any], count: int) -> Array:
    """Which of so many requests say nothing of memory; nothing is said by asking for none, too."""
    silent = np.ones(count, np.bool_)
    for name in MEMORY:
        if name in told:
            silent &= np.asarray(told[name]) <= 0
    return silent


USUAL = Terms()


def find_terms(cluster: Cluster) -> tuple[list[Terms], Terms]:
    """Those of each queue, and those of jobs that are in none."""
    return [_read_terms(cluster, queue) for queue in cluster.queues.values()], _read_terms(cluster, None)


def _read_terms(cluster: Cluster, queue: Queue | None) -> Terms:
    layout = cluster.layout()
    usual, most = (
        getattr(cluster, key) if queue is None or getattr(queue, key) is None else getattr(queue, key)
        for key in ("default_memory", "max_memory")
    )
    terms = Terms(whole=queue is not None and queue.sharing == "whole")
    if layout is None:
        return terms
    if most is not None:
        size, per = read_share(most)
        terms = replace(terms, most_core=size) if per == "core" else replace(terms, most_node=size)
    if usual == ALL:
        nodes = slice(None) if queue is None or queue.nodes is None else layout.select(queue.nodes)
        amounts = np.unique(layout.amounts("memory")[nodes])
        if len(amounts) > 1:  # others could have what is left of a larger node
            return replace(terms, alone=True)
        return replace(terms, node=int(amounts[0])) if amounts[0] < UNCOUNTED else terms
    if usual is not None:
        size, per = read_share(usual)
        terms = replace(terms, core=size) if per == "core" else replace(terms, node=size)
    return terms
