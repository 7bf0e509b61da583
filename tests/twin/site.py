"""One cluster of the slow twin: the way into it, what becomes of a job, and what its passes ask and do."""

from __future__ import annotations

import copy
from bisect import insort
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from twin.courses import Course, Execution
from twin.fairshare import FairShare
from twin.jobs import Accounts, Job
from twin.leaving import Leaving
from twin.limits import Limits
from twin.outages import Outages, read_failing
from twin.packing import rank_jointly
from twin.parts import Estimate
from twin.passes import RULES, Domain
from twin.places import PLACES, Place
from twin.pool import Pool
from twin.preemption import Preemption
from twin.queues import Queues
from twin.requests import settle_memory
from twin.rhythm import Periodic
from twin.slurm import SlurmPasses
from twin.timeshare import Gang, RoundRobin, Shared, Sharing
from twin.vectors import Vectors
from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND, microseconds
from walltime.scenario import Cluster
from walltime.scenario.part import Part

if TYPE_CHECKING:
    from twin.clock import Clock

TOLD = ("cores", "cores_per_node", "memory_per_node", "memory_per_core", "exclusive")
"""What a job says of itself, and its cluster may change."""

CORRECTIONS = tuple(minutes * 60 * SECOND for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000))
"""By how much an expected end that is outlived grows, each time; after the last, by twice as much each time."""

SHARED = {"time-shared": RoundRobin, "processor-sharing": Sharing, "gang": Gang}
RHYTHMS = {"periodic": Periodic, "slurm": SlurmPasses}


