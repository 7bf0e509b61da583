"""What a queue makes of its jobs' requests: nodes of their own."""

from __future__ import annotations

from typing import Any

import pytest

import walltime
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError

QUEUES: dict[str, Any] = {"main": {"default": True}, "own": {"sharing": "whole"}}


def simulate(queues: list[str | None], cores: list[int], cluster: dict[str, Any] | None = None) -> walltime.Result:
    count = len(cores)
    times = {"submit": list(range(count)), "run_time": [10 + n for n in range(count)], "requested_time": [30] * count}
    table = walltime.Workload.from_columns(**times, cores=cores, queue=queues)
    usual = {"nodes": "3x4", "queues": QUEUES, "scheduler": {"backfill": "easy"}}
    return walltime.simulate({"workload": {"table": table}, "cluster": usual | (cluster or {})})


def starts_of(result: walltime.Result) -> list[float]:
    starts: list[float] = result.jobs.sort("job_id")["start"].to_list()
    return starts


def nodes_of(result: walltime.Result) -> list[str]:
    nodes: list[str] = result.allocations.sort("job_id")["nodes"].to_list()
    return nodes


def test_jobs_of_a_queue_have_nodes_of_their_own():
    result = simulate(["main", "own", "main", "own", "own"], [1, 1, 1, 5, 1])
    assert nodes_of(result) == ["0:1", "1:4", "0:1", "1-2:4", "0:4"]
    assert starts_of(result) == [0, 1, 2, 12, 14]
    assert result.audit() == []


def test_a_job_that_names_several_queues_asks_each_for_its_own():
    """The one with nodes of its own comes first, but has room only where nobody is."""
    queues: dict[str, Any] = {
        "own": {"sharing": "whole", "priority": 1, "nodes": "n[0-1]"},
        "main": {"nodes": "n[0-2]"},
    }
    result = simulate(["main", "own,main", "own,main", "own"], [5, 1, 2, 8], {"queues": queues})
    assert nodes_of(result) == ["0:4,1:1", "1:1", "1:2", "0-1:4"]
    assert result.jobs.sort("job_id")["queue"].to_list() == ["main", "main", "main", "own"]
    assert result.audit() == []


def test_the_audit_finds_company():
    """A schedule of a cluster that shares all nodes is none of this one."""
    shared, own = (
        simulate(["main", "own", "main"], [1, 1, 1], {"queues": queues}) for queues in ({"main": {}, "own": {}}, QUEUES)
    )
    found = audit(shared.record, workload=own.scenario.read_workload(), scenario=own.scenario)
    assert {fault.rule for fault in found} >= {"resources"}


def test_as_if_each_job_had_asked_for_it():
    cores = [1, 3, 2, 5, 1, 4, 7, 1, 2, 9]
    told = [int(n % 3 == 1) for n in range(10)]
    ours = simulate(["own" if alone else "main" for alone in told], cores)
    times = {"submit": list(range(10)), "run_time": [10 + n for n in range(10)], "requested_time": [30] * 10}
    table = walltime.Workload.from_columns(**times, cores=cores, exclusive=told)
    asked = walltime.simulate({"workload": {"table": table}, "cluster": {"nodes": "3x4"}})
    assert (starts_of(ours), nodes_of(ours)) == (starts_of(asked), nodes_of(asked))


def test_jobs_in_a_reservation_keep_their_queues_terms():
    table = walltime.Workload.from_columns(
        submit=[0, 0, 0], run_time=[5] * 3, requested_time=[5] * 3, cores=[1] * 3, queue=["own", "main", "main"],
        user=["ann"] * 3, reservation=["course"] * 3,
    )  # fmt: skip
    course = {"name": "course", "start": 10, "length": 60, "nodes": "n[0-1]", "users": "ann"}
    cluster = {"nodes": "3x4", "queues": QUEUES, "reservations": [course]}
    result = walltime.simulate({"workload": {"table": table}, "cluster": cluster})
    assert nodes_of(result) == ["0:4", "1:1", "1:1"]
    assert result.audit() == []


@pytest.mark.parametrize(
    ("cluster", "match"),
    [
        ({"cores": 8, "nodes": None}, "queue own, which gives whole nodes"),
        (
            {"sharing": "whole", "queues": {"main": {"sharing": "shared"}}},
            "whole nodes, also to jobs of the queue main",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(cluster, match):
    with pytest.raises(InputError, match=match):
        simulate([None], [1], cluster)
