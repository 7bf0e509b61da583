"""Allocations by start, then by order of entry: the counting and the sorting agree."""

import numpy as np
import pytest

from walltime.engine.recording.columns import place_by_start
from walltime.engine.recording.recorder import ALLOCATION, JOB, PLACED, Recorder


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("once", [True, False])
def test_allocations_are_ordered_as_by_sorting_pairs(seed, once):
    draw = np.random.default_rng(seed)
    size = int(draw.integers(0, 60))
    seq = draw.permutation(90)[:size] if once else draw.integers(0, 30, size)
    start = draw.integers(0, 12, size)
    rows = np.zeros((size, len(ALLOCATION)), np.int64)
    rows[:, ALLOCATION.index("seq")] = seq
    rows[:, ALLOCATION.index("start")] = start
    none = [np.zeros((0, width), np.int64) for width in (len(JOB), len(PLACED), 1)]
    places = place_by_start(Recorder.of(none[0], rows, none[1], none[2]), 90)
    if len(set(seq.tolist())) < size:
        assert places is None
        return
    expected = sorted(range(size), key=lambda row: (start[row], seq[row]))
    assert [int(places[seq[row]]) for row in expected] == list(range(size))
