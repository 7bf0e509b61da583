"""Analyses of runs: numbers by hand, own functions, and what is no analysis."""

from __future__ import annotations

import json
import sys

import polars as pl
import pytest
from small import make, plan_of, write

import walltime
from walltime.analysis.analyses.jobs import describe_sizes
from walltime.core.errors import InputError
from walltime.experiments.execution import execute
from walltime.experiments.planning import ExperimentPlan

OWN = """
import polars as pl

def longest(result, factor=1):
    return {"wait": factor * result.jobs["wait"].max()}

def users(result):
    return pl.DataFrame({"jobs": [result.jobs.height]})

def nothing(result):
    return "nothing"
"""


@pytest.fixture
def own_code(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "analyses_of_ours.py").write_text(OWN, encoding="utf-8")
    walltime.allow_plugins(tmp_path)
    yield
    sys.modules.pop("analyses_of_ours", None)


def specification(experiment):
    return json.loads(next(ExperimentPlan(experiment).specifications()).specification)


def test_sizes_by_hand():
    """Two jobs of 10 s that need the whole machine, so that the second waits 10 s; then one of 80 core-hours."""
    jobs = walltime.Workload.from_columns(
        submit=[0, 0, 10], run_time=[10, 10, 72_000], requested_time=[20, 40, 72_000], cores=[4, 4, 4]
    )
    table = describe_sizes(walltime.simulate(jobs, cores=4, policy="fcfs"))

    def row(by, label, variable):
        chosen = (pl.col("by") == by) & (pl.col("class") == label) & (pl.col("variable") == variable)
        return table.filter(chosen).row(0, named=True)

    waits = row("cores", "2-7", "wait")
    assert (waits["jobs"], waits["min"], waits["median"], waits["max"]) == (3, 0.0, 10.0, 10.0)
    small = row("core-hours", "below 48", "accuracy")
    assert (small["jobs"], small["min"], small["max"]) == (2, 0.25, 0.5)
    assert row("core-hours", "48-960", "turnaround")["mean"] == 72_010.0
    assert row("cores", "512+", "wait")["jobs"] == 0
    assert row("cores", "512+", "wait")["mean"] is None


def test_own_functions_give_figures_and_tables(own_code):
    wanted = [{"name": "analyses_of_ours:longest", "factor": 2}, "analyses_of_ours:users", "sizes"]
    found = execute(specification(make(analyses=wanted)), 1)
    assert found.figures["longest.wait"] == 2 * found.figures["max_wait"]
    assert set(found.files) == {"users.parquet", "sizes.parquet"}


def test_own_functions_are_part_of_what_a_run_is(own_code, tmp_path):
    experiment = make(analyses=["analyses_of_ours:users"])
    before = next(ExperimentPlan(experiment).specifications()).digest
    (tmp_path / "analyses_of_ours.py").write_text(OWN + "# another\n", encoding="utf-8")
    assert next(ExperimentPlan(experiment).specifications()).digest != before


def test_what_gives_neither_is_told(own_code):
    with pytest.raises(walltime.WalltimeError, match="gave a str"):
        execute(specification(make(analyses=["analyses_of_ours:nothing"])), 1)


@pytest.mark.parametrize(
    ("text", "words"),
    [("sises", "did you mean 'sizes'"), ("analyses_of_ours:longst", "longest"), ("{name: sizes, by: 3}", "by")],
)
def test_a_mistake_is_told_with_its_line(own_code, tmp_path, text, words):
    path = write(tmp_path, f"analyses:\n  - sizes\n  - {text}\n")
    with pytest.raises(InputError, match=words) as caught:
        plan_of(path).check()
    assert (caught.value.file, caught.value.line) == (str(path), 6)
