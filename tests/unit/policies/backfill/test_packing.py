"""Dominant resource fairness and packing by vectors, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

import walltime
from walltime import Workload
from walltime.core.errors import InputError

NODES = [{"count": 1, "cores": 9, "memory": 18}]


def jobs(**columns: Any) -> Workload:
    count = len(columns["cores"])
    given = {"submit": [0] * count, "run_time": [10] * count, "nodes": [1] * count}
    given["requested_time"] = columns.get("run_time", given["run_time"])
    return Workload.from_columns(**(given | columns))


def simulate(workload: Workload, nodes: Any = NODES, **scheduler: Any) -> walltime.Result:
    cluster = {"nodes": nodes, "scheduler": scheduler}
    return walltime.simulate({"workload": {"table": workload}, "cluster": cluster})


def test_the_example_of_ghodsi():
    """Nine cores and 18 GB; tasks of <1, 4> and <3, 1>: three of the one user's run and two of the other's."""
    workload = jobs(cores=[1] * 9 + [3] * 9, memory=[4] * 9 + [1] * 9, user=["a"] * 9 + ["b"] * 9)
    for scheduler in ({"order": "drf", "backfill": "none"}, {"backfill": {"name": "tetris", "fairness": 1}}):
        result = simulate(workload, **scheduler)
        first = result.jobs.filter(result.jobs["start"] == 0)["user"].to_list()
        assert (first.count("a"), first.count("b")) == (3, 2), scheduler


def test_what_was_held_before_does_not_count():
    """User a has had all of the machine; at 10 both hold nothing, and the first to enter comes first."""
    workload = jobs(submit=[0, 1, 2], cores=[9, 9, 9], memory=[1, 1, 1], user=["a", "a", "b"])
    assert simulate(workload, order="drf", backfill="none").jobs["start"].to_list() == [0, 10, 20]


def test_the_poorer_user_comes_first():
    workload = jobs(
        submit=[0, 0, 1, 2], run_time=[20, 5, 1, 1], cores=[5, 4, 4, 4], memory=[1] * 4, user=["a", "b", "a", "b"]
    )
    assert simulate(workload, order="drf", backfill="none").jobs["start"].to_list() == [0, 0, 6, 5]


def test_the_job_that_points_where_the_node_is_empty():
    """On an empty node of 10 cores and 10 of memory the balanced job is the most alike; then what is left decides."""
    workload = jobs(cores=[6, 2, 4], memory=[2, 6, 4], user=["a", "b", "c"])
    result = simulate(workload, nodes=[{"count": 1, "cores": 10, "memory": 10}], backfill="tetris")
    assert result.jobs["start"].to_list() == [0, 10, 0]


def test_a_node_stops_at_the_job_that_does_not_fit():
    """The only user looked at has a job that does not fit: the other's would, and waits."""
    workload = jobs(submit=[0, 1, 1], cores=[6, 5, 1], memory=[1, 1, 1], user=["a", "b", "a"], run_time=[10, 1, 1])
    starts = {}
    for fairness in (0, 1):
        scheduler = {"backfill": {"name": "tetris", "fairness": fairness}}
        starts[fairness] = simulate(workload, **scheduler).jobs["start"].to_list()
    assert starts[1] == [0, 10, 10]  # b holds less, and its job needs 5 of 3 cores
    assert starts[0] == [0, 10, 1]  # a's job is the more alike


def test_units_change_the_direction():
    """12 cores and 24 of memory are free; in halves of the cluster that is (1, 1), in numbers (12, 24)."""
    workload = jobs(cores=[12, 8], memory=[24, 24], user=["a", "b"])
    nodes = [{"count": 1, "cores": 12, "memory": 24}]
    assert simulate(workload, nodes=nodes, backfill="tetris").jobs["start"].to_list() == [0, 10]
    scale = {"name": "tetris", "scale": {"cores": 18, "memory": 24}}
    assert simulate(workload, nodes=nodes, backfill=scale).jobs["start"].to_list() == [0, 10]
    given = {"name": "tetris", "scale": {"cores": 1, "memory": "1"}}
    assert simulate(jobs(cores=[6, 8], memory=[24, 24], user=["a", "b"]), nodes=nodes, backfill=given).jobs[
        "start"
    ].to_list() == [10, 0]


def test_nodes_are_asked_every_so_often_and_when_something_ends():
    """Both nodes have been asked at 0; the job of 1 waits for the next multiple of 30, or for an end."""
    nodes = [{"count": 2, "cores": 4, "memory": 8}]
    workload = jobs(submit=[0, 1, 2], cores=[3, 3, 1], memory=[1] * 3, run_time=[100, 100, 5], user=["a", "a", "b"])
    result = simulate(workload, nodes=nodes, backfill={"name": "tetris", "every": 30})
    assert result.jobs["start"].to_list() == [0, 1, 30]
    workload = jobs(submit=[0, 1, 2], cores=[3, 3, 1], memory=[1] * 3, run_time=[100, 9, 5], user=["a", "a", "b"])
    assert simulate(workload, nodes=nodes, backfill={"name": "tetris", "every": 30}).jobs["start"].to_list() == [
        0,
        1,
        10,
    ]


def test_a_job_of_several_nodes_is_spread():
    workload = jobs(cores=[8, 2], nodes=[2, 1], memory=[8, 1], user=["a", "b"])
    result = simulate(workload, nodes=[{"count": 2, "cores": 5, "memory": 8}], backfill="tetris")
    assert result.jobs["start"].to_list() == [0, 10]
    assert result.allocations.sort("job_id")["nodes"].to_list() == ["0-1:4", "0:2"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fairness": 1.5}, "from 0 to 1"),
        ({"fairness": True}, "from 0 to 1"),
        ({"every": -1}, "seconds"),
        ({"scale": 3}, "mapping"),
        ({"scale": {"cores": 0}}, "above zero"),
        ({"scale": {"memory": "much"}}, "above zero"),
        ({"scale": {"fpga": 1}}, "no node has"),
    ],
)
def test_bad_parameters_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        simulate(jobs(cores=[1]), backfill={"name": "tetris"} | given)


def test_candidates_take_no_order_of_what_users_hold():
    with pytest.raises(InputError, match="for the queue"):
        simulate(jobs(cores=[1]), backfill={"name": "easy", "candidates": "drf"})


@pytest.mark.parametrize(
    "scheduler", [{"order": "drf", "backfill": "none"}, {"backfill": {"name": "tetris", "fairness": 1}}]
)
@pytest.mark.parametrize(
    ("nodes", "licences", "asks"),
    [
        ({"resources": {"fpga": 4}}, {}, {"resources": ["fpga:1"] * 4 + [None] * 4}),
        ({}, {"matlab": 4}, {"licences": ["matlab"] * 4 + [None] * 4}),
    ],
)
def test_named_resources_and_licences_have_shares(scheduler, nodes, licences, asks):
    """Of 16 cores and four of the other, a job of ann's takes a quarter: bo has four jobs before ann's second."""
    jobs = walltime.Workload.from_columns(
        submit=[0] * 8, run_time=[10] * 8, requested_time=[10] * 8, nodes=[1] * 8, cores=[1] * 8,
        user=["ann"] * 4 + ["bo"] * 4, **asks,
    )  # fmt: skip
    cluster = {"nodes": [{"count": 1, "cores": 16, **nodes}], "licences": licences, "scheduler": scheduler}
    cluster["limits"] = [{"running_jobs": 5}]
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert sorted(result.jobs.filter(result.jobs["start"] == 0)["user"]) == ["ann", "bo", "bo", "bo", "bo"]
    assert result.audit() == []
