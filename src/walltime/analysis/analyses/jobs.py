"""How wait, run time, request, accuracy, cores, turnaround and slowdown are distributed over jobs, all and by size.

Of jobs that have ended. Where jobs have phases, those of the experiment alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.metrics import SIZES, in_experiment, slowdown_column

if TYPE_CHECKING:
    from walltime.analysis.charts.quantities import Shown

CORE_HOURS = {"below 48": 0.0, "48-960": 48.0, "960+": 960.0}
"""Classes of jobs by the core-hours that they used: ScSF's."""
VARIABLES = ("wait", "run_time", "requested_time", "accuracy", "cores", "turnaround", "slowdown")
PER_DECADE = 50
"""Bins of a distribution from a number to ten times it: each is 4.7 % wide."""
QUANTILES = {"p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95}


def describe_sizes(result: Shown) -> pl.DataFrame:
    """A row for each class and variable: how many jobs, and the extremes, mean, deviation and quantiles."""
    return pl.DataFrame(
        [
            {"by": kind, "class": label, "variable": name} | describe(jobs[name].cast(pl.Float64))
            for kind, label, jobs in _classes(result)
            for name in VARIABLES
        ],
        infer_schema_length=None,
    )


def count_distributions(result: Shown) -> pl.DataFrame:
    """Histograms whose bins are the same for every result, so that those of repetitions can be added: for each class
    and variable the bins (`low`, `high`) that are not empty, with the number of jobs. A bin from 0 to 0 has the zeros.
    """
    frames = []
    for kind, label, jobs in _classes(result):
        for name in VARIABLES:
            low, high, count = count_bins(jobs[name].cast(pl.Float64).drop_nulls().to_numpy())
            own = {"by": kind, "class": label, "variable": name}
            frames.append(pl.DataFrame({"low": low, "high": high, "jobs": count}).select(
                *(pl.lit(value).alias(key) for key, value in own.items()), "low", "high", "jobs"
            ))  # fmt: skip
    return pl.concat(frames)


def count_bins(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The lower and upper edges of the bins that hold something, and how many values each holds."""
    positive = values[values > 0]
    # The edge itself belongs to the bin above it, also where the logarithm is a little too small.
    place, count = np.unique(np.floor(np.log10(positive) * PER_DECADE + 1e-9).astype(np.int64), return_counts=True)
    low, high = 10.0 ** (place / PER_DECADE), 10.0 ** ((place + 1) / PER_DECADE)
    zeros = len(values) - len(positive)
    if zeros:
        low, high, count = np.append(0.0, low), np.append(0.0, high), np.append(zeros, count)
    return low, high, count.astype(np.int64)


def describe(values: pl.Series) -> dict[str, Any]:
    """How many values, their extremes, mean, standard deviation and quantiles; None where there are no values."""
    values = values.drop_nulls()
    own: dict[str, Any] = {"jobs": len(values)}
    own |= {"min": values.min(), "mean": values.mean(), "deviation": values.std(), "max": values.max()}
    return own | {key: values.quantile(share, "linear") for key, share in QUANTILES.items()}


def _classes(result: Shown) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """All jobs, then those of each class of cores, then of core-hours: (by, class, jobs)."""
    jobs = find_ended(result)
    yield "all", "all", jobs
    bounds: Mapping[str, tuple[pl.Expr, Mapping[str, float]]] = {
        "cores": (pl.col("cores"), SIZES),
        "core-hours": (core_hours(), CORE_HOURS),
    }
    for kind, (value, classes) in bounds.items():
        for label, low in classes.items():
            above = [bound for bound in classes.values() if bound > low]
            yield kind, label, jobs.filter(value >= low, *([value < above[0]] if above else []))


def find_ended(result: Shown) -> pl.DataFrame:
    """The jobs that have started and ended, with `slowdown`, `turnaround` and `accuracy`, which a job that asked for no
    time has not."""
    seen = in_experiment(result.record).jobs
    jobs = seen.with_columns(pl.Series("slowdown", slowdown_column(seen)))
    jobs = jobs.filter(pl.col("start").is_not_null(), pl.col("end").is_not_null())
    asked = pl.when(pl.col("requested_time") > 0).then(pl.col("requested_time"))
    return jobs.with_columns(accuracy=pl.col("run_time") / asked, turnaround=pl.col("end") - pl.col("submit"))


def core_hours() -> pl.Expr:
    """What a job used."""
    return pl.col("cores") * pl.col("run_time") / 3600
