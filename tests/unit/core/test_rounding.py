"""Seconds as whole microseconds, against NumPy's way."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.core.rounding import round_seconds


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6, 2.0**51 / 1e6, 2.0**52 / 1e6, 2.0**60 / 1e6])
def test_seconds_round_as_numpy_rounds_them(scale):
    chance = np.random.default_rng(3)
    halves = (chance.integers(-9, 9, 500) + 0.5) / 1e6
    seconds = np.concatenate([chance.normal(0, scale, 5000), chance.random(500) * 8 * scale, halves, [0.0, -0.0]])
    assert round_seconds(seconds, -1).tolist() == np.rint(seconds * 1_000_000).astype(np.int64).tolist()


def test_what_is_no_number_is_missing():
    assert round_seconds(np.array([1.5, np.nan, np.inf, -np.inf, -2]), -7).tolist() == [1500000, -7, -7, -7, -2000000]
