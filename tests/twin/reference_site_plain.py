"""Nodes of which only cores are counted, in the slow twin of a site.

While all reservations are of shapeless jobs on shared nodes they are numbers of cores; otherwise each names its nodes,
chosen by the placement when it is made. Where no reservation is left, the next are numbers of cores again.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from twin.reference_site_jobs import Job, Shares
from twin.reference_site_places import Place
from walltime.cluster.nodes import FULL_SPEED, Layout
from walltime.core.errors import EngineError


@dataclass(eq=False)
class Hold:
    """Cores kept for a waiting job from `start` up to but without `end`; without shares on whatever nodes."""

    job: Job
    queue: str | None
    start: int
    end: int
    shares: Shares | None


class PlainNodes:
    """The nodes; `site` has the clock and the running jobs. All queues have all of them."""

    def __init__(self, site: Any, layout: Layout, place: Place) -> None:
        self.site = site
        self.whole = layout.whole
        self.sizes: list[int] = layout.cores().tolist()
        self.speeds = [Fraction(pace, FULL_SPEED) for pace in layout.pace().tolist()]
        self.place = place
        self.holds: list[Hold] = []
        self.named = self.whole

    def shape(self, job: Job) -> tuple[int, int] | None:
        """(nodes, cores that each of them must have free); None for a shapeless request."""
        if not job.nodes and not job.cores_per_node:
            return None
        count = job.nodes or -(-job.cores // (job.cores_per_node or 1))
        if not self.whole:
            count = min(count, job.cores)
        least = -(-job.cores // count)
        return count, max(least, job.cores_per_node or 0) if self.whole else least

    def nodes(self, job: Job, queue: str | None) -> int:
        shape = self.shape(job)
        return 1 if shape is None else shape[0]

    # ---- what is left

    def room(self, node: int, used: int) -> int:
        if self.whole:
            return self.sizes[node] if used == 0 else 0
        return self.sizes[node] - used

    def left(self, job: Job, start: int, running: list[Job]) -> list[int]:
        """The least that is left on each node for the job's time, beside the named reservations of others."""
        others = [hold for hold in self.holds if hold.job is not job and hold.shares is not None]
        moments = {start: running}
        for hold in others:
            if start < hold.start < start + job.length:
                moments[hold.start] = self.running_at(hold.start)
        left = []
        for node in range(len(self.sizes)):
            least = self.sizes[node]
            for moment, then in moments.items():
                there: list[Any] = [*then, *(hold for hold in others if hold.start <= moment < hold.end)]
                used = sum(cores for other in there for where, cores in other.shares or () if where == node)
                least = min(least, self.room(node, used))
            left.append(max(0, least))
        return left

    def left_now(self, job: Job) -> list[int]:
        return self.left(job, self.site.now, self.site.running)

    def left_at(self, job: Job, start: int) -> list[int]:
        return self.left(job, start, self.running_at(start))

    def running_at(self, time: int) -> list[Job]:
        """Who is still there then by the expected ends; now, everybody, if only for this instant."""
        return [job for job in self.site.running if time <= self.site.now or job.expected_end > time]

    def suits(self, job: Job, left: list[int]) -> bool:
        shape = self.shape(job)
        if shape is None:
            return job.cores <= sum(left)
        count, least = shape
        return self.place.suits([node for node, cores in enumerate(left) if cores >= least], count)

    def choose(self, job: Job, left: list[int], kept: bool = False) -> Shares:
        """The placement's choice; what is kept on each node of a shaped job is what it must find free there."""
        shape = self.shape(job)
        if shape is None:
            chosen = self.place.spread(left, job.cores, job.row)
        else:
            count, least = shape
            suitable = {node: cores for node, cores in enumerate(left) if cores >= least}
            numbers = self.place.pick(list(suitable), count, suitable, job.row)
            each, odd = divmod(job.cores, count)
            chosen = [(node, least if kept else each + (place < odd)) for place, node in enumerate(numbers)]
        return [(node, self.sizes[node] if self.whole else cores) for node, cores in chosen]

    # ---- now

    def refuse(self, job: Job, queue: str | None) -> str | None:
        if job.cores > sum(self.sizes):
            return "more cores than the cluster has"
        return None if self.suits(job, self.sizes) else "more nodes than the cluster has"

    def fits(self, job: Job, queue: str | None) -> bool:
        if not self.named:
            end = self.site.now + job.wanted
            for hold in self.holds:
                if hold.job is not job and hold.start < end and self.spare(hold.start, job) < job.cores:
                    return False
        return self.suits(job, self.left_now(job))

    def spare(self, time: int, job: Job) -> int:
        """Cores that nobody else has at that time, counted over all nodes."""
        taken = sum(other.cores for other in self.running_at(time))
        kept = sum(hold.job.cores for hold in self.holds if hold.start <= time < hold.end and hold.job is not job)
        return sum(self.sizes) - taken - kept

    def take(self, job: Job, queue: str | None) -> Fraction:
        """The job starts on the nodes that the placement chooses; returns how fast they are."""
        self.drop(job)
        job.shares = self.choose(job, self.left_now(job))
        return min(self.speeds[node] for node, _ in job.shares)

    # ---- later

    def earliest(self, job: Job, queue: str | None) -> int:
        """The first time from which the job has its cores; from the first shaped job on, on named nodes."""
        now: int = self.site.now
        if self.shape(job) is not None and not self.named:
            self.named = True
            for hold in sorted(self.holds, key=lambda hold: hold.start):
                hold.shares = self.choose(hold.job, self.left_at(hold.job, hold.start))
        ends = {other.expected_end for other in self.site.running}
        ends |= {hold.end for hold in self.holds if hold.job is not job}
        for time in sorted({now, now + 1} | {end for end in ends if end > now}):
            if self.clear(job, time):
                return time
        raise EngineError(f"job {job.job_id} does not fit the empty machine")

    def clear(self, job: Job, start: int) -> bool:
        if self.named:
            return self.suits(job, self.left_at(job, start))
        moments = [start] + [hold.start for hold in self.holds if start < hold.start < start + job.wanted]
        return all(self.spare(moment, job) >= job.cores for moment in moments)

    def hold(self, job: Job, queue: str | None, start: int) -> None:
        shares = self.choose(job, self.left_at(job, start), kept=True) if self.named else None
        self.holds.append(Hold(job, queue, start, start + job.length, shares))

    def loosen(self, job: Job) -> None:
        """The job is planned again: its hold is gone."""
        self.drop(job)

    def drop(self, job: Job) -> None:
        self.holds = [hold for hold in self.holds if hold.job is not job]
        self.named = self.whole or (self.named and bool(self.holds))
