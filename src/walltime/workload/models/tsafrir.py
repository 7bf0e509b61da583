"""Tsafrir's model of user estimates: requested times as people give them, for jobs whose run times are known.

D. Tsafrir, Y. Etsion and D. G. Feitelson, Modeling user runtime estimates, JSSPP 2005. Estimates are few and round: the
20 most popular ones serve 89 % of the jobs, the maximum being the most popular. Given the number of jobs and the
largest allowed estimate, the model makes a histogram of estimates, and then hands them out at random so that no job
runs longer than it asked. The constants are the published ones.
"""

from __future__ import annotations

import math

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import SECOND

HEAD = 20
"""How many estimates are popular."""
HEAD_PERCENT = 89.0
HEAD_SIZE = (14.0491, -0.177531, 0.462513)
"""Percent of the jobs at popularity rank x (2 to 20): a · exp(b x) + c; the first has what is left of the 89."""
TAIL_SIZE = -2.267
"""Exponent of the percent of jobs at ranks above 20."""
TAIL_TIME = (12.1039, -0.6026)
"""Of K estimates, the relative time at relative rank x is (a - 1) x / (a - x) with a = 1 + p · K^q."""
NUMBER = ((0, 0), (20, 10), (200, 20), (1000, 35), (10_000, 90), (70_000, 340), (250_000, 565))
"""Different estimates by number of jobs; linear in between."""

_MINUTE, _HOUR = 60, 3600
_COMMON = tuple(minutes * _MINUTE for minutes in (5, 10, 15, 20, 30)) + tuple(
    hours * _HOUR for hours in (1, 2, 3, 4, 5, 6, 8, 10, 12, 18)
)
_ROUND = (*(hours * _HOUR for hours in (200, 100, 50, 10, 5, 2, 1)), 20 * _MINUTE, 10 * _MINUTE, 5 * _MINUTE)
# Popularity rank of each of the 20 head estimates (the maximum first, then by length) in four logs: SDSC SP2, CTC SP2,
# KTH SP2, SDSC Blue Horizon.
_RANKS = (
    (3, 1, 4, 17, 13, 7, 8, 18, 2, 6, 16, 10, 5, 15, 14, 19, 11, 12, 9, 20),
    (1, 3, 4, 2, 12, 9, 8, 18, 6, 7, 11, 20, 16, 5, 14, 13, 10, 15, 17, 19),
    (1, 4, 10, 14, 20, 2, 3, 7, 12, 6, 19, 5, 18, 16, 9, 17, 15, 13, 8, 11),
    (1, 6, 5, 3, 7, 2, 18, 19, 4, 11, 20, 9, 10, 14, 13, 16, 15, 17, 8, 12),
)
_NUDGES = (0, 30, -30, 20, -20, 10, -10)


def estimate(run_time: np.ndarray, largest: float | None = None, seed: int = 0) -> tuple[np.ndarray, int]:
    """A requested time for each run time (both in microseconds), never shorter; and how many had to be made longer.

    `largest` is the largest estimate in seconds; by default the longest run time, rounded up to an hour. Where the
    histogram has too few long estimates for the long jobs, those jobs get the largest instead, and are counted.
    """
    if not len(run_time):
        return run_time.copy(), 0
    longest = float(run_time.max()) / SECOND
    if largest is None:
        largest = max(math.ceil(longest / _HOUR), 1) * _HOUR
    if largest < max(longest, _HOUR):
        raise InputError("the largest estimate must be at least an hour, and no shorter than the longest run time; in "
                         "seconds", value=largest)  # fmt: skip
    times, counts = histogram(len(run_time), float(largest), seed)
    estimates = np.repeat(times, counts)[::-1].copy()
    order = np.argsort(-run_time, kind="stable")
    runs = run_time[order] / SECOND
    short = estimates < runs
    estimates[short] = largest
    estimates = np.sort(estimates)[::-1]
    chosen = _hand_out(runs, estimates, stream(seed, "tsafrir.assign"))
    result = np.empty(len(run_time), np.int64)
    result[order] = np.rint(chosen * SECOND).astype(np.int64)
    return result, int(np.count_nonzero(short))


