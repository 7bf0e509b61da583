"""Preemption in the slow twin of a site: who may displace whom, who is displaced, and who goes on afterwards.

Ranks are compared strictly. Where the guide leaves it open: who seeks is settled at the beginning of the step,
claimants first; for whom those suffice who leave anyway, nobody else is told; a claim is pinned from the first time,
not before the end of the grace, at which it fits by plan, and anew at each pass; the policy looks at claimants as at
everybody, and may reserve another place for them; a claimant that has come to a limit has no claim any more; a job once
told to leave leaves. Where somebody seeks, or is suspended, all reservations are made anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twin.jobs import Job
from twin.pool import Hold
from walltime.core.errors import InputError
from walltime.core.time import parse_duration
from walltime.scenario import Cluster

if TYPE_CHECKING:
    from twin.passes import Domain
    from twin.site import Site

MODES = ("requeue", "kill", "suspend", "checkpoint")
VICTIMS = ("youngest", "smallest", "lowest")


@dataclass(eq=False)
class Claim:
    """A waiting job for which others were told to leave, by `time` at the latest."""

    job: Job
    queue: str | None
    time: int


class Preemption:
    """The part of the scheduler; without it nothing of this ever happens."""

    def __init__(self, site: Site, cluster: Cluster) -> None:
        part = cluster.scheduler.preempt
        self.site = site
        self.cluster = cluster
        self.by = None if part is None else part.name
        parameters = {} if part is None else part.parameters
        self.mode: str = parameters.get("mode", "requeue")
        self.grace = parse_duration(parameters.get("grace", 0))
        self.first: str = parameters.get("victims", "youngest")
        self.ranks: dict[str, int] = parameters.get("ranks", {})
        self.claims: list[Claim] = []
        self.lowest: dict[int, int | None] = {}  # the lowest rank in each domain at its last pass
        self.fresh: list[Job] = []  # who has started in this step: nobody displaces them in it
        if self.mode not in MODES or self.first not in VICTIMS:
            raise InputError("unknown preemption", value=parameters)

    def rank(self, job: Job) -> int:
        if self.by == "qos":
            return self.ranks.get(job.qos or "", 0)
        queue = job.runs_in
        if queue is None:
            return 0
        return self.ranks.get(queue, self.cluster.queues[queue].priority)

    def claim_of(self, job: Job) -> Claim | None:
        return next((claim for claim in self.claims if claim.job is job), None)

    def is_pinned(self, hold: Hold) -> bool:
        return self.claim_of(hold.job) is not None

    # ---- the step before the policy

    def act(self, domain: Domain, only_arrivals: bool) -> bool:
        """Displace, start and resume; whether there was a question of it: then all is planned anew."""
        self.claims = [claim for claim in self.claims if claim.job.domain != domain.number or self.stands(claim)]
        if self.by is None:
            return False
        seekers = self.seekers(domain, only_arrivals)
        if not seekers and not domain.suspended():
            return False
        for job in domain.holders():
            self.site.ledger.drop(job)
        domain.blocked = []
        self.fresh = []
        for job in seekers:
            self.serve(domain, job)
            if job.state == "running":
                self.fresh.append(job)
        self.resume_suspended(domain)
        return True

    def stands(self, claim: Claim) -> bool:
        """Whether the claimant still waits, and its limits let it start."""
        if claim.job.state == "waiting" and self.site.admitting(claim.job):
            return True
        self.site.ledger.drop(claim.job)
        return False

    def seekers(self, domain: Domain, only_arrivals: bool) -> list[Job]:
        """Who has a higher rank than somebody who is here: claimants first, then by rank, in the order of the line.
        Where nothing but arrivals has happened since the last pass, and nobody has come of a lower rank than all who
        were here, only who has come since."""
        line = domain.line()
        claimants = [job for job in line if self.claim_of(job) is not None]
        here = [*self.settled(domain), *domain.suspended(), *line]
        lowest = min((self.rank(job) for job in here), default=None)
        before, self.lowest[domain.number] = self.lowest.get(domain.number), lowest
        if lowest is None:
            return claimants
        stronger = [job for job in line if self.rank(job) > lowest and self.site.admitting(job)]
        if only_arrivals and before is not None and lowest >= before:
            stronger = [job for job in stronger if job.row not in domain.considered]
        rest = [job for job in stronger if job not in claimants]
        return claimants + sorted(rest, key=lambda job: -self.rank(job))

    def settled(self, domain: Domain) -> list[Job]:
        """Who runs in the domain and was not told to leave."""
        return [job for job in self.site.running if job.domain == domain.number and job.leave_at is None]

    def serve(self, domain: Domain, job: Job) -> None:
        """Start the job, or make room for it, or leave all as it is."""
        site, claim = self.site, self.claim_of(job)
        if site.try_start(job):
            self.claims = [other for other in self.claims if other is not claim]
        elif claim is not None:
            self.pin(claim)
        else:
            for queue in site.admitting(job):
                victims = self.find_victims(domain, job, queue)
                if victims and self.grace == 0:
                    for victim in victims:
                        site.displace(victim)
                    site.start(job, queue)
                    return
                if victims:
                    self.tell(job, queue, victims)
                    return

    # ---- victims

    def find_victims(self, domain: Domain, job: Job, queue: str | None) -> list[Job]:
        """As few as are needed, in the order in which they are chosen; none where all of them would not do, or where
        those who leave anyway suffice."""
        gone = self.leaving(domain, job)
        chosen: list[Job] = []
        candidates = self.candidates(domain, job)
        while not self.fits_without(job, queue, gone + chosen):
            if not candidates:
                return []
            chosen.append(candidates.pop(0))
        for victim in reversed(chosen[:-1]):
            rest = [other for other in chosen if other is not victim]
            if self.fits_without(job, queue, gone + rest):
                chosen = rest
        return chosen

    def candidates(self, domain: Domain, job: Job) -> list[Job]:
        """Who may be displaced for the job, in order."""

        def place(victim: Job) -> tuple[int, ...]:
            young = (-victim.course.since, -victim.turn)
            middle = {"youngest": (), "smallest": (victim.cores,), "lowest": (victim.priority,)}[self.first]
            return self.rank(victim), *middle, *young

        weaker = [victim for victim in self.settled(domain) if self.rank(victim) < self.rank(job)]
        weaker = [victim for victim in weaker if victim not in self.fresh]
        return sorted(weaker, key=place)

    def leaving(self, domain: Domain, job: Job) -> list[Job]:
        """Who was told to leave, of those whom the job could displace; what others claim of it is pinned."""
        told = [other for other in self.site.running if other.domain == domain.number and other.leave_at is not None]
        return [other for other in told if self.rank(other) < self.rank(job)]

    def fits_without(self, job: Job, queue: str | None, gone: list[Job]) -> bool:
        with self.imagine(gone):
            return self.site.ledger.fits(job, queue)

    @contextmanager
    def imagine(self, gone: list[Job]) -> Iterator[None]:
        """As if these did not run, and nothing were kept but what is pinned."""
        site = self.site
        running, holds = site.running, site.ledger.holds
        site.running = [job for job in running if job not in gone]
        site.ledger.holds = [hold for hold in holds if self.is_pinned(hold)]
        try:
            yield
        finally:
            site.running, site.ledger.holds = running, holds

    # ---- grace

    def tell(self, job: Job, queue: str | None, victims: list[Job]) -> None:
        """The victims have to leave; the job has a claim on what they leave."""
        time = self.site.now + self.grace
        for victim in victims:
            victim.leave_at, victim.planned_end = time, victim.expected_end
            victim.expected_end = min(victim.expected_end, time)
        self.claims.append(Claim(job, queue, time))
        self.pin(self.claims[-1])

    def pin(self, claim: Claim) -> None:
        """Keep the first place that there is for the claimant from its time on."""
        ledger = self.site.ledger
        ledger.drop(claim.job)
        start = ledger.earliest(claim.job, claim.queue, claim.time)
        if start is not None:
            ledger.hold(claim.job, claim.queue, start)

    # ---- afterwards

    def resume_suspended(self, domain: Domain) -> None:
        """Let those go on who can, the highest rank first."""
        site = self.site
        for job in sorted(domain.suspended(), key=lambda job: (-self.rank(job), job.turn)):
            with self.imagine([]):
                fits = site.ledger.fits_again(job)
            if fits and not site.limits.breaches(job, job.runs_in, site.now):
                site.resume(job)
