"""Job pressure: the work submitted so far over what the machine could have done by then, held in a band.

Two ways. `press` is ScSF's (Rodrigo et al., JSSPP 2017, section 3.4), for a machine that is never without work: at each
arrival, jobs are added while the pressure is below the band, and the arriving job is dropped while it is above.

`hold` is for a wanted load. It counts the machine's capacity on the clock of the workload's own rhythm, so that quiet
nights are not filled up and busy mornings not cut off; over each phase both clocks agree. In the first hours a single
job is a large part of everything, so its band is wider by a few hours' work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walltime.workload.synthesis.band import keep_within

_GRACE = 6 * 3600.0  # seconds of the whole machine by which the band is wider
_TOLERANCE = 0.005  # of the load, at the end of a phase


@dataclass(frozen=True)
class Control:
    """What the band kept: rows of the stream, and rows of the spare jobs with the row at whose time each is added."""

    kept: np.ndarray
    added: np.ndarray
    added_at: np.ndarray


def press(
    times: np.ndarray, work: np.ndarray, more: Callable[[int], np.ndarray], cores: int, low: float, high: float
) -> Control:
    """Adds and drops jobs by P = work submitted so far / (time × cores): ScSF's rule.

    `times` (seconds) and `work` (core-seconds) are those of the stream, in order; `more(count)` gives the work of more
    than `count` jobs that may be added. A job that arrives while P is `high` or more is dropped. With any other as many
    are added as make P at least `low` at that time. At time zero there is no P, and the first job is taken.
    """
    possible = times * cores
    return Control(*keep_within(work, low * possible, np.nextafter(high * possible, -np.inf), more))


def expected_time(times: np.ndarray, hours: np.ndarray, edges: list[float]) -> np.ndarray:
    """Seconds on the clock that runs with the intensity of each hour; it agrees with the plain one at the edges."""
    cumulated = np.concatenate([[0.0], np.cumsum(hours)]) * 3600
    grid = np.arange(len(cumulated)) * 3600.0
    at_edges = np.interp(edges, grid, cumulated)
    return np.asarray(np.interp(np.interp(times, grid, cumulated), at_edges, edges))


def hold(expected: np.ndarray, work: np.ndarray, spare: np.ndarray, load: float, cores: int, band: float) -> Control:
    """Adds and drops jobs so that work submitted / (expected time × cores) stays within load ± band.

    `expected` (seconds) and `work` (core-seconds) are those of the stream, in order; `spare` is the work of jobs that
    may be added.
    """
    least = (load - band) * cores * expected - _GRACE * cores
    most = (load + band) * cores * expected + _GRACE * cores
    return Control(*keep_within(work, least, most, lambda _: spare))


def settle(
    work: np.ndarray, target: float, spare: np.ndarray, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which jobs to drop and which spare ones to add so that the sum of work comes close to the target.

    Jobs are tried in random order, and taken where they do not overshoot. Where only jobs larger than the excess are
    left, the smallest of them goes, and spare ones take its place.
    """
    allowed = _TOLERANCE * target
    excess = float(work.sum()) - target
    here, there = random.permutation(len(work)).tolist(), random.permutation(len(spare)).tolist()
    dropped: list[int] = []
    added: list[int] = []
    while abs(excess) > allowed:
        candidates, rows, chosen = (work, here, dropped) if excess > 0 else (spare, there, added)
        missing = abs(excess)
        before = len(chosen)
        left = []
        for row in rows:
            if missing > allowed / 2 and candidates[row] <= missing + allowed / 2:
                chosen.append(row)
                missing -= float(candidates[row])
            else:
                left.append(row)
        rows[:] = left
        sign = 1 if excess > 0 else -1
        excess = sign * missing
        if len(chosen) == before:  # nothing fits
            if sign < 0 or not rows:
                break
            smallest = min(rows, key=work.__getitem__)
            rows.remove(smallest)
            dropped.append(smallest)
            excess -= float(work[smallest])
    return np.array(dropped, np.int64), np.array(added, np.int64)
