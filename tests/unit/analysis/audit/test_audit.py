"""The audit finds nothing in legal schedules and every kind of corruption in illegal ones."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handmade import allocation, job, record, simulated, workloads
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError
from walltime.core.tables import Record


def rules(given_record, **options):
    return {violation.rule for violation in audit(given_record, **options)}


def legal(**facts):
    """Four cores: job 2 waits for job 1, job 3 fills in, job 4 is too large, job 5 is cancelled, 6 hits its limit."""
    return record(
        job(1, 0.0, 0.0, 10.0, 3),
        job(2, 1.0, 10.0, 15.0, 4),
        job(3, 2.0, 2.0, 9.0, 1, backfilled=True),
        job(4, 3.0, cores=9, state="rejected", cluster=None),
        job(5, 4.0, end=6.0, state="cancelled"),
        job(6, 20.0, 20.0, 25.0, 2, state="timeout", requested_time=5.0),
        **facts,
    )


def test_a_legal_schedule_has_no_violation():
    assert audit(legal()) == []
    assert audit(legal(), promise=True) == []


def test_empty_tables_are_legal():
    assert audit(record(), promise=True) == []


def test_tables_alone_need_the_clusters():
    tables = legal()
    assert audit((tables.jobs, tables.allocations), {"cluster": 4}) == []
    with pytest.raises(InputError, match="clusters"):
        audit((tables.jobs, tables.allocations))
    with pytest.raises(InputError, match="overrun"):
        audit(tables, overrun="ignore")


def corrupt(table: str, chosen_id: int, **values):
    """The legal schedule with some cells of one job replaced."""
    base = legal()
    frame = getattr(base, table)
    chosen = pl.col("job_id") == chosen_id
    changed = frame.with_columns(
        pl.when(chosen).then(pl.lit(value, dtype=frame.schema[name])).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    )
    parts = {"jobs": base.jobs, "allocations": base.allocations} | {table: changed}
    return Record(parts["jobs"], parts["allocations"], base.facts)


@pytest.mark.parametrize(
    ("table", "job_id", "values", "rule"),
    [
        ("allocations", 2, {"start": 9.0}, "capacity"),
        ("allocations", 3, {"cores": 2}, "capacity"),
        ("allocations", 3, {"start": 1.0}, "early"),
        ("jobs", 3, {"eligible": 3.0}, "early"),
        ("jobs", 3, {"eligible": 1.0}, "early"),
        ("allocations", 6, {"end": 26.0}, "limit"),
        ("jobs", 1, {"requested_time": 9.0}, "limit"),
        ("allocations", 1, {"end": -1.0}, "interval"),
        ("allocations", 1, {"start": None}, "interval"),
        ("allocations", 1, {"cores": 0}, "interval"),
        ("allocations", 1, {"job_id": 77}, "identity"),
        ("allocations", 1, {"cluster": "elsewhere"}, "identity"),
        ("jobs", 1, {"job_id": 2}, "identity"),
        ("jobs", 1, {"submit": None}, "identity"),
        ("jobs", 1, {"state": None}, "state"),
        ("jobs", 1, {"state": "failed"}, "state"),
        ("jobs", 1, {"state": "waiting"}, "state"),
        ("jobs", 1, {"state": "running"}, "state"),
        ("jobs", 1, {"state": "rejected"}, "state"),
        ("jobs", 5, {"end": None}, "state"),
        ("jobs", 5, {"state": "completed"}, "state"),
        ("jobs", 4, {"end": 5.0}, "state"),
        ("jobs", 6, {"requested_time": 6.0}, "state"),
        ("allocations", 6, {"outcome": "completed"}, "state"),
        ("allocations", 2, {"outcome": None}, "state"),
        ("jobs", 3, {"start": 3.0}, "agreement"),
        ("jobs", 3, {"start": None}, "agreement"),
        ("jobs", 3, {"end": 8.0}, "agreement"),
        ("jobs", 3, {"cores": 2}, "agreement"),
        ("jobs", 3, {"run_time": 6.0}, "agreement"),
        ("jobs", 2, {"wait": 8.0}, "agreement"),
        ("jobs", 5, {"wait": 9.0}, "agreement"),
        ("jobs", 2, {"restarts": 1}, "agreement"),
        ("jobs", 5, {"start": 5.0}, "agreement"),
    ],
)
def test_each_corruption_breaks_its_rule(table, job_id, values, rule):
    found = audit(corrupt(table, job_id, **values))
    assert rule in {violation.rule for violation in found}
    assert all(str(violation) for violation in found)


def test_a_violation_names_the_job_and_the_time():
    (violation,) = [found for found in audit(corrupt("allocations", 2, start=9.0)) if found.rule == "capacity"]
    assert (violation.job_id, violation.time) == (2, 9.0)
    assert "more cores" in str(violation)


def test_the_other_cluster_of_two_is_no_help():
    two = {"cluster": 3, "annex": 4}
    assert "capacity" in rules(legal(), clusters=two)
    moved = corrupt("allocations", 2, cluster="annex")
    assert rules(moved, clusters={"cluster": 4, "annex": 4}) == {"agreement"}


def test_two_allocations_of_one_job():
    first = job(1, 0.0, 0.0, 8.0, run_time=4.0, wait=2.0, restarts=1, lost_core_seconds=2.0, requested_time=4.0)
    part = [allocation(first, end=2.0, outcome="failed"), allocation(first, start=4.0, attempt=1)]
    assert audit(record(first, allocations=part)) == []
    late = [allocation(first, end=5.0, outcome="failed"), allocation(first, start=4.0, attempt=1)]
    assert "interval" in rules(record(first, allocations=late))
    backward = [allocation(first, end=2.0, outcome="failed", attempt=1), allocation(first, start=4.0, attempt=0)]
    assert "interval" in rules(record(first, allocations=backward))
    twice = [allocation(first, end=2.0), allocation(first, start=4.0, attempt=1)]
    assert "state" in rules(record(first, allocations=twice))


def test_a_job_of_zero_length_must_fit_too():
    running = job(1, 0.0, 0.0, 10.0, 3)
    assert audit(record(running, job(2, 5.0, 5.0, 5.0, 1, requested_time=1.0))) == []
    assert rules(record(running, job(2, 5.0, 5.0, 5.0, 2, requested_time=1.0))) == {"capacity"}
    assert audit(record(running, job(2, 5.0, 10.0, 10.0, 4, requested_time=1.0))) == []


def test_cut_off_jobs_hold_their_cores_to_the_end():
    jobs = (job(1, 0.0, 0.0, cores=3, requested_time=60.0), job(2, 1.0, cores=2))
    assert audit(record(*jobs, until=50.0), promise=True) == []
    assert rules(record(*jobs, until=61.0)) == {"limit"}


def test_overruns_that_are_extended():
    long = record(job(1, 0.0, 0.0, 10.0, requested_time=5.0), overrun="extend")
    assert audit(long) == []
    assert rules(long, overrun="kill") == {"limit"}
    assert rules(record(job(1, 0.0, 0.0, 5.0, state="timeout"), overrun="extend")) == {"state"}
    with pytest.raises(InputError, match="killed"):
        audit(long, promise=True)


def test_a_broken_promise():
    """Job 2 could start at 10; job 3 overtakes it and holds its cores until 20: legal, but not EASY."""
    kept = record(job(1, 0.0, 0.0, 10.0, 3), job(2, 1.0, 10.0, 12.0, 4), job(3, 2.0, 2.0, 10.0, 1))
    assert audit(kept, promise=True) == []
    broken = record(job(1, 0.0, 0.0, 10.0, 3), job(2, 1.0, 20.0, 22.0, 4), job(3, 2.0, 2.0, 20.0, 1))
    assert audit(broken) == []
    (violation,) = audit(broken, promise=True)
    assert (violation.rule, violation.job_id, violation.time) == ("promise", 2, 1.0)
    assert "10 s" in violation.message
    assert "20 s" in violation.message


def test_a_promise_broken_at_the_instant_it_was_made():
    """Jobs 2 and 3 come together; job 3 takes the cores that job 2 is to have at 10."""
    rows = (job(1, 0.0, 0.0, 10.0, 3), job(2, 1.0, 30.0, 31.0, 4), job(3, 1.0, 1.0, 30.0, 1))
    assert rules(record(*rows), promise=True) == {"promise"}


def test_a_promise_to_a_job_that_never_starts():
    rows = (job(1, 0.0, 0.0, 10.0, 3), job(2, 1.0, cores=4), job(3, 2.0, 2.0, cores=1))
    assert rules(record(*rows, until=50.0), promise=True) == {"promise"}
    assert rules(record(*rows, until=9.0, overrun="kill"), promise=True) == set()


@settings(max_examples=150, deadline=None)
@given(workloads(), st.sampled_from(["fcfs", "easy", "aggressive"]), st.sampled_from(["kill", "extend"]))
def test_the_slow_engine_is_legal(workload, policy, overrun):
    assert audit(simulated(workload, 8, policy, overrun)) == []


@settings(max_examples=150, deadline=None)
@given(workloads(), st.none() | st.integers(1, 90))
def test_easy_keeps_its_promises(workload, until):
    assert audit(simulated(workload, 8, "easy", until=until), promise=True) == []


def test_aggressive_backfilling_breaks_promises():
    """A stream of small jobs starves the large one; the audit must see it."""
    from walltime.core.workload import Workload

    small = range(40)
    workload = Workload.from_columns(
        submit=[0, 1, *small],
        run_time=[10, 10, *[15] * 40],
        requested_time=[10, 10, *[15] * 40],
        cores=[5, 8] + [2] * 40,
    )
    assert rules(simulated(workload, 8, "aggressive"), promise=True) == {"promise"}
    assert audit(simulated(workload, 8, "easy"), promise=True) == []
