"""What a runner gives to a worker, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

MACHINE, OWN = "machine", "run"
"""Whose fault a failure is: the machine's, which is worth another attempt, or the run's own."""


AHEAD = 0.5
"""Seconds of work that a worker has at hand, so that short runs do not wait for the runner."""
MOST_AHEAD = 50


@dataclass(frozen=True)
class RunLimits:
    """What one run may take: seconds, and bytes beyond those of an idle worker."""

    time: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Task:
    """A run that is leased: what a worker needs, and the fence under which it may tell what became of it."""

    run: int
    digest: str
    fence: int
    attempt: int
    specification: str
    seed: int


@dataclass(frozen=True)
class TaskOutcome:
    """What became of a task. `fault` is empty for one that was done."""

    task: Task
    figures: dict[str, float] = field(default_factory=dict)
    result: str | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    fault: str | None = None
    error: str | None = None
    log: str | None = None
    wall: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    host: str = ""


class Workers(Protocol):
    """What runs tasks: processes of this machine, or a Dask cluster. Every task that goes in comes out once."""

    @property
    def held(self) -> list[Task]:
        """The tasks that have not come out."""

    @property
    def room(self) -> int:
        """How many tasks it takes at once without making any wait for long."""

    def give(self, task: Task) -> None:
        """Hand a task over."""

    def collect(self, timeout: float) -> list[TaskOutcome]:
        """What has come out, after waiting for so many seconds at most."""

    def busy(self) -> list[tuple[int, str, float]]:
        """What each worker is at: its number, the digest of the run, and the seconds that it has taken."""

    def kill(self) -> None:
        """End everything now; the tasks that are held are lost."""


def depth(pace: float | None) -> int:
    """How many tasks a worker has at hand whose tasks take so many seconds."""
    return 1 if pace is None else min(MOST_AHEAD, 1 + int(AHEAD / max(pace, 1e-6)))
