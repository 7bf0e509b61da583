"""Whole sweeps in this process: what is run, what is not run again, and that the figures are those of one run."""

from __future__ import annotations

import sys

import pytest
from small import SCENARIO, make

import walltime
from walltime.experiments.maintenance import verify
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.store import Store
from walltime.experiments.sweep import estimate, sweep

GRID = {"policy": ["fcfs", "conservative"]}


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A small sweep, done, and what it told."""
    with Store(tmp_path_factory.mktemp("sweep") / "store", create=True) as store:
        told = sweep(make(grid=GRID, seeds=[1, 2]), store, workers=1)
        yield store, told


def test_every_run_is_done_once(swept):
    store, told = swept
    assert (told.finished, told.counts["done"], told.refused) == (4, 4, 0)
    assert verify(store) == []
    assert set(store.table("small")["attempts"]) == {1}


def test_the_figures_are_those_of_a_single_run(swept):
    store, _ = swept
    for row in store.table("small").to_dicts():
        alone = walltime.simulate(SCENARIO, policy=row["policy"], seed=row["seed"])
        assert row["result"] == alone.digest
        for name in ("mean_wait", "utilization", "mean_bounded_slowdown", "makespan", "completed"):
            assert row[name] == alone.summary[name]


def test_what_is_there_is_not_run_again(swept):
    store, _ = swept
    again = sweep(make(grid=GRID, seeds=[1, 2]), store, workers=1)
    assert again.finished == 0
    more = sweep(make(name="other", grid={"policy": ["conservative", "easy"]}, seeds=[2, 3]), store, workers=1)
    assert (more.finished, more.counts["done"]) == (3, 4)


def test_two_cells_that_are_one_run_come_to_an_end(swept):
    store, _ = swept
    twice = {"size": {"key": "cluster.cores", "values": {"a": 8, "b": 8}}, "policy": ["sjf"]}
    told = sweep(make(name="twice", grid=twice, seeds=[1]), store, workers=1)
    assert (told.finished, told.counts["done"], told.counts["waiting"]) == (1, 2, 0)


def test_an_estimate_counts_what_is_known(swept):
    store, _ = swept
    found = estimate(ExperimentPlan(make(grid=GRID, seeds=[1, 2, 5])), store, workers=1)
    assert (found.cells, found.runs, found.known, found.tried, found.failed) == (2, 6, 4, 2, ())
    assert 0 < found.shortest <= found.mean <= found.longest
    assert found.bytes > 1000


def test_warm_up_window_and_drain_leave_out_the_rest(tmp_path):
    """By hand: three jobs of 10 s, an hour apart; the second alone is in the window, and the run ends in the drain."""
    trace = tmp_path / "log.swf"
    lines = [f"{number + 1} {3600 * number} 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n" for number in range(3)]
    trace.write_text("".join(lines), encoding="utf-8")
    scenario = {"workload": str(trace), "cluster": {"cores": 1}}
    experiment = make(scenario=scenario, warmup="30m", window="1h", drain="5s", keep="tables")
    with Store(tmp_path / "store", create=True) as store:
        sweep(experiment, store, workers=1)
        row = store.table("small").row(0, named=True)
        result = walltime.load(store.results.folder_of(row["run"]) / "result")
    assert row["state"] == "done"
    assert result.jobs["phase"].to_list()[:2] == ["stabilization", "experiment"]
    assert result.summary["means_over"] == "started jobs of the experiment phase"
    assert result.summary["facts"]["until"] == 30 * 60 + 3600 + 5


MOODY = """
import os

def schedule(p):
    if os.environ.get("MOODY"):
        raise ValueError("not today")
    while (slot := p.head()) >= 0 and p.fits(slot):
        p.start(slot)
"""


def test_a_run_that_fails_does_not_stop_the_others_and_is_run_again_when_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "moody.py").write_text(MOODY, encoding="utf-8")
    walltime.allow_plugins(tmp_path)
    experiment = make(grid={"policy": ["moody:schedule", "fcfs"]}, seeds=[1, 2])
    monkeypatch.setenv("MOODY", "yes")
    with Store(tmp_path / "store", create=True) as store:
        told = sweep(experiment, store, workers=1)
        assert told.counts == {"waiting": 0, "running": 0, "done": 2, "failed": 2}
        failed = store.table("small", {"policy": "moody:schedule"})
        assert all("not today" in error for error in failed["error"])
        assert "in schedule" in store.run(failed["run"][0])["log"]
        assert verify(store) == []
        monkeypatch.delenv("MOODY")
        assert sweep(experiment, store, workers=1).counts["failed"] == 2
        assert sweep(experiment, store, workers=1, retry=True).counts["done"] == 4
        assert verify(store) == []


def test_the_mapping_of_python_is_the_file(tmp_path):
    told = sweep({"name": "mine", "scenario": SCENARIO, "seeds": ["a", "b"]}, tmp_path / "store", workers=1)
    assert told.counts["done"] == 2
