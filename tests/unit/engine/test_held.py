"""For how long limits kept jobs waiting, under rhythms that have them wait at a counter and under Slurm's."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import walltime
from walltime.core.workload import Workload

LIMIT = [{"per": "user", "running_jobs": 1}]


@pytest.mark.parametrize(
    ("rhythm", "limits", "held"),
    [
        ("instant", LIMIT, {"user ann": pytest.approx(1.0)}),
        ("slurm", LIMIT, {"user ann": pytest.approx(1.0, abs=0.001)}),
        ("slurm", [], {}),
    ],
)
def test_it_is_counted_from_when_on_the_limit_refuses_the_job(rhythm, limits, held):
    jobs = Workload.from_columns(
        submit=[0, 0], run_time=[3600, 60], requested_time=[3600, 60], cores=[1, 1], user=["ann", "ann"]
    )
    cluster = {"nodes": "2x2", "limits": limits, "scheduler": {"rhythm": rhythm}}
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.jobs["wait"][1] == pytest.approx(3600, abs=60) if limits else result.jobs["wait"][1] < 60
    assert result.summary["held"] == held
    assert result.record.facts["held"] == held


def count_held(jobs, most: int) -> float:
    """Hours in which jobs waited while their user had as many running as may be, from the schedule alone."""
    submit, start, end = (jobs[name].to_numpy() for name in ("submit", "start", "end"))
    times = np.unique(np.concatenate([submit, start, end]))
    total = 0.0
    for user in jobs["user"].unique():
        mine = (jobs["user"] == user).to_numpy()
        for begin, until in itertools.pairwise(times):
            if (mine & (start <= begin) & (begin < end)).sum() >= most:
                total += (until - begin) * (mine & (submit <= begin) & (begin < start)).sum()
    return total / 3600


@pytest.mark.parametrize("queues", [None, {"a": {"nodes": "n[0-1]"}, "b": {"nodes": "n[2-3]"}}])
def test_it_is_what_the_schedule_tells(queues):
    """Also where users' jobs are in two scheduling domains."""
    random = np.random.default_rng(5)
    count, run = 120, random.integers(300, 7200, 120)
    columns = {} if queues is None else {"queue": list(random.choice(["a", "b"], count))}
    table = Workload.from_columns(
        submit=np.sort(random.integers(0, 90_000, count)),
        run_time=run,
        requested_time=run,
        cores=random.integers(1, 5, count),
        user=list(random.choice(["ann", "bo", "cy"], count)),
        **columns,
    )
    cluster = {
        "nodes": "4x4",
        "limits": [{"per": "user", "running_jobs": 2}],
        "scheduler": {"rhythm": "slurm"},
    } | ({} if queues is None else {"queues": queues})
    result = walltime.simulate({"workload": {"table": table}, "cluster": cluster})
    told = sum(result.summary["held"].values())
    assert told > 10
    assert told == pytest.approx(count_held(result.jobs, 2), abs=0.01)


def test_a_job_with_a_choice_of_queues_waits_at_a_limit_where_none_lets_it_in():
    queues = {"a": {"per_user": {"running_jobs": 1}}, "b": {"per_user": {"running_jobs": 1}, "default": True}}
    table = Workload.from_columns(
        submit=[0, 0, 0],
        run_time=[3600, 7200, 60],
        requested_time=[3600, 7200, 60],
        cores=[1, 1, 1],
        user=["ann"] * 3,
        queue=["a,b"] * 3,
    )
    cluster = {"nodes": "2x4", "queues": queues, "scheduler": {"rhythm": "slurm"}}
    result = walltime.simulate({"workload": {"table": table}, "cluster": cluster})
    assert result.summary["held"] == {"user ann in queue a": pytest.approx(1.0, abs=0.001)}
