"""What will be free when, as one number: a step function that is written again for each pass."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)
ASKED = cython.declare(cython.Py_ssize_t, 4)  # so many answers are remembered: a power of two

if not cython.compiled:
    from walltime.kernel.arrays import words


@cython.final
@cython.cclass
class FreeProfile:
    """From `time[i]` to the next, `free[i]` units (cores, or whole nodes that are all alike). The last step lasts.

    Two flat arrays: a pass that plans a few dozen jobs writes and searches them faster than it would keep anything
    with an index up to date between passes. As nothing is added to what is free once jobs are planned, no job starts
    before one that was planned earlier and asked for no more units and no more time: there its search begins.
    """

    def __init__(self) -> None:
        self.time = integers(64)
        self.free = integers(64)
        self.steps = 0
        self.unit = 1
        self.asked = 0
        self.asked_units = integers(ASKED)
        self.asked_length = integers(ASKED)
        self.asked_found = integers(ASKED)

    def begin(self, now, free, unit):
        """So many units are free now; a unit is so many cores."""
        self.time[0] = now
        self.free[0] = free
        self.steps = 1
        self.unit = unit
        self.asked = 0
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
        found: cython.longlong = self.bound(units, length)
        if found < NEVER:
            found = self.search(units, length, self.find(found))
        self.asked_units[self.asked & (ASKED - 1)] = units
        self.asked_length[self.asked & (ASKED - 1)] = length
        self.asked_found[self.asked & (ASKED - 1)] = found
        self.asked += 1
        return found

    def bound(self, units, length):
        """The latest start of those that asked for no more: there is none before it."""
        k: cython.Py_ssize_t
        found: cython.longlong = self.time[0]
        for k in range(min(self.asked, ASKED)):
            if self.asked_units[k] <= units and self.asked_length[k] <= length and self.asked_found[k] > found:
                found = self.asked_found[k]
        return found

    def search(self, units, length, i):
        """The same from the i-th step on."""
        k: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.steps
        end: cython.longlong
        time: cython.p_longlong = words(self.time)
        free: cython.p_longlong = words(self.free)
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
        first: cython.Py_ssize_t = self.find(start)
        last: cython.Py_ssize_t = self.find(end)
        begins: cython.bint = first == self.steps or self.time[first] != start  # a step is to be made there
        ends: cython.bint = last == self.steps or self.time[last] != end
        k: cython.Py_ssize_t = self.steps
        while self.steps + begins + ends > len(self.time):
            self.grow()
        time: cython.p_longlong = words(self.time)
        free: cython.p_longlong = words(self.free)
        self.steps += begins + ends
        while k > last:
            k -= 1
            time[k + begins + ends] = time[k]
            free[k + begins + ends] = free[k]
        if ends:
            time[last + begins] = end
            free[last + begins] = free[last - 1]
        while k > first:
            k -= 1
            time[k + begins] = time[k]
            free[k + begins] = free[k] - units
        if begins:
            time[first] = start
            free[first] = free[first - 1] - units
        return 0

    def find(self, at):
        """The first step that begins at this time or later."""
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.steps
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.time[mid] < at:
                lo = mid + 1
            else:
                hi = mid
        return lo

    def entries(self) -> list:
        """The steps as (time, units): for checks and for a person."""
        return [(self.time[i], self.free[i]) for i in range(self.steps)]
