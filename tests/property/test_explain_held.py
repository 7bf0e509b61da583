"""What is said of the time before a job could wait is true: each job named had not done yet what was waited for."""

from __future__ import annotations

from itertools import pairwise

import pytest
from conditions import add_conditions
from site_scenarios import draw_site

import walltime
from walltime.core.time import microseconds
from walltime.scenario import parse

EXPLAINED = 10
HELD = ("dependency", "begin", "array", "held")


def simulate(seed, kind="cores"):
    site, workload = draw_site(seed, kind)
    workload, keys = add_conditions(workload, seed)
    return walltime.simulate(parse(site | keys | {"workload": {"table": workload}}))


def done_at(row, conditions):
    """When the job had done all that can be waited for, and the first of it."""
    end = row["submit"] if row["state"] == "rejected" else row["end"]
    end = float("inf") if end is None else end
    start = end if row["start"] is None else row["start"]
    return start if conditions == ["after"] else end


def check_held(result, told, row):
    held = [cause for cause in told.causes if cause.kind in HELD]
    end = told.eligible if told.eligible is not None else row["end"]
    if end is not None and end > row["submit"]:
        edges = [row["submit"], *(cause.end for cause in held)]
        assert [microseconds(cause.start) for cause in held] == [microseconds(edge) for edge in edges[:-1]]
        assert microseconds(edges[-1]) == microseconds(end)
        assert all(first < second for first, second in pairwise(edges))
    for cause in held:
        assert cause.kind != "held", (told.job, cause)
        if cause.kind == "begin":
            assert cause.start < cause.facts["begin"]
            assert cause.end <= cause.facts["begin"]
        elif cause.kind == "array":
            for name in cause.facts["jobs"]:
                fellow = result.jobs.filter(result.jobs["name"] == name).row(0, named=True)
                assert fellow["end"] == cause.end
        elif "it waited for" in cause.text:
            others = result.jobs.filter(result.jobs["job_id"].is_in(cause.facts["job_ids"])).rows(named=True)
            assert len(others) == len(set(cause.facts["job_ids"])) > 0
            for other in others:
                completed_later = done_at(other, cause.facts["conditions"]) > cause.start
                assert completed_later or {"afterok", "afternotok"} & set(cause.facts["conditions"]), (told.job, cause)


@pytest.mark.parametrize("seed", range(12))
def test_before_it_could_wait(seed):
    result = simulate(seed)
    jobs = result.jobs
    late = jobs.filter(
        (jobs["state"] != "rejected") & ((jobs["eligible"] > jobs["submit"]) | jobs["eligible"].is_null())
    )
    tasks = jobs.filter((jobs["state"] != "rejected") & jobs["name"].str.contains("_"))
    for job in [*late["job_id"].to_list()[:EXPLAINED], *tasks["job_id"].to_list()[:EXPLAINED]]:
        told = walltime.explain(result, job)
        check_held(result, told, jobs.filter(jobs["job_id"] == job).row(0, named=True))


def test_hand_made_conditions():
    """Two jobs to wait for, then five minutes, then a begin time; the tasks of an array one at a time."""
    jobs = walltime.Workload.from_columns(
        job_id=[1, 2, 3, 11, 12],
        name=["build", "fetch", "train", "9_1", "9_2"],
        submit=[0.0, 0.0, 10.0, 0.0, 0.0],
        run_time=[100.0, 300.0, 50.0, 20.0, 30.0],
        requested_time=[100.0, 300.0, 50.0, 20.0, 30.0],
        cores=[1, 1, 1, 1, 1],
        dependencies=["", "", "afterok:1,after:2+5", "", ""],
        begin=[-1.0, -1.0, 500.0, -1.0, -1.0],
        array=[None, None, None, "9%1", "9%1"],
    )
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": {"cores": 8}})
    told = walltime.explain(result, "train")
    assert [(cause.kind, cause.start, cause.end) for cause in told.causes] == [
        ("dependency", 10.0, 100.0),
        ("dependency", 100.0, 300.0),
        ("begin", 300.0, 500.0),
    ]
    assert told.causes[0].facts["job_ids"] == [1]
    assert told.causes[0].facts["conditions"] == ["afterok", "after"]
    assert "job build to complete (afterok)" in told.causes[0].text
    assert told.causes[1].text == "it was to begin 5:00 min after job fetch (after)"
    assert told.wait == 490.0
    second = walltime.explain(result, "9_2")
    assert [(cause.kind, cause.start, cause.end) for cause in second.causes] == [("array", 0.0, 20.0)]
    assert second.causes[0].text == "array 9 may have 1 task at once; job 9_1 made room"


def test_the_preceding_job_of_a_log_and_its_think_time(tmp_path):
    rows = [
        "1 0 -1 60 2 -1 -1 2 100 -1 1 1 -1 -1 -1 -1 -1 -1",
        "2 5 -1 60 2 -1 -1 2 100 -1 1 1 -1 -1 -1 -1 1 30",
    ]
    trace = tmp_path / "log.swf"
    trace.write_text("\n".join(rows) + "\n")
    scenario = {"workload": {"trace": str(trace)}, "cluster": {"cores": 4}, "dependencies": {"preceding": True}}
    told = walltime.explain(walltime.simulate(scenario), 2)
    assert [(cause.start, cause.end, cause.text) for cause in told.causes] == [
        (5.0, 60.0, "it waited for job 1 to end (preceding job)"),
        (60.0, 90.0, "it was to begin 30 s after job 1 (preceding job)"),
    ]
