"""Codes of labels in one walk: Polars and NumPy go over all of them, and take fresh memory, for each step."""

from __future__ import annotations

import cython
import numpy as np


def find_first(codes, count) -> np.ndarray:
    """The different codes, all below `count`, in the order in which they first appear."""
    given: cython.const[cython.uint][::1] = np.ascontiguousarray(codes, np.uint32)
    seen: cython.uchar[::1] = np.zeros(count, np.uint8)
    made = np.empty(count, np.int64)
    to: cython.longlong[::1] = made
    found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(len(given)):
        if not seen[given[i]]:
            seen[given[i]] = 1
            to[found] = given[i]
            found += 1
            if found == len(to):
                break
    return made[:found]


def translate(codes, table) -> np.ndarray:
    """`table[codes]`, of a table of 64-bit or of unsigned 32-bit numbers."""
    given: cython.const[cython.uint][::1] = np.ascontiguousarray(codes, np.uint32)
    made = np.empty(len(given), table.dtype)
    i: cython.Py_ssize_t
    long_table: cython.const[cython.longlong][::1]
    long_made: cython.longlong[::1]
    short_table: cython.const[cython.uint][::1]
    short_made: cython.uint[::1]
    if table.dtype == np.int64:
        long_table, long_made = table, made
        for i in range(len(given)):
            long_made[i] = long_table[given[i]]
    else:
        short_table, short_made = table, made
        for i in range(len(given)):
            short_made[i] = short_table[given[i]]
    return made
