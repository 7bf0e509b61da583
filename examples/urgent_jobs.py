"""Urgent jobs that may displace others: how soon do they start, and who pays for it?

python examples/urgent_jobs.py
"""

from __future__ import annotations

import numpy as np
import polars as pl

import walltime
from walltime import Workload
from walltime.core.random import stream
from walltime.core.time import format_duration
from walltime.workload.generate import generate

WAYS = {
    "no preemption": None,
    "requeue": {"mode": "requeue"},
    "requeue after 5 min": {"mode": "requeue", "grace": "5m"},
    "suspend": {"mode": "suspend"},
    "from checkpoints": {"mode": "checkpoint"},
}


def make_jobs(jobs: int = 3000, cores: int = 256) -> Workload:
    """Ordinary jobs, of which one in thirty is urgent."""
    made = generate(jobs, cores, 0.85, 5)
    urgent = stream(5, "urgent").random(jobs) < 1 / 30
    return made.replace(
        dict(made.columns) | {"queue": urgent.astype(np.int32)},
        labels=dict(made.labels) | {"queue": ["normal", "urgent"]},
    )


def main() -> None:
    jobs = make_jobs()
    print(f"{'':<22}{'mean wait, urgent':>18}{'normal':>10}{'displaced':>11}{'core-hours lost':>17}")
    for name, way in WAYS.items():
        scheduler = {} if way is None else {"preempt": {"name": "queue", **way}}
        scenario = {
            "workload": jobs,
            "cluster": {
                "nodes": "16x16",
                "queues": {"urgent": {"priority": 1}, "normal": {"default": True}},
                "scheduler": scheduler,
            },
            "execution": {"checkpoint": {"interval": "1h", "cost": "1m"}} if name == "from checkpoints" else {},
        }
        result = walltime.simulate(scenario, label=name)
        waits = dict(result.jobs.group_by("queue").agg(pl.col("wait").mean()).iter_rows())
        counts = result.summary["facts"]["disruptions"]
        displaced = counts.get("preemptions", 0) + counts.get("suspensions", 0)
        print(
            f"{name:<22}{format_duration(waits['urgent']):>18}{format_duration(waits['normal']):>10}{displaced:>11}"
            f"{result.summary['lost_core_seconds'] / 3600:>17,.0f}"
        )
        if violations := result.audit():
            raise SystemExit(f"{name}: {violations[0]}")


if __name__ == "__main__":
    main()
