"""Reservations, failures and checkpoints: a few jobs each, whose schedule was worked out by hand.

In the drawings time runs to the right, a column a second, and `|` is an edge of a reservation. All jobs are submitted
at 0 unless the text says otherwise; A is the first.
"""

from __future__ import annotations

import pytest
from site_schedule import job

from twin import outages as twin_outages
from walltime.scenario import outages

DAY = 86_400
TWO_NODES = [{"count": 2, "cores": 4, "name": "n"}]


def pool(cores, backfill="easy", execution=None, **cluster):
    return {
        "cluster": {"cores": cores, "scheduler": {"backfill": backfill}} | cluster,
        "execution": execution or {},
    }


def nodes(groups, backfill="easy", execution=None, **cluster):
    scheduler = {"backfill": backfill, "place": "first-fit"}
    return {"cluster": {"nodes": groups, "scheduler": scheduler} | cluster, "execution": execution or {}}


# ---- maintenance


@pytest.mark.parametrize("backfill", ["none", "aggressive", "easy", "conservative"])
def test_nothing_runs_into_a_maintenance_window(tell, backfill):
    """4 cores, all of them maintained from 10 to 15. A (2 cores, 8 s) is through before; B (4 cores, 6 s) is not.

    ::
             0    5    10   15   20
        4 c  AAAAAAAA  |xxxx|BBBBBB

    At 8 B would need [8, 14); it begins with the window's end.
    """
    window = {"name": "upgrade", "start": 10, "length": 5}
    got = tell(pool(4, backfill, reservations=[window]), job(0, 8, 2), job(0, 6, 4))
    assert got.spans == [[(0, 8, "completed")], [(15, 21, "completed")]]


def test_the_time_before_a_window_is_used(tell):
    """4 cores, window [10, 15) on all. A: 4 cores, 12 s: can only be after it. EASY gives it [15, 27).

    ::
             0    5    10   15   20   25
        4 c  BBBBBBBBBB|xxxx|AAAAAAAAAAAA     B (4 cores, 10 s) ends at the very edge.
                                              C (1 core, 11 s) would reach into the window, and then into A: it comes
                                              after A, at 27.
    """
    window = {"name": "upgrade", "start": 10, "length": 5}
    got = tell(pool(4, reservations=[window]), job(0, 12, 4), job(0, 10, 4), job(0, 11, 1))
    assert got.spans == [[(15, 27, "completed")], [(0, 10, "completed")], [(27, 38, "completed")]]


def test_a_window_of_some_nodes_leaves_the_others_alone(tell):
    """Two nodes of 4 cores, n1 is maintained in [5, 10).

    A (4 cores, 8 s) must be on n0. B (4 cores, 5 s) fits on n1 before the window. C (8 cores, 1 s) needs both: n0 is
    free at 8, n1 at 10. D (4 cores, 2 s) fits on n0 in [8, 10), beside C's reservation at 10.
    """
    window = {"name": "disk", "start": 5, "length": 5, "nodes": "n1"}
    scenario = nodes(TWO_NODES, reservations=[window])
    got = tell(scenario, job(0, 8, 4), job(0, 5, 4), job(0, 1, 8), job(0, 2, 4))
    assert [spans[0][:2] for spans in got.spans] == [(0, 8), (0, 5), (10, 11), (8, 10)]
    assert got.nodes == [["0:4"], ["1:4"], ["0-1:4"], ["0:4"]]


def test_a_window_of_some_cores_keeps_their_number(tell):
    """6 cores, 4 of them maintained in [5, 10). A and B: 2 cores, 10 s each: one of them may run through the window.

    A starts at 0: 2 of the 2 cores that are left in the window. B would be the third and fourth: it waits until 10.
    """
    window = {"name": "half", "start": 5, "length": 5, "cores": 4}
    got = tell(pool(6, reservations=[window]), job(0, 10, 2), job(0, 10, 2))
    assert got.spans == [[(0, 10, "completed")], [(10, 20, "completed")]]


