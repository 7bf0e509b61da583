"""Dominant resource fairness and packing by vectors: the compiled engine and its slow twin give the same schedules, on
sites with queues, limits, properties and several resources."""

from __future__ import annotations

import pytest
from site_runs import compare_with_twin
from site_scenarios import KINDS, draw_site

from walltime.core.random import stream
from walltime.scenario import Scenario, parse

SCALES = (None, {"cores": 1}, {"cores": 2})


def draw_scenario(seed: int, kind: str) -> Scenario:
    """A site whose scheduler packs, or goes by dominant shares, or both."""
    site, workload = draw_site(seed, kind)
    random = stream(seed, f"packing.{kind}")
    scheduler = site["cluster"]["scheduler"]
    choice = int(random.integers(0, 3))
    if choice != 0:
        given = {"fairness": float(random.choice([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1])), "every": int(random.choice([0, 7]))}
        scale = SCALES[int(random.integers(len(SCALES)))]
        scheduler["backfill"] = {"name": "tetris"} | given | ({} if scale is None else {"scale": scale})
    if choice != 1:
        scheduler["order"] = "drf"
        for queue in site["cluster"].get("queues", {}).values():
            if random.random() < 0.7:
                queue.pop("order", None)
    return parse(site | {"workload": {"table": workload}})


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    compare_with_twin(draw_scenario, kind, range(40), audited=True)
