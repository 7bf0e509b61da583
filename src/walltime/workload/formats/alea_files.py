"""The files that lie beside a trace in Alea's data sets: machines, queues, users, groups and failures, a line each.

Columns are separated by tabs or blanks; a line that begins with `;` is a comment.

- `.machines`: number, name of the cluster, nodes, cores of a node, speed, then where told memory of a node in KB (in GB
  where the number is below 10,240, as AleaNG writes it), properties, GPUs of a node;
- `.queues`: name, cap on the cores in use, priority (a higher one comes first); AleaNG has a number before them;
- `.users`, `.groups`: number, name, share, cap on the cores in use;
- `.failures`: time, cluster, duration in seconds, the numbers of the nodes from 0 (none: all nodes of the cluster).

They are found by name: `trace.swf.machines`, or `trace.machines`, for `trace.swf`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from walltime.core.errors import InputError
from walltime.core.reading import reading

KINDS = ("machines", "queues", "users", "groups", "failures")
_SUFFIXES = (".gz", ".swf", ".txt", ".gwf", ".mwf")
_LARGEST = 64 << 20
_IN_GB = 10 * 1024
_MOST = 1 << 31
_NAMED = {"user": "users", "group": "groups", "queue": "queues"}


@dataclass(frozen=True)
class Machines:
    """A cluster of equal nodes; `memory` in bytes, None where the file does not tell it."""

    name: str
    nodes: int
    cores: int
    speed: float
    memory: int | None
    properties: tuple[str, ...]
    gpus: int


@dataclass(frozen=True)
class AleaQueue:
    """A queue, the most cores that its jobs may use at once, and its priority; `number` is what a trace calls it."""

    number: str | None
    name: str
    cores: int
    priority: int


@dataclass(frozen=True)
class Owner:
    """A user or a group: the number in the trace, the name, the share, and the most cores at once."""

    number: str
    name: str
    share: int
    cores: int


@dataclass(frozen=True)
class Failure:
    """Nodes of a cluster that are down from `time` on for `duration` seconds; no nodes: the whole cluster."""

    time: float
    cluster: str
    duration: float
    nodes: tuple[int, ...]


def find_beside(trace: str | Path, kind: str) -> Path | None:
    """The file of a kind that belongs to the trace, or to the data set whose name is given without a suffix."""
    base = Path(trace)
    while True:
        found = base.with_name(f"{base.name}.{kind}")
        if found.is_file():
            return found
        if base.suffix.lower() not in _SUFFIXES:
            return None
        base = base.with_suffix("")


def read_machines(path: str | Path) -> list[Machines]:
    """The clusters of a `.machines` file; raises InputError with the line."""
    found = []
    for row in _rows(path, 5, 8):
        memory = row.whole(5, "memory", 0) * 1024 if row.has(5) else None
        if memory is not None and memory < _IN_GB * 1024:
            memory *= 1024 * 1024
        found.append(
            Machines(
                row.text(1),
                row.whole(2, "number of nodes", 1),
                row.whole(3, "number of cores", 1),
                row.number(4, "speed", positive=True),
                memory,
                tuple(word for word in row.text(6).split(":") if word) if row.has(6) else (),
                row.whole(7, "number of GPUs", 0) if row.has(7) else 0,
            )
        )
        row.refuse_twice("cluster", [one.name for one in found])
    return _some(found, path, "clusters")


def read_queues(path: str | Path) -> list[AleaQueue]:
    """The queues of a `.queues` file; raises InputError with the line."""
    found: list[AleaQueue] = []
    for row in _rows(path, 3, 4):
        shift = int(row.has(3))
        number = str(row.whole(0, "number", 0)) if shift else None
        cores = row.whole(shift + 1, "limit of cores", 1)
        found.append(AleaQueue(number, row.text(shift), cores, row.whole(shift + 2, "priority", -_MOST)))
        row.refuse_twice("queue", [one.name for one in found])
        row.refuse_twice("number of a queue", [one.number for one in found if one.number is not None])
    return _some(found, path, "queues")


def read_owners(path: str | Path) -> list[Owner]:
    """The users or groups of a `.users` or `.groups` file; raises InputError with the line."""
    kind = Path(path).suffix.removeprefix(".").removesuffix("s") or "user"
    found: list[Owner] = []
    for row in _rows(path, 4, 4):
        share, cores = row.whole(2, "share", 0), row.whole(3, "limit of cores", 1)
        found.append(Owner(str(row.whole(0, "number", 0)), row.text(1), share, cores))
        row.refuse_twice(kind, [one.name for one in found])
        row.refuse_twice(f"number of a {kind}", [one.number for one in found])
    return _some(found, path, f"{kind}s")


def read_failures(path: str | Path, sizes: Mapping[str, int]) -> list[Failure]:
    """The failures of a `.failures` file; `sizes` tells how many nodes each cluster has. Raises InputError with the
    line of one that has not those nodes."""
    found = []
    for row in _rows(path, 3, None):
        name = row.text(1)
        if name not in sizes:
            raise InputError("no cluster has this name", value=name, choices=sizes, file=path, line=row.line)
        nodes = tuple(row.whole(index, "number of a node", 0) for index in range(3, len(row.fields)))
        for node in nodes:
            if node >= sizes[name]:
                raise InputError(
                    f"{name} has the nodes 0 to {sizes[name] - 1}, not", value=node, file=path, line=row.line
                )
        found.append(Failure(row.number(0, "time"), name, row.number(2, "duration", positive=True), nodes))
    return found


def read_names(trace: str | Path) -> dict[str, dict[str, str]]:
    """The names of users, groups and queues by their numbers in the trace, from the files beside it."""
    names: dict[str, dict[str, str]] = {}
    for column, kind in _NAMED.items():
        if (path := find_beside(trace, kind)) is not None:
            rows: list[Any] = list(read_queues(path) if kind == "queues" else read_owners(path))
            names[column] = {row.number: row.name for row in rows if row.number is not None}
    return names


@dataclass(frozen=True)
class _Row:
    """The fields of a line, and where it stands."""

    fields: list[str]
    file: str | Path
    line: int

    def has(self, place: int) -> bool:
        return place < len(self.fields)

    def text(self, place: int) -> str:
        return self.fields[place]

    def whole(self, place: int, what: str, least: int) -> int:
        """A whole number of at least `least`."""
        try:
            value = int(self.fields[place])
        except ValueError:
            raise self.error(f"the {what} is not a whole number", place) from None
        if value < least or value >= _MOST << 16:
            raise self.error(f"the {what} is too large" if value >= least else f"the {what} is below {least}", place)
        return value

    def number(self, place: int, what: str, positive: bool = False) -> float:
        try:
            value = float(self.fields[place])
        except ValueError:
            value = math.nan
        if not 0 <= value < _MOST or (positive and not value):
            raise self.error(f"the {what} is not a number {'above' if positive else 'of at least'} 0", place)
        return value

    def error(self, what: str, place: int) -> InputError:
        return InputError(what, value=self.fields[place], file=self.file, line=self.line)

    def refuse_twice(self, what: str, names: list[str]) -> None:
        """Refuses the last name where it occurs before."""
        if names and names[-1] in names[:-1]:
            raise InputError(
                f"there is a second {what} with this name", value=names[-1], file=self.file, line=self.line
            )


def _rows(path: str | Path, least: int, most: int | None) -> Iterator[_Row]:
    """The lines that are no comments, with the right number of fields."""
    with reading(path) as stream:
        raw = stream.read(_LARGEST + 1)
    if len(raw) > _LARGEST or b"\0" in raw:
        raise InputError("this is not one of Alea's files", file=path)
    for number, text in enumerate(raw.decode("utf-8-sig", "replace").splitlines(), 1):
        fields = text.split()
        if not fields or fields[0].startswith(";"):
            continue
        if len(fields) < least or (most is not None and len(fields) > most):
            count = f"{least}" if least == most else f"at least {least}" if most is None else f"{least} to {most}"
            raise InputError(f"the line has {len(fields)} fields, not {count}", file=path, line=number)
        yield _Row(fields, path, number)


def _some(found: list[Any], path: str | Path, what: str) -> list[Any]:
    if not found:
        raise InputError(f"there are no {what} in this file", file=path)
    return found