def test_a_window_recurs(tell):
    """4 cores, [4, 6) and every 8 s, three times: [4, 6), [12, 14), [20, 22). Jobs of 4 cores and 6 s.

    ::
             0   4 6     12 14    20 22    28
        4 c      |x|AAAAAA|x|BBBBBB|x|CCCCCC       at 28 there is no window any more
    """
    window = {"name": "weekly", "start": 4, "length": 2, "every": 8, "times": 3}
    got = tell(pool(4, "none", reservations=[window]), job(0, 6, 4), job(0, 6, 4), job(0, 6, 4), job(0, 6, 4))
    assert [spans[0][0] for spans in got.spans] == [6, 14, 22, 28]


@pytest.mark.parametrize("backfill", ["easy", "conservative"])
def test_of_a_window_that_recurs_often_only_the_next_are_known(tell, backfill, monkeypatch):
    """4 cores, [0, 2) and every 8 s from day 10 on, 12 times; of these the scheduler knows the next 3.

    A (4 cores, 1 day), half a day before, would reach into the first: it waits for the end of the last, 90 s after day
    10. B (1 core, 6 s) comes at 9 s and fits between two of them, from 10 to 16 s; C (1 core, 7 s) does not.
    """
    for module in (outages, twin_outages):
        monkeypatch.setattr(module, "AHEAD", 3)
    window = {"name": "often", "start": 10 * DAY, "length": 2, "every": 8, "times": 12}
    jobs = job(9.5 * DAY, DAY, 4), job(10 * DAY + 9, 6), job(10 * DAY + 9, 7)
    got = tell(pool(4, backfill, reservations=[window]), *jobs)
    last = 10 * DAY + 11 * 8 + 2
    assert [spans[0][0] for spans in got.spans] == [last, 10 * DAY + 10, last + DAY]


def test_a_window_far_away_is_seen_in_time(tell):
    """A window on day 40 for a day, for ever every 40 days; jobs of 10 days are planned 30 days ahead.

    A (submitted on day 29, 10 days) ends on day 39. B (submitted on day 31, 10 days) would run into it: day 41.
    """
    window = {"name": "far", "start": 40 * DAY, "length": DAY, "every": 40 * DAY}
    got = tell(pool(1, reservations=[window]), job(29 * DAY, 10 * DAY), job(31 * DAY, 10 * DAY))
    assert [spans[0][0] for spans in got.spans] == [29 * DAY, 41 * DAY]


@pytest.mark.parametrize(("fate", "state"), [("requeue", "completed"), ("fail", "failed")])
def test_who_outlives_his_estimate_is_in_the_way(tell, fate, state):
    """2 cores, window [10, 20). A asks for 8 s and runs 12 (overrun: extend). At 10 it has to go: 10 s x 1 core lost.

    Requeued, it starts at 20 from nothing and ends at 32.
    """
    window = {"name": "upgrade", "start": 10, "length": 10}
    scenario = pool(2, execution={"overrun": "extend"}, reservations=[window], interrupted=fate)
    got = tell(scenario, job(0, 8, 1, run_time=12))
    assert got.states == [state]
    assert got.lost == [10]
    if fate == "fail":
        assert got.spans == [[(0, 10, "failed")]]
    else:
        assert got.spans == [[(0, 10, "requeued"), (20, 32, "completed")]]
        assert got.restarts == [1]
        assert got.attempts == [[0, 1]]


def test_of_cores_the_youngest_are_in_the_way(tell):
    """4 cores, 2 of them maintained in [10, 20). A, B, C: 1 core, ask for 5 s, run 30; submitted at 0, 1, 2.

    At 10 three run, and one core is free. The youngest, C, has to go; A and B may stay. C lost 8 core-seconds; it is
    back at 20 and ends at 50.
    """
    window = {"name": "half", "start": 10, "length": 10, "cores": 2}
    scenario = pool(4, execution={"overrun": "extend"}, reservations=[window])
    got = tell(scenario, *(job(submit, 5, 1, run_time=30) for submit in (0, 1, 2)))
    assert got.spans == [
        [(0, 30, "completed")],
        [(1, 31, "completed")],
        [(2, 10, "requeued"), (20, 50, "completed")],
    ]
    assert got.lost == [0, 0, 8]


