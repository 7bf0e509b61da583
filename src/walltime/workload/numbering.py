"""The numbers of jobs: each job has one of its own, by which the tables of a result know it."""

from __future__ import annotations

import numpy as np

from walltime.core.workload import Workload

LARGE = 1 << 62
"""Numbers from here on are too near to the last one there is for others to follow them."""


def find_free(job_id: np.ndarray) -> int:
    """A number from which on none is used, up to `LARGE` at least."""
    return 1 + int(job_id[job_id < LARGE].max(initial=0))


def number_apart(job_id: np.ndarray) -> tuple[np.ndarray, int]:
    """The numbers, with new ones for jobs whose number occurred before; and how many these were."""
    if np.all(job_id[1:] > job_id[:-1]):
        return job_id, 0
    _, first = np.unique(job_id, return_index=True)
    again = np.ones(len(job_id), np.bool_)
    again[first] = False
    if not again.any():
        return job_id, 0
    fresh = job_id.copy()
    fresh[again] = find_free(job_id) + np.arange(np.count_nonzero(again))
    return fresh, int(np.count_nonzero(again))


def tell_apart(workload: Workload) -> Workload:
    """The workload in which each job has a number of its own; the note `renumbered` tells how many got a new one. A
    job that waits for a number waits for the first job that had it."""
    fresh, count = number_apart(workload.column("job_id"))
    if not count:
        return workload
    return workload.replace(dict(workload.columns) | {"job_id": fresh}, notes=workload.notes | {"renumbered": count})
