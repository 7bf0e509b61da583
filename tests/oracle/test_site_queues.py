"""Queues: a few jobs each, whose schedule was worked out by hand.

In the drawings time runs to the right. All jobs are submitted at 0 unless the text says otherwise; A is the first.
"""

from __future__ import annotations

import pytest
from site_schedule import job

TREE = {"root": {}, "physics": {"parent": "root"}, "higgs": {"parent": "physics"}, "bio": {"parent": "root"}}
TWO_NODES = [{"count": 1, "cores": 4, "name": "a"}, {"count": 1, "cores": 4, "name": "b"}]


def site(size, queues, backfill="easy", order="fcfs", **cluster):
    scheduler = {"backfill": backfill, "order": order}
    if "nodes" in size:
        scheduler["place"] = "first-fit"
    return size | {"queues": queues, "scheduler": scheduler} | cluster


def test_a_queue_of_higher_priority_comes_first(schedule):
    """Everybody wants all 4 cores for 10 s. B (low) arrives at 1, C (high) at 2: A, C, B."""
    got = schedule(
        site({"cores": 4}, {"low": {}, "high": {"priority": 10}}, "none"),
        job(0, 10, 4, queue="low"),
        job(1, 10, 4, queue="low"),
        job(2, 10, 4, queue="high"),
    )
    assert got.starts == [0, 20, 10]
    assert got.backfilled == [False, False, False]


def test_a_queue_has_its_own_nodes(schedule):
    """A node of 4 cores for each of two queues.

    ::
             0    5    10   15   20
        qa   AAAAAAAAAABBBBBBBBBB          B waits for A, though the other node has room.
        qb   CCCCCCCCCCCCCCCCCCCCDDDDD     C and D overtake nobody: B is in a line of its own.
                                           E (qa, 8 cores) is more than qa has.
    """
    got = schedule(
        site({"nodes": TWO_NODES}, {"qa": {"nodes": "a"}, "qb": {"nodes": ["b0"]}}),
        job(0, 10, 4, queue="qa"),
        job(0, 10, 4, queue="qa"),
        job(0, 20, 2, queue="qb"),
        job(1, 5, 4, queue="qb"),
        job(1, 5, 8, queue="qa"),
    )
    assert got.starts == [0, 10, 0, 20, None]
    assert got.nodes == ["0:4", "0:4", "1:2", "1:4", None]
    assert got.backfilled == [False] * 5
    assert got.states[4] == "rejected"
    if got.reasons is not None:
        assert got.reasons[4] == "more cores than queue qa has"


def test_each_domain_protects_its_first_job(schedule):
    """A node of 4 cores for each of two queues; EASY.

    ::
             0         10        20
        qa   AAA       C C C C   E      C (4 cores) has its place at 10: E (1 core, 20 s) would take it, G (5 s) not.
               G----
        qb   BBB       D D D D   F      D as well, though C stands before it: F (1 core, 20 s) may not delay it.
    """
    got = schedule(
        site({"nodes": TWO_NODES}, {"qa": {"nodes": "a"}, "qb": {"nodes": "b"}}),
        job(0, 10, 3, queue="qa"),
        job(0, 10, 3, queue="qb"),
        job(0, 10, 4, queue="qa"),
        job(0, 10, 4, queue="qb"),
        job(0, 20, 1, queue="qa"),
        job(0, 20, 1, queue="qb"),
        job(0, 5, 1, queue="qa"),
    )
    assert got.starts == [0, 0, 10, 10, 20, 20, 0]
    assert got.backfilled == [False, False, False, False, False, False, True]


def test_queues_that_share_a_node_are_one_domain(schedule):
    """qa has n0, all has n0 and n1: one line, one place that is kept.

    ::
             0         10        20
        n0   AAA.      CCCC      DDDD    C (qa, 4 cores) has its place on n0 at 10. D (all, 8 cores) has none: E
        n1   E...      E...      DDDD    (1 core, 20 s) cannot have n0, where C is to run, takes n1, and delays D.
    """
    got = schedule(
        site({"nodes": TWO_NODES}, {"qa": {"nodes": "a"}, "all": {}}),
        job(0, 10, 3, queue="all"),
        job(0, 10, 4, queue="qa"),
        job(0, 10, 8, queue="all"),
        job(0, 20, 1, queue="all"),
    )
    assert got.starts == [0, 10, 20, 0]
    assert got.nodes == ["0:3", "0:4", "0-1:4", "1:1"]
    assert got.backfilled == [False, False, False, True]


