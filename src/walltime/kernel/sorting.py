"""Sorting what is nearly in order: a merge sort that takes up the runs it finds."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable


def sort_slots(jobs: JobTable, slots, keys, n):
    """Sort the first n slots by (key, seq), their keys beside them."""
    seqs: cython.longlong[::1] = integers(n)
    i: cython.Py_ssize_t
    for i in range(n):
        seqs[i] = jobs.at[slots[i]].seq
    return sort_by(keys, seqs, slots, n)


def sort_by(keys, ties, items, n):
    """Sort the first n entries of three arrays by (key, tie); what is equal stays as it is.

    In time proportional to n times the logarithm of the number of runs, that is of stretches that are in order already:
    where whole groups of neighbours have changed places, of the number of groups.
    """
    runs: cython.longlong[::1] = integers(n + 1)
    spare: cython.longlong[::1]
    spare_keys: cython.longlong[::1]
    spare_ties: cython.longlong[::1]
    i: cython.Py_ssize_t
    r: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    left: cython.Py_ssize_t
    for i in range(n):
        if i == 0 or keys[i] < keys[i - 1] or (keys[i] == keys[i - 1] and ties[i] < ties[i - 1]):
            runs[count] = i
            count += 1
    if count < 2:
        return 0
    runs[count] = n
    spare = integers(n)
    spare_keys = integers(n)
    spare_ties = integers(n)
    while count > 1:
        left = r = 0
        while r < count:
            merge(keys, ties, items, spare_keys, spare_ties, spare, runs[r], runs[r + 1], runs[min(r + 2, count)])
            runs[left] = runs[r]
            left += 1
            r += 2
        count = left
        runs[count] = n
        for i in range(n):
            items[i] = spare[i]
            keys[i] = spare_keys[i]
            ties[i] = spare_ties[i]
    return 0


def merge(keys, ties, items, new_keys, new_ties, new_items, begin, middle, end):
    """Two neighbouring runs into one, in other arrays."""
    a: cython.Py_ssize_t = begin
    b: cython.Py_ssize_t = middle
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    for k in range(begin, end):
        if b >= end or (a < middle and (keys[a] < keys[b] or (keys[a] == keys[b] and ties[a] <= ties[b]))):
            at = a
            a += 1
        else:
            at = b
            b += 1
        new_keys[k] = keys[at]
        new_ties[k] = ties[at]
        new_items[k] = items[at]
    return 0
