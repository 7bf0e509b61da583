"""Fair share and multifactor give the same schedules in the engine and in its slow twin, on random sites."""

from __future__ import annotations

from typing import Any

import pytest
from site_runs import compare_with_twin
from site_scenarios import KINDS, draw_site

from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import Scenario, parse


def draw_order(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """An order with its parameters, and what accounts and shares are given in the cluster."""
    random = stream(seed, "fairshare.twin")

    def one(*choices: Any) -> Any:
        return choices[int(random.integers(0, len(choices)))]

    formula = one("alea", "classic", "fair-tree")
    fair: dict[str, Any] = {"formula": formula}
    if formula == "alea":
        fair |= {"decay_interval": one(7, 30, "48h"), "decay": one(0.5, 0.75), "temporary": one(True, False, 1, 20)}
    else:
        fair |= {"half_life": one(5, 20, "1h", 0), "dampening": one(1, 2)}
    interval = one(0, 3, 10, 60)
    if one(True, False):
        order = {"name": "fairshare", **fair, "interval": interval}
    else:
        weights = {"age": one(0, 50, 1000), "fairshare": one(0, 100, 1000), "job_size": one(0, 30)}
        weights |= {"partition": one(0, 40), "qos": one(0, 25), "association": one(0, 33)}
        order = {"name": "multifactor", "weights": weights, "interval": interval, "fairshare": fair}
        order |= {"max_age": one(10, 60, "1h"), "favor_small": one(True, False), "relative_to_time": one(True, False)}
        order |= {"qos": {"high": 10, "low": one(1, 4)}, "accrue_always": one(True, False)}
    shares = {name: float(one(1, 2, 3)) for name in ("ann", "bo", "cy") if one(True, False)}
    return order, {"shares": shares}


def give_order(seed: int, cluster: dict[str, Any]) -> None:
    """Have the cluster schedule in such an order, with shares and priorities for those that it names."""
    order, extra = draw_order(seed)
    cluster["scheduler"] = {**cluster.get("scheduler", {}), "order": order}
    cluster |= extra
    for number, account in enumerate(cluster.get("accounts", {}).values()):
        account |= {"shares": 1.0 + (seed + number) % 3, "priority": (seed * number) % 4}
    for number, queue in enumerate(cluster.get("queues", {}).values()):
        queue["job_factor"] = (seed + 2 * number) % 5


def draw_shared(seed: int, kind: str) -> tuple[dict[str, Any], Workload]:
    """A site with such an order, and its jobs."""
    site, workload = draw_site(seed, kind)
    give_order(seed, site["cluster"])
    return site, workload


def draw_scenario(seed: int, kind: str) -> Scenario:
    site, workload = draw_shared(seed, kind)
    return parse(site | {"workload": {"table": workload}})


@pytest.mark.parametrize("kind", KINDS)
def test_the_engine_agrees_with_its_twin(kind):
    compare_with_twin(draw_scenario, kind, range(40))
