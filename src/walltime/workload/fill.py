"""The fill phase: small staggered jobs that leave a wanted backlog of waiting work when they have done their part.

A backlog is core-hours waiting / cores of the machine: the hours that the whole machine would need for it. The jobs are
narrow, so that others fit into the gaps that they leave, and end one after another (ScSF, section 3.4 and Fig. 11).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from walltime.core.time import SECOND
from walltime.workload.models.sample import Sample

_PARALLEL = 100  # fill jobs side by side, where the machine is large enough
_SHORTEST, _LONGEST = 900.0, 6 * 3600.0
_ROUNDS = 12
_CLOSE = 0.02


def fill_jobs(hours: float, cores: int, interval: float) -> Sample:
    """Jobs with so many hours' work for the whole machine, submitted one every `interval` seconds from zero."""
    work = hours * 3600 * cores
    width = max(1, cores // _PARALLEL)
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


def first_waiting(submit: np.ndarray, cores: np.ndarray, run: np.ndarray, machine: int, moment: float) -> int:
    """The first job that waits at a moment under first come first served without backfilling; all later ones do too.

    Times in seconds, jobs in order of submission, none submitted after the moment; their number where none waits.
    """
    ends: list[tuple[float, int]] = []
    free = machine
    clock = 0.0
    for row, (time, width, length) in enumerate(zip(submit.tolist(), cores.tolist(), run.tolist(), strict=True)):
        clock = max(clock, time)
        while free < width and ends:
            end, given = heapq.heappop(ends)
            clock = max(clock, end)
            free += given
        if clock > moment:
            return row
        free -= width
        heapq.heappush(ends, (clock + length, width))
    return len(submit)


def find_fill(wanted: float, measure: Callable[[float], float]) -> tuple[float, float]:
    """How many hours of fill leave the wanted backlog, and the backlog they leave.

    `measure` tells the backlog that an amount of fill leaves; it grows with it, if not smoothly. Steps by what is
    missing come close; then the gap between the nearest below and above is halved.
    """
    tried: dict[float, float] = {}
    amount = wanted
    for _ in range(_ROUNDS):
        if amount in tried:
            break
        tried[amount] = measure(amount)
        if abs(tried[amount] - wanted) <= _CLOSE * wanted:
            break
        below = [a for a, found in tried.items() if found < wanted]
        above = [a for a, found in tried.items() if found >= wanted]
        if below and above and max(below) < min(above):
            amount = (max(below) + min(above)) / 2
        else:
            amount = max(0.0, amount + wanted - tried[amount])
    best = min(tried, key=lambda a: (abs(tried[a] - wanted), a))
    return best, tried[best]
