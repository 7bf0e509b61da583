"""Resources of nodes, licences and placements: a few jobs each, whose schedule was worked out by hand.

The drawings show what a node has from left to right, a letter for each unit that a job uses and a dot for what is
free. All jobs are submitted at 0 unless the text says otherwise; A is the first.
"""

from __future__ import annotations

import pytest
from site_schedule import job


def nodes(*groups, place="first-fit", backfill="easy", **cluster):
    return {"nodes": list(groups), "scheduler": {"place": place, "backfill": backfill}} | cluster


def test_memory_comes_with_cores(schedule):
    """Two nodes of 4 cores and 8 of memory. A wants 2 cores with 6 each: a node offers it 8 // 6 = 1 core.

    ::
             memory at 0   at 10
        n0   AAAAAACC      BBB..CC.    B (3) finds 2 on each node, and waits for A
        n1   AAAAAACC      CC......    C (2 cores, 2 each) fits beside A, and beside B's place at 10
    """
    got = schedule(
        nodes({"count": 2, "cores": 4, "memory": 8}),
        job(0, 10, 2, memory=12),
        job(0, 5, 1, memory=3),
        job(0, 20, 2, memory=4),
    )
    assert got.starts == [0, 10, 0]
    assert got.nodes == ["0-1:1", "0:1", "0-1:1"]
    assert got.backfilled == [False, False, True]


def test_memory_per_node_and_per_core(schedule):
    """Two nodes of 4 cores and 8 of memory.

    ::
             memory at 0   at 10
        n0   AAAAACCC      BBBB.CCC    A: 5 on each of 2 nodes. B: 2 cores of 2, that is 4 on one node: after A.
        n1   AAAAA...      ........    B is kept n0 from 10. C (3 of 8 on one node, until 30) leaves it 5 there.
                                       D: 9 on a node; rejected.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4, "memory": 8}),
        job(0, 10, 2, nodes=2, memory_per_node=5),
        job(0, 5, 2, nodes=1, memory_per_core=2),
        job(0, 30, 1, nodes=1, memory=3),
        job(0, 5, 1, memory_per_node=9),
    )
    assert got.starts == [0, 10, 0, None]
    assert got.nodes == ["0-1:1", "0:2", "0:1", None]
    assert got.states[3] == "rejected"


def test_gpus_go_to_the_fewest_nodes_that_hold_an_even_part(schedule):
    """Two nodes of 4 cores and 2 GPUs, one of 8 cores.

    ::
             GPUs at 0   cores at 0   cores at 10
        n0   AA          AACC         BCC.        A: 3 GPUs are on no node; on two, 2 on each.
        n1   AA          AACC         CC..        B: 1 GPU, after A; kept on n0, the first of two that are free then.
        n2               CC......     CC......    C: 6 cores, beside A now and beside B's place later.
                                                  D: 5 GPUs: 3 on two nodes, 2 on three, 1 on five: never. Rejected.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4, "gpus": 2}, {"count": 1, "cores": 8, "name": "c"}),
        job(0, 10, 4, gpus=3),
        job(0, 5, 1, gpus_per_node=1),
        job(0, 20, 6),
        job(0, 5, 8, gpus=5),
    )
    assert got.starts == [0, 10, 0, None]
    assert got.nodes == ["0-1:2", "0:1", "0-2:2", None]
    assert got.states[3] == "rejected"


