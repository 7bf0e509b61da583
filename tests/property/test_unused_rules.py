"""A rule that nothing uses changes no schedule: what-if questions about it would otherwise measure something else.

Random jobs that want any cores run on random nodes, under every backfill, several orders and placements; then again
with a rule that none of them uses. Jobs and allocations are the same, but for what the rule itself names.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from walltime import Result, api
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.scenario import parse

Site = dict[str, Any]
BACKFILLS = ("none", "aggressive", "easy", {"name": "depth", "depth": 3}, "conservative", "lookahead")
ORDERS = ("fcfs", "sjf", "largest", "wfp3", "fairshare")
PLACES = ("first-fit", "best-fit", "worst-fit", "contiguous", "random", "even", "round-robin")
FAR = 10_000_000


def draw(seed: int) -> tuple[Site, Workload]:
    random = stream(seed, "unused rules")

    def integer(low: int, high: int) -> int:
        return int(random.integers(low, high + 1))

    count, cores = integer(2, 5), integer(1, 6)
    rows = 40
    run = [integer(0, 30) for _ in range(rows)]
    workload = Workload.from_columns(
        submit=sorted(integer(0, 150) for _ in range(rows)),
        run_time=run,
        requested_time=[max(1, time + integer(-2, 20)) for time in run],
        cores=[integer(1, count * cores) for _ in range(rows)],
        user=[f"u{integer(0, 3)}" for _ in range(rows)],
    )
    scheduler = {
        "backfill": BACKFILLS[seed % len(BACKFILLS)],
        "order": ORDERS[integer(0, len(ORDERS) - 1)],
        "place": PLACES[integer(0, len(PLACES) - 1)],
    }
    group = {"count": count, "cores": cores, "name": "n"}
    return {"seed": seed, "cluster": {"nodes": [group], "scheduler": scheduler}}, workload


def _feature(site: Site) -> None:
    site["cluster"]["nodes"][0]["features"] = ["big"]


def _memory(site: Site) -> None:
    site["cluster"]["nodes"][0]["memory"] = "8G"


def _resource(site: Site) -> None:
    site["cluster"]["nodes"][0]["resources"] = {"fpga": 2}


def _gpus(site: Site) -> None:
    site["cluster"]["nodes"][0]["gpus"] = 1


def _licence(site: Site) -> None:
    site["cluster"]["licences"] = {"solver": 3}


def _queue(site: Site) -> None:
    site["cluster"]["queues"] = {"everything": {"priority": 1, "default": True}}


def _limits(site: Site) -> None:
    site["cluster"]["limits"] = [
        {"per": "user", "running_jobs": 1000, "submitted_jobs": 1000},
        {"user": "u0", "running_cores": 100_000, "optional": True},
    ]


def _maintenance(site: Site) -> None:
    site["cluster"]["reservations"] = [{"name": "m", "start": FAR, "length": 1, "nodes": "n0"}]


def _failure(site: Site) -> None:
    site["cluster"]["failures"] = [{"at": FAR, "length": 1, "nodes": "n0"}]


def _preemption(site: Site) -> None:
    site["cluster"]["scheduler"]["preempt"] = {"name": "queue"}
    _queue(site)


def _checkpoints(site: Site) -> None:
    site["execution"] = {"checkpoint": {"interval": FAR, "cost": 0, "restart": 0}}


RULES: dict[str, Callable[[Site], None]] = {
    "feature": _feature,
    "memory": _memory,
    "resource": _resource,
    "gpus": _gpus,
    "licence": _licence,
    "queue": _queue,
    "limits": _limits,
    "maintenance": _maintenance,
    "failure": _failure,
    "preemption": _preemption,
    "checkpoints": _checkpoints,
}
NAMED = ("queue",)
"""Columns in which a rule's own name legitimately stands."""


def rows(result: Result) -> list[Any]:
    jobs = result.jobs.drop(*NAMED)
    return [jobs.rows(), result.allocations.rows()]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_that_nothing_uses_changes_no_schedule(rule):
    for seed in range(36):
        site, workload = draw(seed)
        without = api.simulate(parse(site | {"workload": {"table": workload}}))
        changed = deepcopy(site)
        RULES[rule](changed)
        with_it = api.simulate(parse(changed | {"workload": {"table": workload}}))
        assert rows(with_it) == rows(without), (rule, seed, site)
