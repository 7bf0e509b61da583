"""Sums by cell over millions of steps: compiled, because NumPy goes over the arrays eight times for the same."""

from __future__ import annotations

import cython
import numpy as np


def locate(times, first, length, count, codes=None) -> tuple:
    """In which of `count` intervals from `first` on each time falls, and which part of that interval is left then.

    With `codes` it is the cell of a table that has a row for each code and `count + 1` cells in a row.
    """
    given: cython.const[cython.longlong][::1] = np.ascontiguousarray(times, np.int64)
    n: cython.Py_ssize_t = len(given)
    place = np.empty(n, np.int64)
    rest = np.empty(n)
    places: cython.longlong[::1] = place
    rests: cython.double[::1] = rest
    begin: cython.longlong = first
    width: cython.longlong = length
    most: cython.longlong = count
    since: cython.longlong
    at: cython.longlong
    i: cython.Py_ssize_t
    rows: cython.const[cython.longlong][::1]
    for i in range(n):
        since = max(given[i] - begin, 0)
        at = min(since // width, most)
        places[i] = at
        rests[i] = cython.cast(cython.double, width - (since - at * width)) / cython.cast(cython.double, width)
    if codes is not None:
        rows = codes
        for i in range(n):
            places[i] += rows[i] * (most + 1)
    return place, rest


def sum_cells(cells, rests, amounts, size) -> tuple:
    """For each of `size` cells the sum of amounts, and of amounts times rests; where `amounts` is None each counts 1.

    Added up in the order of the rows, as `numpy.bincount` does.
    """
    where: cython.const[cython.longlong][::1] = cells
    part: cython.const[cython.double][::1] = rests
    level = np.zeros(size)
    partial = np.zeros(size)
    levels: cython.double[::1] = level
    partials: cython.double[::1] = partial
    n: cython.Py_ssize_t = len(where)
    i: cython.Py_ssize_t
    cell: cython.longlong
    if amounts is None:
        for i in range(n):
            cell = where[i]
            levels[cell] += 1.0
            partials[cell] += part[i]
        return level, partial
    weights: cython.const[cython.double][::1] = np.ascontiguousarray(amounts, np.float64)
    for i in range(n):
        cell = where[i]
        levels[cell] += weights[i]
        partials[cell] += part[i] * weights[i]
    return level, partial
