"""The audit finds jobs that were let in, started or left at the wrong time, in tables that were tampered with."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.tables import Record
from walltime.core.workload import Workload


def run(size: int, cores: int = 9, keys: dict[str, Any] | None = None, **columns: Any) -> api.Result:
    given = {"submit": [0] * size, "run_time": [10] * size, "requested_time": [10] * size} | columns
    return api.simulate(Workload.from_columns(**given), cores=cores, **(keys or {}))


def tamper(result: api.Result, job: int, **values: Any) -> list[str]:
    """The rules that are broken when the table of jobs says something else of a job; its allocation is moved too."""
    jobs, allocations = result.jobs, result.allocations
    for name, value in values.items():
        column = pl.when(pl.col("job_id") == job).then(pl.lit(value)).otherwise(pl.col(name)).cast(jobs[name].dtype)
        jobs = jobs.with_columns(column.alias(name))
        if name in ("start", "end"):
            column = pl.when(pl.col("job_id") == job).then(pl.lit(value)).otherwise(pl.col(name))
            allocations = allocations.with_columns(column.alias(name))
    record = Record(jobs, allocations, result.record.facts)
    found = audit(record, workload=result.scenario.read_workload(), scenario=result.scenario)
    return sorted({violation.rule for violation in found if violation.job_id == job})


def test_a_dependent_job_that_starts_early():
    result = run(2, dependencies=["", "afterok:1"])
    assert result.audit() == []
    moved = {"eligible": 5.0, "start": 5.0, "end": 15.0, "wait": 5.0}
    assert tamper(result, 2, **moved) == ["dependency"]


def test_a_dependent_job_that_is_let_in_late():
    result = run(2, dependencies=["", "afterok:1"])
    assert tamper(result, 2, eligible=12.0, start=12.0, end=22.0, wait=12.0) == ["dependency"]


def test_a_job_that_should_have_been_cancelled():
    result = run(2, dependencies=["", "afternotok:1"], keys={"dependencies__never": "stay"})
    assert result.audit() == []
    impatient = api.simulate(result.scenario, dependencies={"never": "cancel"})
    impatient.record.jobs = result.jobs
    assert [violation.rule for violation in impatient.audit()] == ["dependency"]


def test_a_begin_time_that_is_not_kept():
    result = run(1, begin=[7])
    assert tamper(result, 1, eligible=5.0, start=5.0, end=15.0, wait=5.0) == ["dependency"]


def test_a_singleton_beside_its_fellow():
    result = run(2, name=["x", "x"], user=["ann", "ann"], dependencies=["", "singleton"])
    assert tamper(result, 2, eligible=9.0, start=9.0, end=19.0, wait=9.0) == ["dependency"]


def test_too_many_tasks_at_once():
    result = run(3, array=["7%1"] * 3)
    assert result.audit() == []
    assert tamper(result, 2, start=5.0, end=15.0, wait=5.0) == ["array"]


def test_who_has_given_up_does_not_start():
    result = run(2, cores=1, patience=[None, 30])
    assert tamper(result, 2, start=30.0, end=40.0, wait=30.0) == ["withdrawal"]


def test_who_is_cancelled_does_not_run_on():
    result = run(1, cancel=[6])
    assert tamper(result, 1, end=7.0, run_time=7.0, held_time=7.0) == ["withdrawal"]


def test_a_job_that_may_miss_its_deadline_is_not_started():
    result = run(1, deadline=[20], keys={"deadlines": "cancel"})
    assert tamper(result, 1, start=11.0, end=21.0, wait=11.0) == ["deadline"]


def test_a_wrong_account_of_deadlines():
    result = run(2, cores=1, deadline=[10, 15])
    account = result.summary["deadlines"]
    assert (account["jobs"], account["kept"], account["missed"], account["open"]) == (2, 1, 1, 0)
    assert account["mean_lateness"] == account["longest_lateness"] == pytest.approx(5.0)
    result.record.facts["conditions"]["deadlines"]["missed"] = 0
    assert [violation.rule for violation in result.audit()] == ["deadline"]


def test_edf_keeps_more_deadlines_than_fcfs():
    columns = {"submit": [0, 1, 2], "deadline": [10, 99, 20]}
    missed = []
    for order in ("fcfs", "edf"):
        result = run(3, cores=1, keys={"policy": {"order": order, "backfill": "none"}}, **columns)
        missed.append(result.summary["deadlines"]["missed"])
    assert missed == [1, 0]


def test_deadlines_still_open_at_the_cut_off():
    result = run(2, cores=1, deadline=[8, 30], keys={"until": 9})
    account = result.summary["deadlines"]
    assert (account["kept"], account["missed"], account["open"]) == (0, 1, 1)
    assert result.audit() == []
