"""The slow, obvious twin of the engine: plain Python, one screen for each rule, kept to check the fast one.

It shares no code with the compiled engine. Where the two differ, one of them is wrong; this one is short enough to be
judged by reading it. A job is an object, the queue and the running jobs are lists, and every question is answered by
looking at all of them.

At one instant the events come in this order: ends; kills at the limit and outrun estimates; cancellations; begin times;
arrivals. Then the scheduler makes one pass, if anything happened. That is repeated while a job is due at this same
instant, as is one of zero length that the pass has just started.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from walltime.core.errors import EngineError, InputError
from walltime.core.time import SECOND
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

    `eligible` is the later of submission and begin time, also where the job did not live to see it. `run` is the time
    from the start to the end, or to the cut-off where it still runs then; None for a job that did not start.
    """

    job_id: int
    row: int
    eligible: int
    start: int | None
    end: int | None
    state: str
    backfilled: bool
    run: int | None


def simulate(
    workload: Workload, cores: int, policy: str = "easy", overrun: str = "kill", until: int | None = None
) -> list[Outcome]:
    """The schedule of the workload on a machine of so many cores: an Outcome for each row, in row order.

    `policy` is fcfs, easy or aggressive. `overrun` says what happens to a job that runs longer than it asked: kill, or
    extend. `until` (microseconds) is the last instant that is simulated; jobs submitted after it are left out.
    """
    if policy not in PASSES:
        raise InputError("unknown policy", value=policy, choices=PASSES)
    if overrun not in ("kill", "extend"):
        raise InputError("unknown overrun", value=overrun, choices=("kill", "extend"))
    jobs = _read_jobs(workload, until)
    if overrun == "extend" and until is None:
        _refuse_endless(jobs)
    _Simulation(jobs, cores, PASSES[policy], overrun == "kill").run(until)
    return [_outcome(job, until) for job in jobs]


@dataclass(eq=False)
class _Job:
    """One job: what the trace says, and what the simulation has made of it so far."""

    row: int
    job_id: int
    submit: int
    cores: int
    requested: int
    run_time: int | None
    begin: int | None
    cancel: int | None
    state: str = "future"
    start: int | None = None
    end: int | None = None
    expected_end: int = 0
    corrections: int = 0
    backfilled: bool = False

    @property
    def eligible(self) -> int:
        return self.submit if self.begin is None else max(self.submit, self.begin)

    @property
    def own_end(self) -> int | None:
        """When a started job ends by itself, unless something else ends it first."""
        return None if self.run_time is None or self.start is None else self.start + self.run_time


class _Simulation:
    """The machine, its queue, and the clock."""

    def __init__(self, jobs: list[_Job], cores: int, schedule: Callable[[_Simulation], None], kill: bool) -> None:
        self.jobs = jobs
        self.cores = cores
        self.free = cores
        self.schedule = schedule
        self.kill = kill
        self.now = 0
        self.queue: list[_Job] = []  # waiting, in queue order
        self.running: list[_Job] = []
        # What the trace fixes in advance: who is concerned at which instant, in row order.
        self.cancellations: dict[int, list[_Job]] = defaultdict(list)
        self.releases: dict[int, list[_Job]] = defaultdict(list)
        self.arrivals: dict[int, list[_Job]] = defaultdict(list)
        for job in jobs:
            self.arrivals[job.submit].append(job)
            if job.eligible > job.submit:
                self.releases[job.eligible].append(job)
            if job.cancel is not None and job.cancel > job.submit:
                self.cancellations[job.cancel].append(job)

    def run(self, until: int | None) -> None:
        """Go from instant to instant, in order of time, up to and including `until`."""
        fixed = sorted(self.cancellations.keys() | self.releases.keys() | self.arrivals.keys(), reverse=True)
        while fixed or self.running:
            due = [self.due(job) for job in self.running]
            self.now = min(due + fixed[-1:])
            if until is not None and self.now > until:
                return
            if fixed and fixed[-1] == self.now:
                fixed.pop()
            if self.fire():
                self.schedule(self)

    def due(self, job: _Job) -> int:
        """When something happens next to a running job by the passing of time alone."""
        return job.expected_end if job.own_end is None else min(job.own_end, job.expected_end)

    def fire(self) -> bool:
        """Everything that is due now, in the order of the rules; whether anything happened."""
        happened = False
        for job in list(self.running):
            if job.own_end == self.now:
                self.finish(job, "completed")
                happened = True
        for job in list(self.running):
            if job.expected_end == self.now:
                if self.kill:
                    self.finish(job, "timeout")
                else:
                    self.correct(job)
                happened = True
        for job in self.cancellations.pop(self.now, ()):
            happened |= self.cancel(job)
        for job in self.releases.pop(self.now, ()):
            if job.state == "held":
                self.enqueue(job)
                happened = True
        for job in self.arrivals.pop(self.now, ()):
            self.arrive(job)
            happened = True
        return happened

    def arrive(self, job: _Job) -> None:
        if job.cores > self.cores:
            job.state = "rejected"
        elif job.cancel is not None and job.cancel <= job.submit:
            job.state, job.end = "cancelled", self.now
        elif job.eligible > self.now:
            job.state = "held"
        else:
            self.enqueue(job)

    def enqueue(self, job: _Job) -> None:
        job.state = "waiting"
        insort(self.queue, job, key=lambda waiting: (waiting.eligible, waiting.row))

    def start(self, job: _Job, backfilled: bool = False) -> None:
        self.queue.remove(job)
        self.running.append(job)
        self.free -= job.cores
        job.state, job.start, job.backfilled = "running", self.now, backfilled
        job.expected_end = self.now + job.requested

    def finish(self, job: _Job, state: str) -> None:
        self.running.remove(job)
        self.free += job.cores
        job.state, job.end = state, self.now

    def correct(self, job: _Job) -> None:
        """The job has outrun its expected end: expect it later, by more each time."""
        job.expected_end += INCREMENTS[min(job.corrections, len(INCREMENTS) - 1)]
        job.corrections += 1

    def cancel(self, job: _Job) -> bool:
        if job.state == "running":
            self.finish(job, "cancelled")
        elif job.state in ("held", "waiting"):
            if job.state == "waiting":
                self.queue.remove(job)
            job.state, job.end = "cancelled", self.now
        else:
            return False
        return True


