"""Preemption: a few jobs each, whose schedule was worked out by hand.

In the drawings time runs to the right, a column a second. All jobs are submitted at 0 unless the text says otherwise; A
is the first. The queue `high` has the priority 1, `low` has none.
"""

from __future__ import annotations

import pytest
from site_schedule import job

QUEUES = {"low": {}, "high": {"priority": 1}}


def site(size, preempt, backfill="easy", execution=None, **cluster):
    scheduler = {"backfill": backfill, "preempt": {"name": "queue"} | preempt}
    if "nodes" in size:
        scheduler["place"] = "first-fit"
    return {
        "cluster": size | {"queues": QUEUES, "scheduler": scheduler} | cluster,
        "execution": execution or {},
    }


def low(submit, time, cores, **columns):
    return job(submit, time, cores, queue="low", **columns)


def high(submit, time, cores, **columns):
    return job(submit, time, cores, queue="high", **columns)


# ---- what becomes of the victim

EVERY_2 = {"checkpoint": {"interval": 2, "cost": 0, "restart": 1}}


@pytest.mark.parametrize("backfill", ["none", "aggressive", "easy", "conservative"])
@pytest.mark.parametrize(
    ("mode", "spans", "lost", "attempts"),
    [
        ("requeue", [(0, 3, "preempted"), (7, 17, "completed")], 12, [0, 1]),
        ("kill", [(0, 3, "preempted")], 12, [0]),
        ("suspend", [(0, 3, "suspended"), (7, 14, "completed")], 0, [0, 0]),
        ("checkpoint", [(0, 3, "preempted"), (7, 16, "completed")], 4, [0, 1]),
    ],
)
def test_the_modes(tell, backfill, mode, spans, lost, attempts):
    """4 cores. A (low, 4 cores, 10 s) is displaced at 3 by B (high, 2 cores, 4 s), which is through at 7.

    Requeued: from 7 on once more, 3 s x 4 cores lost. Suspended: the other 7 s from 7 on. With a checkpoint after each
    2 s of work and a restart of 1 s: one second x 4 cores lost; 1 s of restart and 8 s of work from 7 on.
    """
    execution = EVERY_2 if mode == "checkpoint" else None
    got = tell(site({"cores": 4}, {"mode": mode}, backfill, execution), low(0, 10, 4), high(3, 4, 2))
    assert got.spans == [spans, [(3, 7, "completed")]]
    assert got.lost == [lost, 0]
    assert got.attempts[0] == attempts
    assert got.states[0] == ("cancelled" if mode == "kill" else "completed")
    assert got.restarts[0] == attempts[-1]


def test_grace(tell):
    """A (low) is told at 3 and leaves at 5: 5 s x 4 cores lost. B [5, 9), A again [9, 19)."""
    got = tell(site({"cores": 4}, {"mode": "requeue", "grace": 2}), low(0, 10, 4), high(3, 4, 2))
    assert got.spans == [[(0, 5, "preempted"), (9, 19, "completed")], [(5, 9, "completed")]]
    assert got.lost == [20, 0]


def test_who_ends_within_the_grace_has_ended(tell):
    """A, told at 3 to leave by 8, ends by itself at 4: B starts then."""
    got = tell(site({"cores": 4}, {"mode": "requeue", "grace": 5}), low(0, 10, 4, run_time=4), high(3, 4, 2))
    assert got.spans == [[(0, 4, "completed")], [(4, 8, "completed")]]
    assert got.lost == [0, 0]


def test_what_is_cleared_is_kept_for_the_one_it_was_cleared_for(tell):
    """4 cores, grace 3. A and B (low, 2 cores, 10 s; B runs 3 s). C (high, 4 cores, 5 s) comes at 2: both are told.

    ::
             0  3 5    10
        2 c  AAAAACCCCCAAAAAAAAAA       A leaves at 5
        2 c  BBBD.CCCCCE                B ends at 3 by itself: of its two cores, for 2 s,
                                        D (low, 1 core, 1 s, at 3) has one,
                                        E (low, 1 core, 4 s, at 3) would be in C's way.
    """
    got = tell(
        site({"cores": 4}, {"mode": "requeue", "grace": 3}),
        low(0, 10, 2),
        low(0, 10, 2, run_time=3),
        high(2, 5, 4),
        low(3, 1, 1),
        low(3, 4, 1),
    )
    assert got.spans == [
        [(0, 5, "preempted"), (10, 20, "completed")],
        [(0, 3, "completed")],
        [(5, 10, "completed")],
        [(3, 4, "completed")],
        [(10, 14, "completed")],
    ]


