"""The record as intervals of whole microseconds: which job held what from when to when, and where the record ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from walltime.analysis.cells import sum_held
from walltime.core.tables import Record, is_label, ticks
from walltime.core.time import NEVER, microseconds

ABSENT = -(1 << 62)
"""A time that a table does not give; earlier than any real one."""


@dataclass(frozen=True)
class Held:
    """The allocations, row by row: `cores` were held from `start` to `end` (microseconds)."""

    start: np.ndarray
    end: np.ndarray
    cores: np.ndarray
    nodes: np.ndarray | None = None
    """Of what was down: the node of each row, where that is known."""

    def core_time(self, first: int | None = None, last: int | None = None) -> np.ndarray:
        """How long each was held, between the two times where given."""
        start = self.start if first is None else np.maximum(self.start, first)
        end = self.end if last is None else np.minimum(self.end, last)
        return np.asarray(np.maximum(end - start, 0))

    def core_sum(self, first: int | None = None, last: int | None = None) -> int:
        """The core-microseconds that were held, between the two times where given; exact."""
        low, high = (-NEVER if first is None else first), (NEVER if last is None else last)
        return sum_held(self.start, self.end, self.cores, low, high)


def find_horizon(record: Record) -> int | None:
    """The last instant that the record knows of: the cut-off, where there was one, or the last end or event."""
    if record.horizon is not None:
        return record.horizon
    until = record.facts.get("until")
    if until is not None and is_cut_off(record):
        return microseconds(float(until))
    return find_latest(record)


def find_latest(record: Record) -> int | None:
    """The last instant in the tables."""
    columns = (record.allocations["end"], record.jobs["end"], record.allocations["start"], record.jobs["submit"])
    latest = [float(value) for column in columns if (value := column.max()) is not None]  # type: ignore[arg-type]
    return microseconds(max(latest)) if latest else None


def is_cut_off(record: Record) -> bool:
    """Whether something was going on when the record ends."""
    return bool(is_label(record.jobs["state"], "running", "waiting").any())


def find_held(record: Record) -> Held:
    """The allocations as arrays; one without an end was still held at the horizon."""
    table = record.allocations
    start, end = ticks(table["start"], ABSENT), ticks(table["end"], ABSENT)
    still = end == ABSENT
    if still.any():
        horizon = find_horizon(record)
        end[still] = start[still] if horizon is None else np.maximum(start[still], horizon)
    return Held(start, end, table["cores"].to_numpy())


def find_jobs(record: Record) -> np.ndarray:
    """The row of each allocation's job; -1 where the job is not there."""
    ids, owner = record.jobs["job_id"].to_numpy(), record.allocations["job_id"].to_numpy()
    if not len(ids) or not len(owner):
        return np.full(len(owner), -1)
    if len(ids) == ids[-1] - ids[0] + 1 and bool(np.all(ids[1:] > ids[:-1])):  # one after the other: no search
        rows = owner - ids[0]
        inside = rows.min() >= 0 and rows.max() < len(ids)
        return rows if inside else np.where((rows >= 0) & (rows < len(ids)), rows, -1)
    order = np.argsort(ids, kind="stable")
    rows = order[np.minimum(np.searchsorted(ids, owner, sorter=order), len(ids) - 1)]
    return np.where(ids[rows] == owner, rows, -1)


def find_down(record: Record) -> dict[str, Held]:
    """What was not there for any job, by cluster: failures and maintenance; what is down twice at once counts once."""
    if record.outages is None:
        return {}
    table = record.outages.filter(pl.col("kind").is_in(["failure", "maintenance"]))
    capacity, down = find_capacity(record), {}
    for name in table["cluster"].cast(pl.String).unique(maintain_order=True).to_list():
        mine = table.filter(pl.col("cluster").cast(pl.String) == name)
        start, end = ticks(mine["start"], ABSENT), ticks(mine["end"], ABSENT)
        end = np.where(end == ABSENT, np.maximum(start, find_horizon(record) or 0), end)
        if mine["nodes"].null_count() == mine.height:
            down[name] = _capped(Held(start, end, mine["cores"].to_numpy()), capacity.get(name, 0))
        else:
            down[name] = _merged(start, end, mine["nodes"].to_list())
    return down


def _capped(held: Held, capacity: int) -> Held:
    """The same as intervals one after the other, never more than the capacity."""
    times, index = np.unique(np.concatenate([held.start, held.end]), return_inverse=True)
    steps = np.zeros(len(times), np.int64)
    np.add.at(steps, index, np.concatenate([held.cores, -held.cores]))
    level = np.minimum(np.cumsum(steps), capacity)[:-1]
    return Held(times[:-1][level > 0], times[1:][level > 0], level[level > 0])


def _merged(start: np.ndarray, end: np.ndarray, nodes: list[str]) -> Held:
    """The intervals of each node, those that overlap made one."""
    found = [(node, row, cores) for row, text in enumerate(nodes) for node, cores in parse_nodes(text)]
    node, row, cores = (np.array(column, np.int64) for column in zip(*found, strict=True))
    order = np.lexsort((start[row], node))
    node, row, cores = node[order], row[order], cores[order]
    first, last = start[row], end[row]
    span = int(last.max()) + 1
    reach = np.maximum.accumulate(last + node * span)  # nodes apart, so that one never reaches into the next
    opens = np.append(True, first[1:] + node[1:] * span > reach[:-1])
    closes = np.append(np.flatnonzero(opens)[1:] - 1, len(node) - 1)
    return Held(first[opens], reach[closes] - node[closes] * span, cores[opens], node[opens])


def parse_nodes(text: str) -> list[tuple[int, int]]:
    """`0-3:24,7:5` as pairs of node and cores."""
    pairs = []
    for part in text.split(","):
        where, _, cores = part.partition(":")
        first, _, last = where.partition("-")
        pairs += [(node, int(cores)) for node in range(int(first), int(last or first) + 1)]
    return pairs


def find_capacity(record: Record) -> dict[str, int]:
    """Cores by cluster, as the engine was told."""
    return {str(name): int(cores) for name, cores in record.facts.get("clusters", {}).items()}
