"""The models that share time end every job when their slow twins do, on random nodes, jobs and task models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from site_runs import compare

from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse

SPEEDS = (1.0, 2.0, 0.5, 0.7, 1.0)
SLOTS = ((1, 0), (5, 0), (7, 2), (20, 3))
KINDS = ("sequential", "lock-step", "master-slave")


def draw_nodes(random: np.random.Generator) -> list[dict[str, Any]]:
    """A few nodes, alike or not; some have several cores."""
    count, fancy = int(random.integers(1, 5)), random.random() < 0.5
    return [
        {
            "count": 1,
            "name": f"n{number}x",
            "cores": int(random.choice([1, 1, 1, 2, 3])),
            "speed": SPEEDS[random.integers(len(SPEEDS))] if fancy else 1.0,
            "quantum": int(random.integers(1, 9)) / SECOND,
            "switch_cost": int(random.choice([0, 0, 1, 2])) / SECOND,
            "sync_delay": int(random.choice([0, 0, 3])) / SECOND,
        }
        for number in range(count)
    ]


def draw_jobs(random: np.random.Generator, most: int, least: int) -> Workload:
    """Jobs that come close together, or one by one so that they are alone for a while."""
    count = int(random.integers(1, 9))
    gap = int(random.choice([2, 10, 60]))
    submit = np.cumsum(random.integers(0, gap, count))
    profiles = []
    for _ in range(count):
        kind, step = KINDS[random.integers(3)], int(random.choice([1, 3, 5, 8]))
        delay, spin = int(random.choice([0, 0, 1, 4])), bool(random.random() < 0.3)
        waiting = "spin" if spin else "block"
        profiles.append(f"{kind} step={step / SECOND:.6f} delay={delay / SECOND:.6f} {waiting}")
    work = random.integers(least, int(random.choice([12, 80])), count)
    return Workload.from_columns(
        submit=(submit / SECOND).tolist(),
        run_time=(work / SECOND).tolist(),
        cores=random.integers(1, most + 1, count).tolist(),
        profile=profiles,
    )


def draw_scenario(seed: int, name: str) -> Scenario:
    """Jobs on nodes whose time is shared by the model of that name."""
    model: Any = name
    if name == "gang":
        slot, switch = SLOTS[seed % len(SLOTS)]
        model = {"name": "gang", "slot": slot / SECOND, "switch_cost": switch / SECOND}
    random = stream(seed, f"timeshare.{model}")
    nodes = draw_nodes(random)
    if name == "processor-sharing":
        nodes = [node | {"switch_cost": 0.0} for node in nodes]
    max_load = int(random.choice([1, 2, 4]))
    most = min(6, sum(node["cores"] for node in nodes) * max_load)
    # In a gang, where a job of no work ends among those that begin at the same instant decides who gets which row.
    jobs = draw_jobs(random, most, 1 if name == "gang" else 0)
    place = str(random.choice(["even", "round-robin", "best-fit"]))
    return parse(
        {
            "workload": {"table": jobs},
            "cluster": {
                "nodes": [node | {"max_load": max_load} for node in nodes],
                "scheduler": {"order": "fcfs", "backfill": "none", "place": place},
            },
            "execution": {"model": model},
        }
    )


MODELS = ("time-shared", "processor-sharing", "gang")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("block", range(2))
def test_every_job_starts_and_ends_when_it_does_in_the_twin(model, block):
    """Others each day: soak_twins.py."""
    for seed in range(75 * block, 75 * block + 75):
        compare(draw_scenario, seed, model, audited=True)
