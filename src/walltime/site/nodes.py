"""The nodes of a site as slurm.conf and gres.conf describe them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from walltime.cluster.hostlist import expand
from walltime.core.errors import InputError
from walltime.site.conf import Conf, ConfLine, read_lines
from walltime.site.gres import Gres, detail, read_gres

FORCED = 4
"""Jobs on one core where OverSubscribe=FORCE does not say how many."""
LATER = ("FUTURE", "CLOUD")
"""States of nodes that are described but not there."""


@dataclass(frozen=True)
class Node:
    """A node as it reports for service. Memory and disk in megabytes."""

    name: str
    cpus: int
    boards: int = 1
    sockets: int = 1
    cores: int = 1
    threads: int = 1
    memory: int = 1
    tmp_disk: int = 0
    features: str | None = None
    gres: tuple[Gres, ...] = ()
    load: int = 1
    """How many jobs may have the same core (OverSubscribe)."""

    @property
    def slots(self) -> int:
        """Cores, each as often as it is given out."""
        return self.cpus * self.load


def find_state(state: str | None) -> str:
    """The first word of a node's state, as `DOWN` of `DOWN*`."""
    return re.split(r"[^A-Z]", (state or "UNKNOWN").upper())[0]


def make_nodes(conf: Conf, cloud: bool = False, kinds: Iterable[str] = ("gpu",)) -> tuple[tuple[Node, ...], list[str]]:
    """The nodes that are there, in the controller's order, and what a person should know of the files.

    `cloud` takes nodes that are started when they are needed for nodes that are always there. `kinds` are the generic
    resources that the controller gives out.
    """
    always = set() if cloud else _find_always(conf)
    there = [
        node
        for node, state in _read_nodes(conf)
        if state not in LATER or (state == "CLOUD" and (cloud or node.name in always))
    ]
    nodes = _share_cores(conf, tuple(there))
    if not nodes:
        what = "describes no node that is there"
        raise InputError(f"{what}; --cloud takes CLOUD nodes for such" if not cloud else what, file=conf.file)
    lacking = dict.fromkeys(one.name for node in nodes for one in node.gres if one.name not in {*kinds})
    if lacking:
        nodes = tuple(replace(node, gres=tuple(one for one in node.gres if one.name not in lacking)) for node in nodes)
    nodes, notes = _detail_gres(conf, nodes)
    notes += [f"nodes have Gres={kind}, but GresTypes does not name it: it is not given out" for kind in lacking]
    return nodes, notes


def _find_always(conf: Conf) -> set[str]:
    """The nodes that are never switched off (SuspendExcNodes, SuspendExcParts), although they may be CLOUD."""
    found: set[str] = set()
    if "SuspendExcNodes" in conf.settings:
        value, line = conf.settings["SuspendExcNodes"]
        found |= set(_expand(re.sub(r":\d+", "", value), line))
    parts = conf.settings["SuspendExcParts"][0].split(",") if "SuspendExcParts" in conf.settings else []
    for line, words in conf.resolve("partitionname"):
        if line.name in parts:
            found |= find_members(conf, words.get("nodes", ""), line)
    return found


def _detail_gres(conf: Conf, nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], list[str]]:
    """The nodes with what gres.conf, if there is one, tells of their generic resources."""
    path = Path(conf.file).parent / "gres.conf" if conf.gres is None else Path(conf.gres)
    if not any(node.gres for node in nodes):
        return nodes, []
    if not path.exists():
        return nodes, ["gres.conf is not beside slurm.conf: every core is beside every generic resource"]
    told = [line for line in read_lines(path) if line.get("Name")]
    notes = [
        f"gres.conf: AutoDetect={line.get('AutoDetect')} finds nothing here; slurm.conf says what there is"
        for line in read_lines(path)
        if (line.get("AutoDetect") or "off").lower() != "off"
    ]
    names = [None if line.get("NodeName") is None else set(_expand(line.get("NodeName") or "", line)) for line in told]
    detailed = []
    for node in nodes:
        own = [line for line, among in zip(told, names, strict=True) if among is None or node.name in among]
        words = [{key.lower(): value for key, value in line.pairs} for line in own]
        try:
            gres, problems = detail(node.gres, words, node.sockets * node.cores, node.name)
        except InputError as error:
            raise InputError(f"{node.name}: {error}", file=path) from None
        notes += problems
        detailed.append(replace(node, gres=gres))
    return tuple(detailed), list(dict.fromkeys(notes))


def _expand(names: str, line: ConfLine) -> list[str]:
    try:
        return expand(names)
    except InputError as error:
        raise InputError(str(error), file=line.file, line=line.number) from None


def find_members(conf: Conf, text: str, line: ConfLine) -> set[str]:
    """The names of the nodes in a partition's `Nodes`: names, sets of nodes, ALL; raises InputError with the line."""
    sets = {one.name: one for one in conf.of_kind("nodeset")}
    found: set[str] = set()
    for name in _expand(text, line):
        if name.upper() == "ALL":
            found |= {node.name for node, _ in _read_nodes(conf)}
        elif name in sets:
            found |= set(_expand(sets[name].get("Nodes") or "", sets[name]))
            feature = sets[name].get("Feature") or "-"
            found |= {node.name for node, _ in _read_nodes(conf) if feature in (node.features or "").split(",")}
        else:
            found.add(name)
    return found


def _read_nodes(conf: Conf) -> Iterator[tuple[Node, str]]:
    """Each node with its state."""
    for line, words in conf.resolve("nodename"):
        try:
            for name in expand(line.name):
                yield _make_node(name, words), find_state(words.get("state"))
        except (InputError, ValueError) as error:
            raise InputError(str(error), file=line.file, line=line.number) from None


def _share_cores(conf: Conf, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes with the number of jobs that may have the same core, where a partition forces jobs to share."""
    loads: dict[str, int] = {}
    for line, words in conf.resolve("partitionname"):
        shared = words.get("oversubscribe", words.get("shared", ""))
        match = re.fullmatch(r"FORCE(?::(\d+))?", shared, re.IGNORECASE)
        if match:
            for name in find_members(conf, words.get("nodes", ""), line):
                loads[name] = max(loads.get(name, 1), int(match[1] or FORCED))
    return tuple(replace(node, load=loads[node.name]) if node.name in loads else node for node in nodes)


def _make_node(name: str, words: Mapping[str, str]) -> Node:
    def number(key: str, default: int) -> int:
        return int(words.get(key, default))

    threads, boards = number("threadspercore", 1), number("boards", 1)
    cpus = int(words.get("cpus", words.get("procs", 0)))
    sockets = number("sockets", number("socketsperboard", 0) * boards)
    cores = number("corespersocket", 0)
    if not cores:
        sockets = sockets or max(1, cpus // threads)
        cores = max(1, cpus // (sockets * threads)) if cpus else 1
    sockets = sockets or (max(1, cpus // (cores * threads)) if cpus else 1)
    whole = sockets * cores * threads
    return Node(
        name,
        cpus or whole,
        boards,
        sockets,
        cores,
        threads,
        number("realmemory", 1),
        number("tmpdisk", 0),
        words.get("features", words.get("feature")),
        tuple(read_gres(words.get("gres", ""))),
    )