# ---- reservations for somebody


def test_a_bound_job_runs_in_its_reservation_and_nobody_else(tell):
    """Two nodes of 4 cores; n1 is ann's in [10, 20).

    A (ann, bound, 4 cores, 5 s) waits for 10 though all is free. B (bo, 8 cores, 12 s) needs both nodes: from 20 on.
    C (ann, not bound, 4 cores, 15 s) may not use n1, but n0: [0, 15).
    """
    booked = {"name": "course", "start": 10, "length": 10, "nodes": "n1", "users": ["ann"]}
    got = tell(
        nodes(TWO_NODES, reservations=[booked]),
        job(0, 5, 4, user="ann", reservation="course"),
        job(0, 12, 8, user="bo"),
        job(0, 15, 4, user="ann"),
    )
    assert [spans[0][:2] for spans in got.spans] == [(10, 15), (20, 32), (0, 15)]
    assert got.nodes == [["1:4"], ["0-1:4"], ["0:4"]]


def test_bound_jobs_must_end_with_the_occurrence(tell):
    """4 of 8 cores are ann's in [10, 20) and [30, 40). A, B: 4 cores, 6 s; C: 2 cores, 4 s; D: 2 cores, 10 s.

    ::
                 10        20        30        40
        4 cores  |AAAAAACCCC|........|BBBBBB....|       C overtakes B, which needs 6 s: EASY has it at 30.

    D needs all of an occurrence: there is none after B has begun, and so it waits for ever.
    """
    booked = {"name": "course", "start": 10, "length": 10, "every": 20, "times": 2, "cores": 4, "users": ["ann"]}
    jobs = [job(0, time, cores, user="ann", reservation="course") for time, cores in ((6, 4), (6, 4), (4, 2), (10, 2))]
    got = tell(pool(8, reservations=[booked]), *jobs)
    assert [[span[:2] for span in spans] for spans in got.spans] == [[(10, 16)], [(30, 36)], [(16, 20)], []]
    assert got.states == ["completed", "completed", "completed", "waiting"]


@pytest.mark.parametrize(("licences", "start"), [({"matlab": 1}, 12), ({"matlab": 2}, 4)])
def test_licences_are_those_of_the_whole_cluster(tell, licences, start):
    """n1 is reserved for ann from 10 on. A (ann, bound, 2 s) and B (bo, at 4, 8 s) want a licence each.

    Of two, B has the other at once. The only one is kept for A, in [10, 12): B would need it from 4 to 12.
    """
    reservation = {"name": "course", "start": 10, "length": 10, "nodes": ["n1"], "users": ["ann"]}
    scenario = nodes(TWO_NODES, licences=licences, reservations=[reservation])
    bound = job(0, 2, 1, user="ann", reservation="course", licences="matlab")
    got = tell(scenario, bound, job(4, 8, 1, user="bo", licences="matlab"))
    assert got.spans == [[(10, 12, "completed")], [(start, start + 8, "completed")]]


def test_a_bound_job_waits_for_a_licence_that_is_in_use(tell):
    """B (bo, 15 s) has the only licence when the reservation begins: A, bound, has it at 15."""
    reservation = {"name": "course", "start": 10, "length": 10, "nodes": ["n1"], "users": ["ann"]}
    scenario = nodes(TWO_NODES, licences={"matlab": 1}, reservations=[reservation])
    bound = job(1, 2, 1, user="ann", reservation="course", licences="matlab")
    got = tell(scenario, job(0, 15, 1, user="bo", licences="matlab"), bound)
    assert got.spans == [[(0, 15, "completed")], [(15, 17, "completed")]]


def test_a_bound_job_counts_with_all_its_memory(tell):
    """Two nodes, reserved for ann; 8 of memory for all that run. A, bound, has 5 on each of its two nodes: too much."""
    reservation = {"name": "course", "start": 10, "length": 10, "users": ["ann"]}
    scenario = nodes(TWO_NODES, limits=[{"running_memory": 8}], reservations=[reservation])
    bound = job(0, 5, 8, user="ann", reservation="course", memory_per_node=5)
    assert tell(scenario, bound | {"nodes": 2}).states == ["rejected"]
    told = [group | {"memory": 8} for group in TWO_NODES]
    scenario = nodes(told, limits=[{"running_memory": 8}], reservations=[reservation])
    assert tell(scenario, bound).states == ["rejected"]  # it is divided over the nodes because they tell of memory


