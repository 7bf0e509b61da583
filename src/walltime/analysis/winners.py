"""Winners and losers: who waits less and who waits more after a change, job by job, and whether that may be chance.

Every job that started in both results is compared with itself. A group's jobs are those that the first result puts
there: where a change of queues moves jobs from `long` to `week`, the group `long` tells what became of its jobs.

Jobs of one day share a fate, so a group's interval is made from days, not from jobs: the variance of its mean
difference is that of the sums of days (the sandwich estimator for clustered samples, K.-Y. Liang and S. L. Zeger,
"Longitudinal data analysis using generalized linear models", Biometrika 73, 1986), with Student's t over the days.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.compare import Comparable
from walltime.analysis.metrics import KEYS, group_codes, in_experiment, slowdown_column
from walltime.analysis.noise import t_quantile
from walltime.analysis.statistics import group_means
from walltime.core.errors import InputError

FEW_JOBS = 30
"""A group with fewer compared jobs is not judged."""
FEW_DAYS = 5
"""Nor one whose jobs were submitted on fewer days."""
DAY = 86_400.0
VERDICTS = ("gains", "loses", "may be noise", "few jobs", "the same")


@dataclass(frozen=True)
class Balance:
    """What a change comes to: groups and jobs that gain or lose, and the seconds of waiting saved or added.

    `gain_clearly` and `lose_clearly` count the groups whose interval leaves out zero. `saved` is the waiting of the
    groups that gain, less than before; `added` that of those that lose; `effect` is added - saved. Jobs that started in
    one of the results only have no difference: `only_before` and `only_after` count them.
    """

    groups: int
    gain: int
    lose: int
    gain_clearly: int
    lose_clearly: int
    jobs: int
    jobs_shorter: int
    jobs_longer: int
    saved: float
    added: float
    effect: float
    only_before: int
    only_after: int
    unpaired: int

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Winners:
    """The table of `find_winners`, and its balance."""

    key: str
    before: str
    after: str
    table: pl.DataFrame
    balance: Balance


def find_winners(before: Comparable, after: Comparable, key: str) -> Winners:
    """Who gains and who loses by user, group, account, queue, qos, size or cluster; raises InputError.

    A row for each group, the greatest saving first, sizes by size. Columns: the key; `jobs`, and `compared`, those that
    started in both; `wait_before`, `wait_after` and `difference`, means over these, with the 95 % interval `low` and
    `high` of the difference; `relative`; `slowdown_before`, `slowdown_after` (bounded); `shorter` and `longer`, the
    jobs that wait less and more; `effect`, the sum of the differences; `share`, its part of all that is saved or of all
    that is added; `verdict`, one of VERDICTS. Times in seconds, empty where nothing can be said.
    """
    if key not in KEYS:
        raise InputError("unknown key to group by", value=key, choices=KEYS)
    first, second = (in_experiment(result.record).jobs for result in (before, after))
    rows, others = _pair(first["job_id"].to_numpy(), second["job_id"].to_numpy())
    if not len(rows) and first.height and second.height:
        raise InputError(f"{before.label} and {after.label} have no job in common")
    old, new = first[rows], second[others]
    source = new if key != "size" and old[key].is_null().all() else old
    codes, names = group_codes(source, key)
    started = [jobs["start"].is_not_null().to_numpy() for jobs in (old, new)]
    both = started[0] & started[1]
    table = _measure(old.filter(both), new.filter(both), codes[both], len(names))
    table = pl.DataFrame(
        {key: pl.Series(names, dtype=pl.String), "jobs": np.bincount(codes, minlength=len(names))}
    ).hstack(table)
    table = _judge(table.filter(pl.col("jobs") > 0))
    if key != "size":
        table = table.sort("effect", key, nulls_last=True, maintain_order=True)
    only = [int(np.count_nonzero(one & ~other)) for one, other in (started, started[::-1])]
    unpaired = first.height + second.height - 2 * len(rows)
    return Winners(key, before.label, after.label, table, _balance(table, only, unpaired))


def _pair(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of the same jobs, by their numbers; the second job with a number is the other's second."""
    if len(first) == len(second) and bool(np.all(first == second)):
        rows = np.arange(len(first))
        return rows, rows
    sides = [
        pl.DataFrame({"job": ids}).with_row_index("row").with_columns(pl.int_range(pl.len()).over("job").alias("turn"))
        for ids in (first, second)
    ]
    joined = sides[0].join(sides[1], on=["job", "turn"], how="inner", maintain_order="left")
    return joined["row"].to_numpy().astype(np.int64), joined["row_right"].to_numpy().astype(np.int64)


