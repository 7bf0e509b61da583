"""`python tools/backlog_waits.py MODEL [--cores N]`: the waits that a wanted backlog makes, under FCFS and EASY.

Prints Markdown: for each wanted backlog the one that is reached under FCFS at the end of the stabilization, and the
mean waits of the experiment's first day and of all of it. Tables of docs/background/workload-models.md.
"""

from __future__ import annotations

import argparse

import numpy as np

from walltime import generate_workload, simulate

SEEDS = (1, 2, 3)
WANTED = (0.0, 4.0, 8.0, 24.0)


def main() -> None:
    """Measure a model."""
    parser = argparse.ArgumentParser("backlog_waits", description=__doc__)
    parser.add_argument("model", help="a model file, or a published model's name")
    parser.add_argument("--cores", type=int, default=256)
    parser.add_argument("--load", type=float, default=0.7)
    options = parser.parse_args()
    print("| wanted backlog | reached, FCFS | first day's mean wait, FCFS | the same, EASY | week's mean wait, EASY |")
    print("|---:|---:|---:|---:|---:|")
    for wanted in WANTED:
        reached, fcfs, easy, week = np.mean(
            [_measure(options.model, options.cores, options.load, wanted, s) for s in SEEDS], axis=0
        )
        print(f"| {wanted:g} h | {reached:.1f} h | {fcfs:.1f} h | {easy:.1f} h | {week:.1f} h |")


def _measure(model: str, cores: int, load: float, wanted: float, seed: int) -> tuple[float, float, float, float]:
    """The backlog and the mean waits, in hours."""
    jobs = generate_workload(model, cores=cores, days=7, load=load, seed=seed, backlog=wanted)
    begin = jobs.notes["phases"]["experiment"][0]
    waits = {}
    for policy in ("fcfs", "easy"):
        result = simulate(jobs, cores=cores, policy=policy)
        first = result.jobs.filter((result.jobs["submit"] >= begin) & (result.jobs["submit"] < begin + 86_400))
        waits[policy] = float(first["wait"].mean() or 0.0) / 3600
        waits["week"] = float(result.summary["mean_wait"]) / 3600
    reached = jobs.notes.get("backlog", {}).get("fcfs_hours", 0.0)
    return reached, waits["fcfs"], waits["easy"], waits["week"]


if __name__ == "__main__":
    main()
