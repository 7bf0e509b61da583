"""A small synthetic workload model of our own, for demonstrations, tests and benchmarks.

It is not one of the published models and is fitted to no machine: it only has the traits that matter to a scheduler,
each from a plain distribution whose parameters are in `Model`. Use a trace, or a published model, for conclusions about
a real cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import LATEST, SECOND
from walltime.core.workload import Workload

_HOUR = 3600
_WEEK = 7 * 24
# Arrivals in each hour of a day, relative to each other: quiet nights, a dip at lunch, a long afternoon.
_DAY = (4, 3, 2, 2, 2, 2, 3, 5, 9, 13, 15, 15, 12, 14, 16, 16, 15, 13, 10, 8, 7, 6, 6, 5)
_WEEKEND = 0.45  # arrivals on Saturday and Sunday, relative to a working day
# What people ask for, in seconds: 5, 10, 15, 30 minutes, 1, 2, 3, 4, 6, 8, 12, 18 hours, 1, 2, 3, 5, 7, 14 days.
_HUMAN = np.array([300, 600, 900, 1800, *(h * 3600 for h in (1, 2, 3, 4, 6, 8, 12, 18, 24, 48, 72, 120, 168, 336))])


@dataclass(frozen=True)
class Model:
    """The model's parameters; shares are between 0 and 1, times in seconds."""

    users: int = 60
    users_per_group: int = 8
    popularity: float = 1.1
    """Exponent of Zipf's law: the n-th user submits in proportion to 1 / n^popularity."""
    median_run: float = 1200.0
    spread_run: float = 1.9
    """Standard deviation of the logarithm of the run time."""
    longest_run: float = 7 * 86_400.0
    serial: float = 0.3
    power_of_two: float = 0.8
    """Share of the parallel jobs whose cores are a power of two."""
    largest: float = 0.5
    """The largest job's share of the machine."""
    exact_request: float = 0.1
    killed: float = 0.05
    """Share of the jobs that ask for less than they would need."""
    rhythm: bool = True
    """Whether arrivals follow the hours of the day and the days of the week, or a plain Poisson process."""

    def __post_init__(self) -> None:
        for name in ("serial", "power_of_two", "exact_request", "killed", "largest"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"generate: {name} must be between 0 and 1", value=getattr(self, name))
        for name in ("users", "users_per_group"):
            if getattr(self, name) < 1:
                raise InputError(f"generate: {name} must be at least 1", value=getattr(self, name))
        for name in ("median_run", "longest_run"):
            if not 1 <= getattr(self, name) <= 366 * 86_400:
                raise InputError(f"generate: {name} must be between 1 second and a year", value=getattr(self, name))
        if not 0 <= self.spread_run <= 5:
            raise InputError("generate: spread_run must be between 0 and 5", value=self.spread_run)


