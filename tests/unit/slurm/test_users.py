"""Users who react before the real controller: the same users as on the native engine."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.core.errors import InputError
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


def react(*parts, cores=2, **settings):
    users = USERS | {"overlap": "any", "reactions": list(parts)}
    result = api.simulate(log(), cores=cores, users=users, engine="slurm", **settings)
    assert result.audit() == []
    return result, {row["job_id"]: row for row in result.jobs.iter_rows(named=True)}


def test_reactions_before_the_controller():
    """Bo puts off what he has no room for; ann learns to ask for less."""
    result, jobs = react({"name": "stop-at-limit", "jobs": 1, "again": 60})
    assert result.record.facts["users"]["put_off"] == 2
    assert jobs[3]["submit"] >= jobs[2]["end"]
    result, jobs = react({"name": "ask-for-less", "margin": 1, "jobs": 1})
    assert jobs[4]["requested_time"] == pytest.approx(200, abs=3)
    assert jobs[4]["state"] == "completed"
    assert result.record.facts["users"]["changed"] >= 1


def test_users_of_the_controller_give_up_and_abandon():
    result, jobs = react({"name": "give-up", "after": 120}, cores=2)
    assert jobs[2]["state"] == "cancelled"
    assert abs(jobs[2]["end"] - jobs[2]["submit"] - 120) <= 3
    assert result.summary["closed_loop"]["abandoned"] == sum(job["state"] == "cancelled" for job in jobs.values())
    result, jobs = react({"name": "abandon", "wait": 100})
    assert result.record.facts["users"]["abandoned"] + len(jobs) == 6
    assert result.record.facts["users"]["abandoned"] >= 1


def test_jobs_are_split_and_merged_before_the_controller():
    result, jobs = react({"name": "split", "time": 300}, cores=8)
    assert result.record.facts["users"]["split"] == 6
    assert jobs[1]["name"] == "1.1"
    first, second = (jobs[number] for number in (1, result.record.facts["users"]["acts"]["split"][0][1][0]))
    assert (first["run_time"], second["run_time"], second["user"]) == (100, 100, "ann")
    assert first["end"] <= second["submit"] <= first["end"] + 3
    result, jobs = react({"name": "merge", "jobs": 2, "below": "11m"}, cores=8)
    assert sorted(jobs) == [1, 2, 4, 5, 6]
    assert (jobs[2]["run_time"], jobs[2]["requested_time"]) == (700, 1200)
    assert abs(jobs[6]["submit"] - jobs[2]["end"] - 590) <= 3


def test_a_site_cannot_be_chosen_where_there_is_one():
    with pytest.raises(InputError, match="there are not several clusters"):
        react("other-site")
