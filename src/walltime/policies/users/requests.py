"""Users who ask for something else, because it starts sooner."""

from __future__ import annotations

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.policy.users import Departure, Reaction, Submission


class OtherQueue(Reaction):
    """A user goes to the queue in which jobs wait least, if that is shorter than in the own by `gain` at least."""

    needs = "queues"

    def __init__(self, gain: str | float = "10m") -> None:
        self.gain = seconds(parse_duration(gain))

    def submit(self, job: Submission) -> None:
        own = job.expected_wait(job.queue) if job.queue is not None else None
        if own is None or job.fixed:
            return
        waits = {queue: wait for queue in job.queues if (wait := job.expected_wait(queue)) is not None}
        best = min(waits, key=lambda queue: (waits[queue], queue), default=job.queue)
        if waits.get(str(best), own) + self.gain <= own:
            job.queue = best


class OtherSite(Reaction):
    """A user goes to the cluster on which jobs wait least, if that is shorter than anywhere by `gain` at least; else it
    is the broker that chooses."""

    needs = "clusters"

    def __init__(self, gain: str | float = "10m") -> None:
        self.gain = seconds(parse_duration(gain))

    def submit(self, job: Submission) -> None:
        anywhere = job.expected_wait()
        if anywhere is None or job.fixed:
            return
        waits = {name: wait for name in job.clusters if (wait := job.expected_wait(cluster=name)) is not None}
        best = min(waits, key=lambda name: (waits[name], name), default=None)
        if best is not None and waits[best] + self.gain <= anywhere:
            job.cluster = best


class AskForLess(Reaction):
    """A user learns how long jobs run, and asks for `margin` times the longest of the last `jobs`, if that is less."""

    def __init__(self, margin: float = 2.0, jobs: int = 5) -> None:
        if not margin >= 1 or jobs < 1:
            raise InputError("the margin is at least 1, and so is the number of jobs", value=(margin, jobs))
        self.margin, self.jobs = margin, jobs
        self.runs: dict[str, list[float]] = {}

    def submit(self, job: Submission) -> None:
        runs = self.runs.get(job.user, [])
        if len(runs) >= self.jobs and not job.fixed:
            job.requested_time = min(job.requested_time, max(60.0, self.margin * max(runs)))

    def left(self, job: Departure) -> None:
        if job.ran > 0:
            self.runs[job.user] = [*self.runs.get(job.user, []), job.ran][-self.jobs :]


class FewerCores(Reaction):
    """A user asks for half the cores, or half of that, as long as jobs of that size start so much sooner that the job
    would end sooner by `gain` at least; it then runs for longer, by Amdahl's law with this `serial` share."""

    def __init__(self, gain: str | float = "10m", serial: float = 0.0) -> None:
        if not 0 <= serial <= 1:
            raise InputError("the serial share of a job is from 0 to 1", value=serial)
        self.gain, self.serial = seconds(parse_duration(gain)), serial

    def submit(self, job: Submission) -> None:
        ends = {job.cores: job.expected_wait(cores=job.cores)}
        if ends[job.cores] is None or job.fixed:
            return
        cores, found = job.cores, {job.cores: float(ends[job.cores] or 0.0) + job.requested_time}
        while cores > 1:
            cores //= 2
            wait = job.expected_wait(cores=cores)
            if wait is not None:
                found[cores] = wait + job.requested_time * self._time_on(cores) / self._time_on(job.cores)
        best = min(found, key=lambda size: (found[size], -size))
        if found[best] + self.gain <= found[job.cores]:
            job.cores, job.serial = best, self.serial

    def _time_on(self, cores: int) -> float:
        return self.serial + (1 - self.serial) / cores
