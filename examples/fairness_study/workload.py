"""A workload for the study: three weeks of a high-throughput site that local users share with a grid.

python examples/fairness_study/workload.py jobs.parquet
"""

from __future__ import annotations

import sys

import numpy as np

from walltime import Workload
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.workload.formats import write

CORES = 3_000
DAYS = 21
DAY = 86_400
GRID = ("atlas", "cms", "lhcb", "alice")
"""Experiments that send jobs day and night, each through one account of a few."""
LOCAL = tuple(f"lab{number:02d}" for number in range(1, 13))
"""Groups of people who work by day."""
MEMBERS = 5


def make_jobs(load: float = 0.98, local_part: float = 0.3, seed: int = 5) -> Workload:
    """Grid jobs in an even stream; local ones in batches of tens or hundreds, in working hours."""
    random = stream(seed, "fairness_study")
    grid = _grid(random, load * (1 - local_part))
    local = _local(random, load * local_part)
    columns = {name: np.concatenate([grid[name], local[name]]) for name in grid}
    groups = [*GRID, *LOCAL]
    users = [f"{group}-{number}" for group in groups for number in range(1, MEMBERS + 1)]
    order = np.argsort(columns["submit"], kind="stable")
    kinds = np.where(columns["group"] < len(GRID), 0, 1)
    table = {name: values[order] for name, values in (columns | {"queue": kinds}).items()}
    for name in ("submit", "run_time", "requested_time"):
        table[name] = table[name].astype(np.int64) * SECOND
    for name in ("user", "group", "queue"):
        table[name] = table[name].astype(np.int32)
    return Workload(
        table, labels={"user": users, "group": groups, "queue": ["grid", "local"]}, source="the fairness study"
    )


def _grid(random: np.random.Generator, load: float) -> dict[str, np.ndarray]:
    """Pilots of one or eight cores that run for hours, as many as fill so much of the machine."""
    count = round(load * CORES * DAYS * DAY / (2.4 * 5.5 * 3600))
    cores = np.where(random.random(count) < 0.8, 1, 8)
    run = np.clip(random.lognormal(np.log(4.6 * 3600), 0.6, count), 300, 47 * 3600)
    group = random.choice(len(GRID), count, p=[0.45, 0.3, 0.15, 0.1])
    return {
        "submit": np.sort(random.random(count)) * DAYS * DAY,
        "run_time": run,
        "requested_time": np.full(count, 48 * 3600.0),
        "cores": cores,
        "group": group,
        "user": group * MEMBERS + random.integers(0, 2, count),
    }


def _local(random: np.random.Generator, load: float) -> dict[str, np.ndarray]:
    """Batches of equal jobs, on weekdays between nine and seven."""
    columns: dict[str, list[np.ndarray]] = {
        name: [] for name in ("submit", "run_time", "requested_time", "cores", "group", "user")
    }
    left = load * CORES * DAYS * DAY
    while left > 0:
        day = int(random.choice([day for day in range(DAYS) if day % 7 < 5]))
        size = int(np.clip(random.lognormal(np.log(60), 1.0), 5, 800))
        start = day * DAY + random.uniform(9, 19) * 3600
        member = int(len(LOCAL) * MEMBERS * random.random() ** 1.5)  # some have more to do than others
        run = np.clip(random.lognormal(np.log(random.uniform(0.3, 6) * 3600), 0.3, size), 60, 47 * 3600)
        cores = np.full(size, int(random.choice([1, 2, 4])))
        values = {
            "submit": start + np.sort(random.uniform(0, 600, size)),
            "run_time": run,
            "requested_time": np.full(size, np.ceil(run.max() / 3600) * 3600),
            "cores": cores,
            "group": np.full(size, len(GRID) + member // MEMBERS),
            "user": np.full(size, len(GRID) * MEMBERS + member),
        }
        for name, value in values.items():
            columns[name].append(value)
        left -= float((cores * run).sum())
    return {name: np.concatenate(values) for name, values in columns.items()}


if __name__ == "__main__":
    write(make_jobs(), sys.argv[1])
