"""Series of a run that keeps no row of its jobs: those of its pieces, added up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from walltime.analysis.intervals import find_capacity
from walltime.analysis.metrics import DERIVED, group_codes
from walltime.analysis.monitoring import SHARE, dominant_shares
from walltime.analysis.resources import NodeSubset, codes_of_allocations, find_parts, find_uses
from walltime.analysis.series import MOST_GROUPS, Measured, TimeGrid, find_grid, find_grid_between, find_owners
from walltime.core.tables import SERIES, Record
from walltime.core.time import SECOND

_MANY = 1 << 20
"""Rows that are held before those of one interval are made one."""


class SeriesTally:
    """The series of an `interval` (seconds) of the clusters, and of the groups of jobs `by` some keys."""

    def __init__(self, interval: float, by: Sequence[str]) -> None:
        self.interval = interval
        self.by = by
        self.names: dict[str, dict[str, None]] = {}
        self.frames: list[pl.DataFrame] = []
        self.rows = 0

    def add(self, piece: Record) -> None:
        """The series of some jobs; what is nowhere is left out."""
        grid = find_grid(piece, 1, self.interval)
        if grid is None:
            return
        clusters = list(find_capacity(piece))
        owner, job_owner = (find_owners(table, clusters) for table in (piece.allocations, piece.jobs))
        found = Measured.of(piece, grid, owner, job_owner, [[] for _ in clusters]).lines("", clusters)
        for key in self.by:
            if key in DERIVED or piece.jobs[key].count():
                codes, names = group_codes(piece.jobs, key)
                known = np.array([name is not None for name in names] + [False])
                numbers = np.where(known, np.arange(len(names) + 1), -1)
                owner = numbers[codes_of_allocations(piece, codes)]
                measured = Measured.of(piece, grid, owner, numbers[codes], [[] for _ in names])
                found += measured.lines(f"_by_{key}", [str(name) for name in names])
                told = dict.fromkeys(name for name in names if name is not None)
                self.names[key] = self.names.get(key, {}) | told
        self.frames.append(grid.table(found).filter(pl.col("value") != 0))
        self.rows += self.frames[-1].height
        if self.rows > max(_MANY, self.frames[0].height):
            self.frames, self.rows = [self._sum()], 0

    def _sum(self) -> pl.DataFrame:
        whole = pl.concat([pl.DataFrame(schema=SERIES), *self.frames])
        cells = whole.group_by("series", "entity", "time", maintain_order=True)
        return cells.agg(pl.col("value").sum()).select(*SERIES)

    def table(self, record: Record, first: int) -> pl.DataFrame:
        """All of them, of a record without jobs that tells what there was, and where it ended."""
        grid = find_grid_between(first, max(first, record.horizon or first), self.interval)
        found = self._sum().partition_by("series", "entity", as_dict=True, include_key=False, maintain_order=True)
        clusters = list(find_capacity(record))
        parts: list[list[NodeSubset]] = [[NodeSubset(name)] for name in clusters]
        lines = _fill(record, grid, found, "", clusters, parts).lines("", clusters)
        for key, names in self.names.items():
            suffix = f"_by_{key}"
            used = {name: found.get((f"used_cores{suffix}", name)) for name in names}
            weight = {name: 0.0 if rows is None else rows["value"].sum() for name, rows in used.items()}
            chosen = sorted(names, key=weight.__getitem__, reverse=True)[:MOST_GROUPS]
            parts = [find_parts(record, name) if key == "queue" else [] for name in chosen]
            measured = _fill(record, grid, found, suffix, chosen, parts)
            if key == "user":
                measured.values[SHARE] = dominant_shares(measured.values, find_uses(record))
            lines += measured.lines(suffix, chosen)
        return pl.concat([grid.table(lines), *([] if record.samples is None else [record.samples])])


def _fill(
    record: Record,
    grid: TimeGrid,
    found: dict[tuple[object, ...], pl.DataFrame],
    suffix: str,
    names: list[str],
    parts: list[list[NodeSubset]],
) -> Measured:
    """What there was over time, with what the jobs had of it."""
    nobody = np.zeros(0, np.int64)
    measured = Measured.of(record, grid, nobody, nobody, parts)
    for name, values in measured.values.items():
        for number, entity in enumerate(names):
            if (rows := found.get((f"{name}{suffix}", entity))) is not None:
                places = np.rint(rows["time"].to_numpy() * SECOND).astype(np.int64) - grid.first
                values[number, places // grid.length] += rows["value"].to_numpy()
    return measured
