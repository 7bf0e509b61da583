"""Jobs whose processes leave one by one, first come, first served on shared nodes: the rules stated a second time.

A process that has left gives its cores back at once; the last one keeps its own until the job ends. A job that reaches
its limit is killed with what it still has. At one instant: processes leave, jobs end, jobs come, then jobs start. A job
takes the first nodes, by number, that have the cores free that it wants on each.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field


@dataclass
class Leaver:
    """A job: `stays` is how long each of its processes, one a node, stays; `cores` are wanted on each node."""

    submit: int
    cores: int
    stays: list[int]
    limit: float
    start: float | None = None
    end: float | None = None
    state: str = "waiting"
    nodes: list[int] = field(default_factory=list)
    held: list[tuple[float, float, tuple[int, ...]]] = field(default_factory=list)
    """From when to when it had which nodes."""

    def holds(self, time: float) -> list[int]:
        """The nodes of the processes that are there after this time; all that are over last stay to the end."""
        assert self.start is not None
        last = max(self.stays)
        if time >= self.start + min(last, self.limit):
            return []
        return [node for node, stay in zip(self.nodes, self.stays, strict=True) if self.start + stay > time]


def run(jobs: list[Leaver], nodes: int, cores: int, overtake: bool) -> None:
    """Fill in start, end and state of each; with `overtake` whatever fits starts, otherwise only the first may."""
    times = sorted({float(job.submit) for job in jobs})
    while times:
        time = times.pop(0)
        for job in jobs:
            if job.state == "running" and not job.holds(time):
                killed = max(job.stays) > job.limit
                job.end, job.state = time, "timeout" if killed else "completed"
        for job in jobs:
            if job.state != "waiting" or job.submit > time:
                continue
            free = [cores - sum(other.cores for other in jobs if other.start is not None and other.end is None
                                and node in other.holds(time)) for node in range(nodes)]  # fmt: skip
            room = [node for node in range(nodes) if free[node] >= job.cores]
            if len(room) >= len(job.stays):
                job.start, job.state, job.nodes = time, "running", room[: len(job.stays)]
                ends = [min(stay, job.limit) for stay in job.stays]
                times = sorted({*times, *(time + end for end in ends)})
            elif not overtake:
                break
    for job in jobs:
        assert job.start is not None
        edges = sorted({job.start, *(job.start + min(stay, job.limit) for stay in job.stays)})
        for first, last in itertools.pairwise(edges):
            job.held.append((first, last, tuple(job.holds(first))))
