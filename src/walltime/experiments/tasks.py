"""What a runner gives to a worker, and what it gets back."""

from __future__ import annotations

from dataclasses import dataclass, field

MACHINE, OWN = "machine", "run"
"""Whose fault a failure is: the machine's, which is worth another attempt, or the run's own."""


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
class Outcome:
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
