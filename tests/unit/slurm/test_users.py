"""Users who react before the real controller: the same users as on the native engine."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.core.workload import Workload

pytestmark = pytest.mark.usefixtures("slurm")
USERS = {"mode": "feedback", "hours": "any"}


def log() -> Workload:
    """Ann waits for her first job before she thinks for 100 s; bo submits two that he does not wait for."""
    return Workload.from_columns(
        user=["ann", "bo", "bo", "ann", "ann", "bo"],
        submit=[1000, 1010, 1040, 1300, 1320, 2200],
        run_time=[200, 600, 100, 50, 50, 30],
        requested_time=[600] * 6,
        cores=[2, 1, 1, 2, 1, 1],
        recorded_wait=[0] * 6,
    )


def test_without_contention_all_comes_as_recorded():
    result = api.simulate(log(), cores=8, users=USERS, engine="slurm")
    told = result.jobs.sort("job_id")
    assert np.allclose(told["submit"].to_numpy(), log().column("submit") / 1e6, atol=3)
    assert result.record.facts["users"] == {"mode": "feedback", "session_gap": 1200.0, "not_submitted": 0}
    assert result.audit() == []


def test_with_contention_users_wait_for_their_jobs_on_both_engines():
    """Two cores: each batch comes its think time after what it waited for has ended there."""
    slurm = api.simulate(log(), cores=2, users=USERS, engine="slurm").jobs.sort("job_id")
    for result in (slurm, api.simulate(log(), cores=2, policy="easy", users=USERS).jobs.sort("job_id")):
        submit, end = result["submit"].to_list(), result["end"].to_list()
        assert submit[:3] == [1000, 1010, 1040]
        assert abs(submit[3] - end[0] - 100) <= 3  # ann's second batch, after her first
        assert abs(submit[4] - submit[3] - 20) <= 3  # and what belongs to it
        assert abs(submit[5] - max(end[1], end[2]) - 590) <= 3  # bo's, after both of his
    assert slurm["submit"][5] > 2210
    assert (slurm["wait"] >= 0).all()
