"""The nodes of a cluster as plain data: groups of equal nodes, and the arrays that a ledger is made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from walltime.cluster import hostlist
from walltime.core.errors import InputError
from walltime.core.time import microseconds

FULL_SPEED = 1_000_000
"""Speed 1.0 in millionths, the unit in which the engine counts it."""
MOST_NODES = 1 << 19
MOST_CORES = 1 << 24
MOST_LEVELS = 1 << 33
"""Nodes times cores of the largest: what the index of free nodes takes in bits."""
UNCOUNTED = 1 << 60
"""Memory of a node whose memory is not told."""
SHARED, WHOLE = "shared", "whole"


@dataclass(frozen=True)
class NodeGroup:
    """Equal nodes; `speed` is relative to the machine that the workload's run times are from.

    `max_load` and what follows it are for nodes whose time is shared, the durations in seconds.
    """

    count: int
    cores: int
    speed: float = 1.0
    name: str = "n"
    memory: int | None = None
    gpus: int = 0
    resources: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] | None = None
    per_switch: int | None = None
    max_load: int = 1
    quantum: float | None = None
    switch_cost: float | None = None
    sync_delay: float | None = None

    @property
    def slots(self) -> int:
        """What each node offers to jobs as cores: more than it has, where its time is shared."""
        return self.cores * self.max_load

    @property
    def own_names(self) -> list[str] | None:
        """The nodes' names where the group's own spells them out, as `cn[001-028]`, `a,b` and `login,` do."""
        return hostlist.expand(self.name) if "[" in self.name or "," in self.name else None

    def amount(self, resource: str) -> int:
        """What each node has of a resource; memory that is not given never runs out."""
        if resource == "cores":
            return self.slots
        if resource == "memory":
            return UNCOUNTED if self.memory is None else self.memory
        return self.gpus if resource == "gpus" else self.resources.get(resource, 0)


@dataclass(frozen=True)
class Layout:
    """All nodes of a cluster, numbered from 0 in the order of their groups."""

    groups: tuple[NodeGroup, ...]
    sharing: str = SHARED
    licences: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        largest = max(group.slots for group in self.groups)
        if self.count >= MOST_NODES or largest >= MOST_CORES or self.count * largest >= MOST_LEVELS:
            raise InputError(f"too many nodes, or too large ones: {self.count} nodes of up to {largest} cores")
        for group in self.groups:
            if (own := group.own_names) is not None and len(own) != group.count:
                raise InputError(f"{group.count} nodes, but {len(own)} names in {group.name}")

    @property
    def count(self) -> int:
        """How many nodes."""
        return sum(group.count for group in self.groups)

    @property
    def total_cores(self) -> int:
        return sum(group.count * group.slots for group in self.groups)

    @property
    def whole(self) -> bool:
        """Whether a node is given to one job at a time."""
        return self.sharing == WHOLE

    def cores(self) -> np.ndarray[Any, Any]:
        """Cores by node, each as often as it is offered to jobs."""
        return self.amounts("cores")

    def processors(self) -> np.ndarray[Any, Any]:
        """Cores that each node really has."""
        return self._by_node([group.cores for group in self.groups]).astype(np.int64)

    def durations(self, name: str, default: float) -> np.ndarray[Any, Any]:
        """`quantum`, `switch_cost` or `sync_delay` of each node in microseconds; the default where it tells none."""
        told = [getattr(group, name) for group in self.groups]
        return self._by_node([microseconds(default if value is None else value) for value in told]).astype(np.int64)

    def _by_node(self, values: list[Any]) -> np.ndarray[Any, Any]:
        """A value of each group, for each of its nodes."""
        return np.repeat(values, [group.count for group in self.groups])

    def pace(self) -> np.ndarray[Any, Any]:
        """Speed by node, in millionths."""
        return self._by_node([round(group.speed * FULL_SPEED) for group in self.groups]).astype(np.int64)

    def resources(self) -> list[str]:
        """What is counted on the nodes: cores always; memory, GPUs and the rest where some node has it."""
        names = ["cores"]
        if any(group.memory is not None for group in self.groups):
            names.append("memory")
        if any(group.gpus for group in self.groups):
            names.append("gpus")
        return names + list(dict.fromkeys(name for group in self.groups for name in group.resources))

    def amounts(self, resource: str) -> np.ndarray[Any, Any]:
        """What each node has of a resource."""
        return self._by_node([group.amount(resource) for group in self.groups]).astype(np.int64)

    def features(self) -> list[str]:
        """Every property that some node has, in order of appearance."""
        return list(dict.fromkeys(name for group in self.groups for name in group.features or ()))

    def with_feature(self, feature: str) -> np.ndarray[Any, Any]:
        """Which nodes have the property."""
        return self._by_node([feature in (group.features or ()) for group in self.groups])

    def with_property(self, name: str) -> np.ndarray[Any, Any]:
        """Which nodes have the property: a feature, or a name of theirs or of their group (`c[001-004]`)."""
        if name in self._features:
            return self.with_feature(name)
        try:
            return self._find(name)
        except InputError:
            return np.zeros(self.count, bool)

    @cached_property
    def _features(self) -> frozenset[str]:
        return frozenset(self.features())

    @cached_property
    def table(self) -> np.ndarray[Any, Any]:
        """What each node has, by the order of `resources`; to be read only."""
        made = np.stack([self.amounts(name) for name in self.resources()], axis=1)
        made.flags.writeable = False
        return made

    def switches(self) -> np.ndarray[Any, Any]:
        """The switch of each node; nodes of a group that tells none share one."""
        numbers: list[np.ndarray[Any, Any]] = []
        next_switch = 0
        for group in self.groups:
            switch = np.arange(group.count) // (group.per_switch or group.count) + next_switch
            numbers.append(switch)
            next_switch = int(switch[-1]) + 1
        return np.concatenate(numbers)

    @property
    def plain(self) -> bool:
        """Whether cores are all that is counted."""
        return self.resources() == ["cores"] and not self.licences

    def select(self, patterns: Iterable[str]) -> np.ndarray[Any, Any]:
        """Which nodes the patterns name: a group, a node, or a range such as `n[0-3,8]`; raises InputError."""
        chosen = np.zeros(self.count, bool)
        for pattern in patterns:
            chosen |= self._find(pattern)
        return chosen

    def _find(self, pattern: str) -> np.ndarray[Any, Any]:
        """Which nodes the pattern names. It is looked up once: many simulations of the same nodes ask for the same."""
        if pattern in self._found:
            return self._found[pattern]
        place, prefix = self._places
        found = np.asarray(prefix == pattern)
        for name in hostlist.expand(pattern) if "[" in pattern else [pattern]:
            if name in place:
                found[place[name]] = True
            elif not found.any() or "[" in pattern:
                choices = list(dict.fromkeys(group.name for group in self.groups))
                raise InputError("no node or group of nodes has the name", value=name, choices=choices)
        found.flags.writeable = False
        self._found[pattern] = found
        return found

    @cached_property
    def _found(self) -> dict[str, np.ndarray[Any, Any]]:
        """The nodes that each pattern names, of those that were asked for."""
        return {}

    @cached_property
    def answers(self) -> dict[Any, Any]:
        """What others have worked out of these nodes alone, by what they asked; to be read only. As many runs on the
        same nodes ask the same."""
        return {}

    @cached_property
    def _places(self) -> tuple[dict[str, int], np.ndarray[Any, Any]]:
        """The number of each node by its name, and the name of each node's group."""
        return {name: number for number, name in enumerate(self._names)}, self._by_node([g.name for g in self.groups])

    def names(self) -> list[str]:
        """Names by node: those that the group's name spells out (`cn[001-028]`), or else the group's name and a number,
        counted for each name from 0."""
        return self._names.copy()

    @cached_property
    def _names(self) -> list[str]:
        met: Counter[str] = Counter()
        names = []
        for group in self.groups:
            if (own := group.own_names) is not None:
                names += own
                continue
            names += [f"{group.name}{number}" for number in range(met[group.name], met[group.name] + group.count)]
            met[group.name] += group.count
        return names

    def facts(self) -> dict[str, Any]:
        """What a record says of the nodes: runs of equal ones as [count, cores], and how they are shared. Where a core
        does not do a second's work in each second: the slowest and the fastest `speeds`, and the mean `rate` of all
        places that jobs may have."""
        runs: list[list[int]] = []
        for group in self.groups:
            if runs and runs[-1][1] == group.slots:
                runs[-1][0] += group.count
            else:
                runs.append([group.count, group.slots])
        facts: dict[str, Any] = {"cores": runs, "sharing": self.sharing}
        speeds = [round(group.speed, 6) for group in self.groups]
        if any(group.speed != 1 or group.slots != group.cores for group in self.groups):
            work = sum(group.count * group.cores * group.speed for group in self.groups)
            places = sum(group.count * group.slots for group in self.groups)
            facts |= {"speeds": [min(speeds), max(speeds)], "rate": work / places}
        return facts


def expand(runs: list[list[int]]) -> np.ndarray[Any, Any]:
    """Cores by node, from the runs of `Layout.facts`."""
    return np.repeat([cores for _, cores in runs], [count for count, _ in runs]).astype(np.int64)
