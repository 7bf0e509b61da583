"""Users who submit no more while they have enough in the system, or while the wait is long."""

from __future__ import annotations

from walltime.core.errors import InputError
from walltime.core.time import parse_duration, seconds
from walltime.policy.users import Reaction, Submission


class StopAtLimit(Reaction):
    """With `jobs` in the system a user submits no more, and looks again every `again`; jobs come in their turn."""

    def __init__(self, jobs: int = 10, again: str | float = "10m") -> None:
        if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
            raise InputError("a limit of jobs is a whole number above 0", value=jobs)
        self.jobs, self.again = jobs, seconds(parse_duration(again))

    def submit(self, job: Submission) -> None:
        if job.present >= self.jobs or job.before:
            job.put_off(self.again, in_turn=True)


class Abandon(Reaction):
    """While jobs wait for longer than `wait`, a user does not submit at all: the work is abandoned."""

    def __init__(self, wait: str | float = "1d") -> None:
        self.wait = seconds(parse_duration(wait))

    def submit(self, job: Submission) -> None:
        expected = job.expected_wait()
        if expected is not None and expected > self.wait and not job.fixed:
            job.drop()
