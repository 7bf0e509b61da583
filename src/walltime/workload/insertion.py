"""Jobs inserted into a generated workload: when (a trigger), and which (a fixed sequence, or a weighted choice).

Triggers: `periodic`, `alarm` (given times), `realarm` (an alarm that sets itself anew when it fires), `random` (a
Poisson process), or one's own as `module:attribute`: a function of (start, end, random) that returns times, or a class
with a method `times`. Times are in seconds after the start of the experiment.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import parse_duration, seconds
from walltime.core.workload import COLUMNS

_MOST = 1_000_000  # jobs that one pattern may insert
_TIMES = ("run_time", "requested_time", "delay")
_COLUMNS = ("cores", "run_time", "requested_time", "user", "group", "account", "queue", "qos", "name", "memory", "gpus",
            "nodes", "cores_per_node", "priority")  # fmt: skip


class Trigger(Protocol):
    """Decides when something is inserted."""

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        """Seconds in [start, end), in any order."""


@dataclass(frozen=True)
class Periodic:
    """Once every so many seconds."""

    every: float
    first: float = 0.0

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        if not self.every > 0:
            raise InputError("periodic: every must be longer than zero", value=self.every)
        return np.arange(start + self.first, end, self.every).tolist()


@dataclass(frozen=True)
class Alarm:
    """At the given times after the start."""

    at: Sequence[float]

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        return [start + time for time in self.at]


@dataclass(frozen=True)
class Realarm:
    """An alarm that is set anew when it fires: `again` gives the seconds until the next time, None to stop.

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
class Random:
    """A Poisson process with so many seconds between insertions in the mean."""

    mean: float

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        if not self.mean > 0:
            raise InputError("random: mean must be longer than zero", value=self.mean)
        count = int(random.poisson((end - start) / self.mean))
        return list(np.sort(start + random.random(count) * (end - start)))


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
        times = []
        for time in self.trigger.times(start, end, random):
            if not isinstance(time, int | float | np.number) or math.isnan(float(time)):
                raise InputError(f"insertion {self.name}: a trigger gives times in seconds, not", value=time)
            if start <= time < end:
                times.append(float(time))
            if len(times) > _MOST:
                raise InputError(f"insertion {self.name}: more than {_MOST:,} insertions")
        rows = []
        for time, place in zip(sorted(times), self._choices(random), strict=False):
            item = self.jobs[place]
            for job in [item] if isinstance(item, Mapping) else item:
                row = _check_job(self.name, job)
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


def _check_job(name: str, job: Mapping[str, Any]) -> dict[str, Any]:
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
        if key != "delay" and COLUMNS[key].kind == "integer" and int(value) != value:
            raise InputError(f"insertion {name}: {key} must be a whole number", value=value)
    return row


def load_insertions(path: str | Path) -> list[Insertion]:
    """The insertions of a YAML file: a list of mappings with `trigger`, `jobs`, and perhaps `choose` and `name`."""
    import yaml

    from walltime.workload.formats.files import reading

    with reading(path) as file:
        text = file.read()
    try:
        data = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError("not valid YAML", file=path, line=mark.line + 1 if mark else None) from None
    if not isinstance(data, list) or not data:
        raise InputError("a file of insertions is a list of them, each with a trigger and jobs", file=path)
    try:
        return [_parse(entry, place) for place, entry in enumerate(data, 1)]
    except InputError as error:
        raise InputError(error.what, value=error.value, file=path, choices=error.choices) from None


def _parse(entry: Any, place: int) -> Insertion:
    if not isinstance(entry, dict):
        raise InputError(f"insertion {place} is not a mapping", value=entry)
    for key in entry:
        if key not in ("name", "trigger", "jobs", "choose"):
            raise InputError(
                f"insertion {place} has no such key", value=key, choices=("name", "trigger", "jobs", "choose")
            )
    name = str(entry.get("name", f"inserted{place}"))
    choose = entry.get("choose", "sequence")
    if choose not in ("sequence", "weighted"):
        raise InputError(f"insertion {name}: unknown choose", value=choose, choices=("sequence", "weighted"))
    jobs, weights = [], []
    for item in entry.get("jobs") or []:
        together = item.get("together") if isinstance(item, dict) else None
        if not isinstance(item, dict) or (together is not None and not isinstance(together, list)):
            raise InputError(f"insertion {name}: a job is a mapping of columns", value=item)
        weights.append(float(item.get("weight", 1.0)))
        jobs.append(together if together is not None else {k: v for k, v in item.items() if k != "weight"})
    insertion = Insertion(_parse_trigger(entry.get("trigger"), name), jobs, choose, weights, name)
    for job in jobs:
        for one in [job] if isinstance(job, dict) else job:
            _check_job(name, one)
    return insertion


def _parse_trigger(value: Any, name: str) -> Trigger:
    kinds = ("periodic", "alarm", "realarm", "random", "module:attribute")
    given = dict(value) if isinstance(value, dict) else {"kind": value}
    kind = given.pop("kind", None)
    if isinstance(kind, str) and ":" in kind:
        return _load_trigger(kind, given)
    if kind not in kinds[:-1]:
        raise InputError(f"insertion {name}: unknown trigger", value=kind, choices=kinds)
    wanted = {"periodic": ("every", "first"), "alarm": ("at",), "realarm": ("first", "again"), "random": ("mean",)}[
        kind
    ]
    for key in given:
        if key not in wanted:
            raise InputError(f"insertion {name}: the trigger {kind} has no such parameter", value=key, choices=wanted)
    read = {
        key: [seconds(parse_duration(v)) for v in item] if isinstance(item, list) else seconds(parse_duration(item))
        for key, item in given.items()
    }
    try:
        return {"periodic": Periodic, "alarm": Alarm, "realarm": Realarm, "random": Random}[kind](**read)  # type: ignore
    except TypeError:
        raise InputError(f"insertion {name}: the trigger {kind} needs", value=", ".join(wanted)) from None


@dataclass(frozen=True)
class _Function:
    """A plain function as a trigger."""

    call: Callable[..., Iterable[float]]

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        return self.call(start, end, random)


def _load_trigger(text: str, parameters: dict[str, Any]) -> Trigger:
    """Somebody's own trigger, by `module:attribute`."""
    module, _, attribute = text.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        raise InputError("no such module for a trigger", value=module) from None
    except AttributeError:
        raise InputError(f"the module {module} has no such trigger", value=attribute) from None
    if isinstance(found, type):
        try:
            made: Trigger = found(**parameters)
        except TypeError as error:
            raise InputError(f"the trigger {text} does not take these parameters ({error})", value=parameters) from None
        if not callable(getattr(made, "times", None)):
            raise InputError("a trigger's class needs a method times(start, end, random)", value=text)
        return made
    if not callable(found):
        raise InputError("a trigger is a function of (start, end, random), or a class with times", value=text)
    return _Function(found)
