"""Every figure against one computed by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import allocation, job, record, simulated, workloads
from walltime.analysis.cells import bound_slowdowns, sum_held
from walltime.analysis.metrics import SIZES, by, find_window, jain, jain_index, starvation, summarise
from walltime.analysis.statistics import Groups, exact_sum, group_means
from walltime.core.errors import InputError
from walltime.core.time import SECOND


def three(**facts):
    """Four cores. Waits 0, 9, 1; runs 10, 5, 4; users ann, bo, ann."""
    return record(
        job(1, 0.0, 0.0, 10.0, 3, user="ann", queue="long"),
        job(2, 1.0, 10.0, 15.0, 2, user="bo", queue="short", recorded_wait=5.0),
        job(3, 2.0, 3.0, 7.0, 1, user="ann", queue="short", backfilled=True, recorded_wait=2.0),
        **facts,
    )


def test_headline_figures_by_hand():
    found = summarise(three(skipped={"no run time": 2, "no cores": 1}, perfect_estimates=3, longest_queue=2))
    assert (found["jobs"], found["started"], found["completed"], found["skipped"]) == (3, 3, 3, 3)
    assert (found["backfilled"], found["perfect_estimates"], found["longest_queue"]) == (1, 3, 2)
    assert found["skipped_reasons"] == {"no run time": 2, "no cores": 1}
    assert found["makespan"] == 15.0
    assert found["core_seconds"] == 3 * 10 + 2 * 5 + 1 * 4
    assert found["utilization"] == pytest.approx(44 / (4 * 15))
    assert found["mean_wait"] == pytest.approx(10 / 3)
    assert (found["median_wait"], found["max_wait"]) == (1.0, 9.0)
    assert found["p95_wait"] == pytest.approx(1 + 0.9 * 8)  # interpolated between the second and the third
    assert found["mean_response"] == pytest.approx((10 + 14 + 5) / 3)
    # Runs of 10, 5 and 4 s are all taken as 10 s: (0+10)/10, (9+5)/10, max(1, (1+4)/10).
    assert found["mean_bounded_slowdown"] == pytest.approx((1.0 + 1.4 + 1.0) / 3)
    assert found["median_bounded_slowdown"] == 1.0
    assert found["recorded"] == {
        "jobs": 2,
        "mean_wait": 3.5,
        "median_wait": 3.5,
        "p95_wait": 4.85,
        "max_wait": 5.0,
        "simulated_mean_wait": 5.0,
        "simulated_median_wait": 5.0,
        "simulated_p95_wait": 8.6,
    }
    assert len(found["digest"]) == 64
    assert found["clusters"] == {"cluster": 4}


def test_the_window_is_between_quantiles_of_submission():
    """Submissions at 0, 10, ..., 100: the window is 10 to 90. One job of 2 cores runs from 50 to 150."""
    jobs = [job(number, 10.0 * number, cores=1, state="rejected", cluster=None) for number in range(11)]
    jobs[5] = job(5, 50.0, 50.0, 150.0, 2)
    found = summarise(record(*jobs))
    assert (found["window"]["start"], found["window"]["end"]) == (10.0, 90.0)
    assert found["utilization_window"] == pytest.approx(2 * 40 / (4 * 80))
    assert found["utilization"] == pytest.approx(2 * 100 / (4 * 150))
    assert (found["window"]["jobs"], found["window"]["mean_wait"]) == (9, 0.0)


def test_a_window_of_ones_own():
    jobs = [job(1, 0.0, 0.0, 50.0, 4), job(2, 100.0, 100.0, 200.0, 2)]
    found = summarise(record(*jobs), warmup=20.0, cooldown=20.0)
    assert (found["window"]["start"], found["window"]["end"]) == (20.0, 80.0)
    assert found["utilization_window"] == pytest.approx(4 * 30 / (4 * 60))
    assert summarise(record(*jobs), warmup=60.0, cooldown=60.0)["utilization_window"] is None
    assert find_window(np.array([0, 10])) == (1, 9)
    with pytest.raises(InputError, match="warmup"):
        summarise(record(*jobs), warmup=-1.0)
    with pytest.raises(InputError, match="cooldown"):
        summarise(record(*jobs), cooldown=math.nan)


NOTHING = ("makespan", "utilization", "utilization_window", "mean_wait", "median_wait", "p95_wait", "max_wait")
NOTHING += ("mean_response", "mean_bounded_slowdown", "jain_fairness")


@pytest.mark.parametrize("empty", [record(), record(job(1, 5.0, cores=9, state="rejected", cluster=None, user="ann"))])
def test_where_nothing_ran_the_figures_are_empty(empty):
    found = summarise(empty)
    assert {key: found[key] for key in NOTHING} == dict.fromkeys(NOTHING)
    assert (found["jobs"], found["rejected"], found["core_seconds"]) == (empty.jobs.height, empty.jobs.height, 0.0)
    json.dumps(found, allow_nan=False)
    for key in ("user", "size", "cluster"):
        assert by(empty, key)["jobs"].sum() == empty.jobs.height
    assert starvation(empty).height == 0
    assert jain(empty) is None


def test_one_job():
    found = summarise(record(job(1, 5.0, 8.0, 28.0, 4, user="ann")))
    assert (found["makespan"], found["mean_wait"], found["p95_wait"]) == (23.0, 3.0, 3.0)
    assert found["utilization"] == pytest.approx(20 / 23)
    assert found["utilization_window"] is None  # one submission spans no time
    assert found["mean_bounded_slowdown"] == pytest.approx(23 / 20)
    assert found["jain_fairness"] == 1.0


def test_a_cut_off():
    """At 50: job 1 has run for 40 of its time, job 2 still waits."""
    cut = record(job(1, 0.0, 10.0, cores=3), job(2, 20.0, cores=4), until=50.0)
    found = summarise(cut)
    assert (found["started"], found["running"], found["waiting"], found["completed"]) == (1, 1, 1, 0)
    assert (found["mean_wait"], found["mean_response"], found["mean_bounded_slowdown"]) == (10.0, None, None)
    assert (found["makespan"], found["core_seconds"]) == (50.0, 120.0)
    assert found["utilization"] == pytest.approx(120 / 200)
    assert starvation(cut).rows() == [("2-7", 2, 30.0, "waiting")]


def test_states_are_counted():
    rows = [
        job(1, 0.0, 0.0, 5.0, state="timeout"),
        job(2, 0.0, 0.0, 5.0, state="failed"),
        job(3, 0.0, end=7.0, state="cancelled"),
        job(4, 0.0, 0.0, 3.0, state="cancelled"),
    ]
    found = summarise(record(*rows))
    assert [found[key] for key in ("timeout", "killed", "failed", "cancelled", "completed")] == [1, 1, 1, 2, 0]
    assert found["started"] == 3


def test_a_restarted_job_counts_what_it_held():
    """Held 0-2 and 4-8; waited 2 s in between; 4 s were of use."""
    row = job(1, 0.0, 0.0, 8.0, 2, run_time=4.0, wait=2.0, restarts=1, lost_core_seconds=4.0)
    parts = [allocation(row, end=2.0, outcome="failed"), allocation(row, start=4.0, attempt=1)]
    found = summarise(record(row, allocations=parts))
    assert (found["core_seconds"], found["lost_core_seconds"]) == (12.0, 4.0)
    assert found["mean_bounded_slowdown"] == 1.0
    assert by(record(row, allocations=parts), "size")["core_seconds"].sum() == 12.0


def test_groups_by_hand():
    users = by(three(), "user")
    assert users["user"].to_list() == ["ann", "bo"]  # by core-seconds
    assert users["jobs"].to_list() == [2, 1]
    assert users["core_seconds"].to_list() == [34.0, 10.0]
    assert users["mean_wait"].to_list() == [0.5, 9.0]
    assert users["median_wait"].to_list() == [0.5, 9.0]
    assert users["p95_wait"].to_list() == pytest.approx([0.95, 9.0])
    assert users["max_wait"].to_list() == [1.0, 9.0]
    assert users["mean_bounded_slowdown"].to_list() == pytest.approx([1.0, 1.4])
    sizes = by(three(), "size")
    assert sizes["size"].to_list() == list(SIZES)
    assert sizes["jobs"].to_list() == [1, 2, 0, 0, 0]
    assert sizes["mean_wait"].to_list() == [1.0, 4.5, None, None, None]
    assert by(three(), "account")["account"].to_list() == [None]
    with pytest.raises(InputError, match="user"):
        by(three(), "usr")


@pytest.mark.parametrize(
    ("cores", "size"), [(1, 0), (2, 1), (7, 1), (8, 2), (63, 2), (64, 3), (511, 3), (512, 4), (99999, 4)]
)
def test_size_classes(cores, size):
    counts = by(record(job(1, 0.0, 0.0, 1.0, cores), cores=10**6), "size")["jobs"].to_list()
    assert counts.index(1) == size


def test_starvation_names_the_job():
    rows = [job(1, 0.0, 30.0, 31.0, 8), job(2, 0.0, end=90.0, cores=9, state="cancelled"), job(3, 0.0, 5.0, 6.0, 1)]
    assert starvation(record(*rows, cores=64)).rows() == [("1", 3, 5.0, "completed"), ("8-63", 2, 90.0, "cancelled")]


def test_jain_by_hand():
    assert jain_index([1.0, 1.0, 1.0]) == 1.0
    assert jain_index([4.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain_index([1.0, 3.0]) == pytest.approx(16 / 20)
    assert jain_index([]) is None
    # ann: runs of 10 s after 0 and 10 s of wait, slowdowns 1 and 2; bo: 30 s of wait, slowdown 4; no user: left out.
    rows = [job(1, 0.0, 0.0, 10.0, user="ann"), job(2, 0.0, 10.0, 20.0, user="ann")]
    rows += [job(3, 0.0, 30.0, 40.0, user="bo"), job(4, 0.0, 90.0, 100.0)]
    assert jain(record(*rows)) == pytest.approx((1.5 + 4) ** 2 / (2 * (1.5**2 + 4**2)))


def test_sums_beyond_64_bits_are_exact():
    large = np.array([2**62, 2**62, 2**62, -5], np.int64)
    assert exact_sum(large) == 3 * 2**62 - 5
    assert sum_held(np.array([5, 0]), np.array([5 + 2**50, 3]), np.array([2**20, 7]), 0, 2**62) == 2**70 + 21


@pytest.mark.parametrize("seed", range(3))
def test_walks_along_the_jobs_give_what_formulas_give(seed):
    chance = np.random.default_rng(seed)
    start = chance.integers(0, 10**12, 200)
    end, cores = start + chance.integers(0, 10**12, 200), chance.integers(0, 10**6, 200)
    for first, last in ((0, 2**62), (10**11, 10**12), (10**12, 10**11)):
        rows = zip(start.tolist(), end.tolist(), cores.tolist(), strict=True)
        expected = sum(max(0, min(stop, last) - max(begin, first)) * amount for begin, stop, amount in rows)
        assert sum_held(start, end, cores, first, last) == expected
    wait, held, run = (np.where(chance.random(200) < 0.1, np.nan, chance.random(200) * 30) for _ in range(3))
    expected = np.maximum(1.0, (wait + held) / np.maximum(run, 10.0))
    np.testing.assert_array_equal(bound_slowdowns(wait, held, run, 10.0), expected)


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1e6) | st.just(math.nan)), max_size=40))
def test_grouped_figures_are_those_of_numpy(pairs):
    codes = np.array([code for code, _ in pairs], np.int64)
    values = np.array([value for _, value in pairs], np.float64)
    groups, means = Groups.of(codes, values, 5), group_means(codes, values, 5)
    for code in range(5):
        mine = values[(codes == code) & ~np.isnan(values)]
        if not len(mine):
            assert math.isnan(means[code])
            assert math.isnan(groups.quantile(0.5)[code])
            continue
        assert means[code] == pytest.approx(mine.mean())
        for fraction in (0.0, 0.5, 0.95, 1.0):
            assert groups.quantile(fraction)[code] == pytest.approx(np.quantile(mine, fraction))


@settings(max_examples=100, deadline=None)
@given(workloads(), st.sampled_from(["fcfs", "easy"]), st.none() | st.integers(1, 90))
def test_legal_schedules_give_sensible_figures(workload, policy, until):
    made = simulated(workload, 8, policy, until=until)
    found = summarise(made)
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    for key in ("utilization", "utilization_window", "jain_fairness"):
        assert found[key] is None or 0 <= found[key] <= 1
    states = ("completed", "timeout", "failed", "cancelled", "rejected", "running", "waiting")
    assert sum(found[state] for state in states) == found["jobs"] == made.jobs.height
    assert found["mean_bounded_slowdown"] is None or found["mean_bounded_slowdown"] >= 1
    for key in ("user", "size", "queue"):
        table = by(made, key)
        assert table["core_seconds"].sum() == pytest.approx(found["core_seconds"])
        assert table["started"].sum() == found["started"]
        assert table["max_wait"].max() == found["max_wait"]
    longest = starvation(made)["longest_wait"].max()
    assert found["max_wait"] is None or longest >= found["max_wait"] - 1 / SECOND
