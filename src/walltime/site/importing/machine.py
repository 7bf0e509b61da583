"""The machine of a site: groups of equal nodes under their names, switches, licences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from walltime.cluster.hostlist import compress, expand
from walltime.core.errors import InputError
from walltime.site.conf import ConfLine, of_line, read_licences
from walltime.site.files import Given
from walltime.site.importing.findings import Findings
from walltime.site.importing.values import EffectiveSettings, spell
from walltime.site.importing.written import Said, cite
from walltime.site.keywords import EXACTLY, NEARLY, NOT
from walltime.site.nodes import Node, find_state, make_nodes

_GPU = "gpu"
_LAST = 1 << 32
"""A weight beyond all others."""
_MOST = 1 << 40
"""So much of a resource, or more, a scenario does not take."""
_IN_SERVICE = {
    *("UNKNOWN", "UP", "IDLE", "FUTURE", "ALLOC", "ALLOCATED", "MIX", "MIXED", "COMP", "COMPLETING", "PLANNED"),
    *("RESERVED", "RESUME"),
}
"""Words of a node's state that say no more than what runs on it."""


@dataclass(frozen=True)
class Unit:
    """A node that is given out: what jobs can have of it, where it is described, its weight and its switch."""

    name: str
    cores: int
    memory: int | None
    gpus: int
    resources: tuple[tuple[str, int], ...]
    features: tuple[str, ...]
    line: ConfLine
    weight: int = 1
    switch: str | None = None
    threads: int = 1

    @property
    def kind(self) -> tuple[Any, ...]:
        """Equal for nodes that can stand in one group."""
        prefix = re.sub(r"\d+$", "", self.name)
        return self.weight, self.switch, prefix, self.cores, self.memory, self.gpus, self.resources, self.features


def read_machine(
    given: Given, settings: EffectiveSettings, findings: Findings, cloud: bool
) -> tuple[list[Unit], list[str]]:
    """The nodes that are there, those of a smaller weight first, and what a person should know of them."""
    kinds = [part.strip() for part in settings.get("GresTypes", "").split(",") if part.strip()]
    nodes, notes = make_nodes(given.conf, cloud, kinds)
    described: dict[str, tuple[ConfLine, dict[str, str]]] = {}
    for line, words in given.conf.resolve("nodename"):
        for name in expand(line.name):
            if name in described:
                what = f"a second NodeName describes the node; the first is in line {described[name][0].number}"
                raise InputError(what, value=name, file=line.file, line=line.number)
            described[name] = line, words
    counted = "memory" in settings.get("SelectTypeParameters", "").lower()
    leaves = _find_leaves(given, settings, findings)
    units = []
    for node in nodes:
        line, words = described[node.name]
        with of_line(line):
            unit = _make_unit(node, line, words, counted, leaves.get(node.name))
        for one in node.gres:
            if not one.consumed:
                findings.tell(
                    "NodeName.Gres", f"{one.name} of {line.name}", NEARLY, "no_consume: as much for each core"
                )
        many = [name for name, amount in unit.resources if amount >= _MOST]
        for name in many:
            findings.tell("NodeName.Gres", f"{name} of {line.name}", NOT, "more of it than can be counted")
        units.append(replace(unit, resources=tuple(pair for pair in unit.resources if pair[0] not in many)))
    for line, words in given.conf.resolve("nodename"):
        _tell_words(line, words, findings)
    for line in given.conf.lines:
        if line.kind in ("nodeset", "downnodes"):
            findings.tell(line.pairs[0][0], line.name)
    if settings.given("GresTypes"):
        findings.tell("GresTypes")
    if any(one.type for node in nodes for one in node.gres):
        findings.tell("NodeName.Gres", verdict=NEARLY, how="types of one kind are one resource")
    return sorted(units, key=lambda unit: unit.weight), notes


def _make_unit(node: Node, line: ConfLine, words: Mapping[str, str], counted: bool, switch: str | None) -> Unit:
    spare = int(words.get("corespeccount", 0)) * node.threads
    if "cpuspeclist" in words:
        spare = len(expand(f"[{words['cpuspeclist']}]"))
    memory = node.memory - int(words.get("memspeclimit", 0))
    amounts: dict[str, int] = {}
    for one in node.gres:  # what jobs do not consume is there once for each that there can be
        times = 1 if one.consumed else node.cpus
        amounts[one.name] = amounts.get(one.name, 0) + one.count * times
    gpus = amounts.pop(_GPU, 0)
    features = tuple(part for part in (node.features or "").split(",") if part)
    if node.cpus - spare < 1:
        raise InputError(f"{node.name} has no core for jobs", value=node.cpus, file=line.file, line=line.number)
    return Unit(
        node.name,
        node.cpus - spare,
        memory if counted else None,
        gpus,
        tuple(amounts.items()),
        features,
        line,
        _LAST if words.get("weight", "").upper() in ("INFINITE", "UNLIMITED") else int(words.get("weight", 1)),
        switch,
        node.threads if node.cpus == node.sockets * node.cores * node.threads else 1,  # else CPUs are whole cores
    )


