"""Requests: how a job's columns are divided over nodes, and why one can never run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from walltime.cluster.nodes import Layout, NodeGroup
from walltime.cluster.requests import (
    Amount,
    NodeRequest,
    Stock,
    make_request,
    parse_constraint,
    parse_licences,
    parse_resources,
    refusal,
)
from walltime.core.errors import InputError

LAYOUT = Layout(
    (
        NodeGroup(4, 8, memory=64, name="cpu", features=("ib", "xeon")),
        NodeGroup(2, 4, memory=32, gpus=2, resources={"scratch": 100}, name="gpu", features=("epyc",)),
    ),
    licences={"matlab": 3, "ansys": 1},
)
ALL = np.ones(6, bool)
FIRST = np.arange(6) < 2


def divide(layout: Layout = LAYOUT, mask: Any = ALL, **columns: Any) -> tuple[int, tuple[int, ...]]:
    request = make_request(Stock.of(layout, mask), **columns)
    return request.nodes, request.each


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"cores": 5}, (0, (1, 0, 0, 0))),
        ({"cores": 5, "memory": 16}, (0, (1, 4, 0, 0))),
        ({"cores": 5, "memory": 16, "memory_per_core": 3}, (0, (1, 3, 0, 0))),
        ({"cores": 7, "nodes": 2}, (2, (4, 0, 0, 0))),
        ({"cores": 2, "nodes": 3}, (2, (1, 0, 0, 0))),
        ({"cores": 9, "cores_per_node": 4}, (3, (3, 0, 0, 0))),
        ({"cores": 7, "nodes": 2, "memory": 9}, (2, (4, 5, 0, 0))),
        ({"cores": 7, "nodes": 2, "memory_per_core": 3, "memory": 9}, (2, (4, 12, 0, 0))),
        ({"cores": 7, "nodes": 2, "memory_per_node": 1, "memory_per_core": 3}, (2, (4, 1, 0, 0))),
        ({"cores": 4, "nodes": 2, "gpus": 3}, (2, (2, 0, 2, 0))),
        ({"cores": 4, "nodes": 2, "gpus": 3, "gpus_per_node": 1}, (2, (2, 0, 1, 0))),
        ({"cores": 4, "nodes": 2, "resources": "scratch:10/core"}, (2, (2, 0, 0, 20))),
        ({"cores": 4, "nodes": 2, "resources": "scratch:15/job"}, (2, (2, 0, 0, 8))),
        ({"cores": 4, "nodes": 2, "resources": "scratch:15"}, (2, (2, 0, 0, 15))),
        ({"cores": 4, "gpus": 2}, (1, (4, 0, 2, 0))),
        ({"cores": 4, "gpus": 3}, (2, (2, 0, 2, 0))),
        ({"cores": 6, "gpus": 1}, (2, (3, 0, 1, 0))),
        ({"cores": 1, "gpus": 3}, (1, (1, 0, 3, 0))),
        ({"cores": 12, "exclusive": 1}, (2, (6, 0, 0, 0))),
        ({"cores": 40, "exclusive": 1}, (1, (40, 0, 0, 0))),
        ({"cores": 20, "memory_per_node": 40}, (3, (7, 40, 0, 0))),
        ({"cores": 2, "nodes": 3, "exclusive": 1}, (3, (1, 0, 0, 0))),
    ],
)
def test_a_request_is_divided_evenly_over_the_fewest_nodes(columns, expected):
    assert divide(**columns) == expected


def test_only_nodes_of_the_job_count_for_the_fewest():
    assert divide(cores=12, exclusive=1)[0] == 2
    assert divide(mask=~FIRST & (np.arange(6) > 2), cores=12, exclusive=1)[0] == 3  # 8, 4, 4


def test_whole_nodes_make_every_request_exclusive_but_give_it_no_shape():
    whole = Layout(LAYOUT.groups, "whole")
    assert make_request(Stock.of(whole, ALL), cores=5) == NodeRequest(5, 0, (1, 0, 0, 0), True)
    assert make_request(Stock.of(whole, ALL), cores=2, nodes=3).nodes == 3


def test_memory_that_no_node_counts_is_not_part_of_a_request():
    assert divide(Layout((NodeGroup(2, 4),)), np.ones(2, bool), cores=3, memory=10**12) == (0, (1,))


def test_licences_are_for_the_whole_job_in_the_order_of_the_cluster():
    assert make_request(Stock.of(LAYOUT, ALL), cores=4, nodes=2, licences="ansys, matlab:2").licences == (2, 1)


@pytest.mark.parametrize(
    ("columns", "mask", "queue", "reason"),
    [
        ({"cores": 40}, ALL, None, None),
        ({"cores": 41}, ALL, None, "more cores than the cluster has"),
        ({"cores": 17}, FIRST, "short", "more cores than queue short has"),
        ({"cores": 7, "nodes": 7}, ALL, None, "more nodes than the cluster has"),
        ({"cores": 3, "nodes": 3}, FIRST, "short", "more nodes than queue short has"),
        ({"cores": 9, "nodes": 1}, ALL, None, "more cores on a node than any node has"),
        ({"cores": 1, "nodes": 1, "memory": 65}, ALL, None, "more memory on a node than any node has"),
        ({"cores": 1, "nodes": 1, "gpus": 1}, FIRST, "short", "more GPUs on a node than any node of queue short has"),
        ({"cores": 1, "resources": "scratch:101"}, ALL, None, "more scratch on a node than any node has"),
        ({"cores": 40, "nodes": 5}, ALL, None, "more nodes of that size than the cluster has"),
        ({"cores": 1, "memory_per_core": 65}, ALL, None, "more memory with a core than any node has"),
        ({"cores": 6, "memory_per_core": 60}, ALL, None, "more cores with that much memory than the cluster has"),
        ({"cores": 1, "licences": "matlab:4"}, ALL, None, "more licences of matlab than there are"),
        ({"cores": 1, "resources": "fpga:1"}, ALL, None, "no node has fpga"),
        ({"cores": 1, "licences": "abaqus"}, ALL, None, "there are no licences of abaqus"),
        ({"cores": 1, "licences": "matlab:3,abaqus:0"}, ALL, None, None),
    ],
)
def test_what_can_never_run_is_refused_in_words(columns, mask, queue, reason):
    assert refusal(Stock.of(LAYOUT, mask), make_request(Stock.of(LAYOUT, mask), **columns), queue) == reason


def test_a_constraint_is_named_in_the_refusal():
    mask = parse_constraint(LAYOUT, "epyc")
    request = make_request(Stock.of(LAYOUT, mask), cores=12, nodes=3)
    assert refusal(Stock.of(LAYOUT, mask), request, constraint="epyc") == "more cores than the nodes with epyc have"
    nobody = np.zeros(6, bool)
    request = make_request(Stock.of(LAYOUT, nobody), cores=1, gpus=1)
    assert refusal(Stock.of(LAYOUT, nobody), request, "short", "epyc") == "no node of queue short has the property epyc"


def test_gpus_that_no_node_has_are_refused():
    layout = Layout((NodeGroup(2, 4, memory=8),))
    request = make_request(Stock.of(layout, np.ones(2, bool)), cores=1, gpus=1)
    assert refusal(Stock.of(layout, np.ones(2, bool)), request) == "no node has any GPUs"


def test_what_nodes_do_not_tell_is_not_counted():
    """Nodes that tell of nothing but cores may have GPUs; memory that no node tells of never runs out."""
    layout = Layout((NodeGroup(2, 4),))
    asked = make_request(Stock.of(layout, ALL[:2]), cores=3, gpus=1, memory_per_node=5)
    assert asked == make_request(Stock.of(layout, ALL[:2]), cores=3)


def test_constraints_are_properties_joined_by_and_and_or():
    assert parse_constraint(LAYOUT, "ib&xeon").tolist() == [True] * 4 + [False] * 2
    assert parse_constraint(LAYOUT, "ib & epyc").tolist() == [False] * 6
    assert parse_constraint(LAYOUT, "ib&epyc|epyc").tolist() == [False] * 4 + [True] * 2


@pytest.mark.parametrize("text", ["", "ib&", "|ib", "ib&&xeon"])
def test_a_constraint_with_a_gap_is_refused(text):
    with pytest.raises(InputError, match="a property is missing"):
        parse_constraint(LAYOUT, text)


def test_a_property_that_nobody_has_is_satisfied_by_no_node():
    assert parse_constraint(LAYOUT, "ib&xeno").tolist() == [False] * 6
    assert parse_constraint(LAYOUT, "xeno|epyc").tolist() == [False] * 4 + [True] * 2


def test_named_resources_are_per_node_unless_they_say_so():
    assert parse_resources("scratch:100,fpga:1/core, ram:8/job") == {
        "scratch": Amount(100, "node"),
        "fpga": Amount(1, "core"),
        "ram": Amount(8, "job"),
    }
    assert parse_resources("") == {}
    assert parse_licences("matlab:2,ansys") == {"matlab": 2, "ansys": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scratch:ten", "not a whole number: 'ten'"),
        ("scratch:-1", "not a whole number: '-1'"),
        ("scratch:99999999999999999999", "a number out of range"),
        ("scratch:", "must be a list such as"),
        (":3", "must be a list such as"),
        ("scratch:1/socket", r"per: 'socket' \(choices: node, core, job\)"),
        ("scratch:1,scratch:2", "twice: 'scratch'"),
        ("scratsh:1", "no node has this resource: 'scratsh'; did you mean 'scratch'"),
        ("memory:1", "a column of its own: 'memory'"),
    ],
)
def test_resources_that_cannot_be_read_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        parse_resources(text, LAYOUT.resources())


def test_an_unknown_licence_is_refused_with_the_choices():
    with pytest.raises(InputError, match=r"no such licence: 'matlb'; did you mean 'matlab'"):
        parse_licences("matlb", LAYOUT.licences)


# ---- nodes that differ


def test_parts_are_put_in_order_and_have_their_share_of_the_rest():
    request = make_request(Stock.of(LAYOUT, ALL), cores=12, nodes=4, parts="2x1+1x2+1x8", memory_per_core=3, gpus=4)
    assert (request.nodes, request.each) == (4, (1, 3, 1, 0))
    assert request.parts == ((1, (8, 24, 1, 0)), (1, (2, 6, 1, 0)), (2, (1, 3, 1, 0)))
    told = make_request(Stock.of(LAYOUT, ALL), cores=9, parts="1x8,memory=20,gpus=1+1x1,memory=4,gpus=0@q", memory=100)
    assert told.parts == ((1, (8, 20, 1, 0)), (1, (1, 4, 0, 0)))


def test_parts_that_are_alike_are_a_request_like_any_other():
    stock = Stock.of(LAYOUT, ALL)
    assert make_request(stock, cores=6, parts="1x2+2x2") == make_request(stock, cores=6, nodes=3)


@pytest.mark.parametrize(
    ("parts", "cores", "words"),
    [
        ("1x8+2", 10, "names no nodes"),
        ("1x8+1x1", 10, "not the 10 cores"),
        ("1x8,memory=1+1x1,memory=2", 9, "neither wants as much of everything"),
        ("1x8+0x1", 8, "nodes x cores of each"),
        ("1x8;1x1", 9, "nodes x cores of each"),
    ],
)
def test_parts_that_cannot_be_asked_for(parts, cores, words):
    with pytest.raises(InputError, match=words):
        make_request(Stock.of(LAYOUT, ALL), cores=cores, parts=parts)


@pytest.mark.parametrize(
    ("parts", "cores", "words"),
    [
        ("4x8+2x4", 40, None),
        ("3x8+3x5", 39, "more nodes of that size"),
        ("4x8+3x4", 44, "more cores than"),
        ("4x8+3x1", 35, "more nodes than"),
        ("1x9+1x1", 10, "more cores on a node"),
    ],
)
def test_parts_that_no_empty_machine_has(parts, cores, words):
    stock = Stock.of(LAYOUT, ALL)
    found = refusal(stock, make_request(stock, cores=cores, parts=parts))
    assert (found is None) if words is None else (found or "").startswith(words)


def test_licences_beyond_all_numbers_are_refused():
    with pytest.raises(InputError, match="licences: a number out of range"):
        parse_licences("matlab:2,ansys:99999999999999999999")
    assert parse_licences("matlab:000000000000002") == {"matlab": 2}
