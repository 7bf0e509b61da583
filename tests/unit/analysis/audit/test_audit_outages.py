"""Every way to disregard a reservation, a failure, or the account of lost work is found, each by its own rule."""

from __future__ import annotations

import polars as pl
import pytest

from handmade import outages
from walltime.analysis.audit.schedule import audit
from walltime.core.tables import ALLOCATIONS, JOBS, OUTCOMES, STATES, Record
from walltime.core.workload import Workload
from walltime.scenario import parse


def job(number, submit, spans, cores=4, **other):
    """A job and its intervals, which are (start, end, outcome, node, attempt)."""
    held = sum(end - start for start, end, *_ in spans)
    row = dict.fromkeys(JOBS) | {"job_id": number, "submit": submit, "eligible": submit, "cores": cores}
    row |= {"start": spans[0][0], "end": spans[-1][1], "state": spans[-1][2], "cluster": "cluster", "user": "ann"}
    row |= {"restarts": spans[-1][4], "lost_core_seconds": 0.0, "backfilled": False, "requested_time": 10.0}
    row |= {"wait": spans[-1][1] - submit - held, "run_time": float(spans[-1][1] - spans[-1][0])}
    row |= {"held_time": float(held)} | other
    allocations = [
        {
            "job_id": number,
            "attempt": attempt,
            "cluster": "cluster",
            "start": float(start),
            "end": float(end),
            "cores": cores,
            "nodes": None if node is None else f"{node}:{cores}",
            "outcome": outcome,
        }
        for start, end, outcome, node, attempt in spans
    ]
    return row, allocations


def found(cluster, *jobs, told=None, bonds=None):
    """The rules that the schedule breaks, on the cluster (without its size: two nodes, or 8 cores)."""
    plain = jobs[0][1][0]["nodes"] is None
    size = {"cores": 8} if plain else {"nodes": [{"count": 2, "cores": 4, "name": "n"}]}
    rows = [row for row, _ in jobs]
    workload = Workload.from_columns(
        job_id=[row["job_id"] for row in rows],
        submit=[row["submit"] for row in rows],
        cores=[row["cores"] for row in rows],
        requested_time=[10.0 for _ in rows],
        run_time=[10.0 for _ in rows],
        user=["ann" for _ in rows],
        reservation=bonds or [None for _ in rows],
    )
    scenario = parse({"workload": {"table": workload}, "cluster": size | cluster})
    allocations = sorted((one for _, spans in jobs for one in spans), key=lambda one: one["start"])
    record = Record(
        pl.DataFrame(rows, schema=JOBS).with_columns(pl.col("state").cast(pl.Enum(STATES))),
        pl.DataFrame(allocations, schema=ALLOCATIONS).with_columns(pl.col("outcome").cast(pl.Enum(OUTCOMES))),
        {"clusters": {"cluster": 8}, "overrun": "kill", "until": None, "nodes": {} if plain else _nodes(scenario)},
        outages=told,
    )
    return [violation.rule for violation in audit(record, workload=workload, scenario=scenario)]


def _nodes(scenario):
    return {"cluster": scenario.clusters[0].layout().facts()}


WINDOW = {"reservations": [{"name": "w", "start": 5, "length": 10, "nodes": "n1"}]}
HALF = {"reservations": [{"name": "w", "start": 5, "length": 10, "cores": 6}]}
OWN = {"reservations": [{"name": "w", "start": 5, "length": 10, "nodes": "n1", "users": ["ann"]}]}
FAILURE = {"failures": [{"at": 5, "length": 10, "nodes": "n1"}]}


@pytest.mark.parametrize(("node", "start", "rules"), [(0, 0, []), (1, 15, []), (1, 0, ["reservation"])])
def test_a_maintenance_window(node, start, rules):
    told = outages((5, 15, "maintenance", "1:4", 4))
    assert found(WINDOW, job(1, 0, [(start, start + 10, "completed", node, 0)]), told=told) == rules


@pytest.mark.parametrize(("cores", "rules"), [(2, []), (3, ["reservation"])])
def test_a_window_of_cores(cores, rules):
    told = outages((5, 15, "maintenance", None, 6))
    assert found(HALF, job(1, 0, [(0, 10, "completed", None, 0)], cores), told=told) == rules


@pytest.mark.parametrize(
    ("bond", "node", "start", "rules"),
    [
        ("w", 1, 5, []),
        (None, 1, 5, ["reservation"]),
        ("w", 0, 5, ["reservation"]),
        ("w", 1, 6, ["reservation"]),
        ("w", 1, 20, ["reservation"]),
    ],
)
def test_jobs_that_are_bound(bond, node, start, rules):
    """In it, in it without being bound, on another node, longer than it, after it."""
    told = outages((5, 15, "reservation", "1:4", 4))
    assert found(OWN, job(1, 0, [(start, start + 10, "completed", node, 0)]), told=told, bonds=[bond]) == rules


@pytest.mark.parametrize(
    ("node", "start", "rules"), [(0, 0, []), (1, 15, []), (1, 0, ["failure"]), (1, 7, ["failure"])]
)
def test_a_failed_node(node, start, rules):
    told = outages((5, 15, "failure", "1:4", 4))
    assert found(FAILURE, job(1, 0, [(start, start + 10, "completed", node, 0)]), told=told) == rules


def test_failed_cores():
    told = outages((5, 15, "failure", None, 4))
    cluster = {"failures": [{"at": 5, "length": 10, "cores": 4}]}
    assert found(cluster, job(1, 0, [(0, 10, "completed", None, 0)], 5), told=told) == ["failure"]


@pytest.mark.parametrize("told", [None, outages((5, 15, "failure", "1:4", 4), (2, 3, "failure", "1:4", 4))])
def test_a_table_of_outages_that_does_not_fit_the_scenario(told):
    assert found(FAILURE, job(1, 0, [(0, 10, "completed", 0, 0)]), told=told) == ["outages"]


def requeued(**other):
    """A job that was interrupted at 5 and runs again from 15 to 25: 5 s x 4 cores are lost."""
    spans = [(0, 5, "requeued", 1, 0), (15, 25, "completed", 1, 1)]
    return job(1, 0, spans, **({"lost_core_seconds": 20.0} | other))


def test_an_interrupted_job():
    told = outages((5, 15, "failure", "1:4", 4))
    assert found(FAILURE, requeued(), told=told) == []
    for wrong in (0.0, 16.0, 24.0):
        rules = found(FAILURE, requeued(lost_core_seconds=wrong), told=told)
        assert "lost" in rules
    assert "agreement" in found(FAILURE, requeued(restarts=0), told=told)


def test_nobody_is_in_two_places_at_once():
    spans = [(0, 5, "suspended", 0, 0), (4, 9, "completed", 1, 0)]
    assert "interval" in found({}, job(1, 0, spans, run_time=10.0))


def test_a_suspended_job():
    spans = [(0, 4, "suspended", 0, 0), (8, 14, "completed", 0, 0)]
    assert found({}, job(1, 0, spans, run_time=10.0)) == []
    long = [(0, 4, "suspended", 0, 0), (8, 15, "completed", 0, 0)]
    assert found({}, job(1, 0, long, run_time=11.0)) == ["limit", "agreement"]
