"""What was down or reserved, as rectangles on the rows of a schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from walltime.core.tables import OUTAGES, Record, ticks
from walltime.core.time import SECOND

RESERVED = "reservation"
"""The kind of outage in which jobs may run; in the others none can."""
_Blocks = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Outages:
    """Rectangles of outages: `of` is the row in `table` (its times in seconds), rows from `low` to below `high`."""

    table: pl.DataFrame
    of: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """When each rectangle begins, in seconds."""
        return np.asarray(self.table["start"].to_numpy()[self.of])

    @property
    def end(self) -> np.ndarray:
        """When each rectangle ends, in seconds."""
        return np.asarray(self.table["end"].to_numpy()[self.of])

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each rectangle."""
        return np.asarray(self.table["kind"].cast(pl.String).to_numpy()[self.of])


def find_outages(record: Record, first: int, last: int) -> pl.DataFrame:
    """The outages between two times (microseconds) in order of their start; those that are not over end at `last`."""
    if record.outages is None:
        return pl.DataFrame(schema=OUTAGES)
    table = record.outages.with_columns(pl.col("end").fill_null(last / SECOND))
    inside = (pl.col("end") > pl.max_horizontal("start", pl.lit(first / SECOND))) & (pl.col("start") < last / SECOND)
    return table.filter(inside).sort("start", maintain_order=True)


def times_of(table: pl.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends in microseconds."""
    return ticks(table["start"]), ticks(table["end"])


def place_on_nodes(ranges: np.ndarray, nodes: np.ndarray, top: int) -> _Blocks:
    """Rectangles of ranges of nodes (rows: its outage, first node, last node, cores on each).

    `nodes` are the lowest rows of the nodes, `top` is the row above the last. Neighbours that are out as a whole make
    one rectangle; of a part of a node the highest rows are taken, as jobs fill a node from below.
    """
    edges = np.append(nodes, top)
    out: list[tuple[int, int, int]] = []
    for owner, first, last, cores in ranges.tolist():
        for node in range(max(first, 0), min(last, len(nodes) - 1) + 1):
            high = int(edges[node + 1])
            low = max(int(edges[node]), high - cores)
            if out and out[-1][0] == owner and out[-1][2] == low:
                out[-1] = (owner, out[-1][1], high)
            elif low < high:
                out.append((owner, low, high))
    table = np.array(out, np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2]


def place_on_top(cores: np.ndarray, low: int, high: int) -> _Blocks:
    """Rectangles on the highest rows, for reservations on a plain number of cores: jobs may be drawn over them."""
    return np.arange(len(cores)), np.maximum(high - cores, low), np.full(len(cores), high)
