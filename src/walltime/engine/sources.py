"""The engine's own sources of events: time limits, cancellations, deadlines, releases, timers."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import GONE as _GONE
from walltime.kernel.source import Engine, Moment, Source

NEVER = cython.declare(cython.longlong, _NEVER)
GONE = cython.declare(cython.longlong, _GONE)

if not cython.compiled:
    HELD, COMPLETED, TIMEOUT = State.HELD, State.COMPLETED, State.TIMEOUT
    ENTERED, MOVED, OUTLIVES = Moment.ENTERED, Moment.MOVED, Moment.OUTLIVES

BY_USER = "by its user"
TOO_LATE = "a deadline that cannot be met"

CORRECTIONS = tuple(
    minutes * 60 * SECOND for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, *(6000 << k for k in range(21)))
)
"""By how much the expected end of a job that outlives it grows, each time; after 100 hours, twice as much each time.
Tsafrir, Etsion, Feitelson, "Backfilling using system-generated predictions", IEEE TPDS 18(6), 2007."""


@cython.cclass
class Planned(Source):
    """Something that will happen to a job at a known time, unless the job is gone or on another attempt by then."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()
        self.asleep = True  # most runs have nothing of this kind

    def plan(self, slot, time):
        """Have it happen to the job at that time."""
        if self.asleep:
            self.awaken()
        jobs: JobTable = self.engine.jobs
        self.due.push(time, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
        self.next = self.due.first
        return 0

    def fire(self, now):
        while self.due.first <= now:
            self.due.pop()
            if self.is_meant(self.due.slot):
                self.happen(self.due.slot, now)
                if self.engine.per_event:
                    break
        self.next = self.due.first

    def forget(self):
        """Leave out what is next while it is meant for a job that is gone."""
        due: EventHeap = self.due
        while due.size > 0:
            due.pop()
            if self.is_meant(due.slot):
                due.push(due.time, due.seq, due.slot, due.stamp)
                break
        self.next = due.first
        return 0

    def is_meant(self, slot):
        """Whether the event that was just taken from `due` is for the job that has the slot now, on this attempt."""
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].stamp == self.due.stamp

    def happen(self, slot, now):
        """Make it happen to the job in the slot."""
        raise NotImplementedError(f"{type(self).__name__}.happen")


@cython.final
@cython.cclass
class Notices(Planned):
    """Running jobs that were told to leave: at its time each is made to go by the preemptor of its scheduling domain.

    `homes` are the preemptors, by cluster and domain; they are told of every transition of their jobs.
    """

    def __init__(self) -> None:
        Planned.__init__(self)
        self.to_running = True
        self.times = {}  # by slot: for which stamp, and when
        self.homes = {}

    def add(self, cluster, domain, preemptor) -> None:
        """One more preemptor."""
        self.homes[cluster, domain] = preemptor
        self.hears = MOVED

    def give(self, slot, time) -> None:
        """The running job is told to leave at `time` at the latest."""
        if time < self.engine.jobs.at[slot].expected_end:
            self.engine.ledger_for(slot).prolong(slot, time)
        self.plan(slot, time)

    def plan(self, slot, time):
        self.times[slot] = (self.engine.jobs.at[slot].stamp, time)
        return Planned.plan(self, slot, time)

    def leave_time(self, slot):
        """When the running job has to leave; NEVER where it was not told to."""
        told = self.times.get(slot)
        if told is None:  # in a run without preemption always
            return NEVER
        stamp, time = told
        return time if stamp == self.engine.jobs.at[slot].stamp else NEVER

    def happen(self, slot, now):
        jobs: JobTable = self.engine.jobs
        self.homes[jobs.at[slot].cluster, jobs.at[slot].domain].displace(slot)
        return 0

    def moved(self, slot, before, after):
        jobs: JobTable = self.engine.jobs
        home = self.homes.get((jobs.at[slot].cluster, jobs.at[slot].domain))
        if home is not None:
            home.moved(slot, before, after)
        return 0


@cython.final
@cython.cclass
class TimeLimits(Planned):
    """Kills at the limit, and corrects expected ends that are outrun. Only jobs that will reach one have a timer."""

    def __init__(self, notices: Notices) -> None:
        Planned.__init__(self)
        self.notices = notices
        self.hears = OUTLIVES
        self.to_running = True

    def outlives(self, slot):
        """Keep a timer for a job that runs or was corrected, where it will need one."""
        jobs: JobTable = self.engine.jobs
        time: cython.longlong = self.engine.kill_time(slot)
        if jobs.at[slot].expected_end < time:
            time = jobs.at[slot].expected_end
        return self.plan(slot, time) if jobs.at[slot].known_end > time else 0

    def happen(self, slot, now):
        engine: Engine = self.engine
        if now >= engine.kill_time(slot):
            engine.finish(slot, TIMEOUT)
        elif now < self.notices.leave_time(slot):
            self.correct(slot)
            self.outlives(slot)
        return 0

    def correct(self, slot):
        """The job has outlived its expected end: the scheduler sees a later one, never beyond the limit."""
        jobs: JobTable = self.engine.jobs
        step: cython.Py_ssize_t = jobs.at[slot].corrections
        until: cython.longlong = jobs.at[slot].expected_end
        until += CORRECTIONS[min(step, len(CORRECTIONS) - 1)]
        until = min(until, self.engine.kill_time(slot), self.notices.leave_time(slot))
        self.engine.prolong(slot, until)
        jobs.at[slot].corrections = step + 1
        return 0


