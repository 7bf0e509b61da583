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


REACTIONS = [
    {"name": "split", "time": 200},
    {"name": "merge", "jobs": 2, "below": 201},
    {"name": "stop-at-limit", "jobs": 1, "again": 50},
]


def react(change=None, facts=None, reactions=REACTIONS, jobs=JOBS) -> list[str]:
    """What the audit says of a run with reactions whose tables or facts were changed."""
    result = api.simulate(jobs, cores=1, users=USERS | {"reactions": reactions})
    record = result.record
    record.jobs = record.jobs if change is None else change(record.jobs)
    acts = record.facts["users"].setdefault("acts", {})
    acts |= {} if facts is None else facts(acts)
    return [str(found) for found in audit(record, workload=jobs, scenario=result.scenario) if found.rule == "reaction"]


def test_what_reactions_do_is_legal():
    for part in REACTIONS:
        assert react(reactions=[part]) == []


def test_a_job_that_was_put_off_by_nothing_is_found():
    part = [REACTIONS[2]]
    assert any("not put off" in text for text in react(facts=lambda acts: {"put_off": []}, reactions=part))
    assert any("before its user is ready" in text for text in react(moved(3, -5), reactions=part))


def test_other_work_than_in_the_log_is_found():
    for part, other in ((0, [[5, 99.0]]), (1, [[1, 150.0]])):
        told = react(facts=lambda acts, other=other: {"run_times": other}, reactions=[REACTIONS[part]])
        assert any("does other work" in text for text in told), (part, told)


def test_a_part_too_many_and_a_merged_job_that_is_there_are_found():
    def twice(jobs: pl.DataFrame) -> pl.DataFrame:
        again = jobs.filter(pl.col("job_id") == 6).with_columns(job_id=pl.lit(5, pl.Int64))
        return pl.concat([jobs, again])

    assert any("more than once" in text for text in react(twice, reactions=REACTIONS[:1]))
    there = react(facts=lambda acts: {"merged": [[1, [2, 3]]]}, reactions=REACTIONS[1:2])
    assert any("submitted all the same" in text for text in there)


def test_a_job_of_an_array_that_was_changed_is_found():
    tasks = JOBS.replace(
        dict(JOBS.columns) | {"array": JOBS.column("user")}, labels={**JOBS.labels, "array": ["x", "y"]}
    )
    part = [{"name": "ask-for-less", "jobs": 1}]

    def less(jobs: pl.DataFrame) -> pl.DataFrame:
        return jobs.with_columns(requested_time=pl.col("requested_time") / 2)

    assert react(reactions=part, jobs=tasks) == []
    assert any("not as in the log" in text for text in react(less, reactions=part, jobs=tasks))
