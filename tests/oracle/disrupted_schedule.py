"""A small schedule with disruptions, by the slow twin or by the compiled engine, for scenarios checked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from site_schedule import table

from twin import reference
from walltime import api
from walltime.core.errors import UnsupportedError
from walltime.core.time import SECOND
from walltime.scenario import parse

Span = tuple[float, float, str]


@dataclass(frozen=True)
class Story:
    """What became of the jobs, job by job, times in seconds: all intervals as (start, end, outcome)."""

    spans: list[list[Span]]
    states: list[str]
    ends: list[float | None]
    lost: list[float]  # core-seconds
    restarts: list[int]
    nodes: list[list[str | None]]  # of each interval
    attempts: list[list[int]]


def tell_slowly(scenario: Mapping[str, Any], *jobs: dict[str, Any]) -> Story:
    """By the twin."""
    outcomes = reference.simulate(parse(scenario | {"workload": {"table": table(jobs)}}))
    return Story(
        [[(part.start / SECOND, part.end / SECOND, part.outcome) for part in job.intervals] for job in outcomes],
        [job.state for job in outcomes],
        [None if job.end is None else job.end / SECOND for job in outcomes],
        [job.lost / SECOND for job in outcomes],
        [job.restarts for job in outcomes],
        [[part.nodes for part in job.intervals] for job in outcomes],
        [[part.attempt for part in job.intervals] for job in outcomes],
    )


def tell_fast(scenario: Mapping[str, Any], *jobs: dict[str, Any]) -> Story:
    """By the compiled engine; skips the test where it does not know the rules yet."""
    try:
        result = api.simulate(scenario | {"workload": {"table": table(jobs)}})
    except UnsupportedError as error:
        pytest.skip(f"not supported by the engine: {error}")
    rows = [
        result.allocations.filter(result.allocations["job_id"] == number).sort("start", maintain_order=True)
        for number in result.jobs["job_id"].to_list()
    ]
    return Story(
        [list(row.select("start", "end", "outcome").iter_rows()) for row in rows],
        result.jobs["state"].to_list(),
        result.jobs["end"].to_list(),
        result.jobs["lost_core_seconds"].to_list(),
        result.jobs["restarts"].to_list(),
        [row["nodes"].to_list() for row in rows],
        [row["attempt"].to_list() for row in rows],
    )
