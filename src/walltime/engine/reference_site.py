"""The slow, obvious twin of the engine on a site: nodes with several resources, queues, and limits; plain Python.

It shares no code with the compiled engine. Every question is answered by looking at all jobs, all reservations and all
nodes. At one instant: ends, kills, cancellations, releases, arrivals; then one pass over all islands; and again
while something is due. A pass is made when something happened, when a promise falls due, and at the first instant at
which a job that only its core-minutes keep back is let in.

Its parts: `reference_site_jobs`, `_queues` (the way in, order, islands), `_limits`, `_passes`, and the ledgers `_pool`
(a plain number of cores), `_plain` (nodes of which only cores are counted) and `_vectors`, with `_requests` and
`_places`. Each says which rule it chose where there was a choice. Here these:

- `_plain` serves where the nodes have neither resources nor features and the cluster no licences, no queue has a node
  set, and no job asks for anything but cores, nodes and memory in all; else `_vectors`.
- The causes of a pass are the whole cluster's: where something other than an arrival happened, all islands plan anew.
- A job is `backfilled` if, when it starts, somebody stands before it in its island who has a reservation or whom the
  limits would let start.
- At submission: the queues that do not take the job are struck off; where none is left it is rejected with the reason
  of the first that was tried. Only then is it looked at whether it was cancelled already.
- Who is held, and until when, is in `reference_gates`.
- A reservation that falls due when its job has just come to a limit is lost at once; whom that helps is moved when
  something ends, not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from walltime.core.errors import EngineError, InputError
from walltime.core.time import NEVER
from walltime.core.workload import Workload
from walltime.engine.reference_gates import Gates
from walltime.engine.reference_site_jobs import Accounts, Job, read_jobs, write_shares
from walltime.engine.reference_site_limits import Limits
from walltime.engine.reference_site_passes import RULES, Island
from walltime.engine.reference_site_places import PLACES, Place
from walltime.engine.reference_site_plain import PlainNodes
from walltime.engine.reference_site_pool import Pool
from walltime.engine.reference_site_queues import Queues
from walltime.engine.reference_site_vectors import Vectors
from walltime.scenario import Cluster


@dataclass(frozen=True)
class Outcome:
    """What became of one job, in microseconds; None where it does not apply.

    `queue` is the one in which it started, or the first that was tried; `nodes` are those of its run, as `0-3:24,7:5`.
    """

    job_id: int
    row: int
    queue: str | None
    eligible: int | None
    start: int | None
    end: int | None
    state: str
    reason: str | None
    backfilled: bool
    nodes: str | None
    run: int | None


def simulate(
    workload: Workload,
    cluster: Cluster,
    backfill: str = "easy",
    order: str | Mapping[str, Any] = "fcfs",
    depth: int = 1,
    seed: int = 0,
    never: str = "cancel",
    preceding: bool = False,
    deadlines: str = "keep",
) -> list[Outcome]:
    """The schedule of the workload on the cluster, in row order.

    `backfill` is none (or fcfs), aggressive, easy, depth (with `depth` reservations) or conservative; `order` one of
    those that `reference_parts` knows, or a part as a scenario has it. The placement is the cluster's own. `never`,
    `preceding` and `deadlines` are the scenario's keys of dependencies and deadlines.
    """
    rule = "none" if backfill == "fcfs" else backfill
    if rule not in RULES:
        raise InputError("unknown policy", value=backfill, choices=RULES)
    site = _Site(workload, cluster, order, seed)
    site.gates, site.drop_late = Gates(workload, site.jobs, never, preceding), deadlines == "cancel"
    site.islands = [
        Island(site, number, rule, 1 if rule == "easy" else depth)
        for number in range(1 + max(site.queues.islands.values()))
    ]
    site.run()
    return [_outcome(job) for job in site.jobs]


class _Site:
    """The clock, the jobs, and everything that has a say."""

    islands: list[Island]
    gates: Gates
    drop_late: bool

    def __init__(self, workload: Workload, cluster: Cluster, order: Any, seed: int) -> None:
        accounts = Accounts(cluster)
        self.jobs = read_jobs(workload, accounts)
        self.queues = Queues(cluster, order, accounts, self.jobs)
        self.ledger: Any = _make_ledger(self, cluster, self.jobs, seed)
        self.limits = Limits(cluster, accounts, self.jobs, self.ledger.nodes)
        self.now = 0
        self.queue: list[Job] = []  # who waits, in order
        self.running: list[Job] = []
        self.wake: int | None = None  # when there is a pass whatever happens
        self.ruled = bool(cluster.queues or cluster.limits) or isinstance(self.ledger, Vectors)
        self.licensed = bool(cluster.licences)

    # ---- events

    def run(self) -> None:
        for job in self.jobs:
            self.way_in(job)
        while times := [time for job in self.jobs for time in self.due(job)] + self.wakes():
            wakes, self.now = self.wakes(), min(times)
            self.fire()
            if self.now in wakes:
                for island in self.islands:
                    island.woken = True
            self.schedule()
        if self.queue:
            raise EngineError(f"job {self.queue[0].job_id} waits for ever")

    def due(self, job: Job) -> list[int]:
        """When something may happen to the job by the passing of time alone."""
        if job.state == "future":
            return [job.submit]
        times = [job.cancel] if job.state in ("held", "waiting", "running") else []
        if job.state in ("held", "waiting"):
            times += self.expiries(job)
        if job.state == "held":
            opens = self.gates.opens(job, self.now)
            if opens == NEVER:
                opens = None if self.gates.stay else self.now
            times += [] if opens is None else [max(opens, self.now)]
        times += [job.own_end, job.expected_end] if job.state == "running" else []
        return [time for time in times if time is not None]

    def expiries(self, job: Job) -> list[int]:
        """When it is cancelled unless it has started: its user's patience ends, its deadline can no longer be met."""
        patience = self.gates.cards[job.row].patience
        times = [] if patience is None else [job.submit + patience]
        return [*times, job.deadline - job.requested + 1] if self.drop_late and job.deadline is not None else times

    def wakes(self) -> list[int]:
        """Promises to come, and the time at which core-minutes let somebody in."""
        promises = [hold.start for hold in self.ledger.holds if hold.start > self.now]
        if any(island.rule is not RULES["conservative"] for island in self.islands):
            promises = []
        return promises if self.wake is None else [*promises, self.wake]

    def fire(self) -> None:
        """Everything that is due now."""
        for state in ("completed", "timeout"):
            for job in list(self.running):
                if (job.own_end if state == "completed" else job.expected_end) == self.now:
                    self.leave(job, state)
        for job in self.jobs:
            if job.state in ("held", "waiting", "running") and job.cancel == self.now:
                self.leave(job, "cancelled")
        for job in self.jobs:
            if job.state in ("held", "waiting") and self.now in self.expiries(job):
                self.leave(job, "cancelled")
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
        job.requested = job.requested_time
        job.runs_in = names[0] if names else None

    def arrive(self, job: Job) -> None:
        reasons = [self.refuse(job, queue) for queue in job.queues]
        if None not in reasons:
            job.state, job.reason = "rejected", reasons[0] if reasons else "no queue takes it"
            return
        job.queues = [queue for queue, reason in zip(job.queues, reasons, strict=True) if reason is None]
        job.runs_in = job.queues[0]
        self.queues.stand(job)
        too_many = [reason for queue in job.queues if (reason := self.limits.too_many(job, queue)) is not None]
        if too_many:
            job.state, job.reason = "rejected", too_many[0]
        elif (job.cancel is not None and job.cancel <= self.now) or self.hopeless(job):
            job.state, job.end = "cancelled", self.now
        else:
            job.state = "held"
            opens = self.gates.opens(job, self.now)
            if opens is not None and opens <= self.now:
                self.enqueue(job)

    def refuse(self, job: Job, queue: str | None) -> str | None:
        return (
            self.queues.refuse(job, queue) or self.ledger.refuse(job, queue) or self.limits.refuse_for_good(job, queue)
        )

    def hopeless(self, job: Job) -> bool:
        """Whether it cannot meet its deadline, where such jobs are not let in."""
        return self.drop_late and job.deadline is not None and self.now + job.requested > job.deadline

    def enqueue(self, job: Job) -> None:
        """The held job is eligible: it waits, unless its array has no place for it."""
        job.queued = self.now if job.queued is None else job.queued
        if not self.gates.takes(job):
            return
        job.state = "waiting"
        job.rank = job.order.rank(job, self.now)
        self.queue.append(job)
        self.islands[job.island].joined = True

    def leave(self, job: Job, state: str) -> None:
        """The job ends or is withdrawn; one that was held before its begin time concerns nobody."""
        before, job.state, job.end = job.state, state, self.now
        self.gates.leave(job)
        if before == "held":
            return
        (self.running if before == "running" else self.queue).remove(job)
        self.ledger.drop(job)
        for island in self.islands if self.licensed else [self.islands[job.island]]:
            island.changed = True

    # ---- what a pass asks and does

    def schedule(self) -> None:
        for job in self.queue:
            if job.order.dynamic:
                job.rank = job.order.rank(job, self.now)
        self.queue.sort(key=lambda job: (job.tier, job.rank))
        for island in self.islands:
            island.schedule()
        self.wake = self.next_admission()

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
        before = self.queue[: self.queue.index(job)]
        job.backfilled = any(
            other.island == job.island and (other.row in held or self.admitting(other)) for other in before
        )
        job.own_end = self.ledger.take(job, queue)
        self.queue.remove(job)
        self.running.append(job)
        job.state, job.start, job.runs_in = "running", self.now, queue
        job.expected_end = self.now + job.requested

    def reserve(self, job: Job) -> None:
        """Keep a place for the job in the queue that has one first; of equal ones the first that is tried."""
        queues = self.admitting(job)
        starts = [self.ledger.earliest(job, queue) for queue in queues]
        if starts:
            self.ledger.hold(job, queues[starts.index(min(starts))], min(starts))


