"""Time series of a result: exact means of step functions over equal intervals of a round length.

`used_cores` and `running_jobs` count allocations; `waiting_jobs` and `waiting_cores` count eligible jobs that hold
nothing, from `eligible` to the start and again between attempts; `available_cores` is the capacity, without the
`down_cores` where some were. The same of every other resource: `used_gpus`, `waiting_gpus`, `available_gpus`. One
entity for each cluster; of groups of jobs (`used_cores_by_queue`) one for each group, of users also their dominant
shares (`dominant_share_by_user`); of nodes and groups of nodes their loads, see `monitoring`. Where the time of nodes
is shared, `load` counts the tasks on each node; its entity is `cluster/number`. A value is the mean over the whole
interval that begins at `time`, so value times interval is the integral. What a part has noted itself (fair-share
factors and use) follows as it is: values at a time, an entity for each user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.cells import locate, sum_steps, weigh_held
from walltime.analysis.intervals import ABSENT, Held, find_capacity, find_down, find_held, find_horizon
from walltime.analysis.metrics import DERIVED, group_codes
from walltime.analysis.monitoring import GROUPS, NODES, SHARE, dominant_shares, measure_nodes
from walltime.analysis.resources import CORES, NodeSubset, Use, codes_of_allocations, find_parts, find_uses
from walltime.cluster.nodes import Layout
from walltime.core.errors import InputError
from walltime.core.tables import SERIES, Record, is_label, ticks
from walltime.core.time import SECOND, microseconds

Line = tuple[str, str, np.ndarray]
"""One series: its name, its entity, and a value for each interval."""
_Places = tuple[np.ndarray, np.ndarray]

MOST_GROUPS = 20
"""Groups of a key that have series of their own: those that use most."""
MOST_INTERVALS = 1_000_000
NAMES = ("used_cores", "running_jobs", "waiting_jobs", "waiting_cores", "available_cores")

_HOUR, _WEEK = 3600, 604_800
_ROUND = (1, 10, 60, 300, 600, 900, 1800, _HOUR, 2 * _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR, 24 * _HOUR, 48 * _HOUR)


def choose_interval(seconds: float, intervals: int) -> int:
    """The shortest round length (1 s, 10 s, 1 min, ..., whole weeks) of which `intervals` cover so many seconds."""
    for length in _ROUND:
        if length * intervals >= seconds:
            return length
    weeks = max(1, -(-seconds // (_WEEK * intervals)))
    return int(weeks) * _WEEK


def series(
    record: Record,
    intervals: int = 1000,
    *,
    interval: float | None = None,
    by: Sequence[str] = ("queue",),
    layouts: Mapping[str, Layout | None] | None = None,
) -> pl.DataFrame:
    """The table of `core.tables.SERIES`, of about `intervals` intervals at most, from first submission to horizon.

    `interval` is their length in seconds instead; `by` are keys whose groups have series of their own. Nodes and groups
    of nodes have theirs where the clusters' `layouts` are known.
    """
    grid = find_grid(record, intervals, interval)
    if grid is None:
        return pl.DataFrame(schema=SERIES)
    clusters = list(find_capacity(record)) or ["cluster"]
    owner, job_owner = (find_owners(table, clusters) for table in (record.allocations, record.jobs))
    parts = [[NodeSubset(cluster)] for cluster in clusters]
    lines = Measured.of(record, grid, owner, job_owner, parts).lines("", clusters)
    if record.facts.get("shared_time"):
        held = find_held(record)
        for number, cluster in enumerate(clusters):
            lines += _measure_load(grid, record, cluster, np.flatnonzero(owner == number), held)
    for key in by:
        if key not in (NODES, GROUPS):
            lines += _measure_groups(record, grid, key)
    if layouts and (NODES in by or GROUPS in by):
        lines += measure_nodes(record, grid, by, layouts, find_held(record), find_uses(record))
    return pl.concat([grid.table(lines), *([] if record.samples is None else [record.samples])])


def group_series(record: Record, key: str, intervals: int = 1000) -> pl.DataFrame:
    """The series of the groups of one key alone; none where the jobs do not tell it."""
    grid = find_grid(record, intervals, None)
    return pl.DataFrame(schema=SERIES) if grid is None else grid.table(_measure_groups(record, grid, key))


def find_grid(record: Record, intervals: int, interval: float | None) -> TimeGrid | None:
    """The intervals of a record; None where it has no job."""
    if intervals < 1:
        raise InputError("the number of intervals is not positive", value=intervals)
    submit, horizon = ticks(record.jobs["submit"]), find_horizon(record)
    if not len(submit) or horizon is None:
        return None
    first = int(submit.min())
    last = max(horizon, first)
    return TimeGrid.over(first, last, intervals) if interval is None else find_grid_between(first, last, interval)


def find_grid_between(first: int, last: int, interval: float) -> TimeGrid:
    """Intervals of so many seconds between two times; raises InputError where there would be too many."""
    if not interval * SECOND >= 1 or (last - first) / (interval * SECOND) > MOST_INTERVALS:
        what = f"the interval of the series is not positive, or gives more than {MOST_INTERVALS:,} of them"
        raise InputError(what, value=interval)
    return TimeGrid.of(first, last, microseconds(interval))


def _measure_groups(record: Record, grid: TimeGrid, key: str) -> list[Line]:
    """The series of each group of jobs, the heaviest `MOST_GROUPS` of them; of queues also what they may use."""
    if key not in DERIVED and not record.jobs[key].count():
        return []
    codes, names = group_codes(record.jobs, key)
    owner = codes_of_allocations(record, codes)
    held = find_held(record)
    weight = weigh_held(held.start, held.end, held.cores, owner, len(names))
    order = [int(place) for place in np.argsort(-weight, kind="stable") if names[place] is not None][:MOST_GROUPS]
    number = np.full(len(names) + 1, -1)  # the last for allocations of no known job
    number[order] = np.arange(len(order))
    chosen = [str(names[place]) for place in order]
    parts = [find_parts(record, name) if key == "queue" else [] for name in chosen]
    owner, codes = number[owner], number[codes]
    measured = Measured.of(record, grid, owner, codes, parts)
    if key == "user":
        measured.values[SHARE] = dominant_shares(measured.values, find_uses(record))
    return measured.lines(f"_by_{key}", chosen)


@dataclass(frozen=True)
class Measured:
    """What groups of jobs use and wait for over time: for each series a row for each group, a value an interval."""

    grid: TimeGrid
    values: dict[str, np.ndarray]
    known: dict[str, np.ndarray]
    """Of a series that not every group has: which of them do."""

    @classmethod
    def of(
        cls,
        record: Record,
        grid: TimeGrid,
        owner: np.ndarray,
        job_owner: np.ndarray,
        parts: Sequence[Sequence[NodeSubset]],
    ) -> Measured:
        """`owner` and `job_owner` are the groups of allocations and jobs, -1 for none; `parts` the nodes of each group
        where that is to be told."""
        groups, horizon = len(parts), find_horizon(record) or 0
        held, uses, outages = find_held(record), find_uses(record), find_down(record)
        ran = IntervalSums(grid, held.start, held.end, owner, groups)
        there = IntervalSums(grid, *_find_present(record.jobs, horizon, job_owner), groups)
        ran.sum_up([None, *(use.held for use in uses.values())])
        there.sum_up([None, *(use.asked for use in uses.values())])
        values = {f"used_{CORES}": ran.means(uses[CORES].held), "running_jobs": ran.means(None)}
        values["waiting_jobs"] = there.means(None, less=(ran, None))
        for name, use in uses.items():
            if name != CORES:
                values[f"used_{name}"] = ran.means(use.held)
            values[f"waiting_{name}"] = there.means(use.asked, less=(ran, use.held))
        known = {}
        for name, use in uses.items():
            total = np.array([[sum(part.total(use) for part in own)] for own in parts], float)
            gone, down = _measure_down(grid, use, parts, outages)
            if down.any():
                values[f"down_{name}"], known[f"down_{name}"] = gone, down
            values[f"available_{name}"] = np.broadcast_to(total, gone.shape) - gone
            known[f"available_{name}"] = np.array([bool(own) for own in parts])
        return cls(grid, values, known)

    def lines(self, suffix: str, entities: Sequence[str]) -> list[Line]:
        """All series, group by group."""
        return [
            (f"{name}{suffix}", entity, rows[number])
            for number, entity in enumerate(entities)
            for name, rows in self.values.items()
            if name not in self.known or self.known[name][number]
        ]


def _measure_down(
    grid: TimeGrid, use: Use, parts: Sequence[Sequence[NodeSubset]], outages: Mapping[str, Held]
) -> tuple[np.ndarray, np.ndarray]:
    """How much of a resource was down over time in each group's nodes, and which groups have some that ever was."""
    values, met = np.zeros((len(parts), grid.count)), np.zeros(len(parts), bool)
    for number, own in enumerate(parts):
        for held in (part.down(use, outages) for part in own):
            if held is not None and len(held.start):
                values[number] += grid.means(
                    (grid.locate(held.start), held.cores), (grid.locate(held.end), -held.cores)
                )
                met[number] = True
    return values, met


