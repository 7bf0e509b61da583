"""Predicted starts where something is, or will be, shut: schedules by hand."""

from __future__ import annotations

from typing import Any

import pytest

from walltime import api
from walltime.core.workload import Workload

MACHINES = pytest.mark.parametrize("machine", [{"cores": 4}, {"nodes": "1x4"}], ids=["cores", "nodes"])
BACKFILLS = pytest.mark.parametrize("backfill", ["easy", "none", "conservative"])


def brokered(jobs: list[tuple[float, float]], first: dict[str, Any], second: dict[str, Any]) -> list[tuple[str, float]]:
    """Where and when jobs of 4 cores (submission, run time) start, each sent to where it is to start first."""
    submit, run = zip(*jobs, strict=True)
    workload = Workload.from_columns(
        submit=list(submit), run_time=list(run), requested_time=list(run), cores=[4] * len(run)
    )
    clusters = [first | {"name": "a"}, second | {"name": "b"}]
    result = api.simulate({"workload": workload, "clusters": clusters, "broker": "earliest-start"})
    assert result.audit() == []
    return result.jobs.select("cluster", "start").rows()


@MACHINES
@BACKFILLS
def test_a_reservation_that_will_come(machine: dict[str, Any], backfill: str) -> None:
    """Cluster a is shut from 10 to 110. A job of 20 s would have to wait for its end, and goes to b, as does the next,
    behind it. One of 8 s fits before. The next of 5 s would not start on a before 110, but on b at 40."""
    scheduler = {"scheduler": {"backfill": backfill}}
    shut = machine | scheduler | {"reservations": [{"name": "m", "start": 10, "length": 100}]}
    found = brokered([(0, 20), (1, 20), (2, 8), (3, 5)], shut, machine | scheduler)
    assert found == [("b", 0.0), ("b", 20.0), ("a", 2.0), ("b", 40.0)]


@MACHINES
def test_a_failure_whose_end_is_known(machine: dict[str, Any]) -> None:
    """Cluster a is down from 5 to 50, and b has 60 s to do from 0 on: who comes at 6 goes to a, and the next behind it,
    until b is earlier."""
    down = machine | {"failures": [{"at": 5, "length": 45, "known": True}]}
    found = brokered([(0, 4), (0, 60), (6, 8), (7, 8)], down, machine)
    assert found == [("a", 0.0), ("b", 0.0), ("a", 50.0), ("a", 58.0)]


@MACHINES
def test_a_failure_without_a_known_end(machine: dict[str, Any]) -> None:
    """As far as anybody knows, cluster a is gone from 5 on: all go to b."""
    down = machine | {"failures": [{"at": 5, "length": 45, "known": False}]}
    found = brokered([(0, 4), (0, 60), (6, 8), (7, 8)], down, machine)
    assert found == [("a", 0.0), ("b", 0.0), ("b", 60.0), ("b", 68.0)]


def test_clusters_do_not_fail_together() -> None:
    """Clusters with the same failures in the scenario fail at times of their own, whoever else is there."""
    failures = {"nodes": "4x4", "failures": [{"between": {"mean": 500}, "repair": {"mean": 50}}]}
    workload = Workload.from_columns(submit=[0, 5000], run_time=[1, 1], requested_time=[1, 1], cores=[1, 1])
    outages = {}
    for names in ("ab", "abc"):
        clusters = [failures | {"name": name} for name in names]
        record = api.simulate({"workload": workload, "clusters": clusters, "broker": "round-robin", "seed": 3}).record
        table = record.outages.filter(record.outages["start"] < 5000)
        outages[names] = {name: set(table.filter(table["cluster"] == name)["start"]) for name in names}
    both = outages["ab"]
    assert both["a"]
    assert both["b"]
    assert not both["a"] & both["b"]
    assert both == {name: outages["abc"][name] for name in "ab"}
