"""Users who make several jobs of one, or one of several."""

from __future__ import annotations

from math import ceil

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.policy.users import Reaction, Submission


class Split(Reaction):
    """A job that asks for more than `time` becomes several that do not, each submitted when the one before has
    completed, as with checkpoints of its own; one that asks for more than `cores` becomes several beside each other."""

    def __init__(self, time: str | float | None = None, cores: int | None = None) -> None:
        if (time is None) == (cores is None):
            raise InputError("a job is split by time or by cores: give one of both", value=(time, cores))
        if cores is not None and (isinstance(cores, bool) or not isinstance(cores, int) or cores < 1):
            raise InputError("a number of cores is a whole number above 0", value=cores)
        self.time = None if time is None else seconds(parse_duration(time))
        self.cores = cores
        if self.time is not None and self.time <= 0:
            raise InputError("the time of a part is longer than zero", value=time)

    def submit(self, job: Submission) -> None:
        if job.fixed:
            return
        if self.time is not None:
            job.split(max(1, ceil(job.requested_time / self.time)), "time")
        elif self.cores is not None:
            job.split(max(1, ceil(job.cores / self.cores)), "cores")


class Merge(Reaction):
    """Jobs of a batch that ask for less than `below` each, on the same cores, become one of up to `jobs`."""

    def __init__(self, jobs: int = 10, below: str | float = "10m") -> None:
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 2:
            raise InputError("at least two jobs become one", value=jobs)
        self.jobs, self.below = jobs, seconds(parse_duration(below))

    def submit(self, job: Submission) -> None:
        if job.requested_time >= self.below or job.fixed:
            return
        count = 0
        for other in job.coming(self.jobs - 1):
            if other.cores != job.cores or other.requested_time >= self.below:
                break
            count += 1
        job.merge(count)
