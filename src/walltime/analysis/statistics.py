"""Sums, means and quantiles that are exact, or the same on every machine, and None where there is nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from walltime.core.time import SECOND


def exact_sum(values: np.ndarray) -> int:
    """The sum of 64-bit integers without rounding or overflow."""
    high = int(np.sum(values >> 32, dtype=np.int64))
    return (high << 32) + int(np.sum(values & 0xFFFFFFFF, dtype=np.int64))


def mean_seconds(times: np.ndarray) -> float | None:
    """The mean of microseconds, in seconds."""
    return exact_sum(times) / (len(times) * SECOND) if len(times) else None


def quantiles_seconds(times: np.ndarray, fractions: Sequence[float]) -> list[float | None]:
    """Quantiles of microseconds, in seconds, interpolated between neighbours (as NumPy and pandas do by default)."""
    return [None if value is None else value / SECOND for value in quantiles(times, fractions)]


def max_seconds(times: np.ndarray) -> float | None:
    """The largest of microseconds, in seconds."""
    return int(np.max(times)) / SECOND if len(times) else None


def mean(values: np.ndarray) -> float | None:
    """The arithmetic mean."""
    return float(np.mean(values)) if len(values) else None


def quantiles(values: np.ndarray, fractions: Sequence[float]) -> list[float | None]:
    """Quantiles, interpolated between neighbours; all at once, as the values are put in order for them."""
    return np.quantile(values, fractions).tolist() if len(values) else [None] * len(fractions)


def group_means(codes: np.ndarray, values: np.ndarray, groups: int) -> np.ndarray:
    """The mean of the values of each group, leaving out NaN; NaN for a group without values."""
    known = ~np.isnan(values)
    if not known.all():
        codes, values = codes[known], values[known]
    with np.errstate(invalid="ignore"):
        return np.bincount(codes, values, groups) / np.bincount(codes, minlength=groups)


@dataclass(frozen=True)
class Groups:
    """Values sorted within their groups, for quantiles."""

    values: np.ndarray
    first: np.ndarray
    count: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, values: np.ndarray, groups: int) -> Groups:
        """Group number `codes[i]` (below `groups`) gets `values[i]`; NaN values are left out."""
        known = ~np.isnan(values)
        codes, values = codes[known], values[known]
        order = np.lexsort((values, codes))
        count = np.bincount(codes, minlength=groups)
        return cls(values[order], np.cumsum(count) - count, count)

    def quantile(self, fraction: float) -> np.ndarray:
        """The interpolated quantile of each group, NaN for an empty one; fraction 1 is the maximum."""
        out = np.full(len(self.count), np.nan)
        full = self.count > 0
        position = (self.count[full] - 1) * fraction
        low = np.floor(position).astype(np.int64)
        high = np.minimum(low + 1, self.count[full] - 1)
        first = self.first[full]
        below, above = self.values[first + low], self.values[first + high]
        out[full] = below + (above - below) * (position - low)
        return out


def normal_cdf(value: float) -> float:
    """The probability that a standard normal variable is at most so large."""
    return math.erfc(-value / math.sqrt(2)) / 2


def student_probability(t: float, freedom: int) -> float:
    """How likely Student's t is at least so far from zero, on either side."""
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: int) -> float:
    """The quantile of Student's t for any probability: found by halving, to about twelve digits; above 200 degrees of
    freedom by its expansion about the normal one, to about six."""
    if probability < 0.5:
        return -student_quantile(1 - probability, freedom)
    if freedom > 200:
        z = NormalDist().inv_cdf(probability)
        first, second = z**3 + z, 5 * z**5 + 16 * z**3 + 3 * z
        return z + first / (4 * freedom) + second / (96 * freedom**2)
    low, high = 0.0, 1.0
    while _student_cdf(high, freedom) < probability and high < 1e12:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_cdf(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def _student_cdf(t: float, freedom: int) -> float:
    """The probability of at most t, for t that is not negative: an incomplete beta function."""
    x = freedom / (freedom + t * t)
    return 1 - 0.5 * _incomplete_beta(freedom / 2, 0.5, x)


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * d), 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
