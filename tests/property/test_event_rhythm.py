"""A pass after every single event: every policy comes to an end on every machine, and its schedule is legal."""

from __future__ import annotations

from typing import Any

import pytest
from disruption_scenarios import draw_disrupted
from site_scenarios import KINDS, draw_site

from walltime import Workload, api
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


@pytest.mark.parametrize("seed", [221, 341])
def test_lookahead_where_a_reservation_finds_the_machine_short(seed):
    """Cores fail while the head has a reservation: fewer than none are extra, and whoever fits starts all the same."""
    site, workload = draw_disrupted(seed, "cores")
    site["cluster"]["scheduler"] |= {"rhythm": "event", "backfill": "lookahead"}
    assert api.simulate(parse(site | {"workload": {"table": workload}})).audit() == []


def test_a_promise_that_is_due_keeps_the_nodes_of_jobs_that_are_about_to_end():
    """Two jobs end at 8, one after the other, when another is promised both cores. In between a fourth, which cares
    for the size of its node, asks when it could start: not on the node that the second is about to leave."""
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 3],
        run_time=[8, 8, 11, 2],
        requested_time=[8, 8, 11, 7],
        cores=[1, 1, 2, 1],
        cores_per_node=[None, None, None, 4],
    )
    cluster = {"nodes": "2x1", "scheduler": {"backfill": "conservative", "rhythm": "event"}}
    result = api.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.jobs["start"].to_list() == [0, 0, 8, 19]
    assert result.audit() == []
