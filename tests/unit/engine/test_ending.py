"""A run is over once nothing that can still happen could start or end a job; it names those that are left, and why."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from twin import reference
from walltime import Policy, api
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import ending
from walltime.policy.api import Pass
from walltime.scenario import parse

RANDOM = {"between": {"mean": 60, "distribution": "exponential"}, "repair": {"mean": 10, "distribution": "exponential"}}
DAILY = {"name": "daily", "start": 600, "length": 60, "every": 86_400}


def simulate(cluster: dict[str, Any], *rows: dict[str, Any], **keys: Any) -> api.Result:
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return api.simulate({"workload": {"table": Workload.from_columns(**columns)}, "cluster": cluster, **keys})


def job(submit: float, time: float, cores: int = 1, **more: Any) -> dict[str, Any]:
    return {"submit": submit, "run_time": time, "requested_time": time, "cores": cores, "dependencies": ""} | more


def left(result: api.Result) -> dict[str, list[int]]:
    return {why: account["first"] for why, account in result.record.facts.get("left", {}).items()}


CIRCUMSTANCES = ({"failures": [RANDOM]}, {"reservations": [DAILY]}, {"failures": [RANDOM], "reservations": [DAILY]})


@pytest.mark.parametrize("around", CIRCUMSTANCES, ids=("failures", "reservation", "both"))
def test_a_job_that_is_held_for_ever_keeps_no_run_alive(around):
    rows = (job(0, 20, run_time=30), job(0, 5, dependencies="afterok:1"))
    result = simulate({"cores": 4, "interrupted": "fail"} | around, *rows, dependencies={"never": "stay"})
    assert left(result) == {ending.HELD: [2]}
    assert result.record.facts["over"] <= 20
    assert result.record.facts["disruptions"].get("failures", 0) < 10
    assert result.audit() == []


@pytest.mark.parametrize("around", [{}, {"failures": [RANDOM]}], ids=("quiet", "failures"))
def test_a_job_bound_to_a_reservation_that_is_past(around):
    past = {"name": "past", "start": 10, "length": 20, "users": ["ann"]}
    cluster = {"cores": 4, "reservations": [past | {"cores": 2}, DAILY | {"cores": 1}]} | around
    result = simulate(cluster, job(50, 5, reservation="past", user="ann"), job(50, 5, user="bo", reservation=None))
    assert left(result) == {ending.GONE: [1]}
    assert result.jobs["state"].to_list() == ["waiting", "completed"]
    assert result.record.facts["over"] < 600
    assert result.audit() == []


def test_a_job_too_long_for_the_pauses_of_an_endless_reservation():
    hourly = {"name": "hourly", "start": 0, "length": 600, "every": 3600}
    result = simulate({"cores": 4, "reservations": [hourly]}, job(10, 3001), job(20, 3000))
    assert result.jobs["start"].to_list() == [None, 600.0]
    assert left(result) == {ending.NO_ROOM: [1]}
    changes = result.record.outages.height
    assert 200 < changes < 2 * ending.CHANCES, "announcements, beginnings and ends"


def test_a_job_that_is_interrupted_each_time():
    often = {"name": "often", "start": 50, "length": 10, "every": 3600}
    cluster = {"cores": 1, "reservations": [often], "interrupted": "requeue"}
    result = simulate(cluster, job(0, 40, run_time=5000), execution={"overrun": "extend"})
    row = result.jobs.row(0, named=True)
    assert left(result) == {ending.FRUITLESS: [1]}
    assert row["restarts"] == ending.CHANCES
    assert row["run_time"] < 3600, "what was lost does not count"
    assert result.audit() == []


def test_checkpoints_that_add_something_each_time_are_no_lost_cause():
    often = {"name": "often", "start": 3590, "length": 10, "every": 3600}
    cluster = {"cores": 1, "reservations": [often], "interrupted": "checkpoint"}
    execution = {"overrun": "extend", "checkpoint": {"interval": 3000, "cost": 0, "restart": 0}}
    result = simulate(cluster, job(0, 40, run_time=3000 * 1200), execution=execution)
    row = result.jobs.row(0, named=True)
    assert row["state"] == "completed"
    assert row["restarts"] > ending.CHANCES
    assert row["run_time"] == 3000 * 1200


def test_what_will_end_is_waited_for():
    """A node that is down for a year, while others come and go: the job that needs it gets it back."""
    year = 365 * 86_400
    down = {"nodes": ["big0"], "at": 5, "length": year}
    others = {"nodes": ["small"], **RANDOM, "between": {"mean": 40_000, "distribution": "exponential"}}
    nodes = [{"count": 1, "cores": 8, "name": "big"}, {"count": 2, "cores": 1, "name": "small"}]
    cluster = {"nodes": nodes, "failures": [down, others]}
    result = simulate(cluster, job(10, 5, cores=8, nodes=1))
    assert result.jobs["start"].to_list() == [year + 5.0]
    assert "left" not in result.record.facts


def test_what_has_no_end_to_be_seen_is_not():
    """All is shut for thirty years, in which cores fail every minute."""
    closing = {"name": "closing", "start": 0, "length": 1e9, "cores": 4}
    result = simulate({"cores": 5, "failures": [RANDOM | {"cores": 1}], "reservations": [closing]}, job(10, 5, cores=4))
    assert left(result) == {ending.TOO_LONG: [1]}
    assert 0.4 * ending.MOST < result.record.outages.height < 0.6 * ending.MOST


def test_the_twin_says_the_same():
    often = {"name": "often", "start": 50, "length": 10, "every": 3600}
    rows = (job(0, 20, run_time=30), job(0, 5, dependencies="afterok:1"), job(60, 5))
    table = Workload.from_columns(**{name: [row[name] for row in rows] for name in rows[0]})
    cluster = {"cores": 1, "reservations": [often]}
    keys = {"workload": {"table": table}, "cluster": cluster, "dependencies": {"never": "stay"}}
    outcomes = reference.simulate(parse(keys))
    result = api.simulate(keys)
    expected = ["timeout", "waiting", "completed"]
    assert [outcome.state for outcome in outcomes] == expected
    assert result.jobs["state"].to_list() == expected


def test_a_run_that_is_over_before_the_cut_off():
    rows = (job(0, 20, run_time=30), job(0, 5, dependencies="afterok:1"))
    cluster = {"cores": 4, "failures": [RANDOM, {"at": 500, "length": 5, "cores": 1}], "reservations": [DAILY]}
    result = simulate(cluster, *rows, dependencies={"never": "stay"}, until=100_000)
    assert result.record.facts["over"] < 500
    assert left(result) == {ending.HELD: [2]}
    assert result.jobs.filter(pl.col("job_id") == 2)["state"].to_list() == ["waiting"]
    assert result.audit() == []


class Naps(Policy):
    """Starts its only job at `start`, and looks every `every` seconds whether it is time."""

    def __init__(self, start: float = 0, every: float = 60) -> None:
        self.begin, self.every = start * SECOND, int(every * SECOND)

    def schedule(self, p: Pass) -> None:
        if p.now >= self.begin and p.head() >= 0:
            p.start(p.head())
        else:
            p.wake(p.now + self.every)


@pytest.mark.parametrize("rhythm", ["slurm", "periodic"])
def test_a_scheduler_that_calls_itself_for_ever_keeps_no_run_alive(rhythm):
    """Priorities that change with time make passes for ever; no pass lets in a job that waits for one that failed."""
    scheduler = {"order": {"name": "multifactor", "weights": {"age": 1000, "fairshare": 1000}}, "rhythm": rhythm}
    cluster = {"nodes": {"count": 1, "cores": 4}, "scheduler": scheduler}
    rows = (job(0, 20, run_time=30, user="ann"), job(0, 5, user="bo", dependencies="afterok:1"))
    result = simulate(cluster, *rows, dependencies={"never": "stay"})
    assert result.jobs["state"].to_list() == ["timeout", "waiting"]
    assert left(result) == {ending.HELD: [2]}
    assert result.record.facts["over"] < 120
    assert result.audit() == []


def test_a_scheduler_has_a_hundred_days_to_start_a_job():
    days = 86_400.0
    patient, late = (
        simulate({"cores": 4, "scheduler": {"backfill": Naps(start=start * days, every=3600)}}, job(0, 60))
        for start in (99, 10_000)
    )
    assert patient.jobs["start"].to_list() == [99 * days]
    assert left(late) == {ending.NOT_STARTED: [1]}
    assert late.record.facts["over"] == ending.MOST * 3600, "twenty thousand passes at least"
