"""Factors and use at some renewals, few enough to keep: for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 200_000
"""Figures of each kind that are kept, about."""
INSTANTS = (50, 1000)
"""At least and at most so many instants."""

Series = dict[str, dict[str, list[tuple[int, float]]]]


class Samples:
    """What each node had at instants that are `spacing` apart; when they get too many every other one is dropped."""

    def __init__(self, spacing: int) -> None:
        self.spacing = max(spacing, 1)
        self.next = 0
        self.times: list[int] = []
        self.factors: list[Any] = []
        self.use: list[Any] = []

    def take(self, time: int, tree: Any) -> None:
        """Keep what the tree says at the time."""
        size = tree.size
        self.times.append(time)
        self.factors.append(np.array(tree.factor[:size]))
        self.use.append(np.array(tree.use[:size]))
        least, most = INSTANTS
        if len(self.times) > min(most, max(least, MOST // size)):
            self.times, self.factors, self.use = self.times[::2], self.factors[::2], self.use[::2]
            self.spacing *= 2
        self.next = max(self.times[-1], time - self.spacing + 1) + self.spacing

    def series(self, tree: Any, names: list[str]) -> Series:
        """`fair_share_factor` of each leaf and `usage` (core-seconds) of each node, from its first sample on."""
        leaves = [node for node in range(1, tree.size) if tree.charged[node] >= 0]
        factors, use = ([sample.tolist() for sample in samples] for samples in (self.factors, self.use))
        return {
            "fair_share_factor": {names[node]: self._of(node, factors) for node in leaves},
            "usage": {names[node]: self._of(node, use) for node in range(1, tree.size)},
        }

    def _of(self, node: int, values: list[list[float]]) -> list[tuple[int, float]]:
        return [
            (time, float(f"{sample[node]:.10g}"))
            for time, sample in zip(self.times, values, strict=True)
            if node < len(sample)
        ]
