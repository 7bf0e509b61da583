"""A plain number of cores in the slow twin of a site: what is free now, and what is kept for whom.

The jobs that are bound to a reservation have its cores as a machine of their own. Where the guide leaves it open:
they also need, when they start, that many cores that are up and that nobody uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from twin.reference_site_jobs import Job


@dataclass(eq=False)
class Hold:
    """Cores kept for a waiting job from `start` up to but without `end`."""

    job: Job
    queue: str | None
    start: int
    end: int

    def covers(self, time: int) -> bool:
        return self.start <= time < self.end


class Pool:
    """The cores; `site` has the clock and the running jobs. Nodes, memory and the like are not counted here."""

    def __init__(self, site: Any, cores: int) -> None:
        self.site = site
        self.cores = cores
        self.holds: list[Hold] = []

    def nodes(self, job: Job, queue: str | None) -> int:
        """How many nodes the job says that it wants; one where it does not."""
        if job.nodes:
            return job.nodes
        return -(-job.cores // job.cores_per_node) if job.cores_per_node else 1

    def size(self, job: Job) -> int:
        """The cores of the machine that the job can have."""
        booking = self.site.outages.booking(job.reservation)
        return self.cores if booking is None else int(booking.cores)

    def refuse(self, job: Job, queue: str | None) -> str | None:
        return "more cores than the cluster has" if job.cores > self.size(job) else None

    def running(self, job: Job) -> list[Job]:
        """Who runs on the job's machine."""
        return [other for other in self.site.running if other.reservation == job.reservation]

    def kept(self, job: Job) -> list[tuple[Any, int]]:
        """What is kept from the job on its machine, or is away, and how many cores of it."""
        others = [hold for hold in self.holds if hold.job is not job and hold.job.reservation == job.reservation]
        kept: list[tuple[Any, int]] = [(hold, hold.job.cores) for hold in others]
        if job.reservation is None:
            kept += [(block, block.cores) for block in self.site.outages.blocks(job)]
        return kept

    def free_at(self, time: int, job: Job) -> int:
        """By the expected ends, beside what is kept from the job."""
        used = sum(other.cores for other in self.running(job) if other.expected_end > time)
        return self.size(job) - used - sum(cores for kept, cores in self.kept(job) if kept.covers(time))

    def fits(self, job: Job, queue: str | None) -> bool:
        """Whether the job can start now and leave every hold alone."""
        now: int = self.site.now
        everybody = sum(other.cores for other in self.site.running)
        if job.cores > self.cores - self.site.outages.down_cores() - everybody:
            return False
        if job.cores > self.size(job) - sum(other.cores for other in self.running(job)) - self.away(job):
            return False
        return self.site.outages.inside(job, now) and all(
            self.free_at(kept.start, job) >= job.cores
            for kept, _ in self.kept(job)
            if kept.start < now + job.wanted and (kept.start > now or kept in self.holds)
        )

    def away(self, job: Job) -> int:
        """Cores of the job's machine that are reserved now, or down."""
        now = self.site.now
        return sum(cores for kept, cores in self.kept(job) if kept.covers(now) and kept not in self.holds)

    def fits_again(self, job: Job) -> bool:
        """Whether a suspended job can go on."""
        return self.fits(job, job.runs_in)

    def earliest(self, job: Job, queue: str | None, after: int | None = None) -> int | None:
        """The first time from which the job has its cores for its request; only something that ends makes room."""
        now: int = self.site.now
        first = now if after is None else max(now, after)
        kept = [kept for kept, _ in self.kept(job)]
        times = {other.expected_end for other in self.running(job)} | {one.end for one in kept if one.end is not None}
        times |= {*self.site.outages.openings(job)}
        for time in sorted({first} | {time for time in times if time > first}):
            steps = [one.start for one in kept if time < one.start < time + job.length]
            clear = all(self.free_at(step, job) >= job.cores for step in (time, *steps))
            if clear and self.site.outages.inside(job, time):
                return time
        return None

    def hold(self, job: Job, queue: str | None, start: int) -> None:
        self.holds.append(Hold(job, queue, start, start + job.length))

    def loosen(self, job: Job) -> None:
        """The job is planned again: its hold is gone."""
        self.drop(job)

    def drop(self, job: Job) -> None:
        self.holds = [hold for hold in self.holds if hold.job is not job]

    def take(self, job: Job, queue: str | None) -> Fraction:
        """The job starts; returns how fast the cores are."""
        self.drop(job)
        return Fraction(1)
