"""Every case of the benchmarks begins: a name that has changed in the engine is noticed here, and not at a release."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.__main__ import CASES
from benchmarks.setting import Setting


def first_figure(name, folder):
    """The first figure of a case, on a thousandth of its jobs, as a line of the table."""
    figure = next(iter(CASES[name].measure(Setting(folder, jobs=1000, repeats=1))))
    assert figure.case == name
    return figure.line()


@pytest.mark.parametrize("name", [name for name in CASES if name != "slurm"])
def test_the_case_begins(name, tmp_path):
    assert first_figure(name, tmp_path)


def test_the_case_of_slurm_begins(slurm, tmp_path):
    assert first_figure("slurm", tmp_path)
