"""Packing in the slow twin: dominant shares, and the turns of nodes under `tetris`, each from what runs at the moment.

Where there was a choice:

- A share is that of all nodes of the cluster, in order or not; what a job holds of memory and GPUs is what it asks for,
  of cores what it has got, of what has a name what is taken for it on its nodes, and of licences what it asks for. A
  cluster in which some node does not tell its memory has no shares of memory.
- Under `drf` a user's waiting jobs of one domain and one order count one after the other, by their entry, at a limit or
  not.
- Under `tetris` a job of several nodes, or of more cores than any node has on which it may run, goes where the
  placement puts it, at the turn of the node at which it is chosen. A job that may not run on a node at all is no job of
  its user there. Machines that fail are not known here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from twin.jobs import Job
from twin.pool import Pool
from walltime.cluster.nodes import UNCOUNTED
from walltime.core.time import SECOND

if TYPE_CHECKING:
    from twin.passes import Domain
    from twin.site import Site

NEAR = 1e-9


def totals(site: Site) -> dict[str, int]:
    """What the cluster has of what shares are counted in."""
    if isinstance(site.ledger, Pool):
        return {"cores": site.ledger.cores}
    nodes = site.ledger.capacity
    counted = [name for name in site.ledger.names if all(node.get(name, UNCOUNTED) != UNCOUNTED for node in nodes)]
    sums = {name: sum(node[name] for node in nodes) for name in counted} | dict(site.ledger.layout.licences)
    return {name: amount for name, amount in sums.items() if amount > 0}


def asked(site: Site, job: Job) -> dict[str, int]:
    """What the job asks for in all."""
    queue = job.queues[0]
    amounts = {name: site.limits.amount(job, queue, f"running_{name}") for name in ("memory", "gpus")}
    if not isinstance(site.ledger, Pool):
        request = site.ledger.request(job, queue)
        for part in request.parts or (request,):
            for name in part.share.keys() - {"cores", "memory", "gpus"}:
                amounts[name] = amounts.get(name, 0) + part.share[name] * (part.count or 0)
        amounts |= job.wanted_licences()
    return {"cores": job.cores} | amounts


def held(site: Site, user: str | None) -> dict[str, int]:
    """What the user's running jobs hold."""
    found: dict[str, int] = {}
    for job in site.running:
        if job.user == user:
            mine = asked(site, job) | {"cores": sum(cores for _, cores in job.shares or ()) or job.cores}
            found = add(found, mine)
    return found


def add(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in one | other}


def dominant(site: Site, amounts: dict[str, int]) -> float:
    return max(float(amounts.get(name, 0)) / float(total) for name, total in totals(site).items())


def rank_jointly(site: Site) -> None:
    """Ranks by `drf` of all that waits."""
    groups: dict[tuple[int, int], list[Job]] = {}
    for job in sorted(site.queue, key=lambda job: job.turn):
        if job.order.name == "drf":
            groups.setdefault((job.domain, id(job.order)), []).append(job)
    for jobs in groups.values():
        amounts: dict[str | None, dict[str, int]] = {}
        for job in jobs:
            mine = amounts.setdefault(job.user, held(site, job.user))
            job.rank = (False, dominant(site, mine), job.turn)
            amounts[job.user] = add(mine, asked(site, job))


