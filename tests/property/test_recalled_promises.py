"""A plan that is made again at every pass, as while urgent jobs seek room: looks that are spared change no schedule."""

from __future__ import annotations

from typing import Any

import pytest
from test_many_holds import ONE_BY_ONE, few_holds

from walltime import api
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.engine import build
from walltime.kernel.ledger.resources import ResourceLedger

TOGETHER = 15
"""Cases in one test."""
PLACES = ("first-fit", "first-fit", "best-fit", "contiguous")


@pytest.mark.parametrize("first", range(0, 60, TOGETHER))
def test_promises_that_are_made_again_are_those_that_a_look_finds(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ledgers: list[Any] = []

    class Noted(ResourceLedger):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            ledgers.append(self)

    monkeypatch.setattr(build, "ResourceLedger", Noted)
    for seed in range(first, first + TOGETHER):
        with few_holds(ONE_BY_ONE):
            looked = api.simulate(_draw(seed)).digest
        assert sum(ledger.recalls for ledger in ledgers) == 0
        del ledgers[:]
        for few in (0, 3):
            with few_holds(few):
                assert api.simulate(_draw(seed)).digest == looked, f"{seed}, {few} holds"
        if PLACES[seed % 4] != "contiguous":
            assert sum(ledger.recalls for ledger in ledgers) > 0, f"{seed}: no look was spared"
        del ledgers[:]


def _draw(seed: int) -> dict[str, Any]:
    """Too many jobs for a few nodes, of three ranks, with memory and ends that come early; the order changes."""
    random = stream(seed, "recalled promises")
    count, nodes, cores = 120, int(random.integers(4, 12)), 4
    wide = random.integers(1, nodes // 2 + 1, count)
    each = random.integers(1, cores + 1, count)
    length = random.integers(1, 20, count) * 60
    parts = random.choice([0.2, 0.5, 0.9, 1.0, 1.2], count)
    table = Workload.from_columns(
        submit=sorted(int(x) for x in random.integers(0, 6_000, count) // 30 * 30),
        run_time=[int(x * part) for x, part in zip(length, parts, strict=True)],
        requested_time=[int(x) for x in length],
        nodes=[int(x) for x in wide],
        cores=[int(x) for x in wide * each],
        memory=[int(x) for x in wide * each * random.integers(1, 5, count) * 2**28],
        user=[f"u{x}" for x in random.integers(0, 4, count)],
        qos=[str(x) for x in random.choice(["low", "normal", "high"], count, p=[0.3, 0.5, 0.2])],
        queue=[str(x) for x in random.choice(["all", "some"], count, p=[0.7, 0.3])],
    )
    order: Any = ("fcfs", {"name": "fairshare", "interval": 300})[int(random.integers(2))]
    ranks = {"low": -1, "normal": 0, "high": 1}
    scheduler = {
        "backfill": "conservative",
        "order": order,
        "place": PLACES[seed % 4],
        "preempt": {"name": "qos", "mode": "requeue", "ranks": ranks},
    }
    hosts = [{"name": f"n[1-{nodes}]", "cores": cores, "memory": "8G"}]
    queues = {"all": {}, "some": {"nodes": [f"n[1-{max(2, nodes // 2)}]"]}}
    cluster = {"nodes": hosts, "sharing": "shared", "queues": queues, "interrupted": "requeue", "scheduler": scheduler}
    return {"workload": {"table": table}, "cluster": cluster}
