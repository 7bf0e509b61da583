"""How the nodes of a cluster are connected: links, and the links that lie between two ends.

Ends are numbered: first the nodes, then the outside components, such as a storage. A link that carries both directions
apart (full duplex) is two of the network's links. All that is needed of a network is which `links` it has and the
`route` from one end to another; how fast the bytes of each flow is decided elsewhere.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from walltime.core.errors import InputError

TYPES = ("constant", "shared", "star", "tree", "fat-tree", "graph")


@dataclass(frozen=True)
class Link:
    """`bandwidth` in bytes a second, `latency` in seconds. Without `duplex` both directions share the bandwidth."""

    bandwidth: float = math.inf
    latency: float = 0.0
    duplex: bool = True


@dataclass(frozen=True)
class Route:
    """The links from one end to another, by number; what passes waits for the latency and is never faster than `bound`
    bytes a second."""

    links: tuple[int, ...]
    latency: float
    bound: float = math.inf


class Network:
    """Links, and routes over them. A kind of network says in `_path` which of its links lie between two ends."""

    def __init__(self, nodes: int, local: Link | None = None) -> None:
        self.nodes = nodes
        self.names: list[str] = []
        self.links: list[Link] = []
        self._local = None if local is None else self._add_each("local", nodes, _medium(local))

    def route(self, source: int, target: int) -> Route:
        """From one end to another; raises InputError where no way leads there."""
        links: tuple[int, ...] = ()
        if source != target:
            links = self._path(source, target)
        elif self._local is not None and source < self.nodes:
            links = (self._local[source][0],)
        return Route(links, sum([self.links[number].latency for number in links]))

    def interface(self, end: int, ends: int) -> Link:
        """What connects an end, one of so many, to the rest."""
        way = self.route(end, (end + 1) % ends) if ends > 1 else Route((), 0.0)
        return self.links[way.links[0]] if way.links else Link(way.bound)

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        raise NotImplementedError

    def _add(self, name: str, link: Link) -> tuple[int, int]:
        """One more link; its numbers there and back, which are one where both directions share it."""
        there = len(self.links)
        self.links.append(link)
        self.names.append(name)
        if not link.duplex:
            return there, there
        self.links.append(link)
        self.names.append(f"{name} back")
        return there, there + 1

    def _add_each(self, name: str, count: int, link: Link) -> list[tuple[int, int]]:
        return [self._add(f"{name} {number}", link) for number in range(count)]


class Constant(Network):
    """No contention: each transfer has the whole bandwidth to itself."""

    def __init__(self, nodes: int, link: Link, local: Link | None = None) -> None:
        super().__init__(nodes, local)
        self._link = link

    def route(self, source: int, target: int) -> Route:
        if source == target:
            return super().route(source, target)
        return Route((), self._link.latency, self._link.bandwidth)


class Shared(Network):
    """One medium, which all transfers share."""

    def __init__(self, nodes: int, link: Link, local: Link | None = None) -> None:
        super().__init__(nodes, local)
        self._medium = (self._add("medium", Link(link.bandwidth, link.latency, duplex=False))[0],)

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        return self._medium


class Star(Network):
    """Every end has a link to one switch; `switch` is what that passes on in all."""

    def __init__(
        self,
        nodes: int,
        link: Link,
        outside: Sequence[Link] = (),
        switch: Link | None = None,
        local: Link | None = None,
    ) -> None:
        super().__init__(nodes, local)
        self._ends = self._add_each("node", nodes, link) + [self._add("outside", one) for one in outside]
        self._middle = () if switch is None else (self._add("switch", _medium(switch))[0],)

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        return (self._ends[source][0], *self._middle, self._ends[target][1])


class Tree(Network):
    """Nodes below switches below switches: `levels` are (how many of those below one switch has, their link up), from
    the nodes up. Above the last level is the root, to which the outside is linked."""

    def __init__(
        self,
        nodes: int,
        levels: Sequence[tuple[int, Link]],
        outside: Sequence[Link] = (),
        switch: Link | None = None,
        local: Link | None = None,
    ) -> None:
        super().__init__(nodes, local)
        self._sizes = [size for size, _ in levels]
        self._up: list[list[tuple[int, int]]] = []
        self._switches: list[list[tuple[int, int]]] = []
        below = nodes
        for depth, (size, link) in enumerate(levels):
            self._up.append(self._add_each("node" if depth == 0 else f"level {depth}", below, link))
            below = -(-below // size)
            if switch is not None:
                self._switches.append(self._add_each(f"switch {depth + 1}", below, _medium(switch)))
        if below > 1:
            what = (
                f"a tree whose top has {below} switches; the last level needs a size of at least {below} times as much"
            )
            raise InputError(what, value=self._sizes)
        self._ends = [self._add("outside", one) for one in outside]

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        meet = len(self._up) - 1
        if max(source, target) < self.nodes:
            meet = next(k for k in range(len(self._up)) if self._above(source, k) == self._above(target, k))
        up, passed = self._climb(source, meet)
        down, passed_too = self._climb(target, meet)
        switches = dict.fromkeys([*passed, *passed_too])  # that in which the ways meet, once
        return (*(pair[0] for pair in up), *switches, *(pair[1] for pair in down))

    def _climb(self, end: int, depth: int) -> tuple[list[tuple[int, int]], list[int]]:
        """From the end up to the switch at that depth: the links and, where they count, the switches."""
        if end >= self.nodes:
            return [self._ends[end - self.nodes]], [pairs[0][0] for pairs in self._switches[-1:]]
        links, switches = [self._up[0][end]], []
        for level in range(depth + 1):
            index = self._above(end, level)
            switches += [self._switches[level][index][0]] if self._switches else []
            links += [self._up[level + 1][index]] if level < depth else []
        return links, switches

    def _above(self, node: int, depth: int) -> int:
        """Which switch of that level the node is below."""
        for size in self._sizes[: depth + 1]:
            node //= size
        return node


class FatTree(Network):
    """Nodes, the first level of switches, and above it a second: each of the first is linked to each of the second.

    A transfer to a node passes the switch of the second level whose number is the node's, modulo how many there are
    (D-mod-k routing). The nodes are divided among the first level in runs; the outside is linked to the second.
    """

    def __init__(
        self,
        nodes: int,
        l1_switches: int,
        l2_switches: int,
        downlink: Link,
        uplink: Link,
        outside: Sequence[Link] = (),
        switch: Link | None = None,
        local: Link | None = None,
    ) -> None:
        super().__init__(nodes, local)
        self._l1, self._l2 = l1_switches, l2_switches
        self._below = -(-nodes // l1_switches)
        self._ends = self._add_each("node", nodes, downlink) + [self._add("outside", one) for one in outside]
        self._up = [self._add_each(f"uplink {number}", l2_switches, uplink) for number in range(l1_switches)]
        self._switch = None if switch is None else self._add_each("switch", l1_switches + l2_switches, _medium(switch))

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        here, there = (end // self._below if end < self.nodes else -1 for end in (source, target))
        high = (target if there >= 0 else source) % self._l2
        links, switches = [self._ends[source][0]], []
        if here >= 0:
            switches.append(here)
        if here != there:
            links += [self._up[here][high][0]] if here >= 0 else []
            links += [self._up[there][high][1]] if there >= 0 else []
            switches.append(self._l1 + high)
            switches += [there] if there >= 0 else []
        elif here < 0:
            switches.append(self._l1 + high)
        if self._switch is not None:
            links += [self._switch[number][0] for number in switches]
        return (*links, self._ends[target][1])


@dataclass(frozen=True)
class Edge:
    """A link between two places of a graph, under a name that routes may use."""

    name: str
    first: str
    second: str
    link: Link


@dataclass(frozen=True)
class NetworkPlan:
    """A graph of links. `routes` are ways that are told, as (from, to, names of links); other ways are those with the
    fewest links, then the least latency, then the first in the order of the edges."""

    edges: tuple[Edge, ...]
    routes: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict)
    file: str | None = None


class Graph(Network):
    """Any links between places, among them all ends by name."""

    def __init__(self, nodes: int, ends: Sequence[str], plan: NetworkPlan, local: Link | None = None) -> None:
        super().__init__(nodes, local)
        self._names = list(ends)
        self._beside: dict[str, list[tuple[str, int]]] = {}
        self._told: dict[tuple[str, str], tuple[int, ...]] = {}
        self._trees: dict[str, dict[str, tuple[str, int]]] = {}
        self._plan = plan
        numbers: dict[str, tuple[Edge, tuple[int, int]]] = {}
        for edge in plan.edges:
            if edge.name in numbers:
                raise InputError("two links have the same name", value=edge.name, file=plan.file)
            there, back = self._add(edge.name, edge.link)
            numbers[edge.name] = edge, (there, back)
            self._beside.setdefault(edge.first, []).append((edge.second, there))
            self._beside.setdefault(edge.second, []).append((edge.first, back))
        missing = [name for name in ends if name not in self._beside]
        if missing:
            choices = list(self._beside)
            raise InputError("no link of the network leads to", value=missing[0], file=plan.file, choices=choices)
        for source, target, names in plan.routes:
            self._tell(source, target, names, numbers)

    def _tell(
        self, source: str, target: str, names: Sequence[str], numbers: Mapping[str, tuple[Edge, tuple[int, int]]]
    ) -> None:
        """A route that the plan tells, both ways; the way back only where it is not told itself."""
        vertex, links, back = source, [], []
        for name in names:
            if name not in numbers:
                raise InputError("a route over a link that is none", value=name, file=self._plan.file, choices=numbers)
            edge, (first, second) = numbers[name]
            if vertex not in (edge.first, edge.second):
                what = f"a route from {source} to {target} comes to {vertex}, where the next link does not begin"
                raise InputError(what, value=name, file=self._plan.file)
            onward = vertex == edge.first
            links.append(first if onward else second)
            back.append(second if onward else first)
            vertex = edge.second if onward else edge.first
        if vertex != target:
            raise InputError(f"a route to {target} ends at {vertex}", value=list(names), file=self._plan.file)
        self._told[source, target] = tuple(links)
        self._told.setdefault((target, source), tuple(reversed(back)))

    def _path(self, source: int, target: int) -> tuple[int, ...]:
        start, goal = self._names[source], self._names[target]
        if (start, goal) in self._told:
            return self._told[start, goal]
        if start not in self._trees:
            self._trees[start] = self._search(start)
        came, links, vertex = self._trees[start], [], goal
        while vertex != start:
            if vertex not in came:
                raise InputError(f"no way leads from {start} to {goal}", file=self._plan.file)
            vertex, number = came[vertex]
            links.append(number)
        return tuple(reversed(links))

    def interface(self, end: int, ends: int) -> Link:
        links = [self.links[number] for _, number in self._beside[self._names[end]]]
        return Link(sum(link.bandwidth for link in links), duplex=any(link.duplex for link in links))

    def _search(self, start: str) -> dict[str, tuple[str, int]]:
        """From where, and over which link, the best way from `start` comes to each vertex."""
        best = {start: (0, 0.0)}
        came: dict[str, tuple[str, int]] = {}
        queue = [(0, 0.0, 0, start)]
        pushed = 0
        while queue:
            hops, latency, _, vertex = heapq.heappop(queue)
            if (hops, latency) > best[vertex]:
                continue
            for other, number in self._beside[vertex]:
                cost = (hops + 1, latency + self.links[number].latency)
                if other not in best or cost < best[other]:
                    best[other] = cost
                    came[other] = vertex, number
                    pushed += 1
                    heapq.heappush(queue, (*cost, pushed, other))
        return came


def _medium(switch: Link) -> Link:
    """What passes through a switch, in whatever direction."""
    return Link(switch.bandwidth, switch.latency, duplex=False)
