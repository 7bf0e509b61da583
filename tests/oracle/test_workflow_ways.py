"""The three ways to submit a workflow, on small schedules worked out by hand."""

from __future__ import annotations

import pytest
from site_schedule import job

from twin import reference
from walltime import api
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.generate import generate
from walltime.workload.synthesis.workflow_mix import Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

FLOW = Workflow.of("flow", [Task("wide", 4, 10, 10), Task("long", 1, 20, 20, ("wide",))])


def submit(way: str) -> Workload:
    """The workflow at 0, and at 1 a job that wants all four cores for 30 seconds."""
    others = Workload.from_columns(job_id=[1], submit=[1], run_time=[30], requested_time=[30], cores=[4])
    mix = Mix([FLOW], way, every=100.0, first=-1.0)
    return add_workflows(others, mix)


@pytest.mark.parametrize(
    ("way", "expected"),
    [
        ("single", {"flow-1": (0, 30), "1": (30, 60)}),  # one job of 4 cores for 30 seconds
        ("multi", {"flow-1/wide": (0, 10), "1": (10, 40), "flow-1/long": (40, 60)}),  # eligible at 10, after job 1
        ("manifest", {"flow-1/wide": (0, 10), "flow-1/long": (10, 30), "1": (30, 60)}),  # as its workflow, since 0
    ],
)
def test_a_workflow_beside_a_job(way, expected):
    workload = submit(way)
    result = api.simulate(workload, cores=4, policy="fcfs")
    assert result.audit() == []
    rows = {name or str(number): (start, end) for number, name, start, end in
            result.jobs.select("job_id", "name", "start", "end").rows()}  # fmt: skip
    assert rows == expected
    twin = reference.simulate_cores(workload, 4, "fcfs")
    assert [job.start / SECOND for job in twin] == result.jobs["start"].to_list()
    assert [job.eligible / SECOND for job in twin] == result.jobs["eligible"].to_list()


def test_the_account_of_each_way():
    """Wait, run, turnaround, stretch (critical path 30 s), time between tasks, and core-seconds that a pilot wastes."""
    found = {}
    for way in ("single", "multi", "manifest"):
        row = api.simulate(submit(way), cores=4, policy="fcfs").workflows.row(0, named=True)
        idle = round(row["idle_core_hours"] * 3600, 6)
        found[way] = (row["wait"], row["run"], row["turnaround"], row["stretch"], row["between"], idle)
    assert found == {"single": (0, 30, 30, 1, 0, 60), "multi": (0, 60, 60, 2, 30, 0), "manifest": (0, 30, 30, 1, 0, 0)}


def test_the_priority_is_the_workflows():
    """By priority: the long task of an urgent workflow goes before a job that has waited longer."""
    others = Workload.from_columns(
        job_id=[1, 2], submit=[0, 1], run_time=[5, 30], requested_time=[5, 30], cores=[4, 4], priority=[9, 5]
    )
    starts = []
    for priority in (1, 7):
        workload = add_workflows(others, Mix([FLOW], "manifest", every=100.0, columns={"priority": priority}))
        jobs = api.simulate(workload, cores=4, policy={"order": "priority", "backfill": "none"}).jobs
        starts.append(dict(jobs.select("name", "start").rows())["flow-1/long"])
    assert starts == [45, 15]


def test_a_failed_task_takes_the_rest_of_the_workflow_with_it():
    flow = Workflow.of("flow", [Task("a", 1, 10, 5), Task("b", 1, 5, 5, ("a",)), Task("c", 1, 5, 5, ("b",))])
    others = Workload.from_columns(job_id=[1], submit=[0], run_time=[1], requested_time=[1])
    result = api.simulate(add_workflows(others, Mix([flow], "multi", every=100.0)), cores=4)
    assert result.jobs["state"].to_list() == ["completed", "timeout", "cancelled", "cancelled"]
    assert result.workflows.select("state", "run", "turnaround").rows() == [("timeout", None, None)]
    assert result.summary["workflows"][0]["completed"] == 0


NAMES = ("cybershake", "floodplain", "montage", "sipht", "synthLongWide", "synthWideLong")


@pytest.mark.parametrize("way", ["single", "multi", "manifest"])
def test_published_manifests_run_in_every_way(way, external):
    flows = [read_workflow(external(f"workflows/{name}.json")) for name in NAMES]
    workload = add_workflows(generate(300, 2048, 0.7, 1), Mix(flows, way, every=6 * 3600.0), 1)
    result = api.simulate(workload, cores=2048, policy="fcfs")
    assert result.audit() == []
    table = result.workflows
    assert set(table["state"]) == {"completed"}
    assert (table["stretch"] >= 1 - 1e-9).all()
    assert (table["idle_core_hours"].max() > 1) == (way == "single")


ORDERS = [
    *("fcfs", "sjf", "ljf", "smallest", "largest", "smallest-area", "largest-area"),
    *("expansion", "wfp3", "unicef", "f1", "f4"),
    {"name": "formula", "value": "cores * wait / requested_time"},
]


@pytest.mark.parametrize("order", ORDERS, ids=str)
def test_all_tasks_of_an_aware_workflow_have_the_priority_of_their_pilot(order):
    """With four cores kept busy until 50, tasks and the pilot stand at the same place among other jobs."""
    flow = Workflow.of(
        "flow", [Task("wide", 3, 30, 30), Task("long", 1, 100, 100, ("wide",)), Task("short", 1, 5, 5, ("wide",))]
    )
    others = Workload.from_columns(
        job_id=[1, 2, 3, 4, 5],
        submit=[0, 1, 2, 3, 4],
        run_time=[50, 20, 200, 60, 7],
        requested_time=[50, 20, 200, 60, 7],
        cores=[4, 4, 2, 1, 3],
    )
    places = []
    for way in ("single", "manifest"):
        workload = add_workflows(others, Mix([flow], way, every=100.0, first=2.5))
        result = api.simulate(workload, cores=4, policy={"order": order, "backfill": "none"})
        assert result.audit() == []
        twin = reference.simulate_cores(workload, 4, {"order": order, "backfill": "none"})
        assert [job.start / SECOND for job in twin] == result.jobs["start"].to_list()
        starts = dict(result.jobs.select("job_id", "start").rows())
        mine = result.jobs.filter(result.jobs["workflow"].is_not_null())
        places.append({job for job in range(1, 6) if starts[job] < mine["start"].min()})
        if way == "manifest":  # a successor is not overtaken: nothing else starts while one is ready and waits
            ready = mine["end"][0]
            late = mine["start"][1:].max()
            assert not [job for job in range(1, 6) if job not in places[-1] and ready < starts[job] < late]
    assert places[0] == places[1]


def test_tasks_in_different_queues_have_one_priority(schedule):
    """One core. A and C are tasks of a workflow, A in the queue with the larger factor; C waits for A. B is a job in
    the queue of C and entered before it. A runs to 10; then C goes before B, with the factor of A."""
    order = {"name": "multifactor", "weights": {"age": 0, "partition": 1000}}
    got = schedule(
        {
            "cores": 1,
            "queues": {"fast": {"job_factor": 10}, "slow": {"job_factor": 1}},
            "scheduler": {"order": order, "backfill": "none"},
        },
        job(0, 10, queue="fast", job_id=1, workflow="flow", aware=1, dependencies=""),
        job(0, 10, queue="slow", job_id=2, workflow=None, aware=0, dependencies=""),
        job(0, 10, queue="slow", job_id=3, workflow="flow", aware=1, dependencies="afterok:1"),
    )
    assert got.starts == [0, 20, 10]
