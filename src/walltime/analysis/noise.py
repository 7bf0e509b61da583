"""Intervals over repetitions: Student's t, Fieller's ratio of means, the bootstrap, Holm's correction, and power.

A repetition is a whole run under another seed, or a week of one trace; never a job, because jobs that follow one
another share their fate. Two scenarios are compared repetition by repetition under common random numbers, so that the
spread that both share cancels out (A. M. Law, "Simulation Modeling and Analysis", chapter 11).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from walltime.analysis.statistics import normal_cdf, student_probability, student_quantile
from walltime.core.errors import InputError

CONFIDENCE = 0.95
POWER = 0.8
"""The chance with which a difference of the told size would have been found."""
LEAST_BOOTSTRAP = 10
"""Below so many repetitions the bootstrap's intervals are too narrow, and none is given."""
MOST_BOOTSTRAP = 1000
"""Above so many it would say what Student's t says."""
DRAWS = 4000
MOST_REPETITIONS = 1_000_000


@dataclass(frozen=True)
class Interval:
    """The mean of some repetitions, their standard deviation, and the 95 % confidence interval of the mean.

    One repetition has no deviation and no interval (None); the values are never NaN.
    """

    mean: float
    deviation: float | None
    low: float | None
    high: float | None
    count: int

    @property
    def excludes_zero(self) -> bool:
        """Whether zero is outside the interval."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def is_within(self, margin: float) -> bool:
        """Whether the whole interval is between -margin and +margin."""
        return self.low is not None and self.high is not None and -margin < self.low and self.high < margin


def estimate(values: Sequence[float] | np.ndarray, confidence: float = CONFIDENCE) -> Interval:
    """Mean, standard deviation and t-interval of repetitions; raises InputError for none."""
    if not len(values):
        raise InputError("no repetition has a value")
    given = np.asarray(values, np.float64)
    average = float(np.mean(given))
    if len(given) == 1:
        return Interval(average, None, None, None, 1)
    deviation = float(np.std(given, ddof=1))
    half = student_quantile((1 + confidence) / 2, len(given) - 1) * deviation / math.sqrt(len(given))
    return Interval(average, deviation, average - half, average + half, len(given))


def estimate_ratio(values: np.ndarray, base: np.ndarray, confidence: float = CONFIDENCE) -> Interval | None:
    """The ratio of two means, less one, with Fieller's interval, paired: -0.12 is 12 % less than the base.

    It holds every ratio r for which the mean of `values - r * base` may be zero by a t-test, so it excludes zero
    exactly where the t-interval of the difference does. None where the base's mean may itself be zero, so that no
    percentage can be told (E. C. Fieller, "Some problems in interval estimation", J. R. Statist. Soc. B 16, 1954).
    """
    count, top, bottom = len(values), float(np.mean(values)), float(np.mean(base))
    if not bottom:
        return None
    ratio = top / bottom
    if count < 2:
        return Interval((top - bottom) / abs(bottom), None, None, None, count)
    deviation = float(np.std((values - ratio * base) / bottom, ddof=1))
    square = student_quantile((1 + confidence) / 2, count - 1) ** 2 / count
    (own, shared), (_, theirs) = np.cov(values, base).tolist()
    a, b, c = bottom**2 - square * theirs, top * bottom - square * shared, top**2 - square * own
    if a <= 0:
        return None
    root = math.sqrt(max(0.0, b * b - a * c))
    sign = 1.0 if bottom > 0 else -1.0
    low, high = sorted((sign * ((b - root) / a - 1), sign * ((b + root) / a - 1)))
    return Interval(sign * (ratio - 1), deviation, low, high, count)


def bootstrap(values: np.ndarray, base: np.ndarray, confidence: float = CONFIDENCE) -> tuple[Interval, Interval | None]:
    """The difference and the ratio of the means (less one) with bootstrap intervals: pairs are drawn with replacement.

    The percentiles are widened as Student's t is wider than the normal distribution (T. Hesterberg, "What teachers
    should know about the bootstrap", The American Statistician 69, 2015). The draws have a fixed seed.
    """
    count = len(values)
    weights = _draw(count)
    tops, bottoms = weights @ values, weights @ base
    quantile = student_quantile((1 + confidence) / 2, count - 1)
    tail = normal_cdf(-math.sqrt(count / (count - 1)) * quantile)
    top, bottom = float(values.mean()), float(base.mean())
    difference = _percentiles(top - bottom, tops - bottoms, tail, count)
    if not bottom or float(bottoms.min()) <= 0 <= float(bottoms.max()):
        return difference, None
    return difference, _percentiles((top - bottom) / abs(bottom), (tops - bottoms) / np.abs(bottoms), tail, count)


@lru_cache(maxsize=4)
def _draw(count: int) -> np.ndarray:
    """The weight of each repetition in each draw, the number of times that it was drawn over their number."""
    random = np.random.Generator(np.random.Philox(count))
    return random.multinomial(count, np.full(count, 1 / count), DRAWS) / count


def _percentiles(mean: float, drawn: np.ndarray, tail: float, count: int) -> Interval:
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Interval(mean, float(np.std(drawn)) * math.sqrt(count), float(low), float(high), count)


def find_probability(differences: np.ndarray) -> float | None:
    """How likely a mean difference at least so large is where there is none (a paired t-test); None for one pair."""
    if len(differences) < 2:
        return None
    mean, deviation = float(np.mean(differences)), float(np.std(differences, ddof=1))
    if deviation == 0:
        return 1.0 if mean == 0 else 0.0
    return student_probability(mean / deviation * math.sqrt(len(differences)), len(differences) - 1)


def correct(probabilities: Sequence[float]) -> list[float]:
    """Holm's correction: where there is no difference anywhere, one falls below 5 % in at most 5 % of cases."""
    order = sorted(range(len(probabilities)), key=lambda place: probabilities[place])
    found, highest = [1.0] * len(order), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * probabilities[place]))
        found[place] = highest
    return found


def find_detectable(deviation: float, count: int, power: float = POWER) -> float:
    """The smallest difference that so many repetitions find with this chance, at the 5 % level."""
    freedom = count - 1
    both = student_quantile((1 + CONFIDENCE) / 2, freedom) + student_quantile(power, freedom)
    return both * deviation / math.sqrt(count)


def count_needed(deviation: float, difference: float, power: float = POWER) -> int | None:
    """How many repetitions find a difference with this chance; None where it is zero, or a million would not do."""
    if not difference or not math.isfinite(deviation / difference):
        return None
    low, high = 2, 2
    while find_detectable(deviation, high, power) > abs(difference):
        low, high = high, 2 * high
        if high > MOST_REPETITIONS:
            return None
    while low < high:
        middle = (low + high) // 2
        low, high = (
            (low, middle) if find_detectable(deviation, middle, power) <= abs(difference) else (middle + 1, high)
        )
    return high
