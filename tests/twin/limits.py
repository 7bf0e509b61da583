"""Limits in the slow twin of a site: every question is answered by adding up all jobs in the system.

Where the guide leaves it open: names are compared as sets; a limit `per: account` that names accounts counts at
these and below, not above. A job that names several queues counts as submitted in each of those that take it, and is
rejected where one of them has too many. What a job asks of memory and GPUs is the amount per node times
its nodes where it says so, else the amount per core times its cores, else the total; on a plain number of cores a job
that does not tell its nodes has one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from twin.jobs import Accounts, Job
from walltime.core.time import SECOND
from walltime.scenario import Cluster

MINUTE = 60 * SECOND
TIMED = "running_core_minutes"
AGES = "accruing_jobs"
NOUNS = {
    "running_jobs": "jobs",
    "running_cores": "cores",
    "running_gpus": "GPUs",
    "running_memory": "bytes of memory",
    TIMED: "core-minutes",
    "submitted_jobs": "jobs in the system",
}
Counter = tuple[int, str | None]
"""A rule by its number, and whom it counts apart."""


@dataclass(frozen=True)
class Rule:
    """A limit, or a queue's cap: whose jobs, whether each apart, and how much."""

    names: dict[str, frozenset[str]]
    per: str | None
    caps: dict[str, int]

    def others(self, kind: str) -> dict[str, frozenset[str]]:
        return {other: names for other, names in self.names.items() if other != kind}


@dataclass(frozen=True)
class Breach:
    """A cap that does not let a job start now; core-minutes in core-microseconds."""

    counter: Counter
    cap: str
    used: int
    amount: int
    most: int


