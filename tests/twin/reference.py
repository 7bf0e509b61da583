"""The slow, obvious twin of the engine: plain Python, one screen for each rule, kept to check the fast one.

It shares no code with the compiled engine. Where the two differ, one of them is wrong; this one is short enough to be
judged by reading it. A job is an object, the queue and the running jobs are lists, and every question is answered by
looking at all of them. Orders and estimates are in `reference_parts`, the rules of backfilling in `reference_passes`.

Who may not wait yet is in `reference_gates`.

At one instant the events come in this order: ends; kills at the limit and outrun estimates; cancellations; releases of
held jobs; arrivals. Then the scheduler makes one pass, if the queue or the machine has changed. That is repeated while
a job is due at this same instant, as is one of zero length that the pass has just started.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from twin.reference_gates import Gates
from twin.reference_parts import Estimate, Order
from twin.reference_passes import Backfill
from twin.reference_users import Users
from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import MISSING, Workload

MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
INCREMENTS = (
    1 * MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    1 * HOUR,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    20 * HOUR,
    50 * HOUR,
    100 * HOUR,
)
"""By how much the expected end of a job moves when it is outrun the first, second, ... time; the last one repeats."""


@dataclass(frozen=True)
class Outcome:
    """What became of one job, in microseconds; None where it does not apply.

    `eligible` is when it began to wait, None where it never did (rejected, or cancelled before). `run` is the time
    from the start to the end, or to the cut-off where it still runs then; None for a job that did not start.
    """

    job_id: int
    row: int
    eligible: int | None
    start: int | None
    end: int | None
    state: str
    backfilled: bool
    run: int | None


POLICIES = {
    "fcfs": {"backfill": "none"},
    "easy": {"backfill": "easy"},
    "aggressive": {"backfill": "aggressive"},
    "conservative": {"backfill": "conservative"},
}
"""Schedulers with a name; any other is given by its parts."""


def simulate(
    workload: Workload,
    cores: int,
    policy: str | Mapping[str, Any] = "easy",
    overrun: str = "kill",
    until: int | None = None,
    never: str = "cancel",
    preceding: bool = False,
    deadlines: str = "keep",
    users: Mapping[str, Any] | None = None,
) -> list[Outcome]:
    """The schedule of the workload on a machine of so many cores: an Outcome for each row, in row order.

    `policy` is fcfs, easy or aggressive, or a mapping of a scheduler's parts (order, backfill, estimate) as a scenario
    has it. `overrun` says what happens to a job that runs longer than it asked: kill, or extend. `until` (microseconds)
    is the last instant that is simulated; jobs submitted after it are left out. `never`, `preceding` and `deadlines`
    are the scenario's keys of dependencies and deadlines; `users` those of users who react, None where they do not.
    Then jobs that are never submitted are left out, and the others come in order of entry.
    """
    if isinstance(policy, str) and policy not in POLICIES:
        raise InputError("unknown policy", value=policy, choices=POLICIES)
    if overrun not in ("kill", "extend"):
        raise InputError("unknown overrun", value=overrun, choices=("kill", "extend"))
    jobs = _read_jobs(workload, until if users is None else None)
    if overrun == "extend" and until is None:
        _refuse_endless(jobs)
    parts = POLICIES[policy] if isinstance(policy, str) else policy
    gates = Gates(workload, jobs, never, preceding)
    people = None if users is None else Users(workload, jobs, users)
    _Simulation(jobs, cores, parts, overrun == "kill", gates, deadlines == "cancel", people).run(until)
    if people is not None:
        jobs = sorted((job for job in jobs if job.row in people.came), key=lambda job: job.turn)
    return [_outcome(job, until) for job in jobs]


@dataclass(eq=False)
class _Job:
    """One job: what the trace says, and what the simulation has made of it so far."""

    row: int
    job_id: int
    submit: int
    cores: int
    requested: int
    priority: int
    run_time: int | None
    begin: int | None
    cancel: int | None
    user: int | None
    nodes: int | None
    deadline: int | None
    state: str = "future"
    queued: int | None = None
    start: int | None = None
    end: int | None = None
    estimate: int = 0
    rank: Any = None
    promise: int | None = None
    expected_end: int = 0
    corrections: int = 0
    backfilled: bool = False
    turn: int = 0  # in the order of entry

    @property
    def eligible(self) -> int:
        return self.submit if self.queued is None else self.queued

    @property
    def own_end(self) -> int | None:
        """When a started job ends by itself, unless something else ends it first."""
        return None if self.run_time is None or self.start is None else self.start + self.run_time


class _Simulation:
    """The machine, its queue, and the clock."""

    def __init__(
        self,
        jobs: list[_Job],
        cores: int,
        parts: Mapping[str, Any],
        kill: bool,
        gates: Gates,
        drop_late: bool,
        users: Users | None = None,
    ) -> None:
        self.jobs = jobs
        self.users = users
        self.entered = 0
        self.gates = gates
        self.held: list[_Job] = []
        self.drop_late = drop_late
        self.cores = cores
        self.free = cores
        self.order = Order(parts.get("order", "fcfs"))
        self.estimate = Estimate(parts.get("estimate", "request"), kill)
        self.backfill = Backfill(parts.get("backfill", "easy"))
        self.kill = kill
        self.now = 0
        self.changes: set[str] = set()  # what happened at this instant: ended, left, arrived, corrected
        self.queue: list[_Job] = []  # waiting, in queue order
        self.running: list[_Job] = []
        # What the trace fixes in advance: who is concerned at which instant, in row order.
        self.cancellations: dict[int, list[_Job]] = defaultdict(list)
        self.expiries: dict[int, list[_Job]] = defaultdict(list)
        self.arrivals: dict[int, list[_Job]] = defaultdict(list)
        for job in jobs if users is None else ():
            self.arrivals[job.submit].append(job)
            self.foresee(job)

    def foresee(self, job: _Job) -> None:
        """What will happen to the job at times that are known when it is submitted."""
        patience = self.gates.cards[job.row].patience
        if patience is not None:
            self.expiries[job.submit + patience].append(job)
        if self.drop_late and job.deadline is not None and job.deadline >= job.submit + job.requested:
            self.expiries[job.deadline - job.requested + 1].append(job)
        if job.cancel is not None and job.cancel > job.submit:
            self.cancellations[job.cancel].append(job)

    def run(self, until: int | None) -> None:
        """Go from instant to instant, in order of time, up to and including `until`."""
        fixed = self.foreseen()
        while True:
            due = [self.due(job) for job in self.running] + self.releases() + self.promises() + fixed[-1:]
            if self.users is not None:
                due += self.foreseen()[-1:] + [time for time, _, _ in self.users.due()[:1]]
            if not due:
                return
            self.now = min(due)
            if until is not None and self.now > until:
                return
            if fixed and fixed[-1] == self.now:
                fixed.pop()
            self.fire()
            if self.changes or any(job.promise == self.now for job in self.queue):
                self.schedule()
                self.changes.clear()

    def foreseen(self) -> list[int]:
        """The instants that are known of the jobs so far, the last first."""
        return sorted(self.cancellations.keys() | self.expiries.keys() | self.arrivals.keys(), reverse=True)

    def releases(self) -> list[int]:
        """When held jobs are let in, or cancelled because they never can be."""
        times = [self.gates.opens(job, self.now) for job in self.held]
        known = [time for time in times if time is not None and not (time == NEVER and self.gates.stay)]
        return [self.now if time == NEVER else max(time, self.now) for time in known]

    def promises(self) -> list[int]:
        """The starts that waiting jobs have been promised, where the rule promises any."""
        return [job.promise for job in self.queue if job.promise is not None and job.promise > self.now]

    def schedule(self) -> None:
        """One pass, over a queue whose order may have changed with time."""
        if self.order.dynamic:
            for job in self.queue:
                job.rank = self.rank(job)
            self.queue.sort(key=lambda waiting: waiting.rank)
        self.backfill.schedule(self)

    def due(self, job: _Job) -> int:
        """When something happens next to a running job by the passing of time alone."""
        times = (job.own_end, job.expected_end, self.limit(job))
        return min(time for time in times if time is not None)

    def limit(self, job: _Job) -> int | None:
        """When a started job is killed."""
        return job.start + job.requested if self.kill and job.start is not None else None

    def fire(self) -> None:
        """Everything that is due now, in the order of the rules; `changes` collects what the scheduler must know."""
        for job in sorted(self.running, key=lambda job: job.turn):
            if job.own_end == self.now:
                self.finish(job, "completed")
        for job in sorted(self.running, key=lambda job: job.turn):
            if self.limit(job) == self.now:
                self.finish(job, "timeout")
            elif job.expected_end == self.now:
                self.correct(job)
        for job in self.cancellations.pop(self.now, ()):
            self.cancel(job)
        for job in self.expiries.pop(self.now, ()):
            if job.start is None:
                self.cancel(job)
        self.release()
        for job in self.arrivals.pop(self.now, ()):
            self.arrive(job)
        while self.users is not None and (coming := self.users.due()[:1]) and coming[0][0] <= self.now:
            self.submit(coming[0][2])

    def submit(self, job: _Job) -> None:
        """A user submits the job now; its own times keep their distance from the submission."""
        later = self.now - job.submit
        job.submit = self.now
        for name in ("begin", "cancel", "deadline"):
            if getattr(job, name) is not None:
                setattr(job, name, getattr(job, name) + later)
        assert self.users is not None
        self.users.came[job.row] = self.now
        self.foresee(job)
        self.arrive(job)

    def release(self) -> None:
        """Cancel the held jobs that never can be let in, and let in those whose time has come."""
        while doomed := [job for job in self.held if self.gates.opens(job, self.now) == NEVER and not self.gates.stay]:
            self.cancel(doomed[0])
        for job in sorted(self.held, key=lambda job: job.turn):
            time = self.gates.opens(job, self.now)
            if time is not None and time <= self.now:
                self.enqueue(job)

    def arrive(self, job: _Job) -> None:
        job.turn = self.entered
        self.entered += 1
        if job.cores > self.cores:
            job.state = "rejected"
        elif (job.cancel is not None and job.cancel <= job.submit) or self.hopeless(job):
            job.state, job.end = "cancelled", self.now
        else:
            job.state = "held"
            self.held.append(job)
            time = self.gates.opens(job, self.now)
            if time is not None and time <= self.now:
                self.enqueue(job)

    def hopeless(self, job: _Job) -> bool:
        """Whether it cannot meet its deadline, where such jobs are not let in."""
        return self.drop_late and job.deadline is not None and self.now + job.requested > job.deadline

    def enqueue(self, job: _Job) -> None:
        """The held job is eligible: it waits, unless its array has no place for it."""
        job.queued = self.gates.since(job, self.now) if job.queued is None else job.queued
        if not self.gates.takes(job):
            return
        self.held.remove(job)
        job.state = "waiting"
        job.estimate = self.estimate.of(job)
        job.rank = self.rank(job)
        insort(self.queue, job, key=lambda waiting: waiting.rank)
        self.changes.add("arrived")

    def rank(self, job: _Job) -> Any:
        """Where the job stands now; a workflow-aware task as its workflow."""
        return self.order.rank(self.gates.pilots.stand_in(job, self.estimate.of), self.now)

    def start(self, job: _Job, backfilled: bool = False) -> None:
        self.queue.remove(job)
        self.running.append(job)
        self.free -= job.cores
        job.state, job.start, job.backfilled = "running", self.now, backfilled
        job.expected_end = self.now + job.estimate

    def finish(self, job: _Job, state: str) -> None:
        self.running.remove(job)
        self.free += job.cores
        job.state, job.end = state, self.now
        self.gates.leave(job)
        self.changes.add("ended")
        if job.start is not None:
            self.estimate.ended(job, self.now - job.start)

    def correct(self, job: _Job) -> None:
        """The job has outrun its expected end: expect it later, by more each time, but not beyond its limit."""
        beyond = max(0, job.corrections - len(INCREMENTS) + 1)
        job.expected_end += INCREMENTS[min(job.corrections, len(INCREMENTS) - 1)] * 2**beyond
        limit = self.limit(job)
        if limit is not None and limit < job.expected_end:
            job.expected_end = limit
        job.corrections += 1
        self.changes.add("corrected")

    def cancel(self, job: _Job) -> None:
        if job.state == "running":
            self.finish(job, "cancelled")
        elif job.state == "held":
            self.held.remove(job)
            job.state, job.end = "cancelled", self.now
            self.gates.leave(job)
        elif job.state == "waiting":
            self.queue.remove(job)
            job.state, job.end = "cancelled", self.now
            self.gates.leave(job)
            self.changes.add("left")


def _read_jobs(workload: Workload, until: int | None) -> list[_Job]:
    """The rows submitted by `until`, as plain Python integers."""
    required = ("job_id", "submit", "cores", "requested_time", "priority")
    optional = ("run_time", "begin", "cancel", "user", "nodes", "deadline")
    rows = zip(*(workload.column(name).tolist() for name in required + optional), strict=True)
    jobs = []
    for row, (job_id, submit, cores, requested, priority, *others) in enumerate(rows):
        if requested == MISSING:
            raise InputError(f"job {job_id}: requested_time is missing")
        if until is None or submit <= until:
            run_time, begin, cancel, user, nodes, deadline = (_known(value) for value in others)
            jobs.append(
                _Job(row, job_id, submit, cores, requested, priority, run_time, begin, cancel, user, nodes, deadline)
            )
    return jobs


def _known(time: int) -> int | None:
    return None if time == MISSING else time


def _refuse_endless(jobs: list[_Job]) -> None:
    for job in jobs:
        if job.run_time is None and job.cancel is None:
            raise InputError(f"job {job.job_id}: without run_time, cancel, limit or until it would run for ever")


def _outcome(job: _Job, until: int | None) -> Outcome:
    last = until if job.end is None else job.end
    run = None if job.start is None or last is None else last - job.start
    state = "waiting" if job.state == "held" else job.state
    return Outcome(job.job_id, job.row, job.queued, job.start, job.end, state, job.backfilled, run)
