"""The part that says how people react to the system when they submit: a plug-in of kind `users`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from walltime.core.errors import InputError

GAVE_UP = "its user gave up waiting"
"""Why a job was cancelled, in the facts of a result."""


@dataclass(frozen=True)
class Coming:
    """A job that its user would submit after the one in question, in the same batch."""

    job_id: int
    cores: int
    requested_time: float


def _unknown(queue: str | None, cluster: str | None, cores: int | None) -> float | None:
    return None


def _nothing(count: int) -> Sequence[Coming]:
    return ()


@dataclass
class Submission:
    """A job that a user is about to submit. Times in seconds; change what the user would ask for, or put it off.

    `present` is how many jobs the user has in the system, `put_off_before` how often this one was put off, `before` how
    many of the user's were put off in turn and have to come before it. `queues` are
    those of the cluster, `clusters` those to which the job may go, where there are several; with `cluster` the user
    goes to one of them. With `patience` the user gives up when the job has waited so long. On other cores a job runs
    for another time: `serial` is the share of its work, on one core, that more cores do not make shorter. A job that is
    `fixed` is a task of an array, waits for others, or is waited for by others: it may be put off or given up, but
    neither changed nor dropped.
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
    clusters: tuple[str, ...] = ()
    fixed: bool = False
    cluster: str | None = None
    patience: float | None = None
    serial: float = 0.0
    before: int = 0
    later: float = 0.0
    queues_up: bool = False
    dropped: bool = False
    parts: int = 1
    parts_by: Literal["cores", "time"] = "time"
    taken: int = 0
    waits: Callable[[str | None, str | None, int | None], float | None] = _unknown
    rest: Callable[[int], Sequence[Coming]] = _nothing

    def expected_wait(
        self, queue: str | None = None, cluster: str | None = None, cores: int | None = None
    ) -> float | None:
        """The mean wait of the last jobs that have started in the queue, on the cluster, on about so many cores (from
        one power of two to the next), or anywhere; None where none has."""
        return self.waits(queue, cluster, cores)

    def put_off(self, seconds: float, in_turn: bool = False) -> None:
        """Think about it again so much later; `in_turn`, and when the user's jobs that were put off so before it have
        come, of which only the first is thought about."""
        if not seconds > 0:
            raise InputError("a submission is put off for more than 0 seconds", value=seconds)
        self.later, self.queues_up = seconds, in_turn

    def drop(self) -> None:
        """Do not submit it at all."""
        self.dropped = True

    def split(self, parts: int, by: Literal["cores", "time"] = "time") -> None:
        """Submit it as so many jobs: with `time`, each does a part of the work and comes when the one before has
        completed; with `cores`, each has a part of the cores, and all come at once."""
        if parts < 1 or by not in ("cores", "time") or (by == "cores" and parts > self.cores):
            raise InputError("a job is split by time, or into parts of at least one core", value=(parts, by))
        self.parts, self.parts_by = parts, by

    def coming(self, count: int) -> Sequence[Coming]:
        """The next jobs of the same batch that may be merged with this one, at most so many."""
        return self.rest(count)

    def merge(self, count: int) -> None:
        """Take the next so many jobs of the batch (see `coming`) along: they run in this job, one after the other."""
        if count < 0 or count > len(self.rest(count)):
            raise InputError("there are not so many jobs to be merged", value=count)
        self.taken = count


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
    """What users do besides submitting when they are ready. A part of your own overrides `submit`, `left`, or both.

    `needs` is what there have to be several of, or the part is refused: `queues` or `clusters`.
    """

    needs: Literal["", "queues", "clusters"] = ""

    def submit(self, job: Submission) -> None:
        """A user is about to submit a job: change it, put it off, or drop it."""

    def left(self, job: Departure) -> None:
        """A job has left."""
