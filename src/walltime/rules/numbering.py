"""Rows that say the same, and numbers for what they say: jobs of one kind are looked at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

LARGEST = 1 << 62
"""Numbers below this one can be added in 64 bits."""
AT_ONCE = 1 << 15
"""So many rows are numbered at a time: what is made of them on the way stays in the cache."""


def number_rows(columns: Sequence[Array]) -> tuple[Array, Array]:
    """The number of each row of a table of whole numbers, equal for equal rows and in the order of what they say; and
    for each number a row that has it.

    Where columns have few different values rows are not sorted, but looked up.
    """
    size = len(columns[0])
    if not size:
        return np.zeros(0, np.int32), np.zeros(0, np.int64)
    spans = [(column, int(column.min()), int(column.max())) for column in columns]
    spans = [(column, low, high - low + 1) for column, low, high in spans if low < high]
    most = 1
    for _, _, span in spans:
        most *= span
    if most <= room_for(size):
        return _look_up(spans, most, size)
    codes: Array = np.zeros(size, np.int64)
    most = 1
    for column, low, span in spans:
        if most * span > room_for(size):  # what is known so far has few different values
            codes = number_densely(codes, most)
            most = int(codes.max()) + 1
        if most * span >= LARGEST:
            column, low, span = np.unique(column, return_inverse=True)[1], 0, size
        codes = codes * np.int64(span) + (column.astype(np.int64) - low)
        most *= span
    numbers = number_densely(codes, most)
    rows = np.zeros(int(numbers.max()) + 1, np.int64)
    rows[numbers] = np.arange(size)
    return numbers, rows


def number_densely(values: Array, most: int) -> Array:
    """The values, all from 0 and below `most`, numbered from 0 on in their order: by a look-up where that is not
    much longer than the values themselves, which need not be sorted then."""
    if most > room_for(len(values)):
        return np.asarray(np.unique(values, return_inverse=True)[1])
    return _look_up([(values, 0, most)], most, len(values))[0]


def room_for(rows: int) -> int:
    """How long a look-up for so many rows may be."""
    return 4 * rows + 65_536


def _look_up(spans: list[tuple[Array, int, int]], most: int, size: int) -> tuple[Array, Array]:
    """The same for columns of which each has so many values at most, from its least one on."""
    where = np.full(most, -1, np.int64)
    for begin, codes in _pack(spans, size):
        where[codes] = np.arange(begin, begin + len(codes))
    rows = where[where >= 0]
    where[where >= 0] = np.arange(len(rows))
    numbers = np.empty(size, np.int32)
    for begin, codes in _pack(spans, size):
        numbers[begin : begin + len(codes)] = where[codes]
    return numbers, rows


def _pack(spans: list[tuple[Array, int, int]], size: int) -> Iterator[tuple[int, Array]]:
    """Some rows after the other, each as one number, with the place of the first of them."""
    for begin in range(0, size, AT_ONCE):
        end = min(begin + AT_ONCE, size)
        codes = np.zeros(end - begin, np.int64)
        for column, low, span in spans:
            codes *= span
            codes += column[begin:end]
            codes -= low
        yield begin, codes
