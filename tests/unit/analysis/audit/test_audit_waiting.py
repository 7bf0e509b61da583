"""A job that its policy promises to start is left waiting by hand, in a schedule that was legal: the audit finds it."""

from __future__ import annotations

import pytest
from test_audit_rules import change, job, simulate

from walltime import api
from walltime.analysis.audit import waiting
from walltime.core.tables import Record
from walltime.core.workload import Workload

A = job(100, 3)  # three of four cores until 100
B = job(50, 4, submit=1)  # blocked until then


def scheduler(backfill="easy", order="fcfs", **parts):
    return {"scheduler": {"backfill": backfill, "order": order, **parts}}


def found(result):
    """(job, time) of those that are left waiting; nothing else may be wrong."""
    violations = result.audit()
    assert {violation.rule for violation in violations} <= {"waiting"}, violations
    return [(violation.job_id, violation.time) for violation in violations]


@pytest.mark.parametrize("order", ["fairshare", "multifactor", "wfp3", "fcfs"])
def test_aggressive_leaves_none_that_fits(order):
    result = simulate(
        {"cores": 4, **scheduler("aggressive", order)},
        job(6, 3, user="b"),
        job(7, 2, submit=6, user="b"),
        job(3, 2, submit=6, user="a"),
    )
    assert found(change(result, 2, start=9)) == [(2, 6)]


BACKFILLS = ["aggressive", "easy", "lookahead", {"name": "depth", "depth": 3}, "conservative"]
BACKFILLS += [{"name": "easy", "alpha": 0.5}, {"name": "easy", "candidates": "sjf"}]


@pytest.mark.parametrize("backfill", BACKFILLS, ids=str)
@pytest.mark.parametrize("order", ["fcfs", "fairshare", "sjf"])
@pytest.mark.parametrize("rhythm", ["instant", "event"])
def test_backfilling_leaves_none_that_ends_before_the_next_expected_end(backfill, order, rhythm):
    result = simulate({"cores": 4, **scheduler(backfill, order, rhythm=rhythm)}, A, B, job(20, 1, submit=2))
    assert found(change(result, 3, start=40)) == [(3, 2)]


@pytest.mark.parametrize("backfill", ["easy", "lookahead", {"name": "depth", "depth": 1}], ids=str)
@pytest.mark.parametrize("order", ["fcfs", "fairshare", "ljf"])
def test_easy_leaves_none_that_passes_its_third_step(backfill, order):
    """Four cores: A has two until 100, B wants three, so that one is extra: C may run on beyond the shadow time, and
    so may D, which ends exactly then though it has more than the extra cores."""
    machine = {"cores": 4, **scheduler(backfill, order)}
    jobs = (job(100, 2), job(50, 3, submit=1))
    result = simulate(machine, *jobs, job(500, 1, submit=2))
    assert found(change(result, 3, start=30)) == [(3, 2)]
    result = simulate(machine, *jobs, job(95, 2, submit=5))
    assert found(change(result, 3, start=160)) == [(3, 5)]


def test_without_backfilling_the_head_starts_when_it_fits():
    result = simulate({"cores": 4, **scheduler("none")}, A, B, job(20, 1, submit=2))
    assert result.jobs["start"].to_list() == [0, 100, 150]  # the third may not overtake
    assert found(change(change(result, 2, start=105), 3, start=155)) == [(2, 100)]


@pytest.mark.parametrize("order", ["fcfs", "fairshare"])
@pytest.mark.parametrize("sharing", ["shared", "whole"])
def test_on_nodes_a_job_fits_where_its_nodes_are_free(order, sharing):
    """Three nodes of two cores. A has one, B wants three, C two: C finds them until 100."""
    nodes = {"nodes": [{"count": 3, "cores": 2}], "sharing": sharing, **scheduler("easy", order)}
    jobs = (job(100, 2, nodes=1), job(50, 6, submit=1, nodes=3), job(90, 4, submit=2, nodes=2))
    assert found(change(simulate(nodes, *jobs), 3, start=5)) == [(3, 2)]


@pytest.mark.parametrize("backfill", ["aggressive", "easy", "lookahead"])
def test_a_job_at_its_limit_is_not_blamed_and_one_that_is_let_in_is(backfill):
    cluster = {"cores": 4, "limits": [{"per": "user", "running_jobs": 1}], **scheduler(backfill)}
    result = simulate(cluster, job(10, user="ann"), job(10, user="ann"), job(5, user="bo", submit=1))
    assert result.jobs["start"].to_list() == [0, 10, 1]
    assert found(change(result, 2, start=12)) == [(2, 10)]
    assert found(change(result, 3, start=3)) == [(3, 1)]


