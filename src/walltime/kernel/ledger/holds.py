"""The list of holds of a ledger."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.arrays import integers, lined
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.interface import Ledger

OF_HOLD = cython.declare(cython.Py_ssize_t, 13)  # numbers that are known of a hold, as in HoldFields

if not cython.compiled:
    from walltime.kernel.arrays import words as holds_in


@cython.cclass
class Holds(Ledger):
    """The holds have numbers, which they keep; the list has these in the order of their starts, of equal ones the older
    first."""

    def __init__(self, jobs: JobTable, capacity, index=0) -> None:
        Ledger.__init__(self, jobs, capacity, index)
        self.holds = 0
        self.hold_of = integers(64, -1)
        self.hold_table = lined(0)
        self.by_start = integers(0)
        self.lengthen_holds(8)

    def lengthen_holds(self, room):
        """Room for so many holds; all numbers that there were are in use."""
        table = lined(OF_HOLD * room)
        table[: len(self.hold_table)] = self.hold_table
        self.hold_table = table
        self.held = holds_in(self.hold_table)
        by_start = integers(room)
        by_start[: self.holds] = self.by_start[: self.holds]
        self.by_start = by_start
        self.spare_holds = np.arange(room - 1, -1, -1)
        self.spares = room - self.hold_room
        self.hold_room = room
        return 0

    @cython.final
    def held_by(self, slot):
        """The hold of the job, or -1."""
        if self.holds == 1:
            return self.by_start[0] if self.held[self.by_start[0]].slot == slot else -1
        return self.hold_of[slot] if 0 <= slot < len(self.hold_of) else -1

    @cython.final
    def first_after(self, start):
        """How many holds begin at or before `start`: the index of the first that begins later."""
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = self.holds
        middle: cython.Py_ssize_t
        while low < high:
            middle = (low + high) >> 1
            if self.held[self.by_start[middle]].start <= start:
                low = middle + 1
            else:
                high = middle
        return low

    @cython.final
    def new_hold(self, slot, start, end):
        """The number of a hold that is not in the list yet; what else is known of it is to be told."""
        if self.spares == 0:
            self.lengthen_holds(2 * self.hold_room)
        self.spares -= 1
        h: cython.Py_ssize_t = self.spare_holds[self.spares]
        self.held[h].slot = slot
        self.held[h].start = start
        self.held[h].end = end
        return h

    @cython.final
    def enter_hold(self, h):
        """It is in the list now."""
        k: cython.Py_ssize_t = self.holds
        index: cython.Py_ssize_t = 0 if k == 0 else self.first_after(self.held[h].start)
        while k > index:
            self.by_start[k] = self.by_start[k - 1]
            k -= 1
        self.by_start[k] = h
        self.holds += 1
        while self.held[h].slot >= len(self.hold_of):
            self.hold_of = np.concatenate([self.hold_of, integers(len(self.hold_of), -1)])
        self.hold_of[self.held[h].slot] = h
        return 0

    @cython.final
    def strike_hold(self, h):
        """It is in the list no more."""
        k: cython.Py_ssize_t = 0 if self.holds == 1 else self.first_after(self.held[h].start) - 1
        while self.by_start[k] != h:
            k -= 1
        self.holds -= 1
        while k < self.holds:
            self.by_start[k] = self.by_start[k + 1]
            k += 1
        return 0

    @cython.final
    def free_hold(self, h):
        """Its number is free for another one."""
        self.hold_of[self.held[h].slot] = -1
        self.spare_holds[self.spares] = h
        self.spares += 1
        return 0
