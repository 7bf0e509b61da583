"""Many holds on nodes: what is known of them together, and looks that are spared, change no schedule."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from disruption_scenarios import draw_disrupted
from site_scenarios import draw_site
from test_nodes_twin import check, draw_case

from walltime import api
from walltime.core.errors import InputError, WalltimeError
from walltime.core.random import stream
from walltime.kernel.ledger import inventory

TOGETHER = 50
"""Cases in one test."""
ONE_BY_ONE = 10**9
"""More holds than there are: each is looked at."""
BACKFILL: tuple[Any, ...] = ("conservative", "conservative", {"name": "depth", "depth": 5}, {"name": "lookahead"})


@contextmanager
def few_holds(few: int) -> Iterator[None]:
    """Clusters that are made here look at so many holds one by one."""
    before = inventory.FEW_HOLDS
    inventory.FEW_HOLDS = few
    try:
        yield
    finally:
        inventory.FEW_HOLDS = before


@pytest.mark.parametrize("first", range(0, 200, TOGETHER))
def test_the_twin_keeps_the_same_promises_on_nodes(first: int) -> None:
    with few_holds(first // TOGETHER % 2):
        for seed in range(first, first + TOGETHER):
            check(draw_case(seed, "conservative", 1))


@pytest.mark.parametrize("few", [0, 1])
def test_the_twin_keeps_the_same_promises_on_neighbouring_nodes(few: int) -> None:
    with few_holds(few):
        for seed in range(1_000 + few, 1_000 + TOGETHER, 2):
            check(replace(draw_case(seed, "conservative", 1), place="contiguous"))


@pytest.mark.parametrize("kind", ["plain", "vectors"])
@pytest.mark.parametrize("first", range(0, 200, TOGETHER))
def test_sites_are_the_same_with_each_hold_looked_at(first: int, kind: str) -> None:
    ran = 0
    for seed in range(first, first + TOGETHER):
        with few_holds(ONE_BY_ONE):
            looked = _digest(_draw(seed, kind))
        with few_holds(seed % 3):
            assert _digest(_draw(seed, kind)) == looked, f"{kind} {seed}"
        ran += looked is not None
    assert ran > TOGETHER // 2


def _draw(seed: int, kind: str) -> dict[str, Any]:
    """A site with nodes, queues and limits, every third with failures and reservations."""
    scenario, workload = draw_disrupted(seed, kind) if seed % 3 == 0 else draw_site(seed, kind)
    random = stream(seed, "many holds")
    scenario["workload"] = {"table": workload}
    scenario["cluster"]["scheduler"]["backfill"] = BACKFILL[int(random.integers(len(BACKFILL)))]
    return scenario


def _digest(scenario: dict[str, Any]) -> str | None:
    try:
        return str(api.simulate(scenario).digest)
    except InputError:
        return None
    except WalltimeError as error:
        return str(error)
