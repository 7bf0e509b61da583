"""Users who ask for something else, because it starts sooner."""

from __future__ import annotations

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.policy.users import Departure, Reaction, Submission


class OtherQueue(Reaction):
    """A user goes to the queue in which jobs wait least, if that is shorter than in the own by `gain` at least."""

    def __init__(self, gain: str | float = "10m") -> None:
        self.gain = seconds(parse_duration(gain))

    def submit(self, job: Submission) -> None:
        own = job.expected_wait(job.queue) if job.queue is not None else None
        if own is None:
            return
        waits = {queue: wait for queue in job.queues if (wait := job.expected_wait(queue)) is not None}
        best = min(waits, key=lambda queue: (waits[queue], queue), default=job.queue)
        if waits.get(str(best), own) + self.gain <= own:
            job.queue = best


class AskForLess(Reaction):
    """A user learns how long jobs run, and asks for `margin` times the longest of the last `jobs`, if that is less."""

    def __init__(self, margin: float = 2.0, jobs: int = 5) -> None:
        if not margin >= 1 or jobs < 1:
            raise InputError("the margin is at least 1, and so is the number of jobs", value=(margin, jobs))
        self.margin, self.jobs = margin, jobs
        self.runs: dict[str, list[float]] = {}

    def submit(self, job: Submission) -> None:
        runs = self.runs.get(job.user, [])
        if len(runs) >= self.jobs:
            job.requested_time = min(job.requested_time, max(60.0, self.margin * max(runs)))

    def left(self, job: Departure) -> None:
        if job.ran > 0:
            self.runs[job.user] = [*self.runs.get(job.user, []), job.ran][-self.jobs :]
