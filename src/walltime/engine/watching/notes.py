"""What a watcher writes down of its job: times are microseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass
class WaitReason:
    """What kept the job back from `start` to `end`: a kind, and what there is to say about it."""

    kind: str
    start: int
    end: int
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stay:
    """The job had its resources from `start` to `end`, on these nodes (none where the machine has none), and became
    `state` then; `cause` says what made it leave, where it did not end by itself."""

    start: int
    nodes: set[int]
    end: int = -1
    state: str = "running"
    cause: dict[str, Any] = field(default_factory=dict)


class Passed(NamedTuple):
    """A job that started while the watched one waited, though it was behind it in the order, or submitted later."""

    job_id: int
    time: int
    cores: int
    submit: int
    estimate: int
    behind: bool
    later: bool


@dataclass(frozen=True)
class QueueSample:
    """The job's place in the order, and what its place is made of."""

    time: int
    ahead: int
    waiting: int
    parts: dict[str, float]
