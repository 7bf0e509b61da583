"""One scenario of a site, run by the compiled engine and by its slow twin: the same rows from both."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND
from walltime.scenario import Scenario

COLUMNS = ("job_id", "queue", "start", "end", "state", "backfilled")
Row = tuple[Any, ...]


def rows_of(result: api.Result) -> list[Row]:
    """Each job of a result: COLUMNS, and its nodes."""
    where = dict(result.allocations.select("job_id", "nodes").rows()) if "nodes" in result.allocations.columns else {}
    return [_known((*row, where.get(row[0]))) for row in result.jobs.select(COLUMNS).rows()]


def fast_rows(scenario: Scenario) -> list[Row]:
    """The same by the compiled engine."""
    return rows_of(api.simulate(scenario))


def slow_rows(scenario: Scenario) -> list[Row]:
    """The same by the twin."""
    rows = []
    for job in reference.simulate(scenario):
        start, end = (None if time is None else time / SECOND for time in (job.start, job.end))
        rows.append(_known((job.job_id, job.queue, start, end, job.state, job.backfilled, job.nodes)))
    return rows


def _known(row: Row) -> Row:
    """The row without the queue of a rejected job, which may have named several: it was in none."""
    return (row[0], None, *row[2:]) if row[4] == "rejected" else row


def simulate(scenario: Scenario) -> api.Result | None:
    """By the compiled engine; None where it refuses the scenario, by its name or for a topology that is not there."""
    try:
        return api.simulate(scenario)
    except InputError as error:
        if not isinstance(error, UnsupportedError) and error.value != "topology":
            raise
        return None


def compare(draw: Callable[[int, str], Scenario], seed: int, kind: str, audited: bool = False) -> api.Result | None:
    """The engine's result, which is the twin's, and with `audited` legal; None where the engine refuses. Or fails."""
    scenario = draw(seed, kind)
    result = simulate(scenario)
    if result is None:
        return None
    fast, slow = rows_of(result), slow_rows(scenario)
    if fast != slow:
        first = next(pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1])
        site = scenario.clusters[0].model_dump(exclude_defaults=True)
        where = f"{draw.__module__}.{draw.__name__}({seed}, {kind!r})"
        pytest.fail(f"engine {first[0]}, twin {first[1]}; {where}: {site}", pytrace=False)
    if audited:
        assert result.audit() == [], f"{draw.__module__}.{draw.__name__}({seed}, {kind!r})"
    return result


def compare_with_twin(
    draw: Callable[[int, str], Scenario], kind: str, seeds: Iterable[int], audited: bool = False
) -> list[api.Result]:
    """The results of all of them, more than half of which the engine has to take. Others each day: soak_twins.py."""
    found = [compare(draw, seed, kind, audited) for seed in seeds]
    results = [result for result in found if result is not None]
    assert len(results) > len(found) / 2, "too few of the scenarios are supported"
    return results