def test_who_may_not_use_a_reservation_is_rejected(tell):
    """4 of 8 cores for ann, 10 s. bo may not; 5 cores are too many; 11 s are too long."""
    booked = {"name": "course", "start": 10, "length": 10, "cores": 4, "users": ["ann"]}
    got = tell(
        pool(8, reservations=[booked]),
        job(0, 5, 1, user="bo", reservation="course"),
        job(0, 5, 5, user="ann", reservation="course"),
        job(0, 11, 1, user="ann", reservation="course"),
        job(0, 10, 4, user="ann", reservation="course"),
    )
    assert got.states == ["rejected", "rejected", "rejected", "completed"]
    assert got.spans[3] == [(10, 20, "completed")]


def test_a_bound_job_that_outlives_the_occurrence_waits_for_the_next(tell):
    """1 core for ann in [5, 10) and [15, 20). A asks for 4 s and runs 5 s (extend).

    B, bound, 1 core, 2 s. At 5 A starts; its end is corrected at 9; it ends by itself at 10, at the edge: completed.
    B starts at 15. C asks for 3 s and runs 9 s: it begins at 17, is interrupted at 20, and there is no other.
    """
    booked = {"name": "course", "start": 5, "length": 5, "every": 10, "times": 2, "users": ["ann"]}
    got = tell(
        pool(1, execution={"overrun": "extend"}, reservations=[booked]),
        job(0, 4, 1, run_time=5, user="ann", reservation="course"),
        job(0, 2, 1, user="ann", reservation="course"),
        job(0, 3, 1, run_time=9, user="ann", reservation="course"),
    )
    assert got.spans == [[(5, 10, "completed")], [(15, 17, "completed")], [(17, 20, "requeued")]]
    assert got.states == ["completed", "completed", "waiting"]
    assert got.lost == [0, 0, 3]


# ---- failures


@pytest.mark.parametrize(
    ("fate", "spans", "lost"),
    [
        ("requeue", [(0, 6, "requeued"), (9, 19, "completed")], 12),
        ("fail", [(0, 6, "failed")], 12),
    ],
)
def test_a_node_fails_under_a_job(tell, fate, spans, lost):
    """One node of 2 cores fails at 6 and is back at 9. A (2 cores, 10 s) loses 6 s x 2 cores."""
    scenario = nodes([{"count": 1, "cores": 2, "name": "n"}], failures=[{"at": 6, "length": 3}], interrupted=fate)
    got = tell(scenario, job(0, 10, 2))
    assert got.spans == [spans]
    assert got.lost == [lost]
    assert got.states == [spans[-1][2]]


def test_only_the_jobs_on_the_node_are_hit(tell):
    """n1 fails at 3 for 4 s. A on n0 goes on; B on n1 waits again, before C, which came later: A's node is free at 5.

    ::
             0  3 5 7    12
        n0   AAAAABBBBBBBBBB          B was first, and 10 s long: [5, 15)
        n1   BBBxxxxCCCCC             C (4 cores, 5 s, submitted at 1): n1 is back at 7
    """
    got = tell(
        nodes(TWO_NODES, failures=[{"at": 3, "length": 4, "nodes": "n1"}]),
        job(0, 5, 4),
        job(0, 10, 4),
        job(1, 5, 4),
    )
    assert got.spans == [
        [(0, 5, "completed")],
        [(0, 3, "requeued"), (5, 15, "completed")],
        [(7, 12, "completed")],
    ]
    assert got.nodes == [["0:4"], ["1:4", "0:4"], ["1:4"]]


