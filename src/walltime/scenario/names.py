"""Names that nothing has: those that a scenario gives and no job has, and those of jobs that the scenario lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario.cluster import Cluster
from walltime.scenario.model import Scenario

PARAMETERS = {
    ("order", "multifactor", "qos"): "qos",
    ("order", "fairshare", "usage"): "person",
    ("preempt", "qos", "ranks"): "qos",
    ("preempt", "queue", "ranks"): "queue",
    ("backfill", "tetris", "scale"): "resource",
}
"""Parameters of parts that are mappings by names of the workload or the cluster, and of what."""

LISTS = {"users": "user", "groups": "group", "queues": "queue", "qos": "qos", "types": "profile"}
"""Lists of names by which queues, routes, reservations and brokers choose jobs, and of what they are names."""

SHOWN = 5
_WORDS = {"qos": "QOS", "profile": "type"}


def check_names(scenario: Scenario, workload: Workload) -> None:
    """Raise InputError for a name that neither the workload nor the cluster has, where that cannot be meant.

    A limit on a name may be `optional`. Of a mapping by names some may have no job in this workload; what is nearly
    the name of another that the mapping lacks, and a mapping of which no name is known while others are, is a mistake.
    """
    for prefix, cluster in _clusters(scenario):
        for number, limit in enumerate(cluster.limits):
            for kind, names in {} if limit.optional else limit.names().items():
                for name in names:
                    _check_limit(scenario, cluster, workload, f"{prefix}.limits.{number}.{kind}", kind, name)
    for key, kind, given, known in _mappings(scenario, workload):
        strange = [name for name in given if name not in known and kind != "person"]
        for name in strange:
            if kind == "resource":
                error = InputError("no node has this resource", value=name, choices=sorted(known))
                raise place_error(error, scenario, f"{key}.{name}")
            if get_close_matches(name, known - set(given), 1) or (known and len(strange) == len(given)):
                word = _WORDS.get(kind, kind)
                error = InputError(f"no job has this {word}", value=name, choices=_choices(name, known))
                raise place_error(error, scenario, f"{key}.{name}")


def find_strangers(scenario: Scenario, workload: Workload) -> list[str]:
    """What a person should know of names on one side only, in sentences, with what became of those jobs."""
    told = []
    for key, kind, given, known in _mappings(scenario, workload):
        if strange := [name for name in given if name not in known]:
            whose = "is of" if kind == "person" else f"has the {_WORDS.get(kind, kind)}"
            told.append(f"{key}: no job {whose} {_list(strange)}")
    for prefix, cluster in _clusters(scenario):
        people = {*workload.label_names("user"), *workload.label_names("group"), *workload.label_names("account")}
        strange = [name for name in cluster.shares if name.removeprefix("group:") not in people]
        if strange:
            told.append(f"{prefix}.shares: no job is of {_list(strange)}{_nearest(strange, people)}")
        told += _strange_lists(_choosers(prefix, cluster), workload)
        told += _strange_accounts(cluster, workload)
        if len(scenario.clusters) == 1:
            told += _strange_queues(cluster, workload)
    if scenario.broker is not None:
        rules = [(f"broker.bind.{number}", rule) for number, rule in enumerate(scenario.broker.bind)]
        queues = [(f"broker.queues.{name}", queue) for name, queue in scenario.broker.queues.items()]
        told += _strange_lists([*rules, *queues], workload)
    return list(dict.fromkeys(told))


def place_error(error: InputError, scenario: Scenario, key: str) -> InputError:
    """The error with the line of the key, or of the nearest key around it, and the key in its words."""
    where: dict[str, Any] = {}
    around = key
    while around and not where.get("line"):
        where = scenario.place(around)
        around = around.rpartition(".")[0]
    return InputError(f"{key}: {error.what}", value=error.value, choices=error.choices, **where)


def _clusters(scenario: Scenario) -> Iterator[tuple[str, Cluster]]:
    for index, cluster in enumerate(scenario.clusters):
        yield ("cluster" if len(scenario.clusters) == 1 else f"clusters.{index}"), cluster


def _check_limit(scenario: Scenario, cluster: Cluster, workload: Workload, key: str, kind: str, name: str) -> None:
    known = set(workload.label_names(kind))
    known |= set(cluster.accounts) if kind == "account" else set(cluster.queues) if kind == "queue" else set()
    if name in known:
        return
    what = f"a limit for a {kind} that neither the workload nor the cluster has (`optional: true` lets it pass)"
    raise place_error(InputError(what, value=name, choices=_choices(name, known)), scenario, key)


def _mappings(scenario: Scenario, workload: Workload) -> Iterator[tuple[str, str, Mapping[str, Any], set[str]]]:
    """Every mapping by names that the scenario has: its key, of what its names are, itself, and the names there are."""
    qos = {name for cluster in scenario.clusters for limit in cluster.limits for name in limit.qos or ()}
    known = {"qos": qos | set(workload.label_names("qos")), "queue": set(workload.label_names("queue"))}
    known["person"] = {name for kind in ("user", "group", "account") for name in workload.label_names(kind)}
    known["resource"] = {name for cluster in scenario.clusters for name in _resources(cluster)}
    parts = [(key, kind, part, known) for key, kind, part in scenario.parts()]
    for prefix, cluster in _clusters(scenario):
        here = known | {"queue": set(cluster.queues), "resource": set(_resources(cluster))}
        parts = [(key, kind, part, here if key.startswith(f"{prefix}.") else names) for key, kind, part, names in parts]
    for key, kind, part, names in parts:
        for name, given in part.parameters.items():
            of = PARAMETERS.get((kind, part.name, name))
            if of is not None and isinstance(given, Mapping):
                short = {str(one).rpartition("/")[2] if of == "person" else str(one): one for one in given}
                yield f"{key}.{name}", of, short, names[of]
    if scenario.slurm is not None and scenario.slurm.partitions:
        mapped = {name: to for name, to in scenario.slurm.partitions.items() if name != "*"}
        yield "slurm.partitions", "queue", mapped, known["queue"]


def _resources(cluster: Cluster) -> list[str]:
    """What is counted on the cluster's nodes."""
    layout = cluster.layout()
    return ["cores"] if layout is None else layout.resources()


