"""Seconds as whole microseconds: compiled, because NumPy takes fresh memory for each of four steps."""

from __future__ import annotations

import cython
import numpy as np

SECOND = cython.declare(cython.double, 1e6)
WHOLE = cython.declare(cython.double, 2.0**52)  # from here on a float has no room for a fraction


def round_seconds(seconds, missing) -> np.ndarray:
    """Whole microseconds, halves to the even one; `missing` where it is not a number, or infinite."""
    given: cython.const[cython.double][::1] = np.ascontiguousarray(seconds, np.float64)
    made = np.empty(len(given), np.int64)
    to: cython.longlong[::1] = made
    absent: cython.longlong = missing
    i: cython.Py_ssize_t
    time: cython.double
    for i in range(len(given)):
        time = given[i] * SECOND
        if -WHOLE < time < WHOLE:
            time = (time + WHOLE) - WHOLE if time >= 0 else (time - WHOLE) + WHOLE
            to[i] = cython.cast(cython.longlong, time)
        else:
            to[i] = cython.cast(cython.longlong, time) if time - time == 0.0 else absent
    return made