class Limits:
    """All rules in the order in which they are looked at: the queues' caps, then the limits."""

    def __init__(self, cluster: Cluster, accounts: Accounts, jobs: list[Job], nodes: Callable[[Job, Any], int]) -> None:
        self.accounts = accounts
        self.jobs = jobs
        self.nodes = nodes  # how many nodes a job asks for in a queue
        self.rules: list[Rule] = []
        for name, queue in cluster.queues.items():
            here = {"queue": frozenset({name})}
            self.add(here, None, queue.caps())
            for kind in ("user", "group", "account"):
                caps = getattr(queue, f"per_{kind}")
                if caps is not None:
                    self.add(here, kind, caps.caps())
        for limit in cluster.limits:
            names = {kind: frozenset(given) for kind, given in limit.names().items()}
            self.add(names, limit.per, limit.caps())

        self.ages = {n: rule.caps.pop(AGES) for n, rule in enumerate(self.rules) if AGES in rule.caps}

    def add(self, names: dict[str, frozenset[str]], per: str | None, caps: dict[str, int]) -> None:
        if caps:
            self.rules.append(Rule(names, per, caps))

    # ---- which jobs grow older

    def ageing(self, job: Job) -> list[Counter]:
        """The counters that bound how many grow older, of which the first decides: that of the QOS, the user, the
        nearest account or the group, everybody; of equals the smallest, and the first in the file."""

        def nearness(counter: Counter) -> tuple[int, int, int, int]:
            rule, entity = self.rules[counter[0]], counter[1]
            kinds = {*rule.names, rule.per}
            kind = 0 if "qos" in kinds else 1 if "user" in kinds else 2 if kinds & {"account", "group"} else 3
            named = [entity] if rule.per == "account" else rule.names.get("account", ())
            depth = max((len(self.accounts.above(name)) for name in named), default=0)
            return kind, -depth, self.ages[counter[0]], counter[0]

        queue = job.queues[0] if job.queues else None
        found = [one for one in self.counters(job, queue) if one[0] in self.ages and not self.gives_way(one)]
        return sorted(found, key=nearness)

    def gives_way(self, counter: Counter) -> bool:
        """Whether another limit names the entity, of which this one speaks among all."""
        rule, entity = self.rules[counter[0]], counter[1]
        named = (self.rules[number] for number in self.ages)
        return rule.per is not None and any(
            other.per is None
            and entity in other.names.get(rule.per, ())
            and other.others(rule.per) == rule.others(rule.per)
            for other in named
        )

    def lets_accrue(self, job: Job, waiting: list[Job]) -> bool:
        """Whether one more that grows older is within the limit that decides; others count there too."""
        for decides in self.ageing(job)[:1]:
            there = [one for one in waiting if one.accrued is not None and decides in self.ageing(one)]
            return len(there) < self.ages[decides[0]]
        return False

    def ages_since(self, job: Job) -> float | None:
        """From when on the job has grown older, where limits are on it."""
        if not self.ages or not self.ageing(job):
            return None
        return math.inf if job.accrued is None else job.accrued

    # ---- whom a rule counts

    def entities(self, job: Job, queue: str | None, kind: str) -> list[str]:
        """The job's own name of that kind, for an account also those above it."""
        if kind == "account":
            return self.accounts.above(job.account)
        name = queue if kind == "queue" else getattr(job, kind)
        return [] if name is None else [name]

    def counters(self, job: Job, queue: str | None) -> Iterator[Counter]:
        """Where the job counts if it runs in that queue."""
        for number, rule in enumerate(self.rules):
            if not all(names & set(self.entities(job, queue, kind)) for kind, names in rule.names.items()):
                continue
            if rule.per is None:
                yield number, None
                continue
            for entity in self.entities(job, queue, rule.per):
                within = {*self.accounts.above(entity)} if rule.per == "account" else {entity}
                if rule.names.get(rule.per, within) & within:
                    yield number, entity

    def caps(self, counter: Counter) -> Iterator[tuple[str, int]]:
        """What binds there; a limit that names somebody takes the place of one that says the same of each."""
        rule, entity = self.rules[counter[0]], counter[1]
        for cap, most in rule.caps.items():
            if rule.per is None or not any(
                other.per is None
                and cap in other.caps
                and entity in other.names.get(rule.per, ())
                and other.others(rule.per) == rule.others(rule.per)
                for other in self.rules
            ):
                yield cap, most * MINUTE if cap == TIMED else most

    # ---- how much

    def amount(self, job: Job, queue: str | None, cap: str) -> int:
        """What the job adds."""
        if cap == "running_cores":
            return job.cores
        if cap == TIMED:
            return job.cores * job.limit
        if cap == "running_gpus":
            return job.gpus or 0 if job.gpus_per_node is None else job.gpus_per_node * self.nodes(job, queue)
        if cap == "running_memory":
            if job.memory_per_node is not None:
                return job.memory_per_node * self.nodes(job, queue)
            return job.memory or 0 if job.memory_per_core is None else job.memory_per_core * job.cores
        return 1

    def used(self, counter: Counter, cap: str, now: int) -> int:
        """What is in use there by those who run; of core-minutes what they may still use."""
        total = 0
        for job in self.counted(counter):
            if cap == TIMED:
                total += job.cores * ((job.expected_end if job.kill_at is None else job.kill_at) - now)
            else:
                total += self.amount(job, job.runs_in, cap)
        return total

    def counted(self, counter: Counter) -> list[Job]:
        return [job for job in self.jobs if job.state == "running" and counter in self.counters(job, job.runs_in)]

    def in_system(self, counter: Counter) -> int:
        """How many wait or run there."""
        count = 0
        for job in self.jobs:
            if job.state in ("held", "waiting", "running", "suspended", "paused"):
                count += any(counter in self.counters(job, queue) for queue in job.queues)
        return count

    # ---- answers

    def refuse_for_good(self, job: Job, queue: str | None) -> str | None:
        """Why the job can never run in the queue: it is larger than a cap."""
        for counter in self.counters(job, queue):
            for cap, most in self.caps(counter):
                whose, amount = self.title(counter), self.amount(job, queue, cap)
                if amount > most and cap != "submitted_jobs":
                    return f"it asks for {_number(amount, cap)} {NOUNS[cap]}, {whose} may have {_number(most, cap)}"
        return None

    def too_many(self, job: Job, queue: str | None) -> str | None:
        """Why the job is one too many in the queue."""
        for counter in self.counters(job, queue):
            for cap, most in self.caps(counter):
                if cap == "submitted_jobs" and (there := self.in_system(counter)) >= most:
                    return f"{self.title(counter)} has {there:,} of {most:,} jobs in the system"
        return None

    def breaches(self, job: Job, queue: str | None, now: int) -> list[Breach]:
        """The caps that do not let the job start in that queue now."""
        found = []
        for counter in self.counters(job, queue):
            for cap, most in self.caps(counter):
                if cap != "submitted_jobs":
                    used, amount = self.used(counter, cap, now), self.amount(job, queue, cap)
                    if used + amount > most:
                        found.append(Breach(counter, cap, used, amount, most))
        return found

    def next_admission(self, job: Job, queue: str | None, now: int) -> int | None:
        """When the job may start there if nothing happens but the passing of time; None for never."""
        time = now
        for breach in self.breaches(job, queue, now):
            if breach.cap != TIMED:
                return None
            pace = sum(running.cores for running in self.counted(breach.counter))
            excess = breach.used + breach.amount - breach.most
            time = max(time, now - (-excess // pace))  # rounded up to a microsecond
        return time

    def title(self, counter: Counter) -> str:
        """Whose limit it is: `group atlas`, `user ann in queue long`."""
        rule, entity = self.rules[counter[0]], counter[1]
        named = {kind: ", ".join(sorted(names)) for kind, names in rule.names.items()}
        if rule.per is not None:
            named = {rule.per: entity or ""} | {kind: names for kind, names in named.items() if kind != rule.per}
        where = named.pop("queue", None) if len(named) > 1 else None
        text = " and ".join(f"{kind} {names}" for kind, names in named.items()) or "everybody"
        return text if where is None else f"{text} in queue {where}"


def _number(value: int, cap: str) -> str:
    return f"{value / MINUTE:,.10g}" if cap == TIMED else f"{value:,}"
