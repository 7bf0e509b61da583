"""Schedules that look odd and are legal, and what is odd beside them and is not."""

from __future__ import annotations

from typing import Any

import pytest

from handmade import job, record
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.workload import Workload
from walltime.explaining import explain

TWO = [{"name": "a", "cores": 2, "limits": [{"submitted_jobs": 1}]}, {"name": "b", "cores": 1}]


def jobs(size: int, **columns: Any) -> Workload:
    given = {"submit": [0] * size, "run_time": [10] * size, "requested_time": [10] * size, "cores": [1] * size}
    return Workload.from_columns(**(given | columns))


def test_a_job_counts_where_it_is_sent_once_its_dependency_is_met():
    """Job 2 comes to cluster a when job 1 has left it; until then it is in no cluster, and so at no limit."""
    table = jobs(2, cores=[2, 2], dependencies=["", "afterany:1"])
    result = api.simulate({"workload": table, "clusters": TWO, "broker": "first"})
    assert result.jobs.select("cluster", "state", "start").rows() == [("a", "completed", 0), ("a", "completed", 10)]
    assert result.audit() == []


def test_a_job_that_waits_with_the_broker_is_explained():
    table = jobs(2, cores=[2, 2])
    result = api.simulate({"workload": table, "clusters": TWO, "broker": {"name": "first", "hold": True}})
    told = explain(result, 2)
    assert [(cause.kind, cause.start, cause.end) for cause in told.causes] == [("cluster", 0, 10)]


def test_a_job_that_an_engine_of_whole_seconds_ends_early():
    early = job(1, 0.0, 10.09, 110.0, state="timeout", requested_time=100.0)
    assert audit(record(early, limit_slack=60.0)) == []
    assert {found.rule for found in audit(record(early))} == {"state"}
    earlier = job(1, 0.0, 11.5, 110.0, state="timeout", requested_time=100.0)
    assert {found.rule for found in audit(record(earlier, limit_slack=60.0))} == {"state"}


def test_waits_so_far_in_several_clusters():
    """Job 1 is interrupted on a at 5 and runs again from 8; at 9 it has waited for 3 s."""
    down = [{"at": 5, "length": 3, "cores": 2}]
    clusters = [{"name": "a", "cores": 2, "failures": down}, {"name": "b", "cores": 1}]
    result = api.simulate({"workload": jobs(1, cores=[2]), "clusters": clusters, "broker": "first", "until": 9})
    assert result.jobs.select("state", "wait", "run_time", "held_time").rows() == [("running", 3, 1, 6)]
    assert result.audit() == []


@pytest.mark.parametrize("model", ["time-shared", "gang", "processor-sharing"])
def test_time_is_shared_on_the_nodes_of_a_reservation(model):
    """Two jobs of 10 s share the reservation's only core; they end when both have done their work."""
    held = {"name": "course", "start": 0, "length": 100, "nodes": ["n1"], "users": ["ann"]}
    cluster = {"nodes": [{"count": 2, "cores": 1, "max_load": 2, "quantum": 1}], "reservations": [held]}
    table = jobs(2, user=["ann", "ann"], reservation=["course", "course"], requested_time=[50, 50])
    result = api.simulate({"workload": table, "cluster": cluster, "execution": {"model": model}})
    assert result.jobs["state"].to_list() == ["completed", "completed"]
    assert result.jobs["end"].max() == 20
    assert set(result.allocations["nodes"]) == {"1:1"}
    assert result.audit() == []


def test_changes_from_task_to_task_that_take_an_age():
    """With each of their hundred quanta goes a change that takes 10^9 s; the run takes few steps."""
    node = {"count": 1, "cores": 1, "max_load": 2, "quantum": 1, "switch_cost": 1e9}
    looks: list[int] = []

    class Eyes:
        def attach(self, simulation: Any) -> None:
            simulation.every = 0.0

        def progress(self, now: int, submitted: int, ended: int) -> None:
            looks.append(now)

    table = jobs(2, run_time=[50, 50], requested_time=[50, 50])
    keys = {"workload": table, "cluster": {"nodes": [node]}, "execution": {"model": "time-shared"}}
    result = api.simulate(keys, observer=Eyes())
    assert result.jobs["end"].to_list() == [99e9 + 99, 100e9 + 100]
    assert result.jobs["run_time"].to_list() == [50, 50]
    assert len(looks) < 100
    assert result.audit() == []


