"""Run time is the work that was done, and slowdown is by it, however long the work took."""

from __future__ import annotations

from typing import Any

import pytest

from walltime import api
from walltime.core.errors import InputError
from walltime.core.tables import SCHEMA
from walltime.core.workload import Workload


def simulate(cluster: dict[str, Any], rows: list[tuple[float, float, float]], **keys: Any) -> api.Result:
    """Jobs as (submit, work, request) on one core each."""
    submit, work, asked = zip(*rows, strict=True)
    table = Workload.from_columns(submit=submit, run_time=work, requested_time=asked, cores=[1] * len(rows))
    result = api.simulate({"workload": {"table": table}, "cluster": cluster, **keys})
    assert result.audit() == []
    return result


SHARED = {"nodes": [{"count": 1, "cores": 1, "max_load": 40, "quantum": 1}]}


@pytest.mark.parametrize("model", ["processor-sharing", "time-shared", "gang"])
def test_forty_jobs_that_share_one_processor(model):
    result = simulate(SHARED, [(0, 100, 100)] * 40, execution={"model": model})
    assert result.jobs["run_time"].to_list() == [100.0] * 40
    assert result.summary["last_end"] == 4000
    assert result.jobs["held_time"].to_list() == result.jobs["end"].to_list()
    assert result.summary["mean_bounded_slowdown"] == pytest.approx(sum(result.jobs["end"]) / 100 / 40)
    assert result.summary["mean_bounded_slowdown"] > 39
    assert result.summary["goodput"] == pytest.approx(1)


def test_a_slow_node():
    nodes = {"nodes": [{"count": 1, "cores": 1, "speed": 0.25}]}
    result = simulate(nodes, [(0, 100, 400)])
    row = result.jobs.row(0, named=True)
    assert (row["run_time"], row["held_time"], row["wait"]) == (100, 400, 0)
    assert result.summary["mean_bounded_slowdown"] == 4
    assert result.summary["goodput"] == 1
    assert simulate(nodes, [(0, 100, 300)]).jobs["run_time"].to_list() == [75], "killed at its limit"


def test_work_that_is_done_again_counts_once():
    """At 60 the node fails until 70; from nothing, the job of 100 s ends at 170; from a checkpoint at 50, at 120."""
    cluster = {"cores": 1, "failures": [{"at": 60, "length": 10, "cores": 1}]}
    again = simulate(cluster, [(0, 100, 100)]).jobs.row(0, named=True)
    assert (again["end"], again["run_time"], again["held_time"], again["wait"]) == (170, 100, 160, 10)
    execution = {"checkpoint": {"interval": 50, "cost": 0, "restart": 0}}
    kept = simulate(cluster | {"interrupted": "checkpoint"}, [(0, 100, 100)], execution=execution)
    row = kept.jobs.row(0, named=True)
    assert (row["end"], row["run_time"], row["held_time"], row["wait"]) == (120, 100, 110, 10)
    assert kept.summary["mean_bounded_slowdown"] == 1.2


def test_the_cost_of_checkpoints_is_no_work():
    execution = {"checkpoint": {"interval": 25, "cost": 5, "restart": 0}}
    row = simulate({"cores": 1}, [(0, 100, 100)], execution=execution).jobs.row(0, named=True)
    assert (row["run_time"], row["held_time"]) == (100, 115)


def test_work_until_the_end_of_a_failed_job_and_of_the_simulation():
    cluster = {"cores": 1, "failures": [{"at": 60, "length": 10, "cores": 1}], "interrupted": "fail"}
    failed = simulate(cluster, [(0, 100, 100)]).jobs.row(0, named=True)
    assert (failed["state"], failed["run_time"], failed["held_time"]) == ("failed", 60, 60)
    cut = simulate({"cores": 1}, [(0, 100, 100), (1, 5, 5)], until=30).jobs
    assert cut["run_time"].to_list() == [30, None]
    shared = simulate(SHARED, [(0, 100, 100)] * 2, execution={"model": "processor-sharing"}, until=30).jobs
    assert shared["run_time"].to_list() == [15, 15]
    assert shared["held_time"].to_list() == [30, 30]


def test_waits_so_far_of_one_that_was_interrupted():
    """It holds its core from 0 to 60 and from 70 on; at 90 it has waited for 10 s."""
    cluster = {"cores": 1, "failures": [{"at": 60, "length": 10, "cores": 1}]}
    row = simulate(cluster, [(0, 100, 100)], until=90).jobs.row(0, named=True)
    assert (row["state"], row["run_time"], row["held_time"], row["wait"]) == ("running", 20, 80, 10)


def test_a_result_of_the_schema_before_is_answered(tmp_path):
    folder = simulate({"cores": 1}, [(0, 100, 100)]).save(tmp_path / "result")
    summary = folder / "summary.json"
    summary.write_text(summary.read_text().replace(f'"schema": {SCHEMA}', '"schema": 1'))
    with pytest.raises(InputError, match="another schema"):
        api.load(folder)
