"""Jobs inserted into a generated workload: when (a trigger), and which (a fixed sequence, or a weighted choice).

Triggers: `periodic`, `alarm` (given times), `realarm` (an alarm that sets itself again when it fires), `random` (a
Poisson process), or one's own as `module:attribute`: a function of (start, end, random) that returns times, or a class
with a method `times`. Times are in seconds after the start of the experiment.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import parse_duration, seconds
from walltime.core.workload import COLUMNS

_MOST = 1_000_000  # jobs that one pattern may insert
_LARGEST = 1 << 53
_TIMES = ("run_time", "requested_time", "delay")
_COLUMNS = ("cores", "run_time", "requested_time", "user", "group", "account", "queue", "qos", "name", "memory", "gpus",
            "nodes", "cores_per_node", "priority")  # fmt: skip


class Trigger(Protocol):
    """Decides when something is inserted."""

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        """Seconds in [start, end), in any order."""


@dataclass(frozen=True)
class PeriodicTrigger:
    """Once every so many seconds."""

    every: float
    first: float = 0.0

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        if not self.every > 0:
            raise InputError("periodic: every must be longer than zero", value=self.every)
        _check_count((end - start) / self.every)
        return np.arange(start + self.first, end, self.every).tolist()


@dataclass(frozen=True)
class AlarmTrigger:
    """At the given times after the start."""

    at: Sequence[float]

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        return [start + time for time in self.at]


@dataclass(frozen=True)
class Realarm:
    """An alarm that is set again when it fires: `again` gives the seconds until the next time, None to stop.

    It is called with the time, how often the alarm has fired, and a random generator; or it is a list of delays, used
    in turn, the last one for ever.
    """

    first: float
    again: Callable[[float, int, np.random.Generator], float | None] | Sequence[float]

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        now, fired = start + self.first, 0
        while now < end:
            yield now
            fired += 1
            if callable(self.again):
                delay = self.again(now, fired, random)
            else:
                delay = self.again[min(fired, len(self.again)) - 1] if self.again else None
            if delay is None:
                return
            if not delay > 0:
                raise InputError("an alarm has to be set to a later time; its delay is", value=delay)
            now += delay


@dataclass(frozen=True)
class RandomTrigger:
    """A Poisson process with so many seconds between insertions in the mean."""

    mean: float

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        if not self.mean > 0:
            raise InputError("random: mean must be longer than zero", value=self.mean)
        _check_count((end - start) / self.mean)
        count = int(random.poisson((end - start) / self.mean))
        return list(np.sort(start + random.random(count) * (end - start)))


def _check_count(count: float) -> None:
    if not count <= _MOST:
        raise InputError(f"a trigger inserts at most {_MOST:,} times; this one", value=f"{count:.0f} times")


@dataclass(frozen=True)
class Insertion:
    """A trigger, and what it inserts: `jobs` in turn (`sequence`), or each time one by its weight (`weighted`).

    A job is a mapping of a workload's columns, times in seconds, at least cores and run_time. A list of jobs is
    inserted together; `delay` moves one of them by so many seconds.
    """

    trigger: Trigger
    jobs: Sequence[Mapping[str, Any] | Sequence[Mapping[str, Any]]]
    choose: Literal["sequence", "weighted"] = "sequence"
    weights: Sequence[float] | None = None
    name: str = "inserted"

    def rows(self, start: float, end: float, seed: int) -> list[dict[str, Any]]:
        """The inserted jobs, each with its submission in seconds."""
        random = stream(seed, "insertion", self.name)
        if not self.jobs:
            raise InputError(f"insertion {self.name}: there are no jobs to insert")
        rows = []
        times = fire(self.trigger, start, end, random, self.name)
        for time, place in zip(times, self._choices(random), strict=False):
            item = self.jobs[place]
            for job in [item] if isinstance(item, Mapping) else item:
                row = check_job(self.name, job)
                rows.append(row | {"submit": time + row.pop("delay", 0.0)})
        return rows

    def _choices(self, random: np.random.Generator) -> Iterable[int]:
        """Places in `jobs`, without end."""
        if self.choose == "sequence":
            return itertools.cycle(range(len(self.jobs)))
        weights = np.array(self.weights if self.weights is not None else [1.0] * len(self.jobs), np.float64)
        if len(weights) != len(self.jobs) or np.any(weights < 0) or not weights.sum() > 0:
            raise InputError(f"insertion {self.name}: a weight for each job, none negative, not all zero")
        shares = weights / weights.sum()
        return (int(random.choice(len(shares), p=shares)) for _ in itertools.count())


def fire(trigger: Trigger, start: float, end: float, random: np.random.Generator, name: str) -> list[float]:
    """The times in [start, end) at which a trigger inserts something, in order; raises InputError for no times."""
    times = []
    for time in trigger.times(start, end, random):
        if not isinstance(time, int | float | np.number) or math.isnan(float(time)):
            raise InputError(f"insertion {name}: a trigger gives times in seconds, not", value=time)
        if start <= time < end:
            times.append(float(time))
        if len(times) > _MOST:
            raise InputError(f"insertion {name}: more than {_MOST:,} insertions")
    return sorted(times)


def check_job(name: str, job: Mapping[str, Any]) -> dict[str, Any]:
    """The job as a row of a workload, times in seconds; raises InputError for a column that is not right."""
    known = (*_COLUMNS, "delay")
    for key in job:
        if key not in known:
            raise InputError(f"insertion {name}: a job has no such column", value=key, choices=known)
    row = {key: seconds(parse_duration(value)) if key in _TIMES else value for key, value in job.items()}
    for key in ("cores", "run_time"):
        value = row.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise InputError(f"insertion {name}: a job needs {key}, above zero", value=value)
    for key, value in row.items():
        kind = "time" if key == "delay" else COLUMNS[key].kind
        whole = isinstance(value, int | float) and math.isfinite(value) and int(value) == value
        if kind == "integer" and (isinstance(value, bool) or not whole or abs(value) > _LARGEST):
            raise InputError(f"insertion {name}: {key} must be a whole number", value=value)
        if kind in ("label", "text") and not isinstance(value, str | int | float):
            raise InputError(f"insertion {name}: {key} must be a name", value=value)
    return row