# ---- who is the victim


@pytest.mark.parametrize(("victims", "hit"), [("youngest", 2), ("smallest", 1), ("lowest", 0)])
def test_whom_it_hits(tell, victims, hit):
    """6 cores: A (3 cores, priority 1), B (1 core, priority 3, at 1), C (2 cores, priority 2, at 2), all low, 20 s.

    D (high, 1 core, 2 s) comes at 5. The youngest is C, the smallest B, the one with the lowest priority A.
    """
    got = tell(
        site({"cores": 6}, {"mode": "kill", "victims": victims}),
        low(0, 20, 3, priority=1),
        low(1, 20, 1, priority=3),
        low(2, 20, 2, priority=2),
        high(5, 2, 1),
    )
    assert [number for number, state in enumerate(got.states) if state == "cancelled"] == [hit]
    assert got.spans[3] == [(5, 7, "completed")]


def test_no_more_than_needed(tell):
    """4 cores: A (3 cores) and B (1 core, at 1). C (high, 3 cores) takes B, then A; with A gone B may stay."""
    got = tell(site({"cores": 4}, {"mode": "kill"}), low(0, 20, 3), low(1, 20, 1), high(5, 2, 3))
    assert got.states == ["cancelled", "completed", "completed"]
    assert got.spans[2] == [(5, 7, "completed")]


def test_where_it_would_not_help_nobody_is_touched(tell):
    """4 cores: A (low, 2 cores), B (high, 2 cores), both 10 s. C (high, 3 cores) could have only A's: it waits."""
    got = tell(site({"cores": 4}, {"mode": "kill"}), low(0, 10, 2), high(0, 10, 2), high(3, 2, 3))
    assert got.states == ["completed"] * 3
    assert got.spans[2] == [(10, 12, "completed")]


def test_equals_do_not_displace_each_other(tell):
    got = tell(site({"cores": 4}, {"mode": "requeue"}), high(0, 10, 4), high(1, 2, 4))
    assert got.spans == [[(0, 10, "completed")], [(10, 12, "completed")]]


def test_a_rank_by_qos(tell):
    """Those of the qos scavenger have the rank -1, all others 0: B, without a qos, displaces A."""
    scenario = {"cluster": {"cores": 4, "scheduler": {"preempt": {"name": "qos", "ranks": {"scavenger": -1}}}}}
    got = tell(scenario, job(0, 10, 4, qos="scavenger"), job(2, 3, 4))
    assert got.spans == [[(0, 2, "preempted"), (5, 15, "completed")], [(2, 5, "completed")]]


def test_ranks_take_the_place_of_priorities(tell):
    """`high` has the rank -1 here, below `low`'s priority 0: A (high) is displaced by B (low)."""
    got = tell(site({"cores": 4}, {"mode": "requeue", "ranks": {"high": -1}}), high(0, 10, 4), low(2, 3, 4))
    assert got.spans[1] == [(2, 5, "completed")]
    assert got.spans[0] == [(0, 2, "preempted"), (5, 15, "completed")]


def test_who_was_told_to_leave_is_not_expected_to_stay(tell):
    """4 cores, 4 s of grace, jobs may outrun their requests. A (low, 2 cores, 10 s) asks for 2 s.

    B (high, 4 cores, 3 s) comes at 1: A has to leave by 5, and B has [5, 8). At 2 A outlives its request; it is still
    expected to go at 5. So C (low, 2 cores, 10 s, at 3) would be in B's way, and starts at 8, as A does.
    """
    scenario = site({"cores": 4}, {"grace": 4}, execution={"overrun": "extend"})
    got = tell(scenario, low(0, 2, 2, run_time=10), high(1, 3, 4), low(3, 10, 2))
    assert got.spans == [
        [(0, 5, "preempted"), (8, 18, "completed")],
        [(5, 8, "completed")],
        [(8, 18, "completed")],
    ]


