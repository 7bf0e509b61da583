"""Fair share and the weighted sum of factors of the slow twin: the formulas once more, from the whole history.

Nothing here is shared with the compiled parts. What somebody has used is summed over all jobs that ever ran, for the
very time that is asked about; the tree is looked at as the accounts of the scenario and the people in them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walltime.core.time import SECOND
from walltime.scenario import Cluster

if TYPE_CHECKING:
    from twin.jobs import Job

HOUR = 3600
Person = tuple[str | None, str]
"""Account (None: none) and user."""


def rounded(x: float) -> float:
    """The first 40 binary digits."""
    if x == 0 or math.isinf(x):
        return x
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(mantissa * 2.0**40), exponent - 40)


def time_of(value: Any) -> int:
    """Microseconds, of seconds or `5m`, `2d`."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    if isinstance(value, str) and value[-1] in units:
        return round(float(value[:-1]) * units[value[-1]] * SECOND)
    return round(float(value) * SECOND)


@dataclass
class Run:
    """A stretch in which somebody's job ran; `end` is None while it does."""

    who: Person
    job: Job
    rate: float
    limit: int
    start: int
    end: int | None = None


class FairShare:
    """Who has used what, and the factors at the last renewal."""

    def __init__(self, parameters: dict[str, Any], cluster: Cluster, formula: str) -> None:
        self.formula = parameters.get("formula", formula)
        self.interval = time_of(parameters.get("interval", 60 if self.formula == "alea" else 300))
        self.decay: float = parameters.get("decay", 0.75)
        self.decay_interval = time_of(parameters.get("decay_interval", 48 * HOUR))
        told = parameters.get("temporary", True)
        self.temporary = told is True
        self.brief = None if isinstance(told, bool) else time_of(told)
        self.half_life = time_of(parameters.get("half_life", 7 * 24 * HOUR))
        self.dampening: float = parameters.get("dampening", 1.0)
        self.cluster = cluster
        self.runs: list[Run] = []
        self.events: list[tuple[int, Person, Run | None]] = []  # starts with their runs, and ends, in order
        self.people: list[Person] = []
        self.known: dict[Person, list[float]] = {}  # what runs count for, at a time and after so many events
        self.known_at = (-1, 0)
        self.time = -1
        self.grown: int | None = 0
        self.counts = True  # whether anybody asks for the factors; else only for the time of the renewals
        self.factor: dict[Person, float] = {}
        self.standing: dict[Person, float] = {}
        for name, account in cluster.accounts.items():
            self.people += [(name, user) for user in account.users or ()]

    # ---- who

    def who(self, job: Job) -> Person:
        """Whom the job is charged to; `job.account` is its own, or its user's."""
        return (job.account if self.cluster.accounts else None, job.user or "(none)")

    def meet(self, job: Job, now: int) -> None:
        if self.counts and self.who(job) not in self.people:
            self.people.append(self.who(job))
            self.grown = now

    def started(self, job: Job, now: int) -> None:
        self.meet(job, now)
        cores = sum(cores for _, cores in job.shares) or job.cores
        rate = round(cores * 2.0**20) / 2.0**20
        self.runs.append(Run(self.who(job), job, rate, job.requested, now))
        self.events.append((now, self.who(job), self.runs[-1]))

    def stopped(self, job: Job, now: int) -> None:
        for run in self.runs:
            if run.job is job and run.end is None:
                run.end = now
                self.events.append((now, run.who, None))

    # ---- how much

    def used(self, run: Run, time: int) -> float:
        """What the run counts for at the time."""
        ended = run.end is not None and run.end <= time
        end = run.end if ended and run.end is not None else time
        seconds = (end - run.start) / SECOND
        if self.formula == "alea":
            if ended:
                steps = time // self.decay_interval - end // self.decay_interval
                return run.rate * seconds * float(self.decay**steps)
            return run.rate * (run.limit / SECOND if self.temporary else seconds)
        if self.half_life == 0:
            return run.rate * seconds
        half = self.half_life / SECOND
        since: float = 2.0 ** (-(time - end) / self.half_life)
        return run.rate * half / math.log(2) * since * -math.expm1(-math.log(2) * seconds / half)

    def use(self, people: list[Person], time: int) -> float:
        used = [amount for person in people for amount in self.uses(person, time)]
        if self.formula == "alea" and self.brief is not None:
            used += [self.charged_briefly(person, time, self.brief) for person in people]
        return math.fsum(used)

    def uses(self, person: Person, time: int) -> list[float]:
        """What each run of the person counts for; kept until something happens, as all above the person ask for it."""
        if self.known_at != (time, len(self.events)):
            self.known_at, self.known = (time, len(self.events)), {}
        if person not in self.known:
            mine = [run for run in self.runs if run.who == person and run.start <= time]
            self.known[person] = [self.used(run, time) for run in mine]
        return self.known[person]

    def charged_briefly(self, person: Person, time: int, brief: int) -> float:
        """What the person's last starts may use, each no later than `brief` after the one before; nothing once a job of
        theirs has ended since, or the last is longer ago. Ends come before the starts of their instant; a run of no
        length does not count."""
        charge, last = 0.0, None
        for when, who, run in sorted(self.events, key=lambda event: (event[0], event[2] is not None)):
            if who != person or when > time or (run is not None and run.end == when):
                continue
            if run is None:
                charge = 0.0
                continue
            charge = run.rate * run.limit / SECOND + (charge if last is not None and when - last <= brief else 0.0)
            last = when
        return charge if last is not None and time - last <= brief else 0.0

    # ---- the tree

    def children(self, account: str | None) -> list[Any]:
        """What is directly below an account, or below the root: people, and names of accounts."""
        below: list[Any] = [person for person in self.people if person[0] == account]
        names = list(self.cluster.accounts)
        names += [name for name, _ in self.people if name is not None and name not in names]
        for name in dict.fromkeys(names):
            parent = self.cluster.accounts[name].parent if name in self.cluster.accounts else None
            if parent == account:
                below.append(name)
        return below

    def everybody(self, node: Any) -> list[Person]:
        """The people at or below a node."""
        if isinstance(node, tuple):
            return [node]
        return [person for child in self.children(node) for person in self.everybody(child)]

    def shares(self, node: Any) -> float:
        if isinstance(node, tuple):
            return self.cluster.shares.get(node[1], 1.0)
        return self.cluster.accounts[node].shares if node in self.cluster.accounts else 1.0

    def part(self, node: Any, siblings: list[Any]) -> float:
        total = math.fsum(self.shares(sibling) for sibling in siblings)
        return self.shares(node) / total if total > 0 else 0.0

    # ---- the factors

    def renew(self, now: int) -> bool:
        """Whether the factors were due, and have been made anew."""
        due = now if self.interval == 0 else now // self.interval * self.interval
        if self.grown is None and due <= self.time:
            return False
        self.time = max(due, self.grown or 0, 0)
        self.grown = None
        self.factor, self.standing = {}, {}
        if not self.counts:
            return True
        if self.formula == "fair-tree":
            ranks = list(self.ranked(self.children(None)))
            place = 0
            for group in ranks:
                for person in group:
                    rank = len(self.people) - place
                    self.factor[person] = rank / len(self.people)
                    self.standing[person] = -rank
                place += len(group)
            return True
        total = self.use(self.people, self.time)
        for person in self.people:
            ratio = rounded(self.ratio(person, total))
            self.standing[person] = ratio
            self.factor[person] = 2.0**-ratio if ratio < 2000 else 0.0
        return True

    def ratio(self, person: Person, total: float) -> float:
        """Use over share, as the formula has it."""
        way: list[Any] = [person]
        account = person[0]
        while account is not None:
            way.insert(0, account)
            account = self.cluster.accounts[account].parent if account in self.cluster.accounts else None
        share, effective, above = 1.0, 1.0, None
        for node in way:
            part = self.part(node, self.children(above))
            use = self.use(self.everybody(node), self.time) / total if total > 0 else 0.0
            share *= part
            effective = use if above is None else use * (1 - part) + effective * part
            above = node
        if share <= 0:
            return math.inf
        if self.formula == "alea":
            return (self.use([person], self.time) / total if total > 0 else 0.0) / share
        return effective / share / self.dampening

    def ranked(self, nodes: list[Any]) -> Iterator[list[Person]]:
        """People in groups of equal rank, the best first. Equal siblings are looked at as one: the people among them
        and the best of those below the accounts among them have the same rank."""
        levels = {node: self.level(node) for node in nodes}
        for level in sorted(set(levels.values()), reverse=True):
            equal = [node for node in nodes if levels[node] == level]
            first = [node for node in equal if isinstance(node, tuple)]
            below = [child for node in equal if not isinstance(node, tuple) for child in self.children(node)]
            groups = list(self.ranked(below)) if below else []
            if first and groups:
                groups[0] = first + groups[0]
            elif first:
                groups = [first]
            yield from groups

    def level(self, node: Any) -> float:
        """Shares over use, among the node's siblings."""
        account = node[0] if isinstance(node, tuple) else None
        if not isinstance(node, tuple) and node in self.cluster.accounts:
            account = self.cluster.accounts[node].parent
        siblings = self.children(account)
        part = self.part(node, siblings)
        above = self.use([person for sibling in siblings for person in self.everybody(sibling)], self.time)
        mine = self.use(self.everybody(node), self.time)
        if part <= 0:
            return 0.0
        return math.inf if mine <= 0 or above <= 0 else rounded(part / (mine / above))


