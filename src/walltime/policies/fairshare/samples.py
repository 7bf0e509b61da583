"""Factors and use at some renewals, few enough to keep: for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST = 200_000
"""Figures of each kind that are kept, about."""
DIGITS = 10
"""Digits of a figure that are told."""
DOUBT = 1e-4
"""So near to the middle between two figures it is not taken for granted which one is nearer."""
POWERS = np.array([float(10**places) for places in range(23)])
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
        factors, use = tree.figures()
        self.factors.append(factors)
        self.use.append(use)
        least, most = INSTANTS
        if len(self.times) > min(most, max(least, MOST // size)):
            self.times, self.factors, self.use = self.times[::2], self.factors[::2], self.use[::2]
            self.spacing *= 2
        self.next = max(self.times[-1], time - self.spacing + 1) + self.spacing

    def series(self, tree: Any, names: list[str]) -> Series:
        """`fair_share_factor` of each leaf and `usage` (core-seconds) of each node, from its first sample on."""
        leaves = [node for node in range(1, tree.size) if tree.charged[node] >= 0]
        factors, use = (
            [round_to_digits(sample).tolist() for sample in samples] for samples in (self.factors, self.use)
        )
        return {
            "fair_share_factor": {names[node]: self._of(node, factors) for node in leaves},
            "usage": {names[node]: self._of(node, use) for node in range(1, tree.size)},
        }

    def _of(self, node: int, values: list[list[float]]) -> list[tuple[int, float]]:
        return [(time, sample[node]) for time, sample in zip(self.times, values, strict=True) if node < len(sample)]


def round_to_digits(values: Any) -> Any:
    """Each number as `float(f"{number:.10g}")` has it.

    Ten digits before the point are a whole number, and a power of ten up to 10**22 is one that a double has exactly: so
    the quotient or product of the two is what the decimal number is read as. Where the digits may have come out wrong,
    as near the middle between two of them, Python is asked.
    """
    with np.errstate(all="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(np.abs(values)))
        far = ~(np.abs(places) < len(POWERS))
        power = POWERS[np.where(far, 0, np.abs(places)).astype(np.int64)]
        scaled = np.where(places >= 0, values * power, values / power)
        whole = np.rint(scaled)
        rounded = np.where(places >= 0, whole / power, whole * power)
        known = ~far & (np.abs(scaled - np.floor(scaled) - 0.5) > DOUBT)
        known &= (np.abs(scaled) > POWERS[DIGITS - 1] + 1) & (np.abs(scaled) < POWERS[DIGITS] - 1)
    rounded = np.where(values == 0, values, rounded)
    for i in np.flatnonzero(~known & (values != 0)).tolist():
        rounded[i] = float(f"{values[i]:.{DIGITS}g}")
    return rounded
