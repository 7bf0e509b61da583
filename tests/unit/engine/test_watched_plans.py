"""Slurm's cycle plans in full only for those who ask: a watcher learns the same whether others hear all or nothing."""

from __future__ import annotations

import random
from typing import Any

import pytest

import walltime
from walltime.engine.watching.watcher import Watcher
from walltime.kernel.source import Observer
from walltime.pipeline import prepare
from walltime.scenario import parse


class Listener(Observer):
    """Hears of every promise."""

    def __init__(self) -> None:
        self.heard = 0

    def promised(self, engine: Any, slot: int, time: int) -> None:
        self.heard += 1


class Deaf(Listener):
    deaf = True


def make_busy(seed: int) -> Any:
    """Jobs of three users on eight nodes, more than fit, in an order that changes with time."""
    dice = random.Random(seed)
    count = 120
    asked = [dice.choice((300, 900, 1800, 3600)) for _ in range(count)]
    table = walltime.Workload.from_columns(
        submit=sorted(dice.randrange(12_000) for _ in range(count)),
        run_time=[max(10, round(time * dice.random())) for time in asked],
        requested_time=asked,
        nodes=(nodes := [dice.choice((1, 1, 2, 4, 6)) for _ in range(count)]),
        cores=[4 * one for one in nodes],
        user=[dice.choice("abc") for _ in range(count)],
    )
    order = {"name": "multifactor", "weights": {"age": 1000, "fairshare": 2000}, "interval": "1m", "max_age": "1h"}
    scheduler = {"order": order, "backfill": "conservative", "rhythm": {"name": "slurm", "bf_max_job_user": 20}}
    return parse({"workload": {"table": table}, "cluster": {"nodes": "8x4", "scheduler": scheduler}})


def watch(seed: int, job: int, *others: Observer) -> tuple[Any, str]:
    watcher = Watcher(job, 60_000_000)
    record = prepare(make_busy(seed)).run(observers=[watcher, *others])
    watcher.finish(0)
    return watcher, record.jobs.write_csv()


@pytest.mark.parametrize("seed", range(3))
def test_a_watcher_learns_the_same_whether_others_hear_or_not(seed: int) -> None:
    plain = prepare(make_busy(seed)).run().jobs
    longest = int(plain.sort(plain["wait"])["job_id"][-1]) if "wait" in plain.columns else 60
    listener = Listener()
    alone, schedule = watch(seed, longest)
    beside, again = watch(seed, longest, listener)
    assert schedule == again == plain.write_csv()
    assert alone.promises
    assert alone.promises == beside.promises
    assert alone.reasons == beside.reasons
    assert listener.heard > len(alone.promises)


def test_nothing_is_promised_to_the_deaf() -> None:
    deaf, listener = Deaf(), Listener()
    prepare(make_busy(0)).run(observers=[deaf])
    prepare(make_busy(0)).run(observers=[listener])
    assert deaf.heard == 0 < listener.heard
