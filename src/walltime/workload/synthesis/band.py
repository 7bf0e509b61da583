"""Work held within a band, job by job: compiled, because each decision needs the one before."""

from __future__ import annotations

import cython
import numpy as np


def keep_within(work, least, most, more) -> tuple:
    """Which jobs of a stream are kept, which spare ones are added, and at which row of the stream each of these.

    `work` is that of each job in order; `least` and `most` bound the work so far at each. A job is dropped where there
    is more than `most` already, unless there is none yet. With any other as many spare ones are added as make `least`.
    `more(count)` gives the work of all spare jobs, more than `count` where there are so many.
    """
    amounts: cython.const[cython.double][::1] = np.ascontiguousarray(work, np.float64)
    lower: cython.const[cython.double][::1] = np.ascontiguousarray(least, np.float64)
    upper: cython.const[cython.double][::1] = np.ascontiguousarray(most, np.float64)
    n: cython.Py_ssize_t = len(amounts)
    kept = np.empty(n, np.int64)
    keep: cython.longlong[::1] = kept
    spare: cython.const[cython.double][::1] = np.empty(0)
    added_at = np.empty(0, np.int64)
    at: cython.longlong[::1] = added_at
    total: cython.double = 0.0
    count: cython.Py_ssize_t = 0
    used: cython.Py_ssize_t = 0
    row: cython.Py_ssize_t
    for row in range(n):
        if total > 0.0 and total > upper[row]:
            continue
        keep[count] = row
        count += 1
        total += amounts[row]
        while total < lower[row]:
            if used == len(spare):
                drawn = more(used)
                if len(drawn) <= used:
                    break
                spare = np.ascontiguousarray(drawn, np.float64)
                added_at = np.concatenate([added_at, np.empty(len(drawn) - used, np.int64)])
                at = added_at
            total += spare[used]
            at[used] = row
            used += 1
    return kept[:count], np.arange(used), added_at[:used]
