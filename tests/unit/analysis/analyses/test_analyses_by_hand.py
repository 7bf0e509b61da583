"""Analyses against numbers that can be worked out by hand."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import walltime
from walltime.analysis.analyses import BUILT_IN, analyse
from walltime.analysis.analyses.jobs import count_bins, count_distributions
from walltime.analysis.analyses.overtime import measure_minutes, measure_use
from walltime.analysis.analyses.workflows import list_workflows
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.scenario import Part


@pytest.fixture
def result():
    """Four cores. Jobs of the stabilization hold all of them for 60 s; then two of the experiment that are submitted at
    30 s and 90 s run for 60 s on two cores each; one of 960 core-hours comes at 150 s and one of the drain at 400 s."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 30, 90, 150, 400],
        run_time=[60, 60, 60, 960 * 900, 10],
        requested_time=[60, 120, 120, 960 * 900, 10],
        cores=[4, 2, 2, 4, 4],
        phase=["stabilization", "experiment", "experiment", "experiment", "drain"],
    )
    return walltime.simulate(jobs, cores=4, policy="fcfs")


def test_minutes_have_the_waits_of_what_is_submitted_and_the_use_of_everything(result):
    table = measure_minutes(result)
    assert table["time"].to_list() == [0.0, 60.0, 120.0]
    assert table["jobs"].to_list() == [1, 1, 1]
    assert table["median_wait"].to_list() == [30.0, 0.0, 0.0]
    # 4 cores of the stabilization; then 2, and from 90 s 4; from 120 s 2, and from 150 s the large one: all.
    assert table["utilization"].to_list() == pytest.approx([1.0, 0.75, 0.75])
    assert table["median_wait 960+"].to_list() == [None, None, 0.0]
    assert table["median_wait below 48"].to_list() == [30.0, 0.0, None]


def test_the_interval_and_the_phases_can_be_set(result):
    table = measure_minutes(result, interval=100.0)
    assert table["jobs"].to_list() == [2, 1]
    assert table["utilization"].to_list() == pytest.approx([(240 + 60 + 40) / 400, (80 + 60 + 200) / 400])
    whole = measure_minutes(result, interval=100.0, phases="all")
    assert whole["time"].to_list() == [0.0, 100.0, 200.0, 300.0, 400.0]
    assert whole["jobs"].to_list() == [3, 1, 0, 0, 1]
    for mistaken in ({"interval": 0}, {"phases": "fill"}):
        with pytest.raises(InputError):
            measure_minutes(result, **mistaken)


def test_a_job_that_asked_for_no_time_has_no_accuracy(tmp_path):
    jobs = walltime.Workload.from_columns(submit=[0, 1], run_time=[0, 5], requested_time=[0, 20])
    walltime.simulate(jobs, cores=2).save(tmp_path / "out")
    done = CliRunner().invoke(app, ["analyse", "sizes", str(tmp_path / "out"), "--json"], catch_exceptions=False)
    rows = json.loads(done.stdout)["results"][0]["tables"]["sizes"]
    found = next(row for row in rows if row["variable"] == "accuracy")
    assert (found["jobs"], found["min"], found["mean"], found["max"]) == (1, 0.25, 0.25, 0.25)
    counted = count_distributions(walltime.load(tmp_path / "out")).filter(by="all", variable="accuracy")
    assert counted["jobs"].to_list() == [1]


def test_use_is_over_the_time_in_which_the_experiment_is_submitted(result):
    """From 30 s to 150 s: 30 s of 4 cores, 30 s of 2, 30 s of 4, 30 s of 2."""
    assert measure_use(result) == {"utilization": pytest.approx(0.75), "useful": pytest.approx(0.75)}


def test_what_a_pilot_holds_and_does_not_use_is_not_useful(tmp_path):
    """A pilot of 4 cores for 100 s whose tasks need 4 cores for 20 s and 1 core for 80 s: 160 of 400 core-seconds."""
    tasks = [
        {"id": "a", "number_of_cores": 4, "runtime_sim": 20, "runtime_limit": 20},
        {"id": "b", "number_of_cores": 1, "runtime_sim": 80, "runtime_limit": 80, "deps": ["a"]},
    ]
    (tmp_path / "flow.json").write_text(json.dumps({"tasks": tasks}))
    jobs = walltime.Workload.from_columns(submit=[0, 100], run_time=[1, 1], requested_time=[1, 1], cores=[4, 4])
    flows = {"manifests": str(tmp_path / "flow.json"), "submit": "single", "every": "1000s"}
    scenario = {"workload": {"trace": str(tmp_path / "t.parquet"), "workflows": flows}, "cluster": {"cores": 8}}
    walltime.write_workload(jobs, tmp_path / "t.parquet")
    result = walltime.simulate(scenario)
    found = measure_use(result)
    assert found["utilization"] == pytest.approx((400 + 4) / 800)
    assert found["useful"] == pytest.approx((160 + 4) / 800)
    minutes = measure_minutes(result, interval=50.0)
    assert minutes["useful"].to_list()[1] == pytest.approx(4 * 0.4 / 8)
    assert list_workflows(result).select("name", "way", "run").rows() == [("flow", "single", 100.0)]


