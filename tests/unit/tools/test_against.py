"""Two builds compared: which figures, which way round, and that a folder without a build is told."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import walltime

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks import against


def figure(median, unit):
    return {"what": "x", "median": median, "unit": unit}


def test_a_ratio_above_one_is_slower_whatever_the_unit():
    fast = {"speed": figure(4.0, "M jobs/s"), "time": figure(1.0, "CPU s")}
    slow = {"speed": figure(2.0, "M jobs/s"), "time": figure(3.0, "CPU s")}
    assert [line.ratio for line in against.compare("case", [(slow, fast)])] == [2.0, 3.0]
    assert [line.ratio for line in against.compare("case", [(fast, slow)])] == [0.5, pytest.approx(1 / 3)]


def test_the_median_of_the_rounds_counts_and_only_what_both_have():
    rounds = [
        ({"time": figure(here, "s"), "growth": figure(2, "x"), "new": figure(1, "s")}, {"time": figure(1.0, "s")})
        for here in (1.0, 9.0, 1.2)
    ]
    lines = against.compare("case", rounds)
    assert [(line.what, line.ratio, line.here, line.there) for line in lines] == [("time", 1.2, 1.2, 1.0)]
    assert "SLOWER" in lines[0].text()
    assert "1.00 to 9.00" in lines[0].text()


def test_a_folder_without_a_build_is_told(tmp_path):
    with pytest.raises(SystemExit, match="no built checkout"):
        against.find_build(tmp_path)


def test_the_build_under_test_is_found_and_measured():
    package = Path(walltime.__file__).parents[1]
    build = against.find_build(package)
    assert build.package == package
    assert set(against.measure(build, "startup", quick=True)) == {
        "python -c pass",
        "import walltime",
        "walltime --help",
    }
