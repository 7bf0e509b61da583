"""Sorting what is nearly in order: a merge sort that takes up the runs it finds."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable


def sort_slots(jobs: JobTable, slots, keys, n):
    """Sort the first n slots by (key, seq), their keys beside them.

    In time proportional to n times the logarithm of the number of runs, that is of stretches that are in order already:
    where whole groups of neighbours have changed places, of the number of groups.
    """
    seqs: cython.longlong[::1] = integers(n)
    runs: cython.longlong[::1] = integers(n + 1)
    other: cython.longlong[::1]
    other_keys: cython.longlong[::1]
    other_seqs: cython.longlong[::1]
    i: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    k: cython.Py_ssize_t
    r: cython.Py_ssize_t
    end: cython.Py_ssize_t
    middle: cython.Py_ssize_t
    count: cython.Py_ssize_t = 0
    left: cython.Py_ssize_t
    for i in range(n):
        seqs[i] = jobs.at[slots[i]].seq
        if i == 0 or keys[i] < keys[i - 1] or (keys[i] == keys[i - 1] and seqs[i] < seqs[i - 1]):
            runs[count] = i
            count += 1
    runs[count] = n
    if count < 2:
        return 0
    other = integers(n)
    other_keys = integers(n)
    other_seqs = integers(n)
    while count > 1:
        left = 0
        r = 0
        while r < count:
            a = k = runs[r]
            middle = b = runs[r + 1] if r + 1 < count else n
            end = runs[r + 2] if r + 2 < count else n
            while k < end:
                if b >= end or (a < middle and (keys[a] < keys[b] or (keys[a] == keys[b] and seqs[a] < seqs[b]))):
                    other[k] = slots[a]
                    other_keys[k] = keys[a]
                    other_seqs[k] = seqs[a]
                    a += 1
                else:
                    other[k] = slots[b]
                    other_keys[k] = keys[b]
                    other_seqs[k] = seqs[b]
                    b += 1
                k += 1
            runs[left] = runs[r]
            left += 1
            r += 2
        count = left
        runs[count] = n
        for i in range(n):
            slots[i] = other[i]
            keys[i] = other_keys[i]
            seqs[i] = other_seqs[i]
    return 0
