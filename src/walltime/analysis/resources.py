"""What jobs hold of each resource, and how much of it there is: cores, memory, GPUs, licences, and what nodes have.

A job holds what it asked for, as limits count it, in every interval in which it runs. A queue has what its nodes have;
everyone has the licences. Nodes that are down offer nothing meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from walltime.analysis.audit.requests import Requests
from walltime.analysis.headline import WORDS
from walltime.analysis.intervals import Held, find_capacity, find_down, find_held, find_jobs, parse_nodes
from walltime.analysis.metrics import find_seen_window, group_codes, in_experiment
from walltime.cluster import hostlist
from walltime.cluster.nodes import expand
from walltime.core.tables import RESOURCES, Record, find_whole
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload

if TYPE_CHECKING:
    from walltime.cluster.nodes import Layout
    from walltime.scenario import Cluster, Scenario

CORES = "cores"


def name_resource(resource: str) -> str:
    """The resource as people write it."""
    return WORDS.get(resource, resource)


# Noting what a record does not tell by itself


def note_resources(record: Record, workload: Workload, scenario: Scenario) -> Record:
    """The record with what its clusters have and its jobs hold besides cores; itself where nothing else is counted."""
    described = scenario.slurm is None or scenario.slurm.conf is None
    layouts = {cluster.name: layout for cluster in scenario.clusters if (layout := cluster.layout()) and described}
    facts = {"queues": _note_queues(scenario.clusters, layouts), "nodes": _note_names(record, layouts)}
    counted = {name: layout for name, layout in layouts.items() if not layout.plain}
    if counted:
        facts["resources"] = {name: _note_layout(layout) for name, layout in counted.items()}
    record = replace(record, facts=record.facts | {name: value for name, value in facts.items() if value})
    if not counted:
        return record
    held = [_hold(record, workload, cluster) for cluster in scenario.clusters if cluster.name in counted]
    table = pl.concat([pl.DataFrame(schema=RESOURCES), *held])
    return replace(record, jobs=_with_gpus(record.jobs, table, workload), resources=table)


def _note_layout(layout: Layout) -> dict[str, Any]:
    """`total` of each resource, and what `nodes` have of it, as runs of equal ones; licences belong to no node."""
    found: dict[str, Any] = {}
    for name in layout.resources()[1:]:
        runs = [[group.count, int(group.amount(name))] for group in layout.groups]
        found[name] = {"total": sum(count * amount for count, amount in runs), "nodes": runs}
    return found | {name: {"total": int(count)} for name, count in layout.licences.items()}


def _note_names(record: Record, layouts: Mapping[str, Layout]) -> dict[str, Any]:
    """What the record says of the nodes, with their names in short where the site gives them: `c[001-352],g[01-48]`."""
    told = dict(record.facts.get("nodes") or {})
    for name, layout in layouts.items():
        if name in told and any(group.own_names is not None for group in layout.groups):
            told[name] = told[name] | {"names": hostlist.compress(layout.names())}
    return told


def _note_queues(clusters: tuple[Cluster, ...], layouts: Mapping[str, Layout]) -> dict[str, dict[str, str | None]]:
    """The nodes of each queue by their numbers, `0-3,7`; None for all of them."""
    return {
        cluster.name: {
            name: None if queue.nodes is None else write_ranges(layouts[cluster.name].select(queue.nodes))
            for name, queue in cluster.queues.items()
        }
        for cluster in clusters
        if cluster.name in layouts and cluster.queues
    }


def write_ranges(chosen: np.ndarray) -> str:
    """Which of the nodes are chosen, by their numbers: `0-3,7`."""
    nodes = np.flatnonzero(chosen)
    runs = np.split(nodes, np.flatnonzero(np.diff(nodes) != 1) + 1) if len(nodes) else []
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _hold(record: Record, workload: Workload, cluster: Cluster) -> pl.DataFrame:
    """What the jobs of a cluster hold while they run; a row for each job and resource of which it holds some."""
    from walltime.analysis.audit.rules import find_rows

    jobs = record.jobs.filter(pl.col("cluster").cast(pl.String) == cluster.name)
    ids = jobs["job_id"].to_numpy()
    rows = find_rows(ids, workload)
    ids, nodes = ids[rows >= 0], np.maximum(jobs["nodes"].fill_null(1).to_numpy()[rows >= 0], 1)
    requests = Requests(workload, rows[rows >= 0], cluster)
    every = np.arange(len(ids))
    amounts = {kind: requests.total(kind, every, nodes) for kind in requests.kinds if kind != CORES}
    tables = []
    for name, amount in (amounts | requests.licences).items():
        some = amount > 0
        label = pl.repeat(name, int(some.sum()), dtype=pl.String, eager=True)
        tables.append(pl.DataFrame({"job_id": ids[some], "resource": label, "amount": amount[some]}, schema=RESOURCES))
    return pl.concat([pl.DataFrame(schema=RESOURCES), *tables])


def _with_gpus(jobs: pl.DataFrame, held: pl.DataFrame, workload: Workload) -> pl.DataFrame:
    """The jobs with all their GPUs, also where they asked for so many on each node."""
    if not workload.has("gpus_per_node"):
        return jobs
    gpus = held.filter(pl.col("resource") == "gpus").select("job_id", pl.col("amount").alias("held"))
    joined = jobs.select("job_id", "gpus").join(gpus.unique("job_id"), on="job_id", how="left", maintain_order="left")
    return jobs.with_columns(pl.max_horizontal("gpus", joined["held"].fill_null(0)).alias("gpus"))


# Reading it again


@dataclass(frozen=True)
class Use:
    """A resource of a record: what each allocation holds of it, and what each job asks for, by row."""

    name: str
    held: np.ndarray
    asked: np.ndarray
    total: Mapping[str, float]
    nodes: Mapping[str, np.ndarray]
    """How much there is, by cluster; and on each of its nodes, where it is on nodes."""


def find_uses(record: Record) -> dict[str, Use]:
    """Cores, and every other resource that the record tells of."""
    layouts = {name: expand(told["cores"]) for name, told in (record.facts.get("nodes") or {}).items()}
    cores = record.allocations["cores"].to_numpy(), record.jobs["cores"].to_numpy()
    found = {CORES: Use(CORES, *cores, find_capacity(record), layouts)}
    if record.resources is None:
        return found
    told: dict[str, Any] = record.facts.get("resources") or {}
    part = find_parts_held(record)
    for name in dict.fromkeys(name for own in told.values() for name in own):
        amounts = record.resources.filter(pl.col("resource") == name)
        held, asked = (_gather(amounts, table["job_id"]) for table in (record.allocations, record.jobs))
        total = {cluster: float(own[name]["total"]) for cluster, own in told.items() if name in own}
        nodes = {cluster: expand(own[name]["nodes"]) for cluster, own in told.items() if "nodes" in own.get(name, {})}
        found[name] = Use(name, held * part if nodes else held, asked, total, nodes)
    return found


def find_parts_held(record: Record) -> np.ndarray:
    """The part of what its job was given that each allocation has, of what is on nodes: 1, and less where the job has
    given nodes back, in proportion to its cores."""
    table = record.allocations
    resized = (table["outcome"].cast(pl.String) == "resized").to_numpy()
    cores = table["cores"].to_numpy()
    return np.asarray(cores / cores[find_whole(table["job_id"].to_numpy(), table["attempt"].to_numpy(), resized)])


def _gather(amounts: pl.DataFrame, ids: pl.Series) -> np.ndarray:
    """The amount of each job, by its number; 0 where it holds nothing."""
    known = amounts["job_id"].to_numpy()
    if not len(known):
        return np.zeros(len(ids))
    order = np.argsort(known, kind="stable")
    wanted = ids.to_numpy()
    place = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    return np.where(known[place] == wanted, amounts["amount"].to_numpy()[place], 0).astype(np.float64)


@dataclass(frozen=True)
class NodeSubset:
    """The nodes of a cluster that a group of jobs may use; `nodes` is None for the whole cluster."""

    cluster: str
    nodes: np.ndarray | None = None

    def total(self, use: Use) -> float:
        """How much of a resource there is."""
        if self.nodes is None or self.cluster not in use.nodes:
            return float(use.total.get(self.cluster, 0))
        return float(use.nodes[self.cluster][self.nodes].sum())

    def down(self, use: Use, outages: Mapping[str, Held]) -> Held | None:
        """How much of it was not there, from when to when."""
        held = outages.get(self.cluster)
        if held is None or (held.nodes is None and use.name != CORES):
            return None
        if held.nodes is None:
            return held if self.nodes is None else None
        if self.cluster not in use.nodes:
            return None
        amounts = use.nodes[self.cluster][held.nodes]
        mine = np.ones(len(amounts), bool) if self.nodes is None else np.isin(held.nodes, self.nodes)
        return Held(held.start[mine], held.end[mine], amounts[mine])


def find_parts(record: Record, queue: str | None = None) -> list[NodeSubset]:
    """The whole clusters, or the nodes of a queue in each of them that has it."""
    clusters = list(find_capacity(record))
    if queue is None:
        return [NodeSubset(name) for name in clusters]
    told = record.facts.get("queues") or {}
    mine = {name: told[name][queue] for name in clusters if queue in told.get(name, {})}
    return [NodeSubset(name, None if text is None else read_numbers(text)) for name, text in mine.items()]


def read_numbers(text: str) -> np.ndarray:
    """`0-3,7` as numbers."""
    return np.array([node for node, _ in parse_nodes(",".join(f"{part}:0" for part in text.split(",")))], np.int64)


# Figures


def sum_up_resources(record: Record, window: tuple[int | None, int | None]) -> dict[str, dict[str, float | None]]:
    """Of each resource how much there is (`total`), how many seconds of it jobs held, and its utilization in the whole
    and in the window; nothing where cores are all that is counted."""
    uses = find_uses(record)
    if len(uses) == 1:
        return {}
    held, outages, parts = find_held(record), find_down(record), find_parts(record)
    whole = _whole(record, held)
    return {
        name: {
            "total": sum(use.total.values()),
            "seconds": float(np.sum(held.core_time() * use.held) / SECOND),
            "utilization": _utilization(use, held, use.held, parts, outages, whole),
            "utilization_window": _utilization(use, held, use.held, parts, outages, window),
        }
        for name, use in uses.items()
    }


def use_by(record: Record, key: str, window: tuple[float | None, float | None] | None = None) -> pl.DataFrame:
    """What each group of jobs holds of each resource: `total` that it may use, `seconds` that it held, its `share` of
    all that was held, and the `utilization` in the observation window, or another one (seconds).

    A queue may use its own nodes, every other group all of them. The heaviest users of cores come first. By resource,
    the groups are in the column `jobs_with`: jobs with GPUs, and without.
    """
    held, outages, uses = find_held(record), find_down(record), find_uses(record)
    span = find_seen_window(record, in_experiment(record)) if window is None else _in_microseconds(window)
    codes, names = group_codes(record.jobs, key)
    of_allocation = codes_of_allocations(record, codes)
    rows: list[tuple[Any, ...]] = []
    for number, name in enumerate(names):
        parts = find_parts(record, name if key == "queue" else None) or find_parts(record)
        if key == "cluster" and name is not None:
            parts = [NodeSubset(name)]
        for resource, use in uses.items():
            mine = np.where(of_allocation == number, use.held, 0)
            total, seconds = sum(part.total(use) for part in parts), float(np.sum(held.core_time() * mine) / SECOND)
            every = float(np.sum(held.core_time() * use.held) / SECOND)
            share = seconds / every if every else None
            figure = _utilization(use, held, mine, parts, outages, span)
            rows.append((name, resource, total, seconds, share, figure))
    group = "jobs_with" if key == "resource" else key
    kinds = {group: pl.String, "resource": pl.String} | dict.fromkeys(
        ("total", "seconds", "share", "utilization"), pl.Float64
    )
    table = pl.DataFrame(rows, schema=kinds, orient="row")
    if key == "size":
        return table
    weight = pl.col("seconds").filter(pl.col("resource") == CORES).sum().over(group)
    return table.sort(weight, descending=True, maintain_order=True)


def _in_microseconds(window: tuple[float | None, float | None]) -> tuple[int | None, int | None]:
    first, last = window
    return None if first is None else microseconds(first), None if last is None else microseconds(last)


def codes_of_allocations(record: Record, codes: np.ndarray) -> np.ndarray:
    """The group of each allocation, from the groups of the jobs; -1 for an unknown job."""
    rows = find_jobs(record)
    return np.asarray(codes[rows] if len(rows) and rows.min() >= 0 else np.append(codes, -1)[rows])


def _whole(record: Record, held: Held) -> tuple[int | None, int | None]:
    submit = record.jobs["submit"].min()
    if submit is None or not len(held.end):
        return None, None
    return round(float(submit) * SECOND), int(held.end.max())  # type: ignore[arg-type]


def _utilization(
    use: Use,
    held: Held,
    amounts: np.ndarray,
    parts: list[NodeSubset],
    outages: Mapping[str, Held],
    window: tuple[int | None, int | None],
) -> float | None:
    there = find_offered(use, parts, outages, window)
    return float(np.sum(held.core_time(*window) * amounts)) / there if there > 0 else None


def find_offered(
    use: Use, parts: list[NodeSubset], outages: Mapping[str, Held], window: tuple[int | None, int | None]
) -> float:
    """How much of a resource times how long (microseconds) was there in the window; 0 where that is none."""
    first, last = window
    if first is None or last is None or last <= first:
        return 0
    there: float = sum(part.total(use) for part in parts) * (last - first)
    for down in (part.down(use, outages) for part in parts):
        there -= 0.0 if down is None else float(np.sum(down.core_time(first, last) * down.cores))
    return there
