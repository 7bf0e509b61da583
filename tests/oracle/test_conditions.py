"""Small schedules worked out by hand, of engine and twin: dependencies, arrays, deadlines, cancellations."""

from __future__ import annotations

from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

NONE = None
Rows = list[tuple[Any, ...]]


def scenario(workload: Workload, cores: int, policy: str, keys: dict[str, Any]) -> Scenario:
    cluster = {"cores": cores, "scheduler": {"backfill": policy}}
    return parse(keys | {"workload": {"table": workload}, "cluster": cluster})


def engine(workload: Workload, cores: int, policy: str, keys: dict[str, Any]) -> Rows:
    """(eligible, start, end, state) of each job."""
    result = api.simulate(scenario(workload, cores, policy, keys))
    assert result.audit() == []
    return [(*row[:3], row[3]) for row in result.jobs.select("eligible", "start", "end", "state").rows()]


def twin(workload: Workload, cores: int, policy: str, keys: dict[str, Any]) -> Rows:
    outcomes = reference.simulate(scenario(workload, cores, policy, keys))
    rows = []
    for job in outcomes:
        times = (None if time is None else time / SECOND for time in (job.eligible, job.start, job.end))
        rows.append((*times, job.state))
    return rows


@pytest.fixture(params=[engine, twin])
def schedule(request):
    def run(cores: int, *jobs: dict[str, Any], policy: str = "easy", **keys: Any) -> Rows:
        names = list(dict.fromkeys(name for job in jobs for name in job))
        columns = {name: [job.get(name) for job in jobs] for name in names}
        if "cores" in columns:
            columns["cores"] = [1 if value is None else value for value in columns["cores"]]
        return request.param(Workload.from_columns(**columns), cores, policy, keys)

    return run


def job(submit: float, time: float, cores: int = 1, **more: Any) -> dict[str, Any]:
    """A job that asks for `time` seconds and runs as long, unless told otherwise."""
    return {"submit": submit, "run_time": time, "requested_time": time, "cores": cores} | more


def done(eligible: float, start: float, end: float) -> tuple[Any, ...]:
    return (eligible, start, end, "completed")


def gone(time: float, eligible: float | None = None) -> tuple[Any, ...]:
    """Cancelled before it started."""
    return (eligible, None, time, "cancelled")


# ------------------------------------------------------------------------------------------------ dependencies


def test_afterok_waits_for_a_completion(schedule):
    rows = schedule(4, job(0, 10), job(1, 5, dependencies="afterok:1"))
    assert rows == [done(0, 0, 10), done(10, 10, 15)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("afterok", gone(10)), ("afterany", done(10, 10, 15)), ("afternotok", done(10, 10, 15)), ("after", done(1, 1, 6))],
)
def test_a_job_killed_at_its_limit_did_not_go_well(schedule, kind, expected):
    rows = schedule(4, job(0, 10, run_time=99), job(1, 5, dependencies=f"{kind}:1"))
    assert rows == [(0, 0, 10, "timeout"), expected]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("afterok", done(10, 10, 15)), ("afterany", done(10, 10, 15)), ("afternotok", gone(10)), ("after", done(1, 1, 6))],
)
def test_a_completed_job_went_well(schedule, kind, expected):
    assert schedule(4, job(0, 10), job(1, 5, dependencies=f"{kind}:1"))[1] == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("afterok", gone(7)), ("afterany", done(7, 10, 15)), ("afternotok", done(7, 10, 15)), ("after", done(7, 10, 15))],
)
def test_a_job_that_its_user_cancels_while_it_waits(schedule, kind, expected):
    """Job 1 has the machine until 10; job 2 is cancelled at 7; `after` counts from the cancellation, as in Slurm."""
    rows = schedule(1, job(0, 10), job(0, 20, cancel=7), job(1, 5, dependencies=f"{kind}:2"))
    assert rows == [done(0, 0, 10), gone(7, 0), expected]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [("afterok", gone(3)), ("afterany", done(3, 3, 8)), ("afternotok", done(3, 3, 8)), ("after", done(3, 3, 8))],
)
def test_a_rejected_job_has_left_without_success(schedule, kind, expected):
    rows = schedule(2, job(1, 5, dependencies=f"{kind}:2"), job(3, 5, cores=3))
    assert rows == [expected, (None, None, None, "rejected")]


