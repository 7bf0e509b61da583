"""Slurm's planner: a few jobs each, whose schedule was worked out by hand from Slurm's rules.

Unless the text says otherwise nodes have one core, the order is first come, first served, and every job gets a place.
"""

from __future__ import annotations

import pytest
from site_schedule import job, table

from walltime import simulate
from walltime.core.errors import InputError, UnsupportedError

OVERLAP = {"a": {"nodes": ["n[0-1]"], "default": True}, "b": {"nodes": ["n[1-2]"]}}


def cluster(nodes="3x1", backfill="conservative", queues=None, **rhythm):
    scheduler = {"backfill": backfill, "rhythm": {"name": "slurm"} | rhythm}
    return {"nodes": nodes, "scheduler": scheduler} | ({} if queues is None else {"queues": queues})


def test_a_queue_that_stops_takes_its_nodes_out_of_the_pass_and_others_go_on(schedule):
    """A has node 0. B, of the same queue, wants both of its nodes: it stops the queue, and nodes 0 and 1 are out. C, of
    the queue on nodes 1 and 2, has node 2 at the next beat; D, of that queue too, finds none."""
    jobs = [job(0, 100, queue="a"), job(1, 100, 2, queue="a"), job(2, 90, queue="b"), job(2, 50, queue="b")]
    assert schedule(cluster(backfill="none", queues=OVERLAP), *jobs).starts == [0, 100, 3, 93]


def test_a_job_that_the_open_nodes_could_not_hold_does_not_stop_its_queue(schedule):
    """Two cores each. B stops queue a; of queue b node 2 is left, which could never hold C (4 cores anywhere), so D
    goes before it."""
    jobs = [job(0, 100, 2, queue="a"), job(1, 100, 4, queue="a"), job(2, 90, 4, queue="b"), job(2, 50, 1, queue="b")]
    assert schedule(cluster("3x2", "none", OVERLAP), *jobs).starts[3] == 3


def test_submissions_wait_for_the_beat_and_ends_do_not(schedule):
    """B starts at A's very end. Where it need not wait for A, it comes half a second after a beat: it waits for the one
    at 3, or, without a delay, at 1."""
    jobs = [job(0, 10.25, 3), job(0.5, 10, 3)]
    assert schedule(cluster(), *jobs).starts == [0, 10.25]
    assert schedule(cluster(), job(0, 10), job(0.5, 10)).starts == [0, 3]
    assert schedule(cluster(batch_sched_delay=0), job(0, 10), job(0.5, 10)).starts == [0, 1]


def test_where_limits_are_common_each_end_is_one_for_all_queues(schedule):
    """X ends at 8, in the pass of all jobs, which starts Z; Z, of no length, ends at 8, too. That has a pass of its own
    in all queues, so that the one on A's end at 9 waits for the pause."""
    queues = {"a": {"nodes": ["n[0]"], "default": True}, "b": {"nodes": ["n[1]"]}}
    jobs = [job(0, 9), job(0, 5), job(0, 8, queue="b"), job(0, 5, queue="b", run_time=0)]
    given = cluster("2x1", "none", queues, sched_interval=8, sched_min_interval=1_500_000)
    assert schedule(given, *jobs).starts == [0, 9, 0, 8]
    assert schedule(given | {"limits": [{"running_jobs": 9}]}, *jobs).starts == [0, 9.5, 0, 8]


def test_a_planned_job_keeps_whole_nodes(schedule):
    """Two nodes of two cores. A has all of node 0 until 600; B wants a core of each node, so it has its place then. C
    (1,200 s) would find the other core of node 1, but that node is B's from 600 on. D (500 s) is gone before."""
    jobs = [job(0, 600, 2, nodes=1), job(1, 60, 2, nodes=2), job(2, 1200, 1, nodes=1), job(2, 500, 1, nodes=1)]
    assert schedule(cluster("2x2"), *jobs).starts == [0, 600, 600, 30]


def test_places_are_rounded_down_to_the_resolution(schedule):
    """B has its place at 100; rounded down to minutes that is 60, and C (70 s) would end after that. To seconds, it is
    100, and C ends before."""
    jobs = [job(0, 100, 2), job(1, 50, 3), job(2, 70, 1)]
    assert schedule(cluster(), *jobs).starts[2] >= 100
    assert schedule(cluster(bf_resolution=1, bf_interval=3), *jobs).starts == [0, 100, 3]


def test_a_cycle_comes_when_something_has_happened_and_the_interval_is_over(schedule):
    """B's place is at 100. C could go before it: there was a cycle at 1, the next is at 31, or with a shorter interval
    at 8."""
    jobs = [job(0, 100, 2), job(1, 50, 3), job(2, 20, 1)]
    assert schedule(cluster(bf_resolution=1), *jobs).starts[2] == 30
    assert schedule(cluster(bf_resolution=1, bf_interval=7), *jobs).starts[2] == 7


