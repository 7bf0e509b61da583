"""Numbers of groups of equal jobs: by a look-up or by sorting, the same."""

import numpy as np
import pytest

from walltime.rules.site import number_densely


@pytest.mark.parametrize("most", [7, 300_000, 1 << 40])
def test_values_are_numbered_in_their_order(most: int) -> None:
    values = np.random.default_rng(1).integers(0, min(most, 1 << 20), 5_000) * max(1, most >> 20)
    there = sorted(set(values.tolist()))
    assert number_densely(values, most).tolist() == [there.index(value) for value in values.tolist()]


def test_no_values() -> None:
    assert number_densely(np.zeros(0, np.int64), 5).tolist() == []
