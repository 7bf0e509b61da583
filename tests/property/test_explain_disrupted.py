"""Explanations of jobs that much gets in the way of are true: checked against the schedule and the table of outages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS

import walltime
from walltime.core.time import microseconds
from walltime.scenario import parse

EXPLAINED = 5
"""Jobs of a scenario, those with most to tell."""


def rows_of(table, **same):
    for name, value in same.items():
        table = table.filter(table[name] == value)
    return table.rows(named=True)


def simulate(seed, kind):
    site, workload = draw_disrupted(seed, kind)
    return walltime.simulate(parse(site | {"workload": {"table": workload}}))


def chosen(result):
    jobs = result.jobs.filter(result.jobs["state"] != "rejected")
    restless = jobs.sort("restarts", "wait", descending=True, nulls_last=True)["job_id"].to_list()
    return restless[: EXPLAINED - 1] + restless[-1:]


def check_cover(result, told, row):
    """Causes and runs follow each other without a gap; the runs are those of the schedule."""
    spans = [(one.start, one.end) for one in (*told.causes, *told.runs)]
    spans = sorted((microseconds(start), microseconds(end)) for start, end in spans if end is not None and end > start)
    assert all(first[1] == second[0] for first, second in pairwise(spans)), spans
    if spans:
        assert spans[0][0] == microseconds(row["submit"])
    if spans and row["end"] is not None:
        assert spans[-1][1] == microseconds(row["end"])
    held = sorted((one["start"], one["end"]) for one in rows_of(result.allocations, job_id=row["job_id"]))
    assert sorted((run.start, run.end) for run in told.runs) == held
    if row["wait"] is not None:
        assert told.wait == pytest.approx(row["wait"], abs=1e-5)


def check_runs(result, told, row):
    """Who is said to have displaced it waited then, or while it had time to leave; what is said to have failed did."""
    part = result.scenario.clusters[0].scheduler.preempt
    grace = float(part.parameters.get("grace", 0)) if part is not None else 0.0
    for run in told.runs:
        outcome = rows_of(result.allocations, job_id=row["job_id"], start=run.start, end=run.end)[0]["outcome"]
        how = run.facts.get("how")
        assert (how == "displaced") == (outcome in ("preempted", "suspended")), (told.job, run, outcome)
        if how == "displaced":
            other = rows_of(result.jobs, job_id=run.facts["who"])[0]
            assert other["submit"] <= run.end
            assert other["start"] is None or other["start"] >= run.end - grace or other["restarts"] > 0
        elif how in ("failure", "reservation", "maintenance"):
            outages = rows_of(result.outages, kind=how, start=run.end)
            assert outages, (told.job, run)
            assert run.facts.get("who") in {one["name"] or None for one in outages}
        elif outcome == "requeued":
            assert how == "reservation ended"
            assert run.end in [one["end"] for one in rows_of(result.outages, name=run.facts["who"])]


def check_causes(result, told, row):
    for cause in told.causes:
        on = result.outages.filter(
            (result.outages["start"] <= cause.start)
            & (result.outages["end"].is_null() | (result.outages["end"] > cause.start))
        )
        if cause.kind == "outage" and not cause.facts["draining"]:
            assert "failure" in on["kind"].to_list(), (told.job, cause)
            assert cause.facts["cores"] <= sum(on["cores"].to_list())
        elif cause.kind == "reserved" and "begins" not in cause.facts and not cause.facts.get("own"):
            assert set(cause.facts["who"].split(", ")) <= set(on["name"].to_list()), (told.job, cause)
        elif cause.kind == "reserved" and "begins" in cause.facts:
            assert cause.facts["begins"] >= cause.start
            if not cause.facts.get("own"):
                assert cause.facts["begins"] < cause.start + row["requested_time"] * 2 + 1
        elif cause.kind == "suspended":
            spans = rows_of(result.allocations, job_id=row["job_id"], end=cause.start, outcome="suspended")
            assert spans, (told.job, cause)
            assert cause.facts["how"] == "displaced"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_the_account_is_true(seed, kind):
    result = simulate(seed, kind)
    for job in chosen(result):
        told = walltime.explain(result, job)
        assert not [note for note in told.notes if "another" in note]  # watching changes nothing
        row = rows_of(result.jobs, job_id=job)[0]
        check_cover(result, told, row)
        check_runs(result, told, row)
        check_causes(result, told, row)
        assert str(told)