def _find_present(jobs: pl.DataFrame, horizon: int, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """From when to when each job was in the system, `eligible` to end, and its group; -1 where it never was."""
    eligible, end = ticks(jobs["eligible"], ABSENT), ticks(jobs["end"], ABSENT)
    end[end == ABSENT] = horizon
    # A job of zero length may enter and leave at once; its allocation is empty too.
    present = ~is_label(jobs["state"], "rejected") & (eligible != ABSENT) & (eligible < end)
    return eligible, end, owner if present.all() else np.where(present, owner, -1)


def _measure_load(grid: TimeGrid, record: Record, cluster: str, rows: np.ndarray, held: Held) -> list[Line]:
    """The tasks on each node of a cluster; for the first thousand nodes, because a picture shows no more."""
    layout = record.facts.get("nodes", {}).get(cluster)
    if layout is None:
        return []
    placed = Placements(record.allocations["nodes"], rows)
    lines = []
    for node in range(min(sum(count for count, _ in layout["cores"]), 1000)):
        here = placed.node == node
        start, stop = grid.locate(held.start[placed.of[here]]), grid.locate(held.end[placed.of[here]])
        tasks = placed.cores[here]
        lines.append(("load", f"{cluster}/{node}", grid.means((start, tasks), (stop, -tasks))))
    return lines


@dataclass(frozen=True)
class IntervalSums:
    """Intervals of time, each in a group: what holds so much while it lasts, to be summed up by interval of a grid."""

    grid: TimeGrid
    start: np.ndarray
    end: np.ndarray
    codes: np.ndarray
    """From `start` to `end`, in the groups `codes`; those of group -1 are left out."""
    groups: int
    known: dict[int, tuple[np.ndarray | None, np.ndarray, np.ndarray]] = field(default_factory=dict)
    """What has been summed up, by the identity of the amounts, which are kept beside it."""

    def means(
        self, amounts: np.ndarray | None, less: tuple[IntervalSums, np.ndarray | None] | None = None
    ) -> np.ndarray:
        """The mean level of each group over each interval; each counts 1, or its amount. `less` is taken away."""
        level, partial = self._sums(amounts)
        if less is not None:
            other = less[0]._sums(less[1])
            level, partial = level - other[0], partial - other[1]
        before = np.cumsum(level, axis=1) - level
        values: np.ndarray = (before + partial)[:, : self.grid.count]
        return np.where(np.abs(values) < 1e-9, 0.0, values)  # what rounding leaves of an empty machine

    def sum_up(self, amounts: Sequence[np.ndarray | None]) -> None:
        """Sum up for several amounts at once, as `means` would for each of them."""
        distinct = list({id(one): one for one in amounts if id(one) not in self.known}.values())
        steps, less = (self.grid.sum_steps(at, self.codes, distinct, self.groups) for at in (self.start, self.end))
        for one, (level, partial), (less_level, less_partial) in zip(distinct, steps, less, strict=True):
            self.known[id(one)] = one, level - less_level, partial - less_partial

    def _sums(self, amounts: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Sums by group and interval, and the part of them that counts in the interval itself: see `TimeGrid.means`."""
        if id(amounts) not in self.known:
            self.sum_up([amounts])
        return self.known[id(amounts)][1:]


class TimeGrid:
    """Equal intervals over time, and the one integral that everything here needs."""

    def __init__(self, first: int, length: int, count: int) -> None:
        self.first, self.length, self.count = first, length, count

    @classmethod
    def over(cls, first: int, last: int, intervals: int) -> TimeGrid:
        """Intervals that begin at multiples of their length; one more than asked for where the edges fall badly."""
        return cls.of(first, last, choose_interval((last - first) / SECOND, intervals) * SECOND)

    @classmethod
    def of(cls, first: int, last: int, length: int) -> TimeGrid:
        """Intervals of a length in microseconds, which begin at multiples of it."""
        begin = first // length * length
        return cls(begin, length, max(1, -(-(last - begin) // length)))

    def locate(self, times: np.ndarray, codes: np.ndarray | None = None) -> _Places:
        """In which interval each time falls, and which part of that interval is left then; see `cells.locate`."""
        return locate(times, self.first, self.length, self.count, codes)

    def sum_steps(
        self, times: np.ndarray, codes: np.ndarray, amounts: Sequence[np.ndarray | None], groups: int
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each of the amounts the steps by group and interval, and the part of them that counts in the interval
        itself; see `means`."""
        made = sum_steps(times, codes, amounts, self.first, self.length, self.count, groups)
        shape = groups, self.count + 1
        return [(level.reshape(shape), partial.reshape(shape)) for level, partial in made]

    def means(self, *steps: tuple[_Places, np.ndarray | int]) -> np.ndarray:
        """The mean over each interval of the function that is zero at first and makes the given steps (where, by what).

        A step at offset o of an interval of length w adds delta * (w - o) to that interval and delta * w to all later
        ones: two sums by interval, no sorting.
        """
        level, partial = np.zeros(self.count + 1), np.zeros(self.count + 1)
        for (place, rest), deltas in steps:
            if isinstance(deltas, int):
                level += deltas * np.bincount(place, minlength=self.count + 1)
            else:
                level += np.bincount(place, deltas, self.count + 1)
            partial += np.bincount(place, rest * deltas, self.count + 1)
        before = np.cumsum(level) - level
        values: np.ndarray = (before + partial)[: self.count]
        return np.where(np.abs(values) < 1e-9, 0.0, values)  # what rounding leaves of an empty machine

    def table(self, lines: Sequence[Line]) -> pl.DataFrame:
        """The series as rows of the table, one after the other."""
        times = (self.first + self.length * np.arange(self.count)) / SECOND
        number = pl.Series(np.repeat(np.arange(len(lines)), self.count))
        names, entities, values = zip(*lines, strict=True) if lines else ((), (), ())
        columns = {
            "time": np.tile(times, len(lines)),
            "series": pl.Series(names, dtype=pl.String).gather(number),
            "entity": pl.Series(entities, dtype=pl.String).gather(number),
            "value": np.concatenate([np.empty(0), *values]),
        }
        return pl.DataFrame(columns, schema=SERIES)


def find_owners(table: pl.DataFrame, clusters: list[str]) -> np.ndarray:
    """The number of each row's cluster; rows of no known cluster belong to the only one, or to none."""
    if len(clusters) == 1:
        return np.zeros(table.height, np.int64)
    numbers = pl.Series(range(len(clusters)), dtype=pl.Int64)
    names = table["cluster"].cast(pl.String)
    return names.replace_strict(pl.Series(clusters), numbers, default=-1, return_dtype=pl.Int64).to_numpy()
