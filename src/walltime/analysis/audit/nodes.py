"""Is a schedule legal on its nodes? The part of the audit that reads the allocations' `nodes`: `0-3:24,7:5`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from walltime.analysis.audit.parts import find_wrong
from walltime.analysis.audit.sweep import usage_at_starts
from walltime.cluster.nodes import WHOLE, expand
from walltime.core.workload import Workload

Complaint = tuple[np.ndarray, str]
"""The allocations (by row) that are to blame, and what is wrong with them."""


class Placements:
    """The allocations of one cluster, taken apart: a row for each node of each; `of` is the allocation's row."""

    def __init__(self, texts: pl.Series, rows: np.ndarray) -> None:
        self.rows = rows
        chosen = texts.cast(pl.String).gather(rows)
        if chosen.null_count() == len(rows):
            self.silent = rows
            self.unreadable = self.of = self.node = self.cores = np.zeros(0, np.int64)
            return
        self.silent = rows[chosen.is_null().to_numpy()]
        ranges = pl.DataFrame({"of": rows, "text": chosen}).drop_nulls().with_columns(pl.col("text").str.split(","))
        ranges = ranges.explode("text").with_columns(
            pl.col("text").str.extract_groups(r"^(?<first>\d+)(?:-(?<last>\d+))?:(?<cores>\d+)$").alias("parts")
        )
        ranges = ranges.unnest("parts").with_columns(pl.col("first", "last", "cores").cast(pl.Int64))
        readable = ranges.filter(pl.col("cores").is_not_null())
        self.unreadable = ranges.filter(pl.col("cores").is_null())["of"].unique().to_numpy()
        first = readable["first"].to_numpy()
        length = np.maximum(readable["last"].fill_null(readable["first"]).to_numpy() - first + 1, 0)
        self.of = np.repeat(readable["of"].to_numpy(), length)
        start = np.repeat(np.cumsum(length) - length, length)
        self.node = np.repeat(first, length) + np.arange(len(self.of)) - start
        self.cores = np.repeat(readable["cores"].to_numpy(), length)


def find_complaints(
    texts: pl.Series,
    rows: np.ndarray,
    begin: np.ndarray,
    stop: np.ndarray,
    taken: np.ndarray,
    nodes: Mapping[str, Any],
) -> Iterator[Complaint]:
    """What is wrong with the allocations `rows` of a cluster whose nodes a record's facts describe."""
    sizes, whole = expand(nodes["cores"]), nodes["sharing"] == WHOLE
    placed = Placements(texts, rows)
    yield placed.silent, "does not say on which nodes it runs"
    yield placed.unreadable, "has nodes that cannot be read"
    strange = (placed.node < 0) | (placed.node >= len(sizes))
    yield placed.of[strange], f"is on a node that does not exist (0 to {len(sizes) - 1})"
    of, node, cores = placed.of[~strange], placed.node[~strange], placed.cores[~strange]
    twice = np.unique(np.column_stack((of, node)), axis=0, return_counts=True) if len(of) else (np.zeros((0, 2)), [])
    yield twice[0][np.asarray(twice[1]) > 1, 0].astype(np.int64), "names a node twice"
    yield of[cores < 1], "has no cores on one of its nodes"
    sums = np.bincount(of, cores, len(texts)).astype(np.int64)[rows]
    if whole:
        yield of[cores != sizes[node]], "has a part of a node where nodes are given as a whole"
        yield rows[sums < taken[rows]], "has nodes with fewer cores than it has"
        amount, capacity = np.ones(len(of), np.int64), np.ones(len(sizes), np.int64)
        message = "is on a node that another job has"
    else:
        yield rows[sums != taken[rows]], "has another sum of cores on its nodes than it has"
        amount, capacity = cores, sizes
        message = "is on a node where more cores are in use than it has"
    (used,) = usage_at_starts(begin[of], stop[of], node, amount)
    yield of[used > capacity[node]], message


def find_new_nodes(texts: pl.Series, rows: np.ndarray, whole: np.ndarray) -> Complaint:
    """Of jobs that have given nodes back: allocations with nodes that they did not have at first, or another share."""
    held, first = Placements(texts, rows), Placements(texts, np.unique(whole[rows]))
    known = pl.DataFrame({"of": first.of, "node": first.node, "cores": first.cores})
    have = pl.DataFrame({"row": held.of, "of": whole[held.of], "node": held.node, "cores": held.cores})
    new = have.join(known, on=["of", "node", "cores"], how="anti")
    return new["row"].to_numpy(), "has nodes that it did not have before it gave some back"


def find_misshapen(
    texts: pl.Series, rows: np.ndarray, owner: np.ndarray, nodes: Mapping[str, Any], workload: Workload
) -> Iterator[Complaint]:
    """Allocations that do not have the shape that the workload asks for; `owner` are their jobs' numbers."""
    sizes = expand(nodes["cores"])
    placed = Placements(texts, rows)
    order = np.argsort(workload.column("job_id"), kind="stable")
    asked = order[np.minimum(np.searchsorted(workload.column("job_id"), owner, sorter=order), len(order) - 1)]
    cores, count, each = (workload.column(name)[asked] for name in ("cores", "nodes", "cores_per_node"))
    alone = (workload.column("exclusive")[asked] > 0) | (nodes["sharing"] == WHOLE)
    count = np.where((count <= 0) & (each > 0), -(-cores // np.maximum(each, 1)), count)
    parted = workload.column("parts")[asked] >= 0
    shaped = (count > 0) & ~parted
    count = np.where(alone, count, np.minimum(count, cores))
    least = -(-cores // np.maximum(count, 1))
    held = np.bincount(placed.of, minlength=len(texts))
    yield rows[(shaped & (held != count))[rows]], "has another number of nodes than it asked for"
    there = placed.node < len(sizes)
    of, node, share = placed.of[there], placed.node[there], placed.cores[there]
    held_by = {int(row): (sizes[node] if alone[row] else share)[of == row] for row in rows[parted[rows]]}
    yield (
        np.array(find_wrong(workload, asked, held_by, alone), np.int64),
        "has other nodes than the parts that it asked for",
    )
    small = sizes[node] < np.maximum(least, each)[of]
    yield of[shaped[of] & alone[of] & small], "has nodes too small for it"
    uneven = (share > least[of]) | (share < cores[of] // np.maximum(count[of], 1))
    told = workload.column("running_on")[asked] >= 0
    yield of[(shaped & ~alone & ~told)[of] & uneven], "is not divided evenly over its nodes"