def test_named_resources_per_node_core_and_job(schedule):
    """Two nodes of 4 cores, 4 scratch and 2 fpga; whatever fits starts.

    ::
             fpga at 0   scratch at 0   scratch at 10
        n0   AA          CCC.           DD..    A: 2 cores, fpga 1 per core: 2 on n0. B: 1 on a node: n1.
        n1   BE          CCCE           ....    C: 6 scratch in all: 3 on each of two nodes. D: 2 on a node: after C.
                                                E: 1 of each: n1 has both, and it overtakes D. F: tape is nowhere.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4, "resources": {"scratch": 4, "fpga": 2}}, backfill="aggressive"),
        job(0, 10, 2, resources="fpga:1/core"),
        job(0, 10, 1, resources="fpga:1"),
        job(0, 10, 2, resources="scratch:6/job"),
        job(0, 10, 1, resources="scratch:2"),
        job(0, 10, 1, resources="scratch:1,fpga"),
        job(0, 10, 1, resources="tape:1"),
    )
    assert got.starts == [0, 0, 0, 10, 0, None]
    assert got.nodes == ["0:2", "1:1", "0-1:1", "0:1", "1:1", None]
    assert got.backfilled == [False, False, False, False, True, False]


def test_constraints_on_properties(schedule):
    """Three nodes of 4 cores: n0 has ib, n1 ib and ssd, n2 big.

    ::
             at 0   at 10
        n0   BBBB   CCCC    A: ib&ssd, only n1. B: ib, n0 is left. C: ib too, waits for both to end at 10: n0.
        n1   AAAA   ....    D: ssd|big: n2, beside C's place. E: ib&big: no node; rejected.
        n2   DD..   DD..
    """
    got = schedule(
        nodes(
            {"count": 1, "cores": 4, "name": "a", "features": ["ib"]},
            {"count": 1, "cores": 4, "name": "b", "features": ["ib", "ssd"]},
            {"count": 1, "cores": 4, "name": "c", "features": ["big"]},
        ),
        job(0, 10, 4, constraint="ib&ssd"),
        job(0, 10, 4, constraint="ib"),
        job(0, 5, 4, constraint="ib"),
        job(0, 20, 2, constraint="ssd|big"),
        job(0, 5, 4, constraint="ib&big"),
    )
    assert got.starts == [0, 0, 10, 0, None]
    assert got.nodes == ["1:4", "0:4", "0:4", "2:2", None]
    assert got.states[4] == "rejected"


def test_an_exclusive_job_has_its_node_alone(schedule):
    """Two nodes of 4 cores; B and C are exclusive, with one core each.

    ::
             0-5    5-10   10-
        n0   ADDD   ADDD   EDDD    C waits for a node to be empty: n1 at 5. D fits beside A.
        n1   BBBB   CCCC   ....    E (1 core) finds nothing before 10, when A and C end: n0 is the first node.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4, "features": ["any"]}),
        job(0, 10, 1),
        job(0, 5, 1, exclusive=1),
        job(0, 5, 1, exclusive=1),
        job(0, 20, 3),
        job(0, 1, 1),
    )
    assert got.starts == [0, 0, 5, 0, 10]
    assert got.nodes == ["0:1", "1:4", "1:4", "0:3", "0:1"]


