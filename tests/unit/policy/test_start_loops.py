"""The two loops that a pass has in one call, and policies that are not called for jobs that cannot start."""

from __future__ import annotations

import random

import pytest

import walltime
from walltime.core.errors import PolicyError
from walltime.core.workload import Workload
from walltime.policy.api import Policy


class ByJob(Policy):
    """EASY, job by job."""

    def schedule(self, p):
        p.release()
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)
        if job >= 0:
            p.reserve(job)
            while (job := p.candidate()) >= 0:
                p.start(job)


class ByLoops(Policy):
    """EASY by the loops of the pass."""

    def schedule(self, p):
        p.release()
        head = p.start_heads()
        if head >= 0:
            p.reserve(head)
            p.start_candidates()


class Lazy(ByLoops):
    def __init__(self):
        self.lazy = True


def table(*jobs):
    """Jobs as (submit, run, cores) in seconds, their requests exact."""
    submit, run, cores = zip(*jobs, strict=True)
    return Workload.from_columns(submit=submit, run_time=run, requested_time=run, cores=cores)


def random_table(seed, count=400):
    draw = random.Random(seed)
    submit = sorted(draw.randrange(4000) for _ in range(count))
    run = [draw.randrange(1, 200) for _ in submit]
    return Workload.from_columns(
        submit=submit,
        run_time=run,
        requested_time=[length * draw.choice((1, 1, 2, 5)) for length in run],
        cores=[draw.choice((1, 1, 2, 3, 4, 7, 12)) for _ in submit],
        user=[draw.choice("abc") for _ in submit],
    )


def test_the_loops_tell_what_they_left_and_how_many_they_started():
    told = []

    def note(p):
        head = p.start_heads()
        cores = p.cores(head) if head >= 0 else None
        told.append((p.now // 1_000_000, cores, p.start_candidates(), p.size))

    result = walltime.simulate(table((0, 10, 2), (0, 10, 1), (0, 5, 4), (0, 3, 1), (0, 3, 1)), cores=4, policy=note)
    assert told == [(0, 4, 1, 2), (3, 4, 1, 1), (6, 4, 0, 1), (10, None, 0, 0)]
    assert result.jobs["start"].to_list() == [0, 0, 10, 0, 3]


@pytest.mark.parametrize("name", ["start_heads", "start_candidates"])
def test_the_loops_are_refused_once_the_pass_is_over(name):
    kept = []

    def keep(p):
        kept.append(p)
        p.start_heads()

    walltime.simulate(table((0, 1, 1)), cores=4, policy=keep)
    with pytest.raises(PolicyError, match="the pass is over"):
        getattr(kept[0], name)()


def test_a_lazy_policy_is_not_called_for_jobs_that_join_behind_the_first_and_cannot_start():
    called = []

    class Noting(Lazy):
        def schedule(self, p):
            called.append(p.now // 1_000_000)
            super().schedule(p)

    jobs = table((0, 100, 3), (10, 10, 4), (20, 10, 2), (30, 200, 1), (40, 50, 1), (50, 10, 2))
    result = walltime.simulate(jobs, cores=4, policy=Noting)
    assert result.jobs["start"].to_list() == [0, 100, 110, 110, 40, 120]
    assert called == [0, 10, 40, 90, 100, 110, 120]  # at 20, 30 and 50 none could start


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("machine", [{"cores": 16}, {"nodes": "8x2"}], ids=["cores", "nodes"])
@pytest.mark.parametrize("order", ["fcfs", "sjf", "wfp3"])
def test_easy_by_job_by_loops_and_lazily_is_easy(seed, machine, order):
    jobs = random_table(seed)
    expected = walltime.simulate(jobs, policy={"order": order, "backfill": "easy"}, **machine).jobs["start"]
    for policy in (ByJob, ByLoops, Lazy):
        found = walltime.simulate(jobs, policy={"order": order, "backfill": policy()}, **machine).jobs["start"]
        assert found.equals(expected), policy


@pytest.mark.parametrize("seed", range(3))
def test_the_same_under_a_limit_where_a_lazy_policy_is_called_always(seed):
    jobs = random_table(seed)
    limits = {"cluster__limits": [{"per": "user", "running_cores": 7}]}
    expected = walltime.simulate(jobs, cores=16, policy="easy", **limits).jobs["start"]
    for policy in (ByJob, ByLoops, Lazy):
        assert walltime.simulate(jobs, cores=16, policy=policy, **limits).jobs["start"].equals(expected), policy
