"""Scenarios from files and mappings, and back to YAML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.core.source import Source, read_source
from walltime.core.workload import Workload
from walltime.scenario.alea import is_alea, read_data_set
from walltime.scenario.checks import check_names, check_rules
from walltime.scenario.model import Cluster, Scenario
from walltime.scenario.override import override
from walltime.scenario.problems import dotted, explain

_RULES = ("licences", "queues", "routes", "accounts", "shares", "limits", "reservations", "failures", "interrupted")
"""Keys of a cluster that are written as they were given."""
_FILES = ("conf", "associations", "qos", "events")
"""Keys of `slurm` that name a file."""


@reader
def load(path: str | Path, settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a YAML file; raises InputError with file, line, key, value and choices.

    `settings` are (dotted key, value) pairs that replace what the file says, as `--set` does. A relative path of the
    trace is taken from the file's folder.
    """
    return from_source(read_source(path), settings)


def parse(mapping: Mapping[str, Any], settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a mapping with the same keys as a file; raises InputError."""
    data: Any = _with_clusters(Source(dict(mapping), None)) if isinstance(mapping, Mapping) else mapping
    for key, value in settings:
        data = override(data, key, value)
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise explain(error, Source(data, None)) from None
    check_rules(scenario)
    return scenario


def from_source(source: Source, settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a file's data after the given settings; errors tell the file's lines, or `--set`."""
    if not isinstance(source.data, dict):
        raise InputError(
            "a scenario is a mapping of keys and values, such as `workload: {trace: log.swf}`", file=source.file, line=1
        )
    data = _with_clusters(source)
    replaced: list[str] = []
    for key, value in settings:
        data = override(data, key, value)
        replaced.append(key)
    try:
        scenario = Scenario.model_validate(_with_base(data, Path(source.file or "").parent, replaced))
    except ValidationError as error:
        raise explain(error, _without_lines(source, data, replaced)) from None
    if source.file is not None:
        lines = {dotted(place): line for place, line in source.lines.items() if dotted(place) not in replaced}
        scenario = scenario.placed(source.file, lines)
    check_rules(scenario)
    return scenario


def _with_clusters(source: Source) -> dict[str, Any]:
    """The data, with the clusters of another file where `clusters` names one; a broker of its own has the last word."""
    data: dict[str, Any] = source.data
    named = data.get("clusters")
    if not isinstance(named, str):
        return data
    from walltime.scenario.clusterfile import read_clusters

    path = Path(source.file or "").parent / os.path.expanduser(named.strip())
    read = read_clusters(path)
    if read is None:
        line = source.line(("clusters",))
        raise InputError("clusters: the file describes a single cluster", value=named, file=source.file, line=line)
    return read | {key: value for key, value in data.items() if key != "clusters"}


@reader
def load_cluster(path: str | Path) -> dict[str, Any]:
    """The mapping of a cluster file: the keys of a scenario's `cluster`, alone or under that key; raises InputError.

    A file that ends in `.machines` is Alea's; the files of the same name beside it tell queues and quotas.
    """
    source = Source(read_data_set(path).cluster, str(path)) if is_alea(path) else read_source(path)
    data = source.data
    if isinstance(data, dict) and set(data) == {"cluster"}:
        data = data["cluster"]
        source.lines = {place[1:]: line for place, line in source.lines.items() if place[:1] == ("cluster",)}
    if not isinstance(data, dict):
        raise InputError("a cluster file is a mapping, such as `cores: 240`", file=source.file, line=1)
    source.data = data
    try:
        Cluster.model_validate(data)
    except ValidationError as error:
        raise explain(error, source, Cluster) from None
    return data


def resolve(scenario: Scenario, workload: Workload) -> Scenario:
    """The scenario with every cluster's size known, from the workload where the scenario does not tell.

    Raises InputError where its rules do not hold together, or name somebody whom the workload does not have.
    """
    check_rules(scenario)
    check_names(scenario, workload)
    if all(cluster.total_cores is not None for cluster in scenario.clusters):
        return scenario
    if workload.machine_cores is None or len(scenario.clusters) > 1:
        unknown = next(cluster for cluster in scenario.clusters if cluster.total_cores is None)
        raise InputError(
            f"the size of {unknown.name} is not known, and {workload.source or 'the workload'} does not tell it: "
            "give --cores N or --nodes NxC, or cores in the scenario's cluster"
            if len(scenario.clusters) == 1
            else f"give cores or nodes to each of the clusters; {unknown.name} has neither"
        )
    sized = scenario.clusters[0].model_copy(update={"cores": workload.machine_cores})
    return scenario.model_copy(update={"clusters": (sized,)})


def dump(scenario: Scenario) -> str:
    """YAML that gives the same scenario again, whatever folder it is put in; only a Python table cannot be written."""
    clusters = [
        _drop_none(
            {
                "name": cluster.name,
                "cores": cluster.cores,
                "nodes": _short_nodes(cluster),
                "sharing": cluster.sharing if cluster.nodes else None,
                **_rules(cluster),
                "attributes": dict(cluster.attributes) or None,
                "scheduler": _drop_none(
                    {
                        kind: [part.short() for part in value] if isinstance(value, tuple) else value and value.short()
                        for kind in type(cluster.scheduler).model_fields
                        for value in (getattr(cluster.scheduler, kind),)
                    }
                ),
            }
        )
        for cluster in scenario.clusters
    ]
    workload = _drop_none(_plain(scenario.workload.model_dump()))
    for mix, given in zip(workload.get("workflows", []), scenario.workload.workflows, strict=True):
        mix["manifests"] = [
            {"file": os.path.abspath(manifest.file), "weight": manifest.weight} for manifest in given.manifests
        ]
    if scenario.workload.trace is not None:
        workload["trace"] = os.path.abspath(scenario.workload.trace)
    data: dict[str, Any] = {"walltime": scenario.walltime, "seed": scenario.seed, "engine": scenario.engine}
    data["workload"] = workload
    if scenario.slurm is None or scenario.slurm.conf is None:  # else slurm.conf says what the cluster is
        data |= {"cluster": clusters[0]} if len(clusters) == 1 else {"clusters": clusters}
    data["broker"] = scenario.broker and scenario.broker.short()
    execution = scenario.execution
    data["execution"] = {"model": execution.model.short(), "overrun": execution.overrun}
    if execution.checkpoint is not None:
        data["execution"]["checkpoint"] = execution.checkpoint.model_dump(exclude_defaults=True)
    data["users"] = scenario.users and scenario.users.short()
    data["dependencies"] = scenario.dependencies.model_dump(exclude_defaults=True) or None
    data["deadlines"] = None if scenario.deadlines == "keep" else scenario.deadlines
    data["cancellations"] = scenario.cancellations and scenario.cancellations.model_dump()
    if scenario.start is not None:
        files = {
            key: os.path.abspath(getattr(scenario.start, key))
            for key in ("jobs", "usage")
            if getattr(scenario.start, key)
        }
        data["start"] = _drop_none(scenario.start.model_dump() | files)
    data["record"] = scenario.record.model_dump()
    data["slurm"] = scenario.slurm and _drop_none(_absolute(scenario.slurm.model_dump(exclude_defaults=True)))
    data["until"] = scenario.until
    return yaml.safe_dump(_drop_none(data), sort_keys=False, allow_unicode=True)


def _rules(cluster: Cluster) -> dict[str, Any]:
    """The rules as a file writes them, without what is not given."""
    dumped = cluster.model_dump(include=set(_RULES), exclude_defaults=True)
    for name, queue in cluster.queues.items():
        if queue.order is not None:
            dumped["queues"][name]["order"] = queue.order.short()
    for failures in dumped.get("failures", ()):
        if "file" in failures:
            failures["file"] = os.path.abspath(failures["file"])
    return {key: value for key, value in _plain(dumped).items() if value}


def _plain(value: Any) -> Any:
    """The same with lists for tuples, which YAML does not know."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _absolute(slurm: dict[str, Any]) -> dict[str, Any]:
    return {key: os.path.abspath(value) if key in _FILES else value for key, value in slurm.items()}


def _short_nodes(cluster: Cluster) -> Any:
    groups = [group.short() for group in cluster.nodes or ()]
    return groups[0] if len(groups) == 1 else groups or None


def _drop_none(mapping: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None and value != []}


def _with_base(data: dict[str, Any], folder: Path, replaced: list[str]) -> dict[str, Any]:
    """The data with the file's own paths joined to its folder; those given by --set are the caller's."""
    slurm = data.get("slurm")
    if isinstance(slurm, dict) and "slurm" not in replaced:
        own = {key: value for key, value in slurm.items() if key in _FILES and isinstance(value, str) and value.strip()}
        joined = {
            key: str(folder / os.path.expanduser(value.strip()))
            for key, value in own.items()
            if f"slurm.{key}" not in replaced
        }
        data = data | {"slurm": slurm | joined}
    data = _with_files(data, folder, replaced)
    start = data.get("start")
    if isinstance(start, dict) and "start" not in replaced:
        data = data | {
            "start": start
            | {
                key: str(folder / os.path.expanduser(start[key].strip()))
                for key in ("jobs", "usage")
                if isinstance(start.get(key), str) and start[key].strip() and f"start.{key}" not in replaced
            }
        }
    workload = data.get("workload")
    if isinstance(workload, dict) and not any(key.startswith("workload") for key in replaced):
        workload = _with_manifests(workload, folder)
        data = data | {"workload": workload}
    if any(key in ("workload", "workload.trace") for key in replaced):
        return data
    if isinstance(workload, str):
        workload = {"trace": workload}
    if isinstance(workload, dict) and isinstance(workload.get("trace"), str) and workload["trace"].strip():
        trace = str(folder / os.path.expanduser(workload["trace"].strip()))
        return data | {"workload": workload | {"trace": trace}}
    return data


def _with_files(data: dict[str, Any], folder: Path, replaced: list[str]) -> dict[str, Any]:
    """The data with the clusters' files of failures and of shares joined to the folder."""
    joined = dict(data)
    for key in ("cluster", "clusters"):
        clusters = data.get(key)
        several = clusters if isinstance(clusters, list) else [clusters]
        made = [_joined_files(one, folder, replaced) if isinstance(one, dict) else one for one in several]
        if made != several:
            joined[key] = made if isinstance(clusters, list) else made[0]
    return joined


def _joined_files(cluster: dict[str, Any], folder: Path, replaced: list[str]) -> dict[str, Any]:
    shares, sources = cluster.get("shares"), cluster.get("failures")
    if isinstance(shares, str) and shares.strip() and not any(key.endswith(".shares") for key in replaced):
        cluster = cluster | {"shares": str(folder / os.path.expanduser(shares.strip()))}
    if not isinstance(sources, list):
        return cluster
    made = [
        source | {"file": str(folder / os.path.expanduser(source["file"]))}
        if isinstance(source, dict) and isinstance(source.get("file"), str)
        else source
        for source in sources
    ]
    return cluster | {"failures": made}


def _with_manifests(workload: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The workload with the files of its workflows joined to the folder; what is no file is left for the model."""

    def join(manifest: Any) -> Any:
        if isinstance(manifest, str) and manifest.strip():
            return str(folder / os.path.expanduser(manifest.strip()))
        if isinstance(manifest, dict) and isinstance(manifest.get("file"), str):
            return manifest | {"file": join(manifest["file"])}
        return manifest

    def join_mix(mix: Any) -> Any:
        if not isinstance(mix, dict) or "manifests" not in mix:
            return mix
        given = mix["manifests"]
        return mix | {"manifests": [join(one) for one in given] if isinstance(given, list) else join(given)}

    mixes = workload.get("workflows")
    if mixes is None:
        return workload
    return workload | {"workflows": [join_mix(mix) for mix in mixes] if isinstance(mixes, list) else join_mix(mixes)}


def _without_lines(source: Source, data: Any, replaced: list[str]) -> Source:
    """The source for messages: keys that were replaced have no line of their own in the file."""
    lines = {place: line for place, line in source.lines.items() if dotted(place) not in replaced}
    return Source(data, source.file, lines)
