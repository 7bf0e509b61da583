"""Sessions, batches and what they waited for, on traces whose users are known."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.users.describe import describe_users
from walltime.workload.users.plan import draw_think_times
from walltime.workload.users.rhythm import find_hours, hours_until
from walltime.workload.users.sessions import Thresholds, infer_acts

MINUTE = 60


def log(*jobs: tuple[str, float, float, float], **more) -> Workload:
    """Jobs as (user, submit, wait, run), in minutes."""
    user, submit, wait, run = zip(*jobs, strict=True)
    times = {"submit": submit, "recorded_wait": wait, "run_time": run}
    return Workload.from_columns(
        user=list(user), **{name: [60.0 * value for value in values] for name, values in times.items()}, **more
    )


def seen(acts):
    """Each batch as (jobs, session, reacts to, think, follows, gap), in minutes."""
    numbers = acts.workload.column("job_id")[acts.order].tolist()
    groups = [numbers[low:high] for low, high in zip(acts.first, acts.first[1:], strict=False)]
    minutes = [(values // (60 * SECOND)).tolist() for values in (acts.think, acts.gap)]
    session, after, before = acts.session.tolist(), acts.after.tolist(), acts.before.tolist()
    return list(zip(groups, session, after, minutes[0], before, minutes[1], strict=True))


def test_a_job_that_comes_before_the_one_before_has_ended_is_of_its_batch():
    acts = infer_acts(log(("a", 0, 5, 10), ("a", 14, 0, 10), ("a", 27, 0, 1)))
    assert seen(acts) == [([1, 2], 0, -1, 0, -1, 0), ([3], 0, 0, 3, -1, 0)]


def test_what_ends_at_the_very_moment_was_waited_for():
    acts = infer_acts(log(("a", 0, 0, 10), ("a", 10, 0, 10)))
    assert seen(acts) == [([1], 0, -1, 0, -1, 0), ([2], 0, 0, 0, -1, 0)]


def test_a_long_pause_ends_the_session_and_is_a_think_time_all_the_same():
    acts = infer_acts(log(("a", 0, 0, 10), ("a", 30, 0, 1), ("a", 52, 0, 1)))
    assert seen(acts) == [([1], 0, -1, 0, -1, 0), ([2], 0, 0, 20, -1, 0), ([3], 1, 1, 21, -1, 0)]
    wider = infer_acts(acts.workload, Thresholds(session_gap=25 * MINUTE))
    assert wider.session.tolist() == [0, 0, 0]


def test_with_a_long_job_still_there_the_next_batch_follows_an_arrival():
    """The short second job of the first batch has ended, the first has not: nothing completed that was waited for."""
    jobs = log(("a", 0, 0, 600), ("a", 2, 0, 3), ("a", 9, 0, 1))
    assert seen(infer_acts(jobs)) == [([1, 2], 0, -1, 0, -1, 0), ([3], 0, -1, 0, 0, 9)]
    assert seen(infer_acts(jobs, Thresholds(overlap="any"))) == [([1, 2, 3], 0, -1, 0, -1, 0)]


def test_of_several_that_have_completed_the_last_was_waited_for_and_order_is_kept():
    """The third batch came after the first had ended; the second, which came between, had ended before that."""
    jobs = log(("a", 0, 0, 30), ("a", 1, 0, 2), ("a", 5, 0, 10), ("a", 32, 0, 1))
    assert seen(infer_acts(jobs)) == [
        ([1, 2], 0, -1, 0, -1, 0),
        ([3], 0, -1, 0, 0, 5),
        ([4], 0, 0, 2, 1, 0),
    ]


def test_arrays_campaigns_and_workflows_are_one_act():
    jobs = [("a", 0, 0, 0.1), ("a", 0.5, 0, 0.1), ("a", 0.6, 0, 0.1), ("a", 30, 0, 1)]
    assert [group for group, *_ in seen(infer_acts(log(*jobs)))] == [[1], [2, 3], [4]]
    assert [group for group, *_ in seen(infer_acts(log(*jobs), Thresholds(campaign=60)))] == [[1, 2, 3], [4]]
    assert [group for group, *_ in seen(infer_acts(log(*jobs), Thresholds(campaign=0)))] == [[1], [2], [3], [4]]
    for column in ("array", "workflow"):
        one = log(*jobs, **{column: ["x", "x", "x", "x"]})
        assert [group for group, *_ in seen(infer_acts(one))] == [[1, 2, 3, 4]]


def test_users_are_apart_and_jobs_without_one_wait_for_nothing():
    acts = infer_acts(log(("a", 0, 0, 10), ("b", 1, 0, 1), ("", 2, 0, 1), ("b", 3, 0, 1), ("", 4, 0, 1)))
    groups = [(group, after, before) for group, _, after, _, before, _ in seen(acts)]
    assert groups == [([3], -1, -1), ([5], -1, -1), ([1], -1, -1), ([2], -1, -1), ([4], 3, -1)]
    assert len(set(acts.session[:2].tolist())) == 2


def test_a_job_that_was_cancelled_in_the_queue_ended_then():
    jobs = Workload.from_columns(
        user=["a", "a"], submit=[0, 100], run_time=[None, 10], cancel=[60, None], recorded_wait=[None, 0]
    )
    acts = infer_acts(jobs)
    assert (acts.end.tolist(), acts.think.tolist(), acts.unknown) == ([60 * SECOND, 110 * SECOND], [0, 40 * SECOND], 0)


def test_a_log_without_waits_is_refused_or_taken_to_have_had_none():
    jobs = Workload.from_columns(user=["a", "a"], submit=[0, 100], run_time=[50, 10])
    with pytest.raises(InputError, match="how long its jobs waited"):
        infer_acts(jobs)
    assert infer_acts(jobs, Thresholds(waits="none")).think.tolist() == [0, 50 * SECOND]


def test_working_hours_are_a_users_own_by_kind_of_day_and_the_sites_where_little_is_known():
    hours = [24 * day + hour for day in range(5) for hour in (9, 10, 11, 14)] + [24 * 5 + 11]
    jobs = [("a", 60.0 * hour, 0, 1) for hour in hours] + [("b", 60.0 * 33, 0, 1), ("c", 60.0 * 3, 0, 1)]
    acts = infer_acts(log(*sorted(jobs, key=lambda job: job[1])))
    works = find_hours(acts)
    names = acts.workload.label_names("user")
    a, c = works[names.index("a")], works[names.index("c")]
    assert np.flatnonzero(a[:24]).tolist() == [9, 10, 11, 14]
    assert np.array_equal(a[:24], a[96:120])
    assert np.flatnonzero(a[120:]).tolist() == [11]  # Saturday; never on Sunday
    assert np.flatnonzero(c[:24]).tolist() == [3, 9, 10, 11, 14]  # one batch: the site's hours, and its own
    skip = hours_until(works)[names.index("a")]
    assert skip[[9, 12, 15, 24 * 5 + 12]].tolist() == [0, 2, 18, 45]


def generate(seed: int, users: int = 40) -> tuple[Workload, dict[str, float]]:
    """Users who think for 4 minutes in the mean, have 5 batches in a session, and breaks of some 15 hours."""
    random = stream(seed, "users.generated")
    rows, truth = [], {"batches": 0, "sessions": 0, "think": 0.0, "reactions": 0}
    for user in range(users):
        now = float(random.uniform(0, 600))
        for _ in range(12):
            truth["sessions"] += 1
            for number in range(1 + int(random.poisson(4))):
                if number:
                    think = float(random.exponential(4))
                    think = min(think, 19.0)
                    now += think
                    truth["think"] += think
                    truth["reactions"] += 1
                truth["batches"] += 1
                jobs = [float(random.exponential(30)) + 1 for _ in range(1 + int(random.geometric(0.5)))]
                rows += [(f"u{user}", now + 0.05 * place, 0.5, run) for place, run in enumerate(jobs)]
                now += max(0.05 * place + 0.5 + run for place, run in enumerate(jobs))
            now += float(random.uniform(600, 1200))
    rows.sort(key=lambda row: row[1])
    return log(*rows), truth


@pytest.mark.parametrize("seed", range(3))
def test_of_generated_users_the_true_parameters_are_found(seed):
    jobs, truth = generate(seed)
    _, facts = describe_users(jobs, Thresholds())
    assert facts["sessions"] == truth["sessions"]
    assert facts["batches"] == truth["batches"]
    assert facts["think_time"]["mean"] == pytest.approx(60 * truth["think"] / truth["reactions"], rel=1e-3)
    assert facts["sure"]["prompt"] > 3 * facts["sure"]["by_chance"]
    assert facts["sure"]["undecided"] < 0.1


def test_users_who_do_not_react_are_told_from_those_who_do():
    random = stream(1, "users.open")
    times, users = np.sort(random.uniform(0, 60_000, 4000)).tolist(), random.integers(0, 20, 4000).tolist()
    runs = (random.exponential(20, 4000) + 0.1).tolist()
    rows = [(f"u{user}", time, 1.0, run) for user, time, run in zip(users, times, runs, strict=True)]
    _, facts = describe_users(log(*rows), Thresholds())
    assert facts["sure"]["prompt"] < 1.2 * facts["sure"]["by_chance"]


def test_drawn_think_times_belong_to_user_and_batch():
    jobs, _ = generate(5, users=6)
    acts = infer_acts(jobs)
    drawn = draw_think_times(acts, 7, 1200.0)
    alone = jobs.select(jobs.column("user") == jobs.label_names("user").index("u3"))
    mine = acts.user == jobs.label_names("user").index("u3")
    assert draw_think_times(infer_acts(alone), 7, 1200.0).tolist() == drawn[mine].tolist()
    assert set(drawn[mine].tolist()) <= set(acts.think[mine].tolist())
    assert drawn.tolist() != acts.think.tolist()
    assert draw_think_times(acts, 8, 1200.0).tolist() != drawn.tolist()
