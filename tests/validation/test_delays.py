"""Meetings whose delay is drawn: as long as the distribution says, and the same under every model and configuration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from walltime import api
from walltime.core.workload import Workload

WORK, MEAN = 8.0, 0.5
Z = 3.2905  # 99.9 %


def respond(pattern: str, jobs: int, model: dict[str, Any], tasks: int = 2, seed: int = 1) -> np.ndarray:
    """How long each of so many jobs takes that never meet one another, on nodes of their own."""
    workload = Workload.from_columns(
        submit=(1000.0 * np.arange(jobs)).tolist(), run_time=[WORK] * jobs, cores=[tasks] * jobs
    )
    model = model | {"tasks": pattern, "step": 1, "delay": {"name": "exponential", "mean": MEAN}}
    result = api.simulate(
        {
            "seed": seed,
            "workload": workload,
            "cluster": {"nodes": {"count": 2, "cores": 1}},
            "execution": {"model": model},
        }
    )
    return (result.jobs["end"] - result.jobs["submit"]).to_numpy()


@pytest.mark.parametrize(("pattern", "meetings", "jobs"), [("lock-step", 8, 4000), ("master-slave", 2, 15_000)])
def test_the_sum_of_the_delays(pattern: str, meetings: int, jobs: int) -> None:
    """A job alone takes its work and one delay for each meeting: of exponential ones the sum is Erlang's."""
    delays = respond(pattern, jobs, {"name": "processor-sharing"}) - WORK
    half = Z * delays.std(ddof=1) / math.sqrt(jobs)
    assert abs(delays.mean() - meetings * MEAN) <= half
    assert half <= 0.02 * meetings * MEAN
    assert delays.var(ddof=1) == pytest.approx(meetings * MEAN**2, rel=0.1)
    assert abs(np.corrcoef(delays[1:], delays[:-1])[0, 1]) < Z / math.sqrt(jobs)
    broken = delays + MEAN  # one meeting too many would be seen
    assert abs(broken.mean() - meetings * MEAN) > half


@pytest.mark.parametrize("pattern", ["lock-step", "master-slave"])
def test_common_random_numbers(pattern: str) -> None:
    """A meeting of a job takes as long whatever shares the time: another model, another quantum, more jobs."""
    jobs = 60
    base = respond(pattern, jobs, {"name": "processor-sharing"})
    for model in ({"name": "time-shared", "quantum": 0.25}, {"name": "time-shared", "quantum": 1}):
        assert respond(pattern, jobs, model) == pytest.approx(base, abs=1e-4)
    assert respond(pattern, 2 * jobs, {"name": "processor-sharing"})[:jobs] == pytest.approx(base, abs=1e-6)
    assert not np.allclose(respond(pattern, jobs, {"name": "processor-sharing"}, seed=2), base)


def test_a_task_alone_meets_nobody() -> None:
    assert respond("lock-step", 20, {"name": "processor-sharing"}, tasks=1) == pytest.approx(np.full(20, WORK))
