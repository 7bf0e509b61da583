"""Workflows among the jobs of a workload: by period, by share, from files, and the mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from walltime import api
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import dump, load, parse
from walltime.workload.generate import generate
from walltime.workload.synthesis.workflow_mix import WAYS, Mix, add_workflows
from walltime.workload.workflow import Task, Workflow

FLOW = Workflow.of("flow", [Task("a", 4, 100, 150), Task("b", 8, 50, None, ("a",)), Task("c", 1, 10, 20, ("a", "b"))])
SMALL = Workflow.of("small", [Task("only", 1, 60)])


@pytest.fixture(scope="module")
def jobs() -> Workload:
    return generate(500, 64, 0.8, 1)


def work(workload: Workload) -> np.ndarray:
    return workload.column("cores") * (workload.column("run_time") / SECOND)


def test_a_pilot_is_as_wide_and_as_long_as_it_must_be(jobs):
    mixed = add_workflows(jobs, Mix([FLOW], "single", every=1e9))
    pilot = mixed.to_polars().filter(mixed.to_polars()["workflow"].is_not_null()).row(0, named=True)
    assert (pilot["cores"], pilot["run_time"], pilot["requested_time"]) == (8, 160, 220)
    assert mixed.notes["workflows"] == {
        "flow-1": {"name": "flow", "way": "single", "tasks": 3, "critical_path": 160.0, "work": 810.0}
    }


@pytest.mark.parametrize(("way", "aware"), [("multi", 0), ("manifest", 1)])
def test_tasks_wait_for_what_they_need(jobs, way, aware):
    mixed = add_workflows(jobs, Mix([FLOW], way, every=1e9, columns={"user": "ann"}))
    tasks = mixed.to_polars().filter(mixed.to_polars()["workflow"].is_not_null())
    assert tasks["dependencies"].to_list() == ["", "afterok:501", "afterok:501:502"]
    assert tasks["name"].to_list() == ["flow-1/a", "flow-1/b", "flow-1/c"]
    assert set(tasks["user"]) == {"ann"}
    assert (set(tasks["aware"]) if aware else {0}) == {aware}


def test_by_period_others_stay(jobs):
    span = float(np.ptp(jobs.column("submit"))) / SECOND
    mixed = add_workflows(jobs, Mix([FLOW, SMALL], "multi", every=span / 10, weights=[1, 0]))
    assert {about["name"] for about in mixed.notes["workflows"].values()} == {"flow"}
    assert len(mixed.notes["workflows"]) == 11
    assert len(mixed) == 500 + 33


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_by_share_the_work_stays(jobs, share):
    total = work(jobs).sum()
    mixed = add_workflows(jobs, Mix([FLOW, SMALL], "manifest", share=share, weights=[1, 3]), 7)
    mine = work(mixed)[mixed.column("workflow") >= 0].sum()
    assert mine == pytest.approx(share * total, abs=FLOW.work)
    assert work(mixed).sum() == pytest.approx(total, rel=0.01)
    names = [about["name"] for about in mixed.notes["workflows"].values()]
    assert 0.65 < names.count("small") / len(names) < 0.85
    again = add_workflows(jobs, Mix([FLOW, SMALL], "manifest", share=share, weights=[1, 3]), 7)
    assert again.to_polars().equals(mixed.to_polars())


def test_all_ways_come_at_the_same_times(jobs):
    times = []
    for way in WAYS:
        mixed = add_workflows(jobs, Mix([FLOW], way, share=0.2), 3)
        chosen = mixed.column("workflow") >= 0
        times.append(sorted(set(mixed.column("submit")[chosen].tolist())))
    assert times[0] == times[1] == times[2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"way": "pilot"}, "no such way"),
        ({"every": None}, "give every"),
        ({"share": 0.5}, "give every"),
        ({"every": 0.0}, "longer than zero"),
        ({"every": None, "share": 1.5}, "at most 1"),
        ({"weights": [1, 2]}, "a weight for each"),
        ({"weights": [0]}, "not all zero"),
    ],
)
def test_mistakes_in_a_mix(given, message):
    with pytest.raises(InputError, match=message):
        Mix([FLOW], **({"every": 60.0} | given))


@pytest.fixture
def scenario(tmp_path: Path):
    """A scenario file with a workflow of these tasks beside it."""

    def write(tasks: list[dict], **workflows: object) -> Path:
        (tmp_path / "flow.json").write_text(json.dumps({"tasks": tasks}))
        path = tmp_path / "scenario.yaml"
        mix = {"manifests": "flow.json", "submit": "multi", "every": "1h"} | workflows
        path.write_text(json.dumps({
            "workload": {"generate": {"jobs": 50, "cores": 16}, "workflows": mix}, "cluster": {"cores": 16},
        }))  # fmt: skip
        return path

    return write


def task(key: str, **more: object) -> dict[str, object]:
    return {"id": key, "number_of_cores": 2, "runtime_sim": 60.0, "runtime_limit": 90.0} | more


def test_from_a_file_beside_the_scenario(scenario):
    path = scenario([task("a"), task("b", deps=["a"])])
    result = api.simulate(path)
    assert result.audit() == []
    assert result.workflows.height > 1
    assert set(result.workflows["state"]) == {"completed"}
    again = parse(__import__("yaml").safe_load(dump(load(path))))
    assert api.simulate(again).digest == result.digest


def test_the_machine_of_a_scenario_counts_and_not_that_of_its_jobs(scenario):
    path = scenario([task("a", number_of_cores=17)])  # the jobs are made for 16 cores
    with pytest.raises(InputError, match="needs more cores than the machine's 16: 17"):
        api.simulate(path)
    result = api.simulate(load(path, [("cluster.cores", 32)]))
    assert set(result.workflows["state"]) == {"completed"}


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([task("a", deps=["b"]), task("b", deps=["a"])], r"flow\.json: .*circle.*a -> b -> a"),
        ([task("a", deps=["x"])], r"flow\.json: .*task a needs a task that is not there: 'x'"),
        ([task("a", number_of_cores=0)], r"flow\.json: .*task a needs at least one core: 0"),
        ([task("a", number_of_cores=17)], r"flow\.json: .*task a needs more cores than the machine's 16: 17"),
    ],
)
def test_a_malformed_manifest_is_told_by_file_and_task(scenario, tasks, message):
    with pytest.raises(InputError, match=message):
        api.simulate(scenario(tasks))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"every": None}, "needs every"),
        ({"share": 0.1}, "needs every"),
        ({"submit": "pilot"}, "single"),
        ({"manifests": []}, "no manifests"),
        ({"weight": 2}, "weight"),
        ({"manifests": "none.json"}, r"none\.json"),
    ],
)
def test_mistakes_in_a_scenario(scenario, given, message):
    with pytest.raises(InputError, match=message):
        api.simulate(scenario([task("a")], **given))
