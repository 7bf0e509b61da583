"""The steady state of a system, from one long run or from several: means with intervals that can be trusted.

The jobs of one run are not independent: a job behind a long one waits, and so do those behind it. An interval over
jobs is therefore far too narrow. Here an interval is over *samples* that are (nearly) independent: whole runs, windows
of a long run that are separated by others in which nothing is sampled, or long batches of jobs. A job counts when it
ends. Law, "Simulation modeling and analysis", chapter 9; White, "An effective truncation heuristic for bias
reduction in simulation output", Simulation 69(6), 1997, for the settling time where none is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from walltime.analysis.statistics import student_quantile
from walltime.core.errors import InputError
from walltime.core.tables import Record

BOUND = 10.0  # seconds: a shorter run counts as so long in a bounded slowdown
ENOUGH = 10  # samples, below which an interval is a guess
WIDE = 0.10  # of the mean: a wider interval is warned of

MEASURES: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "response": lambda jobs: jobs["end"] - jobs["submit"],
    "wait": lambda jobs: jobs["wait"],
    "run": lambda jobs: jobs["run_time"],
    "slowdown": lambda jobs: (jobs["end"] - jobs["submit"]) / jobs["run_time"].clip(lower_bound=BOUND),
}
"""What can be estimated of the jobs; `slowdown` is bounded."""


@dataclass(frozen=True)
class Steady:
    """A mean with its interval, and whether to believe it."""

    measure: str
    mean: float
    half_width: float
    confidence: float
    samples: int
    jobs: int
    method: str
    settled: float
    """When sampling began, in seconds."""
    warnings: tuple[str, ...]

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width


@dataclass(frozen=True)
class Throughput:
    """What a system gets done in a fixed time."""

    start: float
    length: float
    jobs: int
    core_seconds: float

    @property
    def jobs_per_hour(self) -> float:
        return self.jobs / self.length * 3600

    @property
    def cores(self) -> float:
        """Work done a second: the cores that were kept busy in the mean."""
        return self.core_seconds / self.length


def find_steady(
    records: Sequence[Record],
    measure: str = "response",
    *,
    settle: float | None = None,
    sample: float | None = None,
    separate: float | None = None,
    batches: int = 20,
    confidence: float = 0.95,
) -> Steady:
    """The mean of a measure in steady state.

    Of several records each is one sample: they must be runs of one scenario with different seeds. Of a single one, the
    windows of `sample` seconds are samples, with `separate` seconds (by default as many as `settle`) between them; or,
    without `sample`, `batches` batches of equally many jobs. Nothing is sampled in the first `settle` seconds after the
    first submission; where that is not given it is found by White's rule.
    """
    _check(records, measure, settle, sample, separate, batches, confidence)
    runs = [_observe(record, measure) for record in records]
    begin = [_settling(run, settle) for run in runs]
    warnings: list[str] = []
    kept = [(times[times >= first], values[times >= first]) for (times, values), first in zip(runs, begin, strict=True)]
    if sample is not None:
        gap = separate if separate is not None else (settle or 0.0)
        means = [mean for run, first in zip(kept, begin, strict=True) for mean in _windows(run, first, sample, gap)]
        method = "windows" if len(records) == 1 else f"windows of {len(records)} runs"
    elif len(records) > 1:
        means, method = [float(values.mean()) for _, values in kept if len(values)], "replications"
    else:
        means, method = _batch(kept[0][1], batches), "batch means"
    if len(means) < 2:
        raise InputError("too few samples for an interval: a longer run, or shorter windows", value=len(means))
    samples = np.array(means)
    mean = float(samples.mean())
    quantile = student_quantile((1 + confidence) / 2, len(means) - 1)
    half = quantile * float(samples.std(ddof=1)) / math.sqrt(len(means))
    for (times, _), first in zip(runs, begin, strict=True):
        if settle is None and first > times[0] + 0.5 * (times[-1] - times[0]):
            warnings.append(
                "no settled state is to be seen in the first half of the run: it is too short, or overloaded"
            )
            break
    warnings += _judge(samples, mean, half, method)
    jobs = sum(len(values) for _, values in kept)
    return Steady(measure, mean, half, confidence, len(means), jobs, method, max(begin), tuple(warnings))


def find_throughput(record: Record, work: np.ndarray, start: float, length: float) -> Throughput:
    """The jobs that ended in so many seconds from `start`, and their work; `work` is that of each job, in seconds of
    one core."""
    if length <= 0:
        raise InputError("the time in which to count is not longer than zero", value=length)
    end = record.jobs["end"].to_numpy()
    done = (record.jobs["state"] == "completed").to_numpy() & (end > start) & (end <= start + length)
    return Throughput(start, length, int(done.sum()), float(work[done].sum()))


def _check(
    records: Sequence[Record],
    measure: str,
    settle: float | None,
    sample: float | None,
    separate: float | None,
    batches: int,
    confidence: float,
) -> None:
    if measure not in MEASURES:
        raise InputError("unknown measure", value=measure, choices=MEASURES)
    if not records:
        raise InputError("no result to analyse")
    for name, value in (("settle", settle), ("separate", separate)):
        if value is not None and not 0 <= value < math.inf:
            raise InputError(f"{name} must be a time, zero or longer", value=value)
    if sample is not None and not 0 < sample < math.inf:
        raise InputError("sample must be longer than zero", value=sample)
    if batches < 2:
        raise InputError("there must be at least 2 batches", value=batches)
    if not 0 < confidence < 1:
        raise InputError("the confidence must be between 0 and 1", value=confidence)


def _observe(record: Record, measure: str) -> tuple[np.ndarray, np.ndarray]:
    """When each completed job ended, in order, and its value; times count from the first submission."""
    jobs = record.jobs
    first = float(jobs["submit"].min() or 0.0) if jobs.height else 0.0  # type: ignore[arg-type]
    jobs = jobs.filter(jobs["state"] == "completed").sort("end", "job_id", maintain_order=True)
    if jobs.height < 4:
        raise InputError("too few completed jobs to analyse", value=jobs.height)
    return jobs["end"].to_numpy() - first, MEASURES[measure](jobs).to_numpy()


def _settling(run: tuple[np.ndarray, np.ndarray], settle: float | None) -> float:
    """The time from which on values count: the given one, or the one after which the rest varies least for its length
    (MSER on means of five jobs)."""
    times, values = run
    if settle is not None:
        if settle >= times[-1]:
            raise InputError("nothing is left of the run after settling", value=settle)
        return settle
    count = len(values) // 5
    if count < 4:
        return float(times[0])
    fives = values[: 5 * count].reshape(count, 5).mean(axis=1)
    left = count - np.arange(count - 2)
    sums = np.cumsum(fives[::-1])[::-1][: count - 2]
    squares = np.cumsum(fives[::-1] ** 2)[::-1][: count - 2]
    spread = (squares - sums**2 / left) / left.astype(float) ** 2
    return float(times[5 * int(np.argmin(spread[: max(1, int(0.75 * count))]))])


def _windows(run: tuple[np.ndarray, np.ndarray], first: float, sample: float, gap: float) -> list[float]:
    """The mean in each window in which something ended; the last window is one that the run covers whole."""
    times, values = run
    found, begin = [], first
    while len(times) and begin + sample <= times[-1]:
        inside = values[np.searchsorted(times, begin) : np.searchsorted(times, begin + sample)]
        if len(inside):
            found.append(float(inside.mean()))
        begin += sample + gap
    return found


def _batch(values: np.ndarray, batches: int) -> list[float]:
    """The means of batches of equally many jobs; the jobs that are too many are left out at the beginning."""
    size = len(values) // batches
    if size == 0:
        return []
    return [float(mean) for mean in values[len(values) - size * batches :].reshape(batches, size).mean(axis=1)]


def _judge(samples: np.ndarray, mean: float, half: float, method: str) -> list[str]:
    """Why not to believe the interval."""
    found, count = [], len(samples)
    if count < ENOUGH:
        found.append(f"only {count} samples: at least {ENOUGH} are wanted")
    if mean and half > WIDE * abs(mean):
        longer = math.ceil((half / (WIDE * abs(mean))) ** 2)
        found.append(f"too short: ± {half / abs(mean):.0%} of the mean; about {longer} times as long would give ± 10 %")
    if method == "replications" or count < 4 or not np.ptp(samples):
        return found
    shifted = samples - mean
    lag = float((shifted[:-1] * shifted[1:]).sum() / (shifted**2).sum())
    if lag > 1.645 / math.sqrt(count):
        found.append(f"too short: neighbouring samples are alike (correlation {lag:.2f}), the interval is too narrow")
    early, late = samples[: count // 2], samples[count // 2 :]
    noise = math.sqrt(early.var(ddof=1) / len(early) + late.var(ddof=1) / len(late))
    if noise and abs(late.mean() - early.mean()) > 3.5 * noise:
        change = late.mean() / early.mean() - 1 if early.mean() else math.inf
        found.append(f"not steady: the second half is {change:+.0%} against the first; an overloaded system never is")
    return found
