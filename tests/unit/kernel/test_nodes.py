"""The ledger of nodes, against sums over every job and every node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walltime.cluster.nodes import FULL_SPEED
from walltime.core.errors import EngineError
from walltime.core.random import stream
from walltime.core.time import NEVER
from walltime.kernel.jobs import JobTable, done_in, time_for
from walltime.kernel.nodes import NodeLedger
from walltime.kernel.pool import NodePool
from walltime.policy import registry
from walltime.scenario import Part

PLACES = ("first-fit", "best-fit", "worst-fit", "contiguous", "random")


def make_ledger(sizes: list[int], place: str = "best-fit", whole: bool = False, pace: Any = None) -> NodeLedger:
    return NodeLedger(JobTable(), np.array(sizes), registry.build("place", Part(name=place)), 0, whole, pace, 7)


def add_job(ledger: NodeLedger, cores: int, nodes: int = -1, each: int = -1, estimate: int = 10) -> int:
    jobs: Any = ledger.jobs
    slot = int(jobs.add(0, estimate, estimate, cores))
    jobs.nodes[slot], jobs.per_node[slot] = nodes, each
    return slot


def start(ledger: NodeLedger, slot: int) -> list[tuple[int, int]]:
    jobs: Any = ledger.jobs
    jobs.expected_end[slot] = ledger.now + jobs.estimate[slot]
    ledger.take(slot)
    return ledger.shares_of(slot)


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("first-fit", [(0, 2), (1, 2)]),
        ("best-fit", [(1, 2), (3, 2)]),
        ("worst-fit", [(0, 2), (2, 2)]),
        ("contiguous", [(0, 2), (1, 2)]),
    ],
)
def test_a_shaped_job_goes_where_its_placement_says(place, expected):
    """Free cores are 4, 3, 4, 2 on nodes 0 to 3."""
    ledger = make_ledger([4, 3, 4, 2], place)
    assert start(ledger, add_job(ledger, 4, nodes=2)) == expected


@pytest.mark.parametrize(
    ("place", "cores", "expected"),
    [
        ("first-fit", 5, [(0, 4), (1, 1)]),
        ("best-fit", 2, [(3, 2)]),
        ("best-fit", 5, [(0, 4), (1, 1)]),  # no node holds 5: the emptiest, then the fullest for the rest
        ("best-fit", 6, [(0, 4), (3, 2)]),
        ("worst-fit", 6, [(0, 4), (2, 2)]),
        ("contiguous", 12, [(0, 4), (1, 3), (2, 4), (3, 1)]),
    ],
)
def test_a_shapeless_job_spreads_as_its_placement_says(place, cores, expected):
    ledger = make_ledger([4, 3, 4, 2] if cores != 5 or place != "best-fit" else [4, 1, 4, 2], place)
    assert start(ledger, add_job(ledger, cores)) == expected


def test_contiguous_refuses_what_is_not_in_a_row():
    ledger = make_ledger([2, 2, 2, 2, 2], "contiguous")
    middle = add_job(ledger, 4, nodes=2)
    assert start(ledger, add_job(ledger, 2, nodes=1)) == [(0, 2)]
    assert start(ledger, middle) == [(1, 2), (2, 2)]
    assert not ledger.fits(add_job(ledger, 6, nodes=3))
    assert ledger.fits(add_job(ledger, 4, nodes=2))
    assert ledger.earliest(add_job(ledger, 6, nodes=3), 0) == 10
    assert ledger.fits(add_job(ledger, 4))  # without a shape it is never refused


def test_odd_cores_go_to_the_lowest_numbers():
    ledger = make_ledger([4, 4, 4], "worst-fit")
    assert start(ledger, add_job(ledger, 8, nodes=3)) == [(0, 3), (1, 3), (2, 2)]


def test_what_no_node_can_hold_is_not_possible():
    ledger = make_ledger([4, 4, 8])
    for job, possible in (((16,), True), ((17,), False), ((8, 1), True), ((9, 1), False), ((16, 2), False)):
        assert bool(ledger.possible(add_job(ledger, *job))) == possible
    assert ledger.refuse(17, -1, -1) == "more cores than the cluster has"
    assert ledger.refuse(9, 1, -1) == "more cores on a node than any node has"
    assert ledger.refuse(4, 4, -1) == "more nodes than the cluster has"
    assert ledger.refuse(16, 2, -1) == "more nodes of that size than the cluster has"


def test_whole_nodes_are_given_to_one_job():
    ledger = make_ledger([4, 4, 8], whole=True)
    assert start(ledger, add_job(ledger, 1)) == [(0, 4)]
    assert ledger.free == 12
    assert start(ledger, add_job(ledger, 9)) == [(1, 4), (2, 8)]
    assert ledger.free == 0
    assert not ledger.fits(add_job(ledger, 1))


def test_a_job_runs_at_the_speed_of_its_slowest_node():
    ledger = make_ledger([2, 2], "first-fit", pace=np.array([2 * FULL_SPEED, FULL_SPEED // 2]))
    fast, slow = add_job(ledger, 2, nodes=1), add_job(ledger, 2, nodes=1)
    start(ledger, fast)
    start(ledger, slow)
    jobs: Any = ledger.jobs
    assert (jobs.speed[fast], jobs.speed[slow]) == (2 * FULL_SPEED, FULL_SPEED // 2)


def test_work_and_time_fit_together():
    for speed in (1, 333_333, 999_999, FULL_SPEED, 1_000_001, 123_456_789):
        for work in (0, 1, 7, 10**6, 86_400 * 10**6 * 365 * 10):
            if work * FULL_SPEED // speed < NEVER:
                time = time_for(work, speed)
                assert time == -(-work * FULL_SPEED // speed)
                assert done_in(time, speed) == time * speed // FULL_SPEED >= work


def test_taking_what_is_not_there_is_an_error_and_changes_nothing():
    ledger = make_ledger([2, 2])
    start(ledger, add_job(ledger, 3))
    with pytest.raises(EngineError, match="does not fit"):
        start(ledger, add_job(ledger, 2, nodes=2))
    assert ledger.pool.free_cores().tolist() == [0, 1]
    assert ledger.free == 1


# ------------------------------------------------------------------------------------------ against brute force


class Sums:
    """What the ledger should say, from the shares and holds that it has made, by looking at everything."""

    def __init__(self, ledger: NodeLedger, sizes: list[int]) -> None:
        self.ledger, self.sizes = ledger, sizes
        self.running: list[int] = []
        self.held: dict[int, int] = {}

    def field(self, name: str, slot: int) -> int:
        return int(getattr(self.ledger.jobs, name)[slot])

    def left(self, slot: int, begin: int, now: bool) -> list[int]:
        """On each node, the least from `begin` for the job's estimate."""
        end = begin + max(self.field("estimate", slot), 0 if now else 1)
        holds = {other: time for other, time in self.held.items() if other != slot and time < end}
        kept = {other: dict(self.ledger.kept_for(other)) for other in holds}
        shares = {job: dict(self.ledger.shares_of(job)) for job in self.running}
        left = []
        for node, size in enumerate(self.sizes):
            least = size
            for time in [begin] + [time for time in holds.values() if time > begin]:
                used = sum(
                    shares[job].get(node, 0)
                    for job in self.running
                    if self.field("expected_end", job) > time or (now and time == begin)
                )
                for other, first in holds.items():
                    if first <= time < first + max(self.field("estimate", other), 1):
                        used += kept[other].get(node, 0)
                least = min(least, (size if used == 0 else 0) if self.ledger.whole else max(0, size - used))
            left.append(least)
        return left

    def suits(self, slot: int, left: list[int]) -> bool:
        cores, nodes, each = (self.field(name, slot) for name in ("cores", "nodes", "per_node"))
        if nodes < 0 and each > 0:
            nodes = -(-cores // each)
        if nodes < 0:
            return cores <= sum(left)
        nodes = nodes if self.ledger.whole else min(nodes, cores)
        least = max(-(-cores // nodes), each if self.ledger.whole else 0)
        good = [cores >= least for cores in left]
        if not self.ledger.place.plain:
            return any(all(good[i : i + nodes]) for i in range(len(good) - nodes + 1))
        return sum(good) >= nodes

    def earliest(self, slot: int) -> int:
        now = self.ledger.now
        ends = {self.field("expected_end", job) for job in self.running}
        ends |= {time + max(self.field("estimate", other), 1) for other, time in self.held.items() if other != slot}
        for time in sorted({now} | {end for end in ends if end > now}):
            if self.suits(slot, self.left(slot, time, now=False)):
                return time
        return NEVER


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("place", PLACES)
def test_any_sequence_of_changes_agrees_with_brute_force(place, whole):
    for seed in range(40):
        random = stream(seed, f"ledger.{place}.{whole}")
        sizes = [int(size) for size in random.integers(1, 6, int(random.integers(2, 7)))]
        ledger = make_ledger(sizes, place, whole)
        sums = Sums(ledger, sizes)
        _play(ledger, sums, random)


def _play(ledger: NodeLedger, sums: Sums, random: np.random.Generator) -> None:
    waiting: list[int] = []
    first = add_job(ledger, 1, nodes=1)  # while this shaped job has a hold, all holds name their nodes
    for _ in range(40):
        ledger.set_time(ledger.now + int(random.integers(0, 3)))
        for job in [job for job in sums.running if sums.field("expected_end", job) <= ledger.now]:
            ledger.give(job)
            sums.running.remove(job)
        for job in [job for job, time in sums.held.items() if time < ledger.now]:  # no policy keeps a missed promise
            ledger.unhold(job)
            del sums.held[job]
        if first not in sums.held:
            ledger.release_holds()
            sums.held.clear()
            _hold(ledger, sums, first)
        nodes, each = (int(random.integers(1, 4)) if random.random() < 0.4 else -1 for _ in range(2))
        cores = nodes * each if nodes > 0 and each > 0 else int(random.integers(1, 7))
        slot = add_job(ledger, cores, nodes, each, int(random.integers(1, 9)))
        if not ledger.possible(slot):
            assert not sums.suits(slot, sums.sizes)
            continue
        waiting.append(slot)
        for job in list(waiting):
            fits = sums.suits(job, sums.left(job, ledger.now, now=True))
            assert bool(ledger.fits(job)) == fits
            if fits and random.random() < 0.5:
                start(ledger, job)
                sums.held.pop(job, None)
                sums.running.append(job)
                waiting.remove(job)
            elif random.random() < 0.3:
                sums.held.pop(job, None)
                ledger.unhold(job)
                assert ledger.earliest(job, ledger.now) == sums.earliest(job)
                _hold(ledger, sums, job)
        _disturb(ledger, sums, random, first)
        used = np.zeros(len(sums.sizes), int)
        for job in sums.running:
            for node, cores in ledger.shares_of(job):
                used[node] += cores
        free = np.where(used > 0, 0, sums.sizes) if ledger.whole else np.array(sums.sizes) - used
        assert ledger.pool.free_cores().tolist() == free.tolist()
        assert ledger.free == free.sum()


def _hold(ledger: NodeLedger, sums: Sums, job: int) -> None:
    time = ledger.earliest(job, ledger.now)
    ledger.hold(job, time)
    sums.held[job] = time


def _disturb(ledger: NodeLedger, sums: Sums, random: np.random.Generator, first: int) -> None:
    """Sometimes a running job ends early, a hold goes, or all of them."""
    if sums.running and random.random() < 0.3:
        job = sums.running.pop(int(random.integers(len(sums.running))))
        ledger.give(job)
    others = [job for job in sums.held if job != first]
    if others and random.random() < 0.3:
        job = others[int(random.integers(len(others)))]
        del sums.held[job]
        ledger.unhold(job)
    if random.random() < 0.05:
        ledger.release_holds()
        sums.held.clear()


@pytest.mark.parametrize("size", [1, 31, 32, 33, 70, 1100])
def test_the_pool_answers_like_a_list(size):
    random = stream(size, "pool")
    top = int(random.integers(1, 70))
    free = random.integers(0, top + 1, size)
    free[0] = top
    pool = NodePool(free, True, True)
    for _ in range(300):
        node, value = int(random.integers(size)), int(random.integers(0, top + 1))
        pool.set(node, value)
        free[node] = value
        least, begin = int(random.integers(0, top + 1)), int(random.integers(size))
        assert pool.free_cores().tolist() == free.tolist()
        assert pool.total == free.sum()
        assert pool.at_least(least) == (free >= least).sum()
        assert bool(pool.enough(least, 3)) == ((free >= least).sum() >= 3)
        assert pool.first_with(least, begin) == _first((free >= least) & (np.arange(size) >= begin))
        assert pool.first_of(least, begin) == _first((free == least) & (np.arange(size) >= begin))
        assert pool.level_from(least) == min(free[free >= least], default=-1)
        assert pool.level_to(least) == max(free[free <= least], default=-1)
        mark = pool.assumed
        for other in random.integers(size, size=5):
            pool.assume(int(other), int(random.integers(0, top + 1)))
        pool.undo(mark)


def _first(good: np.ndarray) -> int:
    return int(np.argmax(good)) if good.any() else -1
