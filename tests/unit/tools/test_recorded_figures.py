"""Figures of a release are kept, and today's are told as ratios to them."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3]))

from benchmarks.figures import Figure
from benchmarks.recorded import FULL, QUICK, Origin, Recorded, record

ONE, ANOTHER = (Origin(version, "2026-11-18", f"machine {version}", "0.1, 0.1, 0.1") for version in ("1.0", "1.1"))


def test_the_ratio_is_of_costs_whatever_the_unit(tmp_path):
    file = tmp_path / "recorded.json"
    kept = [Figure("a", "easy (queue to 1,200)", 2.0, 2.0, "M jobs/s"), Figure("a", "run", 4.0, 4.0, "s")]
    record([*kept, Figure("b", "memory", 500, 500, "MB")], ONE, FULL, file)
    recorded = Recorded.load(FULL, file)
    assert recorded is not None
    assert recorded.ratio(Figure("a", "easy (queue to 999)", 4.0, 4.0, "M jobs/s")) == 0.5
    assert recorded.ratio(Figure("a", "run", 5.0, 5.0, "s")) == 1.25
    assert recorded.ratio(Figure("b", "memory", 250, 250, "MB")) == 0.5
    assert recorded.ratio(Figure("a", "run", 5.0, 5.0, "us")) is None  # another unit: another figure
    assert recorded.ratio(Figure("c", "run", 5.0, 5.0, "s")) is None


def test_recording_some_cases_leaves_the_others_with_their_origin(tmp_path):
    file = tmp_path / "recorded.json"
    assert Recorded.load(FULL, file) is None
    record([Figure("a", "old", 1.0, 1.0, "s"), Figure("b", "run", 1.0, 1.0, "s")], ONE, FULL, file)
    record([Figure("a", "new", 2.0, 2.0, "s")], ANOTHER, FULL, file)
    recorded = Recorded.load(FULL, file)
    assert recorded is not None
    assert recorded.ratio(Figure("a", "old", 1.0, 1.0, "s")) is None
    assert recorded.ratio(Figure("a", "new", 1.0, 1.0, "s")) == 0.5
    assert recorded.ratio(Figure("b", "run", 1.0, 1.0, "s")) == 1.0
    assert recorded.origins(["b", "a", "unknown"]) == [ONE, ANOTHER]
    assert recorded.origins(["b"]) == [ONE]


def test_figures_of_a_quick_run_are_kept_apart(tmp_path):
    file = tmp_path / "recorded.json"
    record([Figure("a", "run", 4.0, 4.0, "s")], ONE, FULL, file)
    assert Recorded.load(QUICK, file) is None
    record([Figure("a", "run", 1.0, 1.0, "s")], ONE, QUICK, file)
    for size, before in ((FULL, 4.0), (QUICK, 1.0)):
        recorded = Recorded.load(size, file)
        assert recorded is not None
        assert recorded.ratio(Figure("a", "run", 4.0, 4.0, "s")) == 4.0 / before


def test_the_ratio_stands_at_the_end_of_the_line():
    line = Figure("a", "run", 5.0, 4.0, "s").line(1.254)
    assert line.endswith("1.25")
    assert not Figure("a", "run", 5.0, 4.0, "s").line().endswith("1.25")
