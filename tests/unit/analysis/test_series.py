"""Means over intervals are exact integrals."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import allocation, job, record, simulated, workloads
from walltime.analysis.series import NAMES, choose_interval, series
from walltime.core.errors import InputError
from walltime.core.tables import SERIES


def column(table, name, entity="cluster"):
    return table.filter((pl.col("series") == name) & (pl.col("entity") == entity))["value"].to_list()


def integral(table, name):
    times = table["time"].unique().sort()
    length = times[1] - times[0] if len(times) > 1 else None
    total = table.filter(pl.col("series") == name)["value"].sum()
    return total, length


def test_by_hand():
    """Job 1 holds 2 cores from 5 to 25, job 2 (3 cores) waits from 10 to 25 and runs to 40: intervals of 10 s."""
    table = series(record(job(1, 0.0, 5.0, 25.0, 2), job(2, 10.0, 25.0, 40.0, 3)), intervals=4)
    assert table.schema == SERIES
    assert table["time"].unique().sort().to_list() == [0.0, 10.0, 20.0, 30.0]
    assert column(table, "used_cores") == [1.0, 2.0, 2.5, 3.0]
    assert column(table, "running_jobs") == [0.5, 1.0, 1.0, 1.0]
    assert column(table, "waiting_jobs") == [0.5, 1.0, 0.5, 0.0]
    assert column(table, "waiting_cores") == [1.0, 3.0, 1.5, 0.0]
    assert column(table, "available_cores") == [4.0] * 4


def test_waiting_begins_when_eligible_and_again_after_a_restart():
    row = job(1, 0.0, 4.0, 9.0, 2, eligible=2.0, restarts=1)
    parts = [allocation(row, end=6.0, outcome="failed"), allocation(row, start=8.0, attempt=1)]
    table = series(record(row, allocations=parts), intervals=100)
    assert column(table, "waiting_jobs") == [0, 0, 1, 1, 0, 0, 1, 1, 0]
    assert column(table, "used_cores") == [0, 0, 0, 0, 2, 2, 0, 0, 2]


def test_a_cut_off_and_jobs_that_never_ran():
    rows = [job(1, 0.0, 2.0), job(2, 1.0), job(3, 0.0, cores=9, state="rejected", cluster=None)]
    rows += [job(4, 0.0, end=3.0, state="cancelled"), job(5, 0.0, end=1.0, state="cancelled", eligible=2.0)]
    table = series(record(*rows, until=5.0), intervals=100)
    assert column(table, "running_jobs") == [0, 0, 1, 1, 1]
    assert column(table, "waiting_jobs") == [2, 3, 2, 1, 1]


def test_one_entity_for_each_cluster():
    rows = [job(1, 0.0, 0.0, 2.0, 3), job(2, 0.0, 1.0, 2.0, 5, cluster="annex")]
    table = series(record(*rows, clusters={"cluster": 4, "annex": 8}), intervals=100)
    assert column(table, "used_cores") == [3, 3]
    assert column(table, "used_cores", "annex") == [0, 5]
    assert column(table, "waiting_cores", "annex") == [5, 0]
    assert column(table, "available_cores", "annex") == [8, 8]


def test_nothing_gives_an_empty_table():
    assert series(record()).is_empty()
    assert series(record()).schema == SERIES
    assert series(record(job(1, 5.0, cores=9, state="rejected"))).height == len(NAMES)
    with pytest.raises(InputError):
        series(record(), intervals=0)


@pytest.mark.parametrize(
    ("seconds", "intervals", "length"),
    [
        (0, 10, 1),
        (10, 10, 1),
        (11, 10, 10),
        (101, 10, 60),
        (601, 10, 300),
        (86_400, 1000, 300),
        (86_400 * 365, 1000, 43_200),
    ],
)
def test_intervals_are_round(seconds, intervals, length):
    assert choose_interval(seconds, intervals) == length


def test_long_records_have_intervals_of_whole_weeks():
    assert choose_interval(604_800 * 25, 10) == 3 * 604_800


@settings(max_examples=100, deadline=None)
@given(workloads(), st.integers(1, 50), st.sampled_from(["fcfs", "easy", "aggressive"]))
def test_integrals_are_core_seconds_and_waits(workload, intervals, policy):
    made = simulated(workload, 8, policy)
    table = series(made, intervals)
    used, length = integral(table, "used_cores")
    if length is None:
        return
    held = made.allocations
    assert used * length == pytest.approx(float((held["cores"] * (held["end"] - held["start"])).sum()), abs=1e-6)
    waiting, _ = integral(table, "waiting_jobs")
    queued = made.jobs.filter((pl.col("state") != "rejected") & (pl.col("eligible") < pl.col("end")))
    waited = (queued["start"].fill_null(queued["end"]) - queued["eligible"]).sum()
    assert waiting * length == pytest.approx(float(waited), abs=1e-6)
    assert float(table["value"].min()) >= 0
    assert table.filter(pl.col("series") == "used_cores")["value"].max() <= 8 + 1e-9
    assert table["time"].n_unique() <= intervals + 1
