"""A started job runs for as long as its trace says."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.execution.model import Execution
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State, done_in, time_for

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    COMPLETED = State.COMPLETED


@cython.cclass
class TraceExecution(Execution):
    """Ends jobs after their recorded run time; one without (-1) runs until somebody stops it.

    The run time is the work at full speed: on nodes of another speed it takes longer or shorter, and `progress` counts
    the work that is done.
    """

    def __init__(self) -> None:
        Execution.__init__(self)
        self.ends = EventHeap()

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        end: cython.longlong
        if jobs.at[slot].run_time < 0:
            return NEVER
        end = self.engine.now + time_for(jobs.at[slot].run_time - jobs.at[slot].progress, jobs.at[slot].speed)
        self.ends.push(end, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
        self.next = self.ends.next_time()
        return end

    def interrupt(self, slot, keep):
        jobs: JobTable = self.engine.jobs
        if keep:
            jobs.at[slot].progress += done_in(self.engine.now - jobs.at[slot].start, jobs.at[slot].speed)
        return 0

    def fire(self, now):
        jobs: JobTable = self.engine.jobs
        ends: EventHeap = self.ends
        while ends.next_time() <= now:
            ends.pop()
            if jobs.at[ends.slot].stamp == ends.stamp:
                self.engine.finish(ends.slot, COMPLETED)
                if self.engine.per_event:
                    break
        self.next = ends.next_time()
        return 0
