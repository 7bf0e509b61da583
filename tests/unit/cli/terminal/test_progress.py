"""The time that a simulation will yet take."""

from walltime.cli.terminal.progress import RemainingTime, describe_instant
from walltime.core.workload import Origin


def test_it_goes_by_what_is_left_to_simulate():
    remaining = RemainingTime(first=0, last=1000, jobs=50)
    assert remaining.estimate(0.0, 0, 0, 0) is None
    assert remaining.estimate(1.0, 100, 5, 5) == 9.0  # a tenth of the time, whatever the number of jobs
    assert remaining.estimate(2.0, 200, 10, 10) == 8.0


def test_it_goes_by_the_speed_of_late():
    remaining = RemainingTime(first=0, last=10_000, jobs=50)
    for second in range(100):
        remaining.estimate(float(second), 10 * second, 0, 0)
    estimates = [remaining.estimate(100.0 + second, 1000 + second, 0, 0) for second in range(100)]
    assert estimates[-1] == 10_000 - 1099  # a unit a second by now


def test_a_queue_that_grows_has_to_be_served_after_the_last_submission():
    remaining = RemainingTime(first=0, last=1000, jobs=50)
    remaining.estimate(0.0, 0, 0, 0)
    assert remaining.estimate(1.0, 500, 25, 0) == 3.0  # 25 of 50 submissions in a second, and 50 ends are to come


def test_of_a_run_that_is_cut_off_the_jobs_that_wait_do_not_count():
    remaining = RemainingTime(first=0, last=1000, jobs=50, whole=False)
    remaining.estimate(0.0, 0, 0, 0)
    assert remaining.estimate(1.0, 500, 25, 0) == 1.0


def test_after_the_last_submission_it_goes_by_the_jobs():
    remaining = RemainingTime(first=0, last=100, jobs=50)
    remaining.estimate(0.0, 100, 50, 10)
    assert remaining.estimate(4.0, 500, 50, 30) == 4.0


def test_the_simulated_date_is_told_where_the_trace_has_one():
    hour = 3_600_000_000
    assert describe_instant(30 * hour, 0, Origin(1_704_067_200.0, "Europe/Berlin")) == "2024-01-02 07:00"
    assert describe_instant(3 * hour, 2 * hour, Origin()) == "1:00 h simulated"
