"""Results side by side: what differs, by how much, and who gains or loses by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import polars as pl

from walltime.analysis.headline import find_value
from walltime.analysis.metrics import KEYS, by
from walltime.core.errors import InputError
from walltime.core.tables import Record

METRICS = (
    *("jobs", "started", "completed", "timeout", "failed", "cancelled", "rejected", "running", "waiting", "backfilled"),
    *("makespan", "utilization", "utilization_window", "mean_wait", "median_wait", "p95_wait", "max_wait"),
    *("mean_response", "mean_bounded_slowdown", "median_bounded_slowdown", "p95_bounded_slowdown", "jain_fairness"),
)
"""The keys of a summary that a comparison shows, in this order."""


class Comparable(Protocol):
    """What a comparison needs of a result: a label for people, the summary, and the tables."""

    @property
    def label(self) -> str: ...
    @property
    def summary(self) -> Mapping[str, Any]: ...
    @property
    def record(self) -> Record: ...


def compare(
    results: Sequence[Comparable], baseline: int | str = 0, metrics: Sequence[str] | None = None
) -> pl.DataFrame:
    """A row for each metric and three columns for each result: `LABEL`, `LABEL difference`, `LABEL relative`.

    Differences are to the baseline (a label or an index), which has none itself; a relative one is a fraction (-0.12:
    12 % less), empty where the baseline is zero. Metrics that no result has are left out. Equal labels get a number.
    Without `metrics`, those of METRICS, and the utilization of every other resource (`resources.gpus.utilization`).
    """
    labels = distinct_labels(results)
    base = find_baseline(labels, baseline)
    if metrics is None:
        metrics = (*METRICS, *_find_resources(results))
    values = {
        label: [_number(find_value(result.summary, metric)) for metric in metrics]
        for label, result in zip(labels, results, strict=True)
    }
    table = pl.DataFrame({"metric": pl.Series(metrics, dtype=pl.String)}).with_columns(
        pl.Series(label, column, dtype=pl.Float64) for label, column in values.items()
    )
    others = [label for label in labels if label != labels[base]]
    table = _add_differences(table, others, labels[base])
    return table.filter(pl.any_horizontal(pl.col(labels).is_not_null()))


def _find_resources(results: Sequence[Comparable]) -> list[str]:
    known = dict.fromkeys(name for result in results for name in result.summary.get("resources") or {})
    figures = ("utilization", "utilization_window")
    return [f"resources.{name}.{figure}" for name in known if name != "cores" for figure in figures]


def compare_by(
    results: Sequence[Comparable], key: str, baseline: int | str = 0, metric: str = "mean_wait"
) -> pl.DataFrame:
    """Winners and losers: `metric` for each user, group, account, queue, size or cluster, beside the baseline.

    Columns: the key, `jobs` (of the baseline), then as in `compare`. Sorted by the difference of the first result after
    the baseline, those who gain (whose figure falls) first; sizes by size.
    """
    if key not in KEYS:
        raise InputError("unknown key to group by", value=key, choices=KEYS)
    labels = distinct_labels(results)
    base = find_baseline(labels, baseline)
    groups = [by(result.record, key) for result in results]
    known = [name for name in groups[base].columns if name not in (key, "jobs", "started")]
    if metric not in known:
        raise InputError("unknown metric of a group", value=metric, choices=known)
    table = groups[base].select(key, "jobs")
    for label, group in zip(labels, groups, strict=True):
        column = group.select(key, pl.col(metric).alias(label))
        table = table.join(column, on=key, how="left", nulls_equal=True, maintain_order="left")
    others = [label for label in labels if label != labels[base]]
    table = _add_differences(table, others, labels[base])
    if key == "size" or not others:
        return table
    return table.sort(f"{others[0]} difference", nulls_last=True, maintain_order=True)


def distinct_labels(results: Sequence[Comparable]) -> list[str]:
    """The labels, a repeated one with a number: easy, easy (2)."""
    if not results:
        raise InputError("nothing to compare: give at least one result")
    labels: list[str] = []
    for result in results:
        label, count = result.label, 2
        while label in labels:
            label, count = f"{result.label} ({count})", count + 1
        labels.append(label)
    return labels


def find_baseline(labels: Sequence[str], baseline: int | str) -> int:
    """The index of the baseline, given as an index or a label."""
    if isinstance(baseline, str):
        if baseline not in labels:
            raise InputError("no result has this label", value=baseline, choices=labels)
        return list(labels).index(baseline)
    if not 0 <= baseline < len(labels):
        raise InputError(f"the baseline is one of the results 0 to {len(labels) - 1}", value=baseline)
    return baseline


def _add_differences(table: pl.DataFrame, others: Sequence[str], base: str) -> pl.DataFrame:
    for label in others:
        difference = pl.col(label) - pl.col(base)
        relative = pl.when(pl.col(base) != 0).then(difference / pl.col(base).abs())
        table = table.with_columns(difference.alias(f"{label} difference"), relative.alias(f"{label} relative"))
    return table


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
