"""What the rules of one cluster make of every job, kept by the job's row until it is sent there."""

from __future__ import annotations

import cython
import numpy as np

from walltime.kernel.jobs import JobTable
from walltime.rules.numbering import number_rows

FIELDS = ("lane", "domain", "queue", "rules", "shape", "choice", "memory", "gpus", "refused")
"""What the rules say of a job, in the order of a kind's numbers."""


@cython.final
@cython.cclass
class Assignments:
    """Jobs of the same kind get the same from the rules; a row keeps the number of its kind.

    `reasons` are those for which jobs are turned away, `names` the cluster's queues; both are the site's own lists, and
    empty for a cluster without rules.
    """

    def __init__(self, reasons, names) -> None:
        self.reasons = reasons
        self.names = names
        self.kinds = np.zeros((0, len(FIELDS)), np.int64)
        self.known = {}
        self.rows = np.zeros(0, np.int32)
        self.live = {}

    def add(self, ruled) -> None:
        """The next rows, as the rules see them."""
        self.rows = np.concatenate([np.asarray(self.rows), self.intern(ruled)])

    def add_live(self, row, ruled) -> None:
        """A job that was submitted during the run, under its (negative) row."""
        self.live[row] = int(self.intern(ruled)[0])

    def intern(self, ruled):
        """The number of each row's kind."""
        columns = [getattr(ruled, name) for name in FIELDS]
        numbers, rows = number_rows(columns)
        fresh = []
        known = np.empty(len(rows), np.int32)
        for number, kind in enumerate(zip(*(column[rows].tolist() for column in columns), strict=True)):
            if kind not in self.known:
                self.known[kind] = len(self.known)
                fresh.append(kind)
            known[number] = self.known[kind]
        if fresh:
            self.kinds = np.concatenate([np.asarray(self.kinds), np.array(fresh, np.int64)])
        return known[numbers]

    def kind_of(self, jobs: JobTable, slot):
        """The number of the job's kind."""
        row: cython.longlong = jobs.at[slot].row
        return self.rows[row] if row >= 0 else self.live[row]

    def refuses(self, jobs: JobTable, slot):
        """The number of the reason for which the job is turned away, or -1."""
        return self.kinds[self.kind_of(jobs, slot), 8]

    def describe(self, jobs: JobTable, slot):
        """The job is one of this cluster's."""
        k: cython.Py_ssize_t = self.kind_of(jobs, slot)
        jobs.at[slot].lane = self.kinds[k, 0]
        jobs.at[slot].domain = self.kinds[k, 1]
        jobs.at[slot].queue = self.kinds[k, 2]
        jobs.at[slot].rules = self.kinds[k, 3]
        jobs.at[slot].shape = self.kinds[k, 4]
        jobs.at[slot].choice = self.kinds[k, 5]
        jobs.at[slot].memory = self.kinds[k, 6]
        jobs.at[slot].gpus = self.kinds[k, 7]
        return 0
