"""Winners and losers: who waits less and who waits more after a change, job by job, and whether that may be chance.

Every job that started in both results is compared with itself. A group's jobs are those that the first result puts
there: where a change of queues moves jobs from `long` to `week`, the group `long` tells what became of its jobs.

Jobs of one week share a fate, so a group's interval is made from weeks, not from jobs: the variance of its mean
difference is that of the sums of weeks (the sandwich estimator for clustered samples, K.-Y. Liang and S. L. Zeger,
"Longitudinal data analysis using generalized linear models", Biometrika 73, 1986), with Student's t over the weeks.
Many groups are judged at once, so that a verdict is corrected for their number by Holm's method.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.compare import Comparable
from walltime.analysis.intervals import find_horizon
from walltime.analysis.metrics import DERIVED, KEYS, group_codes, in_experiment, slowdown_column
from walltime.analysis.noise import correct
from walltime.analysis.statistics import Groups, group_means, student_probability, student_quantile
from walltime.analysis.verdict import LEAST_WEEKS, SIGNIFICANT
from walltime.analysis.weeks import WEEK
from walltime.core.errors import InputError
from walltime.core.tables import is_label
from walltime.core.time import SECOND

FEW_JOBS = 30
"""A group with fewer compared jobs is not judged."""


@dataclass(frozen=True)
class Balance:
    """What a change comes to: groups and jobs that gain or lose, and the seconds of waiting saved or added.

    `gain_clearly` and `lose_clearly` count the groups whose interval leaves out zero; `apart` those of which no job
    started in both results. `saved` is the waiting of the groups that gain, less than before; `added` that of those
    that lose; `effect` is added - saved. Jobs that started in one of the results only have no difference: `only_before`
    and `only_after` count them. `waiting_before` and `waiting_after` count the jobs that still wait at the end,
    `waited_before` and `waited_after` are the seconds for which these have waited so far; `waiting_groups` have some.
    """

    groups: int
    gain: int
    lose: int
    gain_clearly: int
    lose_clearly: int
    apart: int
    jobs: int
    jobs_shorter: int
    jobs_longer: int
    saved: float
    added: float
    effect: float
    only_before: int
    only_after: int
    waiting_before: int
    waiting_after: int
    waited_before: float
    waited_after: float
    waiting_groups: int
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


@dataclass(frozen=True)
class Pairs:
    """The jobs of two results that have the same number, row by row; where jobs have phases, those of the experiment.

    `waited` are the seconds for which a job that still waits at the end has waited so far, in each result; else zero.
    """

    old: pl.DataFrame
    new: pl.DataFrame
    waited: tuple[np.ndarray, np.ndarray]
    unpaired: int

    @property
    def started(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of them started, in each result."""
        first, second = (jobs["start"].is_not_null().to_numpy() for jobs in (self.old, self.new))
        return first, second

    @property
    def both(self) -> np.ndarray:
        """Which of them started in both."""
        first, second = self.started
        return np.asarray(first & second)

    @property
    def waits(self) -> np.ndarray:
        """The change of the wait of each job that started in both, in microsecond-exact steps."""
        before, after = (_seconds(jobs.filter(self.both), "wait") for jobs in (self.old, self.new))
        return np.asarray(np.round(after - before, 6))

    @property
    def alike(self) -> bool:
        """Whether each is the same job in both: the same submission and size."""
        return all(self.old[name].equals(self.new[name]) for name in ("submit", "cores"))

    def count_only(self) -> tuple[int, int]:
        """The jobs that started in the first result alone, and in the second alone."""
        first, second = self.started
        return int(np.count_nonzero(first & ~second)), int(np.count_nonzero(second & ~first))


def pair_jobs(before: Comparable, after: Comparable) -> Pairs:
    """The jobs that two results have in common; raises InputError where there are none."""
    first, second = (in_experiment(result.record).jobs for result in (before, after))
    rows, others = pair_rows(first["job_id"].to_numpy(), second["job_id"].to_numpy())
    if not len(rows) and first.height and second.height:
        raise InputError(f"{before.label} and {after.label} have no job in common")
    old, new = first[rows], second[others]
    waited = _find_waited(before, old), _find_waited(after, new)
    return Pairs(old, new, waited, first.height + second.height - 2 * len(rows))


def _find_waited(result: Comparable, jobs: pl.DataFrame) -> np.ndarray:
    waiting = is_label(jobs["state"], "waiting")
    horizon = (find_horizon(result.record) or 0) / SECOND
    return np.where(waiting, np.maximum(horizon - _seconds(jobs, "submit"), 0.0), 0.0)


