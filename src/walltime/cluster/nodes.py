"""The nodes of a cluster as plain data: groups of equal nodes, and the arrays that a ledger is made from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.errors import InputError

FULL_SPEED = 1_000_000
"""Speed 1.0 in millionths, the unit in which the engine counts it."""
MOST_NODES = 1 << 19
MOST_CORES = 1 << 24
MOST_LEVELS = 1 << 33
"""Nodes times cores of the largest: what the index of free nodes takes in bits."""
SHARED, WHOLE = "shared", "whole"


@dataclass(frozen=True)
class NodeGroup:
    """Equal nodes; `speed` is relative to the machine that the workload's run times are from."""

    count: int
    cores: int
    speed: float = 1.0
    name: str = "n"


@dataclass(frozen=True)
class Layout:
    """All nodes of a cluster, numbered from 0 in the order of their groups."""

    groups: tuple[NodeGroup, ...]
    sharing: str = SHARED

    def __post_init__(self) -> None:
        largest = max(group.cores for group in self.groups)
        if self.count >= MOST_NODES or largest >= MOST_CORES or self.count * largest >= MOST_LEVELS:
            raise InputError(f"too many nodes, or too large ones: {self.count} nodes of up to {largest} cores")

    @property
    def count(self) -> int:
        """How many nodes."""
        return sum(group.count for group in self.groups)

    @property
    def total_cores(self) -> int:
        return sum(group.count * group.cores for group in self.groups)

    @property
    def whole(self) -> bool:
        """Whether a node is given to one job at a time."""
        return self.sharing == WHOLE

    def cores(self) -> np.ndarray[Any, Any]:
        """Cores by node."""
        return np.repeat([group.cores for group in self.groups], [group.count for group in self.groups]).astype(
            np.int64
        )

    def pace(self) -> np.ndarray[Any, Any]:
        """Speed by node, in millionths."""
        speeds = [round(group.speed * FULL_SPEED) for group in self.groups]
        return np.repeat(speeds, [group.count for group in self.groups]).astype(np.int64)

    def names(self) -> list[str]:
        """Names by node: the group's prefix and a number, counted for each prefix from 0."""
        met: Counter[str] = Counter()
        names = []
        for group in self.groups:
            names += [f"{group.name}{number}" for number in range(met[group.name], met[group.name] + group.count)]
            met[group.name] += group.count
        return names

    def facts(self) -> dict[str, Any]:
        """What a record says of the nodes: runs of equal ones as [count, cores], and how they are shared."""
        runs: list[list[int]] = []
        for group in self.groups:
            if runs and runs[-1][1] == group.cores:
                runs[-1][0] += group.count
            else:
                runs.append([group.count, group.cores])
        return {"cores": runs, "sharing": self.sharing}


def expand(runs: list[list[int]]) -> np.ndarray[Any, Any]:
    """Cores by node, from the runs of `Layout.facts`."""
    return np.repeat([cores for _, cores in runs], [count for count, _ in runs]).astype(np.int64)
