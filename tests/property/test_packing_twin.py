"""Dominant resource fairness and packing by vectors: the compiled engine and its slow twin give the same schedules, on
sites with queues, limits, properties and several resources."""

from __future__ import annotations

from typing import Any

import pytest
from site_scenarios import KINDS, draw_site
from test_site_twin import fast_rows, slow_rows

from walltime import api
from walltime.core.random import stream
from walltime.scenario import parse

SCALES = (None, {"cores": 1}, {"cores": 2})


def draw_packing(seed: int, kind: str) -> tuple[dict[str, Any], Any]:
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
    return site, workload


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", range(2))
def test_the_engine_agrees_with_its_twin(kind, part):
    for seed in range(part * 40, part * 40 + 40):
        site, workload = draw_packing(seed, kind)
        scenario = parse(site | {"workload": {"table": workload}})
        fast, slow = fast_rows(scenario), slow_rows(scenario)
        if fast != slow:
            first = next(pair for pair in zip(fast, slow, strict=True) if pair[0] != pair[1])
            pytest.fail(f"engine {first[0]}, twin {first[1]}; draw_packing({seed}, {kind!r}): {site}", pytrace=False)
        assert api.simulate(scenario).audit() == [], f"draw_packing({seed}, {kind!r})"
