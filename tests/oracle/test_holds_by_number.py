"""Reservations by number and by name: a few jobs each, whose schedule was worked out by hand.

The drawings show the cores of each node from left to right, a letter for a core that a job uses. All jobs are submitted
at 0 unless the text says otherwise; A is the first, and each asks for what it runs.
"""

from __future__ import annotations

import pytest
from site_schedule import job

PAIR = {"count": 2, "cores": 2, "memory": 8}  # memory, so that more than cores is counted


def nodes(*groups, backfill="easy", **cluster):
    return {"nodes": list(groups), "scheduler": {"place": "first-fit", "backfill": backfill}} | cluster


@pytest.mark.parametrize("memory", [{}, {"memory": 8}], ids=["cores alone", "memory that is not asked for"])
def test_a_hold_for_any_cores_keeps_a_number(schedule, memory):
    """A has n0 and half of n1 until 10. B wants 3 cores: at 10, when 4 are free. One is over: C (1 core, 20 s) starts.

    ::
             0    10
        n0   AA   BB     By name B would have had n0 and the first core of n1, or the second: C runs on n1 either way,
        n1   AC   BC     and a hold that named n1's free core would have kept it out.
    """
    got = schedule(nodes({"count": 2, "cores": 2} | memory), job(0, 10, 3), job(0, 5, 3), job(0, 20, 1))
    assert got.starts == [0, 10, 0]


def test_the_first_free_core_is_not_kept(schedule):
    """n0 is free but for A (1 core until 4), n1 is B's until 10. C wants 3 cores at 10. D (1 core, 30 s) starts at 0.

    ::
             0    4    10
        n0   A.   ..   CC    Three of four cores are C's at 10. Held by name it would be on both cores of n0, the first
        n1   BB   BB   CD    to be free, and D, which runs on n0, would have to wait until C has ended.
    """
    got = schedule(nodes(PAIR), job(0, 4, 1), job(0, 10, 2), job(0, 5, 3), job(0, 30, 1))
    assert got.starts == [0, 0, 10, 0]


def test_a_closing_names_only_the_holds_that_it_meets(schedule):
    """n1 is maintained from 30 to 31. A and B as before. C's hold, from 10 to 15, is over by then: a number.

    D (1 core, 10 s) starts on n0 at once, and leaves C three cores at 10.
    """
    closing = {"reservations": [{"name": "m", "start": 30, "length": 1, "nodes": "n1"}]}
    got = schedule(nodes(PAIR, **closing), job(0, 4, 1), job(0, 10, 2), job(0, 5, 3), job(0, 12, 1))
    assert got.starts == [0, 0, 10, 0]


def test_a_hold_that_a_closing_meets_has_names(schedule):
    """n1 is maintained from 20 to 21. A has both cores of n0 until 10, B one of n1 until 10. C wants 2 cores for 15 s.

    ::
             0    10        20
        n0   AA   CC        CC     C lasts until 25: n1 does not serve it, so it is kept on n0 by name.
        n1   BD   .D        ##     D (1 core, 15 s) ends before the maintenance, and runs beside it.
    """
    closing = {"reservations": [{"name": "m", "start": 20, "length": 1, "nodes": "n1"}]}
    got = schedule(nodes(PAIR, **closing), job(0, 10, 2), job(0, 10, 1), job(0, 15, 2), job(0, 15, 1))
    assert got.starts == [0, 0, 10, 0]
    assert got.nodes[2] == "0:2"


def test_a_shaped_job_that_begins_inside_a_hold_finds_it_named(schedule):
    """Conservative. A has three cores until 10, B the fourth until 15. At 1, C (2 cores, 20 s) is promised 10 to 30.

    ::
             0    10   15   30
        n0   AA   CC   CC   D     D wants a core of each node. At 10 three are free and two are C's: one too few. At 15
        n1   AB   .B   ..   D     there are two, but D would begin inside C's hold. So C gets names: n0, the lowest that
                                  is free at 10. D waits for it. (With C on both nodes D could start at 15.)
    """
    site = nodes(PAIR, backfill="conservative")
    got = schedule(site, job(0, 10, 3), job(0, 15, 1), job(1, 20, 2), job(1, 5, 2, nodes=2))
    assert got.starts == [0, 0, 10, 30]