def test_minutes_are_counted_from_the_start(schedule):
    """Job 2 may go 2 minutes after the start of job 1, although that has ended long before."""
    rows = schedule(4, job(10, 30), job(10, 5, dependencies="after:1+2"))
    assert rows == [done(10, 10, 40), done(130, 130, 135)]


def test_a_later_job_may_be_waited_for(schedule):
    rows = schedule(4, job(0, 5, dependencies="afterok:2"), job(20, 10))
    assert rows == [done(30, 30, 35), done(20, 20, 30)]


def test_what_has_happened_before_the_submission_counts(schedule):
    rows = schedule(4, job(0, 10), job(50, 5, dependencies="afterok:1"), job(60, 5, dependencies="after:1+1"),
                    job(20, 5, dependencies="after:1+1"), job(70, 5, dependencies="afternotok:1"))  # fmt: skip
    # in order of submission: 1, 4 (at 20), 2 (at 50), 3 (at 60), 5 (at 70)
    assert rows == [done(0, 0, 10), done(60, 60, 65), done(50, 50, 55), done(60, 60, 65), gone(70)]


def test_all_joined_by_commas(schedule):
    rows = schedule(4, job(0, 10), job(0, 20), job(0, 5, dependencies="afterok:1,afterany:2"),
                    job(0, 5, dependencies="afterok:1,afternotok:2"))  # fmt: skip
    assert rows[2:] == [done(20, 20, 25), gone(20)]


def test_any_joined_by_question_marks(schedule):
    rows = schedule(4, job(0, 10), job(0, 20), job(0, 5, dependencies="afterok:1?afterok:2"),
                    job(0, 5, dependencies="afternotok:1?afterok:2"),
                    job(0, 5, dependencies="afternotok:1?afternotok:2"),
                    job(0, 5, dependencies="after:1+1?afterok:2"))  # fmt: skip
    assert rows[2:] == [done(10, 10, 15), done(20, 20, 25), gone(20), done(20, 20, 25)]


def test_what_can_never_be_cascades_or_stays(schedule):
    jobs = (job(0, 10, run_time=99), job(0, 5, dependencies="afterok:1"), job(0, 5, dependencies="afterok:2"),
            job(0, 5, dependencies="afterany:3"))  # fmt: skip
    assert schedule(4, *jobs) == [(0, 0, 10, "timeout"), gone(10), gone(10), done(10, 10, 15)]
    waits = (None, None, None, "waiting")
    assert schedule(4, *jobs, dependencies={"never": "stay"}) == [(0, 0, 10, "timeout"), waits, waits, waits]


def test_a_singleton_waits_for_its_name(schedule):
    """x of ann: 1 runs, 2 and 3 one after the other; x of bo and y of ann are other jobs."""
    names = {"name": "x", "user": "ann"}
    rows = schedule(9, job(0, 10, **names), job(1, 10, dependencies="singleton", **names),
                    job(2, 10, dependencies="singleton", **names),
                    job(3, 5, dependencies="singleton", name="x", user="bo"),
                    job(3, 5, dependencies="singleton", name="y", user="ann"))  # fmt: skip
    assert rows == [done(0, 0, 10), done(10, 10, 20), done(20, 20, 30), done(3, 3, 8), done(3, 3, 8)]


def test_a_singleton_waits_for_later_ones_that_run(schedule):
    """Job 3 is no singleton: it runs at once. Job 2 waits for job 1 until 10, and then for job 3 until 17."""
    names = {"name": "x", "user": "ann"}
    rows = schedule(9, job(0, 10, **names), job(1, 5, dependencies="singleton", **names), job(2, 15, **names))
    assert rows == [done(0, 0, 10), done(17, 17, 22), done(2, 2, 17)]


