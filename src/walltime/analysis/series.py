"""Time series of a result: exact means of step functions over equal intervals of a round length.

`used_cores` and `running_jobs` count allocations; `waiting_jobs` and `waiting_cores` count eligible jobs that hold
nothing, from `eligible` to the start and again between attempts; `available_cores` is the capacity, without the
`down_cores` where some were. One entity for each cluster. Where the time of nodes is shared, `load` counts the tasks on
each node; its entity is `cluster/number`. A value is the mean over the whole interval that begins at `time`, so value
times interval is the integral. What a part has noted itself (fair-share factors and use) follows as it is: values at a
time, an entity for each user.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from walltime.analysis.audit.nodes import Placements
from walltime.analysis.intervals import ABSENT, Held, find_capacity, find_down, find_held, find_horizon
from walltime.core.errors import InputError
from walltime.core.tables import SERIES, Record, ticks
from walltime.core.time import SECOND

_Places = tuple[np.ndarray, np.ndarray]

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


def series(record: Record, intervals: int = 1000) -> pl.DataFrame:
    """The table of `core.tables.SERIES`, of about `intervals` intervals at most, from first submission to horizon."""
    if intervals < 1:
        raise InputError("the number of intervals is not positive", value=intervals)
    submit, horizon = ticks(record.jobs["submit"]), find_horizon(record)
    if not len(submit) or horizon is None:
        return pl.DataFrame(schema=SERIES)
    first = int(submit.min())
    grid = Grid.over(first, max(horizon, first), intervals)
    down = find_down(record)
    held, clusters = find_held(record), list(find_capacity(record)) or ["cluster"]
    owner, job_owner = (_owners(table, clusters) for table in (record.allocations, record.jobs))
    frames = []
    for number, cluster in enumerate(clusters):
        mine = owner == number
        part = Held(held.start[mine], held.end[mine], held.cores[mine])
        values = {
            **_measure(grid, record.jobs.filter(pl.Series(job_owner == number)), part, horizon),
            "available_cores": np.full(grid.count, float(find_capacity(record).get(cluster, 0))),
        }
        if cluster in down:
            start, stop = (grid.locate(times) for times in (down[cluster].start, down[cluster].end))
            values["down_cores"] = grid.means((start, down[cluster].cores), (stop, -down[cluster].cores))
            values["available_cores"] = values["available_cores"] - values["down_cores"]
        frames += [grid.frame(name, cluster, values[name]) for name in (*NAMES, "down_cores") if name in values]
        if record.facts.get("shared_time"):
            frames += _measure_load(grid, record, cluster, np.flatnonzero(mine), held)
    if record.samples is not None:
        frames.append(record.samples)
    return pl.concat(frames)


def _measure_load(grid: Grid, record: Record, cluster: str, rows: np.ndarray, held: Held) -> list[pl.DataFrame]:
    """The tasks on each node of a cluster; for the first thousand nodes, because a picture shows no more."""
    layout = record.facts.get("nodes", {}).get(cluster)
    if layout is None:
        return []
    placed = Placements(record.allocations["nodes"], rows)
    frames = []
    for node in range(min(sum(count for count, _ in layout["cores"]), 1000)):
        here = placed.node == node
        start, stop = grid.locate(held.start[placed.of[here]]), grid.locate(held.end[placed.of[here]])
        tasks = placed.cores[here]
        frames.append(grid.frame("load", f"{cluster}/{node}", grid.means((start, tasks), (stop, -tasks))))
    return frames


class Grid:
    """Equal intervals over time, and the one integral that everything here needs."""

    def __init__(self, first: int, length: int, count: int) -> None:
        self.first, self.length, self.count = first, length, count

    @classmethod
    def over(cls, first: int, last: int, intervals: int) -> Grid:
        """Intervals that begin at multiples of their length; one more than asked for where the edges fall badly."""
        length = choose_interval((last - first) / SECOND, intervals) * SECOND
        begin = first // length * length
        return cls(begin, length, max(1, -(-(last - begin) // length)))

    def locate(self, times: np.ndarray) -> _Places:
        """In which interval each time falls, and which part of that interval is left then."""
        since = np.maximum(times - self.first, 0)
        place = np.minimum(since // self.length, self.count)
        return place, (self.length - (since - place * self.length)) / self.length

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

    def frame(self, name: str, entity: str, values: np.ndarray) -> pl.DataFrame:
        """One series as rows of the table."""
        times = (self.first + self.length * np.arange(self.count)) / SECOND
        labels = [pl.repeat(text, self.count, dtype=pl.String, eager=True) for text in (name, entity)]
        return pl.DataFrame({"time": times, "series": labels[0], "entity": labels[1], "value": values})


def _measure(grid: Grid, jobs: pl.DataFrame, held: Held, horizon: int) -> dict[str, np.ndarray]:
    """Running: what is held. Waiting: jobs in the system, from `eligible` to their end, less those that run."""
    eligible, end = ticks(jobs["eligible"], ABSENT), ticks(jobs["end"], ABSENT)
    gone = np.where(end == ABSENT, horizon, end)
    # A job of zero length may enter and leave at once; its allocation is empty too.
    present = (jobs["state"].cast(pl.String) != "rejected").to_numpy() & (eligible != ABSENT) & (eligible < gone)
    cores = jobs["cores"].to_numpy()[present]
    enter, leave = grid.locate(eligible[present]), grid.locate(gone[present])
    start, stop = grid.locate(held.start), grid.locate(held.end)
    running = grid.means((start, 1), (stop, -1))
    used = grid.means((start, held.cores), (stop, -held.cores))
    return {
        "used_cores": used,
        "running_jobs": running,
        "waiting_jobs": grid.means((enter, 1), (leave, -1), (start, -1), (stop, 1)),
        "waiting_cores": grid.means((enter, cores), (leave, -cores), (start, -held.cores), (stop, held.cores)),
    }


def _owners(table: pl.DataFrame, clusters: list[str]) -> np.ndarray:
    """The number of each row's cluster; rows of no known cluster belong to the only one, or to none."""
    if len(clusters) == 1:
        return np.zeros(table.height, np.int64)
    numbers = pl.Series(range(len(clusters)), dtype=pl.Int64)
    names = table["cluster"].cast(pl.String)
    return names.replace_strict(pl.Series(clusters), numbers, default=-1, return_dtype=pl.Int64).to_numpy()
