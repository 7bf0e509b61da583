"""Conservative backfilling in both ways: with an index that tells which promises can move, and with a look at each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from disruption_scenarios import draw_disrupted
from mixtures import draw_mixture
from site_scenarios import draw_site
from test_engine_twin import Case, check_agreement, draw_case

from walltime import api
from walltime.core.errors import InputError, WalltimeError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.policies.backfill import conservative

NEVER = 10**9
"""More jobs than any queue here has: no index."""
ORDERS = ("fcfs", "sjf", "ljf", "smallest", "largest", "priority", "lcfs")


@contextmanager
def index_from(many: int) -> Iterator[None]:
    """Runs that begin here use the index from so many waiting jobs on."""
    before = conservative.MANY
    conservative.MANY = many
    try:
        yield
    finally:
        conservative.MANY = before


def check_twin(seed: int) -> None:
    """Fail unless the engine, with the index from one, two or four jobs on, agrees with its twin."""
    case = draw_tight(seed) if seed % 2 else draw_case(seed, 3, 30)
    with index_from((1, 2, 4)[seed % 3]):
        check_agreement(replace(case, policy="conservative"))


def draw_tight(seed: int) -> Case:
    """Jobs that all wait for each other: many ends and arrivals at one instant, requests far too long or exact."""
    random = stream(seed, "moves")
    size, cores = int(random.integers(5, 40)), int(random.choice([3, 6, 10, 24]))
    run = random.integers(0, 12, size)
    factor = random.choice([1, 1, 2, 3, 10], size)
    columns = {
        "submit": np.sort(random.integers(0, int(random.choice([1, 6, 40])), size)) * SECOND,
        "run_time": run * SECOND,
        "requested_time": np.maximum(run * factor + random.integers(0, 2, size), 1) * SECOND,
        "cores": np.minimum(random.integers(1, cores + 1, size), random.integers(1, cores + 1, size)),
    }
    if random.random() < 0.4:
        columns["cancel"] = np.where(random.random(size) < 0.2, columns["submit"] + run * SECOND, -1)
    return Case(Workload(columns), cores, "conservative", str(random.choice(["kill", "extend"])))


def check_scenario(seed: int, folder: Path) -> bool:
    """Fail unless a random scenario has the same digest in both ways; whether it was one that may be."""
    with index_from(NEVER):
        looks = _digest(_draw(seed, folder))
    with index_from(1 + seed % 3):
        offers = _digest(_draw(seed, folder))
    assert offers == looks, f"scenario {seed}"
    return looks is not None


def _digest(scenario: dict[str, Any]) -> str | None:
    try:
        return str(api.simulate(scenario).digest)
    except InputError:
        return None
    except WalltimeError as error:
        return str(error)


def _draw(seed: int, folder: Path) -> dict[str, Any]:
    """A site of plain cores with queues, limits, reservations, failures and preemption, or a mixture of everything;
    under conservative backfilling."""
    random = stream(seed, "moves.scenario")
    if seed % 3 == 0:
        scenario = draw_mixture(seed, folder)
    else:
        scenario, workload = draw_site(seed, "cores") if seed % 3 == 1 else draw_disrupted(seed, "cores")
        scenario["workload"] = {"table": workload}
    for cluster in scenario.get("clusters", [scenario.get("cluster")]):
        cluster["scheduler"]["backfill"] = "conservative"
        if random.random() < 0.7:
            cluster["scheduler"]["order"] = str(random.choice(ORDERS))
    return scenario