def test_a_plan_with_idle_nodes_is_news_for_the_next_cycle(schedule):
    """B's place is at 1000. Where it is on a node that is in use nothing more happens, and C's submission at 500 is
    followed by a cycle at once. Where an idle node is among B's, there is one every 30 s: C waits for that at 510."""
    jobs = [job(0, 1000, 1, nodes=1), job(1, 50, 2, nodes=1), job(500, 50, 1, nodes=1)]
    assert schedule(cluster("1x2"), *jobs).starts == [0, 1000, 500]
    jobs = [job(0, 1000, 2, nodes=2), job(1, 50, 3, nodes=3), job(500, 50, 1, nodes=1)]
    assert schedule(cluster("3x1"), *jobs).starts == [0, 1000, 510]


def test_a_main_pass_that_meets_a_job_of_a_stopped_queue_is_news_for_the_cycle(schedule):
    """B, the one job with a place, stops the queue, and X stands behind it: every minute the main pass meets X, so that
    cycles come at full and half minutes. C waits for the one at 510."""
    jobs = [job(0, 1000, 1, nodes=1), job(1, 50, 2, nodes=1), job(2, 50, 2, nodes=1), job(500, 50, 1, nodes=1)]
    assert schedule(cluster("1x2", "easy"), *jobs[:2], jobs[3]).starts == [0, 1000, 500]
    assert schedule(cluster("1x2", "easy"), *jobs).starts[2:] == [1050, 510]


def test_jobs_that_were_too_young_to_stop_their_queue_are_looked_at_again_when_they_are_older(schedule):
    """As above, but that B and X are too young at the beat at 3, where neither stops the queue. The main pass at 60
    finds B old enough, and meets X behind it."""
    jobs = [job(0, 1000, 1, nodes=1), job(1, 50, 2, nodes=1), job(2, 50, 2, nodes=1), job(500, 50, 1, nodes=1)]
    assert schedule(cluster("1x2", "easy", bf_min_age_reserve=30), *jobs).starts == [0, 1000, 1050, 510]


def test_a_place_later_than_its_nodes_have_room_is_news_for_the_next_cycle(schedule):
    """X has its place behind B's, not at A's end. There is no main pass on whole minutes here, and cycles come every
    7 s all the same: C at 500 waits for that at 504."""
    jobs = [job(0, 1000, 1, nodes=1), job(1, 50, 2, nodes=1), job(2, 50, 2, nodes=1), job(500, 50, 1, nodes=1)]
    rhythm = {"sched_interval": 5000, "bf_interval": 7}
    assert schedule(cluster("1x2", "easy", **rhythm), *jobs).starts[3] == 500
    assert schedule(cluster("1x2", **rhythm), *jobs).starts[3] == 504


def test_a_job_counts_for_the_tests_of_a_cycle_in_each_of_its_queues(schedule):
    """A cycle tries one job: B, in two queues, which is two. C could start on node 2 and be gone before B's place at
    600, but is not tried; it waits for the main pass behind B. With three tries it is."""
    queues = {"a": {"default": True}, "b": {}}
    jobs = [job(0, 600, 2), job(1, 600, 3, queue="a,b"), job(2, 60, 1)]
    assert schedule(cluster(queues=queues, bf_max_job_test=1), *jobs).starts == [0, 600, 1200]
    assert schedule(cluster(queues=queues, bf_max_job_test=3), *jobs).starts == [0, 600, 30]


def test_what_a_main_pass_was_to_look_at_is_done_with_when_no_job_waits(schedule):
    """B's end at 11 is within the pause after A's, and the cycle at 11 starts C, the last job that waits. So D does not
    start at its submission, but in the cycle at the next second."""
    jobs = [job(0, 10), job(0, 1), job(0, 2), job(13.25, 5)]
    assert schedule(cluster("1x1", sched_min_interval=1_500_000, bf_interval=1), *jobs).starts == [0, 10, 11, 14]


def test_what_was_to_be_looked_at_is_done_with_also_where_nothing_happens_before_the_next_submission(schedule):
    """The same, but that C runs on and node 1 is idle when D comes."""
    jobs = [job(0, 10, 2), job(0, 1, 2), job(0, 20), job(12.25, 5)]
    assert schedule(cluster("2x1", sched_min_interval=1_500_000, bf_interval=1), *jobs).starts == [0, 10, 11, 13]


def test_a_job_without_an_account_counts_with_those_of_its_users(schedule):
    """A cycle looks at one job of an account's user: the second of di's waits for the next cycle."""
    given = cluster("2x1", sched_interval=-1, bf_max_job_assoc=1) | {"accounts": {"bio": {"users": ["di"]}, "law": {}}}
    jobs = [job(0, 100, user="di", account="bio"), job(0, 100, user="di")]
    assert schedule(given, *jobs).starts == [0, 30]
    apart = [job(0, 100, user="di", account="law"), job(0, 100, user="di")]
    assert schedule(given, *apart).starts == [0, 0]