@pytest.mark.parametrize(("known", "start"), [(True, 12), (False, 2)])
def test_a_known_repair_is_planned_with(tell, known, start):
    """n1 is down in [1, 10). A (2 cores, 9 s, at 1) is on n0 until 10. B (8 cores, 2 s) and C (2 cores, 9 s) come at 2.

    Known: EASY has B at 10, when n1 is back and A through. C, on n0 from 2 to 11, would be in its way: it comes at 12.
    Not known: B has no place in any plan, so C starts at once, and B when C has gone, at 11.
    """
    got = tell(
        nodes(TWO_NODES, failures=[{"at": 1, "length": 9, "nodes": "n1", "known": known}]),
        job(1, 9, 2),
        job(2, 2, 8),
        job(2, 9, 2),
    )
    assert got.spans[0] == [(1, 10, "completed")]
    assert got.spans[2][0][0] == start
    assert got.spans[1][0][0] == (10 if known else 11)


def test_a_node_that_drains_takes_nobody(tell):
    """One node of 4 cores fails at 10 for 2 s, 4 s of notice. A (2 cores, 8 s) goes on while it drains.

    B (2 cores, 2 s, submitted at 7) would be through before the failure, but nothing starts in [6, 12).
    """
    scenario = nodes([{"count": 1, "cores": 4, "name": "n"}], failures=[{"at": 10, "length": 2, "notice": 4}])
    got = tell(scenario, job(0, 8, 2), job(7, 2, 2))
    assert got.spans == [[(0, 8, "completed")], [(12, 14, "completed")]]


def test_of_a_number_of_cores_those_on_the_unit_are_hit(tell):
    """8 cores; a unit of 4 fails at 5 for 5 s: the first on the line. A (3 cores), B (2), C (2) lie there in order.

    The unit is [0, 4): A [0, 3) and B [3, 5) are hit, C [5, 7) goes on. 4 cores are left, C has 2: B fits beside it at
    once (EASY: A's 3 cores are there at 10; B's 20 s on 2 cores are in nobody's way, as 8 - 2 - 3 are 3).
    """
    scenario = pool(8, failures=[{"at": 5, "length": 5, "cores": 4}])
    got = tell(scenario, job(0, 20, 3), job(0, 20, 2), job(0, 20, 2))
    assert got.spans == [
        [(0, 5, "requeued"), (10, 30, "completed")],
        [(0, 5, "requeued"), (5, 25, "completed")],
        [(0, 20, "completed")],
    ]
    assert got.lost == [15, 10, 0]


def test_failures_do_not_prolong_a_run(tell):
    """Nodes that fail for ever; the run ends with its only job."""
    source = {"between": {"mean": "1h"}, "repair": {"mean": "1h"}}
    got = tell(nodes(TWO_NODES, failures=[source]), job(0, 1, 1))
    assert got.ends == [1]


# ---- checkpoints


def test_checkpoints_take_time(tell):
    """10 s of work, a checkpoint every 3 s that takes 1 s: after 3, 6 and 9 s of work; none at the end. 13 s."""
    execution = {"checkpoint": {"interval": 3, "cost": 1}}
    got = tell(pool(1, execution=execution), job(0, 10, 1))
    assert got.spans == [[(0, 13, "completed")]]


def test_a_failure_falls_back_on_the_last_checkpoint(tell):
    """10 s of work on 2 cores, checkpoints every 3 s (1 s each), restart 2 s; the node is down in [9, 11).

    ::
             0  3 4  7 8 9  11 13 16 17 18
        work ***c***c*     rr***c*
                     ^ 6 s are safe at 8; at 9 one more second of work is lost: 1 s x 2 cores

    From 11: restart until 13, work 6 to 9 until 16, checkpoint until 17, the last second until 18.
    """
    scenario = nodes(
        [{"count": 1, "cores": 2, "name": "n"}],
        execution={"checkpoint": {"interval": 3, "cost": 1, "restart": 2}},
        failures=[{"at": 9, "length": 2}],
        interrupted="checkpoint",
    )
    got = tell(scenario, job(0, 10, 2))
    assert got.spans == [[(0, 9, "requeued"), (11, 18, "completed")]]
    assert got.lost == [2]
    assert got.restarts == [1]


