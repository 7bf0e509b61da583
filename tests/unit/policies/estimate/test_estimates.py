"""Estimates: what the scheduler believes, seen through EASY, and what happens when it was wrong."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import InputError, PolicyError


def simulate(jobs, estimate, cores=4, **options):
    """Jobs as (submit, cores, run, requested[, user]) in seconds, under EASY."""
    rows = [job if len(job) == 5 else (*job, None) for job in jobs]
    submit, size, run, requested, user = zip(*rows, strict=True)
    table = walltime.Workload.from_columns(submit=submit, cores=size, run_time=run, requested_time=requested, user=user)
    return walltime.simulate(table, cores=cores, policy={"backfill": "easy", "estimate": estimate}, **options)


def starts(*given, **options):
    return simulate(*given, **options).jobs["start"].to_list()


# Three cores are busy, the head wants four, and a candidate wants the free one.
BUSY, HEAD = (0, 3, 50, 100), (1, 4, 10, 10)


def test_request_is_what_the_user_asked_for():
    assert starts([BUSY, HEAD, (2, 1, 5, 98)], "request") == [0, 50, 2]
    assert starts([BUSY, HEAD, (2, 1, 5, 99)], "request") == [0, 50, 60]


def test_perfect_knows_and_says_so():
    assert starts([BUSY, HEAD, (2, 1, 48, 1000)], "perfect") == [0, 50, 2]
    assert starts([BUSY, HEAD, (2, 1, 49, 49)], "perfect") == [0, 50, 60]
    assert simulate([BUSY, HEAD], "perfect").record.facts["oracle"] is True
    assert simulate([BUSY, HEAD], "request").record.facts["oracle"] is False


def test_perfect_knows_the_kill_too():
    """The busy job would run for 150 but is killed at 100; with `extend` it is not."""
    jobs = [(0, 3, 150, 100), HEAD, (2, 1, 120, 1000)]
    assert starts(jobs, "perfect") == [0, 100, 110]
    assert starts(jobs, "perfect", overrun="extend") == [0, 150, 2]


def test_factor_scales_the_request():
    assert starts([BUSY, HEAD, (2, 1, 5, 198)], {"name": "factor", "factor": 2}) == [0, 50, 60]
    assert starts([(0, 3, 50, 100), HEAD, (2, 1, 5, 98)], {"name": "factor", "factor": 0.5}) == [0, 50, 60]
    assert starts([(0, 3, 50, 100), HEAD, (2, 1, 5, 96)], {"name": "factor", "factor": 0.5}) == [0, 50, 2]


@pytest.mark.parametrize("factor", [0, -1, "two", True, float("inf"), float("nan")])
def test_a_factor_is_a_positive_number(factor):
    with pytest.raises(InputError, match="factor must be a number above 0"):
        simulate([BUSY], {"name": "factor", "factor": factor})


def test_last_two_is_the_mean_of_the_last_two_that_ended():
    history = [(0, 1, 8, 500, "ann"), (0, 1, 90, 500, "ann"), (0, 1, 30, 500, "ann"), (0, 1, 20, 20, "bo")]
    # At 100 ann's last two ran 30 and 90: mean 60. The head is reserved 250, 310 ends later, 309 does not.
    later = [(100, 3, 140, 150, "cy"), (101, 4, 10, 10, "cy")]
    assert starts([*history, *later, (190, 1, 1, 500, "ann")], "last-two")[-1] == 190
    assert starts([*history, *later, (191, 1, 1, 500, "ann")], "last-two")[-1] == 250
    # never above the request; and a user with one job behind him has no history yet
    assert starts([*history, *later, (191, 1, 1, 59, "ann")], "last-two")[-1] == 191
    assert starts([*history, *later, (191, 1, 1, 500, "bo")], "last-two")[-1] == 250
    assert starts([*history, *later, (191, 1, 1, 500, None)], "last-two")[-1] == 250


def test_last_two_counts_killed_jobs_and_many_users():
    """A hundred users, each with two jobs that are killed at their limits of 1 and 3 seconds."""
    history = [(2 * n + i, 1, 50, 1 + 2 * i, f"user {n}") for n in range(100) for i in range(2)]
    busy = [(300, 3, 20, 20, "cy"), (301, 4, 10, 10, "cy")]
    for submit, start in [(318, 318), (319, 330)]:
        assert starts([*history, *busy, (submit, 1, 1, 500, "user 99")], "last-two")[-1] == start


def test_an_outrun_estimate_is_corrected_and_the_limit_stays():
    """Expected to end at 50, then at 110 (a minute more), then at its limit, 400; killed there and not before."""
    jobs = [(0, 3, 1000, 400), (1, 4, 10, 10), (2, 1, 30, 200), (3, 1, 30, 400)]
    result = simulate(jobs, {"name": "factor", "factor": 0.125})
    assert result.jobs["state"].to_list() == ["timeout", "completed", "completed", "completed"]
    # estimates: 50, 1.25, 25, 50. At 3 the fourth would end at 53, too late; at 50 the first is expected at 110.
    assert result.jobs["start"].to_list() == [0, 400, 2, 50]


def test_a_function_of_the_job_is_an_estimate():
    assert starts([BUSY, HEAD, (2, 1, 5, 400)], lambda job: job.requested_time / 5) == [0, 50, 60]
    assert starts([BUSY, HEAD, (2, 1, 5, 90)], lambda job: job.requested_time / 5) == [0, 50, 2]
    assert starts([BUSY, HEAD, (2, 1, 5, 400)], lambda job: 10 * job.cores) == [0, 50, 2]


@pytest.mark.parametrize("wrong", [-1, None, "10", float("nan"), float("inf")])
def test_an_estimate_function_gives_seconds(wrong):
    with pytest.raises(PolicyError, match=r"estimates job 1 at .*not a number of seconds"):
        simulate([BUSY], lambda job: wrong)
