"""Numbers of rows that say the same: by a look-up or by sorting, the same."""

import numpy as np
import pytest

from walltime.rules.numbering import number_densely, number_rows


@pytest.mark.parametrize("most", [7, 300_000, 1 << 40])
def test_values_are_numbered_in_their_order(most: int) -> None:
    values = np.random.default_rng(1).integers(0, min(most, 1 << 20), 5_000) * max(1, most >> 20)
    there = sorted(set(values.tolist()))
    assert number_densely(values, most).tolist() == [there.index(value) for value in values.tolist()]


def test_no_values() -> None:
    assert number_densely(np.zeros(0, np.int64), 5).tolist() == []


@pytest.mark.parametrize("wide", [3, 1 << 20, 1 << 61])
def test_rows_are_numbered_in_the_order_of_what_they_say(wide: int) -> None:
    draw = np.random.default_rng(2)
    choices = draw.integers(-wide, wide, 6)
    same = np.full(400, -1)
    columns = [choices[draw.integers(0, 6, 400)], same, draw.integers(0, 4, 400).astype(np.uint8)]
    columns.append(choices[draw.integers(0, 6, 400)])
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    there = sorted(set(rows))
    numbers, first = number_rows(columns)
    assert numbers.tolist() == [there.index(row) for row in rows]
    assert [rows[row] for row in first.tolist()] == there


def test_no_rows() -> None:
    numbers, first = number_rows([np.zeros(0, np.int64)])
    assert numbers.tolist() == first.tolist() == []
