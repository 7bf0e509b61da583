"""A started job runs for as long as its trace says."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.execution.model import Execution
from walltime.kernel.heap import EventHeap
from walltime.kernel.jobs import JobTable, State, done_in, time_for

NEVER = cython.declare(cython.longlong, _NEVER)
FULL_SPEED = cython.declare(cython.longlong, 1_000_000)

if not cython.compiled:
    from walltime.kernel.prefetch import prefetch

    COMPLETED = State.COMPLETED


def surplus(time, work, speed):
    """What is done in so many microseconds beyond so much work, in millionths of one; the two are close."""
    whole: cython.longlong = work // speed  # apart, because work times a million may be too large
    return (time - whole * FULL_SPEED) * speed - (work - whole * speed) * FULL_SPEED


def time_left(work, ahead, speed):
    """As `time_for`, where so much of it is done, in millionths of a microsecond."""
    time: cython.longlong = time_for(work, speed)
    return time if ahead == 0 else time - (surplus(time, work, speed) + ahead) // speed


@cython.cclass
class TraceExecution(Execution):
    """Ends jobs after their recorded run time; one without (-1) runs until it is stopped.

    The run time is the work at full speed: on nodes of another speed it takes longer or shorter, and `progress` counts
    the work that is done.
    """

    def __init__(self) -> None:
        Execution.__init__(self)
        self.ends = EventHeap()
        self.interval = self.cost = self.restart = 0
        self.granted = {}  # jobs that have been given the time for a restart: seq by slot
        self.kept = {}  # of jobs that restart: up to where they were saved, and the time that this took
        self.unfinished = {}  # what jobs have to do before they go on: seq, attempt, how long, whether they write
        self.leading = {}  # the same of running jobs
        self.ahead = {}  # what was done beyond `progress` before a pause: seq, attempt, millionths of a microsecond

    def write_checkpoints(self, interval, cost, restart) -> None:
        self.interval = interval
        self.cost = cost
        self.restart = restart

    def minds(self):
        return self.interval > 0 or self.extends or type(self) is not TraceExecution

    def taken(self, slot):
        """The time for checkpoints is granted on top of what the job has asked for."""
        extra: cython.longlong
        if self.interval > 0:
            extra = self.cost * self.between(0, self.engine.jobs.at[slot].requested)
            self.engine.jobs.at[slot].requested += extra
            self.engine.jobs.at[slot].limit += extra
        return Execution.taken(self, slot) if self.extends else 0

    def ended(self, slot):
        """Of the time that the job ran, writing checkpoints and starting from them was none of its work."""
        jobs: JobTable
        extra: cython.longlong
        if self.interval > 0:
            jobs = self.engine.jobs
            extra = jobs.at[slot].used - time_for(jobs.at[slot].progress, jobs.at[slot].speed)
            if extra > 0:
                jobs.at[slot].used -= extra
                self.spent_aside += extra * jobs.at[slot].cores
        return 0

    def begin(self, slot):
        jobs: JobTable = self.engine.jobs
        end: cython.longlong = self.engine.now
        work: cython.longlong = jobs.at[slot].run_time - jobs.at[slot].progress
        if jobs.at[slot].run_time < 0:
            return NEVER
        if jobs.at[slot].speed == FULL_SPEED and not self.ahead:  # as it mostly is
            end += work
        else:
            end += time_left(work, self.done_ahead(slot), jobs.at[slot].speed)
        if self.interval > 0:
            end += self.cost * self.between(jobs.at[slot].progress, jobs.at[slot].run_time) + self.lead(slot)
        self.ends.push(end, jobs.at[slot].seq, slot, jobs.at[slot].stamp)
        self.next = self.ends.first
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
            self.work_on(slot, elapsed)
        return 0

    def done_ahead(self, slot):
        """What was done in this attempt beyond `progress`, in millionths of a microsecond."""
        jobs: JobTable = self.engine.jobs
        ahead: cython.longlong = 0
        if self.ahead:
            seq, attempt, ahead = self.ahead.get(slot, (-1, 0, 0))
            if seq != jobs.at[slot].seq or attempt != jobs.at[slot].attempt:
                ahead = 0
        return ahead

    def note_ahead(self, slot, ahead):
        jobs: JobTable = self.engine.jobs
        if ahead > 0:
            self.ahead[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt, ahead)
        elif self.ahead:
            self.ahead.pop(slot, None)
        return 0

    def work_on(self, slot, time):
        """The job has worked for so long."""
        jobs: JobTable = self.engine.jobs
        speed: cython.longlong = jobs.at[slot].speed
        ahead: cython.longlong = self.done_ahead(slot) + time % FULL_SPEED * speed % FULL_SPEED
        jobs.at[slot].progress += done_in(time, speed) + ahead // FULL_SPEED
        return self.note_ahead(slot, ahead % FULL_SPEED)

    def advance(self, slot, time):
        """The job has worked, and written checkpoints, for so long: how far is it, and which is the last one?"""
        jobs: JobTable = self.engine.jobs
        speed: cython.longlong = jobs.at[slot].speed
        done: cython.longlong = jobs.at[slot].progress
        first: cython.longlong = self.interval - done % self.interval
        ahead: cython.longlong = self.done_ahead(slot)
        written: cython.longlong
        most: cython.longlong
        coming: cython.longlong
        written = time // (self.cost + time_for(self.interval, speed)) + 1  # about
        while written > 0 and self.writing(first, written, ahead, speed) > time:
            written -= 1
        while self.writing(first, written + 1, ahead, speed) <= time:
            written += 1
        if written > 0:
            jobs.at[slot].saved = done + first + (written - 1) * self.interval
        most = first + written * self.interval  # where it has come to write the next one
        coming = time_left(most, ahead, speed)
        time -= written * self.cost
        if time < coming:
            return self.work_on(slot, time)
        jobs.at[slot].progress = done + most
        self.note_ahead(slot, surplus(coming, most, speed) + ahead)
        time = self.cost - (time - coming)
        self.unfinished[slot] = (jobs.at[slot].seq, jobs.at[slot].attempt, time, True)
        return 0

    def writing(self, first, number, ahead, speed):
        """When the checkpoint of this number is written, the first after so much work."""
        return time_left(first + (number - 1) * self.interval, ahead, speed) + number * self.cost

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
        self.next = ends.first
        return 0

    def fire(self, now):
        jobs: JobTable = self.engine.jobs
        ends: EventHeap = self.ends
        while ends.first <= now:
            ends.pop()
            if ends.size > 0:
                prefetch(jobs, ends.first_slot())
            if jobs.at[ends.slot].stamp == ends.stamp:
                self.engine.finish(ends.slot, COMPLETED)
                if self.engine.per_event:
                    break
        self.next = ends.first
        return 0
