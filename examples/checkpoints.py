"""How often should jobs write checkpoints, on nodes that fail? The best interval lies near Young's and Daly's formulas.

python examples/checkpoints.py
"""

from __future__ import annotations

import math

import numpy as np

import walltime
from walltime import Workload

NODES, HOURS, JOBS = 64, 48.0, 60
MEAN, COST, RESTART = 2.0, 0.1, 0.05
"""Hours between the failures of a job's nodes together, to write a checkpoint, and to go on from one."""
INTERVALS = (0.15, 0.3, 0.6, 1.2, 2.4)


def run(interval: float, seed: int) -> float:
    """The part of the jobs' time on the nodes that was their work."""
    hour = 3600.0
    jobs = Workload.from_columns(
        submit=np.zeros(JOBS),
        run_time=np.full(JOBS, HOURS * hour),
        requested_time=np.full(JOBS, 20 * HOURS * hour),
        cores=np.full(JOBS, NODES),
        nodes=np.full(JOBS, NODES),
    )
    scenario = {
        "seed": seed,
        "workload": jobs,
        "cluster": {
            "nodes": f"{NODES}x1",
            "failures": [{"between": {"mean": MEAN * NODES * hour}, "repair": 1.0}],
            "interrupted": "checkpoint",
            "scheduler": {"backfill": "none"},
        },
        "execution": {"checkpoint": {"interval": interval * hour, "cost": COST * hour, "restart": RESTART * hour}},
    }
    result = walltime.simulate(scenario)
    if violations := result.audit():
        raise SystemExit(f"interval {interval} h: {violations[0]}")
    held = result.allocations["end"] - result.allocations["start"]
    return result.jobs["run_time"].sum() / held.sum()


def expected(interval: float) -> float:
    """The same by Daly's model: exponential failures, and a restart after each."""
    cycle = MEAN * math.exp(RESTART / MEAN) * (math.exp((interval + COST) / MEAN) - 1)
    return interval / cycle


def main() -> None:
    young = math.sqrt(2 * COST * MEAN)
    daly = young * (1 + math.sqrt(COST / (2 * MEAN)) / 3 + COST / (18 * MEAN)) - COST
    print(f"mean time between failures {MEAN:g} h, a checkpoint takes {COST:g} h")
    print(f"{'interval':>9}{'simulated':>11}{'by formula':>12}")
    for interval in sorted({*INTERVALS, round(daly, 2)}):
        efficiency = np.mean([run(interval, seed) for seed in range(3)])
        print(f"{interval:>7.2f} h{efficiency:>11.1%}{expected(interval):>12.1%}")
    print(f"best: {young:.2f} h by Young's formula, {daly:.2f} h by Daly's")


if __name__ == "__main__":
    main()
