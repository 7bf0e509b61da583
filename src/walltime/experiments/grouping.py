"""The repetitions of a cell taken together, and cells against each other: ScSF's grouped and delta analyses.

Runs keep tables (`analyses` of an experiment); here those of many runs are one table, with the labels of their cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import sqlalchemy as sa

from walltime.core.errors import InputError
from walltime.experiments.comparison import find_axes, find_baseline
from walltime.experiments.results import checksum_of
from walltime.experiments.schema import DONE, files, runs

if TYPE_CHECKING:
    from walltime.experiments.store import Store

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
OF_WORKFLOWS = ("wait", "run", "turnaround", "stretch")


def read_kept(store: Store, name: str, table: str, where: Mapping[str, str] | None = None) -> pl.DataFrame:
    """The kept tables of this name of all finished runs as one: the labels by axis, `seed`, and the table's columns.

    A column that an axis is called like gets the table's name behind its own. Raises InputError where no run has kept
    such a table, or where one is not what was written.
    """
    known = store.table(name, where)
    axes = find_axes(known)
    done = known.filter(pl.col("state") == DONE)
    kept = _checksums(store, table)
    frames = []
    for row in done.select(*axes, "seed", "run").iter_rows(named=True):
        digest = row.pop("run")
        if digest not in kept:
            continue
        own = _read(store, digest, f"{table}.parquet", kept[digest])
        own = own.rename({column: f"{column}_{table}" for column in own.columns if column in row})
        frames.append(own.select(*(pl.lit(value).alias(key) for key, value in row.items()), pl.all()))
    if not frames:
        what = f"no finished run of {name} has kept a table of this name; `analyses` of an experiment say what is kept"
        raise InputError(what, value=table, choices=sorted(_names(store)))
    return pl.concat(frames, how="vertical_relaxed")


def group_jobs(store: Store, name: str, where: Mapping[str, str] | None = None) -> pl.DataFrame:
    """The jobs of all repetitions of each cell: for each class and variable how many, and quantiles of all together.

    From the analysis `distributions`; a quantile is exact to the width of a bin, 4.7 %.
    """
    merged = merge_distributions(store, name, where)
    keys = merged.columns[: merged.columns.index("low")]
    found = []
    for key, part in merged.group_by(keys, maintain_order=True):
        row = dict(zip(keys, key, strict=True)) | {"jobs": int(part["jobs"].sum())}
        values = find_quantiles(part["low"].to_numpy(), part["high"].to_numpy(), part["jobs"].to_numpy())
        found.append(row | {f"p{round(100 * share)}": value for share, value in zip(QUANTILES, values, strict=True)})
    return pl.DataFrame(found)


def merge_distributions(store: Store, name: str, where: Mapping[str, str] | None = None) -> pl.DataFrame:
    """The histograms of the repetitions of each cell, added up, with the share of jobs up to each bin (`cdf`)."""
    table = read_kept(store, name, "distributions", where)
    keys = [column for column in table.columns if column not in ("seed", "low", "high", "jobs")]
    merged = table.group_by([*keys, "low", "high"], maintain_order=True).agg(pl.col("jobs").sum())
    merged = merged.sort("low", maintain_order=True)
    order = table.select(keys).unique(maintain_order=True)
    merged = order.join(merged, on=keys, how="left", maintain_order="left")
    return merged.with_columns(cdf=(pl.col("jobs").cum_sum() / pl.col("jobs").sum()).over(keys))


def find_quantiles(low: np.ndarray, high: np.ndarray, count: np.ndarray) -> list[float]:
    """Quantiles of a histogram; inside a bin the values are taken to be even on a scale of ratios."""
    order = np.argsort(low, kind="stable")
    low, high, count = low[order], high[order], count[order]
    total = np.cumsum(count)
    found = []
    for share in QUANTILES:
        wanted = share * total[-1]
        index = int(min(np.searchsorted(total, wanted), len(total) - 1))
        within = (wanted - (total[index] - count[index])) / count[index]
        zero = low[index] <= 0
        found.append(0.0 if zero else float(low[index] * (high[index] / low[index]) ** within))
    return found


def group_workflows(store: Store, name: str, where: Mapping[str, str] | None = None) -> pl.DataFrame:
    """The workflows of all repetitions of each cell, by type and all together (`all`): how many, how many completed,
    and quantiles of wait, run, turnaround and stretch. From the analysis `workflows`."""
    table, axes, kind = _workflows(store, name, where)
    both = pl.concat([table, table.with_columns(pl.lit("all").alias(kind))])
    counts = [pl.len().alias("workflows"), (pl.col("state") == "completed").sum().alias("completed")]
    measured = [
        pl.col(figure).quantile(share, "linear").alias(f"{figure}_p{round(100 * share)}")
        for figure in OF_WORKFLOWS
        for share in QUANTILES
    ]
    found = both.group_by([*axes, kind], maintain_order=True).agg(*counts, *measured)
    order = table.select(axes).unique(maintain_order=True).with_row_index("order") if axes else None
    return found if order is None else found.join(order, on=axes).sort("order", maintain_order=True).drop("order")


def compare_workflows(
    store: Store, name: str, axis: str, figure: str = "turnaround", baseline: str | None = None
) -> pl.DataFrame:
    """Delta: for each combination of the other axes and each type, the workflows of the levels of `axis` against those
    of the baseline, by default the first level.

    The levels do not complete the same number of workflows, and those that are missing are not like the others: the
    last ones, and those that take long. So only workflows are compared that completed under all levels of the seed: the
    same ones where they are submitted at the same times, else the first of each, as many as the least has. `left_out`
    tells how many are not. `ratio` is the median under the baseline over that under the level: above 1 the level is
    the quicker.
    """
    table, axes, kind = _workflows(store, name, None)
    others, first = find_baseline(table, axes, axis, baseline)
    if figure not in OF_WORKFLOWS:
        raise InputError("no such figure of workflows", value=figure, choices=OF_WORKFLOWS)
    found: list[dict[str, Any]] = []
    for key, group in table.group_by([*others, kind], maintain_order=True):
        shared = dict(zip([*others, "type"], key, strict=True))
        found += _compare_group(shared, group, axis, figure, first)
    return pl.DataFrame(found)


def _compare_group(
    shared: dict[str, Any], group: pl.DataFrame, axis: str, figure: str, baseline: str
) -> list[dict[str, Any]]:
    kept = [_equalise(own, axis) for _, own in group.group_by("seed", maintain_order=True)]
    even = pl.concat(kept)
    done = group.filter(pl.col("state") == "completed")
    values = {label: even.filter(pl.col(axis) == label)[figure] for label in group[axis].unique(maintain_order=True)}
    base = values.get(baseline)
    rows = []
    for label, own in values.items():
        median, before = own.median(), None if base is None else base.median()
        told = isinstance(median, float) and isinstance(before, float) and median > 0
        rows.append(
            shared
            | {
                axis: label,
                "workflows": len(own),
                "left_out": done.filter(pl.col(axis) == label).height - len(own),
                "median": median,
                "baseline": before,
                "difference": median - before if told else None,  # type: ignore[operator]
                "ratio": before / median if told else None,  # type: ignore[operator]
            }
        )
    return rows


def _equalise(seed: pl.DataFrame, axis: str) -> pl.DataFrame:
    """Of one seed's workflows those that may be compared: the same, or the same number, under every level."""
    levels = seed[axis].n_unique()
    submitted = [frame["submit"].to_list() for _, frame in seed.group_by(axis, maintain_order=True)]
    done = seed.filter(pl.col("state") == "completed")
    if all(times == submitted[0] for times in submitted):
        return done.filter(pl.col(axis).n_unique().over("submit", "workflow_id") == levels)
    least = min((done.filter(pl.col(axis) == label).height for label in seed[axis].unique()), default=0)
    return done.sort("submit", maintain_order=True).group_by(axis, maintain_order=True).head(least)


