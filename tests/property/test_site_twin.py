"""On sites with resources, queues and limits the compiled engine and its slow twin give the same schedules."""

from __future__ import annotations

import random
from typing import Any

import pytest
from site_scenarios import KINDS, draw_site

from twin import reference
from walltime import api
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

COLUMNS = ("job_id", "queue", "start", "end", "state", "backfilled")
Row = tuple[Any, ...]


def fast_rows(scenario: Scenario) -> list[Row]:
    """Each job by the compiled engine: COLUMNS, and its nodes."""
    result = api.simulate(scenario)
    where = dict(result.allocations.select("job_id", "nodes").rows()) if "nodes" in result.allocations.columns else {}
    return [_known((*row, where.get(row[0]))) for row in result.jobs.select(COLUMNS).rows()]


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(4))
def test_the_engine_agrees_with_its_twin(kind, part):
    refused: list[InputError] = []
    for seed in range(part * 50, part * 50 + 50):
        site, workload = draw_site(seed, kind)
        scenario = parse(site | {"workload": {"table": workload}})
        slow = slow_rows(scenario)
        try:
            fast = fast_rows(scenario)
        except InputError as error:
            if not isinstance(error, UnsupportedError) and error.value != "topology":
                raise
            refused.append(error)
            continue
        if fast != slow:
            first = next(pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1])
            pytest.fail(f"engine {first[0]}, twin {first[1]}; draw_site({seed}, {kind!r}): {site}", pytrace=False)
    if refused:
        pytest.skip(f"{len(refused)} of 50 scenarios are not supported; the first: {refused[0]}")


@pytest.mark.parametrize("first", [0, 6])
def test_many_jobs_at_a_limit_before_whole_nodes(first):
    """A blocked job at the head of those that a limit holds back is the head, also where no nodes are free for it."""
    for seed in range(first, first + 6):
        draw = random.Random(seed)
        jobs = 60
        run = [draw.randrange(100, 8000) for _ in range(jobs)]
        shaped = [draw.random() < 0.5 for _ in range(jobs)]
        nodes = [draw.choice([1, 2, 4]) if own else None for own in shaped]
        each = [draw.choice([1, 2, 12]) if own else None for own in shaped]
        workload = Workload.from_columns(
            submit=sorted(draw.randrange(30_000) for _ in range(jobs)),
            run_time=run,
            requested_time=[own * draw.choice([1, 2, 5]) for own in run],
            nodes=nodes,
            cores_per_node=each,
            cores=[a * b if a and b else draw.randrange(1, 25) for a, b in zip(nodes, each, strict=True)],
            queue=[draw.choice(["low", "high", "high"]) for _ in range(jobs)],
        )
        cluster = {
            "nodes": "8x12",
            "sharing": "whole",
            "queues": {"low": {"priority": 10}, "high": {"priority": 30, "running_cores": 48}},
            "scheduler": {"order": "fcfs", "backfill": "easy"},
        }
        scenario = parse({"workload": {"table": workload}, "cluster": cluster})
        assert fast_rows(scenario) == slow_rows(scenario), seed


def test_a_pass_for_a_promise_that_was_kept_before_its_time_places_no_job(tmp_path):
    """By hand: job 5 was promised 3 s, and starts at 2 s, when job 1 ends early; with it job 3 is at the group's limit
    in the queue long and loses its promise. Nothing is to be done at 3 s. When job 4 ends at 5 s, job 2 moves forward
    to 6 s, and only then job 3 is placed again."""
    trace = tmp_path / "jobs.csv"
    trace.write_text(
        "job_id,submit,run_time,requested_time,cores,nodes,user,group,queue\n"
        "1,0,2,3,2,1,bo,,long\n"
        "2,0,7,12,3,1,bo,,short\n"
        '3,0,5,13,3,1,,atlas,"short,long"\n'
        "4,0,5,5,1,1,cy,atlas,long\n"
        "5,0,5,4,2,1,,atlas,long\n",
        encoding="utf-8",
    )
    cluster = {
        "nodes": [{"count": 1, "cores": 3, "name": "a"}, {"count": 1, "cores": 1, "name": "b"}],
        "queues": {"short": {"priority": 0}, "long": {"priority": 2}},
        "limits": [{"group": ["atlas"], "per": "queue", "running_cores": 5}, {"per": "user", "running_jobs": 1}],
        "scheduler": {"order": "smallest", "backfill": "conservative", "place": "best-fit"},
    }
    scenario = parse({"workload": {"trace": str(trace)}, "cluster": cluster})
    assert [row[2] for row in fast_rows(scenario)] == [0, 6, 13, 0, 2]
    assert fast_rows(scenario) == slow_rows(scenario)


@pytest.mark.parametrize("kind", KINDS)
def test_the_scenarios_are_worth_it(kind):
    """Jobs run, wait, overtake and are rejected, in numbers."""
    jobs = [
        job
        for seed in range(60)
        for site, workload in [draw_site(seed, kind)]
        for job in reference.simulate(parse(site | {"workload": {"table": workload}}))
    ]
    started = [job for job in jobs if job.start is not None]
    assert len(started) > len(jobs) / 2
    assert sum(job.start > job.eligible for job in started) > len(started) / 4
    assert sum(job.backfilled for job in started) > len(started) / 30
    assert sum(job.state == "rejected" for job in jobs) > len(jobs) / 50
    assert sum(job.state == "timeout" for job in jobs) > len(jobs) / 50