REFUSED = {
    "time": {"requested_time": 11},
    "too small": {"cores": 1},
    "too large": {"cores": 5},
    "user": {"user": "bo"},
    "no user": {"user": None},
    "group": {"group": "cms"},
    "account above": {"account": "root"},
    "account beside": {"account": "bio"},
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_queue_takes_only_whom_it_is_for(what, schedule):
    """At most 10 s, 2 to 4 cores, ann of atlas for physics or below: the second job is all that, the first is not."""
    queue = {
        "max_time": 10,
        "min_cores": 2,
        "max_cores": 4,
        "users": ["ann", "cy"],
        "groups": "atlas",
        "accounts": "physics",
    }
    right = job(0, 10, 4, queue="q", user="ann", group="atlas", account="higgs")
    got = schedule(site({"cores": 8}, {"q": queue}, accounts=TREE), right | REFUSED[what], right)
    assert got.states == ["rejected", "completed"]
    assert got.starts == [None, 0]


def test_the_default_time_of_a_queue(schedule):
    """A and B ask for no time, and are given 5 s by their queue: A ends after 3 s, B is killed after 5 s.

    ::
        0  3 5  7
        A--..CC        3 cores. C wants them all: at 5, by what A and B are believed to take. D (5 s) ends in time.
        B----CC         E (6 s) would not, when a core is free at 3; it waits for C.
        D----CCE---
    """
    got = schedule(
        site({"cores": 3}, {"q": {"default_time": 5}}),
        job(0, None, 1, run_time=3, queue="q"),
        job(0, None, 1, run_time=8, queue="q"),
        job(0, 2, 3, queue="q"),
        job(0, 5, 1, queue="q"),
        job(0, 6, 1, queue="q"),
    )
    assert got.starts == [0, 0, 5, 0, 7]
    assert got.ends == [3, 5, 7, 5, 13]
    assert got.states == ["completed", "timeout", "completed", "completed", "completed"]


ORDERS = {
    # The queue with shortest first has the priority: C, B; then the other in order of arrival: D, E.
    "priority": ({"f": {}, "s": {"order": "sjf", "priority": 1}}, [0, 12, 10, 20, 21]),
    # Equal priority and different orders: the queue that the file has first, with all its jobs: D, E; then C, B.
    "file": ({"f": {}, "s": {"order": "sjf"}}, [0, 18, 16, 10, 11]),
    # Equal priority and the same order: one line. B, C, D, E as they came.
    "same": ({"f": {"order": "fcfs"}, "s": {}}, [0, 10, 18, 20, 21]),
}


@pytest.mark.parametrize("case", ORDERS)
def test_the_order_within_a_queue(case, schedule):
    """Everybody wants all cores. Behind A (10 s) wait B (s, 8 s), C (s, 2 s), D (f, 1 s), E (f, 5 s)."""
    queues, starts = ORDERS[case]
    got = schedule(
        site({"cores": 4}, queues, "none"),
        job(0, 10, 4, queue="f"),
        job(1, 8, 4, queue="s"),
        job(2, 2, 4, queue="s"),
        job(3, 1, 4, queue="f"),
        job(4, 5, 4, queue="f"),
    )
    assert got.starts == starts


def test_routes_find_the_queue(schedule):
    """The first route that fits: ann to vip; up to 10 s and 4 cores to short; from 100 s to long; else rest.

    A: ann. B: short. C: 5 cores, so rest. D: 200 s. E: names a queue that is not ours; short comes first. F: the same
    with 5 cores: `named` sends it to long. G: names its queue. H: of higgs, below physics.
    """
    routes = [
        {"queue": "vip", "users": "ann"},
        {"queue": "vip", "accounts": "physics"},
        {"queue": "short", "max_time": 10, "max_cores": 4},
        {"queue": "long", "min_time": 100},
        {"queue": "long", "named": "old"},
    ]
    queues = {"vip": {}, "short": {}, "long": {}, "rest": {"default": True}}
    got = schedule(
        site({"cores": 64}, queues, routes=routes, accounts=TREE),
        job(0, 5, 2, user="ann"),
        job(0, 10, 4, user="bo"),
        job(0, 5, 5, user="bo"),
        job(0, 200, 2, user="bo"),
        job(0, 5, 2, user="bo", queue="old"),
        job(0, 5, 5, user="bo", queue="old"),
        job(0, 5, 2, user="ann", queue="long"),
        job(0, 5, 2, account="higgs"),
    )
    assert got.queues == ["vip", "short", "rest", "long", "short", "long", "long", "vip"]
    assert got.starts == [0] * 8


def test_a_job_that_no_queue_takes_is_rejected(schedule):
    got = schedule(site({"cores": 4}, {"q": {}}), job(0, 10), job(0, 10, queue="q"))
    assert got.states == ["rejected", "completed"]
    if got.reasons is not None:
        assert got.reasons[0] == "no queue takes it"


def test_a_job_that_names_several_queues_takes_the_first_place(schedule):
    """fast (first, by its priority) has n0, slow n1; everybody wants a whole node.

    ::
             0    5    10
        n0   A---------          B and D name both. fast is taken: B starts in slow. D (from 1) finds its place in
        n1   B----D----C---      slow at 5, in fast at 10: slow. C (slow) came before D, but D stands with the fast.
    """
    got = schedule(
        site({"nodes": TWO_NODES}, {"slow": {"nodes": "b"}, "fast": {"nodes": "a", "priority": 2}}),
        job(0, 10, 4, queue="fast"),
        job(0, 5, 4, queue="slow,fast"),
        job(0, 20, 4, queue="slow"),
        job(1, 5, 4, queue="slow,fast"),
    )
    assert got.starts == [0, 0, 10, 5]
    assert got.queues == ["fast", "slow", "slow", "slow"]
    assert got.nodes == ["0:4", "1:4", "1:4", "1:4"]


def test_the_reservation_of_several_queues_is_in_the_one_that_is_free_first(schedule):
    """fast has n0, slow n1. C and D arrive at 1.

    ::
             0    5    10
        n0   AAA-------          C names both and wants 4 cores: in slow at 5, in fast at 10. So nothing is kept for it
              D------------      on n0, and D (fast, 1 core, 20 s) starts there.
        n1   B----C----
    """
    got = schedule(
        site({"nodes": TWO_NODES}, {"slow": {"nodes": "b"}, "fast": {"nodes": "a", "priority": 2}}),
        job(0, 10, 3, queue="fast"),
        job(0, 5, 4, queue="slow"),
        job(1, 5, 4, queue="slow,fast"),
        job(1, 20, 1, queue="fast"),
    )
    assert got.starts == [0, 0, 5, 1]
    assert got.queues == ["fast", "slow", "slow", "fast"]
    assert got.backfilled == [False, False, False, True]


def test_who_arrives_before_the_first_takes_its_reservation(schedule):
    """4 cores; EASY.

    ::
        0 1 2     10        22   30
        AAA-------C C ---------       B (low, 4 cores) has its place at 10, until C (high, 2 cores) arrives at 1: then C
            D-----------------        has it, and beside it one core is left for D (low, 20 s), which arrives at 2.
                                B     B waits for both.
    """
    got = schedule(
        site({"cores": 4}, {"low": {}, "high": {"priority": 1}}),
        job(0, 10, 3, queue="low"),
        job(0, 10, 4, queue="low"),
        job(1, 20, 2, queue="high"),
        job(2, 20, 1, queue="low"),
    )
    assert got.starts == [0, 30, 10, 2]
    assert got.backfilled == [False, False, False, True]


def test_a_job_that_names_several_queues_goes_round_a_limit(schedule):
    """`a` is tried first and takes 2 cores at once: A has them, B and C go to `b`. D, for `a` alone, waits for A."""
    got = schedule(
        site({"cores": 16}, {"b": {}, "a": {"priority": 1, "running_cores": 2}}),
        job(0, 10, 2, queue="a,b"),
        job(0, 10, 2, queue="a,b"),
        job(0, 10, 1, queue="b,a"),
        job(0, 10, 1, queue="a"),
    )
    assert got.starts == [0, 0, 0, 10]
    assert got.queues == ["a", "b", "b", "a"]


def test_several_queues_of_which_one_does_not_take_the_job(schedule):
    """`a` takes at most 5 s: B (10 s) is for `b` alone, and stands there; C (20 s) is for neither."""
    got = schedule(
        site({"cores": 4}, {"a": {"priority": 1, "max_time": 5}, "b": {"max_time": 10}}),
        job(0, 5, 4, queue="a,b"),
        job(0, 10, 4, queue="a,b"),
        job(0, 20, 4, queue="a,b"),
        job(1, 5, 4, queue="a"),
    )
    assert got.starts == [0, 10, None, 5]
    assert got.queues == ["a", "b", "a", "a"]
    assert got.states[2] == "rejected"


def test_caps_of_a_queue_in_all_per_user_and_per_group(schedule):
    """16 cores; the queue has 8 of them, each user in it 4, each group 2 jobs.

    ::
        0    5    10
        A---------          A: ann, atlas, 4 cores. B: ann is at her 4: after A.
        C----D----          C: bo, atlas, 2 cores. D: cy, atlas: the group's third job; after C.
             E----B---      E: cms, 3 cores: 4 + 2 + 3 is more than 8; after C, and beside D: 4 + 1 + 3.
                            Nobody overtakes: who is at a limit is not in the line.
    """
    queue = {"running_cores": 8, "per_user": {"running_cores": 4}, "per_group": {"running_jobs": 2}}
    got = schedule(
        site({"cores": 16}, {"q": queue}),
        job(0, 10, 4, queue="q", user="ann", group="atlas"),
        job(0, 10, 2, queue="q", user="ann", group="atlas"),
        job(0, 5, 2, queue="q", user="bo", group="atlas"),
        job(0, 5, 1, queue="q", user="cy", group="atlas"),
        job(0, 5, 3, queue="q", user="di", group="cms"),
    )
    assert got.starts == [0, 10, 0, 5, 5]
    assert got.backfilled == [False] * 5
