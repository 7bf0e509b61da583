"""Batsim's workloads: JSON with `jobs` (id, subtime, res, profile, walltime) and `profiles`.

A machine of Batsim's is a node here: a job of `res` 4 asks for four nodes of one core. What a profile does is run by
the execution model `programs`; a job whose profile is a delay alone has that as its run time, so that the workload also
replays without. Old and new names of the types of profiles are known. A field that is not looked at may stand anywhere,
as Batsim lets its users add their own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import MISSING, UNLIMITED, Workload, encode_labels, sort_by_submission

_MOST_MACHINES = 1 << 31
_SPREAD = "DefinedAmountsSpreadUniformly"
_STRATEGIES = ("DefinedAmountsUsedForEachValue", _SPREAD)
_TYPES = {
    "delay": "DelayProfile",
    "parallel": "ParallelTaskProfile",
    "msg_par": "ParallelTaskProfile",
    "parallel_homogeneous": "ParallelTaskHomogeneousProfile",
    "msg_par_hg": "ParallelTaskHomogeneousProfile",
    "parallel_homogeneous_total": "ParallelTaskHomogeneousProfile",
    "msg_par_hg_tot": "ParallelTaskHomogeneousProfile",
    "composed": "SequentialCompositionProfile",
    "parallel_homogeneous_pfs": "ParallelTaskOnStorageHomogeneousProfile",
    "msg_par_hg_pfs": "ParallelTaskOnStorageHomogeneousProfile",
}
"""The names of types in files of Batsim's before version 5, and in those of version 5."""
_TOTALS = ("parallel_homogeneous_total", "msg_par_hg_tot")
KNOWN = tuple(dict.fromkeys(_TYPES.values()))


def is_batsim(data: Any) -> bool:
    """Whether the data of a JSON file is a workload of Batsim's."""
    return isinstance(data, dict) and "jobs" in data and "profiles" in data


@reader
def read_batsim(path: str | Path) -> Workload:
    """The jobs of a workload; raises InputError naming the job or the profile where one is wrong."""
    with reading(path) as file:
        data = file.json()
    if not is_batsim(data):
        raise InputError("a workload of Batsim's has jobs and profiles", file=path)
    jobs, profiles = data["jobs"], data["profiles"]
    if not isinstance(jobs, list) or not isinstance(profiles, dict):
        raise InputError("jobs has to be a list, and profiles a mapping of names", file=path)
    for name in profiles:
        translate_profile(name, profiles, path)
    rows = [_read_job(index, job, profiles, path) for index, job in enumerate(jobs, 1)]
    columns: dict[str, Any] = {
        name: np.array([row[name] for row in rows], np.int64)
        for name in ("submit", "run_time", "requested_time", "nodes", "cores")
    }
    numbers = [row["id"] for row in rows]
    if all(text.isascii() and text.isdigit() and len(text) < 16 for text in numbers):
        columns["job_id"] = np.array([int(text) for text in numbers], np.int64)
    else:
        columns["name"] = numbers
    columns["profile"], labels = encode_labels([row["profile"] for row in rows])
    machines = data.get("nb_res")
    if machines is not None:
        machines = _whole(machines, "nb_res", path)
    notes = {"lines": len(rows), "skipped": {}, "unlimited": sum(row["requested_time"] == UNLIMITED for row in rows)}
    return Workload(
        sort_by_submission(columns), {"profile": labels}, machine_cores=machines, notes=notes, source=str(path)
    )