class Multifactor:
    """The weighted sum, for the factors that the twin knows."""

    def __init__(self, parameters: dict[str, Any], cluster: Cluster) -> None:
        self.cluster = cluster
        self.parameters = parameters
        self.weights = {"age": 0, "fairshare": 0, "job_size": 0, "partition": 0, "qos": 0, "association": 0}
        self.weights |= parameters.get("weights", {})
        interval = parameters.get("interval", "5m")
        self.fair = FairShare({**parameters.get("fairshare", {}), "interval": interval}, cluster, "fair-tree")
        self.fair.counts = self.weights["fairshare"] > 0
        self.max_age = time_of(parameters.get("max_age", "7d"))

    def priority(self, job: Job) -> int:
        always = self.parameters.get("accrue_always")
        bounded = None if job.site is None or always else job.site.limits.ages_since(job)
        waits = (job.submit if always else job.eligible) if job.back is None else job.back
        since = waits if bounded is None else bounded
        age = min(max(self.fair.time - since, 0) / self.max_age, 1.0)
        value = self.weights["age"] * age
        if self.weights["fairshare"]:
            value += self.weights["fairshare"] * self.fair.factor.get(self.fair.who(job), 0.0)
        parts = [self.association(job) * self.weights["association"], self.size(job) * self.weights["job_size"]]
        parts += [self.partition(job) * self.weights["partition"], self.qos(job) * self.weights["qos"]]
        static = 0.0
        for part in parts:
            static += part
        return min(max(int(value + static), 1), 2**32 - 1)

    def association(self, job: Job) -> float:
        def own(name: str | None) -> int:
            account = self.cluster.accounts.get(name or "")
            return 0 if account is None else account.priority or own(account.parent)

        most = max((own(name) for name in self.cluster.accounts), default=0)
        return own(job.account) / most if most else 0.0

    def partition(self, job: Job) -> float:
        most = max((queue.job_factor for queue in self.cluster.queues.values()), default=0)
        first = job.queues[0] if job.queues else None
        return self.cluster.queues[first].job_factor / most if most and first in self.cluster.queues else 0.0

    def qos(self, job: Job) -> float:
        known = self.parameters.get("qos", {})
        return known.get(job.qos, 0) / max(known.values()) if known and max(known.values()) else 0.0

    def size(self, job: Job) -> float:
        if not self.weights["job_size"]:
            return 0.0
        layout, cores = self.cluster.layout(), self.cluster.total_cores or 1
        count, nodes = (layout.count if layout else 0), job.nodes or 1
        small = self.parameters.get("favor_small", False)
        if self.parameters.get("relative_to_time"):
            size = max(job.cores, nodes * cores / count if count else 0) / max(job.requested / (60 * SECOND), 1) / cores
            return float(min(max(1 - size if small else size, 0.0), 1.0))
        of_cores = (cores - job.cores) / cores if small else job.cores / cores
        if not count:
            return float(min(max(of_cores, 0.0), 1.0))
        of_nodes = max(count - nodes, 0) / count if small else nodes / count
        return float(min(max((of_nodes + of_cores) / 2, 0.0), 1.0))
