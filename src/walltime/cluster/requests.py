"""What a job asks of the nodes, from the columns of a workload: an even share for each node, cores anywhere, or parts
whose nodes differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from walltime.cluster.nodes import Layout
from walltime.core.errors import InputError
from walltime.core.workload import Workload

Mask = np.ndarray[Any, Any]
PER = ("node", "core", "job")
_COLUMNS = ("cores", "memory", "gpus")
_PART = re.compile(r"(?:(\d{1,9})x)?(\d{1,9})(?:,memory=(\d{1,18}))?(?:,gpus=(\d{1,9}))?(?:@(.*))?")


@dataclass(frozen=True)
class NodeRequest:
    """A request as a ledger of resources understands it.

    With `nodes` it has a shape: so many distinct nodes, `each` of which must have these amounts, in the order of
    `Layout.resources()`. Without, `each` is what goes with every single core. `licences` are in the layout's order, for
    the job as a whole. `lacking` says, in words, what it wants that is nowhere at all. Where its nodes differ, `parts`
    tells how many of them must have how much, the largest first; `nodes` are all, and `each` is what the last wants.
    """

    cores: int
    nodes: int
    each: tuple[int, ...]
    exclusive: bool = False
    licences: tuple[int, ...] = ()
    lacking: str = ""
    parts: tuple[tuple[int, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Stock:
    """What some of the nodes of a layout have: a row for those that are alike, in the order of `kinds`, and how many
    these are. It is looked at for each kind of request, and there may be many."""

    kinds: list[str]
    rows: list[tuple[int, ...]]
    counts: list[int]
    whole: bool
    licences: Mapping[str, int]

    @classmethod
    def of(cls, layout: Layout, mask: Mask) -> Stock:
        """The nodes of the mask."""
        alike = sorted(Counter(map(tuple, layout.table[mask].tolist())).items())
        rows, counts = [row for row, _ in alike], [count for _, count in alike]
        return cls(layout.resources(), rows, counts, layout.whole, layout.licences)

    @property
    def nodes(self) -> int:
        return sum(self.counts)

    def times(self, each: Sequence[int]) -> list[int]:
        """How many times a node of each row, empty, has these amounts."""
        return [min(has // need for has, need in zip(row, each, strict=True) if need > 0) for row in self.rows]

    def holders(self, each: Sequence[int]) -> int:
        """How many nodes, empty, have these amounts."""
        return sum(count for count, fits in zip(self.counts, self.times(each), strict=True) if fits)


class RequestPart(NamedTuple):
    """So many nodes of a job (0: it does not say) with so many cores each; memory and GPUs are those of the part as a
    whole, -1 where it does not tell them."""

    nodes: int
    cores: int
    memory: int
    gpus: int
    queue: str


DIGITS = 12
"""Of an amount that a job asks for at most; what nodes have is less."""


class Amount(NamedTuple):
    """How much of a named resource, and for what: `node`, `core` or `job`."""

    number: int
    per: str


def make_request(
    stock: Stock,
    *,
    cores: int = 1,
    nodes: int = -1,
    cores_per_node: int = -1,
    memory: int = -1,
    memory_per_node: int = -1,
    memory_per_core: int = -1,
    gpus: int = 0,
    gpus_per_node: int = -1,
    resources: str = "",
    licences: str = "",
    exclusive: int = 0,
    parts: str = "",
) -> NodeRequest:
    """Divide what a job's columns say (missing numbers are negative) over nodes of the stock; raises InputError.

    A request in nodes has its own division. One that tells none, but wants what is on nodes (GPUs, named resources,
    anything per node, a node of its own), gets the fewest nodes on which an even division fits. Memory that no node
    tells of is not counted, nor are GPUs where nodes tell of nothing but cores. `parts` (`1x8+1x1`) tells nodes that
    differ: what the job wants for each core goes with their cores, the rest is the same on all, unless a part tells it.
    """
    alone = bool(exclusive) or stock.whole
    kinds = stock.kinds
    if "memory" not in kinds:
        memory = memory_per_node = memory_per_core = -1
    if kinds == ["cores"]:
        gpus, gpus_per_node = 0, -1
    wants = _Wants(cores, memory, memory_per_node, memory_per_core, gpus, gpus_per_node, parse_resources(resources))
    owned = parse_licences(licences)
    shared = tuple(owned.get(name, 0) for name in stock.licences)
    lacking = _lacking(wants, kinds, [name for name in owned if owned[name] > 0 and name not in stock.licences])
    if parts:
        return replace(_put_together(parts, wants, kinds), exclusive=alone, licences=shared, lacking=lacking)
    if nodes <= 0 and cores_per_node > 0:
        nodes = -(-cores // cores_per_node)
    if nodes > 0:
        nodes = nodes if alone else min(nodes, cores)
    elif exclusive or wants.bound_to_nodes():
        nodes = _fewest(stock, wants)
    else:
        return NodeRequest(cores, 0, wants.of_a_core(kinds), alone, shared, lacking)
    each = wants.of_a_node(nodes, kinds)
    if alone and cores_per_node > each[0]:  # a node that is the job's own has to be as large as it says
        each = (cores_per_node, *each[1:])
    return NodeRequest(cores, nodes, each, alone, shared, lacking)


@dataclass(frozen=True)
class _Wants:
    """The amounts of a request, before they are divided."""

    cores: int
    memory: int
    memory_per_node: int
    memory_per_core: int
    gpus: int
    gpus_per_node: int
    named: Mapping[str, Amount]

    def names(self) -> list[str]:
        """What it wants more than nothing of, besides cores."""
        gpus = ["gpus"] if self.gpus > 0 or self.gpus_per_node > 0 else []
        memory = ["memory"] if max(self.memory, self.memory_per_node, self.memory_per_core) > 0 else []
        return memory + gpus + [name for name, amount in self.named.items() if amount.number > 0]

    def bound_to_nodes(self) -> bool:
        """Whether it wants something that cannot be had core by core."""
        return self.memory_per_node > 0 or any(name != "memory" for name in self.names())

    def of_a_core(self, kinds: list[str]) -> tuple[int, ...]:
        """What goes with every core of a request without a shape."""
        memory = self.memory_per_core if self.memory_per_core >= 0 else -(-max(self.memory, 0) // self.cores)
        return tuple({"cores": 1, "memory": memory}.get(kind, 0) for kind in kinds)

    def of_a_node(self, nodes: int, kinds: list[str], part: RequestPart | None = None) -> tuple[int, ...]:
        """An even share of everything, rounded up; of a node of a part, the part's cores, and what else it tells."""
        cores = -(-self.cores // nodes) if part is None else part.cores
        if part is not None and part.memory >= 0:
            memory = -(-part.memory // part.nodes)
        elif self.memory_per_node >= 0:
            memory = self.memory_per_node
        elif self.memory_per_core >= 0:
            memory = self.memory_per_core * cores
        else:
            memory = -(-max(self.memory, 0) // nodes)
        gpus = self.gpus_per_node if self.gpus_per_node >= 0 else -(-max(self.gpus, 0) // nodes)
        if part is not None and part.gpus >= 0:
            gpus = -(-part.gpus // part.nodes)
        share = {"cores": cores, "memory": memory, "gpus": gpus}
        for name, amount in self.named.items():
            times = {"node": amount.number, "core": amount.number * cores, "job": -(-amount.number // nodes)}
            share[name] = times[amount.per]
        return tuple(share.get(kind, 0) for kind in kinds)


def _put_together(text: str, wants: _Wants, kinds: list[str]) -> NodeRequest:
    """A request whose nodes differ. Of two parts one has to want at least as much of everything as the other: then a
    node that serves it serves the other too, and it is known at once whether all of them find their nodes."""
    parts = parse_parts(text)
    if not all(part.nodes for part in parts):
        raise InputError("a part that names no nodes", value=text)
    if sum(part.nodes * part.cores for part in parts) != wants.cores:
        raise InputError(f"parts that are not the {wants.cores} cores of their job", value=text)
    nodes = sum(part.nodes for part in parts)
    counts: Counter[tuple[int, ...]] = Counter()
    for part in parts:
        counts[wants.of_a_node(nodes, kinds, part)] += part.nodes
    sizes = sorted(counts, reverse=True)
    for more, less in pairwise(sizes):
        if any(one < other for one, other in zip(more, less, strict=True)):
            raise InputError("parts of which neither wants as much of everything as the other", value=text)
    alike = len(sizes) == 1
    return NodeRequest(
        wants.cores, nodes, sizes[-1], parts=() if alike else tuple((counts[each], each) for each in sizes)
    )


def _lacking(wants: _Wants, kinds: list[str], licences: list[str]) -> str:
    """What is wanted and nowhere to be had; memory that no node counts is not missed."""
    for name in wants.names():
        if name not in kinds and name != "memory":
            return f"no node has {'any GPUs' if name == 'gpus' else name}"
    return f"there are no licences of {licences[0]}" if licences else ""


def _fewest(stock: Stock, wants: _Wants) -> int:
    """The fewest nodes on which an even division fits, empty; 1 where none does."""
    largest = max((row[0] for row in stock.rows), default=0)
    if largest == 0:
        return 1
    for nodes in range(-(-wants.cores // largest), min(wants.cores, stock.nodes) + 1):
        if stock.holders(wants.of_a_node(nodes, stock.kinds)) >= nodes:
            return nodes
    return 1


def parse_parts(text: str) -> list[RequestPart]:
    """`1x8+4x2,memory=8000,gpus=4@long` part by part; raises InputError."""
    found = []
    for word in text.split("+"):
        match = _PART.fullmatch(word.strip())
        if match is None or int(match[2]) == 0 or (match[1] is not None and int(match[1]) == 0):
            raise InputError("parts are written as nodes x cores of each, such as 1x8+4x2", value=text)
        memory, gpus = (-1 if told is None else int(told) for told in match.group(3, 4))
        found.append(RequestPart(int(match[1] or 0), int(match[2]), memory, gpus, match[5] or ""))
    return found


def round_to_cores(workload: Workload, threads: int) -> Workload:
    """The jobs with whole cores of so many threads each, on every one of their nodes: `cores` are threads here."""
    cores, nodes, each = (workload.column(name) for name in ("cores", "nodes", "cores_per_node"))
    step = np.maximum(nodes, 1) * threads
    each = np.where(each > 0, -(-each // threads) * threads, each)
    columns = dict(workload.columns) | ({"cores_per_node": each} if workload.has("cores_per_node") else {})
    rounded = np.where((nodes > 0) & (each > 0), nodes * each, -(-cores // step) * step)
    return workload.replace(columns | {"cores": np.where(cores > 0, rounded, cores)})


def find_parts(workload: Workload, among: Callable[[list[RequestPart]], bool]) -> str | None:
    """The first job whose parts are among those looked for, and how many there are, in words; None without any."""
    names = workload.label_names("parts")
    wanted = [among(parse_parts(name)) for name in names]
    rows = np.flatnonzero(np.array([*wanted, False])[workload.column("parts")])
    if not len(rows):
        return None
    first = int(rows[0])
    more = f", and {len(rows) - 1:,} more jobs" if len(rows) > 1 else ""
    return f"job {workload.column('job_id')[first]} with the parts {names[workload.column('parts')[first]]}{more}"


def refusal(stock: Stock, request: NodeRequest, queue: str | None = None, constraint: str | None = None) -> str | None:
    """Why the request could not run on the nodes of the stock, empty, in words; None where it could.

    `queue` and `constraint` are what the nodes were chosen by, for the words.
    """
    if request.lacking:
        return request.lacking
    for name, amount in zip(stock.licences, request.licences, strict=False):
        if amount > stock.licences[name]:
            return f"more licences of {name} than there are"
    if not stock.rows:
        return f"no node{'' if queue is None else f' of queue {queue}'} has the property {constraint or 'asked for'}"
    if request.nodes:
        have = stock.holders(request.each)
    else:
        have = sum(count * fits for count, fits in zip(stock.counts, stock.times(request.each), strict=True))
    wanted = 0
    for nodes, each in request.parts:
        wanted += nodes
        have = have if stock.holders(each) >= wanted else 0
    cores = sum(count * row[0] for count, row in zip(stock.counts, stock.rows, strict=True))
    if request.cores <= cores and have >= (request.nodes or request.cores):
        return None
    return _shortage(stock, request, cores, queue, constraint)


def _shortage(stock: Stock, request: NodeRequest, cores: int, queue: str | None, constraint: str | None) -> str:
    """What the nodes, which have so many cores together, have not enough of."""
    cluster = "the cluster" if queue is None else f"queue {queue}"
    whose = f"{cluster} has" if not constraint else f"the nodes with {constraint} have"
    node = "any of them" if constraint else "any node" if queue is None else f"any node of {cluster}"
    if request.cores > cores:
        return f"more cores than {whose}"
    if request.nodes > stock.nodes:
        return f"more nodes than {whose}"
    each = request.parts[0][1] if request.parts else request.each
    for kind, amount, has in zip(stock.kinds, each, zip(*stock.rows, strict=True), strict=True):
        if amount > max(has):
            what = "GPUs" if kind == "gpus" else kind
            return f"more {what} {'on a node' if request.nodes else 'with a core'} than {node} has"
    return f"more {'nodes of that size' if request.nodes else 'cores with that much memory'} than {whose}"


def parse_resources(text: str, choices: Iterable[str] | None = None) -> dict[str, Amount]:
    """`scratch:100,fpga:1/core,ram:8/job` by name; with `choices`, another name is an InputError."""
    known = None if choices is None else [name for name in choices if name not in _COLUMNS]
    found: dict[str, Amount] = {}
    for name, number in _items(text, "resources"):
        amount, slash, per = number.partition("/")
        if name in _COLUMNS:
            raise InputError("a resource that has a column of its own", value=name, choices=known or ())
        if known is not None and name not in known:
            raise InputError("no node has this resource", value=name, choices=known)
        if slash and per not in PER:
            raise InputError(f"resources {text!r}: an amount is per", value=per, choices=PER)
        found[name] = Amount(_number(amount, text, "resources"), per or "node")
    return found


def parse_licences(text: str, choices: Iterable[str] | None = None) -> dict[str, int]:
    """`matlab:2,ansys` by name, one where no number is told; with `choices`, another name is an InputError."""
    known = None if choices is None else list(choices)
    found = {}
    for name, number in _items(text, "licences"):
        if known is not None and name not in known:
            raise InputError("the cluster has no such licence", value=name, choices=known)
        found[name] = _number(number, text, "licences")
    return found


def parse_constraint(layout: Layout, text: str) -> Mask:
    """Which nodes have the properties: `ib&xeon` both, `a|b` one of them, `&` first; raises InputError.

    The names of nodes are properties too: `c[001-004]|c009`. One that no node has, none of them satisfies.
    """
    chosen = np.zeros(layout.count, bool)
    for option in text.split("|"):
        together = np.ones(layout.count, bool)
        for feature in option.split("&"):
            name = feature.strip()
            if not name:
                raise InputError("constraint: a property is missing beside & or |", value=text)
            together &= layout.with_property(name)
        chosen |= together
    return chosen


def _items(text: str, what: str) -> list[tuple[str, str]]:
    """The items of a list with commas, each as a name and what is behind its colon (1 where there is none)."""
    items: list[tuple[str, str]] = []
    for part in text.split(",") if text.strip() else []:
        name, colon, number = (word.strip() for word in part.partition(":"))
        if not name or (colon and not number):
            raise InputError(f"{what} must be a list such as name:2,other:1", value=text)
        if name in dict(items):
            raise InputError(f"{what} {text!r} name something twice", value=name)
        items.append((name, number if colon else "1"))
    return items


def _number(text: str, whole: str, what: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise InputError(f"{what} {whole!r}: not a whole number", value=text)
    if len(text.lstrip("0")) > DIGITS:
        raise InputError(f"{what}: a number out of range", value=text)
    return int(text)