def test_a_job_that_is_too_young_neither_stops_its_queue_nor_gets_a_place(schedule):
    """B wants all nodes, and has its place at A's end. C would be in its way; where B is too young to count, C starts
    at the next beat, and B when C has ended."""
    jobs = [job(0, 100, 2), job(1, 50, 3), job(2, 140, 1)]
    assert schedule(cluster(), *jobs).starts == [0, 100, 150]
    assert schedule(cluster(bf_min_age_reserve=90), *jobs).starts == [0, 143, 3]


def limited(backfill, stop, caps):
    return cluster(backfill=backfill, assoc_limit_stop=stop) | {"limits": [{"per": "user"} | caps]}


def three(cores):
    """Ann has two nodes until 600 and asks for more; bo comes behind her, for 600 s on the third node."""
    return [job(0, 600, 2, user="ann"), job(1, 600, cores, user="ann"), job(2, 600, 1, user="bo")]


@pytest.mark.parametrize("cores", [1, 2])
@pytest.mark.parametrize("backfill", ["none", "conservative"])
def test_a_job_at_a_limit_is_passed_over(backfill, cores, schedule):
    given = limited(backfill, False, {"running_cores": 2})
    assert schedule(given, *three(cores)).starts == [0, 600, 3]


def test_a_job_at_a_limit_stops_its_queue_where_assoc_limit_stop_is_given(schedule):
    """Without a cycle bo waits for ann's end. With one, her job could start on node 2 but for the limit, so it gets a
    place there in 500 s, which is in bo's way; if it wants two nodes, its place is at 600, and bo goes before it. A
    limit on the number of jobs stops no queue."""
    given = {"running_cores": 2}
    assert schedule(limited("none", True, given), *three(1)).starts == [0, 600, 600]
    assert schedule(limited("none", True, given), *three(2)).starts == [0, 600, 600]
    assert schedule(limited("conservative", True, given), *three(1)).starts == [0, 600, 600]
    assert schedule(limited("conservative", True, given), *three(2)).starts == [0, 600, 30]
    assert schedule(limited("none", True, {"running_jobs": 1}), *three(1)).starts == [0, 600, 3]


@pytest.mark.parametrize(("most", "last"), [(1, [600, 930, 1200, 30]), (2, [600, 600, 1200, 1200])])
def test_so_many_tasks_of_an_array_get_a_place(most, last, schedule):
    """A has three of four nodes until 600. The tasks want two each; the second would have its place at 600 on the nodes
    2 and 3, where the last job wants to be for 900 s from now on."""
    tasks = [job(1, 600, 2, nodes=2, array="7") for _ in range(3)]
    jobs = [job(0, 600, 3, nodes=3), *tasks, job(2, 900, 1, nodes=1)]
    assert schedule(cluster("4x1", bf_max_job_array_resv=most), *jobs).starts == [0, *last]


def test_a_task_that_starts_is_none_of_those_with_a_place(schedule):
    """A has node 0, the only one of queue a. The first task has a place there at 600, and starts on a node of b. So the
    second is looked at, and starts there too."""
    queues = {"a": {"nodes": ["n[0]"], "default": True}, "b": {"nodes": ["n[1-2]"]}}
    jobs = [job(0, 600), *(job(0, 600, queue="a,b", array="7") for _ in range(2))]
    given = cluster(queues=queues, sched_interval=-1, bf_max_job_array_resv=1)
    assert schedule(given, *jobs).starts == [0, 0, 0]


def test_an_array_counts_once_for_the_depth_of_the_main_pass(schedule):
    """Nothing fits but the last job, which is of another queue. Of a job and one more one is the array."""
    queues = {"a": {"nodes": ["n[0-1]"], "default": True}, "b": {"nodes": ["n[2]"]}}
    tasks = [job(1, 100, 2, queue="a", array="7") for _ in range(5)]
    jobs = [job(0, 100, 2, queue="a"), *tasks, job(2, 50, queue="b,a")]
    joined = cluster(backfill="none", queues=queues, default_queue_depth=1)
    assert schedule(joined, *jobs).starts[-1] == 3
    alone = [{name: value for name, value in one.items() if name != "array"} for one in jobs]
    assert schedule(joined, *alone).starts[-1] > 3


def test_what_it_cannot_be_is_refused():
    work = [job(0, 1)]
    with pytest.raises(UnsupportedError, match="give the cluster nodes"):
        _run({"cores": 4, "scheduler": {"rhythm": "slurm"}}, work)
    with pytest.raises(UnsupportedError, match="multifactor"):
        _run(cluster(bf_min_prio_reserve=5), work)
    with pytest.raises(InputError, match="bf_interval"):
        _run(cluster(bf_interval=0), work)
    with pytest.raises(InputError, match="plans itself"):
        _run(cluster(backfill="aggressive"), work)
    with pytest.raises(InputError, match="no job would ever start"):
        _run(cluster(backfill="none", sched_interval=-1), work)


def _run(given, jobs):
    return simulate({"workload": {"table": table(tuple(jobs))}, "cluster": given})
