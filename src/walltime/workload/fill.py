"""The fill phase: small staggered jobs that leave a wanted backlog of waiting work when they have done their part.

A backlog is core-hours waiting / cores of the machine: the hours that the whole machine would need for it. The jobs are
narrow, so that others fit into the gaps that they leave, and end one after another (ScSF, section 3.4 and Fig. 11).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from walltime.core.time import SECOND
from walltime.workload.models.sample import Sample, between, join
from walltime.workload.pressure import settle

_PARALLEL = 100  # fill jobs side by side, where the machine is large enough
_SHORTEST, _LONGEST = 900.0, 6 * 3600.0
_ROUNDS = 20
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


def find_fill(wanted: float, measure: Callable[[float], float]) -> float:
    """How many hours of fill leave the wanted backlog, or the least that leave more.

    `measure` tells the backlog that an amount of fill leaves; it grows with it, but by jumps, when a wide job has to
    wait. Steps by what is missing come close; then the gap between the nearest below and above is halved.
    """
    tried: dict[float, float] = {}
    amount, step = wanted, wanted
    for _ in range(_ROUNDS):
        if amount in tried:
            break
        tried[amount] = measure(amount)
        if abs(tried[amount] - wanted) <= _CLOSE * wanted:
            return amount
        below = [a for a, found in tried.items() if found < wanted]
        above = [a for a, found in tried.items() if found >= wanted]
        if below and above and max(below) < min(above):
            amount = (max(below) + min(above)) / 2
        elif below:
            step = max(wanted - tried[amount], step * 1.4)
            amount += step
        else:
            amount = max(0.0, amount - max(tried[amount] - wanted, 0.1 * wanted))
    above = [a for a, found in tried.items() if found >= wanted]
    return min(above, key=lambda a: (tried[a], a)) if above else max(tried, key=tried.__getitem__)


@dataclass
class Backlog:
    """A wanted backlog in hours on a machine of so many cores, at the end of `length` seconds of ordinary jobs."""

    wanted: float
    cores: int
    length: float
    interval: float
    random: np.random.Generator

    def make(self, jobs: Sample) -> tuple[Sample, Sample, float]:
        """The fill, the ordinary jobs with a few more or less, and the hours of work that then wait under FCFS.

        Behind the first waiting job nothing has started, so what is added or dropped there changes the backlog by just
        its work. A first waiting job that is itself more than the backlog is dropped, and the rest looked at again.
        """
        hours = self._find(jobs)
        for _ in range(_ROUNDS):
            first, fixed, reached = self.measure(hours, jobs)
            if abs(reached - self.wanted) <= _CLOSE * self.wanted:
                break
            if fixed > self.wanted * (1 + _CLOSE) and first < len(jobs):
                jobs = jobs.take(np.delete(np.arange(len(jobs)), first))
                hours = self._find(jobs)
            elif reached > 0:
                jobs = self._settle(jobs, first, fixed)
            else:
                break
        return fill_jobs(hours, self.cores, self.interval), jobs, self.measure(hours, jobs)[2]

    def _find(self, jobs: Sample) -> float:
        return find_fill(self.wanted, lambda amount: self.measure(amount, jobs)[2])

    def measure(self, hours: float, jobs: Sample) -> tuple[int, float, float]:
        """With so much fill: the first ordinary job that waits, the hours that cannot be changed, and all that wait."""
        fill = fill_jobs(hours, self.cores, self.interval)
        offset = fill_length(fill, self.interval)
        early = int(np.searchsorted(jobs.columns["submit"], self.length * SECOND, side="right"))
        submit = np.concatenate([fill.columns["submit"] / SECOND, jobs.columns["submit"][:early] / SECOND + offset])
        cores = np.concatenate([fill.columns["cores"], jobs.columns["cores"][:early]])
        run = np.concatenate([fill.used(), jobs.used()[:early]])
        first = first_waiting(submit, cores, run, self.cores, offset + self.length)
        work = cores[first:] * run[first:] / self.cores / 3600
        head = max(1, len(fill) - first)  # fill jobs stay, and so does the job at the head
        return max(first - len(fill), 0), float(work[:head].sum()), float(work.sum())

    def _settle(self, jobs: Sample, first: int, fixed: float) -> Sample:
        """Drops or adds jobs behind the head of the queue."""
        early = int(np.searchsorted(jobs.columns["submit"], self.length * SECOND, side="right"))
        behind = np.arange(min(first + 1, early), early)
        others = jobs.take(self.random.permutation(early))
        work = jobs.columns["cores"] * jobs.used()
        target = max(self.wanted - fixed, 0.0) * self.cores * 3600
        drop, add = settle(work[behind], target, others.columns["cores"] * others.used(), self.random)
        more = others.take(add)
        if len(add):
            last = max(early - 1, 0)
            rows = self.random.integers(min(first, last), last + 1, len(add))
            more.columns["submit"] = np.minimum(
                between(self.random, jobs.columns["submit"], rows), round(self.length * SECOND)
            )
            more.columns["submit"] = np.maximum(more.columns["submit"], jobs.columns["submit"][min(first, last)])
        return join([jobs.take(np.delete(np.arange(len(jobs)), behind[drop])), more])


def fill_length(fill: Sample, interval: float) -> float:
    """Seconds before the ordinary jobs in which fill jobs are submitted: whole minutes."""
    return float(-(-len(fill) * interval // 60) * 60)
