"""The jobs that the benchmarks run: our own, the same in every run, in whole seconds as a trace has them."""

from __future__ import annotations

import functools

import numpy as np

from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload

CORES = 33_000
POOL = 1_024
"""Cores of the smaller machine, on which jobs pile up."""
LARGEST = 11  # the exponent of the widest power of two
LONGEST = 2 * 86_400
FREE = 5_000
"""Cores that the wall of `mixed_queue` leaves."""
FILLED = 100
"""The second at which the queue of `mixed_queue` stands and the index has been used."""
TICK = 10


@functools.lru_cache(maxsize=4)
def random_jobs(jobs: int, load: float, people: bool = False) -> Workload:
    """Jobs whose work is `load` times what 33,000 cores can do while they arrive, as a Poisson process.

    Cores: powers of two whose exponents are geometric, a quarter of them spread to any number around. Run times:
    lognormal, median 1,800 s, sigma 1.5, from 1 second to 2 days. Requests: too long by 1 + Exp(2), rounded up to
    five minutes; a tenth is exact. `people` adds what a trace also has: users, groups, queues and recorded waits.
    """
    draw = stream(1, "benchmark")
    exponent = np.minimum(draw.geometric(0.4, jobs) - 1, LARGEST)
    cores = 2.0**exponent
    spread = np.where(draw.random(jobs) < 0.25, draw.uniform(0.5, 1.5, jobs), 1.0)
    cores = np.maximum(cores * spread, 1).astype(np.int64)
    run = np.clip(draw.lognormal(np.log(1800), 1.5, jobs), 1, LONGEST).astype(np.int64)
    asked = np.ceil(run * (1 + draw.exponential(2.0, jobs)) / 300) * 300
    asked = np.where(draw.random(jobs) < 0.1, run, asked).astype(np.int64)
    gaps = draw.exponential(float(np.mean(cores * run)) / (load * CORES), jobs)
    columns = {
        "submit": np.cumsum(gaps).astype(np.int64) * SECOND,
        "run_time": run * SECOND,
        "requested_time": asked * SECOND,
        "cores": cores,
    }
    labels = {}
    if people:
        columns["recorded_wait"] = draw.exponential(600, jobs).astype(np.int64) * SECOND
        for name, count in (("user", 900), ("group", 90), ("queue", 12)):
            columns[name] = np.minimum(draw.geometric(5 / count, jobs) - 1, count - 1).astype(np.int32)
            labels[name] = [str(number) for number in range(1, count + 1)]
    return Workload(columns, labels, machine_cores=CORES)


def mixed_queue(waiting: int, late: int) -> Workload:
    """A queue of `waiting` jobs none of which can start, and `late` jobs behind them, ten seconds apart, that can.

    A wall takes all but 5,000 cores for a long time, and the head of the queue wants the whole machine. Of the others
    one half is small enough but lasts longer than the wall, the other half is short enough but too wide, all mixed,
    with thousands of different core counts. Each of the late jobs arrives while the one before it runs, waits for
    its end, and is then the only one that may start.
    """
    draw = stream(1, "benchmark.mixed")
    small = draw.random(waiting - 1) < 0.5
    cores = np.where(small, draw.integers(1, FREE + 1, waiting - 1), draw.integers(FREE + 1, CORES, waiting - 1))
    asked = np.where(small, 2 * 10**7, draw.integers(300, 3600, waiting - 1))
    arrival = FILLED - TICK // 2 + TICK * np.arange(late)
    wide = draw.integers(FREE // 2 + 1, FREE + 1, late)
    columns = {
        "submit": np.concatenate(([0, 1], np.full(waiting - 1, 1), arrival)) * SECOND,
        "cores": np.concatenate(([CORES - FREE, CORES], cores, wide)).astype(np.int64),
        "requested_time": np.concatenate(([10**7, 1000], asked, np.full(late, TICK))).astype(np.int64) * SECOND,
    }
    columns["run_time"] = columns["requested_time"].copy()
    return Workload(columns, machine_cores=CORES)


def backlog(jobs: int, waiting: int, load: float) -> Workload:
    """Jobs for 1,024 cores of which the first `waiting` are there at once, and the others come at `load` times what
    the cores can do. Sizes and run times as of `random_jobs`, up to 512 cores; requests of 1 to 10 times the run time,
    in whole minutes."""
    draw = stream(1, "benchmark.backlog")
    cores = 2.0 ** np.minimum(draw.geometric(0.3, jobs) - 1, 9)
    cores = np.where(draw.random(jobs) < 0.25, cores * draw.uniform(0.5, 1.5, jobs), cores)
    cores = np.maximum(cores, 1).astype(np.int64)
    run = np.clip(draw.lognormal(np.log(1800), 1.5, jobs), 1, LONGEST).astype(np.int64)
    asked = np.maximum(np.ceil(run * draw.uniform(1, 10, jobs) / 60) * 60, run).astype(np.int64)
    gaps = draw.exponential(float(np.mean(cores * run)) / (load * POOL), jobs)
    gaps[:waiting] = 0
    columns = {
        "submit": np.cumsum(gaps).astype(np.int64) * SECOND,
        "run_time": run * SECOND,
        "requested_time": asked * SECOND,
        "cores": cores,
    }
    return Workload(columns, machine_cores=POOL)
