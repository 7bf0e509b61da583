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


def test_a_job_that_is_too_young_neither_stops_its_queue_nor_gets_a_place(schedule):
    """B wants all nodes, and has its place at A's end. C would be in its way; where B is too young to count, C starts
    at the next beat, and B when C has ended."""
    jobs = [job(0, 100, 2), job(1, 50, 3), job(2, 140, 1)]
    assert schedule(cluster(), *jobs).starts == [0, 100, 150]
    assert schedule(cluster(bf_min_age_reserve=90), *jobs).starts == [0, 143, 3]


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