def _seconds(jobs: pl.DataFrame, name: str) -> np.ndarray:
    return np.asarray(jobs[name].cast(pl.Float64).to_numpy())


def find_winners(before: Comparable, after: Comparable, key: str) -> Winners:
    """Who gains and who loses by user, group, account, queue, qos, size or cluster; raises InputError.

    A row for each group, the greatest saving first, sizes by size. Columns: the key; `jobs`, and `compared`, those that
    started in both; `wait_before`, `wait_after` and `difference`, means over these, with the 95 % interval `low` and
    `high` of the difference; `relative`; their quantiles `median_wait_before`, `median_wait_after`, `p95_wait_before`,
    `p95_wait_after`; `slowdown_before`, `slowdown_after` (bounded); `shorter` and `longer`, the
    jobs that wait less and more; `effect`, the sum of the differences; `only_before` and `only_after`, the jobs that
    started in one result alone; `waiting_before` and `waiting_after`, those that still wait at the end; `share`, the
    effect's part of all that is saved or of all that is added; `verdict`: gains, loses, may be noise, few jobs, few
    weeks (fewer than `verdict.LEAST_WEEKS` in which the group submitted jobs) or the same. Times in seconds, empty
    where nothing can be said.
    """
    if key not in KEYS:
        raise InputError("unknown key to group by", value=key, choices=KEYS)
    pairs = pair_jobs(before, after)
    source = pairs.new if key not in DERIVED and pairs.old[key].is_null().all() else pairs.old
    codes, names = group_codes(source, key)
    both, groups = pairs.both, len(names)
    table = _measure(pairs.old.filter(both), pairs.new.filter(both), codes[both], groups)
    named = {key: pl.Series(names, dtype=pl.String), "jobs": np.bincount(codes, minlength=groups)}
    table = pl.DataFrame(named | _count(pairs, codes, groups)).hstack(table)
    table = _judge(table.filter(pl.col("jobs") > 0))
    if key != "size":
        table = table.sort("effect", key, nulls_last=True, maintain_order=True)
    waited = [float(seconds.sum()) for seconds in pairs.waited]
    return Winners(key, before.label, after.label, table, _balance(table, waited, pairs.unpaired))


def _count(pairs: Pairs, codes: np.ndarray, groups: int) -> dict[str, np.ndarray]:
    """Of each group the jobs that have no difference: started in one result alone, or still waiting at the end."""
    first, second = pairs.started
    old, new = (is_label(jobs["state"], "waiting") for jobs in (pairs.old, pairs.new))
    chosen = {"only_before": first & ~second, "only_after": second & ~first}
    chosen |= {"waiting_before": old, "waiting_after": new}
    return {name: np.bincount(codes[rows], minlength=groups).astype(np.int64) for name, rows in chosen.items()}


