"""Workflows by WfCommons' recipes, where the package is installed; and what is said where it is not."""

from __future__ import annotations

import builtins
import random

import numpy as np
import pytest
from typer.testing import CliRunner

from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.workload.formats.workflows import read_workflow
from walltime.workload.recipes import draw_workflow, list_recipes


def test_a_recipe(tmp_path):
    pytest.importorskip("wfcommons", reason="WfCommons is not installed (make test installs it)")
    assert {"montage", "blast", "epigenomics"} <= set(list_recipes())
    random.seed(5)
    np.random.seed(5)
    flow = draw_workflow("epigenomics", 60, seed=1)
    drawn = random.random(), np.random.random()
    random.seed(5)
    np.random.seed(5)
    assert drawn == (random.random(), np.random.random())  # nobody else's numbers are touched
    assert 43 <= len(flow.tasks) <= 60
    assert flow.critical_path > max(task.run_time for task in flow.tasks.values())
    assert draw_workflow("epigenomics", 60, seed=1) == flow
    assert draw_workflow("epigenomics", 60, seed=2) != flow
    path = tmp_path / "flow.json"
    said = CliRunner().invoke(app, ["workload", "recipe", "epigenomics", str(path), "--tasks", "60", "--seed", "1"])
    assert said.exit_code == 0, said.output
    written = read_workflow(path)
    assert {key: (task.cores, task.run_time, task.needs) for key, task in written.tasks.items()} == {
        key: (task.cores, task.run_time, task.needs) for key, task in flow.tasks.items()
    }
    for words, told in ((["montag"], "did you mean 'montage'"), (["montage", "--tasks", "3"], "tasks: 3")):
        said = CliRunner().invoke(app, ["workload", "recipe", words[0], str(tmp_path / "x.json"), *words[1:]])
        assert isinstance(said.exception, InputError)
        assert told in str(said.exception)
        assert not (tmp_path / "x.json").exists()


def test_without_the_package(monkeypatch):
    real = builtins.__import__

    def absent(name, *rest, **more):
        if name.startswith("wfcommons"):
            raise ModuleNotFoundError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(InputError, match=r"pip install 'walltime\[workflows\]'"):
        draw_workflow("montage", 100)
