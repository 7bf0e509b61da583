"""Is a plan worth it? Three questions about schedulers that plan every waiting job.

1. Plans that are improved, each cluster's own and one over three clusters of different nodes, against EASY and
   conservative backfilling.
2. How long before its start is it known when, and where, a job will run, with users' requests and with exact ones?
3. Fairness as what a plan is improved for, against fair share as an order.

python examples/plans.py [FOLDER]   (pictures go into the folder)
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import walltime
from walltime.analysis.predictions import draw_errors, judge_plans
from walltime.core.time import SECOND, format_duration
from walltime.core.workload import Workload
from walltime.workload.generate import generate

CLUSTERS: list[dict[str, Any]] = [
    {"name": "fat", "nodes": {"count": 4, "cores": 16, "memory": "256G"}},
    {"name": "thin", "nodes": {"count": 16, "cores": 4, "memory": "16G", "speed": 1.25}},
    {"name": "old", "nodes": {"count": 16, "cores": 4, "memory": "32G", "speed": 0.75}},
]
ALEA = {"name": "plan", "build": "best-gap", "optimise": {"name": "tabu", "rounds": 60, "every": 900}}
PEOPLE = [f"user{number}" for number in range(12)]


def make_jobs(count: int, cores: int, load: float, accuracy: float | None = None) -> Workload:
    """Jobs of a dozen users, some of them much busier than others; with `accuracy` all requests are as good."""
    jobs = generate(count, cores, load, seed=3)
    random = np.random.default_rng(5)
    share = np.geomspace(1, 0.05, len(PEOPLE))
    users = random.choice(len(PEOPLE), count, p=share / share.sum())
    seconds = {name: jobs.column(name) / SECOND for name in ("submit", "run_time", "requested_time")}
    if accuracy is not None:
        seconds["requested_time"] = np.ceil(seconds["run_time"] / accuracy)
    return Workload.from_columns(**seconds, cores=jobs.column("cores"), user=[PEOPLE[user] for user in users])


def compare_policies() -> None:
    """Utilization while jobs come, wait and slowdown over three clusters; jobs are sent to where they start first."""
    jobs = make_jobs(1500, 192, 0.95)
    operators = {"cluster": 1, "gap": 1, "swap": 1}
    ways: dict[str, tuple[Any, str | None]] = {
        "EASY": ("easy", None),
        "conservative": ("conservative", None),
        "plans, tabu search": (ALEA, None),
        "one plan, tabu search": ({"name": "plan", "build": "best-gap"}, "tabu"),
        "one plan, annealing": ("plan", "annealing"),
    }
    print(f"{'three clusters':24}{'utilization':>12}{'mean wait':>12}{'slowdown':>10}")
    for label, (backfill, joint) in ways.items():
        clusters = [cluster | {"scheduler": {"backfill": backfill}} for cluster in CLUSTERS]
        broker: dict[str, Any] = {"name": "earliest-start"}
        if joint is not None:
            broker["optimise"] = {"name": joint, "rounds": 200, "operators": operators}
        told = walltime.simulate({"workload": jobs, "clusters": clusters, "broker": broker}).summary
        wait, slowdown = format_duration(told["mean_wait"]), told["mean_bounded_slowdown"]
        print(f"{label:24}{told['utilization_window']:>12.1%}{wait:>12}{slowdown:>10.1f}")


def compare_predictions(folder: Path | None) -> None:
    """The share of waiting jobs of which the start is known to ten minutes, and the nodes are known."""
    results = []
    print(f"\n{'within ten minutes':32}{'1 min':>8}{'10 min':>8}{'1 h':>8}{'12 h':>8}   ahead")
    for requests, accuracy in (("users' requests", None), ("exact requests", 1.0)):
        jobs = make_jobs(1500, 64, 0.95, accuracy)
        for backfill in ("conservative", ALEA | {"build": "earliest"}):
            name = backfill if isinstance(backfill, str) else "improved plan"
            cluster = {"nodes": "16x4", "scheduler": {"backfill": backfill, "place": "first-fit"}}
            result = walltime.simulate({"workload": jobs, "cluster": cluster, "record": {"plans": True}})
            result.label = f"{name}, {requests}"
            results.append(result)
            known = judge_plans(result)
            shares = known["within_ten_minutes"].fill_null(1.0) * known["known"].fill_null(1.0)
            print(f"{result.label:32}" + "".join(f"{share:>8.0%}" for share in shares))
    if folder is not None:
        print(draw_errors(results).save(folder / "predictions.png", force=True))


def compare_fairness() -> None:
    """How unequal users' waits are, for the processor time that they use."""
    jobs = make_jobs(1500, 64, 0.95)
    fair = {"name": "tabu", "rounds": 100, "objectives": {"fairness": 1}}
    ways: dict[str, Any] = {
        "EASY": {"backfill": "easy"},
        "EASY, fair share": {"backfill": "easy", "order": "fairshare"},
        "plan": {"backfill": "plan"},
        "plan, for fairness": {"backfill": {"name": "plan", "optimise": fair}},
    }
    print(f"\n{'fairness':24}{'mean wait':>12}{'unequal by':>12}")
    for label, scheduler in ways.items():
        result = walltime.simulate({"workload": jobs, "cluster": {"cores": 64, "scheduler": scheduler}})
        wait = format_duration(result.summary["mean_wait"])
        print(f"{label:24}{wait:>12}{spread_over_users(result):>12.2f}")


def spread_over_users(result: Any) -> float:
    """The standard deviation over users of total wait over processor time, as a part of the mean."""
    import polars as pl

    each = result.jobs.group_by("user").agg(pl.col("wait").sum() / (pl.col("cores") * pl.col("run_time")).sum())
    return float(each["wait"].std() / each["wait"].mean())


def main() -> None:
    """Three tables, and a picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    compare_policies()
    compare_predictions(folder)
    compare_fairness()


if __name__ == "__main__":
    main()