def _read_job(place: int, job: Any, profiles: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    if not isinstance(job, dict):
        raise InputError(f"job {place} of the list is no mapping", file=path)
    name = job.get("id")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise InputError(f"job {place} of the list has no id", value=name, file=path)
    where = f"job {str(name).rpartition('!')[2]}"
    profile = job.get("profile")
    if not isinstance(profile, str) or profile not in profiles:
        raise InputError(f"{where}: no profile of this name", value=profile, file=path, choices=list(profiles))
    machines = _whole(job.get("res"), f"{where}: res", path)
    limit = job.get("walltime")
    asked = UNLIMITED if limit is None or limit == -1 else _time(limit, f"{where}: walltime", path)
    if asked <= 0:
        raise InputError(f"{where}: walltime has to be above 0", value=limit, file=path)
    delay = _delay(profiles[profile])
    return {
        "id": str(name).rpartition("!")[2],
        "submit": _time(job.get("subtime"), f"{where}: subtime", path),
        "run_time": MISSING if delay is None else delay,
        "requested_time": asked,
        "nodes": machines,
        "cores": machines,
        "profile": profile,
    }


def _delay(profile: dict[str, Any]) -> int | None:
    """The run time of a profile that is a delay and nothing else."""
    if _TYPES.get(profile["type"], profile["type"]) != "DelayProfile":
        return None
    return max(1, round(float(profile["delay"]) * SECOND))


# Profiles in our words


def translate_profile(name: str, profiles: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """A profile as {type, args} of ours, those that it is made of by their names; raises InputError naming it."""
    given, where = profiles[name], f"profile {name}"
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        raise InputError(f"{where}: a profile is a mapping with a type", file=path)
    kind = _TYPES.get(given["type"], given["type"])
    if kind not in KNOWN:
        what = f"{where}: this type of Batsim's profiles is not run here"
        raise InputError(what, value=given["type"], file=path, choices=(*KNOWN, *_TYPES))
    made = _MAKE[kind](given, where, path, profiles)
    code = given.get("ret", 0)
    if isinstance(code, bool) or not isinstance(code, int) or abs(code) > 1 << 31:
        raise InputError(f"{where}: ret has to be a whole number", value=code, file=path)
    if code == 0:
        return made
    return {"type": "sequence", "args": {"profiles": [made, {"type": "exit", "args": {"code": code}}]}}


def _make_delay(given: dict[str, Any], where: str, path: str | Path, _others: Any) -> dict[str, Any]:
    delay = _number(given.get("delay"), f"{where}: delay", path)
    return {"type": "idle", "args": {"time": delay}}


def _make_parallel(given: dict[str, Any], where: str, path: str | Path, _others: Any) -> dict[str, Any]:
    works, sizes = given.get("cpu"), given.get("com")
    args: dict[str, Any] = {}
    count = None
    if works is not None:
        args["compute_work"] = _numbers(works, f"{where}: cpu", path)
        count = len(args["compute_work"])
    if sizes is not None:
        if isinstance(sizes, list) and sizes and all(isinstance(row, list) for row in sizes):
            sizes = [size for row in sizes for size in row]
        flat = _numbers(sizes, f"{where}: com", path)
        count = math.isqrt(len(flat)) if count is None else count
        if count * count != len(flat):
            what = f"{where}: com has {len(flat)} numbers, a matrix of {count} machines has"
            raise InputError(what, value=count * count, file=path)
        args["matrix"] = [flat[row * count : (row + 1) * count] for row in range(count)]
    if not args:
        raise InputError(f"{where}: a parallel task needs cpu or com", file=path)
    return {"type": "parallel-task", "args": args}


def _make_homogeneous(given: dict[str, Any], where: str, path: str | Path, _others: Any) -> dict[str, Any]:
    args: dict[str, Any] = {
        "compute_work": _number(given.get("cpu", 0), f"{where}: cpu", path),
        "size": _number(given.get("com", 0), f"{where}: com", path),
    }
    if given["type"] in _TOTALS or _is_spread(given, where, path):
        args["total"] = True
    return {"type": "parallel-task-homogenous", "args": args}


def _make_storage(given: dict[str, Any], where: str, path: str | Path, _others: Any) -> dict[str, Any]:
    storage = given.get("storage", "pfs")
    if not isinstance(storage, str) or not storage:
        raise InputError(f"{where}: storage has to be a name", value=storage, file=path)
    args: dict[str, Any] = {
        "component_name": storage,
        "input_size": _number(given.get("bytes_to_read", 0), f"{where}: bytes_to_read", path),
        "output_size": _number(given.get("bytes_to_write", 0), f"{where}: bytes_to_write", path),
    }
    if _is_spread(given, where, path):
        args["total"] = True
    return {"type": "communication-external", "args": args}


def _make_sequence(given: dict[str, Any], where: str, path: str | Path, others: Mapping[str, Any]) -> dict[str, Any]:
    names = given.get("seq")
    if not isinstance(names, list) or not names:
        raise InputError(f"{where}: seq has to be a list of names", value=names, file=path)
    for name in names:
        if not isinstance(name, str) or name not in others:
            raise InputError(f"{where}: no profile of this name", value=name, file=path, choices=list(others))
    repeat = given.get("repeat", given.get("nb", 1))
    if isinstance(repeat, bool) or not isinstance(repeat, int) or not 1 <= repeat < 1 << 40:
        raise InputError(f"{where}: repeat has to be a whole number from 1", value=repeat, file=path)
    return {"type": "sequence", "args": {"profiles": list(names), "repeat": repeat}}


_MAKE = {
    "DelayProfile": _make_delay,
    "ParallelTaskProfile": _make_parallel,
    "ParallelTaskHomogeneousProfile": _make_homogeneous,
    "ParallelTaskOnStorageHomogeneousProfile": _make_storage,
    "SequentialCompositionProfile": _make_sequence,
}


def _is_spread(given: dict[str, Any], where: str, path: str | Path) -> bool:
    strategy = given.get("generation_strategy", _STRATEGIES[0])
    if strategy not in _STRATEGIES:
        raise InputError(f"{where}: generation_strategy", value=strategy, file=path, choices=_STRATEGIES)
    return bool(strategy == _SPREAD)


# Values


def _number(value: Any, what: str, path: str | Path) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
        raise InputError(f"{what} has to be a number from 0 on", value=value, file=path)
    return float(value)


def _numbers(value: Any, what: str, path: str | Path) -> list[float]:
    if not isinstance(value, list) or not value:
        raise InputError(f"{what} has to be a list of numbers", value=value, file=path)
    return [_number(item, what, path) for item in value]


def _time(value: Any, what: str, path: str | Path) -> int:
    seconds = _number(value, what, path)
    if seconds * SECOND > LATEST:
        raise InputError(f"{what} is out of range", value=value, file=path)
    return round(seconds * SECOND)


def _whole(value: Any, what: str, path: str | Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < _MOST_MACHINES:
        raise InputError(f"{what} has to be a whole number from 1", value=value, file=path)
    return value