@cython.final
@cython.cclass
class Cancellations(Planned):
    """Users who withdraw their jobs, waiting or running, on whatever attempt."""

    def __init__(self) -> None:
        Planned.__init__(self)
        self.told = -1

    def tell(self, time):
        """When the next job that enters is withdrawn; -1 for never."""
        self.told = time
        if time >= 0 and self.hears == 0:  # most runs have no such job
            self.hears = ENTERED
            self.engine.listen_again()
        return 0

    def entered(self, slot, begin):
        engine: Engine = self.engine
        time: cython.longlong = self.told
        self.told = -1
        if time < 0:
            return begin
        if time > engine.now:
            self.plan(slot, time)
            return begin
        engine.move(slot, HELD)
        engine.withdraw(slot, BY_USER)
        return GONE

    def is_meant(self, slot):
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].seq == self.due.seq and jobs.at[slot].state < COMPLETED

    def happen(self, slot, now):
        return self.engine.withdraw(slot, BY_USER)


@cython.cclass
class Expiries(Planned):
    """Jobs that are cancelled, for the reason given, unless they have started by then."""

    def __init__(self, reason) -> None:
        Planned.__init__(self)
        self.reason = reason

    def is_meant(self, slot):
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].seq == self.due.seq and jobs.at[slot].first_start < 0 and jobs.at[slot].state < COMPLETED

    def happen(self, slot, now):
        return self.engine.withdraw(slot, self.reason)


@cython.final
@cython.cclass
class Deadlines(Expiries):
    """Jobs that can no longer meet their deadline are cancelled."""

    def __init__(self) -> None:
        Expiries.__init__(self, TOO_LATE)
        self.hears = ENTERED

    def entered(self, slot, begin):
        engine: Engine = self.engine
        deadline: cython.longlong = engine.jobs.at[slot].deadline
        if deadline < 0:
            return begin
        if engine.now + engine.jobs.at[slot].requested > deadline:
            engine.move(slot, HELD)
            engine.withdraw(slot, TOO_LATE)
            return GONE
        self.plan(slot, deadline - engine.jobs.at[slot].requested + 1)
        return begin


@cython.final
@cython.cclass
class Releases(Planned):
    """Held jobs that are let in at a time: their begin time, or that of what they wait for."""

    def is_meant(self, slot):
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].stamp == self.due.stamp and jobs.at[slot].state == HELD

    def happen(self, slot, now):
        return self.engine.admit(slot)


@cython.final
@cython.cclass
class Returns(Planned):
    """Jobs that were put back, and wait again after a pause."""

    def __init__(self) -> None:
        Planned.__init__(self)
        self.to_running = True

    def happen(self, slot, now):
        return self.engine.rejoin(slot)


@cython.cclass
class Timers(Source):
    """Passes that were asked for; they keep no simulation alive."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.background = self.endless = True
        self.due = EventHeap()
        self.asleep = True

    def plan(self, cluster, time):
        """A pass of the cluster at that time."""
        if self.asleep:
            self.awaken()
        self.due.push(time, cluster, cluster, 0)
        self.next = self.due.first
        return 0

    def fire(self, now):
        while self.due.first <= now:
            self.due.pop()
            self.engine.wake(self.due.slot)
        self.next = self.due.first


@cython.final
@cython.cclass
class Openings(Timers):
    """In each cluster, the time at which a limit on core-minutes lets a job in with nothing else happening: one time,
    as it was told last."""

    def __init__(self) -> None:
        Timers.__init__(self)
        self.times = {}

    def plan(self, cluster, time):
        """Wake the cluster's scheduler at that time, and not when it was told before; NEVER for not at all."""
        if self.asleep:
            self.awaken()
        if time >= NEVER:
            self.times.pop(cluster, None)
        else:
            self.times[cluster] = time
        self.next = min(self.times.values(), default=NEVER)
        return 0

    def fire(self, now):
        for cluster in sorted(self.times):
            if self.times[cluster] <= now:
                self.plan(cluster, NEVER)
                self.engine.wake(cluster)