def test_a_limit_that_moves_elsewhere_lets_a_job_displace_others(tell):
    """4 cores, 2 of them reserved for the course; nobody may run two jobs. Bound: A, B (ann, 4 s each) and C (bo, low).

    At 4 A ends, but D (ann, 3 s, not bound) comes and starts first: B is at the limit, and C starts. D ends at 7 beside
    the reservation; nothing has changed inside but the limit, and B displaces C.
    """
    reservation = {"name": "course", "start": 0, "length": 30, "cores": 2, "users": ["ann", "bo"]}
    limit = {"per": "user", "running_jobs": 1}
    scenario = site({"cores": 4}, {"name": "qos", "ranks": {"low": -1}}, limits=[limit], reservations=[reservation])
    bound = {"queue": "low", "reservation": "course"}
    jobs = [job(0, 4, 2, user="ann", **bound), job(1, 4, 2, user="ann", **bound)]
    jobs += [job(1, 10, 2, user="bo", qos="low", **bound), job(4, 3, 1, user="ann", queue="low")]
    got = tell(scenario, *jobs)
    assert got.spans == [
        [(0, 4, "completed")],
        [(7, 11, "completed")],
        [(4, 7, "preempted"), (11, 21, "completed")],
        [(4, 7, "completed")],
    ]


def test_where_a_job_seeks_in_vain_all_is_planned_anew(tell):
    """A core, shut in [8, 20). A (high, 10 s) is too long to run before. X (low) asks for 6 s and ends after 5.

    Behind X there is room for Z (2 s) in [6, 8), not for Y (3 s), which is promised 30, behind A. When X ends, A seeks
    room, in vain; so nothing stands, and Y goes before Z: [5, 8). Z has 30.
    """
    scenario = site({"cores": 1}, {}, "conservative", reservations=[{"name": "upgrade", "start": 8, "length": 12}])
    got = tell(scenario, high(0, 10, 1), low(0, 6, 1, run_time=5), low(0, 3, 1), low(0, 2, 1))
    assert got.spans == [
        [(20, 30, "completed")],
        [(0, 5, "completed")],
        [(5, 8, "completed")],
        [(30, 32, "completed")],
    ]


def test_whom_a_displaced_job_lets_in_stands_where_it_belongs(tell):
    """5 cores under WFP3, killed victims, 5 cores for all of `low`. A (low, 4 cores) is killed at 4 for F (high).

    C (1 core, 6 s), D (2 cores, 5 s) and E (1 core, 8 s) have waited since 1, D at the limit. At 4 their values are
    (3/6)^3 = 0.125, 2 (3/5)^3 = 0.432 and (3/8)^3 = 0.053: D and C have the three cores. D ends at once, E follows.
    """
    queues = {"low": {"running_cores": 5}, "high": {"priority": 1}}
    scenario = site({"cores": 5}, {"mode": "kill"}, queues=queues)
    scenario["cluster"]["scheduler"]["order"] = "wfp3"
    jobs = [low(0, 7, 4), high(1, 7, 1), low(1, 6, 1), low(1, 5, 2, run_time=0), low(1, 8, 1), high(4, 6, 1)]
    got = tell(scenario, *jobs)
    assert got.spans[0] == [(0, 4, "preempted")]
    assert [spans[0][0] for spans in got.spans[2:]] == [4, 4, 4, 4]


def test_a_job_is_displaced_for_its_licence(tell):
    """Two nodes, one of them free, and one licence. A (low, on n0) has it; B (high, 1 core, 4 s, at 3) wants it."""
    nodes = {"nodes": [{"count": 2, "cores": 4, "name": "n"}], "licences": {"matlab": 1}}
    got = tell(site(nodes, {}), low(0, 10, 1, licences="matlab"), high(3, 4, 1, nodes=1, licences="matlab"))
    assert got.spans == [[(0, 3, "preempted"), (7, 17, "completed")], [(3, 7, "completed")]]


