"""The failures of a cluster one after the other: nodes go down, come back, and may be drained before."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.cluster.failures import renewals
from walltime.core.time import NEVER, microseconds
from walltime.scenario import Cluster, Failures
from walltime.scenario.outages import failing_groups, told_failures

Array = np.ndarray[Any, Any]
UP, DOWN, NOTICE = range(3)
"""What happens, in its order at one instant."""


@dataclass(frozen=True)
class FailureEvent:
    """A group of nodes that fails together goes down, comes back, or is to go down; `end` is when it comes back."""

    time: int
    what: int
    source: int
    group: int
    end: int
    nodes: Array
    noticed: bool
    """Whether its nodes were drained before."""

    @property
    def key(self) -> tuple[int, int]:
        """The group, by its source and its number there."""
        return self.source, self.group


class FailureCalendar:
    """What a cluster's sources of failures have in store. A failure is known from the return before it on."""

    def __init__(self, cluster: Cluster, seed: int, name: str = "") -> None:
        """`name` tells its draws from those of others, where there are several clusters."""
        self.sources = cluster.failures
        self.groups: list[list[Array]] = []
        self.finite = 0
        """How many failures last or are to come, of sources that do not go on for ever."""
        self._futures: dict[tuple[int, int], Iterator[tuple[int, int]]] = {}
        self._noticed: set[tuple[int, int]] = set()
        self._heap: list[tuple[int, int, int, int, int]] = []  # time, what, source, group, end
        for number, source in enumerate(self.sources):
            self._prepare(number, source, cluster, seed, name)

    @property
    def next(self) -> int:
        """When the next thing happens; NEVER for nothing."""
        return self._heap[0][0] if self._heap else NEVER

    def peek(self) -> tuple[int, int]:
        """When the next thing happens, and what."""
        return self._heap[0][:2] if self._heap else (NEVER, UP)

    def pop(self) -> FailureEvent:
        """The next thing, which happens now."""
        time, what, number, group, end = heapq.heappop(self._heap)
        key = (number, group)
        noticed = what == DOWN and key in self._noticed
        if what == NOTICE:
            self._noticed.add(key)
        elif what == DOWN:
            self._noticed.discard(key)
            heapq.heappush(self._heap, (end, UP, number, group, end))
        elif key in self._futures:
            self._expect(number, group, *next(self._futures[key]), time)
        else:
            self.finite -= 1
        return FailureEvent(time, what, number, group, end, self.groups[number][group], noticed)

    def _prepare(self, number: int, source: Failures, cluster: Cluster, seed: int, name: str) -> None:
        told = told_failures(source, cluster)
        if source.file is not None:
            self.groups.append([nodes for _, _, nodes in told])
        else:
            self.groups.append(failing_groups(source, cluster))
        for group, (start, end, _) in enumerate(told):
            self._expect(number, group, start, end, 0)
        if source.at is not None and source.length is not None:
            start = microseconds(source.at)
            self._expect(number, 0, start, start + microseconds(source.length), 0)
        elif source.between is not None and source.repair is not None:
            for group, nodes in enumerate(self.groups[-1]):
                future = renewals(seed, number, int(nodes[0]), source.between, source.repair, name)
                self._futures[number, group] = future
                self._expect(number, group, *next(future), 0)

    def _expect(self, number: int, group: int, start: int, end: int, after: int) -> None:
        self.finite += (number, group) not in self._futures
        told = max(start - microseconds(self.sources[number].notice), after)
        if told < start:
            heapq.heappush(self._heap, (told, NOTICE, number, group, end))
        heapq.heappush(self._heap, (start, DOWN, number, group, end))