def test_licences_are_reserved_as_nodes_are(schedule):
    """Two licences; cores for everybody.

    ::
        0         10   15
        A---------BBBBBC---...    A has 1. B wants 2: at 10. C (1, for 20 s) would still have it at 10, and waits for
        D---------BBBBB           B's end. D (1, for 10 s) gives it back in time. E: no such licence; F: more than 2.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4}, licences={"matlab": 2}),
        job(0, 10, licences="matlab"),
        job(0, 5, licences="matlab:2"),
        job(0, 20, licences="matlab:1"),
        job(0, 10, licences="matlab"),
        job(0, 10, licences="ansys"),
        job(0, 10, licences="matlab:3"),
    )
    assert got.starts == [0, 10, 15, 0, None, None]
    assert got.states[4:] == ["rejected", "rejected"]
    assert got.backfilled[:4] == [False, False, False, True]


def test_the_slowest_node_sets_the_pace(schedule):
    """Two nodes of 2 cores: n0 with speed 2, n1 with 0.5; everybody's work is 10 s at speed 1, D's 4 s.

    ::
             0    5    7        20             35
        n0   AAAAADD..........  CCCCCCCCCCCCCCC      A: 5 s. B: 20 s. C on both: 20 s, but it asked for 15: killed.
        n1   BBBBBBBBBBBBBBBBBB CCCCCCCCCCCCCCC      D overtakes C: 2 s on n0.
    """
    got = schedule(
        nodes(
            {"count": 1, "cores": 2, "speed": 2.0, "name": "fast"},
            {"count": 1, "cores": 2, "speed": 0.5, "name": "slow"},
            backfill="aggressive",
        ),
        job(0, 30, 2, run_time=10),
        job(0, 30, 2, run_time=10),
        job(0, 15, 4, run_time=10),
        job(0, 12, 2, run_time=4),
    )
    assert got.starts == [0, 0, 20, 5]
    assert got.ends == [5, 20, 35, 7]
    assert got.states == ["completed", "completed", "timeout", "completed"]


FITS = {
    "first-fit": ["0:2", "0:2", "1:2"],
    "best-fit": ["1:2", "0:2", "0:2"],
    "worst-fit": ["2:2", "0:2", "2:2"],
}


@pytest.mark.parametrize("place", FITS)
def test_fit_counts_every_resource(place, schedule):
    """Cores and memory: n0 4 and 16, n1 8 and 4, n2 8 and 16. Three jobs, each with 2 cores and 4 memory on one node.

    What would be left, cores / 8 + memory / 16::

                        n0                  n1                 n2
        A, all empty    2/8 + 12/16 = 1     6/8 + 0 = .75      6/8 + 12/16 = 1.5    best n1, worst n2
        B, best         1                   no memory          1.5                  n0
        C, best         0/8 + 8/16 = .5     no memory          1.5                  n0
        B, worst        1                   .75                4/8 + 8/16 = 1       n0 (equal: the lower number)
        C, worst        .5                  .75                1                    n2

    By cores alone the best fit for A would be n0. First fit: n0 has cores for two of them.
    """
    groups = [{"count": 1, "cores": c, "memory": m, "name": n} for c, m, n in ((4, 16, "a"), (8, 4, "b"), (8, 16, "c"))]
    got = schedule(nodes(*groups, place=place), *(job(0, 10, 2, nodes=1, memory=4) for _ in range(3)))
    assert got.starts == [0, 0, 0]
    assert got.nodes == FITS[place]


def test_topology_prefers_one_switch(schedule):
    """Six nodes of 2 cores, switches n0-n2 and n3-n5; every job wants whole nodes.

    ::
        n0 n1 n2 | n3 n4 n5      A: 1 node, both switches have 3: the first. B: 2 nodes: the first switch has 2
        A  B  B  | C  D  D       suitable ones, the second 3: the tighter. C: 1 node, D: 2 nodes.
    """
    got = schedule(
        nodes({"count": 6, "cores": 2, "per_switch": 3}, place="topology"),
        *(job(0, 10, 2 * count, nodes=count) for count in (1, 2, 1, 2)),
    )
    assert got.starts == [0, 0, 0, 0]
    assert got.nodes == ["0:2", "1-2:2", "3:2", "4-5:2"]


def test_topology_takes_several_switches_where_none_suffices(schedule):
    """The same nodes: behind A on n0, B wants 4: all 3 of the second switch, and 1 of the first."""
    got = schedule(
        nodes({"count": 6, "cores": 2, "per_switch": 3}, place="topology"),
        job(0, 10, 2, nodes=1),
        job(0, 10, 8, nodes=4),
    )
    assert got.nodes == ["0:2", "1:2,3-5:2"]


def test_topology_of_requests_without_a_shape(schedule):
    """Four nodes of 2 cores, two on a switch. A has 1 core; B wants 4: the second switch; C 3: what the first has."""
    got = schedule(
        nodes({"count": 4, "cores": 2, "per_switch": 2}, place="topology"), job(0, 10, 1), job(0, 10, 4), job(0, 10, 3)
    )
    assert got.nodes == ["0:1", "2-3:2", "0:1,1:2"]


def test_a_reservation_is_on_named_nodes(schedule):
    """Three nodes of 4 cores; everybody wants whole nodes.

    ::
             0         10        20
        n0   A---------C---------D---    C wants 2: n2, which is free, and n0, which is first to be, from 10 on.
        n1   B-------------------        D (15 s) would have n2 beyond 10, and waits; E (10 s) gives it back.
        n2   E---------C---------
    """
    got = schedule(
        nodes({"count": 3, "cores": 4, "memory": 8}),
        job(0, 10, 4, nodes=1),
        job(0, 20, 4, nodes=1),
        job(0, 10, 8, nodes=2),
        job(0, 15, 4, nodes=1),
        job(0, 10, 4, nodes=1),
    )
    assert got.starts == [0, 0, 10, 20, 0]
    assert got.nodes == ["0:4", "1:4", "0:4,2:4", "0:4", "2:4"]


@pytest.mark.parametrize("more", [{}, {"memory": 8}, {"features": ["x"]}], ids=["cores", "memory", "a feature"])
def test_a_reservation_takes_the_nodes_that_are_free_last(schedule, more):
    """Three nodes of 4 cores; each job wants all cores of its nodes. Memory and the feature are not asked for.

    ::
             0         10   15
        n0   A---------C----      At 10 all three would serve C, which wants 2. It is kept n0 and n1, which are not free
        n1   B---------C----      before: so D (20 s) may have n2 at once.
        n2   D--------------------
    """
    got = schedule(
        nodes({"count": 3, "cores": 4} | more),
        job(0, 10, 4, nodes=1),
        job(0, 10, 4, nodes=1),
        job(0, 5, 8, nodes=2),
        job(0, 20, 4, nodes=1),
    )
    assert got.starts == [0, 0, 10, 0]
    assert got.nodes == ["0:4", "1:4", "0-1:4", "2:4"]


@pytest.mark.parametrize("more", [{}, {"memory": 8}, {"features": ["x"]}], ids=["cores", "memory", "a feature"])
def test_of_nodes_that_are_free_at_once_a_reservation_takes_the_lowest(schedule, more):
    """Five nodes of 2 cores. A has n0 and n1 until 10. B wants four nodes: at 10, when all five are free.

    ::
             0         10   15
        n0   A---------B----      B keeps n0 and n1, which are free last, and of the others the lowest, n2 and n3: so C
        n1   A---------B----      (20 s) finds n4.
        n2   ..........B----
        n3   ..........B----
        n4   C--------------------
    """
    got = schedule(
        nodes({"count": 5, "cores": 2} | more), job(0, 10, 4, nodes=2), job(0, 5, 8, nodes=4), job(0, 20, 2, nodes=1)
    )
    assert got.starts == [0, 10, 0]
    assert got.nodes == ["0-1:2", "0-3:2", "4:2"]


@pytest.mark.parametrize("more", [{}, {"memory": 8}, {"features": ["x"]}], ids=["cores", "memory", "a feature"])
def test_a_job_leaves_a_reservation_its_part_of_a_node(schedule, more):
    """Two nodes of 4 cores. A has 3 of n0 until 10, B 1 of n1 until 30. C wants 2 cores on each node, at 10.

    ::
             0     10    15      C keeps two cores of each node from 10 on. D (1 core, 40 s) may have one core of each:
        n0   AAAD  CCD.  EED.    the lower. E (2 cores of a node, 40 s) finds three on n1, of which C leaves it one:
        n1   B...  BCC.  B...    it waits for C's end.
    """
    got = schedule(
        nodes({"count": 2, "cores": 4} | more, place="worst-fit"),
        job(0, 10, 3, nodes=1),
        job(0, 30, 1, nodes=1),
        job(0, 5, 4, nodes=2),
        job(0, 40, 1, nodes=1),
        job(0, 40, 2, nodes=1),
    )
    assert got.starts == [0, 0, 10, 0, 15]
    assert got.nodes == ["0:3", "1:1", "0-1:2", "0:1", "0:2"]


@pytest.mark.parametrize("more", [{}, {"memory": 8}, {"features": ["x"]}], ids=["cores", "memory", "a feature"])
@pytest.mark.parametrize("shaped", [True, False])
def test_on_whole_nodes_that_are_alike_a_reservation_is_a_number_of_them(schedule, more, shaped):
    """Three nodes of 4 cores, each for one job. A and B have one each until 10. C wants two: at 10, of three.

    ::
             0         10   15
        n0   A---------C----      One is over: D (20 s) starts at once. E (20 s) would take the second: it waits until
        n1   B---------C----E-    C has ended.
        n2   D--------------------
    """
    site = nodes({"count": 3, "cores": 4} | more) | {"sharing": "whole"}
    one, two = ({"nodes": 1}, {"nodes": 2}) if shaped else ({}, {})
    got = schedule(
        site,
        job(0, 10, 3, **one),
        job(0, 10, 3, **one),
        job(0, 5, 6, **two),
        job(0, 20, 3, **one),
        job(0, 20, 3, **one),
    )
    assert got.starts == [0, 0, 10, 0, 15]


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_a_job_may_need_more_whole_nodes_than_its_cores_fill(schedule, backfill):
    """Two nodes of 6 cores, with 5 and 6 of memory, each for one job. C wants 2 cores with 4 of memory for each: a node
    offers it one core, so it takes both nodes, 12 cores.

    ::
             0   4   8  11
        n0   A---B---C--
        n1   A---D--.C--
    """
    groups = [{"count": 1, "cores": 6, "memory": memory, "name": f"m{memory}"} for memory in (5, 6)]
    site = nodes(*groups, backfill=backfill) | {"sharing": "whole"}
    got = schedule(site, job(0, 4, 12), job(0, 4, 2), job(0, 3, 2, memory=7), job(0, 3, 2))
    assert got.starts == [0, 4, 8, 4]
    assert got.nodes == ["0-1:6", "0:6", "0-1:6", "1:6"]


IMPOSSIBLE = {
    "more cores than the cluster has": {"cores": 9},
    "more nodes than the cluster has": {"cores": 3, "nodes": 3},
    "more cores on a node than any node has": {"cores": 10, "nodes": 2},
    "more memory on a node than any node has": {"memory_per_node": 9},
    "no node has the property ssd": {"constraint": "ssd"},
    "no node has fpga": {"resources": "fpga:1"},
    "more licences of matlab than there are": {"licences": "matlab:2"},
}


@pytest.mark.parametrize("reason", IMPOSSIBLE)
def test_what_no_node_can_hold_is_rejected_with_the_reason(reason, schedule):
    """Two nodes of 4 cores, 8 memory and the property ib; one licence. The same job, smaller, runs."""
    cluster = nodes({"count": 2, "cores": 4, "memory": 8, "features": ["ib"]}, licences={"matlab": 1})
    got = schedule(cluster, job(0, 10, **IMPOSSIBLE[reason]), job(0, 10, 1))
    assert got.states == ["rejected", "completed"]
    if got.reasons is not None:
        assert got.reasons[0] == reason
