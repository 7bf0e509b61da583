"""On sites with resources, queues and limits the compiled engine and its slow twin give the same schedules."""

from __future__ import annotations

from typing import Any

import pytest
from site_scenarios import KINDS, draw_site
from test_nodes_twin import draw_case
from test_nodes_twin import slow_rows as node_rows

from twin import reference, reference_site
from walltime import api
from walltime.core.errors import InputError, UnsupportedError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Cluster, Scenario, parse

COLUMNS = ("job_id", "queue", "start", "end", "state", "backfilled")
POLICIES = (("fcfs", 1), ("aggressive", 1), ("easy", 1), ("easy", 2), ("easy", 4), ("conservative", 1))
Row = tuple[Any, ...]


def fast_rows(scenario: Scenario) -> list[Row]:
    """Each job by the compiled engine: COLUMNS, and its nodes."""
    result = api.simulate(scenario)
    where = dict(result.allocations.select("job_id", "nodes").rows()) if "nodes" in result.allocations.columns else {}
    return [_known((*row, where.get(row[0]))) for row in result.jobs.select(COLUMNS).rows()]


def slow_rows(scenario: Scenario) -> list[Row]:
    """The same by the twin."""
    rows = []
    for job in simulate_slowly(scenario):
        start, end = (None if time is None else time / SECOND for time in (job.start, job.end))
        rows.append(_known((job.job_id, job.queue, start, end, job.state, job.backfilled, job.nodes)))
    return rows


def _known(row: Row) -> Row:
    """The row without the queue of a rejected job, which may have named several: it was in none."""
    return (row[0], None, *row[2:]) if row[4] == "rejected" else row


def simulate_slowly(scenario: Scenario) -> list[reference_site.Outcome]:
    cluster = scenario.clusters[0]
    backfill, order = cluster.scheduler.backfill, cluster.scheduler.order
    return reference_site.simulate(
        scenario.workload.table,
        cluster,
        backfill.name,
        order.short(),
        backfill.parameters.get("depth", 1),
        scenario.seed,
        scenario.dependencies.never,
        scenario.dependencies.preceding,
        scenario.deadlines,
    )


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


@pytest.mark.parametrize("kind", KINDS)
def test_the_scenarios_are_worth_it(kind):
    """Jobs run, wait, overtake and are rejected, in numbers."""
    jobs = [
        job
        for seed in range(60)
        for site, workload in [draw_site(seed, kind)]
        for job in simulate_slowly(parse(site | {"workload": {"table": workload}}))
    ]
    started = [job for job in jobs if job.start is not None]
    assert len(started) > len(jobs) / 2
    assert sum(job.start > job.eligible for job in started) > len(started) / 4
    assert sum(job.backfilled for job in started) > len(started) / 30
    assert sum(job.state == "rejected" for job in jobs) > len(jobs) / 50
    assert sum(job.state == "timeout" for job in jobs) > len(jobs) / 50


@pytest.mark.parametrize(("policy", "depth"), POLICIES)
def test_without_rules_the_twin_is_the_one_for_nodes(policy, depth):
    for seed in range(60):
        case = draw_case(seed, policy, depth)
        groups = [{"count": count, "cores": cores, "speed": float(speed)} for count, cores, speed in case.groups]
        sharing = "whole" if case.whole else "shared"
        cluster = Cluster(nodes=groups, sharing=sharing, scheduler={"place": case.place})
        outcomes = reference_site.simulate(case.workload, cluster, "depth" if depth > 1 else policy, depth=depth)
        rows = [
            (
                job.job_id,
                None if job.start is None else job.start / SECOND,
                None if job.end is None else job.end / SECOND,
                job.state,
                job.backfilled,
                job.nodes,
            )
            for job in outcomes
        ]
        assert rows == node_rows(case), repr(case)


@pytest.mark.parametrize(("policy", "depth"), POLICIES)
def test_without_rules_the_twin_is_the_one_for_cores(policy, depth):
    for seed in range(60):
        drawn = draw_case(seed, policy, depth).workload.columns
        workload = Workload({name: values for name, values in drawn.items() if name not in ("nodes", "cores_per_node")})
        outcomes = reference_site.simulate(workload, Cluster(cores=12), "depth" if depth > 1 else policy, depth=depth)
        parts = {"backfill": {"name": "depth", "depth": depth}} if depth > 1 else policy
        expected = reference.simulate(workload, 12, parts)
        fields = ("job_id", "eligible", "start", "end", "state", "backfilled", "run")
        for mine, other in zip(outcomes, expected, strict=True):
            assert [getattr(mine, name) for name in fields] == [getattr(other, name) for name in fields]
