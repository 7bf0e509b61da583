"""The machine of an Alea data set: its `.machines` file, and what lies beside it.

Each line of the file is a cluster. A job runs inside one of them, as in Alea, so that several lines are several
clusters of a scenario, the largest first: jobs wait before all of them, and go to the first that can start them at
once. Limits count over all clusters together.

Each cluster has its name as the property `cl_NAME`, and `^cl_NAME` where it is another cluster's, so that the node
specifications of Alea's traces choose among them. Queues get their priority and their cap on cores; users and groups
their quotas, and the shares of fair share where they differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from walltime.workload.formats.alea import CLUSTER
from walltime.workload.formats.alea_files import (
    AleaQueue,
    Failure,
    Machines,
    Owner,
    find_beside,
    read_failures,
    read_machines,
    read_owners,
    read_queues,
)

SUFFIX = ".machines"


@dataclass
class DataSet:
    """The keys of a scenario that the files tell, `cluster` or `clusters` with `broker`; the files that they are made
    of, and what is to be known of them."""

    scenario: dict[str, Any]
    files: list[Path]
    remarks: list[str] = field(default_factory=list)

    @property
    def several(self) -> bool:
        """Whether it has several clusters."""
        return "clusters" in self.scenario

    def schedule(self, parts: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The settings of a scenario that put the parts of a policy in force.

        With several clusters the order is that in which jobs wait before them, and only where no job may overtake
        another (`backfill: none`) the first has to go first.
        """
        if not self.several:
            return [(f"cluster.scheduler.{kind}", part) for kind, part in parts.items()]
        count = len(self.scenario["clusters"])
        settings = [
            (f"clusters.{index}.scheduler.{kind}", part) for index in range(count) for kind, part in parts.items()
        ]
        if "order" in parts:
            settings.append(("broker.order", parts["order"]))
        if "backfill" in parts:
            backfill = parts["backfill"]
            name = backfill.get("name") if isinstance(backfill, Mapping) else backfill
            settings.append(("broker.overtake", name != "none"))
        return settings


def is_alea(path: str | Path) -> bool:
    """Whether a cluster file is one of Alea's, by its suffix."""
    return Path(path).suffix.lower() == SUFFIX


def find_data_set(trace: str | Path) -> DataSet | None:
    """The data set that lies beside a trace; None where there is no `.machines` file."""
    path = find_beside(trace, "machines")
    return None if path is None else read_data_set(path)


def read_data_set(path: str | Path) -> DataSet:
    """The machine that a `.machines` file and the files of the same name tell; raises InputError."""
    machines = read_machines(path)
    base = Path(path).with_suffix("")
    found = DataSet({}, [Path(path)])
    queues = []
    rules: dict[str, Any] = {}
    if (file := find_beside(base, "queues")) is not None:
        queues = read_queues(file)
        rules["queues"] = {queue.name: {"priority": queue.priority, "running_cores": queue.cores} for queue in queues}
        if routes := _routes(queues):
            rules["routes"] = routes
        found.files.append(file)
    rules |= _read_people(base, found.files)
    failures: list[Failure] = []
    if (file := find_beside(base, "failures")) is not None:
        failures = read_failures(file, {one.name: one.nodes for one in machines})
        found.files += [file] if failures else []
    groups = _nodes(machines)
    if len(machines) == 1:
        cluster = {"name": _plain_name(base), "nodes": groups} | rules
        found.scenario = {"cluster": cluster | ({"failures": [{"file": str(file)}]} if failures else {})}
        return found
    # AleaNG's order: the largest first, of equals the fastest, else as in the file.
    order = sorted(range(len(machines)), key=lambda i: (-machines[i].nodes * machines[i].cores, -machines[i].speed))
    clusters = []
    for place in order:
        own = [_failure(one) for one in failures if one.cluster == machines[place].name]
        cluster = {"name": machines[place].name, "nodes": [groups[place]]} | rules
        clusters.append(cluster | ({"failures": own} if own else {}))
    found.scenario = {"clusters": clusters, "broker": _broker(queues, rules)}
    found.remarks.append(
        "a job runs inside one cluster; it waits before all of them until one can start it, and reservations of a "
        "backfilling are not made there"
    )
    return found


def _broker(queues: list[AleaQueue], rules: Mapping[str, Any]) -> dict[str, Any]:
    """How jobs wait before the clusters: in the queues of the data set, by priority; the last is for all others."""
    broker: dict[str, Any] = {"name": "first", "hold": True}
    if queues:
        names = {queue.name: [queue.name, *([queue.number] if queue.number else [])] for queue in queues}
        broker["queues"] = {queue.name: {"queues": names[queue.name], "priority": queue.priority} for queue in queues}
        broker["queues"]["others"] = {"priority": min(queue.priority for queue in queues) - 1}
    if "queues" in rules or "limits" in rules:
        broker["shared_limits"] = True
    return broker


def _failure(one: Failure) -> dict[str, Any]:
    """A failure by the names of its nodes; none: all of the cluster's."""
    nodes = {"nodes": [f"{one.cluster}{number}" for number in one.nodes]} if one.nodes else {}
    return {"at": one.time, "length": one.duration} | nodes


def _read_people(base: Path, files: list[Path]) -> dict[str, Any]:
    """The quotas of users and groups, and their shares where they differ."""
    limits: list[dict[str, Any]] = []
    shares: dict[str, int] = {}
    for kind in ("user", "group"):
        if (file := find_beside(base, f"{kind}s")) is not None:
            owners = read_owners(file)
            limits += [_quota(kind, owner) for owner in owners]
            files.append(file)
            if len({owner.share for owner in owners}) > 1:  # else all are equal, as they are without shares
                for owner in owners:
                    for name in (owner.name, owner.number):  # users and groups may have the same numbers
                        shares.setdefault(f"group:{name}" if kind == "group" else name, owner.share)
    return ({"limits": limits} if limits else {}) | ({"shares": shares} if shares else {})


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


def _routes(queues: list[AleaQueue]) -> list[dict[str, Any]]:
    """For a trace that names queues by their numbers, where it does not lie beside the file that has the names."""
    names = {queue.name for queue in queues}
    return [
        {"queue": queue.name, "named": [queue.number]}
        for queue in queues
        if queue.number is not None and queue.number not in names
    ]


def _quota(kind: str, owner: Owner) -> dict[str, Any]:
    """A quota of an owner that the trace calls by name or by number; it need not occur there."""
    return {kind: list(dict.fromkeys([owner.name, owner.number])), "running_cores": owner.cores, "optional": True}


def _plain_name(base: Path) -> str:
    """The name of the data set without the trace's suffix."""
    name = base.name
    for suffix in (".gz", ".swf", ".txt"):
        name = name.removesuffix(suffix)
    return name or "cluster"
