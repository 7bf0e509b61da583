"""The broker `earliest-start` asks node by node about jobs that come at one instant: by hand."""

import pytest

import walltime

SMALL = {"name": "small", "nodes": {"count": 2, "cores": 2}}
LARGE = {"name": "large", "nodes": {"count": 2, "cores": 4}}


def run(clusters, backfill, jobs):
    """Jobs of one instant as (cores, nodes, run time)."""
    cores, nodes, run_time = (list(column) for column in zip(*jobs, strict=True))
    table = walltime.Workload.from_columns(
        submit=[0] * len(jobs), cores=cores, nodes=nodes, run_time=run_time, requested_time=run_time
    )
    scheduler = {"scheduler": {"backfill": backfill}}
    clusters = [cluster | scheduler for cluster in clusters]
    result = walltime.simulate({"workload": {"table": table}, "clusters": clusters, "broker": "earliest-start"})
    assert result.audit() == []
    return result.jobs.select("cluster", "start").rows()


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "plan"])
def test_the_free_cores_of_a_cluster_may_be_on_different_nodes(backfill):
    """The first has a core on each node of `small`, the second a node of `large`. Two cores on one node are free in
    `large` alone, though each cluster has two."""
    jobs = [(2, 2, 30), (4, 1, 20), (2, 1, 10)]
    assert run([SMALL, LARGE], backfill, jobs) == [("small", 0), ("large", 0), ("large", 0)]


@pytest.mark.parametrize(("backfill", "where"), [("none", "b"), ("easy", "a")])
def test_a_job_that_does_not_fit_holds_up_those_behind_it_where_none_overtakes(backfill, where):
    """The first, third and fourth are for `a` alone; 13 cores are left there for the fourth, but one on a node on which
    it needs two. The last has room in both at once if it may overtake, and then goes where the load is lower."""
    clusters = [{"name": "a", "nodes": {"count": 3, "cores": 8}}, {"name": "b", "nodes": {"count": 1, "cores": 4}}]
    jobs = [(6, 3, 30), (3, 1, 30), (5, 1, 20), (6, 3, 10), (1, 1, 10)]
    assert run(clusters, backfill, jobs) == [("a", 0), ("b", 0), ("a", 0), ("a", 20), (where, 0)]
