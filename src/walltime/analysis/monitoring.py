"""Loads of nodes and groups of nodes over time, users' dominant shares, and all of it as a cluster's monitor writes it.

A load is what is in use of a resource as a part of what there is: `load_cores_by_node`, `load_memory_by_node_group`,
and `load_cores` of each cluster. They are means over the intervals of the other series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.intervals import Held
from walltime.analysis.resources import CORES, Use
from walltime.cluster.nodes import UNCOUNTED, Layout
from walltime.core.errors import InputError
from walltime.core.tables import Record, Traffic

if TYPE_CHECKING:
    from walltime.analysis.series import Line, TimeGrid
    from walltime.api import Result

NODES, GROUPS = "node", "node-group"
"""Keys of `record.by` that are no property of jobs."""
MOST_NODES = 1000
"""Nodes of a cluster that have series of their own: a picture shows no more."""
SHARE = "dominant_share"
TRAFFIC = {"disk": (0, 1), "network": (2, 3)}
"""What programs use besides, and the kinds of traffic that make its load."""
TOTAL = "TOTAL"
_COLUMNS = {"cpu_load": "cores", "memory_load": "memory", "disk_load": "disk"}
_FILES = {"load.csv": "loads", "scheduler_info.csv": "queues", "fair_share.csv": "shares"}


def dominant_shares(values: Mapping[str, np.ndarray], uses: Mapping[str, Use]) -> np.ndarray:
    """Of each group, from what it uses of each resource over time, the largest of its shares of what nodes have."""
    shares = [
        values[f"used_{name}"] / sum(use.total.values())
        for name, use in uses.items()
        if (use.nodes or name == CORES) and sum(use.total.values()) > 0
    ]
    largest: np.ndarray = np.maximum.reduce(shares)
    return largest


def measure_nodes(
    record: Record, grid: TimeGrid, keys: Sequence[str], layouts: Mapping[str, Layout | None], held: Held, uses: Any
) -> list[Line]:
    """The loads of the nodes, of their groups, and of each cluster; none of a cluster that is a number of cores."""
    lines = []
    told = [(name, layout) for name, layout in layouts.items() if layout is not None]
    for cluster, layout in told:
        mine = (record.allocations["cluster"].cast(pl.String) == cluster).to_numpy()
        placed = Placements(record.allocations["nodes"], np.flatnonzero(mine))
        prefix = f"{cluster}/" if len(told) > 1 else ""
        for name, use in uses.items():
            if name not in layout.resources():
                continue
            has = layout.amounts(name).astype(float)
            has = np.where(has >= UNCOUNTED, 0.0, has)
            used = _spread(record, placed, use)
            if NODES in keys:
                lines += _loads(grid, held, placed, used, placed.node, has, prefix, layout.names(), (name, "_by_node"))
            if GROUPS in keys:
                names = list(dict.fromkeys(group.name for group in layout.groups))
                numbers = np.repeat(
                    [names.index(group.name) for group in layout.groups], [g.count for g in layout.groups]
                )
                sums = np.bincount(numbers, has, len(names))
                lines += _loads(
                    grid, held, placed, used, numbers[placed.node], sums, prefix, names, (name, "_by_node_group")
                )
            every = np.zeros(len(placed.node), np.int64)
            lines += _loads(grid, held, placed, used, every, np.array([has.sum()]), "", [cluster], (name, ""))
        if record.traffic is not None and cluster in record.traffic:
            lines += _measure_traffic(grid, keys, record.traffic[cluster], layout, cluster, prefix)
    return lines


def _measure_traffic(
    grid: TimeGrid, keys: Sequence[str], traffic: Traffic, layout: Layout, cluster: str, prefix: str
) -> list[Line]:
    """The loads of disks and of the network that programs make: the larger of those of both directions. Components
    outside have theirs among the nodes, and do not count in groups and in all."""
    groups = list(dict.fromkeys(group.name for group in layout.groups))
    member = np.full(len(traffic.names), -1)
    member[: layout.count] = np.repeat(
        [groups.index(group.name) for group in layout.groups], [group.count for group in layout.groups]
    )
    owners = {"": (np.minimum(member, 0), [cluster], "")}
    if GROUPS in keys:
        owners["_by_node_group"] = (member, groups, prefix)
    if NODES in keys:
        ends = np.arange(len(traffic.names))
        shown = (ends < MOST_NODES) | (ends >= layout.count)
        owners["_by_node"] = (np.where(shown, ends, -1), traffic.names, prefix)
    lines = []
    for resource, kinds in TRAFFIC.items():
        for suffix, (owner, names, start) in owners.items():
            levels, known = _directions(grid, traffic, kinds, owner, len(names))
            for number in np.flatnonzero(known).tolist():
                lines.append((f"load_{resource}{suffix}", f"{start}{names[number]}", levels[number]))
    return lines


def _directions(
    grid: TimeGrid, traffic: Traffic, kinds: tuple[int, int], owner: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """The larger load of both directions of each owner over time, and which owners have any of it."""
    from walltime.analysis.series import IntervalSums

    levels, known = np.zeros((count, grid.count)), np.zeros(count, np.bool_)
    for kind in kinds:
        has = np.bincount(owner[owner >= 0], traffic.capacity[kind][owner >= 0], count)
        codes = np.where(traffic.kind == kind, owner[traffic.owner], -1)
        means = IntervalSums(grid, traffic.start, traffic.end, codes, count).means(traffic.rate)
        levels = np.maximum(levels, np.divide(means, has[:, None], out=np.zeros_like(means), where=has[:, None] > 0))
        known |= has > 0
    return levels, known


def _spread(record: Record, placed: Placements, use: Use) -> np.ndarray:
    """What each share of an allocation uses of a resource: as much on every node where the cores are spread evenly, as
    those of a job that asks for nodes; else by the cores there."""
    if use.name == CORES:
        return np.asarray(placed.cores, float)
    rows = record.allocations.height
    count = np.bincount(placed.of, minlength=rows)[placed.of]
    cores = np.bincount(placed.of, placed.cores, rows)[placed.of]
    least, most = np.full(rows, np.iinfo(np.int64).max), np.zeros(rows, np.int64)
    np.minimum.at(least, placed.of, placed.cores)
    np.maximum.at(most, placed.of, placed.cores)
    even = (most - least <= 1)[placed.of]
    amounts = np.asarray(use.held)[placed.of]
    found: np.ndarray = np.where(even, amounts / count, amounts * placed.cores / np.maximum(cores, 1))
    return found


def _loads(
    grid: TimeGrid,
    held: Held,
    placed: Placements,
    used: np.ndarray,
    owner: np.ndarray,
    has: np.ndarray,
    prefix: str,
    names: Sequence[str],
    label: tuple[str, str],
) -> list[Line]:
    """A series for each owner that has some of the resource."""
    from walltime.analysis.series import IntervalSums

    groups = min(len(names), MOST_NODES)
    codes = np.where(owner < groups, owner, -1)
    steps = IntervalSums(grid, held.start[placed.of], held.end[placed.of], codes, groups)
    means = steps.means(used)
    name = f"load_{label[0]}{label[1]}"
    return [
        (name, f"{prefix}{names[number]}", means[number] / has[number]) for number in range(groups) if has[number] > 0
    ]


# As tables


def loads(result: Result) -> pl.DataFrame:
    """The load of cores, memory and disk over time, of each node, group of nodes (`group-NAME`) and in all (`TOTAL`):
    `time`, `name`, `cpu_load`, `memory_load`, `disk_load`; a resource that is not counted has a load of 0."""
    series = result.series
    pieces = []
    for suffix, prefix in (("_by_node", ""), ("_by_node_group", "group-"), ("", "")):
        columns = []
        for column, name in _COLUMNS.items():
            mine = series.filter(pl.col("series") == f"load_{name}{suffix}")
            columns.append(mine.select("time", "entity", pl.col("value").alias(column)))
        first = columns[0]
        for other in columns[1:]:
            first = first.join(other, on=["time", "entity"], how="left", maintain_order="left")
        named = pl.lit(TOTAL) if not suffix and _is_one(first) else pl.concat_str(pl.lit(prefix), "entity")
        pieces.append(first.select("time", named.alias("name"), *(pl.col(name).fill_null(0.0) for name in _COLUMNS)))
    return pl.concat(pieces).sort("time", maintain_order=True)


def _is_one(table: pl.DataFrame) -> bool:
    return table["entity"].n_unique() <= 1


def queues(result: Result) -> pl.DataFrame:
    """How many jobs wait over time, of each user and in all (`TOTAL`): `time`, `queue_size`, `user`."""
    waiting = result.series.filter(pl.col("series") == "waiting_jobs")
    every = waiting.group_by("time", maintain_order=True).agg(pl.col("value").sum())
    total = every.select("time", pl.col("value").alias("queue_size"), pl.lit(TOTAL).alias("user"))
    users = _by_user(result, "waiting_jobs").select("time", pl.col("value").alias("queue_size"), user="entity")
    return pl.concat([total, users]).sort("time", maintain_order=True)


def shares(result: Result) -> pl.DataFrame:
    """The dominant share of each user over time: `time`, `user`, `share`."""
    table = _by_user(result, SHARE)
    return table.select("time", user="entity", share="value").sort("time", maintain_order=True)


def _by_user(result: Result, name: str) -> pl.DataFrame:
    return result.series.filter(pl.col("series") == f"{name}_by_user")


TABLES = {"loads": loads, "queues": queues, "shares": shares}
"""The tables of a monitor, by name."""


def write_monitoring(result: Result, folder: str | Path) -> list[Path]:
    """`load.csv`, `scheduler_info.csv` and `fair_share.csv` in the folder, in the columns of DSLab's monitor."""
    tables = {name: TABLES[table](result) for name, table in _FILES.items()}
    if not tables["load.csv"].height:
        raise InputError("the result has no loads of nodes: record: {by: [node-group]} or [node] keeps them")
    wanted = () if result.scenario is None else result.scenario.record.by
    if not tables["fair_share.csv"].height and "user" not in wanted:  # jobs may have no users
        raise InputError("the result has no series of users: record: {by: [user]} keeps them")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.write_csv(place / name)
    return [place / name for name in tables]
