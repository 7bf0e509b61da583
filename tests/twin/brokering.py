"""The global scheduler of the slow twin: jobs that have no cluster yet, and which one each of them goes to.

It is asked after everything that is due at an instant, where something has happened or jobs have come; then it looks at
jobs that may move. Where jobs are held until they can start, it is asked again while some were sent and others wait.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from twin.jobs import Job
from twin.parts import Order
from twin.site import Site
from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import SECOND, microseconds
from walltime.scenario import Scenario

if TYPE_CHECKING:
    from twin.clock import Clock


class GlobalScheduler:
    """Before the clusters; `clock` has the time and the clusters."""

    def __init__(self, clock: Clock, scenario: Scenario) -> None:
        part = scenario.broker
        self.clock = clock
        self.name = "first" if part is None else part.name
        if self.name not in CHOICES:
            raise InputError("unknown broker", value=self.name, choices=CHOICES)
        self.parameters = {} if part is None else part.parameters
        self.order = Order("fcfs" if part is None else part.order.short())
        self.hold = part is not None and part.hold
        self.overtake = part is None or part.overtake
        self.bind = () if part is None else part.bind
        self.migration = None if part is None else part.migrate
        self.gain = 0 if self.migration is None else microseconds(self.migration.gain)
        rounds = None if self.migration is None else self.migration.every
        self.every = None if rounds is None else microseconds(rounds)
        self.waiting: list[Job] = []  # globally
        self.choices: dict[int, list[Site]] = {}  # by row: the clusters that the job may go to
        self.moves: dict[int, int] = defaultdict(int)
        self.fresh = False  # whether jobs have come since it was asked
        self.left: set[int] = set()  # clusters that jobs have moved away from since then
        self.sent_at: int | None = None  # when it last sent a job down
        self.round: int | None = None  # when jobs are looked at for migration next
        self.last = -1  # the cluster that was chosen last

    def times(self) -> list[int]:
        """When it is to be asked by itself."""
        now = self.clock.now
        again = [now] if self.hold and self.sent_at == now and self.waiting else []
        return again if self.round is None else [*again, self.round]

    # ---- the way in

    def reject(self, job: Job) -> str | None:
        """Why no cluster takes the job, or None."""
        job.requested = job.estimate = job.requested_time or 0
        self.choices[job.row] = [site for site in self.clock.sites if self.is_bound(job, site) and _takes(site, job)]
        return None if self.choices[job.row] else "no cluster takes it"

    def is_bound(self, job: Job, site: Site) -> bool:
        """Whether the job may go there as far as the first rule that is about it says."""
        for rule in self.bind:
            if rule.users is not None and job.user in rule.users:
                return site.cluster.name in rule.clusters
        return True

    def wait(self, job: Job) -> None:
        job.state = "waiting"
        self.waiting.append(job)
        self.fresh = True

    def forget(self, job: Job) -> None:
        """The job is withdrawn."""
        if job in self.waiting:
            self.waiting.remove(job)

    # ---- what it does

    def act(self) -> None:
        """Send jobs down if there is a reason to look, and move some."""
        happened = self.left | {site.number for site in self.clock.sites if site.happened}
        self.left = set()
        for site in self.clock.sites:
            site.happened = False
        if happened or self.fresh or self.sent_at == self.clock.now:
            self.sent_at = self.clock.now if self.send_down() else None
        self.migrate(happened)

    def send_down(self) -> bool:
        """Send down what can go, in order; whether a job went. A held job's cluster takes no other until its pass."""
        closed: set[int] = set()
        self.fresh = False
        for job in sorted(self.waiting, key=self.rank):
            among = self.choices[job.row]
            if self.hold:
                among = [site for site in among if site.number not in closed and site.could_start(job)]
            if not among:
                if self.overtake:
                    continue
                break
            site = CHOICES[self.name](self, job, among)
            self.last = site.number
            self.waiting.remove(job)
            self.send(job, site)
            closed.add(site.number)
        return bool(closed)

    def rank(self, job: Job) -> Any:
        """By the job, or its workflow; no cluster has an estimate of it yet."""
        pilots = self.clock.gates.pilots
        return self.order.rank(pilots.stand_in(job, lambda pilot: int(pilot.requested)), self.clock.now)

    def send(self, job: Job, site: Site) -> None:
        site.adopt(job)
        site.reject(job)
        site.enqueue(job)

    def migrate(self, happened: set[int]) -> None:
        """Move jobs that would start earlier elsewhere by the gain."""
        if self.migration is None:
            return
        sites: list[Site] = self.clock.sites
        if self.every is not None:
            happened = {site.number for site in sites} if self.round == self.clock.now else set()
            self.round = None if self.round == self.clock.now else self.round
        for site in sites if happened else ():
            if any(order.dynamic for _, order in site.queues.orders):
                site.rank()  # the first ones are those of this moment, not of the last pass
            for job in list(site.queue)[: self.migration.depth]:
                self.consider(job, site, happened)
        if self.every is not None and self.round is None and any(site.queue for site in sites):
            self.round = (self.clock.now // self.every + 1) * self.every

    def consider(self, job: Job, site: Site, happened: set[int]) -> None:
        assert self.migration is not None
        among = [other for other in self.choices[job.row] if other is not site and other.number in happened]
        if not among or self.moves[job.row] >= self.migration.most:
            return
        here = site.predict(job)
        if here < self.clock.now + self.gain:
            return
        there, number = min((other.predict(job), other.number) for other in among)
        if there <= here - self.gain:
            self.moves[job.row] += 1
            site.give_up(job)
            self.left.add(site.number)
            self.send(job, self.clock.sites[number])


def _takes(site: Site, job: Job) -> bool:
    """Whether the cluster could run the job some day."""
    site.adopt(job)
    reason = site.reject(job)
    site.disown(job)
    return reason is None


# ------------------------------------------------------------------------------------------- which of some clusters


def _random(above: GlobalScheduler, job: Job, among: list[Site]) -> Site:
    draw = float(uniforms(above.clock.seed, "broker", np.array([job.row]))[0])
    if above.parameters.get("by", "cluster") == "cluster":
        return among[int(draw * len(among))]
    mark = int(draw * sum(site.cores for site in among))
    for site in among:
        if mark < site.cores:
            return site
        mark -= site.cores
    return among[-1]


def _weighted(above: GlobalScheduler, job: Job, among: list[Site]) -> Site:
    scores = [0.0] * len(among)
    for name, weight in above.parameters["weights"].items():
        values = [_criterion(name, site, job) for site in among]
        largest = max(map(abs, values))
        for place, value in enumerate(values):
            scores[place] += weight * value / largest if largest > 0 else 0.0
    return among[scores.index(max(scores))]


def _criterion(name: str, site: Site, job: Job) -> float:
    known: dict[str, Callable[[], float]] = {
        "performance": lambda: site.speed,
        "available": lambda: float(max(site.free - site.asked, 0)),
        "load": lambda: (site.cores - site.free + site.asked) / site.cores,
        "queue": lambda: float(len(site.queue)),
        "start": lambda: (site.predict(job) - site.now) / SECOND,
    }
    attributes = site.cluster.attributes
    return float(attributes[name]) if name in attributes else known[name]()


CHOICES: dict[str, Callable[[GlobalScheduler, Job, list[Site]], Site]] = {
    "first": lambda above, job, among: among[0],
    "random": _random,
    "round-robin": lambda above, job, among: next((one for one in among if one.number > above.last), among[0]),
    "least-loaded": lambda above, job, among: min(among, key=lambda one: one.load),
    "most-free": lambda above, job, among: max(among, key=lambda one: one.free - one.asked),
    "shortest-queue": lambda above, job, among: min(among, key=lambda one: (len(one.queue), one.load)),
    "earliest-start": lambda above, job, among: min(among, key=lambda one: (one.predict(job), one.load)),
    "fastest": lambda above, job, among: min(among, key=lambda one: (-one.speed, one.load)),
    "weighted": _weighted,
}
"""How each broker chooses; of equals the first."""
