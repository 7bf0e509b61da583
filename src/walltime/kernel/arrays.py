"""Arrays of 64-bit integers and of floats that grow; views of one are void once it has grown."""

from __future__ import annotations

import mmap

import numpy as np

HUGE = 1 << 22
"""Bytes from which on NumPy asks for huge pages."""


def integers(size: int, value: int = 0) -> np.ndarray:
    """A new array of one value."""
    return np.full(size, value, np.int64) if value else np.zeros(size, np.int64)


def aligned(size: int, value: int) -> np.ndarray:
    """A new array of one value that begins with a cache line."""
    room = np.full(size + 7, value, np.int64)
    skip = -room.ctypes.data % 64 // 8
    return room[skip : skip + size]


def untouched(size: int, dtype: np.dtype) -> np.ndarray:
    """A new array of zeros that costs memory where it is used, however long it is.

    Beyond four megabytes NumPy asks for huge pages: these are cleared whole, and on a machine that has been up for a
    while they are sought for, which took three times as long as the small ones.
    """
    return np.zeros(size, dtype) if size * np.dtype(dtype).itemsize < HUGE else mapped(size, dtype)


def mapped(size: int, dtype: np.dtype, whole: bool = False) -> np.ndarray:
    """A new array of zeros whose memory is the system's again when it is dropped, and no hole between others.

    Where the `whole` of it will be used it is taken at once: page by page it takes a third longer.
    """
    if not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.zeros(size, dtype)
    length = size * np.dtype(dtype).itemsize
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (getattr(mmap, "MAP_POPULATE", 0) if whole else 0)
    return np.frombuffer(mmap.mmap(-1, length, flags), dtype)


def doubled(values: object) -> np.ndarray:
    """A copy twice as long, zeros behind."""
    old = np.asarray(values)
    new = np.zeros(2 * len(old), old.dtype)
    new[: len(old)] = old
    return new


def lined(size: int) -> np.ndarray:
    """A new array of zeros that begins where a line of the cache does."""
    whole = np.zeros(size + 8, np.int64)
    at = -whole.ctypes.data // 8 % 8
    return whole[at : at + size]


def words(values: np.ndarray) -> np.ndarray:
    """The array itself; compiled modules have its address by this name, which costs less than a view (arrays.pxd)."""
    return values


def count_below(values: np.ndarray, step: int, n: int, x: int) -> int:
    """How many of n ascending numbers, so many words apart, are less than x; compiled modules have another one."""
    return int(np.sum(np.asarray(values)[: step * n : step] < x))


def doubles(size: int) -> np.ndarray:
    """A new array of floats, all zero."""
    return np.zeros(size, np.float64)
