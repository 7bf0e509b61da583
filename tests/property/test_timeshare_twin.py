"""The models that share time end every job when their slow twins do, on random nodes, jobs and task models."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from twin.timeshare import Gang, Job, Node, RoundRobin, Sharing, Twin
from walltime import api
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload

SPEEDS = (Fraction(1), Fraction(2), Fraction(1, 2), Fraction(7, 10), Fraction(1))
SLOTS = ((1, 0), (5, 0), (7, 2), (20, 3))
KINDS = ("sequential", "lock-step", "master-slave")


def draw_nodes(random: np.random.Generator) -> list[Node]:
    """A few nodes, alike or not; some have several cores."""
    count, fancy = int(random.integers(1, 5)), random.random() < 0.5
    return [
        Node(
            int(random.choice([1, 1, 1, 2, 3])),
            SPEEDS[random.integers(len(SPEEDS))] if fancy else Fraction(1),
            int(random.integers(1, 9)),
            int(random.choice([0, 0, 1, 2])),
            int(random.choice([0, 0, 3])),
        )
        for _ in range(count)
    ]


def draw_jobs(random: np.random.Generator, most: int, least: int) -> tuple[Workload, list[dict[str, Any]]]:
    """Jobs that come close together, or one by one so that they are alone for a while."""
    count = int(random.integers(1, 9))
    gap = int(random.choice([2, 10, 60]))
    submit = np.cumsum(random.integers(0, gap, count))
    shapes = []
    for _ in range(count):
        shapes.append(
            {
                "kind": KINDS[random.integers(3)],
                "step": int(random.choice([1, 3, 5, 8])),
                "delay": int(random.choice([0, 0, 1, 4])),
                "spin": bool(random.random() < 0.3),
            }
        )
    profiles = [
        f"{shape['kind']} step={shape['step'] / SECOND:.6f} delay={shape['delay'] / SECOND:.6f} "
        + ("spin" if shape["spin"] else "block")
        for shape in shapes
    ]
    work = random.integers(least, int(random.choice([12, 80])), count)
    jobs = Workload.from_columns(
        submit=(submit / SECOND).tolist(),
        run_time=(work / SECOND).tolist(),
        cores=random.integers(1, most + 1, count).tolist(),
        profile=profiles,
    )
    return jobs, shapes


def run(jobs: Workload, nodes: list[Node], model: Any, max_load: int, place: str) -> Any:
    groups = [
        {
            "count": 1,
            "name": f"n{number}x",
            "cores": node.cores,
            "speed": float(node.speed),
            "max_load": max_load,
            "quantum": node.quantum / SECOND,
            "switch_cost": node.switch / SECOND,
            "sync_delay": node.sync / SECOND,
        }
        for number, node in enumerate(nodes)
    ]
    return api.simulate(
        jobs,
        policy={"order": "fcfs", "backfill": "none", "place": place},
        cluster__nodes=groups,
        execution__model=model,
    )


def places(text: str) -> list[int]:
    """The node of each task, from `0-1:1,2:2`."""
    found: list[int] = []
    for part in text.split(","):
        span, _, cores = part.partition(":")
        first, _, last = span.partition("-")
        for node in range(int(first), int(last or first) + 1):
            found += [node] * int(cores)
    return found


def ticks(values: Any) -> list[int]:
    return np.rint(values.to_numpy() * SECOND).astype(int).tolist()


def draw_run(seed: int, model: Any, switches: bool) -> tuple[Workload, list[dict[str, Any]], list[Node], int, str]:
    """Jobs, their task models, nodes, how many tasks a core takes, and the placement."""
    random = stream(seed, f"timeshare.{model}")
    nodes = draw_nodes(random)
    if not switches:
        nodes = [Node(node.cores, node.speed, node.quantum, 0, node.sync) for node in nodes]
    max_load = int(random.choice([1, 2, 4]))
    most = min(6, sum(node.cores for node in nodes) * max_load)
    # In a gang, where a job of no work ends among those that begin at the same instant decides who gets which row.
    jobs, shapes = draw_jobs(random, most, 0 if isinstance(model, str) else 1)
    return jobs, shapes, nodes, max_load, str(random.choice(["even", "round-robin", "best-fit"]))


def gang(seed: int) -> dict[str, Any]:
    """The model with one of a few slots, by the seed."""
    slot, switch = SLOTS[seed % len(SLOTS)]
    return {"name": "gang", "slot": slot / SECOND, "switch_cost": switch / SECOND}


def compare(seed: int, model: Any, twin: Callable[..., Twin], switches: bool) -> None:
    jobs, shapes, nodes, max_load, place = draw_run(seed, model, switches)
    result = run(jobs, nodes, model, max_load, place)
    assert (result.jobs["state"] == "completed").all()
    held = result.allocations.sort("start", "job_id")
    told = [
        Job(start, int(jobs.columns["run_time"][job - 1]), places(where), **shapes[job - 1])
        for job, start, where in zip(held["job_id"], ticks(held["start"]), held["nodes"], strict=True)
    ]
    assert ticks(held["end"]) == twin(nodes, told).run(), (seed, nodes, told)
    assert not result.audit()


def compare_round_robin(seed: int) -> None:
    compare(seed, "time-shared", RoundRobin, True)


def compare_sharing(seed: int) -> None:
    compare(seed, "processor-sharing", Sharing, False)


def compare_gang(seed: int) -> None:
    slot, switch = SLOTS[seed % len(SLOTS)]
    compare(seed, gang(seed), partial(Gang, slot=slot, switch=switch), True)


MODELS = {"round robin": compare_round_robin, "processor sharing": compare_sharing, "gang": compare_gang}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("block", range(2))
def test_every_job_ends_when_it_does_in_the_twin(model, block):
    """Others each day: soak_twins.py."""
    for seed in range(75 * block, 75 * block + 75):
        MODELS[model](seed)
