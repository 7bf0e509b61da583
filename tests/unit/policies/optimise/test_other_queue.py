"""A job that names several queues may be planned in another one: schedules by hand."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import PolicyError
from walltime.policy.optimise import Operator


def simulate(operators, **site):
    """Two queues of a node each, which are busy until 100 and 110 s; one job may go to either, the next to one."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0, 1, 1], cores=[4] * 4, run_time=[100, 110, 50, 50], queue=["a", "b", "a,b", "a"], user=["u"] * 4
    )
    optimise = {"name": "annealing", "objectives": {"wait": 1}, "operators": operators, "rounds": 60}
    optimise |= {"on": ["arrivals"], "temperature": 1, "final": 0.5}
    cluster = {
        "nodes": [{"count": 1, "cores": 4, "name": "x"}, {"count": 1, "cores": 4, "name": "y"}],
        "queues": {"a": {"nodes": "x"}, "b": {"nodes": "y"}},
        "scheduler": {"backfill": {"name": "plan", "optimise": optimise}},
    }
    result = walltime.simulate(
        {"workload": {"table": jobs}, "cluster": cluster | site, "record": {"plans": True}},
    )
    assert result.audit() == []
    rows = result.jobs.sort("job_id")
    return list(zip(rows["start"].to_list(), rows["queue"].cast(str).to_list(), strict=True))[2:]


def test_a_job_leaves_its_queue_to_one_that_has_no_other():
    """Ten seconds more for the one are fifty less for the other."""
    assert simulate({"gap": 1, "earliest": 1}) == [(100.0, "a"), (150.0, "a")]
    assert simulate({"queue": 1, "earliest": 1}) == [(110.0, "b"), (100.0, "a")]


def test_clusters_are_no_queues():
    assert simulate({"cluster": 1, "earliest": 1}) == [(100.0, "a"), (150.0, "a")]


def test_a_queue_whose_limit_is_reached_takes_no_job():
    """The job that runs in b has all that b's user may have."""
    queues = {"a": {"nodes": "x"}, "b": {"nodes": "y", "per_user": {"running_jobs": 1}}}
    assert simulate({"queue": 1, "earliest": 1}, queues=queues) == [(100.0, "a"), (150.0, "a")]


def test_queues_of_one_number_of_cores_differ_by_their_limits():
    """Four cores for all: the place of the job is the same in both queues, and the plan is kept."""
    site = {"nodes": None, "cores": 8, "queues": {"a": {}, "b": {"running_cores": 4}}}
    assert simulate({"queue": 1, "gap": 1}, **site)[1] in [(100.0, "a"), (110.0, "a")]


class Wrong(Operator):
    """Sends a job elsewhere that it has not taken out."""

    def apply(self, draft, random, job):
        if draft.other_options(job):
            draft.move_to(job, 0)


def test_an_operator_that_moves_a_job_of_the_plan_is_told():
    with pytest.raises(PolicyError, match="take it out first"):
        simulate({Wrong: 1})


class Far(Operator):
    def apply(self, draft, random, job):
        draft.take_out(job)
        draft.move_to(job, 7)


def test_a_place_that_there_is_not_is_told():
    with pytest.raises(PolicyError, match="no other place of number 7"):
        simulate({Far: 1})
