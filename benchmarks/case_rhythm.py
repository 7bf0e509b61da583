"""A week of a machine like Edison in Slurm's rhythm: 5,576 whole nodes, a backfill pass every 30 seconds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, at_most
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import Scenario, parse

CASE = "rhythm"
NODES, CORES = 5_576, 24
JOBS = 25_000
WEEK = 7 * 86_400
PRIORITY = {"name": "formula", "value": "wait - cores / 24 * 60"}  # age, and small jobs an advantage of a minute a node
RHYTHM = {"name": "periodic", "bf_interval": 30, "bf_max_job_test": 50}


def measure(setting: Setting) -> Iterator[Figure]:
    """The week by age and size, by age alone, and where the time goes: the same without passes at intervals."""
    jobs = week_jobs()
    depth = {"name": "depth", "depth": 50}
    cases: dict[str, tuple[dict[str, Any], Any]] = {
        "age + small jobs, depth 50 every 30 s": ({"order": PRIORITY, "backfill": depth, "rhythm": RHYTHM}, at_most(3)),
        "age alone": ({"backfill": depth, "rhythm": RHYTHM}, None),
        "age + small jobs, no backfilling": ({"order": PRIORITY, "backfill": "none", "rhythm": RHYTHM}, None),
        "age + small jobs, EASY at every event": ({"order": PRIORITY, "backfill": "easy"}, None),
    }
    for what, (scheduler, target) in cases.items():
        timing, record = setting.time(partial(make, jobs, scheduler), partial(native.run, workload=jobs))
        wait = float(record.jobs["wait"].mean()) / 3600
        text = f"{what} (mean wait {wait:.1f} h, queue to {record.facts['longest_queue']:,})"
        yield Figure(CASE, text, timing.median, timing.best, "CPU s", target, None, setting.repeats)


def make(jobs: Workload, scheduler: dict[str, Any]) -> Scenario:
    cluster = {"nodes": f"{NODES}x{CORES}", "sharing": "whole", "scheduler": scheduler}
    return parse({"workload": {"table": jobs}, "cluster": cluster})


def week_jobs(jobs: int = JOBS, load: float = 1.03) -> Workload:
    """Mostly small jobs, a few over half the machine; limits in whole minutes; submissions by day and night alike."""
    draw = stream(1, "benchmark.rhythm")
    nodes = np.clip(np.round(draw.lognormal(1.6, 1.7, jobs)), 1, NODES // 2).astype(np.int64)
    asked = np.clip(draw.lognormal(8.6, 1.2, jobs), 60, 48 * 3600)
    run = asked * draw.beta(0.9, 1.2, jobs)
    run *= load * NODES * WEEK / float((nodes * run).sum())
    run = np.maximum(np.round(run), 1).astype(np.int64)
    minutes = np.maximum(np.ceil(asked / 60), np.ceil(run / 60)).astype(np.int64)
    return Workload(
        {
            "submit": np.sort(draw.integers(0, WEEK, jobs)) * SECOND,
            "run_time": run * SECOND,
            "requested_time": minutes * 60 * SECOND,
            "cores": nodes * CORES,
            "nodes": nodes,
            "user": draw.integers(0, 200, jobs).astype(np.int32),
        },
        {"user": [f"user{number}" for number in range(200)]},
    )
