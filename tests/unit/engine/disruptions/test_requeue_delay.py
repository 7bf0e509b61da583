"""A job that was put back into the queue pauses before it can start again: by hand, and as the twin has it."""

from __future__ import annotations

from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.engine import ending
from walltime.scenario import parse

FAILURE = {"nodes": ["n0"], "at": 300, "length": 20}


def scenario(cluster: dict[str, Any], rows: list[dict[str, Any]], **keys: Any) -> Any:
    columns = {name: [row.get(name) for row in rows] for name in dict.fromkeys(key for row in rows for key in row)}
    table = Workload.from_columns(**columns)
    return parse({"workload": {"table": table}, "cluster": cluster, **keys})


def job(submit: float, time: float, **more: Any) -> dict[str, Any]:
    return {"submit": submit, "run_time": time, "requested_time": 2 * time, "cores": 4} | more


def intervals(given: Any) -> list[list[tuple[float, float]]]:
    """The times in which each job ran, the same in the twin; the schedule is legal."""
    result = api.simulate(given)
    assert result.audit() == []
    told = result.allocations.sort("start")
    mine = [
        [(start, end) for start, end, owner in told.select("start", "end", "job_id").iter_rows() if owner == number]
        for number in result.jobs["job_id"].to_list()
    ]
    theirs = [[(span.start / 1e6, span.end / 1e6) for span in one.intervals] for one in reference.simulate(given)]
    assert mine == theirs
    return mine


def test_it_waits_for_its_pause_though_its_node_is_back():
    cluster = {"nodes": "1x4", "failures": [FAILURE], "requeue_delay": 121}
    assert intervals(scenario(cluster, [job(0, 500)])) == [[(0, 300), (421, 921)]]


def test_others_start_meanwhile_and_the_job_is_first_again_after_it():
    cluster = {"nodes": "1x4", "failures": [FAILURE], "requeue_delay": 121}
    rows = [job(0, 500), job(10, 200), job(20, 100)]
    assert intervals(scenario(cluster, rows)) == [[(0, 300), (520, 1020)], [(320, 520)], [(1020, 1120)]]


def test_a_displaced_job_pauses_too():
    queues = {"urgent": {"priority": 2}, "slow": {"priority": 1, "default": True}}
    scheduler = {"preempt": {"name": "queue", "mode": "requeue"}, "backfill": "easy"}
    cluster = {"nodes": "1x4", "queues": queues, "scheduler": scheduler, "requeue_delay": 60}
    rows = [job(0, 500, queue="slow"), job(100, 10, queue="urgent")]
    assert intervals(scenario(cluster, rows)) == [[(0, 100), (160, 660)], [(100, 110)]]


def test_a_job_that_is_withdrawn_in_its_pause():
    cluster = {"nodes": "1x4", "failures": [FAILURE], "requeue_delay": 121}
    result = api.simulate(scenario(cluster, [job(0, 500, cancel=400)]))
    assert result.jobs["state"].to_list() == ["cancelled"]
    assert result.jobs["end"].to_list() == [400]
    assert result.audit() == []


def test_slurms_planner_does_not_notice_before_it_looks_at_all_jobs():
    """As its controller: a begin time that has come is no event."""
    scheduler = {"rhythm": "slurm", "backfill": "conservative"}
    cluster = {"nodes": "2x4", "failures": [FAILURE | {"at": 317}], "requeue_delay": 121, "scheduler": scheduler}
    busy = job(0, 3000, nodes=1)
    assert intervals(scenario(cluster, [busy | {"cores": 4}, job(0, 300, nodes=1)]))[0] == [(0, 317), (480, 3480)]
    scheduler["rhythm"] = {"name": "slurm", "sched_interval": -1}
    assert intervals(scenario(cluster, [busy, job(0, 300, nodes=1)]))[0] == [(0, 317), (438, 3438)]


def test_jobs_that_are_interrupted_for_ever_keep_no_run_alive():
    """Some are always in their pause: the run is over all the same."""
    often = [
        {"name": f"often{k}", "start": 50 + 7 * k, "length": 10, "every": 3600, "nodes": [f"n{k}"]} for k in range(3)
    ]
    cluster = {"nodes": "3x4", "reservations": often, "requeue_delay": 3000}
    rows = [job(0, 5000, nodes=1, requested_time=10) for _ in range(3)]
    result = api.simulate(scenario(cluster, rows, execution={"overrun": "extend"}))
    assert set(result.record.facts["left"]) == {ending.FRUITLESS}
    assert max(result.jobs["restarts"].to_list()) <= ending.CHANCES + 1


def test_the_audit_sees_a_pause_that_was_too_short():
    cluster = {"nodes": "1x4", "failures": [FAILURE], "requeue_delay": 60}
    result = api.simulate(scenario(cluster, [job(0, 500)]))
    longer = scenario(cluster | {"requeue_delay": 61}, [job(0, 500)])
    assert [str(one) for one in audit(result, scenario=longer)] == [
        "pause: job 1 at 360 s: starts again before its pause is over"
    ]


@pytest.mark.parametrize(("nodes", "wrong"), [(1, 1), (2, 0)])
def test_the_controller_has_no_pause_for_a_job_all_of_whose_several_nodes_fail_at_once(nodes, wrong):
    names = [f"n{node}" for node in range(nodes)]
    cluster = {"nodes": f"{nodes}x4", "failures": [FAILURE | {"nodes": names}], "requeue_delay": 60}
    rows = [job(0, 500, nodes=nodes, cores=nodes)]
    result = api.simulate(scenario(cluster, rows))
    longer = scenario(cluster | {"requeue_delay": 61}, rows)
    assert len(audit(result, scenario=longer)) == 1
    result.record.facts["own_places"] = True
    assert len(audit(result, scenario=longer)) == wrong


@pytest.mark.parametrize("value", [-1, "soon"])
def test_a_pause_is_a_time(value):
    with pytest.raises(InputError, match="requeue_delay"):
        scenario({"nodes": "1x4", "requeue_delay": value}, [job(0, 5)])
