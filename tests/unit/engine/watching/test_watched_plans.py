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


class Ends(Deaf):
    """Notes after how many cycles jobs had been left without a look."""

    def __init__(self) -> None:
        super().__init__()
        self.partial = 0

    def settled(self, engine: Any) -> None:
        rhythm = engine.clusters[0].domains[0].rhythm
        self.partial += rhythm.partial and rhythm.planned == engine.now


def make_busy(seed: int, **rhythm: Any) -> Any:
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
    planner = {"name": "slurm", "bf_max_job_user": 20} | rhythm
    scheduler = {"order": order, "backfill": "conservative", "rhythm": planner}
    return parse({"workload": {"table": table}, "cluster": {"nodes": "8x4", "scheduler": scheduler}})


def watch(seed: int, job: int, *others: Observer, step: int = 60_000_000, **rhythm: Any) -> tuple[Any, str]:
    watcher = Watcher(job, step)
    record = prepare(make_busy(seed, **rhythm)).run(observers=[watcher, *others])
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


@pytest.mark.parametrize(("window", "resolution"), [(20, 60), (60, 1), (60, 60), (60, 600), (240, 600)])
def test_a_cycle_that_ends_early_tells_the_watcher_all_the_same(window: int, resolution: int) -> None:
    """Cycles end once no job can start and the watched one can get no place; in full they are the slow form of that."""
    ends, told = Ends(), 0
    for seed in range(3):
        for job in range(40, 120, 16):
            brief, schedule = watch(seed, job, ends, bf_window=window, bf_resolution=resolution)
            full, again = watch(seed, job, Listener(), bf_window=window, bf_resolution=resolution)
            told += len(full.promises)
            assert schedule == again
            assert (brief.promises, brief.samples) == (full.promises, full.samples)
            assert (brief.reasons, brief.stays, brief.passed) == (full.reasons, full.stays, full.passed)
    assert told > 0
    assert ends.partial > 0


def join(reasons: list[Any]) -> list[tuple[str, int, int]]:
    """What kept a job waiting from when to when, whichever job was named."""
    joined: list[tuple[str, int, int]] = []
    for one in reasons:
        if joined and joined[-1][0] == one.kind and joined[-1][2] == one.start:
            joined[-1] = (one.kind, joined[-1][1], one.end)
        else:
            joined.append((one.kind, one.start, one.end))
    return joined


@pytest.mark.parametrize("seed", range(3))
def test_cycles_that_are_asked_less_often_tell_the_same(seed: int) -> None:
    """What is noted once in a while is what is noted always, then; causes and their lengths are the same."""
    fewer = unasked = 0
    for job in range(40, 120, 16):
        always, schedule = watch(seed, job, step=1)
        seldom, again = watch(seed, job, step=600_000_000)
        assert schedule == again
        assert join(seldom.reasons) == join(always.reasons)
        for time, start in seldom.promises:
            assert start == [planned for noted, planned in always.promises if noted <= time][-1]
        fewer += len(always.promises) - len(seldom.promises)
        unasked += seldom.cycles - seldom.asked
        assert always.asked == always.cycles == seldom.cycles >= seldom.asked
    assert fewer > 0
    assert unasked > 0


def test_a_job_in_the_way_is_before_the_watched_one_and_has_nodes_of_its_queue() -> None:
    """Job 4 would leave its node free only after job 3 needs both. Job 1 has an earlier place on other nodes; job 5 is
    behind job 4."""
    table = walltime.Workload.from_columns(
        submit=[0, 1, 0, 1, 2, 3],
        run_time=[1000, 100, 2000, 100, 5000, 900],
        requested_time=[1000, 100, 2000, 100, 5000, 900],
        nodes=[1, 2, 1, 2, 1, 1],
        cores=[1, 2, 1, 2, 1, 1],
        queue=["a", "a", "b", "b", "b", "b"],
        user=["u"] * 6,
    )
    queues = {"a": {"nodes": "n[0-1]"}, "b": {"nodes": "n[2-3]"}}
    scheduler = {"backfill": "conservative", "rhythm": {"name": "slurm"}}
    cluster = {"nodes": [{"name": "n", "count": 4, "cores": 1}], "queues": queues, "scheduler": scheduler}
    prepared = prepare(parse({"workload": {"table": table}, "cluster": cluster}))
    numbers = prepared.run().jobs["job_id"].to_list()
    watcher = Watcher(numbers[4], 1)
    prepared.run(observers=[watcher])
    named = {one.detail.get("who") for one in watcher.reasons if one.kind == "reservation"}
    assert named == {numbers[3]}


class Notes(Observer):
    """Notes every promise, and at how many of them so many jobs waited that a cycle might not try them all."""

    def __init__(self, tests: int) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.tests, self.many = tests, 0

    def promised(self, engine: Any, slot: int, time: int) -> None:
        self.rows.append((engine.now, int(engine.jobs.seq[slot]), time))
        self.many += engine.clusters[0].domains[0].queue.size >= self.tests


@pytest.mark.parametrize(("window", "resolution"), [(20, 60), (60, 1), (60, 60), (60, 600), (240, 600), (600, 60)])
def test_tries_that_can_find_no_place_are_left_out_unseen(window: int, resolution: int) -> None:
    """A cycle that may end at its number of tries counts them, and leaves none out. No cycle here comes to 31: of each
    of three users ten jobs are looked at; so the places are the same."""
    for seed in range(4):
        few, many = Notes(31), Notes(31)
        given = {"bf_window": window, "bf_resolution": resolution, "bf_max_job_user": 10}
        prepare(make_busy(seed, bf_max_job_test=31, **given)).run(observers=[few])
        prepare(make_busy(seed, bf_max_job_test=1000, **given)).run(observers=[many])
        assert few.rows == many.rows
        assert few.many > 0


def test_nothing_is_promised_to_the_deaf() -> None:
    deaf, listener = Deaf(), Listener()
    prepare(make_busy(0)).run(observers=[deaf])
    prepare(make_busy(0)).run(observers=[listener])
    assert deaf.heard == 0 < listener.heard
