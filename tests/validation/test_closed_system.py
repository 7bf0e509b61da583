"""Users who react against the machine-repairman model: N users with exponential thinking before M/M/1 and M/M/c."""

from __future__ import annotations

import numpy as np
import pytest
from systems import Interval

from walltime import api
from walltime.analysis.queueing import response_repairman
from walltime.core.random import stream
from walltime.core.workload import Workload

RUNS, JOBS, SERVICE = 20, 400, 600.0
"""Seeds, jobs of each user, and the mean run time."""


def draw(users: int, think: float, seed: int) -> Workload:
    """The log of users on a machine that was never full: each thinks, has a job run at once, and thinks again."""
    random = stream(seed, "repairman")
    columns: dict[str, list] = {"user": [], "submit": [], "run_time": []}
    for user in range(users):
        pause, run = random.exponential(think, JOBS), random.exponential(SERVICE, JOBS)
        pause, run = np.maximum(pause.round(6), 1e-6), np.maximum(run.round(6), 1e-6)
        end = np.cumsum(pause + run)
        columns["user"] += [f"u{user}"] * JOBS
        columns["submit"] += (end - run).round(6).tolist()
        columns["run_time"] += run.tolist()
    jobs = Workload.from_columns(**columns, recorded_wait=[0.0] * (users * JOBS))
    return jobs.replace(dict(jobs.columns) | {"requested_time": jobs.column("run_time")})


def mean_response(users: int, think: float, servers: int, seed: int, mode: str) -> float:
    rules = {"mode": mode, "hours": "any", "campaign": 0} if mode == "feedback" else mode
    result = api.simulate(draw(users, think, seed), cores=servers, policy="fcfs", users=rules, record={"series": False})
    jobs = result.jobs[result.jobs.height // 10 : result.jobs.height * 8 // 10]  # at the end some users have done
    return float((jobs["end"] - jobs["submit"]).mean())


@pytest.mark.parametrize(("users", "think", "servers"), [(10, 5400.0, 1), (6, 1200.0, 1), (20, 3600.0, 3)])
def test_a_closed_system_responds_as_the_repairman_model_says(users, think, servers):
    truth = response_repairman(users, think, SERVICE, servers)
    found = Interval.of([mean_response(users, think, servers, seed, "feedback") for seed in range(RUNS)])
    assert found.holds(truth), (found, truth)
    assert found.half < 0.06 * truth
    replayed = Interval.of([mean_response(users, think, servers, seed, "replay") for seed in range(RUNS)])
    assert not replayed.holds(truth), (replayed, truth)  # which would not be so if the loop were open


def test_the_formula_at_its_ends():
    """One user never waits; with nothing to think about, users stand in line for ever."""
    assert response_repairman(1, 100.0, 7.0) == pytest.approx(7.0)
    assert response_repairman(5, 100.0, 7.0, 5) == pytest.approx(7.0)
    assert response_repairman(9, 1e-9, 7.0) == pytest.approx(63.0)
    assert response_repairman(9, 1e-9, 7.0, 3) == pytest.approx(21.0)
