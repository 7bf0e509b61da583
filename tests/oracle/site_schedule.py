"""A small schedule of a site, computed by the slow twin or by the compiled engine, for scenarios checked by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND
from walltime.core.workload import COLUMNS, Workload
from walltime.scenario import parse

ABSENT = {"cores": 1, "gpus": 0, "exclusive": 0}
"""What a job that does not say is taken to say, where it is not nothing."""


@dataclass(frozen=True)
class Schedule:
    """What became of the jobs, by column, times in seconds. `reasons` is None where the engine keeps them elsewhere."""

    starts: list[float | None]
    ends: list[float | None]
    states: list[str]
    queues: list[str | None]
    nodes: list[str | None]
    backfilled: list[bool]
    reasons: list[str | None] | None


def job(submit: float, time: float | None, cores: int = 1, **columns: Any) -> dict[str, Any]:
    """A job that asks for `time` seconds, and runs as long unless `run_time` says otherwise."""
    return {"submit": submit, "requested_time": time, "run_time": time, "cores": cores} | columns


def table(jobs: tuple[dict[str, Any], ...]) -> Workload:
    names = [name for name in COLUMNS if any(name in described for described in jobs)]
    columns = {name: [described.get(name, ABSENT.get(name)) for described in jobs] for name in names}
    return Workload.from_columns(**columns)


def schedule_slowly(cluster: Mapping[str, Any], *jobs: dict[str, Any]) -> Schedule:
    """By the twin."""
    workload = table(jobs)
    outcomes = reference.simulate(parse({"workload": {"table": workload}, "cluster": cluster}))
    return Schedule(
        [None if outcome.start is None else outcome.start / SECOND for outcome in outcomes],
        [None if outcome.end is None else outcome.end / SECOND for outcome in outcomes],
        [outcome.state for outcome in outcomes],
        [outcome.queue for outcome in outcomes],
        [outcome.nodes for outcome in outcomes],
        [outcome.backfilled for outcome in outcomes],
        [outcome.reason for outcome in outcomes],
    )


def schedule_fast(cluster: Mapping[str, Any], *jobs: dict[str, Any]) -> Schedule:
    """By the compiled engine; skips the test where it does not know the rules yet."""
    try:
        result = api.simulate({"workload": {"table": table(jobs)}, "cluster": cluster})
    except InputError as error:
        if isinstance(error, UnsupportedError) or error.value == "topology":
            pytest.skip(f"not supported by the engine: {error}")
        raise
    rows = result.jobs
    where = dict(result.allocations.select("job_id", "nodes").rows()) if "nodes" in result.allocations.columns else {}
    return Schedule(
        rows["start"].to_list(),
        rows["end"].to_list(),
        rows["state"].to_list(),
        rows["queue"].to_list(),
        [where.get(number) for number in rows["job_id"].to_list()],
        rows["backfilled"].to_list(),
        None,
    )
