"""A plain number of cores in the slow twin of a site: what is free now, and what is kept for whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from walltime.core.errors import EngineError
from walltime.engine.reference_site_jobs import Job


@dataclass(eq=False)
class Hold:
    """Cores kept for a waiting job from `start` up to but without `end`."""

    job: Job
    queue: str | None
    start: int
    end: int


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

    def refuse(self, job: Job, queue: str | None) -> str | None:
        return "more cores than the cluster has" if job.cores > self.cores else None

    def free_at(self, time: int, job: Job | None = None) -> int:
        """By the expected ends, other jobs' holds taken off."""
        running: int = sum(other.cores for other in self.site.running if other.expected_end > time)
        return self.cores - running - self.kept_at(time, job)

    def kept_at(self, time: int, job: Job | None) -> int:
        return sum(hold.job.cores for hold in self.holds if hold.start <= time < hold.end and hold.job is not job)

    def fits(self, job: Job, queue: str | None) -> bool:
        """Whether the job can start now and leave every hold alone."""
        if job.cores > self.cores - sum(other.cores for other in self.site.running):
            return False
        return all(
            self.free_at(hold.start, job) >= job.cores
            for hold in self.holds
            if hold.job is not job and hold.start < self.site.now + job.requested
        )

    def earliest(self, job: Job, queue: str | None) -> int:
        """The first time from which the job has its cores for its request; only something that ends makes room."""
        now = self.site.now
        ends = {other.expected_end for other in self.site.running} | {hold.end for hold in self.holds}
        for time in sorted({now} | {end for end in ends if end > now}):
            steps = [hold.start for hold in self.holds if time < hold.start < time + job.length]
            if all(self.free_at(step, job) >= job.cores for step in (time, *steps)):
                return time
        raise EngineError(f"job {job.job_id} does not fit the empty machine")

    def hold(self, job: Job, queue: str | None, start: int) -> None:
        self.holds.append(Hold(job, queue, start, start + job.length))

    def drop(self, job: Job) -> None:
        self.holds = [hold for hold in self.holds if hold.job is not job]

    def take(self, job: Job, queue: str | None) -> int | None:
        """The job starts; returns when it ends by itself."""
        self.drop(job)
        return None if job.run_time is None else int(self.site.now + job.run_time)