def test_a_checkpoint_that_is_not_written_does_not_count(tell):
    """As above, but the failure is at 3.5 s, in the middle of the first checkpoint: everything is lost.

    The second attempt begins at 5.5 with nothing, so without a restart: 13 s.
    """
    scenario = nodes(
        [{"count": 1, "cores": 2, "name": "n"}],
        execution={"checkpoint": {"interval": 3, "cost": 1, "restart": 2}},
        failures=[{"at": 3.5, "length": 2}],
        interrupted="checkpoint",
    )
    got = tell(scenario, job(0, 10, 2))
    assert got.spans == [[(0, 3.5, "requeued"), (5.5, 18.5, "completed")]]
    assert got.lost == [7]


def test_the_limit_leaves_time_for_checkpoints(tell):
    """It asks for 9 s and would work for 12: the limit is 9 + 2 checkpoints (after 3 and 6) of 1 s: killed at 11."""
    execution = {"checkpoint": {"interval": 3, "cost": 1}}
    got = tell(pool(1, execution=execution), job(0, 9, 1, run_time=12))
    assert got.spans == [[(0, 11, "timeout")]]


def test_time_for_a_restart_is_granted_when_it_is_first_wanted(tell):
    """Checkpoints after each second of work take 1 s, a restart 1 s. A (low, 5 s asked, works for 9) starts from
    nothing after the failure at 3; it has the node again at 4, and is displaced by B (high, 1 s) at 9, after 5 s: two
    checkpoints are written, at 6 and 8. It goes on at 10 and may run for 5 + 4 (checkpoints) + 1 (restart) - 4 s."""
    execution = {"checkpoint": {"interval": 1, "cost": 1, "restart": 1}}
    preempt = {"name": "qos", "mode": "checkpoint", "ranks": {"low": -1}}
    scheduler = {"backfill": "easy", "place": "first-fit", "preempt": preempt}
    failure = {"at": 3, "length": 1}
    node = [{"count": 1, "cores": 1, "name": "n"}]
    scenario = nodes(node, execution=execution, failures=[failure], interrupted="requeue", scheduler=scheduler)
    got = tell(scenario, job(0, 5, 1, run_time=9, qos="low"), job(9, 1, 1, qos="high"))
    assert got.spans[0] == [(0, 3, "requeued"), (4, 9, "preempted"), (10, 16, "timeout")]


# ---- what is shut counts


@pytest.mark.parametrize("shut", ["reservations", "failures"])
def test_a_reservation_takes_the_nodes_that_are_free_last(tell, shut):
    """Four nodes of one core; n0 and n1 are shut from 2 to 10. B (3 nodes) comes at 3 and can start at 10. It keeps the
    nodes that are free last by what is on them now: n0, n1, and of n2 and n3 the lower. So C (1 node, 20 s) starts at
    once on n3.

    ::
             0    5    10   15
        n0     |xxxxxxxBBBBB
        n1     |xxxxxxxBBBBB
        n2             BBBBB
        n3       CCCCCCCCCCCCC...
    """
    window = {"name": "w", "start": 2, "length": 8, "nodes": ["n0", "n1"]}
    failure = {"at": 2, "length": 8, "nodes": ["n0", "n1"]}
    away = {shut: [window if shut == "reservations" else failure]}
    four = nodes([{"count": 4, "cores": 1, "name": "n"}], **away)
    got = tell(four, job(3, 5, 3, nodes=3), job(3, 20, 1, nodes=1))
    assert got.spans == [[(10, 15, "completed")], [(3, 23, "completed")]]
    assert got.nodes == [["0-2:1"], ["3:1"]]


def test_what_a_reservation_keeps_does_not_fail(tell):
    """4 cores, of which 2 are kept for ann from 5 to 15; A runs there. At 8 two cores fail: of the others, where B is,
    though A is older."""
    kept = {"name": "r", "start": 5, "length": 10, "cores": 2, "users": ["ann"]}
    scenario = pool(4, reservations=[kept], failures=[{"at": 8, "length": 2, "cores": 2}], interrupted="requeue")
    got = tell(scenario, job(0, 8, 2, user="ann", reservation="r"), job(6, 10, 2, user="bo"))
    assert got.spans == [[(5, 13, "completed")], [(6, 8, "requeued"), (10, 20, "completed")]]
