"""The part that says how people react to the system when they submit: a plug-in of kind `users`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from walltime.core.errors import InputError


@dataclass
class Submission:
    """A job that a user is about to submit. Times in seconds; change what the user would ask for, or put it off.

    `present` is how many jobs the user has in the system, `put_off_before` how often this one was put off. `queues` are
    those of the cluster. With `patience` the user gives up when the job has waited so long.
    """

    job_id: int
    user: str
    now: float
    cores: int
    requested_time: float
    queue: str | None
    present: int
    put_off_before: int
    queues: tuple[str, ...]
    patience: float | None = None
    later: float = 0.0
    dropped: bool = False
    waits: Callable[[str | None], float | None] = lambda queue: None

    def expected_wait(self, queue: str | None = None) -> float | None:
        """The mean wait of the last jobs that have started in the queue, or anywhere; None where none has."""
        return self.waits(queue)

    def put_off(self, seconds: float) -> None:
        """Think about it again so much later."""
        if not seconds > 0:
            raise InputError("a submission is put off for more than 0 seconds", value=seconds)
        self.later = seconds

    def drop(self) -> None:
        """Do not submit it at all."""
        self.dropped = True


@dataclass(frozen=True)
class Departure:
    """A job that has left: what its user learns from it. Times in seconds."""

    job_id: int
    user: str
    now: float
    cores: int
    requested_time: float
    wait: float
    ran: float
    completed: bool


class Reaction:
    """What users do besides submitting when they are ready. A part of your own overrides `submit`, `left`, or both."""

    def submit(self, job: Submission) -> None:
        """A user is about to submit a job: change it, put it off, or drop it."""

    def left(self, job: Departure) -> None:
        """A job has left."""
