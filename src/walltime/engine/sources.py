"""The engine's own sources of events: limits, cancellations, releases, timers."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Engine, Source

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    HELD, COMPLETED, TIMEOUT = State.HELD, State.COMPLETED, State.TIMEOUT


@cython.cclass
class Planned(Source):
    """Something that will happen to a job at a known time, unless the job is gone or on another attempt by then."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()

    def plan(self, slot, time):
        """Have it happen to the job at that time."""
        jobs: JobTable = self.engine.jobs
        self.due.push(time, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
        self.next = self.due.next_time()
        return 0

    def fire(self, now):
        while self.due.next_time() <= now:
            self.due.pop()
            if self.is_meant(self.due.slot):
                self.happen(self.due.slot, now)
                if self.engine.per_event:
                    break
        self.next = self.due.next_time()

    def forget(self):
        """Leave out what is next while it is meant for a job that is gone."""
        due: EventHeap = self.due
        while due.size > 0:
            due.pop()
            if self.is_meant(due.slot):
                due.push(due.time, due.seq, due.slot, due.stamp)
                break
        self.next = due.next_time()
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
class Interruptions(Planned):
    """Jobs that were told to leave, and whose time is up."""

    def __init__(self) -> None:
        Planned.__init__(self)
        self.times = {}  # by slot: for which stamp, and when

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
        self.engine.displace(slot)
        return 0


@cython.final
@cython.cclass
class Limits(Planned):
    """Kills at the limit, and corrects expected ends that are outrun. Only jobs that will reach one have a timer."""

    def __init__(self, interruptions: Interruptions) -> None:
        Planned.__init__(self)
        self.interruptions = interruptions

    def watch(self, slot):
        """Keep a timer for a job that has started or was corrected, where it will need one."""
        jobs: JobTable = self.engine.jobs
        time: cython.longlong = self.engine.kill_time(slot)
        if jobs.at[slot].expected_end < time:
            time = jobs.at[slot].expected_end
        return self.plan(slot, time) if jobs.at[slot].known_end > time else 0

    def happen(self, slot, now):
        engine: Engine = self.engine
        if now >= engine.kill_time(slot):
            engine.finish(slot, TIMEOUT)
        elif now < self.interruptions.leave_time(slot):
            engine.correct(slot)
            self.watch(slot)
        return 0


@cython.final
@cython.cclass
class Cancellations(Planned):
    """Users who withdraw their jobs, waiting or running, on whatever attempt."""

    def is_meant(self, slot):
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].seq == self.due.seq and jobs.at[slot].state < COMPLETED

    def happen(self, slot, now):
        return self.engine.withdraw(slot, "by its user")


@cython.final
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
class Releases(Planned):
    """Held jobs that are let in at a time: their begin time, or that of what they wait for."""

    def is_meant(self, slot):
        jobs: JobTable = self.engine.jobs
        return jobs.at[slot].stamp == self.due.stamp and jobs.at[slot].state == HELD

    def happen(self, slot, now):
        return self.engine.admit(slot)


@cython.final
@cython.cclass
class Openings(Source):
    """In each cluster, the time at which a limit on core-minutes lets a job in with nothing else happening: one time,
    as it was told last."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.times = {}

    def plan(self, cluster, time):
        """Wake the cluster's scheduler at that time, and not when it was told before; NEVER for not at all."""
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


@cython.final
@cython.cclass
class Timers(Source):
    """Passes that a policy asked for."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()

    def plan(self, cluster, time):
        """A pass of the cluster at that time."""
        self.due.push(time, cluster, cluster, 0)
        self.next = self.due.next_time()
        return 0

    def fire(self, now):
        while self.due.next_time() <= now:
            self.due.pop()
            self.engine.wake(self.due.slot)
        self.next = self.due.next_time()
