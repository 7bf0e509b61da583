"""Cells of an experiment side by side, group by group: `walltime compare EXPERIMENT:... --by KEY`."""

import json

import pytest
from typer.testing import CliRunner

from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.experiments.answers.sides import find_sides, judge, judge_by
from walltime.experiments.definition import parse_experiment
from walltime.experiments.store import Store
from walltime.experiments.sweep import sweep


def make_study(folder, keep):
    """24 jobs of 100 s on 2 or 4 cores, in their order: the mean wait is about 550 s or 250 s, by some noise."""
    rows = [f"{row},0,100,100,1,{('ann', 'bo')[row % 2]}" for row in range(1, 25)]
    text = "\n".join(["job_id,submit,run_time,requested_time,cores,user", *rows])
    (folder / "jobs.csv").write_text(f"{text}\n")
    workload = {"trace": str(folder / "jobs.csv"), "adjust": {"shake": 10}}
    base = {"workload": workload, "cluster": {"cores": 2, "scheduler": {"backfill": "none"}}}
    grid = {"size": {"key": "cluster.cores", "values": [2, 4]}}
    return parse_experiment({"name": "study", "scenario": base, "grid": grid, "repetitions": 4, "keep": keep})


@pytest.fixture(params=[{"groups": ["user"]}, "tables"], ids=["groups", "tables"])
def folder(request, tmp_path):
    with Store(tmp_path / "store", create=True) as store:
        sweep(make_study(tmp_path, request.param), store, workers=1)
    return tmp_path


def test_the_waits_of_groups_are_paired_by_seed(folder):
    with Store(folder / "store") as store:
        sides = [find_sides(store, f"study:size={size}")[0] for size in (2, 4)]
        verdicts, tables = judge_by(store, *sides, "user")
    assert {one.metric for one in verdicts} == {"mean_wait of user ann", "mean_wait of user bo"}
    for one in verdicts:
        assert (one.before, one.after) == pytest.approx((550, 250), abs=60)
        assert one.difference.mean == pytest.approx(-300, abs=30)
    assert [len(side) for side in tables] == [4, 4]


def test_the_command_tells_them(folder, monkeypatch):
    monkeypatch.chdir(folder)
    given = ["compare", "study:size=2", "study:size=4", "--by", "user", "--store", "store"]
    told = CliRunner().invoke(app, given, catch_exceptions=False).output
    assert "Who gains and who loses by user, size=4 against size=2" in told
    row = next(line for line in told.splitlines() if line.startswith("ann"))
    assert row.endswith("gains")
    (change,) = json.loads(CliRunner().invoke(app, [*given, "--json"], catch_exceptions=False).output)["by"]
    assert {group["user"] for group in change["groups"]} == {"ann", "bo"}
    assert change["groups"][0]["median_wait"] == pytest.approx([550, 250], abs=60)


def test_runs_that_kept_no_groups_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Store("store", create=True) as store:
        sweep(make_study(tmp_path, "summary"), store, workers=1)
    with pytest.raises(InputError, match=r"keep: \{groups: \[user\]\}"):
        CliRunner().invoke(
            app, ["compare", "study:size=2", "study:size=4", "--by", "user", "--store", "store"], catch_exceptions=False
        )


def test_cells_of_two_choices_keep_their_names_apart(tmp_path):
    base = {"workload": {"generate": {"jobs": 30, "cores": 4, "load": 1}}, "cluster": {"cores": 4}}
    grid = {"policy": ["fcfs", "easy"], "load": {"key": "workload.generate.load", "values": [0.5, 1.0]}}
    study = parse_experiment({"name": "study", "scenario": base, "grid": grid, "repetitions": 2})
    choices = ["study:policy=easy", "study:policy=fcfs"]
    with Store(tmp_path / "store", create=True) as store:
        sweep(study, store, workers=1)
        found = [[side.label for side in find_sides(store, choice)] for choice in choices]
        verdicts = judge(*choices, store=store, metrics=["mean_wait"])
        with pytest.raises(InputError, match="names of their own: 'easy, "):
            judge(choices[0], choices[0], store=store)
    assert found == [["easy, 0.5", "easy, 1"], ["fcfs, 0.5", "fcfs, 1"]]
    assert len(verdicts) == 3
