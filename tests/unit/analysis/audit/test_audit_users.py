"""The audit finds users who submit too early, too late, not at all, or out of their batch."""

from __future__ import annotations

import polars as pl
import pytest

from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.workload import Workload

JOBS = Workload.from_columns(
    user=["a", "a", "a", "a", "b"],
    submit=[0, 30, 200, 400, 10],
    run_time=[100, 100, 50, 10, 300],
    requested_time=[200, 200, 60, 20, 300],
    cores=[1, 1, 1, 1, 1],
    recorded_wait=[0, 0, 0, 0, 0],
)
USERS = {"mode": "feedback", "hours": "any"}


def violations(change=None, until=None, users=USERS) -> list[str]:
    result = api.simulate(JOBS, cores=1, users=users, until=until)
    jobs = result.jobs if change is None else change(result.jobs)
    record = result.record
    record.jobs = jobs
    return [str(found) for found in audit(record, workload=JOBS, scenario=result.scenario) if found.rule == "users"]


def moved(job: int, seconds: float):
    """The job submitted so much later, in a table that is otherwise right."""
    mine = pl.col("job_id") == job

    def change(jobs: pl.DataFrame) -> pl.DataFrame:
        later = {name: pl.when(mine).then(pl.col(name) + seconds).otherwise(pl.col(name)) for name in ("submit",)}
        return jobs.with_columns(**later)

    return change


def test_a_legal_run_has_none():
    assert violations() == []
    assert violations(until=300) == []
    assert violations(users="alea") == []


@pytest.mark.parametrize(
    ("job", "seconds", "words"),
    [(3, -5, "before what its user waits for"), (3, 5, "too late"), (2, 7, "distance"), (1, 3, "too late")],
)
def test_a_moved_submission_is_found(job, seconds, words):
    assert any(words in text for text in violations(moved(job, seconds)))


def test_a_job_that_was_never_submitted_is_found():
    found = violations(lambda jobs: jobs.filter(pl.col("job_id") != 4))
    assert any("was not submitted" in text for text in found)
