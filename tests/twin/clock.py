"""The clock of the slow twin: what happens at one instant, in order, on one cluster or on several.

At one instant: ends; kills at the limit and outlived estimates; cancellations; patience and deadlines that end; ends of
grace; failures and edges of reservations; releases of held jobs; arrivals. Then the global scheduler, where there is
one, and a pass on every cluster that has a reason for one. That is repeated while something is due at this same
instant, as is a job of no length that a pass has just started.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from twin.brokering import GlobalScheduler
from twin.courses import CHANCES, MOST
from twin.gates import Gates
from twin.jobs import Job, read_jobs
from twin.site import Site, in_turn
from twin.users import Users
from walltime.core.errors import EngineError, InputError
from walltime.core.time import NEVER, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Scenario

PRESENT = ("held", "waiting", "running", "suspended", "paused")


@dataclass(frozen=True)
class Date:
    """What the workload says in advance about a job: that it is submitted, withdrawn, or given up unless it started."""

    time: int
    kind: str  # submit, cancel, expire
    job: Job

    @property
    def stands(self) -> bool:
        """Whether it still concerns the job."""
        if self.kind == "submit":
            return self.job.state == "future"
        if self.kind == "cancel":
            return self.job.state in ("future", *PRESENT)
        return self.job.state in ("future", "held", "waiting") and self.job.start is None


class Clock:
    """The jobs, the clusters, and what the scenario says of all of them."""

    def __init__(self, scenario: Scenario, workload: Workload) -> None:
        self.now = 0
        self.unseen = 0  # the first instant whose edges of reservations have not been seen
        self.idle = self.active = 0  # changes of the machine since something last happened to a job, and when that was
        self.seed = scenario.seed
        self.until = None if scenario.until is None else microseconds(scenario.until)
        self.model = scenario.execution.model
        self.extend = scenario.execution.overrun == "extend"
        self.overtime = microseconds(scenario.execution.overtime)
        self.limit_check = microseconds(scenario.execution.limit_check or 0)
        self.checkpoint = scenario.execution.checkpoint
        self.drop_late = scenario.deadlines == "cancel"
        reacting = None if scenario.users is None or scenario.users.mode == "replay" else scenario.users
        self.jobs = read_jobs(workload, self.until if reacting is None else None)
        self.users = None if reacting is None else Users(workload, self.jobs, reacting, scenario.seed)
        if self.extend and self.until is None:
            _refuse_endless(self.jobs)
        self.gates = Gates(workload, self.jobs, scenario.dependencies.never, scenario.dependencies.preceding)
        self.held: list[Job] = []
        self.sites = [Site(self, number, cluster) for number, cluster in enumerate(scenario.clusters)]
        self.above: GlobalScheduler | None = None
        if scenario.broker is not None or len(self.sites) > 1:
            self.above = GlobalScheduler(self, scenario)
        else:
            for job in self.jobs:
                self.sites[0].adopt(job)
        self.dates: list[Date] = []  # the last first
        if self.users is None:
            self.note(date for job in self.jobs for date in (Date(job.submit, "submit", job), *self.dates_of(job)))

    def note(self, dates: Iterable[Date]) -> None:
        self.dates = sorted([*self.dates, *dates], key=lambda date: (-date.time, -date.job.turn))

    def dates_of(self, job: Job) -> list[Date]:
        """What will happen to the job at times that are known when it is submitted."""
        dates = []
        if job.cancel is not None and job.cancel > job.submit:
            dates.append(Date(job.cancel, "cancel", job))
        patience = self.gates.cards[job.row].patience
        if patience is not None:
            dates.append(Date(job.submit + patience, "expire", job))
        if self.drop_late and job.deadline is not None and not self.is_late(job, job.submit):
            dates.append(Date(job.deadline - job.requested + 1, "expire", job))
        return dates

    # ---- from instant to instant

    def run(self) -> None:
        """In order of time, up to and including `until`."""
        while times := self.times():
            wakes = [site.wakes() for site in self.sites]
            self.now = min(times)
            if self.until is not None and self.now > self.until:
                return
            self.fire()
            self.unseen = self.now + 1
            self.accrue()
            if self.above is not None:
                self.above.act()
            for site, due in zip(self.sites, wakes, strict=True):
                site.schedule(woken=self.now in due)
            self.accrue()
        stuck = [job for site in self.sites for job in site.queue if not site.is_hopeless(job)]
        if stuck and self.idle <= CHANCES:
            raise EngineError(f"job {stuck[0].job_id} waits for ever")

    def accrue(self) -> None:
        for site in self.sites:
            site.accrue()

    def times(self) -> list[int]:
        """When something happens next: to a job by the passing of time alone, or to the machine."""
        while self.dates and not self.dates[-1].stands:
            self.dates.pop()
        times = [date.time for date in self.dates[-1:]] + self.releases()
        times += [] if self.above is None else self.above.times()
        times += [] if self.users is None else [time for time, _, _ in self.users.due()[:1]]
        for site in self.sites:
            times += site.dues() + site.wakes() + site.ticks()
        return times + self.disruptions()

    def releases(self) -> list[int]:
        """When held jobs are let in, or cancelled because they never can be."""
        times = [self.gates.opens(job, self.now) for job in self.held]
        known = [time for time in times if time is not None and not (time == NEVER and self.gates.stay)]
        return [self.now if time == NEVER else max(time, self.now) for time in known]

    def disruptions(self) -> list[int]:
        """When the machine changes, as long as that could start or end a job.

        Something is to happen to a job by itself, unless it runs only to be interrupted as so often before; or it waits
        where it may still be let in. The latter is believed for a while: for `CHANCES` changes of the machine, all that
        will end of itself, and twice the longest pause between reservations that go on for ever; but for no more than
        `MOST` changes.
        """
        all_outages = [site.outages for site in self.sites]
        if not any(outages.bookings or outages.failing for outages in all_outages):
            return []
        changes = [time for outages in all_outages for time in outages.next()]
        concerned = [date.job for date in self.dates if date.stands]
        concerned += [job for site in self.sites for job in (*site.running, *(one for _, one in site.paused))]
        vain = ("running", "paused")
        if self.releases() or any(not (job.state in vain and job.course.is_fruitless) for job in concerned):
            self.idle, self.active = 0, self.now
            return changes
        waiting = [job for site in self.sites for job in site.jobs if job.state in ("waiting", "suspended")]
        self.idle += 1
        if any(outages.will_end(self.now) for outages in all_outages):
            self.active = self.now
        longest = max(outages.longest_pause() for outages in all_outages)
        if self.idle > CHANCES and self.now - self.active > 2 * longest:
            return []
        if self.idle > MOST:
            return []
        return changes if any(job.site is None or not job.site.is_hopeless(job) for job in waiting) else []

    def fire(self) -> None:
        """Everything that is due now."""
        due = list(takewhile(lambda date: date.time <= self.now, reversed(self.dates)))
        for site in self.sites:
            site.end_jobs()
        for kind in ("cancel", "expire"):
            for date in due:
                if date.kind == kind and date.stands and date.job.state != "future":
                    self.withdraw(date.job)
        for site in self.sites:
            site.end_grace()
        for site in self.sites:
            site.outages.fire()
        for site in self.sites:
            site.end_pauses()
        self.release()
        for date in due:
            if date.kind == "submit" and date.stands:
                self.arrive(date.job)
        while self.users is not None and (coming := self.users.due()[:1]) and coming[0][0] <= self.now:
            self.submit(coming[0][2], self.users)

    def submit(self, job: Job, users: Users) -> None:
        """A user submits the job now; its own times keep their distance from the submission."""
        later = self.now - job.submit
        job.turn, job.submit = len(users.came), self.now
        for name in ("begin", "cancel", "deadline"):
            if getattr(job, name) is not None:
                setattr(job, name, getattr(job, name) + later)
        users.came[job.row] = self.now
        self.note(self.dates_of(job))
        self.arrive(job)

    # ---- the way in

    def arrive(self, job: Job) -> None:
        """Reject the job, or hold it until it is eligible."""
        job.reason = self.sites[0].reject(job) if self.above is None else self.above.reject(job)
        if job.reason is not None:
            job.state = "rejected"
        elif (job.cancel is not None and job.cancel <= self.now) or self.is_late(job, self.now):
            job.state, job.end = "cancelled", self.now
        else:
            job.state = "held"
            self.held.append(job)
            opens = self.gates.opens(job, self.now)
            if opens is not None and opens <= self.now:
                self.let_in(job)

    def is_late(self, job: Job, now: int) -> bool:
        """Whether it cannot meet its deadline, where such jobs are not let in."""
        return self.drop_late and job.deadline is not None and now + job.requested > job.deadline

    def release(self) -> None:
        """Held jobs that never can be let in are cancelled, one by one; then those whose time has come wait."""
        held = in_turn(self.held)
        while doomed := [job for job in held if self.gates.opens(job, self.now) == NEVER and not self.gates.stay]:
            held.remove(doomed[0])
            self.withdraw(doomed[0])
        for job in held:
            opens = self.gates.opens(job, self.now)
            if opens is not None and opens <= self.now:
                self.let_in(job)

    def let_in(self, job: Job) -> None:
        """The held job is eligible: it waits, unless its array has no place."""
        job.queued = self.gates.since(job, self.now) if job.queued is None else job.queued
        if not self.gates.takes(job):
            return
        self.held.remove(job)
        if self.above is not None:
            self.above.wait(job)
        elif job.site is not None:
            job.site.enqueue(job)

    def withdraw(self, job: Job) -> None:
        """The job is cancelled, wherever it is."""
        if job.state == "held":
            self.held.remove(job)
        if job.site is not None:
            job.site.leave(job, "cancelled")
            return
        if self.above is not None:
            self.above.forget(job)
        job.state, job.end = "cancelled", self.now
        self.gates.leave(job)


def _refuse_endless(jobs: list[Job]) -> None:
    for job in jobs:
        if job.run_time is None and job.cancel is None:
            raise InputError(f"job {job.job_id}: without run_time, cancel, limit or until it would run for ever")