def test_without_workflows_their_table_is_empty_and_has_its_columns(result):
    table = list_workflows(result)
    assert table.height == 0
    assert {"workflow", "name", "wait", "turnaround", "stretch"} <= set(table.columns)


def test_bins_hold_what_belongs_to_them():
    values = np.array([0.0, 0.0, 1.0, 10.0, 10.2, 999.0, 1000.0])
    low, high, count = count_bins(values)
    assert count.sum() == len(values)
    assert (low[0], high[0], count[0]) == (0.0, 0.0, 2)
    for value, held in ((1.0, 1), (10.0, 2), (999.0, 1), (1000.0, 1)):
        place = int(np.flatnonzero((low <= value * (1 + 1e-9)) & (value < high))[0])
        assert count[place] == held
    assert np.all(high[1:] / low[1:] == pytest.approx(10 ** (1 / 50)))


def test_distributions_leave_out_all_but_the_experiment(result):
    table = count_distributions(result)
    waits = table.filter(pl.col("by") == "all", pl.col("variable") == "wait")
    assert waits["jobs"].sum() == 3
    large = table.filter(pl.col("class") == "960+", pl.col("variable") == "cores")
    assert large["jobs"].to_list() == [1]


def test_workflows_of_the_stabilization_are_left_out(tmp_path):
    (tmp_path / "flow.json").write_text('{"tasks": [{"id": "a", "number_of_cores": 1, "runtime_sim": 5}]}')
    from walltime.experiments.execution import execute

    flows = {"manifests": str(tmp_path / "flow.json"), "every": "6h"}
    scenario = {"workload": {"generate": {"jobs": 300, "cores": 8}, "workflows": flows}, "cluster": {"cores": 8}}
    whole, late = (execute({"scenario": scenario, "phases": own}, 1) for own in ({}, {"warmup": 5 * 86_400.0}))
    count = "workflows.flow.manifest.workflows"
    assert whole.figures[count] - late.figures[count] == 20


def test_every_analysis_of_ours_takes_any_result(result):
    of_plans = {"predictions", "intervals"}
    found = analyse(result, [Part(name=name) for name in BUILT_IN if name not in of_plans])
    assert set(found.tables) | {key.partition(".")[0] for key in found.figures} == set(BUILT_IN) - of_plans
    json.dumps(found.as_data(), allow_nan=False)
    for name in of_plans:
        with pytest.raises(InputError, match=r"no plans; run it with `record: \{plans: true\}`"):
            analyse(result, [Part(name=name)])


def test_compare_and_report_and_analyse_use_the_same(result, tmp_path, monkeypatch):
    (tmp_path / "own_numbers.py").write_text("def mine(result):\n    return {'jobs': result.jobs.height, 'x': 'y'}\n")
    result.save(tmp_path / "r")
    monkeypatch.chdir(tmp_path)
    wanted = ["--analysis", "own_numbers:mine", "--analysis", "sizes", "--plugins", "."]

    def say(*words):
        told = CliRunner().invoke(app, list(words), catch_exceptions=False)
        assert told.exit_code == 0
        return told.output

    compared = json.loads(say("compare", "r", "--json", *wanted))
    analyses = compared["results"][0]["analyses"]
    assert analyses["figures"] == {"mine.jobs": 5, "mine.x": "y"}
    assert list(analyses["tables"]) == ["sizes"]
    assert "mine.jobs" in say("compare", "r", *wanted)
    say("report", "r", "-o", "r.html", *wanted)
    page = (tmp_path / "r.html").read_text()
    assert "mine.jobs" in page
    assert "requested_time" in page
    alone = json.loads(say("analyse", "own_numbers:mine", "r", "--json", "--plugins", "."))
    assert alone["results"][0]["figures"] == {"jobs": 5, "x": "y"}
    with pytest.raises(InputError, match="unknown analysis"):
        CliRunner().invoke(app, ["compare", "r", "--analysis", "sise"], catch_exceptions=False)
