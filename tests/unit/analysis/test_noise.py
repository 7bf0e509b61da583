"""Intervals over repetitions, by hand and against each other."""

from __future__ import annotations

import math

import numpy as np
import pytest

from walltime.analysis.noise import (
    bootstrap,
    correct,
    count_needed,
    estimate,
    estimate_ratio,
    find_detectable,
    find_probability,
)
from walltime.analysis.statistics import student_probability, student_quantile
from walltime.core.errors import InputError


def draws(*shape, seed=3):
    return np.random.Generator(np.random.Philox(seed)).normal(10, 2, shape)


def test_the_interval_by_hand():
    """Mean 3, deviation sqrt(2.5), t(4) = 2.776."""
    found = estimate([1, 2, 3, 4, 5])
    assert (found.mean, found.count) == (3.0, 5)
    assert found.deviation == pytest.approx(math.sqrt(2.5))
    assert found.high - found.mean == pytest.approx(2.7764 * math.sqrt(2.5 / 5), rel=1e-4)
    assert not estimate([-1, 1, 0.5]).excludes_zero


def test_one_repetition_has_no_interval():
    found = estimate([7.0])
    assert (found.mean, found.deviation, found.low, found.high) == (7.0, None, None, None)
    assert not found.excludes_zero
    assert not found.is_within(100.0)
    with pytest.raises(InputError):
        estimate([])


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.7062), (30, 2.0423), (201, 1.9718), (1000, 1.9623)])
def test_quantiles_and_probabilities_of_t_belong_together(freedom, value):
    assert student_quantile(0.975, freedom) == pytest.approx(value, abs=1e-4)
    assert student_probability(value, freedom) == pytest.approx(0.05, abs=1e-5)


def test_fiellers_interval_holds_the_ratios_that_a_t_test_allows():
    """At both ends the t-interval of `values - ratio * base` just touches zero."""
    base = draws(12)
    values = 0.6 * base + draws(12, seed=4) - 10
    found = estimate_ratio(values, base)
    assert found.mean == pytest.approx(values.mean() / base.mean() - 1)
    for end, side in ((found.low, "high"), (found.high, "low")):
        rest = estimate(values - (1 + end) * base)
        assert min(abs(rest.low), abs(rest.high)) == pytest.approx(0.0, abs=1e-9), side


def test_a_percentage_excludes_zero_where_the_difference_does():
    decided = set()
    for seed in range(60):
        base, values = draws(6, seed=2 * seed), draws(6, seed=2 * seed + 1) + 2
        found = estimate_ratio(values, base)
        decided.add(found.excludes_zero)
        assert found.excludes_zero == estimate(values - base).excludes_zero
        assert found.excludes_zero == (find_probability(values - base) < 0.05)
    assert decided == {True, False}


def test_no_percentage_of_what_may_be_zero():
    assert estimate_ratio(np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.1, 1.2])) is None
    assert estimate_ratio(np.ones(3), np.zeros(3)) is None
    below = estimate_ratio(np.array([-9.0, -9.1, -8.9]), np.array([-10.0, -10.2, -9.9]))
    assert (below.mean > 0, below.low > 0) == (True, True)  # more than a negative figure


def test_the_bootstrap_agrees_with_t_on_well_behaved_figures():
    base = draws(40)
    values = base + 3 + draws(40, seed=5) / 10
    difference, ratio = bootstrap(values, base)
    expected = estimate(values - base)
    assert difference.low == pytest.approx(expected.low, abs=0.03)
    assert difference.high == pytest.approx(expected.high, abs=0.03)
    fieller = estimate_ratio(values, base)
    assert (ratio.low, ratio.high) == (pytest.approx(fieller.low, abs=0.01), pytest.approx(fieller.high, abs=0.01))
    assert bootstrap(values, base) == (difference, ratio)  # the same draws every time


def test_holms_correction_by_hand():
    """Smallest times 4, next times 3, and never below the one before."""
    assert correct([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert correct([0.9, 0.8]) == [1.0, 1.0]
    assert correct([]) == []


def test_power_as_simulated():
    """A difference of the told size is found in about 80 of 100 cases; with the told number of repetitions too."""
    deviation, count = 3.0, 12
    size = find_detectable(deviation, count)
    random = np.random.Generator(np.random.Philox(11))
    seen = [find_probability(random.normal(size, deviation, count)) < 0.05 for _ in range(2000)]
    assert np.mean(seen) == pytest.approx(0.8, abs=0.03)
    assert count_needed(deviation, size) == count
    assert count_needed(deviation, size / 2) > 3 * count
    assert count_needed(deviation, 0.0) is None
    assert count_needed(1.0, 1e-9) is None
