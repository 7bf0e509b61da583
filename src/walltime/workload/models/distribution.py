"""Empirical distributions as ScSF has them: a histogram, its cumulated form, and a table from probabilities to values.

A bin k of width w holds the values in (k w, (k + 1) w]; zero is in the first. To draw, a uniform number finds its bin
in the cumulated histogram; the value is the bin's middle, its lower or upper edge, or a uniform one inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from walltime.core.errors import InputError

How = Literal["uniform", "middle", "low", "high"]


@dataclass(frozen=True)
class Histogram:
    """Counts by bin; only bins that hold something are listed, in order."""

    width: float
    bins: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, width: float) -> Histogram:
        """The histogram of values that are not negative."""
        number = np.maximum(np.ceil(np.asarray(values, np.float64) / width - 1e-9), 1).astype(np.int64) - 1
        bins, counts = np.unique(number, return_counts=True)
        return cls(width, bins, counts)

    @classmethod
    def from_pairs(cls, width: float, pairs: Sequence[Sequence[float]]) -> Histogram:
        """From [bin, count] pairs, as a model file lists them."""
        table = np.array(pairs, np.float64).reshape(-1, 2)
        return cls(width, table[:, 0].astype(np.int64), table[:, 1])

    def pairs(self) -> list[list[int]]:
        """[bin, count] pairs."""
        return [[int(place), int(count)] for place, count in zip(self.bins, self.counts, strict=True)]

    def draw(self, uniform: np.ndarray, how: How = "middle") -> np.ndarray:
        """A value for each uniform number in [0, 1); for `uniform` its place inside the bin is used again."""
        if how not in get_args(How):
            raise InputError("unknown way to draw from a bin", value=how, choices=get_args(How))
        cumulated = np.cumsum(self.counts, dtype=np.float64)
        target = np.asarray(uniform) * cumulated[-1]
        index = np.minimum(np.searchsorted(cumulated, target, side="right"), len(self.bins) - 1)
        inside = {"low": 0.0, "middle": 0.5, "high": 1.0}.get(how)
        if inside is None:
            before = cumulated[index] - self.counts[index]
            return np.asarray((self.bins[index] + (target - before) / self.counts[index]) * self.width)
        return np.asarray((self.bins[index] + inside) * self.width)


def gap_quantiles() -> np.ndarray:
    """The probabilities at which a model keeps gaps: evenly spaced, and closer where the long ones are."""
    return np.concatenate([np.linspace(0, 0.9, 37), 1 - 0.1 * np.geomspace(0.8, 0.001, 24), [1.0]])


def stratified(random: np.random.Generator, size: int) -> np.ndarray:
    """Uniform numbers in random order, one in each of `size` equal parts of [0, 1): marginals with little noise."""
    draws = (random.permutation(size) + random.random(size)) / max(size, 1)
    return np.minimum(draws, np.nextafter(1.0, 0.0))
