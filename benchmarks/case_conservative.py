"""Conservative backfilling: every waiting job has a promise, and each early end moves some of them forward."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import find_starts, require_same, run_through
from benchmarks.figures import Figure, at_least, speed
from benchmarks.measuring import time_calls
from benchmarks.setting import Setting
from benchmarks.workloads import CORES, random_jobs
from twin import reference
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.execution.trace import TraceExecution
from walltime.kernel.plan import PlanLedger
from walltime.policies.backfill.conservative import Conservative
from walltime.policies.estimate.request import Request
from walltime.policies.order.fcfs import Fcfs

CASE = "conservative"
LOADS = (0.9, 1.0, 1.1)
TWIN_JOBS = 400  # the twin looks at every pair of jobs at every instant


def measure(setting: Setting) -> Iterator[Figure]:
    """`Simulation.run` with requests of 1 to 10 times the run time, at queues of some hundreds and beyond."""
    for load in LOADS:
        jobs = loosely_requested(setting.jobs * 6 // 100, load)
        timing, simulation = setting.time(partial(build, jobs), run_through)
        longest = simulation.clusters[0].longest_queue
        target = at_least(0.03) if 200 <= longest <= 1000 else None
        yield speed(CASE, f"load {load} (queue to {longest:,})", len(jobs), timing, target, compare_with_twin(jobs))


def loosely_requested(size: int, load: float) -> Workload:
    """Random jobs whose requests are uniformly 1 to 10 times their run times."""
    jobs = random_jobs(size, load)
    factor = stream(1, "request").uniform(1, 10, len(jobs))
    requested = (jobs.columns["run_time"] * factor).astype(np.int64)
    return jobs.replace(jobs.columns | {"requested_time": requested})


def build(workload: Workload) -> Any:
    """A simulation of the jobs on the 33,000 cores, ready to run."""
    simulation: Any = make_simulation(Arrivals([workload]), TraceExecution())
    simulation.add_cluster("cluster", PlanLedger(simulation.jobs, CORES), Fcfs(), Request(), Conservative())
    return simulation


def compare_with_twin(workload: Workload) -> float:
    """How many times faster the engine is than its twin on the first jobs, submitted all but at once."""
    sample = workload.select(np.arange(TWIN_JOBS))
    sample = sample.replace(sample.columns | {"submit": sample.columns["submit"] // 50})
    slow, outcomes = time_calls(lambda: sample, lambda jobs: reference.simulate(jobs, CORES, "conservative"), 1)
    fast, simulation = time_calls(lambda: build(sample), run_through, 5)
    expected = [-1 if outcome.start is None else outcome.start for outcome in outcomes]
    require_same(find_starts(simulation), np.array(expected), "conservative: the engine and its twin")
    return slow.median / fast.median
