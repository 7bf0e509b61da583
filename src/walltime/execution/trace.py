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
        self.interval = self.cost = self.restart = 0
        self.granted = {}  # jobs that have been given the time for a restart: seq by slot
        self.kept = {}  # of those who restart: up to where they were saved, and the time that this took
        self.unfinished = {}  # what jobs have to do before they go on: seq, attempt, how long, whether they write
        self.leading = {}  # the same of those who run

    def write_checkpoints(self, interval, cost, restart) -> None:
        self.interval = interval
        self.cost = cost
        self.restart = restart

    def allow(self, slot):
        """The time for checkpoints is granted on top of what the job has asked for."""
        jobs: JobTable = self.engine.jobs
        extra: cython.longlong = self.cost * self.between(0, jobs.at[slot].requested)
        jobs.at[slot].requested += extra
        jobs.at[slot].limit += extra
        return 0

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        end: cython.longlong
        if jobs.at[slot].run_time < 0:
            return NEVER
        end = self.engine.now + time_for(jobs.at[slot].run_time - jobs.at[slot].progress, jobs.at[slot].speed)
        if self.interval > 0:
            end += self.cost * self.between(jobs.at[slot].progress, jobs.at[slot].run_time) + self.lead(slot)
        self.ends.push(end, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
        self.next = self.ends.next_time()
        return end

    def between(self, done, work):
        """How many checkpoints are written on the way from one amount of work to another, the whole of it."""
        return (work - 1) // self.interval - done // self.interval if work > done else 0

    def lead(self, slot):
        """What the job has to do before its work: start from a checkpoint, or finish one that it was writing."""
        jobs: JobTable = self.engine.jobs
        left: cython.longlong = 0
        seq, attempt, left, writes = self.unfinished.pop(slot, (-1, 0, 0, False))
        if seq != jobs.at[slot].seq or attempt != jobs.at[slot].attempt:
            left = 0
        self.leading[slot] = (left, writes)
        return left

    def interrupt(self, slot, keep):
        jobs: JobTable = self.engine.jobs
        elapsed: cython.longlong = self.engine.now - jobs.at[slot].start
        left: cython.longlong
        if self.interval > 0 and keep:
            left, writes = self.leading.pop(slot, (0, False))
            if elapsed < left:
                self.unfinished[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt, left - elapsed, writes)
                return 0
            if writes and left > 0:
                jobs.at[slot].saved = jobs.at[slot].progress
            return self.advance(slot, elapsed - left)
        if keep:
            jobs.at[slot].progress += done_in(elapsed, jobs.at[slot].speed)
        return 0

    def advance(self, slot, time):
        """The job has worked, and written checkpoints, for so long: how far is it, and which is the last one?"""
        jobs: JobTable = self.engine.jobs
        speed: cython.longlong = jobs.at[slot].speed
        done: cython.longlong = jobs.at[slot].progress
        first: cython.longlong = self.interval - done % self.interval
        written: cython.longlong
        most: cython.longlong
        written = time // (self.cost + time_for(self.interval, speed)) + 1  # about
        while written > 0 and self.writing(first, written, speed) > time:
            written -= 1
        while self.writing(first, written + 1, speed) <= time:
            written += 1
        if written > 0:
            jobs.at[slot].saved = done + first + (written - 1) * self.interval
        most = first + written * self.interval  # where it has come to write the next one
        time -= written * self.cost
        jobs.at[slot].progress = done + min(done_in(time, speed), most)
        if time >= time_for(most, speed):
            time = self.cost - (time - time_for(most, speed))
            self.unfinished[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt, time, True)
        return 0

    def writing(self, first, number, speed):
        """When the checkpoint of this number is written, the first after so much work."""
        return time_for(first + (number - 1) * self.interval, speed) + number * self.cost

    def restore(self, slot):
        jobs: JobTable = self.engine.jobs
        saved: cython.longlong = jobs.at[slot].saved
        before: cython.longlong = 0
        kept: cython.longlong = 0
        jobs.at[slot].progress = saved
        if self.granted.get(slot, -1) != jobs.at[slot].seq:  # once, whatever became of attempts before
            self.granted[slot] = jobs.at[slot].seq
            jobs.at[slot].requested += self.restart
            jobs.at[slot].limit += self.restart
        if saved == 0:
            return 0
        self.unfinished[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt + 1, self.restart, False)
        seq, attempt, before, kept = self.kept.get(slot, (-1, 0, 0, 0))
        if seq != jobs.at[slot].seq or attempt != jobs.at[slot].attempt:  # of another job, or all was lost since
            before = kept = 0
        kept += time_for(saved - before, jobs.at[slot].speed)
        kept += (saved // self.interval - before // self.interval) * self.cost
        self.kept[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt + 1, saved, kept)
        return kept

    def forget(self):
        jobs: JobTable = self.engine.jobs
        ends: EventHeap = self.ends
        while ends.size > 0:
            ends.pop()
            if jobs.at[ends.slot].stamp == ends.stamp:
                ends.push(ends.time, ends.seq, ends.slot, ends.stamp)
                break
        self.next = ends.next_time()
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
