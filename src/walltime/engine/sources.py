"""The engine's own sources of events: limits, cancellations, begin times, timers."""

from __future__ import annotations

import cython

from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Engine, Source

if not cython.compiled:
    COMPLETED, TIMEOUT, CANCELLED = State.COMPLETED, State.TIMEOUT, State.CANCELLED


@cython.final
@cython.cclass
class Limits(Source):
    """Kills at the limit, and corrects expected ends that are outrun. Only jobs that will reach one have a timer."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()

    def watch(self, slot):
        """Keep a timer for a job that has started or was corrected, where it will need one."""
        jobs: JobTable = self.engine.jobs
        time: cython.longlong = self.engine.kill_time(slot)
        if jobs.at[slot].expected_end < time:
            time = jobs.at[slot].expected_end
        if jobs.at[slot].known_end > time:
            self.due.push(time, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
            self.next = self.due.next_time()
        return 0

    def fire(self, now):
        engine: Engine = self.engine
        slot: cython.Py_ssize_t
        while self.due.next_time() <= now:
            self.due.pop()
            slot = self.due.slot
            if engine.jobs.at[slot].stamp != self.due.stamp:
                continue
            if now >= engine.kill_time(slot):
                engine.finish(slot, TIMEOUT)
            else:
                engine.correct(slot)
                self.watch(slot)
            if engine.per_event:
                break
        self.next = self.due.next_time()
        return 0


@cython.final
@cython.cclass
class Cancellations(Source):
    """Users who withdraw their jobs, waiting or running."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()

    def plan(self, slot, time):
        """The job will be cancelled then, if it is still there."""
        self.due.push(time, self.engine.jobs.at[slot].seq, slot, 0)
        self.next = self.due.next_time()
        return 0

    def fire(self, now):
        slot: cython.Py_ssize_t
        while self.due.next_time() <= now:
            self.due.pop()
            slot = self.due.slot
            if self.engine.jobs.at[slot].seq != self.due.seq or self.engine.jobs.at[slot].state >= COMPLETED:
                continue  # the slot has another job now, or the job has ended
            self.engine.finish(slot, CANCELLED)
            if self.engine.per_event:
                break
        self.next = self.due.next_time()
        return 0


@cython.final
@cython.cclass
class Releases(Source):
    """Jobs that wait for their begin time."""

    def __init__(self) -> None:
        Source.__init__(self)
        self.due = EventHeap()

    def plan(self, slot, time):
        """The held job becomes eligible then."""
        self.due.push(time, self.engine.jobs.at[slot].seq, slot, self.engine.jobs.at[slot].stamp)
        self.next = self.due.next_time()
        return 0

    def fire(self, now):
        engine: Engine = self.engine
        while self.due.next_time() <= now:
            self.due.pop()
            if engine.jobs.at[self.due.slot].stamp == self.due.stamp:
                engine.admit(self.due.slot)
                if engine.per_event:
                    break
        self.next = self.due.next_time()
        return 0


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
        engine: Engine = self.engine
        while self.due.next_time() <= now:
            self.due.pop()
            engine.wake(self.due.slot)
        self.next = self.due.next_time()
        return 0
