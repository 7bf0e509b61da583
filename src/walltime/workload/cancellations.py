"""Users who withdraw their jobs, drawn: how long each would wait, a function of the seed and the job alone."""

from __future__ import annotations

import numpy as np

from walltime.core.random import uniforms
from walltime.core.time import LATEST, microseconds
from walltime.core.workload import MISSING, Workload


def draw_cancellations(
    workload: Workload,
    seed: int,
    share: float,
    after: float,
    distribution: str = "lognormal",
    spread: float = 1.0,
    running: bool = False,
) -> Workload:
    """The workload with a `patience` for a share of its jobs, or with `running` a time to `cancel` them in any case.

    `after` is in seconds. A cancellation that a job has already is kept where it comes first.
    """
    jobs = workload.column("job_id")
    chosen = uniforms(seed, "cancellations", jobs) < share
    patience = np.maximum(microseconds(after) * _draw(seed, jobs, distribution, spread), 1.0)
    drawn = np.minimum(np.rint(patience), LATEST // 2).astype(np.int64)
    name = "cancel" if running else "patience"
    if running:
        drawn = drawn + workload.column("submit")
    known = workload.column(name)
    first = np.where((known == MISSING) | (drawn < known), drawn, known)
    return workload.replace(dict(workload.columns) | {name: np.where(chosen, first, known)})


def _draw(seed: int, jobs: np.ndarray, distribution: str, spread: float) -> np.ndarray:
    """Patience in units of the median, or of the mean of an exponential one."""
    if distribution == "fixed":
        return np.ones(len(jobs))
    first = 1.0 - uniforms(seed, "patience", jobs)  # never 0
    if distribution == "exponential":
        return np.asarray(-np.log(first))
    angle = 2.0 * np.pi * uniforms(seed, "patience 2", jobs)
    return np.asarray(np.exp(spread * np.sqrt(-2.0 * np.log(first)) * np.cos(angle)))
