"""What the engine writes down: a row for each job that leaves, a row for each interval in which one held resources."""

from __future__ import annotations

from array import array

import cython
import numpy as np

from walltime.kernel.jobs import JobTable

CHUNK = cython.declare(cython.Py_ssize_t, 16384)  # rows in a piece; pieces are never moved while the run goes on

JOB_WORDS = (
    "seq row eligible first_start end progress held state attempt backfilled lost cluster submit requested cores"
).split()
ALLOCATION_WORDS = "seq row attempt cluster start end cores outcome job_id".split()


@cython.final
@cython.cclass
class Rows:
    """A table of 64-bit integers that only grows."""

    def __init__(self, width) -> None:
        self.width = width
        self.size = 0
        self.full = []
        self.chunk = array("q", [0]) * (CHUNK * width)
        self.room = CHUNK

    def next(self):
        """Where in `chunk` the next row goes."""
        if self.room == 0:
            self.full.append(self.chunk)
            self.chunk = array("q", [0]) * (CHUNK * self.width)
            self.room = CHUNK
        at: cython.Py_ssize_t = (CHUNK - self.room) * self.width
        self.room -= 1
        self.size += 1
        return at

    def column(self, i, order=None):
        """Column i as a NumPy array, its rows in the given order."""
        parts = [np.asarray(chunk).reshape(-1, self.width)[:, i] for chunk in self.full]
        parts.append(np.asarray(self.chunk).reshape(-1, self.width)[: CHUNK - self.room, i])
        values = np.concatenate(parts)
        return values if order is None else values[order]


@cython.final
@cython.cclass
class Recorder:
    """The two tables of a run."""

    def __init__(self) -> None:
        self.jobs = Rows(15)
        self.allocations = Rows(9)

    def job(self, t: JobTable, slot, end):
        """The job has left (or the simulation has, `end` < 0)."""
        at: cython.Py_ssize_t = self.jobs.next()
        c: cython.longlong[::1] = self.jobs.chunk
        c[at] = t.seq[slot]
        c[at + 1] = t.row[slot]
        c[at + 2] = t.eligible[slot]
        c[at + 3] = t.first_start[slot]
        c[at + 4] = end
        c[at + 5] = t.progress[slot]
        c[at + 6] = t.held[slot]
        c[at + 7] = t.state[slot]
        c[at + 8] = t.attempt[slot]
        c[at + 9] = t.backfilled[slot]
        c[at + 10] = t.lost[slot]
        c[at + 11] = t.cluster[slot]
        c[at + 12] = t.submit[slot]
        c[at + 13] = t.requested[slot]
        c[at + 14] = t.cores[slot]
        return 0

    def allocation(self, t: JobTable, slot, end, outcome):
        """The job no longer holds its resources; `end` < 0 where it still does at the end of the simulation."""
        at: cython.Py_ssize_t = self.allocations.next()
        c: cython.longlong[::1] = self.allocations.chunk
        c[at] = t.seq[slot]
        c[at + 1] = t.row[slot]
        c[at + 2] = t.attempt[slot]
        c[at + 3] = t.cluster[slot]
        c[at + 4] = t.start[slot]
        c[at + 5] = end
        c[at + 6] = t.cores[slot]
        c[at + 7] = outcome
        c[at + 8] = t.job_id[slot]
        return 0