def histogram(jobs: int, largest: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The different estimates in seconds, ascending, and how many of `jobs` jobs have each."""
    jobs_at, number_at = zip(*NUMBER, strict=True)
    number = max(round(float(np.interp(jobs, jobs_at, number_at))), 1)
    head = head_times(largest)
    sizes = dict(zip(head, _head_sizes(head, stream(seed, "tsafrir.head")), strict=True))
    tail = _tail_times(number, largest, set(head), max(number - len(head), 0))
    if tail:
        ranks = np.arange(HEAD + 1, HEAD + 1 + len(tail), dtype=np.float64) ** TAIL_SIZE
        percents = stream(seed, "tsafrir.tail").permutation(ranks / ranks.sum() * (100 - HEAD_PERCENT))
        sizes |= dict(zip(tail, percents.tolist(), strict=True))
    times = np.array(sorted(sizes))
    share = np.array([sizes[time] for time in times])
    return times, _apportion(share, jobs)


def head_times(largest: float) -> list[float]:
    """The popular estimates: the largest, then the common ones below it and round ones, ascending."""
    chosen: list[float] = [float(time) for time in _COMMON if time < largest][: HEAD - 1]
    for step in _ROUND:
        time = largest // step * step
        while time > 0 and len(chosen) < HEAD - 1:
            if time < largest and time not in chosen:
                chosen.append(float(time))
            time -= step
    return [float(largest), *sorted(chosen)]


def head_percents(count: int = HEAD) -> list[float]:
    """Percent of the jobs at each popularity rank of the head, the most popular first."""
    a, b, c = HEAD_SIZE
    rest = [a * math.exp(b * rank) + c for rank in range(2, count + 1)]
    return [HEAD_PERCENT - sum(rest), *rest]


def _head_sizes(head: list[float], random: np.random.Generator) -> list[float]:
    """A percentage for each head time: popularity by place, as it was in the four logs, with some chance.

    Ranks become available at the first place at which a log has them, and have to be taken at the last one.
    """
    percents = head_percents(len(head))
    last = {rank: max(log.index(rank) for log in _RANKS) for rank in range(1, HEAD + 1)}
    open_ranks: list[int] = []
    free = set(range(1, len(head) + 1))
    sizes = []
    for index in range(len(head)):
        open_ranks += [log[index] for log in _RANKS]
        open_ranks = [rank for rank in open_ranks if rank in free]
        due = sorted(rank for rank in free if last[rank] <= index)
        if index == 0:
            rank = 1
        elif due:
            rank = due[0]
        elif open_ranks:
            rank = min(open_ranks[int(at)] for at in random.integers(len(open_ranks), size=2))
        else:
            rank = min(free)
        free.discard(rank)
        sizes.append(percents[rank - 1])
    return sizes


def _tail_times(number: int, largest: float, taken: set[float], count: int) -> list[float]:
    """The rare estimates: on whole minutes, a few seconds off where that is taken already."""
    a = 1 + TAIL_TIME[0] * number ** TAIL_TIME[1]
    found: list[float] = []
    for index in range(1, count + 1):
        x = index / count
        whole = round((a - 1) * x / (a - x) * largest / _MINUTE) * _MINUTE
        time = next((whole + nudge for nudge in _NUDGES if 0 < whole + nudge < largest
                     and float(whole + nudge) not in taken), None)  # fmt: skip
        if time is not None:
            taken.add(float(time))
            found.append(float(time))
    return found


def _apportion(share: np.ndarray, jobs: int) -> np.ndarray:
    """Whole numbers in proportion to the shares that add up to `jobs` (largest remainders)."""
    exact = share / share.sum() * jobs
    counts = np.floor(exact).astype(np.int64)
    more = np.argsort(counts - exact, kind="stable")[: jobs - int(counts.sum())]
    counts[more] += 1
    return np.asarray(counts)


def _hand_out(runs: np.ndarray, estimates: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Estimates for run times, both descending: each job takes one at random of those left that are long enough."""
    left = estimates.tolist()
    reach = (len(left) - np.searchsorted(estimates[::-1], runs, side="left") - 1).tolist()
    draws = random.random(len(left)).tolist()
    for index, (end, draw) in enumerate(zip(reach, draws, strict=True)):
        pick = index + int(draw * (end - index + 1))
        left[index], left[pick] = left[pick], left[index]
    return np.array(left)
