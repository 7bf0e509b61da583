"""Placements that deal out tasks one by one, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import walltime
from walltime.core.errors import PolicyError

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


class Wasteful:
    """A core on each of as many nodes as the job has cores."""

    def choose(self, free, cores, job):
        return [(int(node), 1) for node in np.flatnonzero(free)[: job.cores]]


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "plan"])
def test_a_part_of_ones_own_gives_no_whole_node_in_vain(backfill):
    """Two cores are a node; on nodes that are shared the same answer is fine."""
    with pytest.raises(PolicyError, match=r"Wasteful: job 1 .* takes 2 whole nodes, of which fewer hold its 2 cores"):
        run(Wasteful, "whole", [2, 8], backfill)
    assert run(Wasteful, "shared", [2], backfill) == [(0.0, "0-1:1")]
