"""When passes take place: a few jobs each, whose schedule was worked out by hand.

Unless the text says otherwise there are 4 cores and EASY; A takes 3 of them from 0 to 100, B wants all 4 from 1 on, so
it has its place at 100; C wants the core that is free. Passes on events take place at 0 (A starts), at 1 (B is
blocked), at 2 (C stands behind B: a main pass stops there), and at A's end.
"""

from __future__ import annotations

import pytest
from site_schedule import job, schedule_fast

A = job(0, 100, 3, user="ann")
B = job(1, 50, 4, user="bo")


def cluster(backfill="easy", order="fcfs", **rhythm):
    return {"cores": 4, "scheduler": {"backfill": backfill, "order": order, "rhythm": {"name": "periodic"} | rhythm}}


def test_at_an_instant_all_arrivals_are_considered_together(schedule):
    """One core, the shortest first: A (10 s) and B (5 s) come together, B is first."""
    one = {"cores": 1, "scheduler": {"order": "sjf", "backfill": "none"}}
    assert schedule(one, job(0, 10), job(0, 5)).starts == [5, 0]


def test_after_every_event_the_first_arrival_is_considered_alone():
    """The same, but A is alone when it comes. The twin has no such rhythm."""
    one = {"cores": 1, "scheduler": {"order": "sjf", "backfill": "none", "rhythm": "event"}}
    assert schedule_fast(one, job(0, 10), job(0, 5)).starts == [0, 10]


@pytest.mark.parametrize("machine", [{"cores": 100}, {"nodes": [{"count": 10, "cores": 10}]}], ids=["cores", "nodes"])
def test_a_promise_waits_for_all_ends_of_its_instant(machine):
    """A and B (15 cores each) end at 100, for when C (all cores) has its promise: the pass after A's end sees B."""
    site = machine | {"scheduler": {"backfill": "conservative", "rhythm": "event"}}
    assert schedule_fast(site, job(0, 100, 15), job(0, 100, 15), job(7, 50, 100)).starts == [0, 0, 100]


def test_a_promise_is_lost_amid_an_instant_when_a_job_outlives_its_estimate():
    """Estimates are half of the requests. A and B are expected until 100; A ends then, B is expected a minute later,
    and does end at 160. C (all cores) is promised 100, and then 160. D (10 cores, of 30 s, from 101 on) ends before."""
    half = {"name": "factor", "factor": 0.5}
    site = {"cores": 100, "scheduler": {"backfill": "conservative", "rhythm": "event", "estimate": half}}
    a, b = job(0, 200, 15, run_time=100), job(0, 200, 15, run_time=160)
    assert schedule_fast(site, a, b, job(7, 50, 100), job(101, 60, 10, run_time=30)).starts == [0, 0, 160, 101]


def test_who_overtakes_waits_for_the_backfill_pass(schedule):
    """C (20 s) would be out of B's way, but only at 30 somebody looks behind B."""
    got = schedule(cluster(), A, B, job(2, 20))
    assert got.starts == [0, 100, 30]
    assert got.backfilled == [False, False, True]


def test_a_backfill_pass_takes_place_at_multiples_of_its_interval(schedule):
    assert schedule(cluster(bf_interval=7), A, B, job(2, 20), job(8, 20)).starts == [0, 100, 7, 28]


def test_the_head_starts_when_something_ends_and_need_not_wait(schedule):
    """A ends early, at 41: B starts with the pass on that event."""
    got = schedule(cluster(), job(0, 100, 3, run_time=41), B)
    assert got.starts == [0, 41]


def test_without_backfilling_there_is_no_backfill_pass(schedule):
    assert schedule(cluster("none"), A, B, job(2, 20)).starts == [0, 100, 150]


def test_deferred_submissions_wait_for_the_next_pass(schedule):
    """A (10 s) comes at 5, B at 65. Nothing happens until the main pass at 60; at 70 A ends, which is an event."""
    got = schedule(cluster("none", defer=True), job(5, 10, 3), job(65, 10, 3))
    assert got.starts == [60, 70]
    got = schedule(cluster("easy", defer=True), job(5, 10, 3), job(65, 10, 3))
    assert got.starts == [30, 90]


