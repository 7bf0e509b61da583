"""Pictures of workflows as wholes, however they were submitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.charts.chart import Axis, Boxes, Chart, Panel, short_names
from walltime.analysis.charts.quantities import Shown, find_clock, find_labels
from walltime.analysis.charts.spread import QUANTILES
from walltime.analysis.statistics import Groups, group_means
from walltime.analysis.workflows import find_workflows
from walltime.core.errors import InputError

MOST = 12
_FIGURES = {
    "wait": ("wait before the first task", "duration"),
    "run": ("run, first start to last end", "duration"),
    "turnaround": ("turnaround, submission to last end", "duration"),
    "stretch": ("turnaround / critical path", "number"),
}


def workflows(results: Sequence[Shown], most: int = MOST) -> Chart:
    """Waits, runs, turnarounds and stretch of workflows by their name and way of submission; the most frequent ones."""
    tables = []
    for result in results:
        if not result.record.facts.get("workflows"):
            raise InputError(f"{result.label}: the result has no workflows")
        tables.append(find_workflows(result.record))
    kinds = [_name(table, _several_ways(tables)) for table in tables]
    ranked = pl.concat(kinds).value_counts(name="count").sort("count", "kind", descending=[True, False])
    names = ranked["kind"].head(most).to_list()
    panels = []
    for figure, (words, kind) in _FIGURES.items():
        marks = []
        for number, (label, table) in enumerate(zip(find_labels(results), tables, strict=True)):
            codes = [names.index(kind) if kind in names else -1 for kind in kinds[number]]
            values = np.maximum(table[figure].cast(pl.Float64).to_numpy(), 1.0)
            marks.append(_box(label, np.array(codes, np.int64), values, len(names), number))
        y = Axis("workflow", "category", categories=short_names(names))
        panels.append(Panel(Axis(words, kind, log=True), y, tuple(marks)))
    notes = ["Box: quartiles and median. Whiskers: 5 % and 95 %. Dot: mean. Less than a second is shown as a second."]
    notes.append("All but the wait are of workflows that have completed.")
    if ranked.height > most:
        notes.append(f"{most} of {ranked.height:,} kinds: the most frequent.")
    return Chart("workflows", "Workflows", tuple(panels), find_clock(results), tuple(notes))


def _several_ways(tables: Sequence[pl.DataFrame]) -> bool:
    """Whether one of the results has workflows that were submitted in different ways."""
    return any(table["way"].n_unique() > 1 for table in tables)


def _name(table: pl.DataFrame, ways: bool) -> pl.Series:
    """The kind of each workflow: its name, and how it was submitted where that tells them apart."""
    words = pl.concat_str("name", "way", separator=", ") if ways else pl.col("name")
    return table.select(words.alias("kind"))["kind"]


def _box(label: str, codes: np.ndarray, values: np.ndarray, count: int, colour: int) -> Boxes:
    known = (codes >= 0) & ~np.isnan(values)
    codes, values = codes[known], values[known]
    groups = Groups.of(codes, values, count)
    figures = np.column_stack([groups.quantile(fraction) for fraction in QUANTILES])
    return Boxes(label, figures, group_means(codes, values, count), groups.count, colour)
