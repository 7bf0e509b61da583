"""The three ways to submit a workflow, on small schedules worked out by hand."""

from __future__ import annotations

import pytest

from twin import reference
from walltime import api
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.generate import generate
from walltime.workload.presence import Mix, add_workflows
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
    twin = reference.simulate(workload, 4, "fcfs")
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
