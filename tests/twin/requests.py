"""What a job asks of nodes with several resources, in the slow twin of a site.

Where the guide leaves it open: amounts of zero are no request. A request in parts of a job's whole cores or memory
is rounded up on each node. Where `memory_per_core` is given, it counts before `memory`, and `memory_per_node` before
both. Memory that no node tells of is not counted, nor are GPUs where nodes tell of nothing but cores. A job in parts
wants the share of each on as many nodes, all different; parts with equal shares are one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from twin.jobs import Job
from walltime.cluster.nodes import UNCOUNTED, Layout
from walltime.scenario import Cluster, Queue
from walltime.scenario.values import read_share

Rooms = list[dict[str, int] | None]


@dataclass(frozen=True)
class Request:
    """`count` nodes of the set with `share` free on each; or, with count None, cores anywhere with memory for each."""

    node_set: frozenset[int]
    cores: int
    count: int | None
    share: dict[str, int]
    memory_per_core: int
    whole: bool  # nobody else on its nodes
    licences: dict[str, int]
    parts: tuple[Request, ...] = ()  # of nodes that differ, the largest first; `share` is that of the smallest

    def serves(self, room: dict[str, int]) -> bool:
        """Whether a node with so much room holds a part of the job."""
        if self.count is None:
            return self.offer(room) > 0
        return all(room.get(name, UNCOUNTED if name == "memory" else 0) >= self.share[name] for name in self.share)

    def suitable(self, rooms: Rooms) -> list[int]:
        return [node for node, room in enumerate(rooms) if room is not None and self.serves(room)]

    def finds(self, rooms: Rooms) -> bool:
        """Whether every node of every part finds one of its own: each is seated, and unseats others in turn."""
        seats = [self.parts[k].suitable(rooms) for k in range(len(self.parts)) for _ in range(self.parts[k].count or 0)]
        taken: dict[int, int] = {}

        def seat(one: int, met: set[int]) -> bool:
            for node in seats[one]:
                if node not in met:
                    met.add(node)
                    if node not in taken or seat(taken[node], met):
                        taken[node] = one
                        return True
            return False

        return all(seat(one, set()) for one in range(len(seats)))

    def offer(self, room: dict[str, int]) -> int:
        """How many of the job's cores the node can have."""
        if self.memory_per_core == 0 or room.get("memory", UNCOUNTED) == UNCOUNTED:
            return max(0, room["cores"])
        return max(0, min(room["cores"], room["memory"] // self.memory_per_core))

    def offers(self, rooms: Rooms) -> list[int]:
        return [0 if room is None else self.offer(room) for room in rooms]


def as_asked_in(job: Job, queue: Queue | None) -> Job:
    """The job with what it asks for in a queue, which may give it nodes of its own."""
    return replace(job, exclusive=1) if queue is not None and queue.sharing == "whole" else job


def settle_memory(job: Job, cluster: Cluster, queue: str | None, nodes: set[int]) -> None:
    """What the job has of memory in the first of its queues, on these nodes: the usual amount where it says nothing of
    it, and more cores where it asks for more with each than there is to have."""
    layout = cluster.layout()
    if layout is None or "memory" not in layout.resources():
        return
    if not (job.memory or job.memory_per_node or job.memory_per_core):
        usual = said(cluster, queue, "default_memory")
        amounts = {int(layout.amounts("memory")[node]) for node in nodes}
        if usual == "all" and len(amounts) > 1:
            job.exclusive = 1
        elif usual == "all":
            job.memory_per_node = next((amount for amount in amounts if amount < UNCOUNTED), None)
        elif usual is not None and usual.per == "core":
            job.memory_per_core = usual.size or None
        elif usual is not None:
            job.memory_per_node = usual.size or None
    most = said(cluster, queue, "max_memory")
    if most is not None and most.per == "core" and not job.parts:
        _add_cores(job, most.size)


def _add_cores(job: Job, most: int) -> None:
    count = job.nodes or (_ceil(job.cores, job.cores_per_node) if job.cores_per_node else None)
    times = 1
    if job.memory_per_node:
        needed = _ceil(job.memory_per_node, most)
        if count is None:
            job.cores = max(job.cores, needed)
        else:
            times = max(1, _ceil(needed, _ceil(job.cores, count)))
    elif job.memory_per_core:
        times = _ceil(job.memory_per_core, most)
        job.memory_per_core = _ceil(job.memory_per_core, times)
    elif job.memory:
        times = _ceil(_ceil(job.memory, job.cores), most)
    job.cores *= times
    job.cores_per_node = job.cores_per_node and job.cores_per_node * times


def said(cluster: Cluster, queue: str | None, key: str) -> Any:
    """What a queue says of memory, or its cluster: an amount, `all`, or None."""
    own = None if queue is None else getattr(cluster.queues[queue], key)
    text = getattr(cluster, key) if own is None else own
    return text if text in (None, "all") else read_share(text)


def make_request(job: Job, layout: Layout, capacity: list[dict[str, int]], node_set: set[int]) -> Request:
    """What the job asks for on the nodes of a queue."""
    nodes = frozenset(node for node in node_set if _satisfies(job, layout, node))
    whole = layout.whole or bool(job.exclusive)
    if not _has_shape(job, layout):
        memory = _ceil(job.memory or 0, job.cores) if job.memory_per_core is None else job.memory_per_core
        return Request(nodes, job.cores, None, {}, memory, whole, job.wanted_licences())

    def with_count(count: int) -> Request:
        share = {name: amount for name, amount in _share(job, count, whole).items() if _is_told(name, layout)}
        return Request(nodes, job.cores, count, share, 0, whole, job.wanted_licences())

    if job.parts:
        return _in_parts(with_count(1), job, layout)
    if job.nodes:
        return with_count(job.nodes if whole else min(job.nodes, job.cores))
    if job.cores_per_node:
        return with_count(_ceil(job.cores, job.cores_per_node))
    for count in range(1, job.cores + 1):
        request = with_count(count)
        if sum(request.serves(capacity[node]) for node in nodes) >= count:
            return request
    return with_count(1)


def _in_parts(base: Request, job: Job, layout: Layout) -> Request:
    """A request for nodes that differ: `1x8+4x2,memory=8000,gpus=4@long`."""
    told = [word.partition("@")[0].split(",") for word in (job.parts or "").split("+")]
    counts = [int(words[0].split("x")[0]) for words in told]
    found: list[Request] = []
    for words, count in zip(told, counts, strict=True):
        cores = int(words[0].split("x")[1])
        share = _share(replace(job, cores=cores * sum(counts), cores_per_node=None), sum(counts), base.whole)
        for word in words[1:]:
            name, _, amount = word.partition("=")
            share[name] = _ceil(int(amount), count)
        share = {name: amount for name, amount in share.items() if _is_told(name, layout)}
        same = [one for one in found if one.share == share]
        found = [one for one in found if one.share != share]
        count += sum(one.count or 0 for one in same)
        found.append(replace(base, count=count, cores=count * cores, share=share))
    found.sort(key=lambda one: [one.share.get(name, 0) for name in layout.resources()], reverse=True)
    return replace(base, count=sum(counts), share=found[-1].share, parts=tuple(found))


def _has_shape(job: Job, layout: Layout) -> bool:
    """Whether it asks for nodes, or for anything that only a node can have."""
    numbers = [job.nodes, job.cores_per_node, job.exclusive, bool(job.parts)]
    numbers += [job.gpus, job.gpus_per_node] if _is_told("gpus", layout) else []
    numbers += [job.memory_per_node] if _is_told("memory", layout) else []
    return any(number for number in numbers) or any(amount for _, amount, _ in job.amounts())


def _is_told(name: str, layout: Layout) -> bool:
    """Whether requests for it count."""
    if name == "memory":
        return name in layout.resources()
    return name != "gpus" or layout.resources() != ["cores"]


def _share(job: Job, count: int, whole: bool) -> dict[str, int]:
    """What each of so many nodes must have free."""
    cores = _ceil(job.cores, count)
    share = {"cores": max(cores, job.cores_per_node or 0) if whole else cores}
    if job.memory_per_node is not None:
        share["memory"] = job.memory_per_node
    elif job.memory_per_core is not None:
        share["memory"] = job.memory_per_core * cores
    else:
        share["memory"] = _ceil(job.memory or 0, count)
    share["gpus"] = _ceil(job.gpus or 0, count) if job.gpus_per_node is None else job.gpus_per_node
    for name, amount, per in job.amounts():
        part = {"node": amount, "core": amount * cores, "job": _ceil(amount, count)}[per]
        share[name] = share.get(name, 0) + part
    return share


def _satisfies(job: Job, layout: Layout, node: int) -> bool:
    """Whether the node has the properties: `a&b|c` is a and b, or c."""
    if job.constraint is None:
        return True
    return any(
        all(bool(layout.with_feature(name.strip())[node]) for name in term.split("&"))
        for term in job.constraint.split("|")
    )


def _ceil(amount: int, parts: int) -> int:
    return -(-amount // parts)
