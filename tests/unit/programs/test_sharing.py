"""Fair shares by hand: who gets how much of what, where the answer is known."""

import math

import pytest

from walltime.programs.sharing import FairShares

INFINITE = math.inf


def shares_of(capacities, flows):
    """The rates of flows, each (resources, weight, bound), after one settlement."""
    made = FairShares()
    for capacity in capacities:
        made.add_resource(capacity)
    for number, (resources, weight, bound) in enumerate(flows):
        made.open(number, weight, bound)
        for resource in resources:
            made.use_resource(number, resource, 1.0)
        made.start(number)
    made.settle()
    return [made.rate_of(number) for number in range(len(flows))]


def test_flows_on_one_link_have_equal_parts():
    for count in (1, 2, 3, 7, 100):
        assert shares_of([10.0], [([0], 1.0, INFINITE)] * count) == pytest.approx([10.0 / count] * count)


def test_a_long_flow_and_short_ones_share_each_link():
    """The parking lot: the long flow has half of its worst link, the others what is left of theirs."""
    rates = shares_of(
        [10.0, 6.0, 8.0], [([0, 1, 2], 1, INFINITE), ([0], 1, INFINITE), ([1], 1, INFINITE), ([2], 1, 99)]
    )
    assert rates == pytest.approx([3.0, 7.0, 3.0, 5.0])


def test_shares_are_in_proportion_to_weights():
    assert shares_of([9.0], [([0], 1.0, INFINITE), ([0], 2.0, INFINITE)]) == pytest.approx([3.0, 6.0])


def test_what_a_bounded_flow_leaves_is_shared_by_the_others():
    assert shares_of([9.0], [([0], 1.0, 1.0), ([0], 1.0, INFINITE), ([0], 1.0, INFINITE)]) == pytest.approx([1, 4, 4])


def test_a_flow_without_resources_has_its_bound():
    assert shares_of([], [([], 1.0, 5.0), ([], 1.0, INFINITE)]) == [5.0, INFINITE]


def test_a_coefficient_counts_the_use_of_a_resource_so_often():
    made = FairShares()
    made.add_resource(12.0)
    for number, coefficient in enumerate((1.0, 3.0)):
        made.open(number, 1.0, INFINITE)
        made.use_resource(number, 0, coefficient)
        made.start(number)
    made.settle()
    assert (made.rate_of(0), made.rate_of(1)) == pytest.approx((3.0, 3.0))


def test_a_flow_that_stops_leaves_its_part_to_the_others():
    made = FairShares()
    made.add_resource(12.0)
    for number in range(3):
        made.open(number, 1.0, INFINITE)
        made.use_resource(number, 0, 1.0)
        made.start(number)
    made.settle()
    made.drop(1)
    assert made.settle() == 2
    assert sorted(made.changed[: made.changes]) == [0, 2]
    assert (made.rate_of(0), made.rate_of(2)) == pytest.approx((6.0, 6.0))


def test_a_capacity_that_falls_with_the_flows_that_use_it():
    made = FairShares()
    made.add_resource(12.0, curve=(1.0, 0.5, 0.25))
    rates = []
    for number in range(4):
        made.open(number, 1.0, INFINITE)
        made.use_resource(number, 0, 1.0)
        made.start(number)
        made.settle()
        rates.append(made.rate_of(number))
    assert rates == pytest.approx([12.0, 3.0, 1.0, 0.75])
    for number in (0, 1, 2):
        made.drop(number)
    made.settle()
    assert made.rate_of(3) == pytest.approx(12.0)


def test_a_capacity_that_is_set_changes_its_flows_alone():
    made = FairShares()
    for capacity in (4.0, 6.0):
        made.add_resource(capacity)
    for number in range(4):
        made.open(number, 1.0, INFINITE)
        made.use_resource(number, number % 2, 1.0)
        made.start(number)
    made.settle()
    made.set_capacity(0, 10.0)
    made.settle()
    assert sorted(made.changed[: made.changes]) == [0, 2]
    assert [made.rate_of(number) for number in range(4)] == pytest.approx([5.0, 3.0, 5.0, 3.0])


def test_a_change_costs_by_the_flows_that_share_a_bottleneck():
    """Pairs on links of their own cross a wide backbone: a new flow on one link is solved with its own link's flows."""
    made = FairShares()
    backbone = made.add_resource(1e9)
    links = [made.add_resource(1.0) for _ in range(1000)]
    for number in range(2000):
        made.open(number, 1.0, INFINITE)
        made.use_resource(number, links[number // 2], 1.0)
        made.use_resource(number, backbone, 1.0)
        made.start(number)
    made.settle()
    assert made.changes == 2000
    made.open(2000, 1.0, INFINITE)
    made.use_resource(2000, links[7], 1.0)
    made.use_resource(2000, backbone, 1.0)
    made.start(2000)
    made.settle()
    assert made.grouped == 3
    assert sorted(made.changed[: made.changes]) == [14, 15, 2000]
    assert sum(made.rate_of(number) for number in range(2001)) == pytest.approx(1000.0)