def _workflows(store: Store, name: str, where: Mapping[str, str] | None) -> tuple[pl.DataFrame, list[str], str]:
    """The workflows of all runs, the axes, and what the column with their types is called.

    An axis of the experiment may be called `workflow` or `name`, as columns of the table are: `workflow_id` is the
    label of each, whatever the axes are called.
    """
    table = read_kept(store, name, "workflows", where)
    axes = find_axes(store.table(name, where))
    own = "workflow_workflows" if "workflow_workflows" in table.columns else "workflow"
    kind = "name_workflows" if "name_workflows" in table.columns else "name"
    return table.with_columns(pl.col(own).alias("workflow_id"), pl.col(kind).alias("type")), axes, "type"


def read_tables(store: Store, digests: Sequence[str], table: str) -> list[pl.DataFrame]:
    """A kept table of each of these runs; raises InputError where one is missing or damaged."""
    known = _checksums(store, table)
    return [_read(store, digest, f"{table}.parquet", known.get(digest, "")) for digest in digests]


def find_kept(store: Store, name: str) -> set[str]:
    """The runs of which a file of this name was kept."""
    asked = sa.select(runs.c.digest).join(files, files.c.run_id == runs.c.id).where(files.c.name == name)
    return set(store.database.read(lambda c: c.execute(asked).scalars().all()))


def _checksums(store: Store, table: str) -> dict[str, str]:
    asked = (
        sa.select(runs.c.digest, files.c.checksum)
        .join(files, files.c.run_id == runs.c.id)
        .where(files.c.name == f"{table}.parquet")
    )
    return dict(store.database.read(lambda c: c.execute(asked).all()))


def _names(store: Store) -> Sequence[str]:
    asked = sa.select(files.c.name).distinct()
    found = store.database.read(lambda c: c.execute(asked).scalars().all())
    return [name.removesuffix(".parquet") for name in found if name.endswith(".parquet") and "/" not in name]


def _read(store: Store, digest: str, name: str, expected: str) -> pl.DataFrame:
    path = store.results.folder_of(digest) / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"a kept table cannot be read ({error.strerror}); try `walltime store verify`", file=path
        ) from None
    if checksum_of(data) != expected:
        raise InputError("a kept table was changed after it was written; try `walltime store verify`", file=path)
    return pl.read_parquet(BytesIO(data))
