"""A plain number of cores in the slow twin of a site: what is free now, and what is kept for whom.

The jobs that are bound to a reservation have its cores as a machine of their own. Where the guide leaves it open:
they also need, when they start, that many cores that are up and that nobody uses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from twin.jobs import Job
from twin.outages import Block

if TYPE_CHECKING:
    from twin.site import Site


@dataclass(eq=False)
class Hold:
    """What is kept for a waiting job from `start` up to but without `end`: cores of a plain number of them, or what is
    `taken` on each node."""

    job: Job
    queue: str | None
    start: int
    end: int
    taken: dict[int, dict[str, int]] = field(default_factory=dict)
    cores: int = 0  # of a hold on nodes without names: so many, on any of `nodes`
    nodes: frozenset[int] = frozenset()

    def covers(self, time: int) -> bool:
        return self.start <= time < self.end

    def meets(self, start: int, end: int, nodes: frozenset[int]) -> bool:
        return self.start < end and self.end > start and not nodes.isdisjoint(self.nodes or self.taken)


class Pool:
    """The cores; `site` has the clock and the running jobs. Nodes, memory and the like are not counted here."""

    def __init__(self, site: Site, cores: int) -> None:
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

    def free(self) -> int:
        """Cores that are up and not in use."""
        used = sum(job.cores for job in self.site.running)
        return self.cores - self.site.outages.down_cores() - used

    def speed(self) -> Fraction:
        return Fraction(1)

    def kept(self, job: Job) -> list[tuple[Hold | Block, int]]:
        """What is kept from the job on its machine, or is away, and how many cores of it."""
        others = [hold for hold in self.holds if hold.job is not job and hold.job.reservation == job.reservation]
        kept: list[tuple[Hold | Block, int]] = [(hold, hold.job.cores) for hold in others]
        if job.reservation is None:
            kept += [(block, block.cores) for block in self.site.outages.blocks(job)]
        return kept

    def free_at(self, time: int, job: Job, kept: list[tuple[Hold | Block, int]]) -> int:
        """By the expected ends, beside what is kept from the job."""
        used = sum(other.cores for other in self.running(job) if other.expected_end > time)
        return self.size(job) - used - sum(cores for one, cores in kept if one.covers(time))

    def fits(self, job: Job, queue: str | None) -> bool:
        """Whether the job can start now and leave every hold alone."""
        now = self.site.now
        if job.cores > self.free():
            return False
        kept = self.kept(job)
        away = sum(cores for one, cores in kept if one.covers(now) and one not in self.holds)
        if job.cores > self.size(job) - sum(other.cores for other in self.running(job)) - away:
            return False
        return self.site.outages.inside(job, now) and all(
            self.free_at(one.start, job, kept) >= job.cores
            for one, _ in kept
            if one.start < now + job.wanted and (one.start > now or one in self.holds)
        )

    def fits_again(self, job: Job) -> bool:
        """Whether a suspended job can go on."""
        return self.fits(job, job.runs_in)

    def earliest(self, job: Job, queue: str | None, after: int | None = None) -> int | None:
        """The first time from which the job has its cores for its request; only something that ends makes room."""
        now = self.site.now
        first = now if after is None else max(now, after)
        kept = self.kept(job)
        times = {other.expected_end for other in self.running(job)}
        times |= {one.end for one, _ in kept if one.end is not None}
        times |= {*self.site.outages.openings(job)}
        for time in sorted({first} | {time for time in times if time > first}):
            steps = [one.start for one, _ in kept if time < one.start < time + job.length]
            clear = all(self.free_at(step, job, kept) >= job.cores for step in (time, *steps))
            if clear and self.site.outages.inside(job, time):
                return time
        return None

    def best_gap(self, job: Job, queue: str | None) -> int:
        """The start of the gap of which the job leaves the least time, the earliest of equal ones: a gap is as long as
        its cores are free, and the last one has no end."""
        now = self.site.now
        kept = self.kept(job)
        edges = {other.expected_end for other in self.running(job)}
        edges |= {edge for one, _ in kept for edge in (one.start, one.end) if edge is not None}
        gaps: list[list[float]] = []
        is_open = False
        for edge in sorted({now} | {edge for edge in edges if edge > now}):
            room = self.free_at(edge, job, kept) >= job.cores
            if room and not is_open:
                gaps.append([edge, math.inf])
            elif is_open and not room:
                gaps[-1][1] = edge
            is_open = room
        _, start = min((end - start - job.length, start) for start, end in gaps if end - start >= job.length)
        return int(start)

    def hold(self, job: Job, queue: str | None, start: int) -> None:
        self.drop(job)
        self.holds.append(Hold(job, queue, start, start + job.length))

    def free_for(self, job: Job, nodes: object) -> int:
        """Cores that are free now for the job."""
        away = sum(cores for one, cores in self.kept(job) if one.covers(self.site.now) and one not in self.holds)
        return min(self.free(), self.size(job) - sum(other.cores for other in self.running(job)) - away)

    def beside_hold(self, hold: Hold, nodes: object) -> int:
        """Cores that are free now and, beside the hold and others of that time, when it begins."""
        left = self.free_at(hold.start, hold.job, self.kept(hold.job)) - hold.job.cores
        return max(0, min(self.free_for(hold.job, nodes), left))

    def loosen(self, job: Job) -> None:
        """The job is planned again: its hold is gone."""
        self.drop(job)

    def drop(self, job: Job) -> None:
        self.holds = [hold for hold in self.holds if hold.job is not job]

    def take(self, job: Job, queue: str | None) -> Fraction:
        """The job starts; returns how fast the cores are."""
        self.drop(job)
        return Fraction(1)
