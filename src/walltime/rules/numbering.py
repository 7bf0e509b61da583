"""Rows that say the same, and numbers for what they say: jobs of one kind are looked at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LARGEST = 1 << 62
"""Numbers below this one can be added in 64 bits."""


def number_rows(columns: Sequence[Array]) -> tuple[Array, Array]:
    """The number of each row of a table of whole numbers, equal for equal rows and in the order of what they say; and
    for each number a row that has it.

    Values are told apart by what they are above their column's least, so that few different ones need no sorting.
    """
    size = len(columns[0])
    numbers, most = np.zeros(size, np.int64), 1
    if not size:
        return numbers, numbers
    for column in columns:
        low, high = int(column.min()), int(column.max())
        if low == high:
            continue
        if most * (high - low + 1) >= LARGEST:
            numbers, most = number_densely(numbers, most), size
        if most * (high - low + 1) >= LARGEST:
            column = np.unique(column, return_inverse=True)[1]
            low, high = 0, size - 1
        numbers = numbers * (high - low + 1) + (column.astype(np.int64) - low)
        most *= high - low + 1
    numbers = number_densely(numbers, most)
    rows = np.zeros(int(numbers.max()) + 1, np.int64)
    rows[numbers] = np.arange(size)
    return numbers, rows


def number_densely(values: Array, most: int) -> Array:
    """The values, all from 0 and below `most`, numbered from 0 on in their order: by a look-up where that is not
    much longer than the values themselves, which need not be sorted then."""
    if most > 4 * len(values) + 65_536:
        return np.asarray(np.unique(values, return_inverse=True)[1])
    there = np.zeros(most, np.int64)
    there[values] = 1
    return np.asarray((np.cumsum(there) - 1)[values])
