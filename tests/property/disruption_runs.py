"""One scenario with disruptions, run by the compiled engine or by its slow twin: the same rows from both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from twin import reference
from walltime import api
from walltime.core.time import SECOND
from walltime.scenario import Scenario


@dataclass(frozen=True)
class Span:
    """An interval in which a job held its nodes, in microseconds; `nodes` as `0-3:24,7:5`, None on a plain number."""

    attempt: int
    start: int
    end: int
    nodes: str | None
    outcome: str


@dataclass(frozen=True)
class Life:
    """What became of a job; times in microseconds, `lost` in core-microseconds."""

    job_id: int
    row: int
    state: str
    start: int | None
    end: int | None
    restarts: int
    lost: int
    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Gap:
    """A time in which nodes (numbers), or so many cores, were away; `end` None where it lasted at the end."""

    kind: str
    name: str | None
    start: int
    end: int | None
    nodes: frozenset[int]
    cores: int


@dataclass(frozen=True)
class Run:
    """All jobs, in row order, and all that got in their way."""

    lives: list[Life]
    gaps: list[Gap]


def run_slowly(scenario: Scenario) -> Run:
    """By the twin."""
    clock = reference.play(scenario)
    lives = [
        Life(
            job.job_id,
            job.row,
            job.state,
            job.start,
            job.end,
            job.restarts,
            job.lost,
            tuple(Span(part.attempt, part.start, part.end, part.nodes, part.outcome) for part in job.intervals),
        )
        for job in reference.outcomes(clock)
    ]
    return Run(lives, [Gap(*row) for row in clock.sites[0].outages.record])


def run_fast(scenario: Scenario) -> Run:
    """By the compiled engine."""
    result = api.simulate(scenario)
    spans: dict[int, list[Span]] = {}
    for row in result.allocations.sort("start", maintain_order=True).iter_rows(named=True):
        span = Span(row["attempt"], _ticks(row["start"]), _ticks(row["end"]), row["nodes"], row["outcome"])
        spans.setdefault(row["job_id"], []).append(span)
    lives = [
        Life(
            row["job_id"],
            number,
            row["state"],
            None if row["start"] is None else _ticks(row["start"]),
            None if row["end"] is None else _ticks(row["end"]),
            row["restarts"],
            _ticks(row["lost_core_seconds"]),
            tuple(spans.get(row["job_id"], ())),
        )
        for number, row in enumerate(result.jobs.iter_rows(named=True))
    ]
    return Run(lives, [])


def _ticks(seconds: float) -> int:
    return round(seconds * SECOND)


def numbers(text: str | None) -> dict[int, int]:
    """Cores by node of `0-3:24,7:5`."""
    found: dict[int, int] = {}
    for part in (text or "").split(","):
        if part:
            nodes, _, cores = part.partition(":")
            first, _, last = nodes.partition("-")
            found |= dict.fromkeys(range(int(first), int(last or first) + 1), int(cores))
    return found


def differences(fast: Run, slow: Run) -> list[tuple[Any, Any]]:
    """The jobs that differ, as (engine's, twin's)."""
    return [pair for pair in zip(fast.lives, slow.lives, strict=True) if pair[0] != pair[1]]
