"""The clock of the slow twin of a site: what happens at one instant, in order, and what becomes of each job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from twin.reference_gates import Gates
from twin.reference_site_courses import CHANCES, MOST, Course
from twin.reference_site_jobs import Accounts, Job, read_jobs
from twin.reference_site_limits import Limits
from twin.reference_site_outages import Failing, Outages
from twin.reference_site_passes import RULES
from twin.reference_site_places import PLACES, Place
from twin.reference_site_pool import Pool
from twin.reference_site_preempt import Preemption
from twin.reference_site_queues import Queues
from twin.reference_site_rhythm import Periodic
from twin.reference_site_vectors import Vectors
from walltime.core.errors import EngineError, InputError
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload
from walltime.scenario import Cluster

CORRECTIONS = tuple(minutes * 60 * SECOND for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
"""By how much an expected end that is outlived grows, each time; after the last, by twice as much each time."""


@dataclass(frozen=True)
class Options:
    """What a scenario says beside its cluster and its workload. `failing` are the groups of nodes that fail."""

    backfill: str = "easy"
    order: str | Mapping[str, Any] = "fcfs"
    depth: int = 1
    seed: int = 0
    extend: bool = False
    checkpoint: Any = None
    failing: list[Failing] = field(default_factory=list)
    never: str = "cancel"
    preceding: bool = False
    deadlines: str = "keep"
    rhythm: Mapping[str, Any] | None = None
    candidates: str | None = None


class Site:
    """The clock, the jobs, and everything that has a say."""

    domains: list[Any]

    def __init__(self, workload: Workload, cluster: Cluster, options: Options) -> None:
        accounts = Accounts(cluster)
        self.accounts = accounts
        self.options = options
        self.now = 0
        self.idle = self.active = 0  # changes of the machine since something last happened to a job, and when that was
        self.unseen = 0  # the first instant whose edges of reservations have not been seen
        self.jobs = read_jobs(workload, accounts)
        self.gates = Gates(workload, self.jobs, options.never, options.preceding)
        self.drop_late = options.deadlines == "cancel"
        self.queues = Queues(cluster, options.order, accounts, self.jobs)
        self.outages = Outages(self, cluster, options.failing)
        self.ledger: Any = _make_ledger(self, cluster, self.jobs, options.seed)
        self.limits = Limits(cluster, accounts, self.jobs, self.ledger.nodes)
        self.preemption = Preemption(self, cluster)
        self.interrupted = cluster.interrupted
        self.queue: list[Job] = []  # who waits, in order
        self.running: list[Job] = []
        self.wake: int | None = None  # when there is a pass whatever happens
        self.licensed = bool(cluster.licences)

    def node_set(self, job: Job, queue: str | None) -> set[int]:
        """The nodes on which the job may run: those of its reservation, or of the queue."""
        booking = self.outages.booking(job.reservation)
        return self.queues.node_set(queue) if booking is None else set(booking.nodes)

    # ---- events

    def run(self) -> None:
        for job in self.jobs:
            self.way_in(job)
        while times := [time for job in self.jobs for time in self.due(job)] + self.events():
            wakes, self.now = self.wakes(), min(times)
            self.fire()
            self.unseen = self.now + 1
            if self.now in wakes:
                for domain in self.domains:
                    domain.woken = True
            self.schedule()
        stuck = [job for job in self.queue if not self.is_hopeless(job)]
        if stuck and self.idle <= CHANCES:
            raise EngineError(f"job {stuck[0].job_id} waits for ever")

    def events(self) -> list[int]:
        """When something happens that is not a job's own."""
        return self.wakes() + self.ticks() + self.disruptions()

    def due(self, job: Job) -> list[int]:
        """When something may happen to the job by the passing of time alone."""
        if job.state == "future":
            return [job.submit]
        times = [job.cancel] if job.state in ("held", "waiting", "running", "suspended") else []
        if job.state in ("held", "waiting"):
            times += self.expiries(job)
        if job.state == "held":
            opens = self.gates.opens(job, self.now)
            if opens == NEVER:
                opens = None if self.gates.stay else self.now
            times += [] if opens is None else [max(opens, self.now)]
        times += [job.own_end, job.kill_at, job.expected_end, job.leave_at] if job.state == "running" else []
        return [time for time in times if time is not None]

    def expiries(self, job: Job) -> list[int]:
        """When it is cancelled unless it has started: its user's patience ends, its deadline can no longer be met."""
        if job.start is not None:
            return []
        patience = self.gates.cards[job.row].patience
        times = [] if patience is None else [job.submit + patience]
        return [*times, job.deadline - job.requested + 1] if self.drop_late and job.deadline is not None else times

    def disruptions(self) -> list[int]:
        """When the machine changes, as long as that could start or end a job.

        Something is to happen to a job by itself, unless it runs only to be interrupted as so often before; or it waits
        where it may still be let in. The latter is believed for a while: for `CHANCES` changes of the machine, all that
        will end of itself, and twice the longest pause between reservations that go on for ever; but for no more than
        `MOST` changes.
        """
        if any(self.due(job) and not (job.state == "running" and job.course.is_fruitless) for job in self.jobs):
            self.idle, self.active = 0, self.now
            return self.outages.next()
        hopeful = [job for job in self.jobs if job.state in ("waiting", "suspended") and not self.is_hopeless(job)]
        self.idle += 1
        if self.outages.will_end(self.now):
            self.active = self.now
        if self.idle > CHANCES and self.now - self.active > 2 * self.outages.longest_pause():
            return []
        if self.idle > MOST:
            return []
        return self.outages.next() if hopeful else []

    def is_hopeless(self, job: Job) -> bool:
        """Whether the job is bound to a reservation in which it can never run any more, or has had all its chances."""
        booking = self.outages.booking(job.reservation)
        over = booking is not None and (booking.over(self.now) or job.length > booking.length)
        return over or job.course.is_fruitless

    def wakes(self) -> list[int]:
        """Promises to come, and the time at which core-minutes let somebody in."""
        holds = [hold for hold in self.ledger.holds if not self.preemption.is_pinned(hold)]
        promises = [hold.start for hold in holds if hold.start > self.now]
        if any(isinstance(domain, Periodic) or domain.rule is not RULES["conservative"] for domain in self.domains):
            promises = []
        return promises if self.wake is None or self.wake <= self.now else [*promises, self.wake]

    def ticks(self) -> list[int]:
        """The next passes of a periodic rhythm."""
        return [time for domain in self.domains if isinstance(domain, Periodic) for time in domain.times()]

    def fire(self) -> None:
        """Everything that is due now."""
        for job in list(self.running):
            if job.own_end == self.now:
                self.leave(job, "completed")
        for job in list(self.running):
            if job.kill_at == self.now:
                self.leave(job, "timeout")
            elif job.expected_end == self.now and job.leave_at != self.now:
                self.correct(job)
        for job in self.jobs:
            if job.state in ("held", "waiting", "running", "suspended") and job.cancel == self.now:
                self.leave(job, "cancelled")
        for job in self.jobs:
            if job.state in ("held", "waiting") and self.now in self.expiries(job):
                self.leave(job, "cancelled")
        for job in self.jobs:
            if job.state == "running" and job.leave_at == self.now:
                self.displace(job)
        self.outages.fire()
        self.release()
        for job in self.jobs:
            if job.state == "future" and job.submit == self.now:
                self.arrive(job)

    def release(self) -> None:
        """Held jobs that never can be let in are cancelled, one by one; then those whose time has come wait."""
        held = [job for job in self.jobs if job.state == "held"]
        while doomed := [job for job in held if self.gates.opens(job, self.now) == NEVER and not self.gates.stay]:
            held.remove(doomed[0])
            self.leave(doomed[0], "cancelled")
        for job in held:
            opens = self.gates.opens(job, self.now)
            if opens is not None and opens <= self.now:
                self.enqueue(job)

    def way_in(self, job: Job) -> None:
        """The queues that the job is for, known from the beginning."""
        names: list[str | None] = [*self.queues.choose(job)] if self.queues.names else [None]
        job.queues = names
        if job.requested_time is None:
            default = self.queues.default_time(names[0]) if names else None
            job.requested_time = job.run_time if default is None else default
        if job.requested_time is None:
            raise InputError(f"job {job.job_id}: requested_time is missing")
        job.course = Course(job, self.options.checkpoint)
        job.requested = job.requested_time + job.course.growth(job.requested_time)
        job.runs_in = names[0] if names else None

    def arrive(self, job: Job) -> None:
        reasons = [self.refuse(job, queue) for queue in job.queues]
        if None not in reasons:
            job.state, job.reason = "rejected", reasons[0] if reasons else "no queue takes it"
            return
        job.queues = [queue for queue, reason in zip(job.queues, reasons, strict=True) if reason is None]
        job.runs_in = job.queues[0]
        self.queues.stand(job)
        booking = self.outages.booking(job.reservation)
        if booking is not None and booking.domain is not None:
            job.domain = booking.domain
        too_many = [reason for queue in job.queues if (reason := self.limits.too_many(job, queue)) is not None]
        if too_many:
            job.state, job.reason = "rejected", too_many[0]
        elif (job.cancel is not None and job.cancel <= self.now) or self.is_late(job):
            job.state, job.end = "cancelled", self.now
        else:
            job.state = "held"
            opens = self.gates.opens(job, self.now)
            if opens is not None and opens <= self.now:
                self.enqueue(job)

    def refuse(self, job: Job, queue: str | None) -> str | None:
        room = self.ledger.refuse(job, queue) if job.reservation is None else self.refuse_bound(job, queue)
        return self.queues.refuse(job, queue) or room or self.limits.refuse_for_good(job, queue)

    def refuse_bound(self, job: Job, queue: str | None) -> str | None:
        """Why the job can never run in its reservation, or None."""
        booking = self.outages.booking(job.reservation)
        if booking is None:
            names = [other.name for other in self.outages.bookings]
            raise InputError("a job names a reservation that is not there", value=job.reservation, choices=names)
        if not booking.admits(job, self.accounts):
            return f"user {job.user} may not use reservation {booking.name}"
        if self.ledger.refuse(job, queue) is not None:
            return f"reservation {booking.name}: more cores than it has"
        if job.length > booking.length:
            return f"reservation {booking.name} is shorter than the requested time"
        return None

    def is_late(self, job: Job) -> bool:
        """Whether it cannot meet its deadline, where such jobs are not let in."""
        return self.drop_late and job.deadline is not None and self.now + job.requested > job.deadline

    def enqueue(self, job: Job) -> None:
        """The held job is eligible, or one that was interrupted is back: it waits, unless its array has no place."""
        job.queued = self.gates.since(job, self.now) if job.queued is None else job.queued
        if not self.gates.takes(job):
            return
        job.state = "waiting"
        if job.order.fair is not None:
            job.order.fair.meet(job, self.now)
            job.order.fair.meet(self.gates.pilots.stand_in(job), self.now)
        job.rank = job.order.rank(self.gates.pilots.stand_in(job), self.now)
        self.queue.append(job)
        self.domains[job.domain].joined = True

    # ---- how it ends, or does not

    def leave(self, job: Job, state: str) -> None:
        """The job ends or is withdrawn; one that was held before its begin time concerns nobody."""
        before = job.state
        if before == "running":
            self.stop(job, state)
        job.course.finish()
        job.state, job.end = state, self.now
        self.gates.leave(job)
        if before == "waiting":
            self.queue.remove(job)
            self.ledger.drop(job)
            self.touch(job)

    def stop(self, job: Job, outcome: str) -> None:
        """The job no longer runs; what becomes of it is another question."""
        job.course.pause(self.now, outcome)
        job.leave_at = None
        self.running.remove(job)
        for order in self.fair_orders():
            order.fair.stopped(job, self.now)
        self.ledger.drop(job)
        self.touch(job)

    def touch(self, job: Job) -> None:
        """Something changed for those who wait beside the job."""
        for domain in self.domains if self.licensed else [self.domains[job.domain]]:
            domain.changed = True

    def upset(self) -> None:
        """Something changed for everybody."""
        for domain in self.domains:
            domain.upset = True

    def correct(self, job: Job) -> None:
        """The job has outlived its expected end."""
        beyond = max(0, job.corrections - len(CORRECTIONS) + 1)
        step = CORRECTIONS[min(job.corrections, len(CORRECTIONS) - 1)] * 2**beyond
        times = [job.expected_end + step, job.kill_at, job.leave_at]
        job.expected_end = min(time for time in times if time is not None)
        job.corrections += 1
        self.domains[job.domain].upset = True

    def interrupt(self, job: Job) -> None:
        """The job's nodes are not there any more."""
        if job.state == "running":
            self.stop(job, "failed" if self.interrupted == "fail" else "requeued")
        self.end_attempt(job, self.interrupted, "failed")

    def displace(self, job: Job) -> None:
        """The job has to go for another's sake."""
        mode = self.preemption.mode
        end = job.expected_end if job.leave_at is None else job.planned_end
        self.stop(job, "suspended" if mode == "suspend" else "preempted")
        if mode == "suspend":
            job.state, job.rest = "suspended", max(end - self.now, 1)
        else:
            self.end_attempt(job, mode, "cancelled")

    def end_attempt(self, job: Job, mode: str, state: str) -> None:
        """The job is out for good (fail, kill), or waits again for its next attempt (requeue, checkpoint)."""
        if mode in ("fail", "kill"):
            job.course.fail()
            job.state, job.end = state, self.now
            self.gates.leave(job)
            return
        if mode == "checkpoint":
            job.course.fall_back()
        else:
            job.course.start_over()
        job.course.attempt += 1
        job.corrections, job.rest = 0, None
        job.runs_in = job.queues[0]
        self.enqueue(job)

    # ---- what a pass asks and does

    def fair_orders(self) -> list[Any]:
        """Orders that look at who has used what."""
        return [order for _, order in self.queues.orders if order.fair is not None]

    def schedule(self) -> None:
        """Passes over all domains, and again where one of them has let somebody into another."""
        if self.options.rhythm is not None:
            self.rank()
            self.queue.sort(key=lambda job: (job.tier, job.rank))
            for domain in self.domains:
                domain.schedule()
        while self.options.rhythm is None and any(domain.has_reason() for domain in self.domains):
            self.rank()
            for domain in self.domains:
                domain.schedule()
        self.wake = self.next_admission()

    def rank(self) -> None:
        """Keys that change with time, anew."""
        for order in self.fair_orders():
            if order.fair.renew(self.now):
                for domain in self.domains:
                    domain.shuffled = True
        for job in self.queue:
            if job.order.dynamic or job.order.fair is not None:
                job.rank = job.order.rank(self.gates.pilots.stand_in(job), self.now)

    def admitting(self, job: Job) -> list[str | None]:
        """The job's queues in which its limits let it start now, in the order in which they are tried."""
        return [queue for queue in job.queues if not self.limits.breaches(job, queue, self.now)]

    def next_admission(self) -> int | None:
        """The first instant at which time alone lets somebody in."""
        times = [
            time
            for job in self.queue
            if not self.admitting(job)
            for queue in job.queues
            if (time := self.limits.next_admission(job, queue, self.now)) is not None
        ]
        return min(times, default=None)

    def try_start(self, job: Job) -> bool:
        """Start the job in the first of its queues that lets it, if there is one."""
        for queue in self.admitting(job):
            if self.ledger.fits(job, queue):
                self.start(job, queue)
                return True
        return False

    def start(self, job: Job, queue: str | None) -> None:
        held = {hold.job.row for hold in self.ledger.holds}
        line = self.domains[job.domain].line()
        before = line[: line.index(job)]
        job.backfilled = any(other.row in held or self.admitting(other) for other in before)
        speed = self.ledger.take(job, queue)
        self.queue.remove(job)
        job.runs_in = queue
        job.start = self.now if job.start is None else job.start
        self.set_going(job, speed)

    def resume(self, job: Job) -> None:
        """A suspended job goes on where it was."""
        self.set_going(job, job.course.speed)

    def set_going(self, job: Job, speed: Fraction) -> None:
        self.running.append(job)
        for order in self.fair_orders():
            order.fair.started(job, self.now)
        wanted, job.state, job.rest = job.wanted, "running", None
        job.own_end = job.course.begin(self.now, speed)
        job.expected_end = self.now + wanted
        job.kill_at = None if self.options.extend else job.expected_end

    def reserve(self, job: Job) -> None:
        """Keep a place for the job in the queue that has one first; of equal ones the first that is tried."""
        self.ledger.loosen(job)
        plans = [(queue, self.ledger.earliest(job, queue)) for queue in self.admitting(job)]
        starts = [start for _, start in plans if start is not None]
        if starts:
            queue = next(queue for queue, start in plans if start == min(starts))
            self.ledger.hold(job, queue, min(starts))


def _make_ledger(site: Site, cluster: Cluster, jobs: list[Job], seed: int) -> Any:
    layout = cluster.layout()
    if layout is None:
        if cluster.cores is None:
            raise InputError("the cluster has no size", value=cluster.name)
        return Pool(site, cluster.cores)
    usual = "consecutive" if cluster.scheduler.rhythm.name == "slurm" else "best-fit"
    name = usual if cluster.scheduler.place is None else cluster.scheduler.place.name
    if name not in PLACES:
        raise InputError("unknown placement", value=name, choices=PLACES)
    place = Place(name, layout.switches().tolist(), seed)
    return Vectors(site, layout, place)
