"""A million tasks on 4,000 hosts with cores and memory, one host each, as a data centre has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import run_through
from benchmarks.figures import Figure, at_most, per_item
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine.build import build_simulation
from walltime.policy import registry
from walltime.scenario import Part, parse

CASE = "hosts"
HOSTS = 4_000
CORES = 32
MEMORY = 128 * 1024  # megabytes
LOAD = 0.9
TARGET = at_most(15)


def measure(setting: Setting) -> Iterator[Figure]:
    """First come, first served: what a task costs by placement, and best fit over first fit; then EASY."""
    jobs = tasks(setting.jobs, LOAD)
    cost = {}
    for backfill, place in (("none", "first-fit"), ("none", "best-fit"), ("none", "worst-fit"), ("easy", "best-fit")):
        timing, simulation = setting.time(partial(build, jobs, place, backfill), run_through)
        queue = simulation.clusters[0].longest_queue
        what = f"{len(jobs):,} tasks, {backfill}, {place} (queue to {queue:,}): a task"
        cost[backfill, place] = per_item(CASE, what, len(jobs), timing, TARGET)
        yield cost[backfill, place]
    best, first = cost["none", "best-fit"], cost["none", "first-fit"]
    ratio = best.median / first.median
    yield Figure(CASE, "best-fit over first-fit", ratio, best.best / first.best, "x", at_most(2), None, first.repeats)


def tasks(count: int, load: float) -> Workload:
    """Tasks of 1 to 16 cores with memory of their own, from nearly none to half a host; the load is that of cores.

    Memory is lognormal a core, 2.5 GB in the median, in steps of a megabyte: nearly every task has a shape of its own.
    """
    draw = stream(1, "benchmark.hosts")
    cores = draw.choice([1, 2, 4, 8, 16], count, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    memory = np.clip(cores * draw.lognormal(np.log(2_500), 0.8, count), 64, MEMORY // 2).astype(np.int64)
    run = np.clip(draw.lognormal(np.log(1_200), 1.5, count), 1, 2 * 86_400).astype(np.int64)
    asked = np.ceil(run * (1 + draw.exponential(2.0, count)) / 300).astype(np.int64) * 300
    gaps = draw.exponential(float(np.mean(cores * run)) / (load * HOSTS * CORES), count)
    columns = {
        "submit": (np.cumsum(gaps) * SECOND).astype(np.int64),
        "run_time": run * SECOND,
        "requested_time": asked * SECOND,
        "cores": cores.astype(np.int64),
        "nodes": np.ones(count, np.int64),
        "memory": memory * 1024 * 1024,
    }
    return Workload(columns)


def build(workload: Workload, place: str, backfill: str, hosts: int = HOSTS) -> Any:
    """A simulation, ready to run."""
    execution = registry.build("execution", Part(name="trace"))
    group = {"count": hosts, "cores": CORES, "memory": f"{MEMORY} MiB"}
    cluster = {"nodes": [group], "scheduler": {"place": place, "backfill": backfill}}
    scenario = parse({"workload": {"table": workload}, "cluster": cluster}, [])
    return build_simulation(scenario, workload, [workload], {"execution": execution})[0]
