"""Jobs on nodes: where placements put them, odd cores, whole nodes, speeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walltime.cluster.nodes import FULL_SPEED
from walltime.cluster.requests import NodeRequest
from walltime.core.errors import EngineError
from walltime.core.time import NEVER
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable, done_in, time_for
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policy import registry
from walltime.scenario import Part


def make_ledger(sizes: list[int], place: str = "best-fit", whole: bool = False, pace: Any = None) -> ResourceLedger:
    part = registry.build("place", Part(name=place))
    return ResourceLedger(JobTable(), Hardware(np.array(sizes)[:, None], part, whole, pace, seed=7))


def add_job(ledger: ResourceLedger, cores: int, nodes: int = 0) -> int:
    jobs: Any = ledger.jobs
    slot = int(jobs.add(0, 10, 10, cores))
    each = -(-cores // nodes) if nodes else 1
    jobs.shape[slot] = ledger.intern(NodeRequest(cores, nodes, (each,)), 0)
    return slot


def start(ledger: ResourceLedger, slot: int) -> list[tuple[int, int]]:
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
    assert ledger.pools[0].free_cores().tolist() == [0, 1]
    assert ledger.free == 1