def test_in_the_periodic_rhythm_a_backfill_pass_is_waited_for():
    result = simulate({"cores": 4, **scheduler(rhythm="periodic")}, A, B, job(20, 1, submit=2))
    assert result.jobs["start"].to_list() == [0, 100, 30]
    assert found(change(result, 3, start=60)) == [(3, 30)]


def test_jobs_beyond_what_a_pass_looks_at_are_not_blamed():
    periodic = {"name": "periodic", "bf_max_job_test": 1}
    result = simulate({"cores": 4, **scheduler(rhythm=periodic)}, A, B, job(20, 1, submit=2))
    assert result.jobs["start"][2] == 150
    for depth, blamed in ((1, []), (2, [(4, 22)])):
        look = {"name": "lookahead", "depth": depth}
        result = simulate({"cores": 4, **scheduler(look)}, A, B, job(20, 1, submit=2), job(20, 1, submit=2))
        assert found(change(result, 4, start=70)) == blamed


def test_a_job_that_does_not_end_before_a_reservation_waits_for_its_end():
    cluster = {"cores": 4, "reservations": [{"name": "r", "start": 50, "length": 10}], **scheduler("aggressive")}
    result = simulate(cluster, job(60, 1), job(50, 1))
    assert result.jobs["start"].to_list() == [60, 0]
    late = change(result, 1, start=63).record
    record = Record(late.jobs, late.allocations, late.facts, outages=result.record.outages)
    assert found(api.Result(result.scenario, record)) == [(1, 60)]


def test_a_job_that_waits_again_after_a_failure_is_looked_at():
    """Its cores fail from 10 to 20; it is queued again, and starts at 20."""
    cluster = {"cores": 4, "failures": [{"at": 10, "length": 10, "cores": 4}], "interrupted": "requeue"}
    result = simulate(cluster, job(30, 4))
    starts = result.allocations["start"].to_list()
    assert starts == [0, 20]
    later = result.allocations.with_columns(
        start=result.allocations["start"].replace(20, 25), end=result.allocations["end"].replace(50, 55)
    )
    jobs = result.jobs.with_columns(end=result.jobs["end"] + 5, wait=result.jobs["wait"] + 5)
    record = Record(jobs, later, result.record.facts, outages=result.record.outages)
    assert found(api.Result(result.scenario, record)) == [(1, 20)]


def test_of_many_instants_some_are_looked_at(monkeypatch):
    """Every third second a job comes and fits; one is delayed. With a bound few instants are looked at, of the whole
    run."""
    table = Workload.from_columns(
        submit=list(range(0, 300, 3)), run_time=[2] * 100, requested_time=[2] * 100, cores=[1] * 100
    )
    result = api.simulate({"workload": {"table": table}, "cluster": {"cores": 4, **scheduler()}})
    late = change(result, 50, start=200)
    assert found(late) == [(50, 147)]
    monkeypatch.setattr(waiting, "LOOKS", 5)
    assert [job for job, _ in found(late)] == [50]


@pytest.mark.parametrize("backfill", ["conservative", "plan"])
def test_nodes_that_were_promised_and_not_taken_are_seen_at_the_next_end(backfill):
    """At 108 the ninth job's two nodes are left free by jobs whose promises had other nodes; it moves at 125."""
    submit = [14, 17, 21, 28, 32, 35, 44, 57, 96, 123]
    run, asked = [22, 12, 27, 13, 8, 25, 19, 17, 17, 4], [32, 25, 43, 12, 28, 40, 37, 36, 19, 4]
    cores, nodes = [6, 4, 10, 8, 8, 13, 7, 5, 4, 3], [-1, 4, -1, 4, 2, -1, -1, -1, 2, 3]
    each = [-1, -1, -1, 2, -1, -1, 2, -1, -1, -1]
    jobs = Workload.from_columns(
        submit=submit, run_time=run, requested_time=asked, cores=cores, nodes=nodes, cores_per_node=each
    )
    cluster = {"nodes": "4x4", "scheduler": {"backfill": backfill, "place": "worst-fit"}}
    result = api.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.jobs["start"].to_list() == [14, 36, 36, 63, 75, 83, 108, 108, 125, 127]
    assert result.audit() == []