def _schedule_fcfs(machine: _Simulation) -> None:
    """Start the head of the queue while it fits."""
    while machine.queue and machine.queue[0].cores <= machine.free:
        machine.start(machine.queue[0])


def _schedule_aggressive(machine: _Simulation) -> None:
    """Start whatever fits, in queue order; nobody's place is kept."""
    overtaking = False
    for job in list(machine.queue):
        if job.cores <= machine.free:
            machine.start(job, backfilled=overtaking)
        else:
            overtaking = True


def _schedule_easy(machine: _Simulation) -> None:
    """Start heads while they fit; then whoever does not delay the blocked head, as far as the requests tell."""
    _schedule_fcfs(machine)
    if not machine.queue:
        return
    shadow, extra = _reserve(machine, machine.queue[0])
    for job in machine.queue[1:]:
        if job.cores > machine.free:
            continue
        in_time = machine.now + job.requested <= shadow
        if in_time or job.cores <= extra:
            machine.start(job, backfilled=True)
            if not in_time:
                extra -= job.cores


def _reserve(machine: _Simulation, head: _Job) -> tuple[int, int]:
    """When the blocked head can start at the latest, and how many cores it leaves free then."""
    free = machine.free
    in_order = sorted(machine.running, key=lambda job: job.expected_end)
    for time, ending in groupby(in_order, key=lambda job: job.expected_end):
        free += sum(job.cores for job in ending)
        if free >= head.cores:
            return time, free - head.cores
    raise EngineError(f"job {head.job_id} does not fit the empty machine")


PASSES: dict[str, Callable[[_Simulation], None]] = {
    "fcfs": _schedule_fcfs,
    "easy": _schedule_easy,
    "aggressive": _schedule_aggressive,
}
"""The scheduling pass of each policy."""


def _read_jobs(workload: Workload, until: int | None) -> list[_Job]:
    """The rows submitted by `until`, as plain Python integers."""
    names = ("job_id", "submit", "cores", "requested_time", "run_time", "begin", "cancel")
    rows = zip(*(workload.column(name).tolist() for name in names), strict=True)
    jobs = []
    for row, (job_id, submit, cores, requested, run_time, begin, cancel) in enumerate(rows):
        if requested == MISSING:
            raise InputError(f"job {job_id}: requested_time is missing")
        if until is None or submit <= until:
            jobs.append(_Job(row, job_id, submit, cores, requested, _known(run_time), _known(begin), _known(cancel)))
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
    return Outcome(job.job_id, job.row, job.eligible, job.start, job.end, state, job.backfilled, run)
