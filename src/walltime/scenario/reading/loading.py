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
from walltime.core.source import SourceData, read_source
from walltime.core.workload import Workload
from walltime.scenario.checks import check_rules
from walltime.scenario.cluster import Cluster
from walltime.scenario.dates import place_dates
from walltime.scenario.model import Scenario
from walltime.scenario.names import check_names
from walltime.scenario.reading.alea import is_alea, read_data_set
from walltime.scenario.reading.dslab import is_dslab_configuration, translate
from walltime.scenario.reading.files import join_files
from walltime.scenario.reading.override import override
from walltime.scenario.reading.problems import dotted, explain


@reader
def load(path: str | Path, settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a YAML file; raises InputError with file, line, key, value and choices.

    `settings` are (dotted key, value) pairs that replace what the file says, as `--set` does. A relative path of the
    trace is taken from the file's folder.
    """
    return from_source(read_source(path), settings)


def parse(mapping: Mapping[str, Any], settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a mapping with the same keys as a file; raises InputError."""
    data: Any = _with_clusters(SourceData(dict(mapping), None)) if isinstance(mapping, Mapping) else mapping
    for key, value in settings:
        data = override(data, key, value)
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        raise explain(error, SourceData(data, None)) from None
    if isinstance(mapping, Mapping) and isinstance(mapping.get("clusters"), str):
        scenario = scenario.placed(mapping["clusters"], {})
    check_rules(scenario)
    return scenario


def from_source(source: SourceData, settings: Iterable[tuple[str, Any]] = ()) -> Scenario:
    """The scenario of a file's data after the given settings; errors tell the file's lines, or `--set`."""
    if is_dslab_configuration(source.data):
        source = translate(source)
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
        scenario = Scenario.model_validate(join_files(data, Path(source.file or "").parent, replaced))
    except ValidationError as error:
        raise explain(error, _without_lines(source, data, replaced)) from None
    if source.file is not None:
        lines = {dotted(place): line for place, line in source.lines.items() if dotted(place) not in replaced}
        scenario = scenario.placed(source.file, lines)
    check_rules(scenario)
    return scenario


def read_data(source: SourceData) -> dict[str, Any]:
    """A file's data with every path in full, so that it means the same wherever it is read again; raises InputError."""
    if is_dslab_configuration(source.data):
        source = translate(source)
    if not isinstance(source.data, dict):
        raise InputError("a scenario is a mapping of keys and values", file=source.file, line=1)
    return join_files(_with_clusters(source), Path(source.file or "").absolute().parent, ())


def _with_clusters(source: SourceData) -> dict[str, Any]:
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
    if is_alea(path):
        data_set = read_data_set(path)
        if data_set.several:
            raise InputError("this file describes several clusters", file=path)
        source = SourceData(data_set.scenario["cluster"], str(path))
    else:
        source = read_source(path)
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


def resolve(scenario: Scenario, workload: Workload, *, whole: bool = True) -> Scenario:
    """The scenario with every cluster's size known, from the workload where the scenario does not tell.

    Raises InputError where its rules do not hold together, or name a user (group, account, ...) that the workload, if
    it is `whole`, does not have.
    """
    scenario = place_dates(scenario, workload)
    check_rules(scenario)
    if whole:
        check_names(scenario, workload)
    scenario = _until_drained(scenario, workload)
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


def _until_drained(scenario: Scenario, workload: Workload) -> Scenario:
    """The scenario that ends with the drain phase of its workload, where it has one and no other end is told."""
    begin, end = workload.notes.get("phases", {}).get("drain", (0.0, 0.0))
    return scenario.model_copy(update={"until": float(end)}) if scenario.until is None and end > begin else scenario


def dump(scenario: Scenario) -> str:
    """YAML that gives the same scenario again, whatever folder it is put in; only a Python table cannot be written."""
    return yaml.safe_dump(scenario.short(), sort_keys=False, allow_unicode=True)


def _without_lines(source: SourceData, data: Any, replaced: list[str]) -> SourceData:
    """The source for messages: keys that were replaced have no line of their own in the file."""
    lines = {place: line for place, line in source.lines.items() if dotted(place) not in replaced}
    return SourceData(data, source.file, lines)