def test_passes_on_events_keep_their_distance(schedule):
    """At least 10 s, here 10,000,000 microseconds: A's pass is at 1, B comes at 4, C at 12, D at 15."""
    jobs = [job(time, 100) for time in (1, 4, 12, 15)]
    assert schedule(cluster("none", sched_min_interval=10_000_000), *jobs).starts == [1, 11, 21, 21]


def test_the_pass_at_its_interval_needs_no_distance(schedule):
    """As above, with a pass at 12, 24, ... for C, and for D the next of the others, at 21."""
    jobs = [job(time, 100) for time in (1, 4, 12, 15)]
    got = schedule(cluster("none", sched_min_interval=10_000_000, sched_interval=12), *jobs)
    assert got.starts == [1, 11, 12, 21]


def test_without_a_main_pass_only_the_backfill_passes_start_jobs(schedule):
    assert schedule(cluster(sched_interval=-1), A, B, job(2, 20)).starts == [0, 120, 30]


TWO_NODES = [{"count": 1, "cores": 4, "name": "a"}, {"count": 1, "cores": 4, "name": "b"}]


def two_queues(queues, **rhythm):
    scheduler = {"backfill": "easy", "place": "first-fit", "rhythm": {"name": "periodic"} | rhythm}
    return {"nodes": TWO_NODES, "queues": queues, "scheduler": scheduler}


def test_a_queue_stops_at_its_first_blocked_job_and_others_do_not(schedule):
    """Queues qa and qb have a node each. B is blocked behind A in qa; C in qb starts as soon as it comes."""
    got = schedule(
        two_queues({"qa": {"nodes": "a", "priority": 1}, "qb": {"nodes": "b"}}),
        job(0, 100, 3, queue="qa"),
        job(1, 50, 4, queue="qa"),
        job(2, 20, 1, queue="qb"),
        job(3, 20, 1, queue="qa"),
    )
    assert got.starts == [0, 100, 2, 30]


def test_with_a_queue_those_stop_that_share_nodes_with_it(schedule):
    """qc may use both nodes: while qa stands still its job waits for the backfill pass, though node b is empty. qb
    shares no node with qa."""
    got = schedule(
        two_queues({"qa": {"nodes": "a", "priority": 1}, "qb": {"nodes": "b"}, "qc": {}}),
        job(0, 100, 3, queue="qa"),
        job(1, 50, 4, queue="qa"),
        job(2, 20, 1, queue="qc"),
        job(3, 20, 1, queue="qb"),
    )
    assert got.starts == [0, 100, 30, 3]


def test_whole_nodes_of_one_queue_are_not_counted_for_another(schedule):
    """Each node is for one job. A and B are of qb, which has node b alone: B's place is there, at 100. C may use both
    nodes, and starts on node a with the first backfill pass."""
    site = two_queues({"qa": {}, "qb": {"nodes": "b"}}) | {"sharing": "whole"}
    got = schedule(site, job(0, 100, 4, queue="qb"), job(1, 100, 4, queue="qb"), job(2, 10, 4, queue="qa"))
    assert got.starts == [0, 100, 30]


def test_the_depth_of_a_pass_on_events_counts_all_jobs_of_the_domain(schedule):
    """As many jobs of qa wait as the pass looks at: C in qb is seen by the full pass at 60 (the backfill pass looks
    at one job only)."""
    queues = {"qa": {"nodes": ["a"], "priority": 1}, "qb": {"nodes": "b"}, "both": {}}
    jobs = [job(0, 100, 3, queue="qa"), job(1, 50, 4, queue="qa"), job(2, 20, 1, queue="qb")]
    assert schedule(two_queues(queues, default_queue_depth=1, bf_max_job_test=1), *jobs).starts == [0, 100, 60]
    assert schedule(two_queues(queues, default_queue_depth=2, bf_max_job_test=1), *jobs).starts == [0, 100, 2]


