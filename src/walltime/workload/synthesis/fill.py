"""The fill phase: small staggered jobs before the ordinary ones, so that these find a full machine and have to wait.

The jobs are narrow, so that others fit into the gaps that they leave, and end one after another (ScSF, section 3.4 and
Fig. 11). How many hours of fill make jobs wait for how long depends on the scheduler: `walltime.tuning` finds out.
"""

from __future__ import annotations

import math

import numpy as np

from walltime.core.time import SECOND
from walltime.workload.models.sample import Sample

WIDTH = 0.01
"""The share of the machine that a fill job has, where that is whole nodes."""
_SHORTEST, _LONGEST = 900.0, 6 * 3600.0


def fill_jobs(hours: float, cores: int, interval: float, node: int = 1, share: float = WIDTH) -> Sample:
    """Jobs with so many hours' work for the whole machine, submitted one every `interval` seconds from zero.

    They are as wide as some whole nodes of `node` cores, together that share of the machine.
    """
    work = hours * 3600 * cores
    width = max(1, math.floor(cores * share + 1e-9) // node) * node
    mean = float(np.clip(hours * 900, _SHORTEST, _LONGEST))
    count = max(1, round(work / (width * mean))) if work > 0 else 0
    if not count:
        return Sample({name: np.zeros(0, np.int64) for name in ("submit", "cores", "run_time", "requested_time")})
    # The golden ratio spreads the lengths evenly in whatever order the jobs start.
    spread = 0.5 + (np.arange(count) * 0.6180339887498949) % 1
    run = np.maximum(np.rint(spread * work / (width * spread.sum())), 1).astype(np.int64)
    return Sample(
        {
            "submit": np.rint(np.arange(count) * interval).astype(np.int64) * SECOND,
            "cores": np.full(count, width, np.int64),
            "run_time": run * SECOND,
            "requested_time": -(-run // 60) * 60 * SECOND,
        }
    )


def fill_length(fill: Sample, interval: float) -> float:
    """Seconds before the ordinary jobs in which fill jobs are submitted: whole minutes."""
    return float(-(-len(fill) * interval // 60) * 60)
