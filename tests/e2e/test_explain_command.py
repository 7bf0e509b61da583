"""`explain` and `predict` as a person calls them."""

from __future__ import annotations

import json

import pytest

SITE = """\
workload: jobs.csv
cluster: {cores: 8, limits: [{per: user, running_jobs: 2}], scheduler: {backfill: easy}}
"""
JOBS = """\
name,submit,run_time,requested_time,cores,user
first,0,3600,7200,4,ann
wide,60,1800,1800,8,bo
small,120,600,900,2,cy
long,180,7200,7200,2,cy
more,240,1800,3600,2,cy
last,300,600,600,2,cy
"""
SQUEUE = """\
JOBID|STATE|USER|PARTITION|CPUS|TIME_LIMIT|SUBMIT_TIME|START_TIME
1|RUNNING|ann|long|6|1-00:00:00|2026-11-14T20:00:00|2026-11-15T06:00:00
2|PENDING|cy|long|8|1:00:00|2026-11-15T10:00:00|N/A
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "site.yaml").write_text(SITE, encoding="utf-8")
    (tmp_path / "jobs.csv").write_text(JOBS, encoding="utf-8")
    (tmp_path / "squeue.txt").write_text(SQUEUE, encoding="utf-8")
    today = SITE + 'start: {time: "2026-11-15T12:00:00", jobs: squeue.txt}\n'
    (tmp_path / "today.yaml").write_text(today, encoding="utf-8")
    return tmp_path


def test_explain_tells_shows_and_draws(command, folder):
    assert command("run", "site.yaml", "--output", "out").code == 0
    told = command("explain", "out", "--job", "long", "--picture", "long.png")
    assert told.code == 0, told.err
    assert "limit: user cy is at its quota, 2 of 2 jobs" in told.out
    assert (folder / "long.png").stat().st_size > 10_000
    data = json.loads(command("explain", "out", "--job", "long", "--json").out)
    assert data["totals"] == {"reservation": 2340, "resources": 1800, "limit": 1080}
    assert sum(data["totals"].values()) == data["wait"] == data["start"] - data["eligible"]
    assert data["notes"] == []


def test_explain_an_unknown_job_names_near_ones_and_writes_nothing(command, folder):
    command("run", "site.yaml", "--output", "out")
    told = command("explain", "out", "--job", "lonk", "--picture", "x.png")
    assert told.code == 2
    assert "did you mean 'long'?" in told.err
    assert not (folder / "x.png").exists()


def test_explain_says_where_the_schedule_is_another_one(command, folder):
    command("run", "site.yaml", "--output", "out")
    (folder / "jobs.csv").write_text(JOBS.replace("first,0,3600", "first,0,3000"), encoding="utf-8")
    told = command("explain", "out", "--job", "long")
    assert told.code == 0
    assert "the schedule is another one" in told.out


def test_predict_gives_a_distribution_and_the_number_of_runs(command, folder):
    told = command("predict", "today.yaml", "--cores", "2", "--time", "30h", "--runs", "7", "--json")
    assert told.code == 0, told.err
    data = json.loads(told.out)
    assert data["runs"] == len(data["waits"]) == 7
    assert data["quantiles"]["0.05"] <= data["quantiles"]["0.95"]
    shown = command("predict", "today.yaml", "--cores", "2", "--time", "1h", "--runs", "7")
    assert "7 runs from 1 running and 1 waiting jobs" in shown.out


def test_predict_needs_a_start(command, folder):
    told = command("predict", "site.yaml", "--cores", "2", "--time", "1h")
    assert told.code == 2
    assert "start" in told.err
