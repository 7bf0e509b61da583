"""Choosing and changing jobs: each function does what it says and leaves the rest alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from walltime.core.errors import InputError
from walltime.core.workload import MISSING, Origin, Workload
from walltime.workload import transform


@pytest.fixture
def jobs():
    workload = Workload.from_columns(
        job_id=[1, 2, 3, 4, 5],
        submit=[10, 20, 20, 50, 100],
        run_time=[5, 6, None, 8, 9],
        requested_time=[10, None, 10, 10, 10],
        cores=[1, 2, 3, 8, 16],
        user=["ann", "bo", "ann", None, "cy"],
        queue=["q", "q", "r", "r", "r"],
        cancel=[None, None, 30, None, None],
        begin=[None, 40, None, None, None],
    )
    return workload.replace(workload.columns, origin=Origin(1000.0, "UTC"), machine_cores=16)


def ids(workload):
    return workload.column("job_id").tolist()


def test_window_is_half_open(jobs):
    assert ids(transform.window(jobs, 20, 100)) == [2, 3, 4]
    assert ids(transform.window(jobs, None, 20)) == [1]
    assert ids(transform.window(jobs, 50)) == [4, 5]


def test_a_window_counts_the_records_that_were_skipped_in_its_time(jobs):
    """Of a record without a readable submission it is not known whether it belongs there: it is counted apart."""
    times = {"run time unknown or zero": [5, 10, 19, 20], "malformed line": [MISSING, 12], "submit time unknown": [-1]}
    skipped_at = {reason: np.array([t if t < 0 else t * 1_000_000 for t in at]) for reason, at in times.items()}
    log = jobs.replace(jobs.columns, notes={"skipped": {r: len(at) for r, at in times.items()}}, skipped_at=skipped_at)
    part = transform.window(log, 10, 20)
    assert part.notes["skipped"] == {
        "run time unknown or zero": 2,
        "malformed line": 1,
        "malformed line, submission unknown": 1,
        "submit time unknown": 1,
    }
    assert part.notes["lines"] == len(part) + 5
    assert transform.window(part, 11, 20).notes["skipped"]["run time unknown or zero"] == 1
    assert transform.window(log).notes["skipped"]["run time unknown or zero"] == 4
    assert transform.window(part, 10, 20).notes["skipped"] == part.notes["skipped"]
    assert transform.window(log, 10, 20, rebase=True).skipped_at["malformed line"].tolist() == [2_000_000]
    assert transform.first(part, 0).notes["skipped"] == {}


def test_window_rebased(jobs):
    moved = transform.window(jobs, 20, 100, rebase=True)
    assert moved.column("submit").tolist() == [0, 0, 30_000_000]
    assert moved.column("cancel").tolist() == [MISSING, 10_000_000, MISSING]
    assert moved.column("begin").tolist() == [20_000_000, MISSING, MISSING]
    assert moved.origin == Origin(1020.0, "UTC")
    assert transform.window(jobs, end=30, rebase=True).origin.epoch == 1010.0


def test_by_label(jobs):
    assert ids(transform.keep_users(jobs, ["ann", "cy"])) == [1, 3, 5]
    assert ids(transform.keep_queues(jobs, ["q"])) == [1, 2]
    with pytest.raises(InputError, match="did you mean 'ann'"):
        transform.keep_users(jobs, ["anne"])
    with pytest.raises(InputError, match="group"):
        transform.keep_groups(jobs, ["physics"])


def test_by_size_and_number(jobs):
    assert ids(transform.keep_sizes(jobs, 2, 8)) == [2, 3, 4]
    assert ids(transform.keep_sizes(jobs)) == [1, 2, 3, 4, 5]
    assert ids(transform.first(jobs, 2)) == [1, 2]
    assert len(transform.first(jobs, 99)) == 5


def test_scale_load_divides_the_gaps(jobs):
    faster = transform.scale_load(jobs, 2)
    assert (faster.column("submit") / 1e6).tolist() == [10, 15, 15, 30, 55]
    assert (faster.column("cancel")[2] - faster.column("submit")[2]) == 10_000_000
    assert faster.column("run_time").tolist() == jobs.column("run_time").tolist()


def test_scale_time_keeps_what_is_missing(jobs):
    longer = transform.scale_time(jobs, 1.5)
    assert longer.column("run_time").tolist() == [7_500_000, 9_000_000, MISSING, 12_000_000, 13_500_000]
    assert longer.column("requested_time").tolist() == [15_000_000, MISSING, *[15_000_000] * 3]


def test_scale_cores(jobs):
    assert transform.scale_cores(jobs, 0.25).column("cores").tolist() == [1, 1, 1, 2, 4]
    assert transform.scale_cores(jobs, 3).column("cores").tolist() == [3, 6, 9, 24, 48]


@pytest.mark.parametrize("change", [transform.scale_load, transform.scale_time, transform.scale_cores])
@pytest.mark.parametrize("factor", [0, -1, float("nan"), float("inf")])
def test_impossible_factors(jobs, change, factor):
    with pytest.raises(InputError, match="factor"):
        change(jobs, factor)


def test_too_large(jobs):
    with pytest.raises(InputError, match="too large"):
        transform.scale_time(transform.scale_time(jobs, 1e6), 1e6)


def test_nothing_is_changed_in_place(jobs):
    before = {name: values.copy() for name, values in jobs.columns.items()}
    for change in (transform.scale_load, transform.scale_time, transform.scale_cores, transform.shake):
        change(jobs, 0.5)
    assert all(np.array_equal(jobs.columns[name], values) for name, values in before.items())


@given(
    submits=st.lists(st.integers(0, 1000), min_size=1, max_size=30),
    seconds=st.floats(0, 500),
    seed=st.integers(0, 5),
)
def test_shake_moves_each_job_by_its_own_draw(submits, seconds, seed):
    jobs = Workload.from_columns(submit=submits, run_time=[1] * len(submits), cancel=[s + 50 for s in submits])
    jobs = jobs.replace(jobs.columns | {"job_id": jobs.column("job_id")})
    moved = transform.shake(jobs, seconds, seed)
    order = np.argsort(moved.column("job_id"), kind="stable")
    original = np.argsort(jobs.column("job_id"), kind="stable")
    shift = moved.column("submit")[order] - jobs.column("submit")[original]
    assert np.all(np.abs(shift) <= seconds / 2 * 1_000_000 + 1)
    assert np.all(moved.column("cancel") - moved.column("submit") == 50_000_000)
    half = jobs.select(np.arange(len(jobs)) % 2 == 0)
    again = dict(
        zip(*(transform.shake(half, seconds, seed).column(n).tolist() for n in ("job_id", "submit")), strict=True)
    )
    whole = dict(zip(*(moved.column(n).tolist() for n in ("job_id", "submit")), strict=True))
    assert again.items() <= whole.items()


def test_shake_differs_by_seed_and_fills_its_interval():
    jobs = Workload.from_columns(submit=[1000] * 4000, run_time=[1] * 4000)
    first, second = (transform.shake(jobs, 100, seed).column("submit") / 1e6 for seed in (1, 2))
    assert not np.array_equal(first, second)
    assert 950 <= first.min() < 951
    assert 1049 < first.max() <= 1050
    assert abs(first.mean() - 1000) < 5 * 100 / np.sqrt(12 * 4000)