def test_a_shaped_job_that_begins_with_a_hold_leaves_it_its_number(schedule):
    """Conservative. A has everything until 10. B (2 cores, 20 s) is promised 10. C wants a core of each node, for 5 s.

    ::
             0    10   15
        n0   AA   CB   .B     At 10 B needs two of the four cores, and C takes one of each node: both start.
        n1   AA   CB   .B
    """
    got = schedule(nodes(PAIR, backfill="conservative"), job(0, 10, 4), job(0, 20, 2), job(0, 5, 2, nodes=2))
    assert got.starts == [0, 10, 10]


def test_another_set_of_nodes_finds_a_hold_named(schedule):
    """Queues `all` (both nodes) and `one` (n1). A has n0 until 10, B a core of n1 until 20. C and D are submitted at 1.

    ::
             0    1    10
        n0   AA   AA   CC      C (2 cores of `all`) is kept two of the three cores that are free at 10. D (1 core, 30 s)
        n1   B.   BD   BD      is for n1 alone: C gets names, both cores of n0. So D starts at once.
    """
    site = nodes(PAIR, queues={"all": {"priority": 2}, "one": {"nodes": "n1", "priority": 1}})
    got = schedule(
        site,
        job(0, 10, 2, queue="all", nodes=1),
        job(0, 20, 1, queue="one"),
        job(1, 5, 2, queue="all"),
        job(1, 30, 1, queue="one"),
    )
    assert got.starts == [0, 0, 10, 1]


@pytest.mark.parametrize("crowd", [0, 70])
@pytest.mark.parametrize("backfill", ["easy", {"name": "depth", "depth": 1}, "lookahead"])
def test_a_reservation_stands_whatever_the_number_of_arrivals(schedule, crowd, backfill):
    """Three nodes of 3 cores; A, B and X have two cores of a node each, until 5, 6 and 6. C wants two whole nodes: at
    6, n1 and n2, which are free last.

    ::
             0    1    5    6        D (1 core, 5 s) comes at 1, and runs on n0: now all three nodes are free at 6.
        n0   AA   AAD  D    CCC      E (1 core, 30 s) comes at 2, with many others or alone. C's nodes are still n1 and
        n1   BB   BB   BB   CCC      n2, and n0 is full. At 5 A ends, and C's hold is made again: n0 and n1, the lowest.
        n2   XX   XX   XXE  E        So E starts then. (Made again at 2, the hold would have let E start at 2.)
    """
    ones = [job(0, end, 2, nodes=1) for end in (5, 6, 6)]
    many = [job(2, 10, 9, nodes=3) for _ in range(crowd)]
    got = schedule(
        nodes({"count": 3, "cores": 3}, backfill=backfill),
        *ones, job(0, 10, 6, nodes=2), job(1, 5, 1, nodes=1), job(2, 30, 1, nodes=1), *many,
    )  # fmt: skip
    assert got.starts[:6] == [0, 0, 0, 6, 1, 5]
    assert got.nodes[5] == "2:1"


def test_many_that_arrive_together_are_looked_at_in_order(schedule):
    """A has three of 4 cores until 10; B, of 2 s, wants all of them. At 2 a hundred jobs of 1 core come, of 3 s and
    more: the shortest is the first of them in the queue, and runs beside A until 5, the next one until 9; no third one
    ends by 10."""
    times = [3 + (37 * i) % 101 for i in range(100)]  # 3 to 103, no two alike
    site = {"cores": 4, "scheduler": {"order": "sjf", "backfill": "easy"}}
    got = schedule(site, job(0, 10, 3), job(1, 2, 4), *[job(2, time, 1) for time in times])
    first = times.index(min(times))
    second = times.index(sorted(times)[1])
    assert got.starts[:2] == [0, 10]
    assert got.starts[2 + first] == 2
    assert got.starts[2 + second] == 2 + min(times)
    assert sum(start is not None and start < 10 for start in got.starts[2:]) == 2
