"""Placements that deal out tasks one by one, worked out by hand."""

from __future__ import annotations

import pytest

import walltime

NODES = [{"count": 4, "cores": 2, "name": "n"}]


def run(place, sharing, cores, backfill="conservative"):
    """Start and nodes of each job; all come at 0 and run for 10 s."""
    size = len(cores)
    jobs = walltime.Workload.from_columns(
        submit=[0] * size, run_time=[10] * size, requested_time=[10] * size, cores=cores
    )
    scheduler = {"backfill": backfill, "place": place}
    cluster = {"nodes": NODES, "sharing": sharing, "scheduler": scheduler}
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.audit() == []
    return result.allocations.sort("job_id").select("start", "nodes").rows()


@pytest.mark.parametrize("place", ["even", "round-robin"])
def test_tasks_go_to_one_node_after_the_other(place):
    assert run(place, "shared", [5]) == [(0.0, "0:2,1-3:1")]


@pytest.mark.parametrize("place", ["even", "round-robin"])
@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "plan"])
def test_a_job_takes_no_more_whole_nodes_than_it_needs(place, backfill):
    assert run(place, "whole", [5, 1], backfill) == [(0.0, "0-2:2"), (0.0, "3:2")]


@pytest.mark.parametrize("place", ["even", "round-robin"])
def test_places_that_were_promised_on_whole_nodes_are_kept(place):
    """The third job is promised the node that the second does not need."""
    assert run(place, "whole", [7, 6, 1]) == [(0.0, "0-3:2"), (10.0, "0-2:2"), (10.0, "3:2")]
