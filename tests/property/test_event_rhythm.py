"""A pass after every single event: every policy comes to an end on every machine, and its schedule is legal."""

from __future__ import annotations

from typing import Any

import pytest
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS, draw_site

from walltime import api
from walltime.scenario import parse

BACKFILLS: tuple[Any, ...] = (
    "conservative",
    "aggressive",
    {"name": "conservative", "candidates": "sjf"},
    "easy",
    {"name": "easy", "alpha": 0.5},
    {"name": "depth", "depth": 3},
    "lookahead",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("draw", [draw_site, draw_disrupted])
def test_schedules_are_legal(kind, draw):
    for seed in range(42):
        site, workload = draw(seed, kind)
        site["cluster"]["scheduler"] |= {"rhythm": "event", "backfill": BACKFILLS[seed % len(BACKFILLS)]}
        result = api.simulate(parse(site | {"workload": {"table": workload}}))
        assert result.audit() == [], (seed, kind)