@pytest.mark.parametrize(("window", "starts"), [(1440, [0, 100, 150]), (1, [0, 230, 30])])
def test_who_starts_beyond_the_window_has_no_reservation(schedule, window, starts):
    """At 30 B's place at 100 is 70 s ahead: with a window of one minute C (200 s) may take it."""
    assert schedule(cluster(bf_window=window), A, B, job(2, 200)).starts == starts


@pytest.mark.parametrize(("resolution", "start"), [(1, 30), (5, 30), (60, 150)])
def test_ends_are_rounded_up_to_the_resolution(schedule, resolution, start):
    """From 30 on C takes 65 s, to 95; rounded up to minutes that is 120, and B has its place at 100."""
    assert schedule(cluster(bf_resolution=resolution), A, B, job(2, 65)).starts == [0, 100, start]


def test_only_the_first_jobs_are_tested(schedule):
    """B and C (200 s, in B's way) are, D (20 s) is not; once B runs, from 100 to 150, C is first."""
    jobs = [A, B, job(2, 200), job(3, 20)]
    assert schedule(cluster(bf_max_job_test=2), *jobs).starts == [0, 100, 150, 150]
    assert schedule(cluster(bf_max_job_test=3), *jobs).starts == [0, 100, 150, 30]


def test_of_a_user_only_the_first_jobs_are_tested(schedule):
    """bo's B is, his C is not, and cy's D comes instead."""
    jobs = [A, B, job(2, 20, user="bo"), job(3, 20, user="cy")]
    assert schedule(cluster(bf_max_job_user=1), *jobs).starts == [0, 100, 150, 30]
    assert schedule(cluster(bf_max_job_user=2, bf_resolution=1), *jobs).starts == [0, 100, 30, 60]


@pytest.mark.parametrize(
    ("backfill", "starts"),
    [
        ("aggressive", [0, 100, 430, 30]),
        ("easy", [0, 100, 430, 30]),
        ({"name": "depth", "depth": 2}, [0, 100, 150, 170]),
        ("conservative", [0, 100, 150, 170]),
    ],
)
def test_how_many_have_a_reservation_is_for_the_backfill_part(schedule, backfill, starts):
    """6 cores. A has 3 until 100; B wants 5 for 50 s, C wants 6 for 20 s, D wants one for 400 s.

    At 30: B's place is 100 to 150, and leaves one core. C's place is behind it, where D would be in the way. Without
    any reservation D is in nobody's way either; it then delays C alone.
    """
    machine = cluster(backfill, bf_resolution=1) | {"cores": 6}
    got = schedule(machine, job(0, 100, 3), job(1, 50, 5), job(2, 20, 6), job(3, 400, 1))
    assert got.starts == starts


def test_every_pass_plans_anew(schedule):
    """A ends at 40 instead of 100: at 40 B starts on the event, to 90. C (60 s) was promised 150 at 30; the pass at 60
    finds no room beside B, and B's end at 90 starts C."""
    got = schedule(cluster("conservative"), job(0, 100, 3, run_time=40), B, job(2, 60, 2))
    assert got.starts == [0, 40, 90]


def test_limits_are_asked_in_every_pass(schedule):
    """ann may have one running job: her C is passed over until A's end, cy's D is not."""
    limited = cluster() | {"limits": [{"per": "user", "running_jobs": 1}]}
    got = schedule(limited, A, job(2, 20, user="ann"), job(3, 20, user="cy"))
    assert got.starts == [0, 100, 3]


def test_time_alone_may_change_the_order(schedule):
    """By wait/request B (requests 200 s) is before C (20 s) only at first; with A gone at 100, C has grown past it."""
    got = schedule(cluster("none", "wfp3"), job(0, 100, 4), job(1, 200, 4), job(10, 20, 4))
    assert got.starts == [0, 120, 100]