def _tell_words(line: ConfLine, words: Mapping[str, str], findings: Findings) -> None:
    """Every word of a line for nodes, on its list."""
    for word in words:
        if word == "state":
            findings.tell("NodeName.State", line.name, *_judge_state(words[word]))
        else:
            findings.tell(spell(f"NodeName.{word}"), line.name)


def _judge_state(text: str) -> tuple[str, str]:
    """What becomes of a state such as `DOWN*` or `IDLE+DRAIN`, by its words."""
    if find_state(text) == "CLOUD":
        return NEARLY, "started when needed; --cloud takes such nodes for always there"
    words = [word for word in re.findall(r"[A-Z_]+", text.upper()) if word not in _IN_SERVICE]
    if not words:
        return EXACTLY, ""
    if "CLOUD" in words:
        return NEARLY, "started when needed; taken for always there"
    return NEARLY, f"{'+'.join(words).lower()} when the file was made; outages come from `sacctmgr show event`"


def write_nodes(units: list[Unit]) -> list[Said]:
    """Groups of equal nodes, one a line."""
    groups = []
    for _, run in groupby(units, key=lambda unit: unit.kind):
        alike = list(run)
        first = alike[0]
        named = compress([unit.name for unit in alike])
        if "[" not in named:
            match = re.fullmatch(r"(.*?)(\d+)", named)
            named = f"{match[1]}[{match[2]}]" if match else f"{named},"
        group: dict[str, Any] = {"name": named, "cores": first.cores}
        group |= {"memory": f"{first.memory}M"} if first.memory is not None else {}
        group |= {"gpus": first.gpus} if first.gpus else {}
        group |= {"resources": dict(first.resources)} if first.resources else {}
        group |= {"features": list(first.features)} if first.features else {}
        groups.append(Said(group, cite(first.line)))
    return groups


def write_threads(units: list[Unit], findings: Findings) -> dict[str, Any]:
    """How many threads are a core: what a job has of a node are whole cores."""
    found = sorted({unit.threads for unit in units})
    if found == [1]:
        return {}
    threads = next(count for count in reversed(found) if all(unit.cores % count == 0 for unit in units))
    if len(found) > 1 or threads != found[-1]:
        how = f"a job has whole cores of {threads} threads on all nodes alike"
        findings.tell("NodeName.ThreadsPerCore", "", NEARLY, how)
    line = next(unit.line for unit in units if unit.threads > 1)
    return {"threads_per_core": Said(threads, f"{cite(line)} ThreadsPerCore")} if threads > 1 else {}


def write_licences(settings: EffectiveSettings, findings: Findings) -> dict[str, Any]:
    """The cluster's licences, by the names that jobs of a log have."""
    if not settings.given("Licenses"):
        return {}
    findings.tell("Licenses")
    there = {name.replace("@", "_"): count for name, count in read_licences(settings.get("Licenses")).items()}
    return {"licences": Said(there, settings.source("Licenses"))}


def _find_leaves(given: Given, settings: EffectiveSettings, findings: Findings) -> dict[str, str]:
    """The switch of each node, where the site places jobs by them."""
    plugin = settings.get("TopologyPlugin")
    if "tree" not in plugin:
        if settings.given("TopologyPlugin"):
            known = plugin.endswith(("none", "default", "flat"))
            findings.tell(
                "TopologyPlugin", "", *((EXACTLY, "") if known else (NOT, f"{plugin}: only the tree is known"))
            )
        return {}
    if not given.switches:
        raise InputError("TopologyPlugin=topology/tree needs topology.conf", file=given.conf.file)
    leaves = {
        name: line.name for line in given.switches if line.get("Nodes") for name in expand(line.get("Nodes") or "")
    }
    tops = [line for line in given.switches if line.get("Switches")]
    deep = any(name in {line.name for line in tops} for line in tops for name in expand(line.get("Switches") or ""))
    findings.tell(
        "TopologyPlugin", "", *((NEARLY, "the switches of the nodes; those above are one") if deep else (EXACTLY, ""))
    )
    return leaves
