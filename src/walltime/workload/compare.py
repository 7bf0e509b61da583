"""Two workloads side by side, such as a log and what a model makes of it: how far apart they are, variable by variable.

For each variable the Kolmogorov-Smirnov distance (the largest difference of the two distribution functions), the
Wasserstein distance (the area between them, in the variable's own unit, and as a share of A's mean), and quantiles. For
labels the total variation distance between their shares, each side's labels ranked by activity. Besides: the rhythm of
the day and the week, rank correlations between variables, and autocorrelations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.calendar import hour_of_week
from walltime.workload.totals import with_totals

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
LAGS = 24
_FEWEST = 20  # values, below which a distribution says nothing
_PAIRS = (("cores", "run_time"), ("requested_time", "accuracy"), ("cores", "requested_time"))


@dataclass(frozen=True)
class Variable:
    """One variable of both workloads: its values, sorted, and the distances between them."""

    name: str
    unit: str
    a: np.ndarray
    b: np.ndarray
    ks: float
    wasserstein: float

    @property
    def relative(self) -> float | None:
        """The Wasserstein distance as a share of A's mean."""
        mean = float(self.a.mean())
        return self.wasserstein / mean if mean else None

    def quantiles(self) -> dict[str, tuple[float, float]]:
        """Both sides' quantiles and means."""
        found = {
            f"{quantile:.0%}": (float(np.quantile(self.a, quantile)), float(np.quantile(self.b, quantile)))
            for quantile in QUANTILES
        }
        return found | {"mean": (float(self.a.mean()), float(self.b.mean()))}


@dataclass(frozen=True)
class WorkloadComparison:
    """Everything that was compared; `as_data` is the same for a program."""

    names: tuple[str, str]
    jobs: tuple[int, int]
    variables: list[Variable]
    labels: dict[str, float]
    """Total variation distance of the shares of queues, users and groups."""
    hours: tuple[np.ndarray, np.ndarray]
    """Share of the submissions in each hour of the week."""
    correlations: dict[str, tuple[float, float]]
    autocorrelations: dict[str, tuple[np.ndarray, np.ndarray]]

    def variable(self, name: str) -> Variable:
        for variable in self.variables:
            if variable.name == name:
                return variable
        raise InputError("the comparison has no such variable", value=name, choices=[v.name for v in self.variables])

    @property
    def rhythm(self) -> dict[str, float]:
        """Total variation distances of the submissions by hour of the day, day of the week, and hour of the week."""
        a, b = (hours.reshape(7, 24) for hours in self.hours)
        return {
            "hour of the day": _variation(a.sum(0), b.sum(0)),
            "day of the week": _variation(a.sum(1), b.sum(1)),
            "hour of the week": _variation(a.ravel(), b.ravel()),
        }

    def as_data(self) -> dict[str, Any]:
        """A JSON-able dictionary."""
        return {
            "a": self.names[0],
            "b": self.names[1],
            "jobs": list(self.jobs),
            "variables": {
                v.name: {
                    "unit": v.unit,
                    "values": [len(v.a), len(v.b)],
                    "ks": v.ks,
                    "wasserstein": v.wasserstein,
                    "wasserstein_over_mean": v.relative,
                    "quantiles": {name: list(pair) for name, pair in v.quantiles().items()},
                }
                for v in self.variables
            },
            "labels": self.labels,
            "rhythm": self.rhythm,
            "submissions_by_hour_of_week": [hours.tolist() for hours in self.hours],
            "rank_correlations": {name: list(pair) for name, pair in self.correlations.items()},
            "autocorrelations": {name: [a.tolist(), b.tolist()] for name, (a, b) in self.autocorrelations.items()},
        }


def compare_workloads(a: Workload, b: Workload, names: tuple[str, str] | None = None) -> WorkloadComparison:
    """The comparison of two workloads; jobs that never ran are left out. Raises InputError where one has too few."""
    sides = []
    for workload in (a, b):
        ran = workload.select(workload.column("run_time") > 0)
        if len(ran) < 3:
            raise InputError("too few jobs with a run time to compare", value=len(ran), file=workload.source or None)
        sides.append(with_totals(ran))
    values = [_values(side) for side in sides]
    variables = []
    for name, unit in _UNITS.items():
        if name in values[0] and name in values[1]:
            pair = [np.sort(side[name][~np.isnan(side[name])]) for side in values]
            if all(len(part) >= _FEWEST for part in pair):
                ks, wasserstein = distances(pair[0], pair[1])
                variables.append(Variable(name, unit, pair[0], pair[1], ks, wasserstein))
    return WorkloadComparison(
        names=names or (a.source or "A", b.source or "B"),
        jobs=(len(sides[0]), len(sides[1])),
        variables=variables,
        labels=_label_distances(*sides),
        hours=(_hours(sides[0]), _hours(sides[1])),
        correlations=_correlations(*values),
        autocorrelations=_autocorrelations(sides, values),
    )


