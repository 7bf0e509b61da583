"""What will be free when, as one number: a step function that is written again for each pass."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.final
@cython.cclass
class FreeProfile:
    """From `time[i]` to the next, `free[i]` units (cores, or whole nodes that are all alike). The last step lasts.

    Two flat arrays: a pass that plans a few dozen jobs writes and searches them faster than it would keep anything
    with an index up to date between passes.
    """

    def __init__(self) -> None:
        self.time = integers(64)
        self.free = integers(64)
        self.steps = 0
        self.unit = 1

    def begin(self, now, free, unit):
        """So many units are free now; a unit is so many cores."""
        self.time[0] = now
        self.free[0] = free
        self.steps = 1
        self.unit = unit
        return 0

    def release(self, time, units):
        """So many become free at that time, which is not before any earlier one that was told."""
        last: cython.Py_ssize_t = self.steps - 1
        if time <= self.time[0]:  # a job that ends at this very instant still has what it has
            time = self.time[0] + 1
        if self.time[last] == time and last > 0:
            self.free[last] += units
            return 0
        if self.steps == len(self.time):
            self.grow()
        self.time[self.steps] = time
        self.free[self.steps] = self.free[last] + units
        self.steps += 1
        return 0

    def grow(self):
        self.time = doubled(self.time)
        self.free = doubled(self.free)
        return 0

    def fits(self, units, until):
        """Whether so many are free from now until then."""
        i: cython.Py_ssize_t = 0
        while i < self.steps and (i == 0 or self.time[i] < until):
            if self.free[i] < units:
                return False
            i += 1
        return True

    def earliest(self, units, length):
        """The first time from which so many are free for so long; NEVER where there is none."""
        i: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.steps
        end: cython.longlong
        time: cython.longlong[::1] = self.time
        free: cython.longlong[::1] = self.free
        while i < n:
            if free[i] < units:
                i += 1
                continue
            end = time[i] + length
            k = i + 1
            while k < n and time[k] < end and free[k] >= units:
                k += 1
            if k == n or time[k] >= end:
                return time[i]
            i = k + 1
        return NEVER

    def hold(self, start, end, units):
        """So many fewer are free from `start`, which is not before now, to `end`."""
        i: cython.Py_ssize_t = self.cut(start)
        last: cython.Py_ssize_t = self.cut(end)
        while i < last:
            self.free[i] -= units
            i += 1
        return 0

    def cut(self, at):
        """The step that begins at this time, made where there is none."""
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.steps
        mid: cython.Py_ssize_t
        k: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.time[mid] < at:
                lo = mid + 1
            else:
                hi = mid
        if lo < self.steps and self.time[lo] == at:
            return lo
        if self.steps == len(self.time):
            self.grow()
        k = self.steps
        time: cython.longlong[::1] = self.time
        free: cython.longlong[::1] = self.free
        while k > lo:
            time[k] = time[k - 1]
            free[k] = free[k - 1]
            k -= 1
        time[lo] = at
        free[lo] = free[lo - 1]
        self.steps += 1
        return lo

    def entries(self) -> list:
        """The steps as (time, units): for checks and for a person."""
        return [(self.time[i], self.free[i]) for i in range(self.steps)]
