"""Slurm's planner, compiled and in its slow twin, gives the same schedules on nodes, where there are no limits."""

from __future__ import annotations

from typing import Any

import pytest
from site_scenarios import draw_site
from test_rhythm_twin import compare_with_twin

from walltime.core.random import stream
from walltime.scenario import Scenario, parse

BACKFILLS = ("none", "easy", {"name": "depth", "depth": 2}, "conservative", "conservative")


def draw_planner(seed: int, kind: str) -> dict[str, Any]:
    """Parameters small enough for jobs of a few seconds; each is left out at times."""
    random = stream(seed, f"slurm.{kind}")

    def one(*choices: Any) -> Any:
        return choices[int(random.integers(0, len(choices)))]

    drawn = {
        "sched_interval": one(1, 4, 60, 60),
        "sched_min_interval": one(0, 2, 1_500_000),
        "batch_sched_delay": one(0, 1, 3),
        "default_queue_depth": one(0, 1, 5, 100),
        "partition_job_depth": one(0, 0, 1, 3),
        "sched_max_job_start": one(0, 0, 1),
        "defer": one(False, False, True),
        "bf_interval": one(1, 3, 7),
        "bf_window": one(1, 1440),
        "bf_window_linear": one(0, 0, 5),
        "bf_resolution": one(1, 2, 5, 60),
        "bf_max_job_test": one(1, 2, 5, 500),
        "bf_max_job_start": one(0, 0, 1),
        "bf_max_job_user": one(0, 0, 1, 2),
        "bf_max_job_part": one(0, 0, 1, 3),
        "bf_max_job_user_part": one(0, 0, 2),
        "bf_max_job_assoc": one(0, 0, 2),
        "bf_job_part_count_reserve": one(0, 0, 2),
        "bf_min_age_reserve": one(0, 0, 3),
    }
    return {name: value for name, value in drawn.items() if random.random() < 0.5}


def draw_scenario(seed: int, kind: str) -> Scenario:
    site, workload = draw_site(seed, kind)
    scheduler = site["cluster"]["scheduler"]
    scheduler["rhythm"] = {"name": "slurm"} | draw_planner(seed, kind)
    scheduler["backfill"] = BACKFILLS[seed % len(BACKFILLS)]
    if seed % 3:
        scheduler.pop("place", None)
    if kind == "plain" and seed % 4 == 0:
        site["cluster"]["sharing"] = "whole"
    drop_limits(site["cluster"])
    return parse(site | {"workload": {"table": workload}})


def drop_limits(cluster: dict[str, Any]) -> None:
    """A pass over none but jobs at a limit counts as one or not, as it comes, and beats are counted from passes."""
    cluster.pop("limits", None)
    for queue in cluster.get("queues", {}).values():
        for key in [key for key in queue if key.startswith(("running_", "submitted_", "per_"))]:
            del queue[key]


@pytest.mark.parametrize("kind", ["plain", "vectors"])
@pytest.mark.parametrize("part", range(2))
def test_the_planner_agrees_with_its_twin(kind, part):
    compare_with_twin(draw_scenario, kind, range(part * 60, part * 60 + 60))
