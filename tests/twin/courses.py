"""How a job unfolds in the slow twin of a site: attempts, intervals, checkpoints, and what an interruption costs.

Work is counted in microseconds at full speed, everything else in wall time. In an attempt that begins with `progress`:
first the restart, where something was kept; then work; and a checkpoint at every multiple of the interval that lies
between the progress and the end of the work. What the guide leaves open is decided so: the time of a restart is
never kept; `restart` is added to the limit of a job that was ever interrupted and sent back to its last checkpoint;
who starts over, fails, or is killed, loses also what earlier attempts had kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from twin.jobs import Job, write_shares
from walltime.core.time import microseconds
from walltime.scenario.disruptions import Checkpoint

if TYPE_CHECKING:
    from twin.site import Site

CHANCES = 1000
"""So often in a row a job is interrupted without getting further before nobody believes that it will end."""

MOST = 20_000
"""Changes of the machine in a row that start no job, whatever is still to come."""


@dataclass(frozen=True)
class Interval:
    """A time in which a job held its nodes; `outcome` tells how it ended."""

    attempt: int
    start: int
    end: int
    nodes: str | None
    outcome: str


class Execution:
    """What a cluster asks when its jobs end, where their run times do not say."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def times(self) -> list[int]:
        """When something happens within a job."""
        raise NotImplementedError

    def begin(self, job: Job) -> None:
        """The job starts. As soon as its end is known, that is its `own_end`."""
        raise NotImplementedError

    def advance(self) -> None:
        """It is now."""
        raise NotImplementedError

    def drop(self, job: Job) -> None:
        """The job no longer runs."""
        raise NotImplementedError


class Course:
    """One job's attempts; `habits` are the checkpoints of the scenario, None where there are none."""

    def __init__(self, job: Job, habits: Checkpoint | None) -> None:
        self.job = job
        self.period = 0 if habits is None else microseconds(habits.interval)
        self.cost = 0 if habits is None else microseconds(habits.cost)
        self.restart = 0 if habits is None else microseconds(habits.restart)
        self.intervals: list[Interval] = []
        self.attempt = 0
        self.since = 0  # when the present interval began
        self.speed = Fraction(1)
        self.progress = 0  # work that earlier attempts have kept,
        self.used = 0  # and the wall time that it took
        self.elapsed = 0  # wall time of this attempt in the intervals that are over
        self.work = 0  # what a job that is over had done when it ended
        self.lost = 0  # core-microseconds
        self.restarted = False  # from a checkpoint, or it was to be
        self.best = self.vain = 0  # the most that a checkpoint has had, and how many attempts in a row added nothing

    def growth(self, requested: int) -> int:
        """By how much the checkpoints make the request longer."""
        return self.cost * max(0, -(-requested // self.period) - 1) if self.period else 0

    @property
    def wanted(self) -> int:
        """For how long it may still run; one that goes on, and has outlived its request before, is given a moment."""
        spent = self.used + self.elapsed
        return max(self.job.requested - spent, 1) if spent else self.job.requested

    # ---- the plan of an attempt

    def wall(self, work: int) -> int:
        """The wall time of the attempt until so much work is done, without checkpoints."""
        delay = self.restart if self.progress else 0
        return delay - int(-(work - self.progress) // self.speed)  # rounded up

    def checkpoints(self) -> Iterator[tuple[int, int]]:
        """(work, wall time of the attempt at which it is safe), one after the other; none without a period."""
        work, count = self.progress // self.period * self.period if self.period else 0, 0
        while self.period and (self.job.run_time is None or work + self.period < self.job.run_time):
            work, count = work + self.period, count + 1
            yield work, self.wall(work) + count * self.cost

    def duration(self) -> int | None:
        """The wall time of the whole attempt if nothing comes between."""
        if self.job.run_time is None:
            return None
        return self.wall(self.job.run_time) + self.cost * sum(1 for _ in self.checkpoints())

    def done(self) -> int:
        """The work that is done so far; while a checkpoint is written, nothing is added to it."""
        delay, count, last = self.restart if self.progress else 0, 0, self.job.run_time
        for work, wall in self.checkpoints():
            if wall > self.elapsed:
                last = work
                break
            count += 1
        done = self.progress + max(0, int((self.elapsed - delay - count * self.cost) * self.speed))
        return done if last is None else min(done, last)

    # ---- what happens

    def begin(self, now: int, speed: Fraction) -> int | None:
        """The job starts or goes on; returns when it ends by itself."""
        if not any(interval.attempt == self.attempt for interval in self.intervals):
            self.speed = speed
        self.since = now
        duration = self.duration()
        return None if duration is None else now + duration - self.elapsed

    def pause(self, now: int, outcome: str) -> None:
        """The present interval is over."""
        nodes = write_shares(self.job.shares)
        self.intervals.append(Interval(self.attempt, self.since, now, nodes, outcome))
        self.elapsed += now - self.since

    def finish(self) -> None:
        """The job has ended, or was killed or cancelled: what it did in this attempt counts."""
        self.work = self.done()
        self.used += self.elapsed
        self.elapsed = 0

    def fail(self) -> None:
        """The job is over, and all that it did was for nothing."""
        self.work = self.done()
        self.lost += self.job.cores * (self.used + self.elapsed)
        self.used = self.elapsed = 0

    def start_over(self) -> None:
        """The attempt is over, and nothing is kept, of earlier ones neither."""
        self.lost += self.job.cores * (self.used + self.elapsed)
        self.progress = self.used = self.elapsed = 0
        self.vain += 1

    @property
    def is_fruitless(self) -> bool:
        return self.vain >= CHANCES

    def fall_back(self) -> None:
        """The attempt is over; what the last checkpoint has is kept."""
        delay = self.restart if self.progress else 0
        safe = [(self.progress, delay)]
        for work, wall in self.checkpoints():
            if wall > self.elapsed:
                break
            safe.append((work, wall))
        work, wall = safe[-1]
        kept = wall - delay
        if not self.restarted:
            self.job.requested += self.restart
        self.restarted = True
        self.lost += self.job.cores * (self.elapsed - kept)
        self.vain = 0 if work > self.best else self.vain + 1
        self.best = max(self.best, work)
        self.progress, self.used, self.elapsed = work, self.used + kept, 0
