"""One verdict, one sentence: what was found, what was not, and what cannot be told."""

from __future__ import annotations

import json

import numpy as np
import pytest

from walltime.analysis.verdict import (
    EQUAL,
    FLOOR,
    LESS,
    MORE,
    NONE,
    SAME,
    SENSITIVITY,
    SHAKEN,
    WEEKS,
    adjust,
    judge,
    judge_all,
)
from walltime.core.errors import InputError

SPREAD = np.random.Generator(np.random.Philox(5)).normal(0, 1, 30)


def pair(metric="mean_wait", change=-62.0, noise=2.0, count=30, **options):
    """`easy` against `fcfs`, whose figure is 100 in the mean: `change` more, and noise beside what both share."""
    base = 100 + 20 * np.roll(SPREAD, 7)[:count]
    base += 100 - base.mean()
    other = noise * SPREAD[:count]
    return judge(metric, ("easy", base + change + other - other.mean()), ("fcfs", base), **options)


def test_a_difference_is_told_with_its_size():
    found = pair()
    assert (found.outcome, found.is_better, found.count) == (LESS, True, 30)
    assert found.sentence.startswith("easy beats fcfs in mean wait by 62 % (")
    assert found.sentence.endswith("; 30 seeds)")
    assert found.relative.low < -0.62 < found.relative.high
    assert found.bootstrap.excludes_zero
    assert found.effect == pytest.approx(-62 / found.difference.deviation)
    level = pair(noise=0.01, change=-0.01 * 100)
    assert level.sentence.startswith("easy beats fcfs in mean wait by 1 %")


def test_more_of_a_wait_loses_and_more_utilization_wins():
    assert pair(change=30).sentence.startswith("easy loses to fcfs in mean wait by 30 %")
    assert pair("utilization_window", change=30).sentence.startswith("easy beats fcfs in utilization by 30 %")
    neutral = pair("jobs", change=30)
    assert (neutral.outcome, neutral.is_better) == (MORE, None)
    assert neutral.sentence.startswith("easy has 30 % more jobs than fcfs") or "more jobs than fcfs" in neutral.sentence


def test_equal_is_shown_and_not_assumed():
    """Inside the margin only where the whole interval is; a wide interval shows nothing."""
    assert pair(change=0.1, noise=1).outcome == NONE
    equal = pair(change=0.1, noise=1, margin=0.01)
    assert equal.outcome == EQUAL
    assert equal.sentence == "mean wait equal within 1 %: easy against fcfs (30 seeds)"
    assert pair(change=0.1, noise=20, margin=0.01).outcome == NONE
    assert pair(change=0.5, noise=0.1, margin=0.01).outcome == EQUAL  # a difference, but one that does not matter


def test_what_was_not_found_is_told_with_the_power():
    found = pair(change=-1, noise=10, count=12)
    assert found.outcome == NONE
    assert "12 seeds would have shown one of" in found.sentence
    assert "with 80 % power" in found.sentence
    assert f"needs about {found.needed:,}" in found.sentence
    assert found.needed > 12
    wide = pair(change=-1, noise=10, count=12, margin=0.05)
    assert "the margin needs about" in wide.sentence


def test_too_little_for_a_verdict():
    one = pair(count=1)
    assert (one.outcome, one.difference.low, one.relative.low) == (SENSITIVITY, None, None)
    assert "one repetition cannot tell" in one.sentence
    seeds = judge("mean_wait", ("easy", [5.0] * 4), ("fcfs", [7.0] * 4))
    assert (seeds.outcome, seeds.probability) == (SENSITIVITY, None)
    assert "the seed changes nothing" in seeds.sentence
    weeks = pair(count=9, basis=WEEKS)
    assert (weeks.outcome, weeks.difference.high, weeks.bootstrap) == (SENSITIVITY, None, None)
    assert "a verdict needs at least 10 weeks" in weeks.sentence
    assert pair(count=10, basis=WEEKS).outcome == LESS


def test_shaken_submissions_give_a_floor_and_no_interval():
    clear, dim = pair(basis=SHAKEN), pair(change=-1, noise=10, basis=SHAKEN)
    assert (clear.outcome, clear.relative.low, clear.difference.low, clear.probability) == (FLOOR, None, None, None)
    assert clear.floor[0] < -0.62 < clear.floor[1] < 0
    assert clear.sentence.endswith("above the noise floor")
    assert dim.sentence.endswith("within the noise floor")


def test_the_same_is_the_same():
    found = judge("mean_wait", ("easy", [1.0, 2.0]), ("fcfs", [1.0, 2.0]))
    assert found.outcome == SAME
    assert found.sentence == "mean wait is the same: easy against fcfs (2 seeds)"


def test_without_a_baseline_above_zero_the_unit_is_told():
    found = judge("mean_wait", ("easy", [60.0, 61.0, 62.0]), ("fcfs", [0.0, 0.0, 0.0]))
    assert found.relative is None
    assert found.sentence == "easy loses to fcfs in mean wait by 1:01 min ± 2.5 s (3 seeds)"


def test_few_repetitions_have_no_bootstrap():
    assert pair(count=9).bootstrap is None
    assert pair(count=10).bootstrap is not None


def test_many_comparisons_are_corrected():
    weak = pair(change=-1, noise=2.4)
    assert 0.005 < weak.probability < 0.05
    assert weak.outcome == LESS
    family = adjust([weak, *(pair(change=0.1, noise=30 + place) for place in range(12))])
    assert (family[0].outcome, family[0].comparisons) == (NONE, 13)
    assert "may be chance among 13 comparisons" in family[0].sentence
    assert adjust([]) == []


def test_sides_are_paired_by_their_keys():
    sides = {
        "fcfs": {1: {"mean_wait": 10.0}, 2: {"mean_wait": 30.0}, 3: {"mean_wait": None}},
        "easy": {2: {"mean_wait": 29.0}, 1: {"mean_wait": 9.0}, 3: {"mean_wait": 5.0}, 4: {"mean_wait": 1.0}},
    }
    (found,) = judge_all(sides, ["mean_wait", "unknown"])
    assert (found.count, found.difference.mean, found.difference.deviation) == (2, -1.0, 0.0)
    (turned,) = judge_all(sides, ["mean_wait"], baseline="easy")
    assert (turned.baseline, turned.difference.mean) == ("easy", 1.0)
    with pytest.raises(InputError, match="no seed in common"):
        judge_all({"a": {1: {"x": 1}}, "b": {2: {"x": 1}}}, ["x"])
    with pytest.raises(InputError, match="unknown baseline"):
        judge_all(sides, ["mean_wait"], baseline="sjf")
    with pytest.raises(InputError, match="margin"):
        judge_all(sides, ["mean_wait"], margins={"mean_wait": 2.0})


def test_json_has_all_of_it():
    data = json.loads(json.dumps(pair().as_dict(), allow_nan=False))
    assert data["sentence"] == pair().sentence
    assert data["relative"]["low"] < data["relative"]["mean"] < data["relative"]["high"]
