"""A stable wait on a machine like Edison: fill and pressure tuned once on the baseline, then frozen for every cell.

The set-up of G. Rodrigo et al., ScSF: a scheduling simulation framework (JSSPP 2017, section 4): 5,576 nodes of 24
cores, backfilling with a depth of 50 every 30 s, a priority of age and small size, a day of stabilization and seven of
experiment, and a median wait of about four hours. The jobs are not NERSC's, whose log is not public: many small ones
and a few of up to 128 nodes, with limits of ten minutes to half a day.

    python examples/edison.py              # the machine itself, about a minute
    python examples/edison.py --nodes 128  # a small one
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import walltime
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.tuning import hourly_medians, tune_workload
from walltime.workload.models.sample import Sample
from walltime.workload.synthesis import synthesize
from walltime.workload.synthesis.workflow_mix import Mix
from walltime.workload.workflow import Task, Workflow

CORES = 24
SIZES = {1: 34, 2: 14, 4: 13, 8: 12, 16: 11, 32: 8, 64: 5, 128: 3}
"""Nodes, and how often."""
LIMITS = {10: 14, 30: 30, 60: 16, 120: 14, 240: 12, 360: 9, 720: 5}
"""Minutes that are asked for, and how often."""


class EdisonLike:
    """Jobs that arrive at random, each variable by itself, as in ScSF's model; the widest a fortieth of the machine."""

    title = "jobs like Edison's"
    jobs_per_day = 9000.0

    def clock(self, days: int) -> np.ndarray:
        return np.ones(days * 24)

    def draw(self, jobs: int, span: float, cores: int, seed: int, name: str) -> Sample:
        nodes = np.minimum(pick(SIZES, jobs, seed, f"{name}.nodes"), max(1, cores // CORES // 40))
        limit = pick(LIMITS, jobs, seed, f"{name}.limit") * 60
        accuracy = np.clip(stream(seed, f"{name}.accuracy").beta(0.7, 1.0, jobs), 0.005, 1.0)
        gaps = stream(seed, f"{name}.gap").exponential(1.0, jobs + 1)
        times = np.cumsum(gaps)[:-1] / gaps.sum() * span
        return Sample(
            {
                "submit": np.floor(times).astype(np.int64) * SECOND,
                "cores": nodes * CORES,
                "run_time": np.maximum(np.rint(limit * accuracy), 1).astype(np.int64) * SECOND,
                "requested_time": limit.astype(np.int64) * SECOND,
            }
        )


def pick(table: dict[int, int], jobs: int, seed: int, name: str) -> np.ndarray:
    weights = np.array(list(table.values()), np.float64)
    return stream(seed, name).choice(list(table), jobs, p=weights / weights.sum())


def machine(nodes: int) -> dict:
    """The scenario of the machine, without its jobs."""
    return {
        "cluster": {
            "nodes": f"{nodes}x{CORES}",
            "sharing": "whole",
            "scheduler": {
                "order": {"name": "multifactor", "weights": {"age": 1000, "job_size": 300}, "favor_small": True},
                "backfill": "conservative",
                "rhythm": {"name": "periodic", "bf_interval": 30, "bf_max_job_test": 50},
            },
        }
    }


def show(label: str, medians: np.ndarray) -> None:
    hours = medians / 3600
    print(f"\n{label}: hourly median wait {np.nanmin(hours):.1f} to {np.nanmax(hours):.1f} h, day by day:")
    for day in range(0, len(hours), 24):
        print("  " + " ".join(f"{hour:4.1f}" for hour in hours[day : day + 24]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5576)
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--seed", default="edison")
    options = parser.parse_args()
    scenario = machine(options.nodes)
    tuned = tune_workload(EdisonLike(), scenario, days=options.days, seed=options.seed, drain=12 * 3600.0)
    low, high = tuned.plan.pressure
    print(
        f"{len(tuned.workload):,} jobs; {tuned.runs} runs; fill {tuned.plan.fill:.2f} h, pressure {low:g} to {high:g}; "
        f"{len(tuned.medians) - tuned.outside} of {len(tuned.medians)} hours between 3 and 5 h"
    )
    show("baseline", tuned.medians)
    width = max(1, options.nodes // 50) * CORES
    flow = Workflow.of(
        "wide-long",
        [Task("wide", cores=width, run_time=1800), Task("long", cores=CORES, run_time=7200, needs=("wide",))],
    )
    for way in ("single", "multi"):
        cell = synthesize(EdisonLike(), replace(tuned.plan, insertions=(Mix([flow], way, every=3600.0),)))
        result = walltime.simulate(scenario | {"workload": {"table": cell}})
        show(f"one workflow an hour, {way}", hourly_medians(result, *cell.notes["phases"]["experiment"]))


if __name__ == "__main__":
    main()
