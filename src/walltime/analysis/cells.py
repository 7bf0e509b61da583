"""Sums over millions of jobs in one walk: NumPy goes over all of them, and takes fresh memory, for each step."""

from __future__ import annotations

import cython
import numpy as np

LOW = cython.declare(cython.longlong, 0xFFFFFFFF)
BLOCK = cython.declare(cython.Py_ssize_t, 2048)  # rows whose places are found at a time


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


def sum_steps(times, codes, amounts, first, length, count, groups) -> list:
    """The steps that are made at these times, by group and interval: for each cell of a table as of `locate` the sum of
    amounts, and of amounts times the part of the interval that is left. Of each array in `amounts` there are such sums;
    for one that is None each step counts 1. Those of a negative code are left out.

    Added up in the order of the rows, as `numpy.bincount` does, but for all amounts at once: to find the places, and to
    wait for a sum that was just written, takes most of the time.
    """
    given: cython.const[cython.longlong][::1] = np.ascontiguousarray(times, np.int64)
    rows: cython.const[cython.longlong][::1] = np.ascontiguousarray(codes, np.int64)
    kinds: cython.Py_ssize_t = len(amounts)
    made = np.zeros((groups * (count + 1), kinds, 2))  # what belongs to one cell lies together
    sums: cython.double[:, :, ::1] = made
    weigh = np.ones((kinds, BLOCK))
    weights: cython.double[:, ::1] = weigh
    begin: cython.longlong = first
    width: cython.longlong = length
    span: cython.double = length
    most: cython.longlong = count
    since: cython.longlong
    at: cython.longlong
    rest: cython.double
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    n: cython.Py_ssize_t = len(given)
    for low in range(0, n, BLOCK):
        high = min(n, low + BLOCK)
        for j in range(kinds):
            if amounts[j] is not None:
                weigh[j, : high - low] = amounts[j][low:high]
        for i in range(low, high):
            if rows[i] < 0:
                continue
            since = max(given[i] - begin, 0)
            at = cython.cast(
                cython.longlong, cython.cast(cython.double, since) / span
            )  # a division of floats is quicker
            at += ((at + 1) * width <= since) - (at * width > since)
            at = min(at, most)
            rest = cython.cast(cython.double, width - (since - at * width)) / span
            at += rows[i] * (most + 1)
            for j in range(kinds):
                sums[at, j, 0] += weights[j, i - low]
                sums[at, j, 1] += rest * weights[j, i - low]
    return [(made[:, j, 0], made[:, j, 1]) for j in range(kinds)]


def find_longest(times, amounts, least) -> np.ndarray:
    """Of each class of amounts, which begin at `least` in rising order, the row with the longest time, the first of
    equal ones; -1 where a class has no row. An amount below the first class belongs to it."""
    given: cython.const[cython.longlong][::1] = np.ascontiguousarray(times, np.int64)
    sizes: cython.const[cython.longlong][::1] = np.ascontiguousarray(amounts, np.int64)
    edges: cython.const[cython.longlong][::1] = np.ascontiguousarray(least, np.int64)
    made = np.full(len(edges), -1)
    longest: cython.longlong[::1] = made
    of: cython.Py_ssize_t
    i: cython.Py_ssize_t
    for i in range(len(given)):
        of = len(edges) - 1
        while of > 0 and sizes[i] < edges[of]:
            of -= 1
        if longest[of] < 0 or given[i] > given[longest[of]]:
            longest[of] = i
    return made


def sum_held(start, end, cores, first, last) -> int:
    """Cores times the microseconds between two times for which each was held, added up without rounding or overflow.

    The halves of a word are added up apart; each of them times the cores is below 2^63.
    """
    begins: cython.const[cython.longlong][::1] = np.ascontiguousarray(start, np.int64)
    ends: cython.const[cython.longlong][::1] = np.ascontiguousarray(end, np.int64)
    amounts: cython.const[cython.longlong][::1] = np.ascontiguousarray(cores, np.int64)
    low: cython.longlong = first
    high: cython.longlong = last
    since: cython.longlong
    until: cython.longlong
    product: cython.longlong
    highest: cython.longlong = 0
    middle: cython.longlong = 0
    lowest: cython.longlong = 0
    i: cython.Py_ssize_t
    for i in range(len(begins)):
        since = max(begins[i], low)
        until = min(ends[i], high)
        if until > since:
            product = ((until - since) >> 32) * amounts[i]
            highest += product >> 32
            middle += product & LOW
            product = ((until - since) & LOW) * amounts[i]
            middle += product >> 32
            lowest += product & LOW
    return (int(highest) << 64) + (int(middle) << 32) + int(lowest)


def weigh_held(start, end, cores, codes, groups) -> np.ndarray:
    """Cores times the microseconds for which they were held, added up by group in the order of the rows, as
    `numpy.bincount` does; those of a negative code count nowhere."""
    begins: cython.const[cython.longlong][::1] = np.ascontiguousarray(start, np.int64)
    ends: cython.const[cython.longlong][::1] = np.ascontiguousarray(end, np.int64)
    amounts: cython.const[cython.longlong][::1] = np.ascontiguousarray(cores, np.int64)
    rows: cython.const[cython.longlong][::1] = np.ascontiguousarray(codes, np.int64)
    made = np.zeros(groups)
    sums: cython.double[::1] = made
    i: cython.Py_ssize_t
    for i in range(len(begins)):
        if rows[i] >= 0:
            sums[rows[i]] += cython.cast(cython.double, max(ends[i] - begins[i], 0) * amounts[i])
    return made


def bound_slowdowns(wait, held, run, shortest) -> np.ndarray:
    """max(1, (wait + held) / max(run, shortest)) of each job, not a number where one of them is not."""
    waits: cython.const[cython.double][::1] = np.ascontiguousarray(wait)
    helds: cython.const[cython.double][::1] = np.ascontiguousarray(held)
    runs: cython.const[cython.double][::1] = np.ascontiguousarray(run)
    made = np.empty(len(waits))
    to: cython.double[::1] = made
    least: cython.double = shortest
    slow: cython.double
    i: cython.Py_ssize_t
    for i in range(len(waits)):
        slow = (waits[i] + helds[i]) / (least if runs[i] < least else runs[i])
        to[i] = 1.0 if slow < 1.0 else slow
    return made