# ---- suspended jobs


def test_a_suspended_job_goes_on_where_it_was(tell):
    """Two nodes of 4 cores. A (low, on n0, 10 s), B (low, on n1, 6 s). C (high, 4 cores, 8 s) comes at 2.

    A and B have started together; the later entry is taken first: B, on n1, is suspended at 2, with 4 s to go. A ends
    at 10 and so does C: B goes on at 10, on n1. D (low, 4 cores, 3 s, at 3) waits for a node: at 10 n0 is its.
    """
    nodes = {"nodes": [{"count": 2, "cores": 4, "name": "n"}]}
    got = tell(site(nodes, {"mode": "suspend"}), low(0, 10, 4), low(0, 6, 4), high(2, 8, 4), low(3, 3, 4))
    assert got.spans == [
        [(0, 10, "completed")],
        [(0, 2, "suspended"), (10, 14, "completed")],
        [(2, 10, "completed")],
        [(10, 13, "completed")],
    ]
    assert got.nodes == [["0:4"], ["1:4", "1:4"], ["1:4"], ["0:4"]]


def test_a_suspended_job_waits_for_its_own_nodes(tell):
    """As before, but A ends at 5 (it asks for 10): n0 is free, yet B stays where it was suspended, on n1, until 10.

    D has n0 at 5.
    """
    nodes = {"nodes": [{"count": 2, "cores": 4, "name": "n"}]}
    got = tell(site(nodes, {"mode": "suspend"}), low(0, 10, 4, run_time=5), low(0, 6, 4), high(2, 8, 4), low(3, 3, 4))
    assert got.spans == [
        [(0, 5, "completed")],
        [(0, 2, "suspended"), (10, 14, "completed")],
        [(2, 10, "completed")],
        [(5, 8, "completed")],
    ]


def test_the_limit_does_not_count_while_suspended(tell):
    """A asks for 8 s, would run 10: 3 s until 3, and 5 s from 7 on, then it is killed."""
    got = tell(site({"cores": 4}, {"mode": "suspend"}), low(0, 8, 4, run_time=10), high(3, 4, 2))
    assert got.spans[0] == [(0, 3, "suspended"), (7, 12, "timeout")]


def test_a_pause_costs_no_microsecond(tell):
    """A node at a third of full speed, 333,333 millionths. A (low) and B (high, at 0.5 s) have a second of work each.

    In one go that takes 3,000,003.000003 microseconds: 3,000,004. A has 0.5 s of them until B comes, and the other
    2,500,004 when B is through, whatever part of a microsecond's work was done at the pause.
    """
    nodes = {"nodes": [{"count": 1, "cores": 4, "name": "n", "speed": 0.333333}]}
    jobs = low(0, 10, 4, run_time=1), high(0.5, 10, 4, run_time=1)
    got = tell(site(nodes, {"mode": "suspend"}), *jobs)
    assert got.spans == [
        [(0, 0.5, "suspended"), (3.500004, 6.000008, "completed")],
        [(0.5, 3.500004, "completed")],
    ]


def test_a_pause_while_a_checkpoint_is_written_costs_no_microsecond(tell):
    """As before; A has 2 s of work and writes a checkpoint, which takes a second, after the first.

    It comes to that at 3.000004, and is half through with it when B comes, at 3.500004; B has the node until 6.500008.
    The other half until 7.000008, then the rest of the 6,000,007 microseconds that 2 s of work take: 3,000,003.
    """
    nodes = {"nodes": [{"count": 1, "cores": 4, "name": "n", "speed": 0.333333}]}
    jobs = low(0, 10, 4, run_time=2), high(3.500004, 10, 4, run_time=1)
    execution = {"checkpoint": {"interval": 1, "cost": 1}}
    got = tell(site(nodes, {"mode": "suspend"}, execution=execution), *jobs)
    assert got.spans[0] == [(0, 3.500004, "suspended"), (6.500008, 10.000011, "completed")]