class Site:
    """A cluster with its queues, limits and outages; `clock` has the time and all jobs."""

    def __init__(self, clock: Clock, number: int, cluster: Cluster) -> None:
        self.clock = clock
        self.number = number
        self.cluster = cluster
        self.accounts = Accounts(cluster)
        self.jobs: list[Job] = []  # those that are this cluster's
        self.queue: list[Job] = []  # who waits, in order
        self.running: list[Job] = []
        self.stopped: Counter[int] = Counter()  # how many runs have ended, by domain
        self.queues = Queues(cluster, cluster.scheduler.order.short(), self.accounts, clock.jobs)
        self.estimate = Estimate(cluster.scheduler.estimate.short(), not clock.extend)
        self.outages = Outages(self, cluster, read_failing(cluster, clock.seed), clock.jobs)
        self.execution = _make_execution(self, cluster, clock.model)
        self.ledger = _make_ledger(self, cluster, clock.seed)
        self.limits = Limits(cluster, self.accounts, self.jobs, self.ledger.nodes)
        self.preemption = Preemption(self, cluster)
        self.interrupted = cluster.interrupted
        self.pause = microseconds(cluster.requeue_delay)
        self.paused: list[tuple[int, Job]] = []  # who was put back, and waits again from when on
        self.wake: int | None = None  # when there is a pass whatever happens
        self.licensed = bool(cluster.licences)
        self.happened = False  # whether something but an arrival has happened since the global scheduler looked
        self.rhythmic = cluster.scheduler.rhythm.name in RHYTHMS
        self.domains = self.make_domains()

    def make_domains(self) -> list[Domain] | list[Periodic]:
        """One for queues that share nodes, and one for the jobs of each reservation."""
        count = 1 + max(self.queues.domains.values())
        for booking in self.outages.bookings:
            if not booking.rule.maintenance:
                booking.domain, count = count, count + 1
        backfill, rhythm = self.cluster.scheduler.backfill, self.cluster.scheduler.rhythm
        name = "none" if backfill.name == "fcfs" else backfill.name
        if name not in RULES:
            raise InputError("unknown policy", value=name, choices=RULES)
        part = {"name": name, **backfill.parameters}
        if self.rhythmic:
            return [RHYTHMS[rhythm.name](self, number, part, rhythm.parameters) for number in range(count)]
        return [Domain(self, number, part) for number in range(count)]

    @property
    def now(self) -> int:
        return self.clock.now

    @property
    def unseen(self) -> int:
        return self.clock.unseen

    @property
    def vectors(self) -> Vectors:
        """The ledger, where there are nodes."""
        assert isinstance(self.ledger, Vectors)
        return self.ledger

    def node_set(self, job: Job, queue: str | None) -> set[int]:
        """The nodes on which the job may run: those of its reservation, or of the queue."""
        booking = self.outages.booking(job.reservation)
        return self.queues.node_set(queue) if booking is None else set(booking.nodes)

    # ---- by the passing of time

    def dues(self) -> list[int]:
        """When something happens to a running job, or to one that pauses, by the passing of time alone."""
        times = [job.expected_end for job in self.running]
        own = (time for job in self.running for time in (job.own_end, job.kill_at, job.leave_at))
        times += [] if self.execution is None else self.execution.times()
        return times + [time for time in own if time is not None] + [time for time, _ in self.paused]

    def wakes(self) -> list[int]:
        """Promises to come, and the time at which core-minutes let somebody in."""
        promises = []
        if all(isinstance(domain, Domain) and domain.name == "conservative" for domain in self.domains):
            holds = [hold for hold in self.ledger.holds if not self.preemption.is_pinned(hold)]
            promises = [hold.start for hold in holds if hold.start > self.now]
        for domain in self.domains:
            packer = domain.packer if isinstance(domain, Domain) else None
            promises += [] if packer is None else packer.wakes(domain.line())
        return promises if self.wake is None or self.wake <= self.now else [*promises, self.wake]

    def ticks(self) -> list[int]:
        """The next passes of a periodic rhythm."""
        return [time for domain in self.domains if isinstance(domain, Periodic) for time in domain.times()]

    def is_hopeless(self, job: Job) -> bool:
        """Whether the job is bound to a reservation in which it can never run any more, or has had all its chances."""
        booking = self.outages.booking(job.reservation)
        over = booking is not None and (booking.over(self.now) or job.length > booking.length)
        return over or job.course.is_fruitless

    def end_jobs(self) -> None:
        """Ends; then kills, and expected ends that are outlived; of one kind in order of entry."""
        now = self.now
        if self.execution is not None:
            self.execution.advance()
        for job in in_turn(job for job in self.running if job.own_end == now):
            self.leave(job, "completed")
        for job in in_turn(job for job in self.running if now in (job.kill_at, job.expected_end)):
            if job.kill_at == now:
                self.leave(job, "timeout")
            elif job.leave_at != now:
                self.correct(job)

    def end_grace(self) -> None:
        now = self.now
        for job in in_turn(job for job in self.running if job.leave_at == now):
            self.displace(job)

    def end_pauses(self) -> None:
        """Who was put back, and has paused long enough, waits again."""
        for job in in_turn(job for time, job in self.paused if time <= self.now):
            self.unpause(job)
            self.enqueue(job, unnoticed=True)

    def unpause(self, job: Job) -> None:
        self.paused = [(time, other) for time, other in self.paused if other is not job]

    # ---- the way in

    def adopt(self, job: Job) -> None:
        """The job is this cluster's: the queues that it is for, and how long it may run."""
        job.site = self
        job.account = self.accounts.charged(job)
        names: list[str | None] = [*self.queues.choose(job)] if self.queues.names else [None]
        job.queues = names
        for name, value in job.told.items():  # what another cluster made of it
            setattr(job, name, value)
        job.told = {name: getattr(job, name) for name in TOLD}
        if names:
            settle_memory(job, self.cluster, names[0], self.queues.node_set(names[0]))
        if job.requested_time is None:
            default = self.queues.default_time(names[0]) if names else None
            job.requested_time = job.run_time if default is None else default
        if job.requested_time is None:
            raise InputError(f"job {job.job_id}: requested_time is missing")
        job.course = Course(job, self.clock.checkpoint)
        job.requested = job.estimate = job.requested_time + job.course.growth(job.requested_time)
        job.runs_in = names[0] if names else None
        self.jobs.append(job)

    def disown(self, job: Job) -> None:
        """The job goes to another cluster."""
        job.site = None
        self.jobs.remove(job)

    def reject(self, job: Job) -> str | None:
        """Why none of its queues takes the job, or None; then it knows where it would wait."""
        reasons = [self.refuse(job, queue) for queue in job.queues]
        if None not in reasons:
            return reasons[0] if reasons else "no queue takes it"
        job.queues = [queue for queue, reason in zip(job.queues, reasons, strict=True) if reason is None]
        job.runs_in = job.queues[0]
        self.queues.stand(job)
        booking = self.outages.booking(job.reservation)
        if booking is not None and booking.domain is not None:
            job.domain = booking.domain
        too_many = (self.limits.too_many(job, queue) for queue in job.queues)
        return next((reason for reason in too_many if reason is not None), None)

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

    def enqueue(self, job: Job, unnoticed: bool = False) -> None:
        """The job is eligible, or one that was interrupted is back: it waits. Slurm's passes may not notice."""
        job.state = "waiting"
        job.accrued = None
        job.back = self.now if job.course.attempt else None
        self.assess(job)
        insort(self.queue, job, key=_place)
        domain = self.domains[job.domain]
        domain.joined |= not (unnoticed and isinstance(domain, SlurmPasses) and domain.main_every)

    def assess(self, job: Job) -> None:
        """How long the job is believed to run, and where it stands."""
        spent = job.course.used + job.course.elapsed
        job.estimate = max(self.estimate.of(job) - spent, 1) if spent else self.estimate.of(job)
        if job.order.fair is not None:
            job.order.fair.meet(job, self.now)
            job.order.fair.meet(self.stand_in(job), self.now)
        job.rank = job.order.rank(self.stand_in(job), self.now)

    def accrue(self) -> None:
        """Jobs that wait begin to grow older, in the order of entry, as far as limits let them."""
        for job in in_turn(self.queue) if self.limits.ages else ():
            if job.accrued is None and self.limits.lets_accrue(job, self.queue):
                job.accrued = self.now

    def stand_in(self, job: Job) -> Job:
        """What an order is asked about: the job, or its workflow."""
        return self.clock.gates.pilots.stand_in(job, self.estimate.of)

    # ---- how it ends, or does not

    def leave(self, job: Job, state: str) -> None:
        """The job ends or is withdrawn; one that was held before its begin time concerns nobody."""
        before = job.state
        if before == "running":
            self.stop(job, state)
        job.course.finish()
        job.state, job.end = state, self.now
        self.clock.gates.leave(job)
        if job.start is not None:
            self.estimate.ended(job, job.course.used)
        self.unpause(job)
        if before == "waiting":
            self.queue.remove(job)
            self.ledger.drop(job)
            self.touch(job)

    def stop(self, job: Job, outcome: str) -> None:
        """The job no longer runs; what becomes of it is another question."""
        job.course.pause(self.now, outcome)
        job.leave_at = None
        self.running.remove(job)
        self.stopped[job.domain] += 1
        for fair in self.fair_shares():
            fair.stopped(job, self.now)
        if self.execution is not None:
            self.execution.drop(job)
        self.ledger.drop(job)
        self.touch(job)

    def shrink(self, job: Job, gone: set[int]) -> None:
        """The job gives back some of its nodes, and runs on."""
        job.course.pause(self.now, "running")
        job.course.since = self.now
        job.shares = [(node, cores) for node, cores in job.shares if node not in gone]
        job.taken = {node: amounts for node, amounts in job.taken.items() if node not in gone}
        self.touch(job)

    def touch(self, job: Job) -> None:
        """Something changed for those who wait beside the job."""
        self.happened = True
        for domain in self.domains if self.licensed else [self.domains[job.domain]]:
            domain.changed = True

    def upset(self) -> None:
        """Something changed for everybody."""
        self.happened = True
        for domain in self.domains:
            domain.upset = True

    def correct(self, job: Job) -> None:
        """The job has outlived its expected end."""
        beyond = max(0, job.corrections - len(CORRECTIONS) + 1)
        step = CORRECTIONS[min(job.corrections, len(CORRECTIONS) - 1)] * 2**beyond
        times = [job.expected_end + step, job.kill_at, job.leave_at]
        job.expected_end = min(time for time in times if time is not None)
        job.corrections += 1
        self.happened = self.domains[job.domain].upset = True

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
            self.clock.gates.leave(job)
            return
        if mode == "checkpoint":
            job.course.fall_back()
        else:
            job.course.start_over()
        job.course.attempt += 1
        job.corrections, job.rest = 0, None
        job.runs_in = job.queues[0]
        if self.pause:
            job.state = "paused"
            self.paused.append((self.now + self.pause, job))
        else:
            self.enqueue(job)

    # ---- what a pass asks and does

    def fair_shares(self) -> list[FairShare]:
        """Of the orders that look at who has used what."""
        return [order.fair for _, order in self.queues.orders if order.fair is not None]

    def schedule(self, woken: bool = False) -> None:
        """Passes over all domains, and again where one of them has let somebody into another."""
        for domain in self.domains if woken else ():
            domain.woken = True
        if self.rhythmic:
            self.rank()
            for domain in self.domains:
                domain.schedule()
        while any(isinstance(domain, Domain) and domain.has_reason() for domain in self.domains):
            self.rank()
            for domain in self.domains:
                domain.schedule()
        self.wake = self.next_admission()

    def rank(self) -> None:
        """Keys that change with time, anew."""
        for fair in self.fair_shares():
            if fair.renew(self.now):
                for domain in self.domains:
                    domain.shuffled = True
        if any(order.dynamic or order.fair is not None for _, order in self.queues.orders):
            for job in self.queue:
                if job.order.dynamic or job.order.fair is not None:
                    job.rank = job.order.rank(self.stand_in(job), self.now)
            rank_jointly(self)
            self.queue.sort(key=_place)

    def admitting(self, job: Job) -> list[str | None]:
        """The job's queues in which its limits let it start now, in the order in which they are tried."""
        if not self.limits.rules:
            return job.queues
        return [queue for queue in job.queues if not self.limits.breaches(job, queue, self.now)]

    def refused(self, line: list[Job]) -> set[int]:
        """The rows of those that are at a limit."""
        return {job.row for job in line if not self.admitting(job)} if self.limits.rules else set()

    def next_admission(self) -> int | None:
        """The first instant at which time alone lets somebody in."""
        if not self.limits.rules:
            return None
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
        for fair in self.fair_shares():
            fair.started(job, self.now)
        job.expected_end = self.now + job.wanted
        job.kill_at = None if self.clock.extend else self.kill_time(job)
        job.state, job.rest = "running", None
        job.own_end = job.course.begin(self.now, speed)
        if self.execution is not None:
            job.own_end = None
            self.execution.begin(job)

    def kill_time(self, job: Job) -> int:
        """When the job, which begins or goes on, is killed: at the first look at limits once it has had its time."""
        over, step = self.clock.overtime, self.clock.limit_check
        if not over and not step:
            return self.now + job.limit
        time = max(self.now, self.now + job.requested - job.course.used - job.course.elapsed + over)
        return int(-(-time // step) * step if step else time)

    def reserve(self, job: Job) -> None:
        """Keep a place for the job in the queue that has one first; of equal ones the first that is tried."""
        self.ledger.loosen(job)
        plans = [(queue, self.ledger.earliest(job, queue)) for queue in self.admitting(job)]
        starts = [start for _, start in plans if start is not None]
        if starts:
            queue = next(queue for queue, start in plans if start == min(starts))
            self.ledger.hold(job, queue, min(starts))

    # ---- what a global scheduler asks

    @property
    def cores(self) -> int:
        return self.ledger.cores

    @property
    def free(self) -> int:
        return self.ledger.free()

    @property
    def speed(self) -> float:
        """The mean over its cores."""
        return float(self.ledger.speed())

    @property
    def asked(self) -> int:
        return sum(job.cores for job in self.queue)

    @property
    def load(self) -> Fraction:
        return Fraction(self.cores - self.free + self.asked, self.cores)

    def as_if_queued(self, job: Job) -> Job:
        """The job as it would wait here."""
        guest = copy.copy(job)
        self.adopt(guest)
        self.disown(guest)
        self.reject(guest)
        self.assess(guest)
        return guest

    def predict(self, job: Job) -> int:
        """When the job would start here, whether it waits here already or not.

        By a plan of those that run until their expected ends, then in queue order those that wait before the job, then
        the job: each as early as it fits for its estimate; where no job overtakes, none before the one ahead. Under
        conservative backfilling the promises that were made stand.
        """
        self.rank()
        mine = job if job in self.queue else self.as_if_queued(job)
        domain, holds = self.domains[mine.domain], self.ledger.holds
        assert isinstance(domain, Domain)
        self.ledger.holds = list(holds) if domain.name == "conservative" else []
        try:
            promised = domain.hold_of(mine)
            return self.plan(domain, mine) if promised is None else max(self.now, promised.start)
        finally:
            self.ledger.holds = holds

    def plan(self, domain: Domain, mine: Job) -> int:
        floor = self.now
        for job in domain.line():
            if _place(job) >= _place(mine):
                break
            if domain.hold_of(job) is None:
                start = self.ledger.earliest(job, job.queues[0], floor)
                if start is not None:
                    self.ledger.hold(job, job.queues[0], start)
                    floor = start if domain.name == "none" else floor
        start = self.ledger.earliest(mine, mine.queues[0], floor)
        return NEVER if start is None else start

    def could_start(self, job: Job) -> bool:
        """Whether the job would start at once."""
        return not self.queue and job.cores <= self.free

    def give_up(self, job: Job) -> None:
        """The waiting job moves to another cluster."""
        self.queue.remove(job)
        self.ledger.drop(job)
        self.touch(job)
        self.disown(job)


def in_turn(jobs: Iterable[Job]) -> list[Job]:
    """In the order of entry."""
    return sorted(jobs, key=lambda job: job.turn)


def _place(job: Job) -> tuple[int, Any]:
    """Where a waiting job stands."""
    return job.tier, job.rank


def _make_execution(site: Site, cluster: Cluster, model: Part) -> Execution | None:
    layout = cluster.layout()
    if model.name == "programs":
        return Leaving(site)
    if model.name not in SHARED or layout is None:
        return None
    return SHARED[model.name](site, layout, model.parameters)


def _make_ledger(site: Site, cluster: Cluster, seed: int) -> Pool | Vectors:
    layout = cluster.layout()
    if layout is None:
        if cluster.cores is None:
            raise InputError("the cluster has no size", value=cluster.name)
        return Pool(site, cluster.cores)
    usual = "consecutive" if cluster.scheduler.rhythm.name == "slurm" else "best-fit"
    usual = "even" if isinstance(site.execution, Shared) else usual
    name = usual if cluster.scheduler.place is None else cluster.scheduler.place.name
    own = {queue: rule.place.name for queue, rule in cluster.queues.items() if rule.place is not None}
    for one in (name, *own.values()):
        if one not in PLACES:
            raise InputError("unknown placement", value=one, choices=PLACES)
    switches = layout.switches().tolist()
    places = {queue: Place(one, switches, seed) for queue, one in own.items()}
    return Vectors(site, layout, Place(name, switches, seed), places, cluster.scheduler.holds == "named")
