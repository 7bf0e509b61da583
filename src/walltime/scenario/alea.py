"""A cluster from the files of an Alea data set: `.machines`, and what lies beside it.

All clusters of the file become groups of nodes of one pool. Each has its name as the property `cl_NAME`, and `^cl_NAME`
where it is another cluster's, so that the node specifications of Alea's traces choose among them. Queues get their
priority and their cap on cores; users and groups their quotas, and the shares of fair share where they differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from walltime.workload.formats.alea import CLUSTER
from walltime.workload.formats.alea_files import (
    Machines,
    Owner,
    Queue,
    find_beside,
    read_failures,
    read_machines,
    read_owners,
    read_queues,
)

SUFFIX = ".machines"


@dataclass
class DataSet:
    """The mapping of a scenario's `cluster`, the files that it is made of, and what of them is not looked at."""

    cluster: dict[str, Any]
    files: list[Path]
    remarks: list[str] = field(default_factory=list)


def is_alea(path: str | Path) -> bool:
    """Whether a cluster file is one of Alea's, by its suffix."""
    return Path(path).suffix.lower() == SUFFIX


def find_data_set(trace: str | Path) -> DataSet | None:
    """The data set that lies beside a trace; None where there is no `.machines` file."""
    path = find_beside(trace, "machines")
    return None if path is None else read_data_set(path)


def read_data_set(path: str | Path) -> DataSet:
    """The cluster that a `.machines` file and the files of the same name tell; raises InputError."""
    machines = read_machines(path)
    base = Path(path).with_suffix("")
    found = DataSet({"name": _plain_name(base), "nodes": _nodes(machines)}, [Path(path)])
    if (file := find_beside(base, "queues")) is not None:
        queues = read_queues(file)
        found.cluster["queues"] = {
            queue.name: {"priority": queue.priority, "running_cores": queue.cores} for queue in queues
        }
        if routes := _routes(queues):
            found.cluster["routes"] = routes
        found.files.append(file)
    limits: list[dict[str, Any]] = []
    shares: dict[str, int] = {}
    for kind in ("user", "group"):
        if (file := find_beside(base, f"{kind}s")) is not None:
            owners = read_owners(file)
            limits += [_quota(kind, owner) for owner in owners]
            found.files.append(file)
            if len({owner.share for owner in owners}) > 1:  # else all are equal, as they are without shares
                for owner in owners:
                    for name in (owner.name, owner.number):  # users and groups may have the same numbers
                        shares.setdefault(f"group:{name}" if kind == "group" else name, owner.share)
    if limits:
        found.cluster["limits"] = limits
    if shares:
        found.cluster["shares"] = shares
    if (file := find_beside(base, "failures")) is not None and read_failures(
        file, {one.name: one.nodes for one in machines}
    ):
        found.cluster["failures"] = [{"file": str(file)}]
        found.files.append(file)
    return found


def _nodes(machines: list[Machines]) -> list[dict[str, Any]]:
    """Groups of nodes; recorded run times are those of the fastest, as in Alea."""
    fastest = max(one.speed for one in machines)
    groups = []
    for one in machines:
        others = [f"^{_property(other)}" for other in machines if other is not one]
        group = {
            "count": one.nodes,
            "cores": one.cores,
            "speed": one.speed / fastest,
            "name": one.name,
            "memory": one.memory,
            "gpus": one.gpus,
            "features": list(dict.fromkeys([_property(one), *one.properties, *others])),
        }
        groups.append({key: value for key, value in group.items() if value is not None})
    return groups


def _property(machines: Machines) -> str:
    return machines.name if machines.name.startswith(CLUSTER) else CLUSTER + machines.name


def _routes(queues: list[Queue]) -> list[dict[str, Any]]:
    """For a trace that names queues by their numbers, where it does not lie beside the file that has the names."""
    names = {queue.name for queue in queues}
    return [
        {"queue": queue.name, "named": [queue.number]}
        for queue in queues
        if queue.number is not None and queue.number not in names
    ]


def _quota(kind: str, owner: Owner) -> dict[str, Any]:
    """A quota of whoever the trace calls by name or by number; not everybody has to occur in it."""
    return {kind: list(dict.fromkeys([owner.name, owner.number])), "running_cores": owner.cores, "optional": True}


def _plain_name(base: Path) -> str:
    """The name of the data set without the trace's suffix."""
    name = base.name
    for suffix in (".gz", ".swf", ".txt"):
        name = name.removesuffix(suffix)
    return name or "cluster"
