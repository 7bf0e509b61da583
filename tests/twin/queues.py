"""Queues in the slow twin of a site: the way into them, who comes first, and which of them share nodes.

Where the guide leaves it open: a route's times are compared with the requested time, and a route that asks for one
does not take a job that has none; such a job then asks for its queue's default time, or else for exactly its run time.
Of several queues that a job names, those that do not take it are struck off; it is rejected where none is left.
"""

from __future__ import annotations

from typing import Any

from twin.jobs import Accounts, Job
from twin.parts import Order
from walltime.core.errors import InputError
from walltime.core.time import microseconds
from walltime.scenario import Cluster, Part
from walltime.scenario.rules import Queue, Route


class Queues:
    """The queues of a cluster; without any, one that has no name and takes everybody."""

    def __init__(self, cluster: Cluster, order: str | dict[str, Any], accounts: Accounts, jobs: list[Job]) -> None:
        self.cluster = cluster
        self.accounts = accounts
        self.names = list(cluster.queues)
        self.orders: list[tuple[Part, Order]] = []  # one Order for each distinct part
        self.scheduler_order = self.find_order(order)
        self.tiers = self.rank_queues()
        self.domains = self.find_domains(jobs)

    # ---- who comes first

    def find_order(self, part: str | dict[str, Any]) -> Order:
        for known, order in self.orders:
            if known == Part.model_validate(part):
                return order
        self.orders.append((Part.model_validate(part), Order(part, self.cluster)))
        return self.orders[-1][1]

    def order_of(self, name: str | None) -> Order:
        own = None if name is None else self.cluster.queues[name].order
        return self.scheduler_order if own is None else self.find_order(own.short())

    def rank_queues(self) -> dict[str | None, int]:
        """By queue, the number of its class: priority, highest first, then the order by its first appearance."""
        by_priority = sorted(self.names, key=lambda name: -self.cluster.queues[name].priority)  # ties as in the file
        classes: list[tuple[int, Order]] = []
        for name in by_priority:
            kind = self.cluster.queues[name].priority, self.order_of(name)
            if kind not in classes:
                classes.append(kind)
        tiers: dict[str | None, int] = {
            name: classes.index((self.cluster.queues[name].priority, self.order_of(name))) for name in self.names
        }
        return tiers or {None: 0}

    def stand(self, job: Job) -> None:
        """Where the job waits: with the best of its queues, under that one's order."""
        best = min(job.queues, key=lambda name: self.tiers[name])  # of equal ones the first that is tried
        job.tier, job.order = self.tiers[best], self.order_of(best)
        job.domain = self.domains[job.queues[0]]

    # ---- which of them share nodes

    def find_domains(self, jobs: list[Job]) -> dict[str | None, int]:
        """By queue, its domain: the number of the first queue in the file that is tied to it."""
        domain: dict[str | None, int] = {name: place for place, name in enumerate(self.names)}
        ties = [(a, b) for a in self.names for b in self.names if self.node_set(a) & self.node_set(b)]
        for label in {job.queue for job in jobs if job.queue is not None}:
            named = self.split(label)
            if named is not None:
                ties += [(named[0], other) for other in named]
        for _ in self.names:  # as often as the longest chain may be
            for a, b in ties:
                domain[a] = domain[b] = min(domain[a], domain[b])
        met = sorted(set(domain.values()))
        return {name: met.index(number) for name, number in domain.items()} or {None: 0}

    def node_set(self, name: str | None) -> set[int]:
        """Its nodes; those of a plain number of cores are all one."""
        layout = self.cluster.layout()
        if layout is None:
            return {0}
        patterns = None if name is None else self.cluster.queues[name].nodes
        if patterns is None:
            return set(range(layout.count))
        return {node for node, chosen in enumerate(layout.select(patterns).tolist()) if chosen}

    # ---- the way in

    def split(self, label: str) -> list[str] | None:
        """The queues that a label names, in the order in which they are tried; None where one is not ours."""
        given = list(dict.fromkeys(part.strip() for part in label.split(",") if part.strip()))
        if not given or any(name not in self.names for name in given):
            return None
        return sorted(given, key=lambda name: (-self.cluster.queues[name].priority, self.names.index(name)))

    def choose(self, job: Job) -> list[str]:
        """The queues that are to take the job: named, by a route, or by default; none where there is none."""
        if job.queue is not None and (named := self.split(job.queue)) is not None:
            return named
        for route in self.cluster.routes:
            if self.takes(route, job):
                return [route.queue]
        for name in self.names:
            if self.cluster.queues[name].default:
                return [name]
        if job.queue is not None:
            raise InputError("a job names a queue that the cluster does not have", value=job.queue, choices=self.names)
        return []

    def takes(self, route: Route, job: Job) -> bool:
        """Whether all that the route says is true of the job."""
        time = job.requested_time
        says = [
            route.min_cores is None or job.cores >= route.min_cores,
            route.max_cores is None or job.cores <= route.max_cores,
            route.min_time is None or (time is not None and time >= microseconds(route.min_time)),
            route.max_time is None or (time is not None and time <= microseconds(route.max_time)),
            route.named is None or job.queue in route.named,
            self.belongs(route, job),
        ]
        return all(says)

    def belongs(self, rule: Queue | Route, job: Job) -> bool:
        """Whether the job's user, group and account are among those that the rule names; each that it names counts."""
        return (
            (rule.users is None or job.user in rule.users)
            and (rule.groups is None or job.group in rule.groups)
            and (rule.accounts is None or any(name in rule.accounts for name in self.accounts.above(job.account)))
        )

    def default_time(self, name: str | None) -> int | None:
        time = None if name is None else self.cluster.queues[name].default_time
        return None if time is None else microseconds(time)

    def refuse(self, job: Job, name: str | None) -> str | None:
        """Why the queue does not take the job, or None."""
        if name is None:
            return None
        queue = self.cluster.queues[name]
        if not self.belongs(queue, job):
            return f"queue {name} is not for its user, group or account"
        asked = job.requested_time or 0  # not the time of checkpoints
        if queue.max_time is not None and asked > microseconds(queue.max_time):
            return f"more time than queue {name} gives"
        if queue.min_cores is not None and job.cores < queue.min_cores:
            return f"fewer cores than queue {name} takes"
        if queue.max_cores is not None and job.cores > queue.max_cores:
            return f"more cores than queue {name} takes"
        return None