def pair_rows(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
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
    before, after = (_seconds(jobs, "wait") for jobs in (old, new))
    change = after - before
    slow = [slowdown_column(jobs) for jobs in (old, new)]
    ended = ~np.isnan(slow[0]) & ~np.isnan(slow[1])
    means = [group_means(codes[ended], values[ended], groups) for values in slow]
    count = np.bincount(codes, minlength=groups)
    half, weeks = _half_widths(change, codes, _weeks(old), groups)
    difference = group_means(codes, change, groups)
    wait = group_means(codes, before, groups)
    sides = {side: Groups.of(codes, values, groups) for side, values in (("before", before), ("after", after))}
    quantiles = {
        f"{name}_wait_{side}": one.quantile(fraction)
        for name, fraction in (("median", 0.5), ("p95", 0.95))
        for side, one in sides.items()
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = np.where(wait > 0, difference / wait, np.nan)
    return pl.DataFrame(
        {
            "compared": count.astype(np.int64),
            "weeks": weeks,
            "wait_before": wait,
            "wait_after": group_means(codes, after, groups),
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
            "relative": relative,
            **quantiles,
            "slowdown_before": means[0],
            "slowdown_after": means[1],
            "shorter": np.bincount(codes[change < 0], minlength=groups).astype(np.int64),
            "longer": np.bincount(codes[change > 0], minlength=groups).astype(np.int64),
            "effect": np.where(count > 0, np.bincount(codes, change, groups), np.nan),
        }
    ).with_columns(pl.col(pl.Float64).fill_nan(None))


def _weeks(jobs: pl.DataFrame) -> np.ndarray:
    """The week of each submission, from the first on."""
    submit = _seconds(jobs, "submit")
    return np.floor((submit - submit.min()) / WEEK).astype(np.int64) if len(submit) else np.zeros(0, np.int64)


def _half_widths(
    change: np.ndarray, codes: np.ndarray, weeks: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Half of the 95 % interval of each group's mean change, NaN with a single week; and the number of its weeks."""
    if not len(change):
        return np.full(groups, np.nan), np.zeros(groups, np.int64)
    rest = change - group_means(codes, change, groups)[codes]
    span = int(weeks.max()) + 1
    cells, cell = np.unique(codes * span + weeks, return_inverse=True)
    owner = cells // span
    count = np.bincount(codes, minlength=groups)
    number = np.bincount(owner, minlength=groups)
    spread = np.bincount(owner, np.bincount(cell, rest) ** 2, groups)
    half = np.full(groups, np.nan)
    for group in np.flatnonzero(number > 1):
        blocks = int(number[group])
        variance = spread[group] * blocks / (blocks - 1)
        half[group] = student_quantile(0.975, blocks - 1) * np.sqrt(variance) / count[group]
    return half, number.astype(np.int64)


def _judge(table: pl.DataFrame) -> pl.DataFrame:
    """The table with each group's verdict, corrected for the number of groups that are judged, and its share of what
    is saved or added; intervals are given where there are weeks enough."""
    effect = pl.col("effect")
    saved, added = effect.filter(effect < 0).sum(), effect.filter(effect > 0).sum()
    rows = table.select("compared", "weeks", pl.max_horizontal("shorter", "longer"), "difference", "low").rows()
    chances = [_find_chance(*row) for row in rows]
    corrected = iter(correct([chance for chance in chances if chance is not None]))
    verdicts = [
        _find_verdict(jobs, changed > 0, None if chance is None else next(corrected), difference)
        for (jobs, _, changed, difference, _), chance in zip(rows, chances, strict=True)
    ]
    share = pl.when(effect < 0).then(effect / saved).when(effect > 0).then(effect / added)
    known = pl.col("weeks") >= LEAST_WEEKS
    sides = [pl.when(known).then(pl.col(side)).alias(side) for side in ("low", "high")]
    return table.with_columns(share.alias("share"), pl.Series("verdict", verdicts, dtype=pl.String), *sides).drop(
        "weeks"
    )


def _find_chance(jobs: int, weeks: int, changed: int, mean: float | None, low: float | None) -> float | None:
    """How likely a mean change at least so large is by chance alone; None for a group that is not judged."""
    if jobs < FEW_JOBS or weeks < LEAST_WEEKS or not changed or mean is None or low is None:
        return None
    error = (mean - low) / student_quantile(0.975, weeks - 1)
    return student_probability(mean / error, weeks - 1) if error else 0.0


def _find_verdict(jobs: int, changed: bool, chance: float | None, mean: float | None) -> str | None:
    """What is to be said of a group; None where there is no job to say anything of."""
    if not jobs:
        return None
    if not changed:
        return "the same"
    if chance is None or mean is None:
        return "few jobs" if jobs < FEW_JOBS else "few weeks"
    if chance >= SIGNIFICANT:
        return "may be noise"
    return "gains" if mean < 0 else "loses"


def _balance(table: pl.DataFrame, waited: list[float], unpaired: int) -> Balance:
    effect = table["effect"].fill_null(0.0)
    verdict = table["verdict"]
    return Balance(
        groups=table.height,
        gain=int((effect < 0).sum()),
        lose=int((effect > 0).sum()),
        gain_clearly=int((verdict == "gains").sum()),
        lose_clearly=int((verdict == "loses").sum()),
        apart=int((table["compared"] == 0).sum()),
        jobs=int(table["compared"].sum()),
        jobs_shorter=int(table["shorter"].sum()),
        jobs_longer=int(table["longer"].sum()),
        saved=-float(effect.filter(effect < 0).sum()),
        added=float(effect.filter(effect > 0).sum()),
        effect=float(effect.sum()),
        **{name: int(table[name].sum()) for name in ("only_before", "only_after", "waiting_before", "waiting_after")},
        waited_before=waited[0],
        waited_after=waited[1],
        waiting_groups=int((table["waiting_before"] + table["waiting_after"] > 0).sum()),
        unpaired=unpaired,
    )
