"""Rows by start, then by order of entry: the counting and the sorting agree."""

import numpy as np
import pytest

from walltime.engine.recording.tables import order_by_start


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("once", [True, False])
def test_rows_are_ordered_as_by_sorting_pairs(seed, once):
    draw = np.random.default_rng(seed)
    size = int(draw.integers(0, 60))
    seq = draw.permutation(90)[:size] if once else draw.integers(0, 30, size)
    start = draw.integers(0, 12, size)
    expected = sorted(range(size), key=lambda row: (start[row], seq[row]))
    assert order_by_start(start, seq).tolist() == expected
