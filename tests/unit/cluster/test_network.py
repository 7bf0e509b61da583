"""Which links lie between two ends, worked out by hand for each kind of network."""

import math

import pytest

from walltime.cluster.network import Constant, Edge, FatTree, Graph, Link, NetworkPlan, Shared, Star, Tree
from walltime.core.errors import InputError

FAST = Link(100.0, 0.5)
HALF = Link(100.0, 0.5, duplex=False)
WIDE = Link(400.0, 2.0)


def names(network, source, target):
    return [network.names[number] for number in network.route(source, target).links]


def test_constant_has_no_links_but_a_bound():
    route = Constant(4, FAST).route(0, 3)
    assert (route.links, route.latency, route.bound) == ((), 0.5, 100.0)


def test_shared_is_one_medium():
    network = Shared(4, FAST)
    assert network.route(0, 1) == network.route(3, 2)
    assert names(network, 0, 1) == ["medium"]


def test_a_star_passes_two_links_and_its_switch():
    network = Star(3, FAST, outside=[WIDE], switch=Link(1000.0, 0.125))
    assert names(network, 0, 2) == ["node 0", "switch", "node 2 back"]
    assert network.route(0, 2).latency == 1.125
    assert names(network, 3, 1) == ["outside", "switch", "node 1 back"]
    assert network.route(0, 1).bound == math.inf


def test_half_duplex_links_are_the_same_there_and_back():
    network = Star(2, HALF)
    assert names(network, 0, 1) == ["node 0", "node 1"]
    assert set(network.route(0, 1).links) == set(network.route(1, 0).links)


def test_traffic_inside_a_node_has_a_link_of_its_own():
    network = Star(2, FAST, local=Link(1e9, 0.25))
    assert names(network, 1, 1) == ["local 1"]
    assert network.route(1, 1).latency == 0.25
    assert Star(2, FAST).route(1, 1).links == ()


def test_a_tree_climbs_to_the_switch_that_both_are_below():
    network = Tree(8, [(2, FAST), (2, WIDE), (2, WIDE)], outside=[WIDE])
    assert names(network, 0, 1) == ["node 0", "node 1 back"]
    assert names(network, 0, 2) == ["node 0", "level 1 0", "node 2 back", "level 1 1 back"]
    assert network.route(0, 2).latency == 5.0
    assert len(network.route(0, 7).links) == 6
    assert names(network, 8, 7) == ["outside", "node 7 back", "level 1 3 back", "level 2 1 back"]
    assert names(network, 7, 8) == ["node 7", "level 1 3", "level 2 1", "outside back"]


def test_the_switches_of_a_tree_are_passed_once_each():
    network = Tree(8, [(2, FAST), (4, WIDE)], outside=[WIDE], switch=Link(50.0))
    assert [name for name in names(network, 0, 1) if "switch" in name] == ["switch 1 0"]
    assert [name for name in names(network, 0, 7) if "switch" in name] == ["switch 1 0", "switch 2 0", "switch 1 3"]
    assert [name for name in names(network, 8, 7) if "switch" in name] == ["switch 2 0", "switch 1 3"]


def test_a_tree_without_a_single_root_is_refused():
    with pytest.raises(InputError, match="top has 4 switches"):
        Tree(8, [(2, FAST)])


def test_a_fat_tree_goes_by_the_upper_switch_of_the_target():
    network = FatTree(8, 4, 3, downlink=FAST, uplink=WIDE, outside=[FAST])
    assert names(network, 0, 1) == ["node 0", "node 1 back"]
    assert names(network, 0, 2) == ["node 0", "uplink 0 2", "uplink 1 2 back", "node 2 back"]
    assert names(network, 0, 6) == ["node 0", "uplink 0 0", "uplink 3 0 back", "node 6 back"]
    assert names(network, 5, 8) == ["node 5", "uplink 2 2", "outside back"]
    assert names(network, 8, 5) == ["outside", "uplink 2 2 back", "node 5 back"]
    assert network.route(0, 6).latency == 5.0


def test_the_switches_of_a_fat_tree_count_where_told():
    network = FatTree(8, 4, 2, downlink=FAST, uplink=WIDE, switch=Link(50.0, 0.25))
    assert [name for name in names(network, 0, 1) if "switch" in name] == ["switch 0"]
    assert [name for name in names(network, 0, 7) if "switch" in name] == ["switch 0", "switch 5", "switch 3"]


EDGES = (
    Edge("a", "n0", "s", FAST),
    Edge("b", "s", "n1", FAST),
    Edge("c", "n0", "t", Link(10.0, 0.1)),
    Edge("d", "t", "n1", Link(10.0, 0.1)),
    Edge("e", "n1", "n2", WIDE),
)


def test_a_graph_takes_the_fewest_links_then_the_least_latency():
    network = Graph(3, ["n0", "n1", "n2"], NetworkPlan(EDGES))
    assert names(network, 0, 1) == ["c", "d"]
    assert names(network, 1, 0) == ["d back", "c back"]
    assert names(network, 0, 2) == ["c", "d", "e"]


def test_a_graph_takes_the_routes_that_are_told():
    network = Graph(3, ["n0", "n1", "n2"], NetworkPlan(EDGES, routes=(("n0", "n1", ("a", "b")),)))
    assert names(network, 0, 1) == ["a", "b"]
    assert names(network, 1, 0) == ["b back", "a back"]


@pytest.mark.parametrize(
    ("plan", "match"),
    [
        (NetworkPlan(EDGES[:4]), "no link of the network leads to: 'n2'"),
        (NetworkPlan((*EDGES, Edge("a", "x", "y", FAST))), "two links have the same name: 'a'"),
        (NetworkPlan(EDGES, (("n0", "n1", ("a", "z")),)), "a link that is none: 'z'"),
        (NetworkPlan(EDGES, (("n0", "n1", ("a", "d")),)), "comes to s, where the next link does not begin: 'd'"),
        (NetworkPlan(EDGES, (("n0", "n1", ("a",)),)), "a route to n1 ends at s"),
    ],
)
def test_a_graph_that_does_not_hold_together_is_refused(plan, match):
    with pytest.raises(InputError, match=match):
        Graph(3, ["n0", "n1", "n2"], plan)


def test_ends_without_a_way_between_them_are_told_when_one_sends():
    network = Graph(2, ["n0", "n1"], NetworkPlan((Edge("a", "n0", "s", FAST), Edge("b", "n1", "t", FAST))))
    with pytest.raises(InputError, match="no way leads from n0 to n1"):
        network.route(0, 1)
