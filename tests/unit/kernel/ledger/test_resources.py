"""The ledger of resources: each rule in a case small enough to check by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walltime.cluster.requests import NodeRequest
from walltime.core.errors import EngineError, PolicyError
from walltime.core.time import NEVER
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policy import registry
from walltime.policy.place import as_place
from walltime.scenario import Part


class Site:
    """A ledger and short words for what is done with it."""

    def __init__(self, capacity: list[list[int]], place: Any = "first-fit", **options: Any) -> None:
        self.jobs: Any = JobTable()
        part = registry.build("place", Part(name=place)) if isinstance(place, str) else as_place(place)
        self.ledger = ResourceLedger(self.jobs, Hardware(np.array(capacity), part, **options))

    def add(self, cores: int, nodes: int, *rest: int, estimate: int = 10, node_set: int = 0, **options: Any) -> int:
        each = (-(-cores // nodes) if nodes else 1, *rest)
        slot = int(self.jobs.add(0, estimate, estimate, cores))
        self.jobs.shape[slot] = self.ledger.intern(NodeRequest(cores, nodes, each, **options), node_set)
        return slot

    def start(self, slot: int) -> list[tuple[int, int]]:
        self.jobs.expected_end[slot] = self.ledger.now + self.jobs.estimate[slot]
        self.ledger.take(slot)
        return self.ledger.shares_of(slot)

    def reserve(self, slot: int) -> tuple[int, list[Any]]:
        time = self.ledger.earliest(slot, self.ledger.now)
        self.ledger.hold(slot, time)
        return time, self.ledger.kept_for(slot)

    def bounds_of(self, node_set: int) -> tuple[int, int, int]:
        self.ledger.focus(node_set, False)
        return self.ledger.most_free, self.ledger.most_extra, self.ledger.most_window


def test_memory_is_reserved_on_named_nodes_and_left_alone_by_others():
    site = Site([[4, 10], [4, 10]])
    site.start(site.add(1, 1, 8))
    assert site.reserve(site.add(2, 2, 8)) == (10, [(0, (1, 8)), (1, (1, 8))])
    assert not site.ledger.fits(site.add(1, 1, 3, estimate=11))
    assert site.ledger.fits(site.add(1, 1, 3, estimate=10))
    assert site.ledger.fits(site.add(1, 1, 2, estimate=11))


def test_enough_in_sum_is_not_enough_on_a_node():
    site = Site([[4, 10], [4, 10]])
    site.start(site.add(2, 2, 6))
    assert site.ledger.free == 6
    assert not site.ledger.fits(site.add(1, 1, 5))
    assert site.ledger.fits(site.add(2, 2, 4))
    assert not site.ledger.possible(site.add(1, 1, 11))


def test_odd_cores_go_to_the_lowest_numbers_and_a_hold_keeps_them_everywhere():
    site = Site([[4], [4], [4]])
    long = site.add(11, 3, estimate=5)
    assert site.start(long) == [(0, 4), (1, 4), (2, 3)]
    assert site.reserve(site.add(7, 2))[1] == [(0, (4,)), (1, (4,))]
    assert site.ledger.free_of(2) == [1]


def test_every_node_of_a_job_has_its_full_amount_of_the_rest():
    site = Site([[4, 9], [4, 9]])
    site.start(site.add(3, 2, 5))
    assert (site.ledger.free_of(0), site.ledger.free_of(1)) == ([2, 4], [3, 4])


def test_a_shapeless_job_takes_memory_with_each_core():
    site = Site([[4, 5], [4, 9]])
    assert site.start(site.add(5, 0, 2)) == [(0, 2), (1, 3)]
    assert (site.ledger.free_of(0), site.ledger.free_of(1)) == ([2, 1], [1, 3])
    assert site.ledger.fits(site.add(1, 0, 3))
    assert not site.ledger.fits(site.add(2, 0, 2))
    assert site.ledger.fits(site.add(3, 0, 0))


def test_an_exclusive_job_needs_an_empty_node_and_gets_all_of_it():
    site = Site([[4, 9], [2, 9]])
    site.start(site.add(1, 1, 0, estimate=5))
    job = site.add(3, 1, 1, exclusive=True)
    assert not site.ledger.fits(job)
    assert site.reserve(job) == (5, [(0, (4, 1))])
    assert site.start(site.add(1, 1, 0, exclusive=True, estimate=3)) == [(1, 2)]
    assert not site.ledger.fits(site.add(1, 1, 0, estimate=9))
    assert site.ledger.fits(site.add(1, 1, 0, estimate=5))


def test_whole_nodes_are_exclusive_for_everybody():
    site = Site([[4], [4]], whole=True)
    assert site.start(site.add(5, 0)) == [(0, 4), (1, 4)]
    assert site.ledger.free == 0
    assert site.ledger.describe(0) == 1


def test_licences_are_taken_and_reserved_like_resources():
    site = Site([[4], [4]], licences=(3,))
    first = site.add(1, 1, licences=(2,))
    site.start(first)
    second = site.add(1, 1, licences=(2,))
    assert not site.ledger.fits(second)
    assert site.reserve(second) == (10, [(0, (1,)), (2, (2,))])
    assert not site.ledger.fits(site.add(2, 0, licences=(2,)))
    assert site.ledger.fits(site.add(2, 0, licences=(1,), estimate=10))
    assert site.ledger.fits(site.add(2, 0, licences=(1,), estimate=20))
    third = site.add(2, 0, licences=(1,), estimate=20)
    site.start(third)
    site.ledger.prolong(first, 15)
    assert site.ledger.earliest(second, 0) == 15
    site.ledger.give(first)
    assert site.ledger.fits(second)
    assert not site.ledger.possible(site.add(1, 1, licences=(4,)))


def test_a_job_stays_on_the_same_nodes_for_its_whole_time():
    """Node 0 is kept from 5 on, node 1 until 5: at each moment one is free, but none for a job of length 6."""
    site = Site([[1], [1]])
    site.ledger.add_set(np.array([True, False]))
    site.ledger.add_set(np.array([False, True]))
    site.ledger.hold(site.add(1, 1, estimate=5, node_set=1), 5)
    site.ledger.hold(site.add(1, 1, estimate=5, node_set=2), 0)
    assert site.ledger.earliest(site.add(1, 1, estimate=5), 0) == 0
    assert site.ledger.earliest(site.add(1, 1, estimate=6), 0) == 5
    assert site.ledger.earliest(site.add(1, 0, estimate=6), 0) == 5
    assert site.ledger.earliest(site.add(2, 0, estimate=6), 0) == 10


@pytest.mark.parametrize("other", [False, True])
def test_a_hold_takes_the_nodes_that_are_free_last(other):
    """Nodes are free at 9, 4, 4 and at once; with another hold, from 9 on, the answer is found another way."""
    site = Site([[2], [2], [2], [2]])
    for estimate in (9, 4, 4):
        site.start(site.add(2, 1, estimate=estimate))
    if other:
        assert site.reserve(site.add(8, 4))[0] == 9
        assert site.reserve(site.add(4, 2, estimate=5)) == (4, [(1, (2,)), (2, (2,))])
    else:
        assert site.reserve(site.add(6, 3)) == (4, [(1, (2,)), (2, (2,)), (3, (2,))])
        assert site.reserve(site.add(2, 1)) == (9, [(0, (2,))])


def test_a_set_knows_its_own_nodes_also_when_it_is_made_late():
    site = Site([[2], [4], [4]])
    site.start(site.add(6, 2, estimate=8))
    last = site.ledger.add_set(np.array([True, True, False]))
    assert site.ledger.add_set(np.array([True, True, False])) == last == 1
    job = site.add(2, 1, node_set=last)
    assert site.start(job) == [(0, 2)]
    assert site.bounds_of(last) == (1, 1, NEVER)
    assert site.ledger.free == 2
    assert site.ledger.earliest(site.add(3, 1, node_set=last), 0) == 8
    assert not site.ledger.possible(site.add(5, 1, node_set=last))


def test_sets_that_come_together_are_those_that_come_one_by_one():
    """Jobs of overlapping sets, one of them named twice, are put on the same nodes, held and refused alike."""
    masks = [np.array(nodes, bool) for nodes in ([1, 1, 0, 0], [0, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 0])]
    told = []
    for together in (False, True):
        site = Site([[4], [4], [2], [2]])
        site.start(site.add(3, 1, estimate=7))
        sets = site.ledger.add_sets(masks) if together else [site.ledger.add_set(mask) for mask in masks]
        assert sets == [1, 2, 3, 1]
        placed = [site.start(site.add(2, 1, node_set=number, estimate=5)) for number in sets[:3]]
        held = site.reserve(site.add(4, 2, node_set=sets[1]))
        bounds = [site.bounds_of(number) for number in range(4)]
        possible = [site.ledger.possible(site.add(3, 1, node_set=number)) for number in range(4)]
        told.append((placed, held, bounds, possible))
    assert told[0] == told[1]
    assert told[0][3] == [True, True, True, False]


def test_the_bounds_are_what_is_left_beside_the_only_hold():
    """Node 0 has 1 of 4 free, node 1 all; two nodes with 3 each are kept from 6 on: 0 and 1 are left then."""
    site = Site([[4], [4]])
    site.start(site.add(3, 1, estimate=6))
    site.reserve(site.add(6, 2))
    assert (site.ledger.free, site.ledger.window, site.ledger.extra) == (5, 6, 2)
    site.start(site.add(1, 1, estimate=20))
    assert (site.ledger.free, site.ledger.extra) == (4, 1)
    site.ledger.set_time(2)
    assert site.ledger.window == 4
    site.ledger.release_holds()
    assert (site.ledger.window, site.ledger.extra) == (NEVER, 4)


@pytest.mark.parametrize("anew", [False, True])
def test_the_only_hold_is_changed_as_if_it_were_made_again(anew):
    """Of 8 cores 2 are free, 3 more from 7 on, 2 from 9, 1 from 12; 4 are kept from 7 on. Those 3 are free at once and
    gone for longer: from 9 on. The last one comes free early: still from 9 on, with one to spare."""
    site = Site([[4], [4]])
    jobs = [site.add(cores, 0, estimate=end) for cores, end in ((2, 9), (1, 12), (3, 7))]
    for slot in jobs:
        site.start(slot)
    head = site.add(4, 0)

    def reserve() -> tuple[int, int, int, int]:
        if anew:
            site.ledger.release_holds()
        time, names = site.reserve(head)
        assert names == []
        return time, site.ledger.free, site.ledger.window, site.ledger.extra

    assert reserve() == (7, 2, 7, 1)
    site.ledger.give(jobs[2])
    site.start(site.add(3, 0, estimate=20))
    for now in (1, 2):
        site.ledger.set_time(now)
        assert reserve() == (9, 2, 9 - now, 0)
    site.ledger.give(jobs[1])
    assert (site.ledger.free, site.ledger.extra) == (3, 1)
    assert reserve() == (9, 3, 7, 1)


def test_a_domain_drops_its_own_holds_only():
    site = Site([[2], [2]])
    site.start(site.add(4, 2))
    first, second = site.add(2, 1), site.add(2, 1)
    site.jobs.domain[second] = 1
    site.reserve(first)
    site.reserve(second)
    site.ledger.domain = 0
    site.ledger.release_holds()
    assert (site.ledger.kept_for(first), site.ledger.kept_for(second)) == ([], [(1, (2,))])
    site.ledger.domain = -1
    site.ledger.release_holds()
    assert site.ledger.holds == 0


@pytest.mark.parametrize(("place", "node"), [("first-fit", 0), ("best-fit", 1), ("worst-fit", 2)])
def test_fit_counts_what_is_left_over_of_all_resources(place, node):
    """A core and 2 of the rest: left over are 3/4 + 4/10, 2/4 + 4/10, and 2/4 + 8/10, the most."""
    site = Site([[4, 6], [3, 6], [3, 10]], place)
    assert site.start(site.add(1, 1, 2)) == [(node, 1)]


def test_topology_prefers_the_switch_with_the_least_to_spare():
    switches = [0, 0, 0, 1, 1, 2]
    site = Site([[2]] * 6, "topology", switches=switches)
    assert site.start(site.add(2, 2)) == [(3, 1), (4, 1)]
    assert site.start(site.add(2, 1)) == [(5, 2)]
    assert site.start(site.add(4, 0)) == [(0, 2), (1, 2)]


def test_topology_fills_the_largest_switches_where_one_is_not_enough():
    site = Site([[2]] * 6, "topology", switches=[0, 1, 1, 1, 2, 2])
    assert site.start(site.add(4, 4)) == [(1, 1), (2, 1), (3, 1), (4, 1)]
    assert site.start(site.add(5, 0)) == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]


def test_a_job_is_as_slow_as_its_slowest_node():
    site = Site([[2], [2]], pace=[500_000, 2_000_000])
    job = site.add(4, 2)
    site.start(job)
    assert site.jobs.speed[job] == 500_000


def test_a_placement_in_python_is_asked_with_the_nodes_that_can_serve():
    class Last:
        seen: Any = None

        def choose(self, free, cores, job):
            self.seen = free.tolist()
            return range(len(free) - 1, -1, -1)

    place = Last()
    site = Site([[4, 9], [4, 9], [4, 1]], place)
    assert site.start(site.add(2, 1, 5)) == [(1, 2)]
    assert place.seen == [4, 4, 0]

    class Wrong:
        def choose(self, free, cores, job):
            return [2]

    site = Site([[4, 9], [4, 9], [4, 1]], Wrong())
    job = site.add(2, 1, 5)
    with pytest.raises(PolicyError, match="chose 0 nodes"):
        site.start(job)


def test_a_job_that_is_resumed_goes_before_what_is_kept():
    site = Site([[2, 5]])
    site.ledger.hold(site.add(2, 1, 5), 0)
    assert site.start(site.add(1, 1, 4)) == [(0, 1)]


def test_nodes_are_not_taken_twice():
    site = Site([[2, 5]], licences=(1,))
    site.start(site.add(1, 1, 4, licences=(1,)))
    for request in ((1, 1, 2), (2, 1, 0), (2, 0, 0)):
        with pytest.raises(EngineError, match="takes nodes where it does not fit"):
            site.start(site.add(*request))
    with pytest.raises(EngineError, match="takes nodes where it does not fit"):
        site.start(site.add(1, 1, 0, licences=(1,)))
    assert site.start(site.add(1, 1, 1)) == [(0, 1)]


def test_a_job_without_a_shape_number_is_an_error():
    site = Site([[2]])
    with pytest.raises(EngineError, match="has no shape"):
        site.ledger.possible(site.jobs.add(0, 1, 1, 1))
