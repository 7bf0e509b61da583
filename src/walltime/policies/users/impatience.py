"""Users who give up waiting."""

from __future__ import annotations

from walltime.core.time import parse_duration, seconds
from walltime.policy.users import Reaction, Submission


class GiveUp(Reaction):
    """A job that has not started within `after` of its submission is cancelled by its user."""

    def __init__(self, after: str | float = "1d") -> None:
        self.after = seconds(parse_duration(after))

    def submit(self, job: Submission) -> None:
        job.patience = self.after if job.patience is None else min(job.patience, self.after)