_UNITS = {
    "interarrival": "s",
    "cores": "cores",
    "requested_time": "s",
    "run_time": "s",
    "accuracy": "run time / requested time",
    "core_hours": "core-hours",
    "memory": "bytes",
    "gpus": "GPUs",
}
"""What is compared, and its unit."""


def _values(jobs: Workload) -> dict[str, np.ndarray]:
    """The variables by job, NaN where a job lacks one; only those that the workload has."""
    run, request = jobs.column("run_time") / SECOND, jobs.column("requested_time")
    cores = jobs.column("cores").astype(np.float64)
    found = {
        "interarrival": np.diff(jobs.column("submit"), prepend=jobs.column("submit")[:1]) / SECOND,
        "cores": cores,
        "run_time": run,
        "core_hours": cores * run / 3600,
    }
    found["interarrival"][0] = np.nan
    if np.any(request > 0):
        asked = np.where(request > 0, request / SECOND, np.nan)
        found |= {"requested_time": asked, "accuracy": run / asked}
    memory = jobs.column("memory").astype(np.float64)
    if np.any(memory > 0):
        found["memory"] = np.where(memory > 0, memory, np.nan)
    if np.any(jobs.column("gpus") > 0):
        found["gpus"] = jobs.column("gpus").astype(np.float64)
    return found


def distances(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """Kolmogorov-Smirnov and Wasserstein distance of two sorted samples."""
    points = np.unique(np.concatenate([a, b]))
    gap = np.abs(np.searchsorted(a, points, side="right") / len(a) - np.searchsorted(b, points, side="right") / len(b))
    return float(gap.max()), float(np.sum(gap[:-1] * np.diff(points)))


def _variation(a: np.ndarray, b: np.ndarray) -> float:
    """Half the sum of the differences of two vectors of shares."""
    size = max(len(a), len(b))
    padded = [np.pad(side, (0, size - len(side))) for side in (a, b)]
    return float(np.abs(padded[0] - padded[1]).sum() / 2)


def _label_distances(a: Workload, b: Workload) -> dict[str, float]:
    """Queues by name where both sides use the same names; users and groups by rank: a model names no one."""
    found: dict[str, float] = {}
    for name in ("queue", "user", "group"):
        if not (a.has(name) and b.has(name)):
            continue
        shares = []
        for side in (a, b):
            codes = side.column(name)
            counts = np.bincount(codes[codes >= 0], minlength=max(len(side.label_names(name)), 1)) / len(side)
            shares.append(dict(zip(side.label_names(name), counts, strict=True)))
        if name == "queue" and set(shares[0]) & set(shares[1]):
            keys = list(shares[0] | shares[1])
            found[name] = _variation(*(np.array([share.get(key, 0.0) for key in keys]) for share in shares))
        else:
            found[name] = _variation(*(np.sort(np.array(list(share.values())))[::-1] for share in shares))
    return found


def _hours(jobs: Workload) -> np.ndarray:
    return np.bincount(hour_of_week(jobs, jobs.column("submit")), minlength=168) / len(jobs)


def _correlations(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """Spearman's rank correlation of pairs of variables."""
    found = {}
    for first, second in _PAIRS:
        if all(name in side for name in (first, second) for side in (a, b)):
            found[f"{first} × {second}"] = (spearman(a[first], a[second]), spearman(b[first], b[second]))
    return found


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """The correlation of ranks, ties by their mean; 0 where one side does not vary."""
    known = ~(np.isnan(x) | np.isnan(y))
    if np.count_nonzero(known) < 3:
        return 0.0
    return _correlation(_ranks(x[known]), _ranks(y[known]))


def _ranks(values: np.ndarray) -> np.ndarray:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts + 1) / 2)[inverse])


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    spread = float(x.std() * y.std())
    return float(np.mean((x - x.mean()) * (y - y.mean())) / spread) if spread > 0 else 0.0


def _autocorrelations(
    sides: list[Workload], values: list[dict[str, np.ndarray]]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Of submissions by the hour (lags in hours), and of sizes and run times from job to job (ranks)."""
    found = {}
    hourly = []
    for side in sides:
        hour = (side.column("submit") - side.column("submit")[0]) // (3600 * SECOND)
        hourly.append(autocorrelation(np.bincount(hour).astype(np.float64)))
    found["submissions in an hour"] = (hourly[0], hourly[1])
    for name in ("run_time", "cores"):
        pair = [autocorrelation(_ranks(side[name])) for side in values]
        found[name] = (pair[0], pair[1])
    return found


def autocorrelation(series: np.ndarray, lags: int = LAGS) -> np.ndarray:
    """The correlation of a series with itself 1 to `lags` steps later; 0 where there is too little."""
    out = np.zeros(lags)
    for lag in range(1, lags + 1):
        if len(series) > lag + 2:
            out[lag - 1] = _correlation(series[:-lag], series[lag:])
    return out