def test_the_preceding_job_and_think_time(schedule):
    jobs = (job(0, 10), job(5, 5, preceding_job=1, think_time=7), job(30, 5, preceding_job=1, think_time=7),
            job(6, 5, preceding_job=99, think_time=7))  # fmt: skip
    expected = [done(0, 0, 10), done(17, 17, 22), done(6, 6, 11), done(30, 30, 35)]
    assert schedule(4, *jobs, dependencies={"preceding": True}) == expected
    assert schedule(4, *jobs)[1] == done(5, 5, 10)


def test_the_wait_for_others_costs_no_place_in_the_queue(schedule):
    """One core. Job 3 is eligible at 10, job 4 at 12: the queue is by eligibility, not by submission."""
    rows = schedule(1, job(0, 10), job(1, 20, dependencies="afterok:1"), job(12, 5), job(0, 5, begin=11))
    # in order of submission: 1, the one with a begin time, the dependent one, the one of 12
    assert rows == [done(0, 0, 10), done(11, 30, 35), done(10, 10, 30), done(12, 35, 40)]


# ------------------------------------------------------------------------------------------------------- arrays


def test_an_array_runs_two_tasks_at_once(schedule):
    tasks = [job(0, time, array="7%2", name=f"7_{number}") for number, time in enumerate((10, 4, 5, 6))]
    rows = schedule(9, *tasks, job(0, 3, dependencies="afterok:7"), job(0, 3, dependencies="afterok:7_1"))
    assert rows == [done(0, 0, 10), done(0, 0, 4), done(0, 4, 9), done(0, 9, 15), done(15, 15, 18), done(4, 4, 7)]


def test_an_array_went_wrong_when_one_of_its_tasks_did(schedule):
    tasks = [job(0, 10, array="7"), job(0, 5, array="7", run_time=9), job(0, 20, array="7"), job(0, 4, array="8"),
             job(0, 9, array="8")]  # fmt: skip
    texts = [f"{kind}:{array}" for kind in ("afternotok", "afterok", "afterany") for array in (7, 8)]
    rows = schedule(9, *tasks, *(job(0, 3, dependencies=text) for text in texts))
    assert rows[5:] == [done(20, 20, 23), gone(9), gone(5), done(9, 9, 12), done(20, 20, 23), done(9, 9, 12)]


def test_a_held_task_keeps_its_place_in_the_queue(schedule):
    """One core: the second task was submitted before the job of another user, and goes before it."""
    rows = schedule(1, job(0, 10, array="7%1"), job(1, 10, array="7%1"), job(2, 5))
    assert rows == [done(0, 0, 10), done(1, 10, 20), done(2, 20, 25)]


def test_tasks_that_are_cancelled_give_their_places_on(schedule):
    """Task 2 is cancelled while it is held, task 1 while it runs."""
    rows = schedule(9, job(0, 10, array="7%1", cancel=6), job(0, 10, array="7%1", cancel=3), job(0, 10, array="7%1"))
    assert rows == [(0, 0, 6, "cancelled"), gone(3, 0), done(0, 6, 16)]


# --------------------------------------------------------------------------- deadlines, patience, cancellations


def test_a_deadline_that_cannot_be_met(schedule):
    """One core. Job 2 can start at 10 at the latest, and does; job 3 at 12, job 4 never."""
    jobs = (job(0, 10), job(1, 10, deadline=20), job(2, 10, deadline=22), job(3, 10, deadline=12))
    assert schedule(1, *jobs)[2:] == [done(2, 20, 30), done(3, 30, 40)]
    rows = schedule(1, *jobs, deadlines="cancel")
    assert rows == [done(0, 0, 10), done(1, 10, 20), gone(12.000001, 2), gone(3)]


def test_patience_ends_while_a_job_waits_and_not_while_it_runs(schedule):
    rows = schedule(1, job(0, 10, patience=4), job(1, 10, patience=8), job(2, 10, patience=9))
    assert rows == [done(0, 0, 10), gone(9, 1), done(2, 10, 20)]


def test_a_job_cancelled_while_it_is_held(schedule):
    rows = schedule(
        4, job(0, 10), job(1, 5, dependencies="afterok:1", cancel=6), job(2, 5, dependencies="afternotok:2")
    )
    assert rows == [done(0, 0, 10), gone(6), done(6, 6, 11)]
