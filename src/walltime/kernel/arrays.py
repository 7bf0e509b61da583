"""Arrays of 64-bit integers and of floats that grow; views of one are void once it has grown."""

from __future__ import annotations

import numpy as np


def integers(size: int, value: int = 0) -> np.ndarray:
    """A new array of one value."""
    return np.full(size, value, np.int64) if value else np.zeros(size, np.int64)


def doubled(values: object) -> np.ndarray:
    """A copy twice as long, zeros behind."""
    old = np.asarray(values)
    new = np.zeros(2 * len(old), np.int64)
    new[: len(old)] = old
    return new


def words(values: np.ndarray) -> np.ndarray:
    """The array itself; compiled modules have its address by this name, which costs less than a view (arrays.pxd)."""
    return values


def doubles(size: int) -> np.ndarray:
    """A new array of floats, all zero."""
    return np.zeros(size, np.float64)


def lengthened(values: object) -> np.ndarray:
    """A copy of an array of floats, twice as long, zeros behind."""
    old = np.asarray(values)
    new = np.zeros(2 * len(old), np.float64)
    new[: len(old)] = old
    return new