def _measure(old: pl.DataFrame, new: pl.DataFrame, codes: np.ndarray, groups: int) -> pl.DataFrame:
    """The figures of each group, over jobs that started in both results."""
    before, after = (jobs["wait"].cast(pl.Float64).to_numpy() for jobs in (old, new))
    change = after - before
    slow = [slowdown_column(jobs) for jobs in (old, new)]
    ended = ~np.isnan(slow[0]) & ~np.isnan(slow[1])
    means = [group_means(codes[ended], values[ended], groups) for values in slow]
    count = np.bincount(codes, minlength=groups)
    days = np.floor(old["submit"].to_numpy() / DAY).astype(np.int64)
    half, different = _half_widths(change, codes, days, groups)
    difference = group_means(codes, change, groups)
    wait = group_means(codes, before, groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(wait > 0, difference / wait, np.nan)
    return pl.DataFrame(
        {
            "compared": count.astype(np.int64),
            "days": different,
            "wait_before": wait,
            "wait_after": group_means(codes, after, groups),
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "relative": relative,
            "slowdown_before": means[0],
            "slowdown_after": means[1],
            "shorter": np.bincount(codes[change < 0], minlength=groups).astype(np.int64),
            "longer": np.bincount(codes[change > 0], minlength=groups).astype(np.int64),
            "effect": np.where(count > 0, np.bincount(codes, change, groups), np.nan),
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


def _half_widths(change: np.ndarray, codes: np.ndarray, days: np.ndarray, groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Half of the 95 % interval of each group's mean change, NaN with a single day; and the number of its days."""
    if not len(change):
        return np.full(groups, np.nan), np.zeros(groups, np.int64)
    rest = change - group_means(codes, change, groups)[codes]
    first = int(days.min())
    span = int(days.max()) - first + 1
    cells, cell = np.unique(codes * span + (days - first), return_inverse=True)
    owner = cells // span
    count = np.bincount(codes, minlength=groups)
    number = np.bincount(owner, minlength=groups)
    spread = np.bincount(owner, np.bincount(cell, rest) ** 2, groups)
    half = np.full(groups, np.nan)
    for group in np.flatnonzero(number > 1):
        blocks = int(number[group])
        variance = spread[group] * blocks / (blocks - 1)
        half[group] = t_quantile(blocks - 1) * np.sqrt(variance) / count[group]
    return half, number.astype(np.int64)


def _judge(table: pl.DataFrame) -> pl.DataFrame:
    """The table with each group's verdict, and its share of what is saved or added."""
    effect = pl.col("effect")
    saved, added = effect.filter(effect < 0).sum(), effect.filter(effect > 0).sum()
    few = (pl.col("compared") < FEW_JOBS) | (pl.col("days") < FEW_DAYS)
    verdict = (
        pl.when(pl.col("compared") == 0)
        .then(None)
        .when((pl.col("shorter") == 0) & (pl.col("longer") == 0))
        .then(pl.lit("the same"))
        .when(few)
        .then(pl.lit("few jobs"))
        .when(pl.col("high") < 0)
        .then(pl.lit("gains"))
        .when(pl.col("low") > 0)
        .then(pl.lit("loses"))
        .otherwise(pl.lit("may be noise"))
    )
    share = pl.when(effect < 0).then(effect / saved).when(effect > 0).then(effect / added)
    return table.with_columns(share.alias("share"), verdict.alias("verdict")).drop("days")


def _balance(table: pl.DataFrame, only: list[int], unpaired: int) -> Balance:
    effect = table["effect"].fill_null(0.0)
    verdict = table["verdict"]
    return Balance(
        groups=table.height,
        gain=int((effect < 0).sum()),
        lose=int((effect > 0).sum()),
        gain_clearly=int((verdict == "gains").sum()),
        lose_clearly=int((verdict == "loses").sum()),
        jobs=int(table["compared"].sum()),
        jobs_shorter=int(table["shorter"].sum()),
        jobs_longer=int(table["longer"].sum()),
        saved=-float(effect.filter(effect < 0).sum()),
        added=float(effect.filter(effect > 0).sum()),
        effect=float(effect.sum()),
        only_before=only[0],
        only_after=only[1],
        unpaired=unpaired,
    )
