"""Placements of queues' own: the engine agrees with its twin, under any policy and in Slurm's rhythm, and is legal."""

from __future__ import annotations

from typing import Any

import pytest
from site_runs import compare_with_twin
from site_scenarios import PLACES, draw_site
from test_slurm_rhythm_twin import draw_scenario

from walltime.core.random import stream
from walltime.scenario import Scenario, parse

OWN = [*(name for name in PLACES if name != "contiguous"), "consecutive"]


def give_places(seed: int, cluster: dict[str, Any]) -> None:
    """Placements for most of the queues; at least two queues, for there to be a difference."""
    random = stream(seed, "places.twin")
    queues = cluster.setdefault("queues", {"short": {"default": True}})
    if len(queues) == 1:
        queues["more"] = {}
        cluster["routes"] = [*cluster.get("routes", []), {"queue": "more", "users": ["ann", "bo"]}]
    if cluster["scheduler"].get("place") == "contiguous":
        del cluster["scheduler"]["place"]
    for queue in queues.values():
        if random.random() < 0.7:
            queue["place"] = OWN[int(random.integers(0, len(OWN)))]


def draw_places(seed: int, kind: str) -> Scenario:
    site, workload = draw_site(seed, kind)
    give_places(seed, site["cluster"])
    return parse(site | {"workload": {"table": workload}})


def draw_planned(seed: int, kind: str) -> Scenario:
    scenario = draw_scenario(seed, kind, "consecutive")
    site = scenario.short()
    give_places(seed, site["cluster"])
    return parse(site | {"workload": {"table": scenario.workload.table}})


@pytest.mark.parametrize("kind", ["plain", "vectors"])
@pytest.mark.parametrize("draw", [draw_places, draw_planned])
def test_the_engine_agrees_with_its_twin(kind, draw):
    compare_with_twin(draw, kind, range(40), audited=True)