def test_a_suspended_job_goes_on_with_whole_nodes(tell):
    """A whole node of 5 cores with 4 of memory. A (low, 3 cores, 1 of memory each) is suspended at 2 for B, 3 s.

    That the memory would not do for 5 such cores does not matter: A has the node again at 5.
    """
    nodes = {"nodes": [{"count": 1, "cores": 5, "memory": 4, "name": "n"}], "sharing": "whole"}
    got = tell(site(nodes, {"mode": "suspend"}), low(0, 6, 3, memory_per_core=1), high(2, 3, 5))
    assert got.spans == [[(0, 2, "suspended"), (5, 9, "completed")], [(2, 5, "completed")]]


def test_a_failure_hits_who_is_suspended_there(tell):
    """Node of 4 cores; A is suspended at 3 for B (3 s). At 5 the node fails for a second: both begin again at 6.

    B, of the higher priority, first: [6, 9); A then from nothing: [9, 19). A has lost 3 s x 4 cores, B 2 s x 4.
    """
    nodes = {"nodes": [{"count": 1, "cores": 4, "name": "n"}]}
    scenario = site(nodes, {"mode": "suspend"}, failures=[{"at": 5, "length": 1}])
    got = tell(scenario, low(0, 10, 4), high(3, 3, 4))
    assert got.spans == [
        [(0, 3, "suspended"), (9, 19, "completed")],
        [(3, 5, "requeued"), (6, 9, "completed")],
    ]
    assert got.lost == [12, 8]
    assert got.attempts == [[0, 1], [0, 1]]


# ---- together with reservations


def test_nobody_is_displaced_for_a_job_that_would_run_into_a_window(tell):
    """4 cores, maintained in [10, 12). A (low, 8 s) runs. B (high, 8 s, at 5) would end at 13: no use displacing A."""
    window = {"name": "upgrade", "start": 10, "length": 2}
    scenario = site({"cores": 4}, {"mode": "kill"}, reservations=[window])
    got = tell(scenario, low(0, 8, 4), high(5, 8, 4))
    assert got.spans == [[(0, 8, "completed")], [(12, 20, "completed")]]


# ---- whole nodes that are alike: reservations and claims are numbers of them

WHOLE = {"nodes": [{"count": 2, "cores": 4, "name": "n"}], "sharing": "whole"}


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_after_a_claim_reservations_are_made_as_before(tell, backfill):
    """Grace 1. A and B (low, 10 and 12 s) have a node each. C (high, 3 s) comes at 2: B, the youngest, leaves at 3.

    ::
             0 2  6   10   15
        n0   AAAAAAAAAADDDDD       D (2 nodes, 5 s, at 2) is kept both nodes from 10 on: E (1 node, 20 s, at 2) finds
        n1   BBBCCC....DDDDDEEEE   n1 free at 6, and waits.
    """
    got = tell(
        site(WHOLE, {"mode": "kill", "grace": 1}, backfill),
        low(0, 10, 4),
        low(0, 12, 4),
        high(2, 3, 4),
        low(2, 5, 8),
        low(2, 20, 4),
    )
    assert got.spans == [
        [(0, 10, "completed")],
        [(0, 3, "preempted")],
        [(3, 6, "completed")],
        [(10, 15, "completed")],
        [(15, 35, "completed")],
    ]


def test_a_suspended_job_does_not_go_on_while_its_node_is_taken(tell):
    """A and B (low, 10 s) have a node each. C (high, 4 s) takes B's at 3. D comes at 5: no reason for B to go on."""
    got = tell(site(WHOLE, {"mode": "suspend"}), low(0, 10, 4), low(0, 10, 4), high(3, 4, 4), low(5, 1, 4))
    assert got.spans == [
        [(0, 10, "completed")],
        [(0, 3, "suspended"), (7, 14, "completed")],
        [(3, 7, "completed")],
        [(10, 11, "completed")],
    ]
    assert got.nodes == [["0:4"], ["1:4", "1:4"], ["1:4"], ["0:4"]]
