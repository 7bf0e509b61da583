"""Dependencies of the plain form that workflows have, `afterok:12:13`, read all at once: as columns, not job by job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from walltime.core.workload import Workload

if TYPE_CHECKING:
    import polars as pl

PLAIN = r"^(after|afterany|afterok|afternotok)(:[0-9]{1,18})+$"


class PlainConditions:
    """Every expression is all of its conditions, each a job that stands before those that wait for it.

    `row` has the rows that wait, `expression` the number of what each waits for; of each condition `owner`, `kind` and
    `target`. Numbers are given in the order of first appearance.
    """

    def __init__(
        self, row: np.ndarray, expression: np.ndarray, owner: np.ndarray, kind: np.ndarray, target: np.ndarray
    ) -> None:
        self.row, self.expression, self.owner, self.kind, self.target = row, expression, owner, kind, target


def read_plain(workload: Workload, kinds: dict[str, int]) -> PlainConditions | None:
    """The conditions of a workload; None where some have another form, name a job twice, or one that is not there or
    not before the job that waits for it."""
    import polars as pl

    if workload.has("array"):  # a number may be that of an array
        return None
    texts = pl.Series("text", workload.column("dependencies"), dtype=pl.String).fill_null("")
    rows = np.flatnonzero((texts != "").to_numpy())
    told = texts.gather(rows).to_frame().with_row_index("place")
    distinct = told.group_by("text", maintain_order=True).agg(pl.col("place").first())
    if not distinct["text"].str.contains(PLAIN).all():
        return None
    distinct = distinct.with_row_index("expression")
    expression = told.join(distinct, on="text", how="left", maintain_order="left")["expression"].to_numpy()
    owner, target = _find_targets(distinct["text"], workload.column("job_id"))
    if target is None or _repeats(owner, target):
        return None
    begins = np.flatnonzero(np.diff(owner, prepend=-1))
    if np.any(np.maximum.reduceat(target, begins)[expression] >= rows):
        return None
    names = distinct["text"].str.extract(r"^([a-z]+)").replace_strict(kinds, return_dtype=pl.Int64).to_numpy()
    return PlainConditions(rows, expression.astype(np.int64), owner, names[owner], target)


def _find_targets(texts: pl.Series, job_id: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Of each job that a text names, the text's number and the job's row; no rows where one is not there."""
    import polars as pl

    named = texts.str.split(":").list.slice(1)
    owner = np.repeat(np.arange(len(texts)), named.list.len().to_numpy())
    number = named.explode().cast(pl.Int64).to_numpy()
    order = np.argsort(job_id, kind="stable")
    index = np.minimum(np.searchsorted(job_id, number, sorter=order), len(order) - 1)
    found = order[index]
    return owner, found if np.array_equal(job_id[found], number) else None


def _repeats(owner: np.ndarray, target: np.ndarray) -> bool:
    """Whether an expression names a job twice."""
    order = np.lexsort((target, owner))
    return bool(np.any((np.diff(owner[order]) == 0) & (np.diff(target[order]) == 0)))
