"""Intervals over seeds, and what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from walltime.analysis.noise import differ, estimate, replicate, t_quantile
from walltime.core.errors import InputError


def summaries(*waits):
    return [{"mean_wait": wait} for wait in waits]


def test_the_interval_by_hand():
    """Mean 3, deviation sqrt(2.5), t(4) = 2.776."""
    found = estimate([1, 2, 3, 4, 5])
    assert (found.mean, found.count) == (3.0, 5)
    assert found.deviation == pytest.approx(math.sqrt(2.5))
    assert found.high - found.mean == pytest.approx(2.7764 * math.sqrt(2.5 / 5))
    assert not estimate([-1, 1, 0.5]).excludes_zero


def test_one_replication_has_no_interval():
    found = estimate([7.0])
    assert (found.mean, found.deviation, found.low, found.high) == (7.0, None, None, None)
    assert not found.excludes_zero
    with pytest.raises(InputError):
        estimate([])


@pytest.mark.parametrize(("freedom", "value"), [(1, 12.7062), (30, 2.0423), (31, 2.0395), (60, 2.0003), (1000, 1.9623)])
def test_quantiles_of_t(freedom, value):
    assert t_quantile(freedom) == pytest.approx(value, abs=2e-4)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    """95 % of 2000 intervals from samples of 6: within four standard errors (0.5 % each) of 1900."""
    draws = np.random.Generator(np.random.Philox(7)).normal(10, 3, (2000, 6))
    covered = sum(1 for sample in draws if (found := estimate(sample)).low <= 10 <= found.high)
    assert abs(covered - 1900) < 4 * math.sqrt(2000 * 0.05 * 0.95)


def test_a_table_of_replications():
    table = replicate({"easy": summaries(1, 2, 3), "fcfs": summaries(4, None, 6)}, ["mean_wait", "p95_wait"])
    assert table["policy"].to_list() == ["easy", "fcfs"]
    assert table["mean"].to_list() == [2.0, 5.0]
    assert table["seeds"].to_list() == [3, 2]
    assert replicate({"easy": []}).is_empty()


def test_pairs_see_through_the_spread_that_policies_share():
    """Seeds differ by hundreds, the policies by 10 to 11 in each: the pairs tell, the intervals alone do not."""
    given = {"fcfs": summaries(100, 300, 500, 900), "easy": summaries(90, 289, 490, 889)}
    (found,) = differ(given)
    assert (found.policy, found.baseline, found.absolute.mean) == ("easy", "fcfs", -10.5)
    assert found.relative.mean == pytest.approx(-10.5 / 450)
    assert found.absolute.excludes_zero
    assert "easy waits 2.3 % less than fcfs" in found.verdict
    assert found.verdict.endswith("not noise")
    assert estimate([100, 300, 500, 900]).low < estimate([90, 289, 490, 889]).mean


def test_verdicts():
    (noise,) = differ({"a": summaries(10, 20, 30), "b": summaries(20, 10, 31)})
    assert noise.verdict.startswith("b waits")
    assert noise.verdict.endswith("may be noise")
    (same,) = differ({"a": summaries(10, 20), "b": summaries(10, 20)})
    assert "the same mean_wait" in same.verdict
    (one,) = differ({"a": summaries(10), "b": summaries(20)})
    assert "one seed cannot" in one.verdict
    (zero,) = differ({"a": summaries(0, 0, 0), "b": summaries(5, 6, 7)})
    assert zero.relative is None
    assert "b waits 6 more than a" in zero.verdict
    (other,) = differ({"a": [{"utilization": 0.5}] * 3, "b": [{"utilization": 0.6}] * 3}, "utilization")
    assert "b has 20 % more utilization than a" in other.verdict


def test_what_cannot_be_paired():
    assert differ({"a": summaries(1)}) == []
    with pytest.raises(InputError, match="same seeds"):
        differ({"a": summaries(1, 2), "b": summaries(1)})
    with pytest.raises(InputError, match="baseline"):
        differ({"a": summaries(1), "b": summaries(1)}, baseline="c")
    with pytest.raises(InputError, match="no seed"):
        differ({"a": summaries(None), "b": summaries(1)})