def _make_ledger(site: _Site, cluster: Cluster, jobs: list[Job], seed: int) -> Any:
    layout = cluster.layout()
    if layout is None:
        if cluster.cores is None:
            raise InputError("the cluster has no size", value=cluster.name)
        return Pool(site, cluster.cores)
    name = "best-fit" if cluster.scheduler.place is None else cluster.scheduler.place.name
    if name not in PLACES:
        raise InputError("unknown placement", value=name, choices=PLACES)
    place = Place(name, layout.switches().tolist(), seed)
    plain = layout.plain and not layout.features() and all(queue.nodes is None for queue in cluster.queues.values())
    if plain and name != "topology" and not any(_asks_more(job) for job in jobs):
        return PlainNodes(site, layout, place)
    return Vectors(site, layout, place)


def _asks_more(job: Job) -> bool:
    """Whether it asks for what only nodes with several resources have; GPUs of nodes that tell none are not counted."""
    return any((job.exclusive, job.resources, job.licences)) or job.constraint is not None


def _outcome(job: Job) -> Outcome:
    run = None if job.start is None or job.end is None else job.end - job.start
    queue = job.queue if job.runs_in is None else job.runs_in
    return Outcome(
        job.job_id,
        job.row,
        queue,
        job.queued,
        job.start,
        job.end,
        "waiting" if job.state == "held" else job.state,
        job.reason,
        job.backfilled,
        write_shares(job.shares),
        run,
    )
