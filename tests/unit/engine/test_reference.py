"""The twin's rules, one at a time, on schedules worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from twin.reference import Outcome, simulate_cores
from twin.site import CORRECTIONS
from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.core.workload import Workload


def run(jobs: list[tuple[Any, ...]], cores: int = 4, **options: Any) -> list[Outcome]:
    """Simulate jobs given as (submit, cores, run, requested[, {begin, cancel}]) in seconds."""
    extras = [job[4] if len(job) > 4 else {} for job in jobs]
    workload = Workload.from_columns(
        submit=[job[0] for job in jobs],
        cores=[job[1] for job in jobs],
        run_time=[job[2] for job in jobs],
        requested_time=[job[3] for job in jobs],
        begin=[extra.get("begin") for extra in extras],
        cancel=[extra.get("cancel") for extra in extras],
    )
    if "until" in options:
        options["until"] = round(options["until"] * SECOND)
    return simulate_cores(workload, cores, **options)


def starts(outcomes: list[Outcome]) -> list[float | None]:
    return [None if outcome.start is None else outcome.start / SECOND for outcome in outcomes]


def ends(outcomes: list[Outcome]) -> list[float | None]:
    return [None if outcome.end is None else outcome.end / SECOND for outcome in outcomes]


def states(outcomes: list[Outcome]) -> list[str]:
    return [outcome.state for outcome in outcomes]


def overtakers(outcomes: list[Outcome]) -> list[int]:
    return [outcome.row for outcome in outcomes if outcome.backfilled]


# A job of 3 cores until 10; a blocked head of 4; candidates behind it for the one core that is free.
BLOCKED = [(0, 3, 10, 10), (0, 4, 5, 5)]


def test_fcfs_never_overtakes():
    outcomes = run([*BLOCKED, (0, 1, 1, 1)], policy="fcfs")
    assert starts(outcomes) == [0, 10, 15]
    assert overtakers(outcomes) == []


def test_easy_admits_a_candidate_that_ends_exactly_at_the_shadow_time():
    outcomes = run([*BLOCKED, (0, 1, 10, 10)])
    assert starts(outcomes) == [0, 10, 0]
    assert overtakers(outcomes) == [2]


def test_easy_refuses_a_candidate_that_ends_later_and_needs_the_heads_cores():
    assert starts(run([*BLOCKED, (0, 1, 1, 11)])) == [0, 10, 15]


def test_easy_judges_by_the_request_and_not_by_the_run_time():
    assert starts(run([(0, 3, 4, 10), (0, 4, 5, 5), (1, 1, 3, 9), (1, 1, 1, 10)])) == [0, 4, 1, 9]


def test_easy_gives_the_extra_cores_once():
    # At 10 the head takes 4 of 6: the extra is 2. Of the long jobs two fit in it, the third does not.
    outcomes = run([(0, 3, 10, 10), (0, 4, 9, 9), (0, 1, 50, 50), (0, 1, 50, 50), (0, 1, 50, 50)], cores=6)
    assert starts(outcomes) == [0, 10, 0, 0, 19]
    assert overtakers(outcomes) == [2, 3]


def test_a_candidate_that_ends_by_the_shadow_time_leaves_the_extra_to_others():
    outcomes = run([(0, 3, 10, 10), (0, 5, 9, 9), (0, 1, 10, 10), (0, 1, 50, 50)], cores=6)
    assert starts(outcomes) == [0, 10, 0, 0]


def test_every_expected_end_at_the_shadow_time_counts_for_the_extra():
    # The first end at 10 would do for the head and leave 1 core; with the second one it leaves 3.
    outcomes = run([(0, 2, 10, 10), (0, 2, 10, 10), (0, 3, 5, 5), (0, 2, 60, 60)], cores=6)
    assert starts(outcomes) == [0, 0, 10, 0]


def test_aggressive_starts_whatever_fits():
    outcomes = run([*BLOCKED, (0, 2, 1, 1), (0, 1, 50, 50)], policy="aggressive")
    assert starts(outcomes) == [0, 50, 10, 0]
    assert overtakers(outcomes) == [2, 3]


def test_there_is_one_pass_for_all_events_of_an_instant():
    # A pass after the first of the two ends at 5 would find the head blocked until 100 and start the candidate.
    assert starts(run([(0, 2, 5, 5), (0, 2, 5, 100), (1, 4, 1, 1), (1, 2, 9, 9)])) == [0, 0, 5, 6]


def test_ends_come_before_arrivals_at_the_same_instant():
    assert starts(run([(0, 4, 5, 5), (5, 4, 1, 1)])) == [0, 5]


def test_a_run_time_equal_to_the_request_is_a_completion():
    assert states(run([(0, 1, 5, 5), (0, 1, 6, 5)])) == ["completed", "timeout"]


def test_kill_ends_a_job_at_its_limit_and_frees_its_cores():
    outcomes = run([(0, 4, 100, 5), (0, 4, 1, 1)])
    assert ends(outcomes) == [5, 6]
    assert outcomes[0].run == 5 * SECOND


def test_a_job_without_run_time_runs_to_its_limit():
    outcomes = run([(0, 4, None, 5)])
    assert (ends(outcomes), states(outcomes)) == ([5], ["timeout"])


def test_jobs_of_zero_length_pass_through_within_one_instant():
    outcomes = run([(3, 4, 0, 5), (3, 4, 0, 0), (3, 4, 7, 0), (3, 4, 2, 9)])
    assert starts(outcomes) == [3, 3, 3, 3]
    assert states(outcomes) == ["completed", "completed", "timeout", "completed"]


def test_extend_lets_a_job_run_on():
    outcomes = run([(0, 4, 100, 5), (0, 4, 1, 1)], overrun="extend")
    assert (ends(outcomes), states(outcomes)) == ([100, 101], ["completed", "completed"])


def test_extend_shows_the_scheduler_ends_corrected_by_growing_increments():
    # Expected ends of the first job: 10, 70 (+1 min), 370 (+5 min). The candidate of 100 s fits before 370 only.
    outcomes = run([(0, 3, 400, 10), (0, 4, 5, 5), (0, 1, 90, 100)], overrun="extend")
    assert starts(outcomes) == [0, 400, 70]
    assert overtakers(outcomes) == [2]


def test_the_last_increment_doubles():
    total = sum(CORRECTIONS) // SECOND
    hours = 3600
    assert [increment // SECOND for increment in CORRECTIONS] == [
        *(60, 300, 900, 1800),
        *(hour * hours for hour in (1, 2, 5, 10, 20, 50, 100)),
    ]
    # After 11 corrections the end is expected at `total`; the 12th moves it by twice 100 h.
    outcomes = run([(0, 3, 10**7, 0), (0, 4, 5, 5), (total + 1, 1, 1, 200 * hours)], overrun="extend")
    assert starts(outcomes)[2] == total + 200 * hours


def test_a_correction_is_no_end():
    outcomes = run([(0, 4, 10, 10), (0, 4, 1, 1)], overrun="extend")
    assert ends(outcomes) == [10, 11]


def test_cancelling_a_waiting_job_makes_way():
    outcomes = run([(0, 3, 10, 10), (0, 4, 5, 5, {"cancel": 2}), (0, 1, 50, 50)])
    assert starts(outcomes) == [0, None, 2]
    assert (ends(outcomes)[1], states(outcomes)[1], outcomes[1].run) == (2, "cancelled", None)


def test_cancelling_a_running_job_ends_it():
    outcomes = run([(0, 4, 10, 10, {"cancel": 3}), (0, 4, 1, 1)])
    assert starts(outcomes) == [0, 3]
    assert (states(outcomes)[0], outcomes[0].run) == ("cancelled", 3 * SECOND)


@pytest.mark.parametrize("cancel", [0, 7, 8])
def test_a_job_cancelled_by_its_submission_never_starts(cancel):
    outcomes = run([(8, 1, 5, 5, {"cancel": cancel})])
    assert (starts(outcomes), ends(outcomes), states(outcomes)) == ([None], [8], ["cancelled"])


def test_a_cancellation_comes_too_late_for_what_has_ended():
    outcomes = run([(0, 1, 5, 5, {"cancel": 5}), (0, 1, 9, 5, {"cancel": 5}), (0, 9, 1, 1, {"cancel": 5})])
    assert states(outcomes) == ["completed", "timeout", "rejected"]


def test_a_job_is_cancelled_before_the_pass_that_would_start_it():
    outcomes = run([(0, 4, 5, 5), (1, 4, 5, 5, {"cancel": 5})])
    assert (starts(outcomes)[1], ends(outcomes)[1]) == (None, 5)


def test_a_begin_time_holds_the_job_and_sets_its_place_in_the_queue():
    # Held until 6, it queues behind the job that came at 5 and before the one that comes at 6.
    outcomes = run([(0, 4, 1, 1, {"begin": 6}), (1, 4, 9, 9), (5, 4, 1, 1), (6, 4, 1, 1)], policy="fcfs")
    assert starts(outcomes) == [11, 1, 10, 12]
    assert outcomes[0].eligible == 6 * SECOND


def test_a_begin_time_in_the_past_means_nothing():
    outcomes = run([(4, 1, 1, 1, {"begin": 2})])
    assert (starts(outcomes), outcomes[0].eligible) == ([4], 4 * SECOND)


def test_a_held_job_can_be_cancelled():
    outcomes = run([(0, 1, 1, 1, {"begin": 9, "cancel": 9}), (0, 1, 1, 1, {"begin": 9, "cancel": 3})])
    assert (starts(outcomes), ends(outcomes)) == ([None, None], [9, 3])


def test_a_job_larger_than_the_machine_is_rejected():
    outcomes = run([(0, 5, 1, 1, {"begin": 7}), (0, 4, 1, 1)])
    assert (starts(outcomes), ends(outcomes), states(outcomes)) == ([None, 0], [None, 1], ["rejected", "completed"])


def test_until_leaves_the_rest_open():
    jobs = [(0, 4, 5, 5), (0, 4, 5, 5), (1, 1, 1, 1), (2, 1, 1, 1, {"begin": 50}), (6, 1, 1, 1)]
    outcomes = run(jobs, until=5, policy="fcfs")
    assert states(outcomes) == ["completed", "running", "waiting", "waiting"]
    assert (starts(outcomes), ends(outcomes)) == ([0, 5, None, None], [5, None, None, None])


def test_until_includes_its_own_instant():
    outcomes = run([(5, 4, 0, 0), (5, 4, 1, 1), (6, 1, 1, 1)], until=5)
    assert states(outcomes) == ["completed", "running"]


def test_the_run_of_a_job_counts_to_the_cut_off():
    assert [outcome.run for outcome in run([(1, 4, 9, 9), (1, 4, 1, 1)], until=5)] == [4 * SECOND, None]


def test_outcomes_carry_the_traces_job_ids_and_rows():
    workload = Workload.from_columns(job_id=[70, 30], submit=[0, 0], run_time=[1, 1], requested_time=[1, 1])
    assert [(outcome.job_id, outcome.row) for outcome in simulate_cores(workload, 1)] == [(70, 0), (30, 1)]


@pytest.mark.parametrize(
    ("jobs", "options", "message"),
    [
        ([(0, 1, None, None)], {}, "job 1: requested_time is missing"),
        ([(0, 1, 1, 1)], {"policy": "eazy"}, "did you mean 'easy'"),
        ([(0, 1, 1, 1)], {"overrun": "stop"}, "overrun"),
        ([(0, 1, None, 1)], {"overrun": "extend"}, "job 1: .* for ever"),
    ],
)
def test_what_cannot_be_simulated_is_refused(jobs, options, message):
    with pytest.raises(InputError, match=message):
        run(jobs, **options)


def test_a_job_without_end_may_be_cut_off():
    outcomes = run([(0, 1, None, 1)], overrun="extend", until=10**6)
    assert states(outcomes) == ["running"]
