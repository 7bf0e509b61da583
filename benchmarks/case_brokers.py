"""A hundred clusters of a hundred nodes under a global scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, at_most
from benchmarks.setting import Setting
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import parse
from walltime.workload.generate import Model, generate

CASE = "brokers"
CLUSTERS, NODES, JOBS = 100, 100, 100_000


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds for 100,000 jobs by broker, at a load of 0.9 and above capacity."""
    jobs = grid_jobs(setting.jobs // 10, 0.9)
    scale = JOBS / len(jobs)
    yield seconds(setting, jobs, "least-loaded", "least loaded", at_most(5), scale)
    yield seconds(setting, jobs, "earliest-start", "earliest start", at_most(60), scale)
    crowd = grid_jobs(setting.jobs // 10, 1.5)
    yield seconds(setting, crowd, "earliest-start", "earliest start, load 1.5", at_most(60), scale)
    held = {"name": "least-loaded", "hold": True}
    yield seconds(setting, crowd, held, "least loaded, held globally, load 1.5", at_most(5), scale)
    moving = {"name": "round-robin", "migrate": {"every": "1h", "gain": "10m"}}
    yield seconds(setting, jobs, moving, "round robin with migration every hour", None, scale)


def grid_jobs(count: int, load: float) -> Workload:
    """Jobs for a hundred machines of a hundred cores: those of one, a hundred times as fast."""
    workload = generate(count, NODES, load, 1, Model())
    columns = dict(workload.columns) | {"submit": np.sort(workload.column("submit") // CLUSTERS)}
    return Workload(columns, workload.labels)


def seconds(setting: Setting, jobs: Workload, broker: Any, what: str, bound: Any, scale: float) -> Figure:
    """CPU seconds, scaled to the full number of jobs."""
    clusters = [{"name": f"c{number}", "nodes": f"{NODES}x1"} for number in range(CLUSTERS)]
    scenario = parse({"workload": {"table": jobs}, "clusters": clusters, "broker": broker})
    timing, _ = setting.time(lambda: scenario, partial(native.run, workload=jobs))
    name = f"{CLUSTERS} clusters of {NODES} nodes, {JOBS:,} jobs: {what}"
    return Figure(CASE, name, timing.median * scale, timing.best * scale, "CPU s", bound, None, setting.repeats)