@pytest.mark.parametrize("work", [10_000, 86_400])
@pytest.mark.parametrize("model", ["time-shared", {"name": "gang", "slot": 1e9 + 1, "switch_cost": 1e9}])
def test_a_job_that_would_end_after_the_last_time_there_is(model, work):
    """The product of turns and their length has more than 64 bits."""
    node = {"count": 1, "cores": 1, "max_load": 2, "quantum": 1, "switch_cost": 1e9}
    table = jobs(2, run_time=[work, work], requested_time=[50, 50])
    result = api.simulate({"workload": table, "cluster": {"nodes": [node]}, "execution": {"model": model}})
    assert result.jobs["state"].to_list() == ["running", "running"]
    assert [account["first"] for account in result.record.facts["left"].values()] == [[1, 2]]
    assert "146,000 years" in next(iter(result.record.facts["left"]))


def test_a_job_that_starts_as_its_user_gives_up():
    """With a pass after every event, the end of job 1 at 10 starts job 2 before its user's patience ends at 10."""
    table = jobs(2, patience=[None, 10])
    cluster = {"cores": 1, "scheduler": {"rhythm": "event"}}
    result = api.simulate({"workload": table, "cluster": cluster})
    assert result.jobs["start"].to_list() == [0, 10]
    assert result.audit() == []
    prompt = api.simulate({"workload": table, "cluster": {"cores": 1}})
    assert prompt.jobs["state"].to_list() == ["completed", "cancelled"]


def test_a_job_that_waits_for_one_from_after_the_cut_off():
    table = jobs(2, submit=[0, 50], dependencies=["afterany:2", ""])
    result = api.simulate({"workload": table, "cluster": {"cores": 1}, "until": 20})
    told = explain(result, 1)
    assert [cause.kind for cause in told.causes] == ["dependency"]
    assert told.causes[0].facts["job_ids"] == [2]


def test_a_core_that_is_taken_at_the_cut_off():
    """Job 2 starts at 10, the last instant; job 3 is not left waiting beside it."""
    scheduler = {"backfill": "aggressive"}
    result = api.simulate({"workload": jobs(3), "cluster": {"cores": 1, "scheduler": scheduler}, "until": 10})
    assert result.jobs["state"].to_list() == ["completed", "running", "waiting"]
    assert result.audit() == []


def test_a_job_that_is_preempted_as_others_arrive():
    """At 5 job 2 comes and kills job 1 in the pass that follows; job 3 comes before that pass, and finds both there."""
    table = jobs(3, submit=[0, 5, 5], queue=["idle", "urgent", "urgent"])
    scheduler = {"preempt": {"name": "queue", "ranks": {"urgent": 1, "idle": 0}, "mode": "kill"}}
    queues = {"urgent": {"priority": 1}, "idle": {}}
    cluster = {"cores": 1, "queues": queues, "scheduler": scheduler, "limits": [{"submitted_jobs": 2}]}
    result = api.simulate({"workload": table, "cluster": cluster})
    assert result.jobs["state"].to_list() == ["cancelled", "completed", "rejected"]
    assert result.audit() == []


def test_a_job_that_waits_for_one_that_its_own_place_keeps_out():
    """Job 1 waits for job 2, which comes at 5 and is one too many beside it; so both are gone at 5."""
    table = jobs(2, submit=[0, 5], dependencies=["afterok:2", ""])
    cluster = {"cores": 1, "limits": [{"submitted_jobs": 1}]}
    result = api.simulate({"workload": table, "cluster": cluster})
    assert result.jobs["state"].to_list() == ["cancelled", "rejected"]
    assert result.audit() == []
    alone = jobs(2, submit=[0, 5], cancel=[4, None])
    assert api.simulate({"workload": alone, "cluster": cluster}).jobs["state"].to_list() == ["cancelled", "completed"]