class Packer:
    """What a domain under `tetris` remembers from pass to pass."""

    def __init__(self, site: Site, given: dict[str, Any]) -> None:
        self.site = site
        self.fairness = float(given.get("fairness", 0.0))
        self.every = round(given.get("every", 0) * SECOND)
        self.given = given.get("scale") or {}
        self.plain = isinstance(site.ledger, Pool)
        self.before = [dict.fromkeys(node, -1) for node in self.nodes()]

    def nodes(self) -> list[dict[str, int]]:
        """What each node has; a plain number of cores is one node."""
        return [{"cores": self.site.ledger.cores}] if self.plain else self.site.vectors.capacity

    def left(self) -> list[dict[str, int]]:
        """What is free on each node, without what is not counted."""
        if self.plain:
            return [{"cores": self.site.ledger.free()}]
        ledger = self.site.vectors
        found = []
        for node in range(len(ledger.capacity)):
            left = ledger.left(node, self.site.running)
            left = left if left["cores"] > 0 else dict.fromkeys(left, 0)  # as where a job has all of it
            found.append({name: most for name, most in left.items() if ledger.capacity[node][name] != UNCOUNTED})
        return found

    def wakes(self, line: list[Job]) -> list[int]:
        """When next all nodes are asked."""
        now = self.site.now
        return [now - now % self.every + self.every] if self.every and line else []

    def scale(self, name: str) -> float:
        if name in self.given:
            return float(self.given[name])
        return 1.0 if self.plain else float(sum(n[name] for n in self.nodes() if n[name] != UNCOUNTED) or 1)

    def want(self, job: Job, name: str) -> int:
        """What the job wants of a resource on one node."""
        if self.plain:
            return job.cores
        request = self.site.vectors.request(job, job.queues[0])
        if request.count is not None:
            return int(request.share.get(name, 0))
        return int({"cores": request.cores, "memory": request.cores * request.memory_per_core}.get(name, 0))

    def likeness(self, job: Job, left: dict[str, int]) -> float:
        """The cosine between what the job wants and what is left."""
        both = one = other = 0.0
        for name, amount in left.items():
            x, y = float(amount) / self.scale(name), float(self.want(job, name)) / self.scale(name)
            both, one, other = both + x * y, one + x * x, other + y * y
        return both / math.sqrt(one) / math.sqrt(other) if one > 0 and other > 0 else 0.0

    def may_use(self, job: Job, node: int) -> bool:
        return self.plain or node in self.site.vectors.request(job, job.queues[0]).node_set

    def is_spread(self, job: Job) -> bool:
        if self.plain:
            return True
        request = self.site.vectors.request(job, job.queues[0])
        if request.count is not None:
            return bool(request.count > 1)
        return bool(request.cores > max(self.nodes()[node]["cores"] for node in request.node_set))

    def pick(self, line: list[Job], node: int) -> Job | None:
        """Whose turn it is on the node."""
        admitted = [job for job in line if self.site.admitting(job)]
        users = list(dict.fromkeys(job.user for job in admitted))  # in the order of their first jobs
        users.sort(key=lambda user: dominant(self.site, held(self.site, user)))
        heads = [
            next((job for job in admitted if job.user == user and self.may_use(job, node)), None) for user in users
        ]
        there = [job for job in heads if job is not None]
        many = max(1, math.ceil((1.0 - self.fairness) * len(there) - NEAR))
        left = self.left()[node]
        best, most = None, -1.0
        for job in there[:many]:
            if (like := self.likeness(job, left)) > most + NEAR:
                best, most = job, like
        return best

    def start(self, job: Job, node: int) -> bool:
        if self.is_spread(job):
            return self.site.try_start(job)
        self.site.vectors.usable = {node}
        try:
            return self.site.try_start(job)
        finally:
            self.site.vectors.usable = None


def pack(domain: Domain, only_arrivals: bool) -> None:
    """Each node in turn, until its job does not fit; where nodes are asked now and then, between these times only those
    on which something has become free since a job last waited when they were asked."""
    packer = domain.packer
    assert packer is not None
    due = packer.every == 0 or domain.site.now % packer.every == 0
    for node in range(len(packer.nodes())):
        left = packer.left()[node]
        if due or any(amount > packer.before[node][name] for name, amount in left.items()):
            job = packer.pick(domain.line(), node)
            if job is not None:
                while job is not None and packer.start(job, node):
                    job = packer.pick(domain.line(), node)
                packer.before[node] = packer.left()[node]
    for before, left in zip(packer.before, packer.left(), strict=True):
        before |= {name: min(amount, before[name]) for name, amount in left.items()}
