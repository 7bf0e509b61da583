"""What the report shows of an experiment: its cells with their finished runs, and what was kept of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from walltime.analysis.charts.grids import FigureGrid
from walltime.core.errors import InputError
from walltime.experiments.comparison import find_axes
from walltime.experiments.grouping import find_kept, read_tables

if TYPE_CHECKING:
    from walltime.experiments.answers.losers import Tables
    from walltime.experiments.store import Store


@dataclass(frozen=True)
class CellRuns:
    """A cell: its number, the labels by axis, its name among the others, and its finished runs by seed."""

    number: int
    labels: dict[str, str]
    name: str
    runs: dict[int, dict[str, Any]]


class ReportContents:
    """An experiment of a store; raises InputError for one that is not there or has no finished run."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name
        self.registered = store.find(name)
        self.table = store.table(name)
        self.axes = find_axes(self.table)
        if not (self.table["state"] == "done").any():
            raise InputError("no run of the experiment is done", value=name)

    @cached_property
    def figures(self) -> list[str]:
        """The names of all figures."""
        return self.table.columns[self.table.columns.index("error") + 1 :]

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The labels of each axis, in their order."""
        return {axis: tuple(self.table[axis].unique(maintain_order=True).to_list()) for axis in self.axes}

    @cached_property
    def cells(self) -> list[CellRuns]:
        """The cells with a finished run, in order. A cell is called by the axes in which cells differ."""
        telling = [axis for axis in self.axes if len(self.labels[axis]) > 1]
        found: dict[int, CellRuns] = {}
        for row in self.table.filter(pl.col("state") == "done").iter_rows(named=True):
            labels = {axis: row[axis] for axis in self.axes}
            name = ", ".join(str(row[axis]) for axis in telling) or self.name
            found.setdefault(row["cell"], CellRuns(row["cell"], labels, name, {})).runs[row["seed"]] = row
        return list(found.values())

    def grid(self, figure: str) -> FigureGrid:
        """One figure over the grid; raises InputError for one that no run has."""
        if figure not in self.figures:
            raise InputError("no run of the experiment has such a figure", value=figure, choices=self.figures)
        values = {
            tuple(cell.labels[axis] for axis in self.axes): [
                row[figure] for _, row in sorted(cell.runs.items()) if row[figure] is not None
            ]
            for cell in self.cells
        }
        return FigureGrid(figure, self.labels, values)

    @cached_property
    def keys(self) -> list[str]:
        """The keys by which tables of groups were kept of every finished run."""
        wanted = self.registered.definition.get("keep")
        return list(wanted.get("groups", ())) if isinstance(wanted, dict) else []

    def groups(self, key: str) -> dict[str, Tables]:
        """The figures of the groups in each finished run, by the run."""
        digests = [row["run"] for cell in self.cells for row in cell.runs.values()]
        tables = read_tables(self.store, digests, f"by_{key}")
        return {
            digest: {str(row[key]): row for row in table.iter_rows(named=True) if row[key] is not None}  # type: ignore[misc]
            for digest, table in zip(digests, tables, strict=True)
        }

    @cached_property
    def kept(self) -> set[str]:
        """The runs whose results were kept whole."""
        return find_kept(self.store, "result/summary.json")
