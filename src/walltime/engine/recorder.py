"""What the engine writes down: a row for each job that leaves, a row for each interval in which one held resources.

The rows are narrow, because at a million jobs a second it is the memory that costs: what the workload tells is left
out, and the four small numbers (state or outcome, backfilled, cluster, attempt) share a word.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.jobs import JobTable

CHUNK = cython.declare(cython.Py_ssize_t, 16384)  # rows in a piece; pieces are never moved while the run goes on
JOB = ("seq", "row", "eligible", "first_start", "end", "progress", "held", "lost", "packed")
ALLOCATION = ("seq", "start", "end", "cores", "packed")


@cython.final
@cython.cclass
class Rows:
    """A table of 64-bit integers that only grows."""

    def __init__(self, width) -> None:
        self.width = width
        self.size = 0
        self.full = []
        self.chunk = np.empty(CHUNK * width, np.int64)
        self.room = CHUNK

    def next(self):
        """Where in `chunk` the next row goes."""
        if self.room == 0:
            self.full.append(np.asarray(self.chunk))
            self.chunk = np.empty(CHUNK * self.width, np.int64)
            self.room = CHUNK
        at: cython.Py_ssize_t = (CHUNK - self.room) * self.width
        self.room -= 1
        self.size += 1
        return at

    def columns(self, names) -> dict:
        """The table as one NumPy array a column, `packed` taken apart."""
        used = (CHUNK - self.room) * self.width
        pieces = [piece.reshape(-1, self.width) for piece in [*self.full, np.asarray(self.chunk)[:used]]]
        table = {name: np.concatenate([piece[:, i] for piece in pieces]) for i, name in enumerate(names)}
        packed = table.pop("packed")
        table["state"] = packed & 0xFF
        table["backfilled"] = (packed >> 8) & 1
        table["cluster"] = (packed >> 16) & 0xFFFF
        table["attempt"] = packed >> 32
        return table


@cython.final
@cython.cclass
class Recorder:
    """The two tables of a run."""

    def __init__(self) -> None:
        self.jobs = Rows(len(JOB))
        self.allocations = Rows(len(ALLOCATION))

    def job(self, t: JobTable, slot, end):
        """The job has left (or the simulation has, `end` < 0)."""
        at: cython.Py_ssize_t = self.jobs.next()
        c: cython.longlong[::1] = self.jobs.chunk
        c[at] = t.at[slot].seq
        c[at + 1] = t.at[slot].row
        c[at + 2] = t.at[slot].eligible
        c[at + 3] = t.at[slot].first_start
        c[at + 4] = end
        c[at + 5] = t.at[slot].progress
        c[at + 6] = t.at[slot].held
        c[at + 7] = t.at[slot].lost
        c[at + 8] = t.at[slot].state | t.at[slot].backfilled << 8 | t.at[slot].cluster << 16 | t.at[slot].attempt << 32
        return 0

    def allocation(self, t: JobTable, slot, end, outcome):
        """The job no longer holds its resources; `end` < 0 where it still does at the end of the simulation."""
        at: cython.Py_ssize_t = self.allocations.next()
        c: cython.longlong[::1] = self.allocations.chunk
        c[at] = t.at[slot].seq
        c[at + 1] = t.at[slot].start
        c[at + 2] = end
        c[at + 3] = t.at[slot].cores
        c[at + 4] = outcome | t.at[slot].cluster << 16 | t.at[slot].attempt << 32
        return 0