def _choosers(prefix: str, cluster: Cluster) -> Iterator[tuple[str, Any]]:
    """What chooses jobs by lists of names in a cluster, with its key."""
    yield from ((f"{prefix}.queues.{name}", queue) for name, queue in cluster.queues.items())
    yield from ((f"{prefix}.routes.{number}", route) for number, route in enumerate(cluster.routes))
    yield from ((f"{prefix}.reservations.{number}", rule) for number, rule in enumerate(cluster.reservations))


def _strange_lists(choosers: Iterable[tuple[str, Any]], workload: Workload) -> Iterator[str]:
    """Lists of which no name is known, while others are; of a long list some may have no job in this workload."""
    for key, chooser in choosers:
        for field, kind in LISTS.items():
            given, known = getattr(chooser, field, None), set(workload.label_names(kind))
            if given and known and known.isdisjoint(given):
                yield f"{key}.{field}: no job has the {_WORDS.get(kind, kind)} {_list(given)}{_nearest(given, known)}"


def _strange_accounts(cluster: Cluster, workload: Workload) -> Iterator[str]:
    if not cluster.accounts:
        return
    strange = _count(workload, "account", set(cluster.accounts))
    if strange:
        yield (
            f"{_jobs(strange)} of accounts that the cluster does not have, {_counted(strange)}"
            f"{_nearest(list(strange), set(cluster.accounts))}: each stands beside the tree, by itself"
        )


def _strange_queues(cluster: Cluster, workload: Workload) -> Iterator[str]:
    if not cluster.queues:
        return
    names = set(cluster.queues)
    known = names | {label for label in workload.label_names("queue") if {*map(str.strip, label.split(","))} <= names}
    known |= {name for route in cluster.routes for name in route.named or ()}
    strange = _count(workload, "queue", known)
    default = next((name for name, queue in cluster.queues.items() if queue.default), None)
    if strange and default is not None:
        yield (
            f"{_jobs(strange)} of queues that the cluster does not have, {_counted(strange)}"
            f"{_nearest(list(strange), names)}: in {default}, or where a route sends them"
        )


def _count(workload: Workload, kind: str, known: set[str]) -> dict[str, int]:
    """How many jobs have each of the names that are not known."""
    labels, codes = workload.label_names(kind), workload.column(kind)
    counts = np.bincount(codes[codes >= 0], minlength=len(labels)) if len(codes) else np.zeros(len(labels), int)
    return {name: int(count) for name, count in zip(labels, counts, strict=False) if count and name not in known}


def _jobs(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    return f"{total:,} job{'' if total == 1 else 's'}"


def _counted(counts: Mapping[str, int]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return _list([f"{name} ({count:,})" for name, count in ranked])


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _nearest(names: Sequence[str], known: set[str]) -> str:
    for name in names:
        if near := get_close_matches(name, known, 1):
            return f" (did you mean {near[0]!r}?)"
    return ""


def _choices(name: str, known: set[str]) -> list[str]:
    return sorted(known) if len(known) <= 12 else get_close_matches(name, known, 5)
