"""What a queue makes of its jobs' requests: nodes of their own, memory by default and at most."""

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


NODES = [{"count": 2, "cores": 4, "memory": 100, "name": "a"}]


def run(cluster: dict[str, Any], cores: list[int], **more: Any) -> walltime.Result:
    """Jobs of 10 s that are submitted at once."""
    count = len(cores)
    times = {"submit": [0] * count, "run_time": [10] * count, "requested_time": [10] * count}
    table = walltime.Workload.from_columns(**times, cores=cores, **more)
    keys = {"cluster": {"nodes": NODES, "scheduler": {"place": "first-fit"}} | cluster}
    result = walltime.simulate({"workload": {"table": table}} | keys)
    assert result.audit() == []
    return result


@pytest.mark.parametrize(
    ("usual", "starts"),
    [
        (None, [0, 0, 0, 0, 0]),
        ("0/core", [0, 0, 0, 0, 0]),
        ("30/core", [0, 0, 0, 0, 0]),
        ("50/core", [0, 0, 0, 0, 10]),
        ("60/node", [0, 0, 10, 10, 20]),
        ("all", [0, 0, 10, 10, 20]),
    ],
)
def test_jobs_that_say_nothing_of_memory_have_the_usual_amount(usual, starts):
    """Of two nodes with 100 each; one that says something has that."""
    assert starts_of(run({"default_memory": usual}, [1] * 5)) == starts
    told = run({"default_memory": usual}, [1] * 5, memory_per_core=[1] * 5)
    assert starts_of(told) == [0] * 5


def test_all_memory_of_nodes_that_differ_is_a_node_of_ones_own():
    nodes = [{"count": 1, "cores": 4, "memory": 100, "name": "a"}, {"count": 1, "cores": 4, "memory": 900, "name": "b"}]
    result = run({"nodes": nodes, "default_memory": "all"}, [1, 1, 1, 1], memory=[None, None, 50, None])
    assert starts_of(result) == [0, 0, 10, 10]
    assert nodes_of(result) == ["0:4", "1:4", "0:1", "1:4"]


def test_a_queue_has_a_usual_amount_of_its_own():
    queues: dict[str, Any] = {"main": {}, "large": {"default_memory": "100/node"}, "none": {"default_memory": "0/core"}}
    names = ["large", "main", "main", "none", "none", "main"]
    result = run({"default_memory": "50/core", "queues": queues}, [1] * 6, queue=names)
    assert nodes_of(result) == ["0:1", "1:1", "1:1", "0:1", "0:1", "0:1"]
    assert starts_of(result) == [0, 0, 0, 0, 0, 10]


def test_limits_count_the_usual_amount():
    cluster = {"default_memory": "20/core", "limits": [{"running_memory": 60}]}
    assert starts_of(run(cluster, [1] * 7)) == [0, 0, 0, 10, 10, 10, 20]


@pytest.mark.parametrize(
    ("columns", "cores", "nodes"),
    [
        ({"memory_per_core": [30]}, 2, "0:2"),
        ({"memory_per_core": [25]}, 1, "0:1"),
        ({"memory_per_core": [51]}, 3, "0:3"),
        ({"memory": [70]}, 3, "0:3"),
        ({"memory_per_node": [70]}, 3, "0:3"),
        ({"memory_per_node": [70], "nodes": [1]}, 3, "0:3"),
        ({}, 2, "0:2"),
    ],
)
def test_more_memory_with_a_core_than_there_is_to_have_comes_with_more_cores(columns, cores, nodes):
    result = run({"default_memory": "40/core", "max_memory": "25/core"}, [1], **columns)
    assert result.jobs["cores"].to_list() == [cores]
    assert nodes_of(result) == [nodes]


def test_a_job_that_no_queue_takes_stays_as_it_is():
    result = run({"queues": {"main": {"max_memory": "25/core"}}}, [1], memory_per_core=[50])
    assert result.jobs.select("state", "cores").rows() == [("rejected", 1)]


def test_the_audit_finds_cores_that_were_not_given():
    columns = {"memory_per_core": [50]}
    without, grown = run({}, [1], **columns), run({"max_memory": "25/core"}, [1], **columns)
    found = audit(without.record, workload=grown.scenario.read_workload(), scenario=grown.scenario)
    assert [fault.message for fault in found] == ["has another number of cores than in the workload"]


def test_more_memory_on_a_node_than_may_be_asked_for_is_rejected():
    queues: dict[str, Any] = {"main": {"max_memory": "50/node"}, "large": {}}
    cluster = {"max_memory": "90/node", "queues": queues}
    names = ["main", "main", "large", "large", "main,large", "main"]
    memory = [50, 51, 90, 91, 60, None]
    result = run(cluster, [1] * 6, queue=names, memory_per_node=memory)
    assert result.jobs["state"].to_list() == [
        "completed",
        "rejected",
        "completed",
        "rejected",
        "completed",
        "completed",
    ]
    reasons = result.record.facts["rejected_reasons"]
    assert set(reasons) == {f"more memory on a node than queue {name} gives" for name in ("main", "large")}
    found = audit(
        run({"queues": {"main": {}, "large": {}}}, [1] * 6, queue=names, memory_per_node=memory).record,
        workload=result.scenario.read_workload(),
        scenario=result.scenario,
    )
    assert {(fault.job_id, fault.message) for fault in found} >= {
        (2, "has more memory on a node than it may ask for"),
        (4, "has more memory on a node than it may ask for"),
    }


def test_more_cores_for_more_memory_are_refused_where_jobs_may_go_elsewhere():
    clusters = [{"name": name, "nodes": NODES, "max_memory": "25/core"} for name in "ab"]
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1])
    with pytest.raises(InputError, match=r"clusters.0.max_memory"):
        walltime.simulate({"workload": {"table": jobs}, "clusters": clusters, "broker": "first"})


@pytest.mark.parametrize(
    ("cluster", "match"),
    [
        ({"default_memory": "4G/core"}, "has default_memory, but no node tells its memory"),
        ({"queues": {"main": {"max_memory": "4G/node"}}}, "has max_memory, but no node tells its memory"),
        ({"nodes": NODES, "default_memory": "4G"}, "not an amount of memory with a core or on a node"),
        ({"nodes": NODES, "max_memory": "all"}, "not an amount of memory with a core or on a node"),
        ({"nodes": NODES, "max_memory": "0/core"}, "must be more than nothing"),
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
