"""DSLab's native workloads: a YAML or JSON list of executions, and a list of the collections that they belong to.

An execution has `submit_time`, `resources` (nodes_count, cpu_per_node, memory_per_node; the latter two may be lists,
with an amount for each node), a `profile` (a name, or type and args), and may have `id`, `name`, `schedule_after`,
`wall_time_limit`, `priority`, `collection_id` and `execution_index`.
A collection has `id`, `user`, `priority` and `time`: its executions have its user, its priority where they have none of
their own, and are not submitted before it. Amounts of memory are whatever the hosts' are.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import reader, reading
from walltime.core.source import KeyPath, SourceData, parse_source
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import MISSING, UNLIMITED, Workload, encode_labels, sort_by_submission

_EXECUTION = (
    *("id", "name", "submit_time", "time", "schedule_after", "resources", "profile", "wall_time_limit", "priority"),
    *("collection_id", "execution_index"),
)
_RESOURCES = ("nodes_count", "cpu_per_node", "memory_per_node")
_COLLECTION = ("id", "time", "user", "priority")
_MOST_VALUES = 5_000_000
_LONG = 1 << 20
_MOST = 1 << 53
_IDLE = "idle"


@reader
def read_dslab(path: str | Path, collections: str | Path | None = None) -> Workload:
    """The executions of a file, with what the file of their collections tells; raises InputError with the line."""
    source = read_list(path)
    known = {} if collections is None else _read_collections(collections)
    rows = [_read_execution(_Item(source, index, _EXECUTION, "execution"), known) for index in range(len(source.data))]
    if not rows:
        raise InputError("there is no execution in this list", file=path)
    numbers = (
        "submit",
        "begin",
        "run_time",
        "requested_time",
        "nodes",
        "cores_per_node",
        "memory_per_node",
        "priority",
    )
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows], np.int64) for name in numbers}
    columns["cores"] = np.array([row["cores"] for row in rows], np.int64)
    for name in ("begin", "memory_per_node"):
        if np.all(columns[name] == MISSING):
            del columns[name]
    if all(row["job_id"] is not None for row in rows):
        columns["job_id"] = np.array([row["job_id"] for row in rows], np.int64)
    if any(row["name"] for row in rows):
        columns["name"] = [row["name"] for row in rows]
    labels: dict[str, list[str]] = {}
    for name in ("profile", "user", "array", "parts"):
        codes, names = encode_labels([row[name] for row in rows])
        if names:
            columns[name], labels[name] = codes, names
    unlimited = sum(row["requested_time"] == UNLIMITED for row in rows)
    notes = {"lines": len(rows), "skipped": {}, "unlimited": unlimited}
    return Workload(sort_by_submission(columns), labels, notes=notes, source=str(path))


def is_dslab(data: Any) -> bool:
    """Whether the data of a YAML or JSON file is a list of executions."""
    return isinstance(data, list) and bool(data) and isinstance(data[0], dict) and "resources" in data[0]


def read_list(path: str | Path) -> SourceData:
    """The list of a YAML or JSON file; a long one in JSON is read without its lines."""
    with reading(path) as file:
        text = file.text()
    if len(text) > _LONG and text.lstrip()[:1] == "[":
        with reading(path) as file:
            source = SourceData(file.json(), str(path))
    else:
        source = parse_source(text, str(path), _MOST_VALUES)
    if not isinstance(source.data, list):
        raise InputError("this has to be a list", file=path, line=1)
    return source


@dataclass(frozen=True)
class _Item:
    """A mapping of the list: its values by key, each checked, with the line of one that is wrong."""

    source: SourceData
    index: int
    keys: tuple[str, ...]
    what: str

    @property
    def values(self) -> dict[str, Any]:
        found = self.source.data[self.index]
        if not isinstance(found, dict):
            raise self.wrong((), f"an {self.what} is a mapping", found)
        for key in found:
            if key not in self.keys:
                raise self.wrong((key,), f"{self.what}s have no such key", key, self.keys)
        return found

    def wrong(self, inside: KeyPath, what: str, value: Any = None, choices: tuple[str, ...] = ()) -> InputError:
        where = (self.index, *inside)
        return InputError(what, value=value, file=self.source.file, line=self.source.line(where), choices=choices)

    def number(self, inside: KeyPath, value: Any) -> float:
        given = value
        if isinstance(value, str):  # YAML takes 1e6 for a text
            try:
                value = float(value)
            except ValueError:
                value = None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e100:
            raise self.wrong(inside, f"{inside[-1]} has to be a number from 0 on", given)
        return float(value)

    def time(self, key: str, value: Any) -> int:
        seconds = self.number((key,), value)
        if seconds * SECOND > LATEST:
            raise self.wrong((key,), f"{key} is out of range", value)
        return round(seconds * SECOND)

    def whole(self, inside: KeyPath, value: Any, least: int = 0) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _MOST:
            raise self.wrong(inside, f"{inside[-1]} has to be a whole number from {least}", value)
        return value


def _read_execution(item: _Item, collections: Mapping[int, dict[str, Any]]) -> dict[str, Any]:
    given = item.values
    if given.get("submit_time", given.get("time")) is None:
        raise item.wrong((), "an execution needs submit_time")
    key = "submit_time" if given.get("submit_time") is not None else "time"
    submit = item.time(key, given[key])
    number = given.get("collection_id")
    collection: Mapping[str, Any] = {}
    if number is not None:
        item.whole(("collection_id",), number)
        if collections and number not in collections:
            raise item.wrong(("collection_id",), "no collection has this id", number)
        collection = collections.get(number, {})
    limit = given.get("wall_time_limit")
    after = given.get("schedule_after")
    own = given.get("priority")
    profile, run = _read_profile(item, given.get("profile"))
    return _read_resources(item, given.get("resources")) | {
        "job_id": None if given.get("id") is None else item.whole(("id",), given["id"]),
        "name": "" if given.get("name") is None else str(given["name"]),
        "submit": max(submit, collection.get("time", 0)),
        "begin": MISSING if after is None else item.time("schedule_after", after),
        "run_time": run,
        "requested_time": UNLIMITED if limit is None else item.time("wall_time_limit", limit) or 1,
        "priority": collection.get("priority", 0) if own is None else item.whole(("priority",), own),
        "user": collection.get("user"),
        "array": None if number is None else str(number),
        "profile": profile,
    }


def _read_resources(item: _Item, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise item.wrong(("resources",), "resources is a mapping", given)
    for key in given:
        if key not in _RESOURCES:
            raise item.wrong(("resources", key), "resources have no such key", key, _RESOURCES)
    nodes = item.whole(("resources", "nodes_count"), given.get("nodes_count", 1), 1)
    cores = _read_each(item, "cpu_per_node", given.get("cpu_per_node", 1), nodes, 1)
    memory = _read_each(item, "memory_per_node", given.get("memory_per_node"), nodes, 0)
    found: dict[str, Any] = {"nodes": nodes, "cores": cores[0] * nodes, "cores_per_node": cores[0], "parts": None}
    found["memory_per_node"] = memory[0] if memory else MISSING
    if len(cores) > 1 or len(memory) > 1:
        memory = memory or [MISSING]
        each = list(zip(cores * (nodes // len(cores)), memory * (nodes // len(memory)), strict=True))
        found |= {"cores": sum(core for core, _ in each), "cores_per_node": MISSING, "memory_per_node": MISSING}
        found["parts"] = "+".join(f"1x{core}" + f",memory={own}" * (own >= 0) for core, own in each)
    return found


def _read_each(item: _Item, key: str, given: Any, nodes: int, least: int) -> list[int]:
    """An amount for every node, or one for each in a list; nothing where it is not told."""
    if given is None:
        return []
    if not isinstance(given, list):
        return [item.whole(("resources", key), given, least)]
    if len(given) != nodes:
        raise item.wrong(("resources", key), f"{key} is a number, or a list with one for each of {nodes} nodes", given)
    return [item.whole(("resources", key), amount, least) for amount in given]


def _read_profile(item: _Item, given: Any) -> tuple[str, int]:
    """A profile's name, or the profile written out; and the run time of one that only waits."""
    if isinstance(given, str) and given:
        return given, MISSING
    if not isinstance(given, dict) or not isinstance(given.get("type"), str):
        raise item.wrong(("profile",), "a profile is a name, or a mapping with type and args", given)
    args = given.get("args")
    time = args.get("time") if given["type"] == _IDLE and isinstance(args, dict) else None
    run = MISSING if time is None else round(item.number(("profile", "args", "time"), time) * SECOND)
    try:
        return json.dumps(given), min(run, LATEST)
    except TypeError:
        raise item.wrong(("profile",), "a profile is made of numbers, texts and lists") from None


@reader
def _read_collections(path: str | Path) -> dict[int, dict[str, Any]]:
    source = read_list(path)
    known: dict[int, dict[str, Any]] = {}
    for index in range(len(source.data)):
        item = _Item(source, index, _COLLECTION, "collection")
        given = item.values
        number = item.whole(("id",), given.get("id"))
        if number in known:
            raise item.wrong(("id",), "two collections have this id", number)
        user = given.get("user")
        if user is not None and not isinstance(user, str | int):
            raise item.wrong(("user",), "user has to be a name", user)
        found: dict[str, Any] = {"user": None if user is None else str(user)}
        if given.get("priority") is not None:
            found["priority"] = item.whole(("priority",), given["priority"])
        if given.get("time") is not None:
            found["time"] = item.time("time", given["time"])
        known[number] = found
    return known
