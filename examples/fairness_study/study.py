"""Local users wait longer than the grid: do other quotas help, or fair share, or both?

python examples/fairness_study/study.py [PICTURE.png]
"""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
from workload import CORES, GRID, LOCAL, make_jobs

import walltime
from walltime.core.time import format_duration

TIGHT = {"per": "group", "running_cores": CORES // 12}
"""Before: every local group may have a twelfth of the machine, and the grid's share is not limited."""
BALANCED = [
    {"queue": "grid", "running_cores": CORES * 7 // 10},
    {"per": "group", "queue": "local", "running_cores": CORES // 5},
]
"""After: the grid may have seven tenths in all, and a local group up to a fifth."""
SHARES = {**dict.fromkeys(GRID, 70 / len(GRID)), **dict.fromkeys(LOCAL, 30 / len(LOCAL))}
"""What is due to each group: seven tenths to the grid, the rest to the others."""

SETUPS: dict[str, dict[str, Any]] = {
    "tight quotas": {"limits": [{**TIGHT, "queue": "local"}]},
    "balanced quotas": {"limits": BALANCED},
    "fair share": {"limits": [{**TIGHT, "queue": "local"}], "fair": True},
    "fair share, balanced quotas": {"limits": BALANCED, "fair": True},
    "fair share, no quotas": {"limits": [], "fair": True},
}


def main(picture: str | None = None) -> None:
    jobs = make_jobs()
    results = []
    print(f"{len(jobs):,} jobs on {CORES:,} cores\n")
    print(f"{'':<29}{'mean wait':>20}{'95 % wait':>22}{'local /':>10}")
    print(f"{'':<29}{'local':>11}{'grid':>11}{'local':>10}{'grid':>10}{'grid':>10}{'used':>8}")
    for name, setup in SETUPS.items():
        result = simulate(jobs, name, setup)
        if violations := result.audit():
            raise SystemExit(f"{name}: {violations[0]}")
        print(describe(result))
        results.append(result)
    if picture is not None:
        walltime.plot("boxes", *results, of="wait", by="queue").save(picture, force=True)


def simulate(jobs: walltime.Workload, name: str, setup: dict[str, Any]) -> walltime.Result:
    """The three weeks under one of the setups."""
    fair = {"name": "fairshare", "by": "group", "interval": "1m"}
    cluster = {
        "cores": CORES,
        "queues": {"grid": {}, "local": {}},
        "limits": setup["limits"],
        "shares": SHARES,
        "scheduler": {"order": fair if setup.get("fair") else "fcfs", "backfill": "aggressive"},
    }
    return walltime.simulate({"workload": jobs, "cluster": cluster}, label=name)


def describe(result: walltime.Result) -> str:
    """A line of the table: waits of local and of grid jobs."""
    waits = {name[0]: rows["wait"] for name, rows in result.jobs.group_by(pl.col("queue").cast(pl.String))}
    local, grid = waits["local"], waits["grid"]
    cells = [format_duration(value) for value in (local.mean(), grid.mean(), local.quantile(0.95), grid.quantile(0.95))]
    ratio = local.mean() / grid.mean()
    used = result.summary["utilization_window"]
    return f"{result.label:<29}{cells[0]:>11}{cells[1]:>11}{cells[2]:>10}{cells[3]:>10}{ratio:>10.2f}{used:>8.1%}"


if __name__ == "__main__":
    main(*sys.argv[1:2])