def generate(jobs: int, cores: int, load: float, seed: int = 0, model: Model | None = None) -> Workload:
    """Synthetic jobs for a machine of `cores` cores; `load` is the submitted work over what it can do in their span.

    Arrivals follow a week's rhythm from a Monday, 0:00; run times are lognormal; cores are mostly powers of two;
    requests are too long by a random factor and rounded up to what people write, some exact, some too short; users
    follow Zipf's law; short requests go to the queue `short`. The same arguments give the same jobs.
    """
    _check(jobs, cores, load)
    model = model or Model()
    width = _draw_cores(jobs, cores, seed, model)
    run = _draw_run_times(jobs, seed, model)
    request = _draw_requests(run, seed, model)
    span = float(np.dot(width.astype(np.float64), run.astype(np.float64))) / SECOND / (cores * load)
    if span * SECOND > LATEST // 2:
        raise InputError(
            "generate: these jobs at this load span more time than fits; fewer jobs, or more cores or load"
        )
    user = _draw_users(jobs, seed, model)
    groups = -(-model.users // model.users_per_group)
    return Workload(
        {
            "job_id": np.arange(1, jobs + 1, dtype=np.int64),
            "submit": _draw_arrivals(jobs, span, seed, model),
            "run_time": run,
            "requested_time": request,
            "cores": width,
            "user": user,
            "group": (user // model.users_per_group).astype(np.int32),
            "queue": (request > 4 * _HOUR * SECOND).astype(np.int32),
        },
        labels={
            "user": [f"user{i + 1}" for i in range(model.users)],
            "group": [f"group{i + 1}" for i in range(groups)],
            "queue": ["short", "long"],
        },
        machine_cores=cores,
        notes={"lines": jobs, "skipped": {}, "overlong": int(np.count_nonzero(run > request)), "missing_request": 0},
        source=f"generated: {jobs} jobs, {cores} cores, load {load:g}, seed {seed}",
    )


def _check(jobs: int, cores: int, load: float) -> None:
    if jobs < 1:
        raise InputError("generate: jobs must be at least 1", value=jobs)
    if cores < 1:
        raise InputError("generate: cores must be at least 1", value=cores)
    if not 0 < load <= 100:
        raise InputError("generate: load must be above 0 (1.0 fills the machine) and at most 100", value=load)


def _draw_arrivals(jobs: int, span: float, seed: int, model: Model) -> np.ndarray:
    """Sorted submissions over exactly `span` seconds, the first at 0: a Poisson process bent to the rhythm of a week.

    Uniform draws are sent through the inverse of the cumulated weekly intensity; short spans see only their part of it.
    In whole seconds, as in logs, unless these are too coarse for the span.
    """
    unit = SECOND if span >= max(jobs, 1000) else 1
    draws = np.sort(stream(seed, "generate.arrivals").random(jobs))
    if jobs > 1:
        draws = (draws - draws[0]) / (draws[-1] - draws[0])
    else:
        draws[:] = 0.0
    if not model.rhythm:
        return np.rint(draws * span * SECOND / unit).astype(np.int64) * unit
    weekly = np.concatenate([np.tile(_DAY, 5), _WEEKEND * np.tile(_DAY, 2)])
    cumulated = np.concatenate([[0.0], np.cumsum(weekly)])
    weeks, hours = np.divmod(span / _HOUR, _WEEK)
    total = weeks * cumulated[-1] + np.interp(hours, np.arange(_WEEK + 1), cumulated)
    whole, rest = np.divmod(draws * total, cumulated[-1])
    times = (whole * _WEEK + np.interp(rest, cumulated, np.arange(_WEEK + 1))) * _HOUR
    return np.maximum.accumulate(np.rint(times * SECOND / unit).astype(np.int64) * unit)


def _draw_run_times(jobs: int, seed: int, model: Model) -> np.ndarray:
    """Whole seconds, lognormal, at least one and at most the longest."""
    normal = stream(seed, "generate.run_time").standard_normal(jobs)
    seconds = np.clip(np.rint(model.median_run * np.exp(model.spread_run * normal)), 1, model.longest_run)
    return seconds.astype(np.int64) * SECOND


def _draw_cores(jobs: int, cores: int, seed: int, model: Model) -> np.ndarray:
    """Serial jobs, and parallel ones whose logarithm is uniform up to the largest, mostly whole powers of two."""
    random = stream(seed, "generate.cores")
    largest = max(1, int(cores * model.largest))
    exponent = 1 + random.random(jobs) * max(0.0, np.log2(largest) - 1)
    parallel = np.exp2(exponent)
    power = random.random(jobs) < model.power_of_two
    parallel[power] = np.exp2(np.rint(exponent[power]))
    parallel = np.where(parallel > largest, parallel / 2, parallel)
    parallel[random.random(jobs) < model.serial] = 1
    return np.asarray(np.clip(np.rint(parallel), 1, largest), np.int64)


def _draw_requests(run: np.ndarray, seed: int, model: Model) -> np.ndarray:
    """Requests in microseconds: exact for some, too short for some, otherwise rounded up from run × a factor."""
    random = stream(seed, "generate.requested_time")
    kind = random.random(len(run))
    factor = 1 / (0.02 + 0.98 * random.random(len(run)))  # accuracy uniform: as often 10 % as 90 %
    seconds = run / SECOND
    index = np.searchsorted(_HUMAN, np.minimum(seconds * np.minimum(factor, 20), _HUMAN[-1]))
    request = np.maximum(_HUMAN[np.minimum(index, len(_HUMAN) - 1)], seconds)
    exact = kind < model.exact_request
    short = (kind >= model.exact_request) & (kind < model.exact_request + model.killed) & (seconds > 1)
    request[exact] = seconds[exact]
    request[short] = np.maximum(1, np.floor(seconds[short] * (0.5 + 0.45 * random.random(int(short.sum())))))
    return np.asarray(np.rint(request), np.int64) * SECOND


def _draw_users(jobs: int, seed: int, model: Model) -> np.ndarray:
    weights = 1.0 / np.arange(1, model.users + 1) ** model.popularity
    cumulated = np.cumsum(weights) / np.sum(weights)
    index = np.searchsorted(cumulated, stream(seed, "generate.user").random(jobs), side="right")
    return np.minimum(index, model.users - 1).astype(np.int32)
