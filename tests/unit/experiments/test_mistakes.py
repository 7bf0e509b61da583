"""A mistaken experiment is told before anything runs, with the line of what is wrong."""

from __future__ import annotations

import pytest
from small import plan_of, write

from walltime.core.errors import InputError
from walltime.experiments.definition import load_experiment
from walltime.experiments.sweep import plan_experiment

MISTAKES = {
    "an unknown key of the experiment": ("sed: 3\n", 4, "did you mean 'seeds'?"),
    "an empty grid": ("grid: {}\n", 4, "grid must not be empty"),
    "an axis without values": ("grid:\n  policy: []\n", 5, "the grid would be empty"),
    "an axis that is no list": ("grid:\n  policy: easy\n", 5, "must be a list"),
    "an unknown key of the scenario": ("grid:\n  cluster.corse: [8, 9]\n", 5, "did you mean 'cores'?"),
    "the same in a combination": (
        "grid:\n  m:\n    combinations:\n      a: {cluster.cores: 8}\n      b: {cluster.corse: 8}\n",
        8,
        "did you mean 'cores'?",
    ),
    "a policy that does not exist": ("grid:\n  policy:\n    - easy\n    - esay\n", 7, "did you mean 'easy'?"),
    "a value that the key cannot have": ("grid:\n  cluster.cores:\n  - 8\n  - -5\n", 7, "must be at least 1"),
    "a parameter that the policy does not take": (
        "grid:\n  policy: [easy, conservative]\n  d: {key: cluster.scheduler.backfill.deepth, values: [1]}\n",
        6,
        "deepth",
    ),
    "a cell that no engine can run": (
        "grid:\n  policy: [fcfs, easy]\n  execution.model:\n    - trace\n    - gang\n",
        8,
        "gang shares the time of nodes",
    ),
    "an exclusion of an axis that is not there": (
        "grid:\n  policy: [easy]\nexclude:\n  - polcy: easy\n",
        7,
        "no such axis",
    ),
    "of a label that is not there": (
        "grid:\n  policy: [easy]\nexclude:\n  - policy: esay\n",
        7,
        "did you mean 'easy'?",
    ),
    "of everything": ("grid:\n  policy: [easy]\nexclude:\n  - policy: easy\n", 6, "leaves no cell"),
    "seeds as an axis": ("grid:\n  seed: [1, 2]\n", 5, "`seeds` or `repetitions`"),
    "seeds and repetitions": ("seeds: [1]\nrepetitions: 2\n", 1, "both seeds and repetitions"),
    "a seed twice": ("seeds: [1, 1]\n", 1, "a seed twice"),
    "no seed": ("seeds: []\n", 4, "must not be empty"),
    "a drain without a window": ("drain: 1h\n", 1, "no window"),
    "a range that leads nowhere": (
        "grid:\n  cluster.cores: {range: {start: 1, stop: 5, step: -1}}\n",
        5,
        "never leads",
    ),
    "a trace that is not there": (
        "grid:\n  trace:\n    combinations:\n      a: {workload: {trace: no.swf}}\n      b: {seed_: 1}\n",
        7,
        "no such file",
    ),
    "keeping what there is not": ("keep: everything\n", 4, "must be summary, tables"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_line_is_told(name, tmp_path):
    text, line, words = MISTAKES[name]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        plan_experiment(load_experiment(path))
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_what_only_the_jobs_tell_is_told_too(tmp_path):
    """A window without jobs is seen when the jobs are made, before anything is simulated."""
    with pytest.raises(InputError, match="no job is submitted"):
        plan_experiment(load_experiment(write(tmp_path, "warmup: 900d\n")))


def test_a_mistake_of_the_base_is_told_with_its_own_line(tmp_path):
    base = tmp_path / "base.yaml"
    base.write_text("workload: {generate: {jobs: 5, cores: 8}}\ncluster:\n  coers: 8\n", encoding="utf-8")
    path = tmp_path / "e.yaml"
    path.write_text("base: base.yaml\ngrid: {policy: [easy, fcfs]}\n", encoding="utf-8")
    with pytest.raises(InputError, match="did you mean 'cores'") as caught:
        plan_of(path).check()
    assert (caught.value.file, caught.value.line) == (str(base), 3)


def test_paths_start_at_the_file_that_has_them(tmp_path, monkeypatch):
    (tmp_path / "bases").mkdir()
    for folder in (tmp_path, tmp_path / "bases"):
        (folder / "log.swf").write_text("1 0 0 5 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n", encoding="utf-8")
    (tmp_path / "bases" / "base.yaml").write_text("workload: log.swf\ncluster: {cores: 8}\n", encoding="utf-8")
    path = tmp_path / "e.yaml"
    path.write_text("base: bases/base.yaml\ngrid: {workload.trace: [log.swf, bases/log.swf]}\n", encoding="utf-8")
    monkeypatch.chdir("/")
    plan = plan_of(path)
    plan.check()
    found = [plan.make_scenario(cell.levels).workload.trace for cell in plan.cells]
    assert found == [str(tmp_path / "log.swf"), str(tmp_path / "bases" / "log.swf")]
