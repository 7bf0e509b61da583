"""Files of insertions: what `walltime workload generate --insert` reads. Jobs, and workflows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.plugins import check_function, import_target, require_allowed
from walltime.core.reading import Reading, boundary, reader
from walltime.core.source import read_source
from walltime.core.time import parse_duration, seconds
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.synthesis.insertion import (
    AlarmTrigger,
    Insertion,
    PeriodicTrigger,
    RandomTrigger,
    Realarm,
    Trigger,
    check_job,
)
from walltime.workload.synthesis.workflow_mix import Mix
from walltime.workload.workflow import Workflow

_KEYS = ("name", "trigger", "jobs", "choose")
_NAMED = ("user", "group", "account", "queue", "qos", "priority")
_OF_WORKFLOWS = ("name", "workflows", "submit", "share", "trigger", *_NAMED)


@reader
def load_insertions(path: str | Path) -> list[Insertion | Mix]:
    """The insertions of a YAML file: a list of mappings with `trigger` and `jobs`, or with `workflows` and a `trigger`
    or a `share`. Paths of workflows start at the file's folder."""
    source = read_source(path)
    data = source.data
    if not isinstance(data, list) or not data:
        raise InputError("a file of insertions is a list of them, each with a trigger and jobs", file=path)
    place = Reading(path)
    with boundary(path, place):
        found = []
        for number, entry in enumerate(data):
            place.line = source.line((number,))
            found.append(_parse(entry, number + 1, Path(path).parent))
    return found


def _parse(entry: Any, place: int, folder: Path) -> Insertion | Mix:
    if not isinstance(entry, dict):
        raise InputError(f"insertion {place} is not a mapping", value=entry)
    known = _OF_WORKFLOWS if "workflows" in entry else _KEYS
    for key in entry:
        if key not in known:
            raise InputError(f"insertion {place} has no such key", value=key, choices=known)
    name = str(entry.get("name", f"inserted{place}"))
    if "workflows" in entry:
        return _parse_workflows(entry, name, folder)
    choose = entry.get("choose", "sequence")
    if choose not in ("sequence", "weighted"):
        raise InputError(f"insertion {name}: unknown choose", value=choose, choices=("sequence", "weighted"))
    jobs, weights = [], []
    listed = entry.get("jobs") or []
    if not isinstance(listed, list):
        raise InputError(f"insertion {name}: jobs has to be a list", value=listed)
    for item in listed:
        together = item.get("together") if isinstance(item, dict) else None
        if not isinstance(item, dict) or (together is not None and not isinstance(together, list)):
            raise InputError(f"insertion {name}: a job is a mapping of columns", value=item)
        weights.append(_weight(item, name))
        jobs.append(together if together is not None else {k: v for k, v in item.items() if k != "weight"})
    insertion = Insertion(_parse_trigger(entry.get("trigger"), name), jobs, choose, weights, name)
    for job in jobs:
        for one in [job] if isinstance(job, dict) else job:
            if not isinstance(one, dict):
                raise InputError(f"insertion {name}: a job is a mapping of columns", value=one)
            check_job(name, one)
    return insertion


def _weight(item: dict[str, Any], name: str) -> float:
    weight = item.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
        raise InputError(f"insertion {name}: a weight is a number", value=weight)
    return float(weight)


def _parse_workflows(entry: dict[str, Any], name: str, folder: Path) -> Mix:
    given = entry["workflows"]
    flows: list[Workflow] = []
    weights: list[float] = []
    for item in given if isinstance(given, list) else [given]:
        one = {"file": item} if isinstance(item, str) else item
        if not isinstance(one, dict) or not set(one) <= {"file", "weight"} or not isinstance(one.get("file"), str):
            raise InputError(f"insertion {name}: a workflow is a file, or a mapping of file and weight", value=item)
        flows.append(read_workflow(folder / one["file"]))
        weights.append(_weight(one, name))
    share = entry.get("share")
    if share is not None and (isinstance(share, bool) or not isinstance(share, int | float)):
        raise InputError(f"insertion {name}: a share is a number above 0 and at most 1", value=share)
    trigger = _parse_trigger(entry["trigger"], name) if "trigger" in entry else None
    if (share is None) == (trigger is None):
        raise InputError(f"insertion {name}: workflows need a trigger, or a share of the core-hours; one of them")
    named = {key: entry[key] for key in _NAMED if key in entry}
    return Mix(flows, entry.get("submit", "manifest"), None, share, weights, columns=named, trigger=trigger, name=name)


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
        classes = {"periodic": PeriodicTrigger, "alarm": AlarmTrigger, "realarm": Realarm, "random": RandomTrigger}
        return classes[kind](**read)  # type: ignore
    except TypeError:
        raise InputError(f"insertion {name}: the trigger {kind} needs", value=", ".join(wanted)) from None


@dataclass(frozen=True)
class _Function:
    """A plain function as a trigger."""

    call: Callable[..., Iterable[float]]

    def times(self, start: float, end: float, random: np.random.Generator) -> Iterable[float]:
        return self.call(start, end, random)


def _load_trigger(target: str, parameters: dict[str, Any]) -> Trigger:
    """A user's own trigger, by `module:attribute`; judged before anything of it is called."""
    label = f"the trigger {target}"
    require_allowed(target, label)
    found = import_target(target, label)
    if isinstance(found, type):
        if not callable(getattr(found, "times", None)):
            raise InputError("a trigger's class needs a method times(start, end, random)", value=target)
        try:
            made: Trigger = found(**parameters)
        except TypeError as error:
            raise InputError(f"{label} does not take these parameters ({error})", value=parameters) from None
        return made
    if not callable(found):
        raise InputError("a trigger is a function of (start, end, random), or a class with times", value=target)
    check_function(found, target, label)
    return _Function(found)
