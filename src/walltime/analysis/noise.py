"""Is a difference more than noise? Replications over seeds, t-intervals, and paired differences between policies.

Every policy sees the same jobs under the same seed (common random numbers), so policies are compared seed by seed: the
spread between seeds that all policies share cancels out, and the interval of the difference is much narrower than the
policies' own intervals (A. M. Law, "Simulation Modeling and Analysis", chapter 11).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.core.errors import InputError

METRICS = ("mean_wait", "median_wait", "p95_wait", "mean_bounded_slowdown", "utilization", "utilization_window")

# Two-sided 95 % quantiles of Student's t for 1 to 30 degrees of freedom.
_T95 = (
    *(12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281),
    *(2.2010, 2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860),
    *(2.0796, 2.0739, 2.0687, 2.0639, 2.0595, 2.0555, 2.0518, 2.0484, 2.0452, 2.0423),
)
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Interval:
    """The mean of some replications, their standard deviation, and the 95 % confidence interval of the mean.

    One replication has no deviation and no interval (None); the values are never NaN.
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


@dataclass(frozen=True)
class Difference:
    """A policy against the baseline in one metric, seed by seed; `relative` is in fractions of the baseline's mean."""

    metric: str
    policy: str
    baseline: str
    absolute: Interval
    relative: Interval | None
    verdict: str


def t_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t: a table to 30 degrees of freedom, then its expansion (error below 1e-4)."""
    if freedom < 1:
        raise ValueError("Student's t has at least one degree of freedom")
    if freedom <= len(_T95):
        return _T95[freedom - 1]
    z = _Z95
    first = (z**3 + z) / (4 * freedom)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    return z + first + second


def estimate(values: Sequence[float]) -> Interval:
    """Mean, standard deviation and 95 % t-interval of replications; raises InputError for none."""
    if not len(values):
        raise InputError("no replication has a value")
    given = np.asarray(values, np.float64)
    average = float(np.mean(given))
    if len(given) == 1:
        return Interval(average, None, None, None, 1)
    deviation = float(np.std(given, ddof=1))
    half = t_quantile(len(given) - 1) * deviation / math.sqrt(len(given))
    return Interval(average, deviation, average - half, average + half, len(given))


def replicate(summaries: Mapping[str, Sequence[Mapping[str, Any]]], metrics: Sequence[str] = METRICS) -> pl.DataFrame:
    """A row for each policy and metric: `policy metric mean deviation low high seeds`, over its summaries (one a seed).

    Seeds in which the metric has no value are left out; a metric without any value has no row.
    """
    rows = []
    for policy, given in summaries.items():
        for metric in metrics:
            values = [float(summary[metric]) for summary in given if summary.get(metric) is not None]
            if values:
                found = estimate(values)
                rows.append((policy, metric, found.mean, found.deviation, found.low, found.high, found.count))
    kinds: dict[str, Any] = {"policy": pl.String, "metric": pl.String}
    kinds |= dict.fromkeys(("mean", "deviation", "low", "high"), pl.Float64) | {"seeds": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def differ(
    summaries: Mapping[str, Sequence[Mapping[str, Any]]], metric: str = "mean_wait", baseline: str | None = None
) -> list[Difference]:
    """Each other policy against the baseline (by default the first), paired by seed: summary i is of seed i in all."""
    policies = list(summaries)
    if len(policies) < 2:
        return []
    base = policies[0] if baseline is None else baseline
    if base not in summaries:
        raise InputError("unknown baseline", value=base, choices=policies)
    if len({len(given) for given in summaries.values()}) > 1:
        raise InputError("the policies were not run with the same seeds")
    return [_pair(summaries, metric, policy, base) for policy in policies if policy != base]


def _pair(summaries: Mapping[str, Sequence[Mapping[str, Any]]], metric: str, policy: str, base: str) -> Difference:
    pairs = [
        (float(one[metric]), float(other[metric]))
        for one, other in zip(summaries[policy], summaries[base], strict=True)
        if one.get(metric) is not None and other.get(metric) is not None
    ]
    if not pairs:
        raise InputError(f"{policy} and {base} have no seed with a value of", value=metric)
    absolute = estimate([one - other for one, other in pairs])
    scale = abs(sum(other for _, other in pairs) / len(pairs))
    relative = _scale(absolute, scale) if scale else None
    return Difference(metric, policy, base, absolute, relative, _judge(metric, policy, base, absolute, relative))


def _scale(interval: Interval, scale: float) -> Interval:
    parts = (interval.mean, interval.deviation, interval.low, interval.high)
    mean, deviation, low, high = (None if part is None else part / scale for part in parts)
    return Interval(mean or 0.0, deviation, low, high, interval.count)


def _judge(metric: str, policy: str, base: str, absolute: Interval, relative: Interval | None) -> str:
    """One plain sentence: which result has more or less, by how much, and whether that may be noise."""
    shown = relative if relative is not None else absolute
    unit, factor = (" %", 100.0) if relative is not None else ("", 1.0)
    if absolute.mean == 0 and not absolute.deviation:
        return f"{policy} and {base} have the same {metric} under every seed"
    more = "less" if absolute.mean < 0 else "more"
    subject = {"mean_wait": f"{policy} waits {{}} {more} than {base}"}.get(
        metric, f"{policy} has {{}} {more} {metric} than {base}"
    )
    sentence = subject.format(f"{_show(abs(shown.mean) * factor)}{unit}")
    if shown.low is None or shown.high is None:
        return f"{sentence}; one seed cannot tell it from noise"
    ends = sorted((shown.low * factor, shown.high * factor))
    if not absolute.excludes_zero:
        return f"{sentence}, but the interval {_show(ends[0])} to {_show(ends[1])}{unit} holds zero: may be noise"
    low, high = sorted(abs(end) for end in ends)
    return f"{sentence}; interval {_show(low)}–{_show(high)}{unit}: not noise"


def _show(number: float) -> str:
    """Two or three significant digits, without an exponent for the usual sizes."""
    if abs(number) >= 100:
        return f"{number:.0f}"
    return f"{number:.2g}" if abs(number) < 10 else f"{number:.1f}".removesuffix(".0")
