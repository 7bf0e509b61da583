"""Cells of an experiment against each other: pairs that differ in one axis alone, seed by seed.

Under one seed all cells see the same jobs, so the spread between seeds cancels out in the differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from walltime.analysis.noise import Interval, estimate
from walltime.analysis.verdict import Verdict, adjust, judge_all
from walltime.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from walltime.experiments.store import Store


@dataclass(frozen=True)
class Group:
    """The cells that differ in one axis alone: what they share, each level's figure, and each against the baseline.

    Seeds that are not done in every one of the cells are left out, so that all are compared over the same. The verdicts
    are corrected for the number of all comparisons of the experiment that were asked for together.
    """

    shared: dict[str, str]
    seeds: int
    values: dict[str, Interval]
    verdicts: tuple[Verdict, ...]


def compare_cells(
    store: Store,
    name: str,
    axis: str,
    figure: str = "mean_wait",
    baseline: str | None = None,
    margins: Mapping[str, float] | None = None,
) -> list[Group]:
    """For each combination of the other axes, the levels of `axis` against the baseline, by default the first.

    Raises InputError for an axis, level or figure that the experiment has not.
    """
    import polars as pl

    table = store.table(name)
    others, first = find_baseline(table, find_axes(table), axis, baseline)
    known = table.columns[table.columns.index("error") + 1 :]
    if figure not in known:
        raise InputError("no run of the experiment has such a figure", value=figure, choices=known)
    done = table.filter(pl.col("state") == "done", pl.col(figure).is_not_null())
    groups = done.partition_by(others, maintain_order=True, as_dict=True) if others else {(): done}
    made = (
        _compare(dict(zip(others, key, strict=True)), rows, axis, figure, first, margins or {})
        for key, rows in groups.items()
    )
    found = [group for group in made if group is not None]
    adjusted = iter(adjust([verdict for group in found for verdict in group.verdicts]))
    return [replace(group, verdicts=tuple(next(adjusted) for _ in group.verdicts)) for group in found]


def find_axes(table: pl.DataFrame) -> list[str]:
    """The axes of an experiment, of its table of runs."""
    return table.columns[1 : table.columns.index("run")]


def find_baseline(table: pl.DataFrame, axes: list[str], axis: str, baseline: str | None) -> tuple[list[str], str]:
    """The axes beside this one, and its label that the others are compared with, by default the first."""
    if axis not in axes:
        raise InputError("the experiment has no such axis", value=axis, choices=axes)
    labels = table[axis].unique(maintain_order=True).to_list()
    first = labels[0] if baseline is None else baseline
    if first not in labels:
        raise InputError(f"the axis {axis} has no such label", value=first, choices=labels)
    return [other for other in axes if other != axis], first


def _compare(
    shared: dict[str, Any], rows: Any, axis: str, figure: str, baseline: str, margins: Mapping[str, float]
) -> Group | None:
    """One group; None where it has no seed in common with the baseline."""
    found: dict[str, dict[int, float]] = {}
    for label, seed, value in rows.select(axis, "seed", figure).iter_rows():
        found.setdefault(label, {})[seed] = value
    if baseline not in found:
        return None
    found = {baseline: found[baseline]} | found
    common = sorted(set.intersection(*(set(by_seed) for by_seed in found.values())))
    if not common:
        return None
    sides = {label: {seed: {figure: by_seed[seed]} for seed in common} for label, by_seed in found.items()}
    values = {label: estimate([by_seed[seed] for seed in common]) for label, by_seed in found.items()}
    verdicts = judge_all(sides, [figure], baseline=baseline, margins=margins)
    return Group(shared, len(common), values, tuple(verdicts))
