"""Placements that deal out tasks one by one, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError, PolicyError, UnsupportedError

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


def test_queues_choose_nodes_in_ways_of_their_own():
    """The jobs of `spread` go to the emptiest node, those of `pack` to the first run of nodes, on the same machine."""
    queue = ["spread", "spread", "pack", "pack", "spread", "pack"]
    jobs = walltime.Workload.from_columns(
        submit=range(6), run_time=[100] * 6, requested_time=[100] * 6, cores=[1, 1, 1, 2, 2, 1], queue=queue
    )
    queues = {"spread": {"place": "worst-fit"}, "pack": {}}
    for rhythm, delay in (("instant", 0), ("slurm", 3)):
        scheduler = {"backfill": "conservative", "place": "consecutive", "rhythm": rhythm}
        cluster = {"nodes": [{"count": 4, "cores": 4, "name": "n"}], "queues": queues, "scheduler": scheduler}
        result = walltime.simulate(jobs, cluster=cluster)
        assert result.audit() == []
        assert max(result.jobs["wait"]) <= delay
        nodes = result.allocations.sort("job_id")["nodes"].to_list()
        assert nodes == ["0:1", "1:1", "0:1", "0:2", "2:2", "2:1"]


@pytest.mark.parametrize(
    ("cluster", "what"),
    [
        ({"cores": 4, "queues": {"a": {"place": "worst-fit"}}}, "plain number of cores"),
        ({"nodes": "2x4", "queues": {"a": {"place": "contiguous"}}}, "contiguous in one of several queues"),
    ],
)
def test_ways_of_queues_that_cannot_be(cluster, what):
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1], queue=["a"])
    with pytest.raises(UnsupportedError, match=rf"cluster\.queues\.a\.place: .*{what}"):
        walltime.simulate(jobs, cluster=cluster)


def test_a_way_that_does_not_exist_is_told_with_the_queue():
    jobs = walltime.Workload.from_columns(submit=[0], run_time=[1], requested_time=[1], cores=[1], queue=["a"])
    with pytest.raises(InputError, match="place") as caught:
        walltime.simulate(jobs, cluster={"nodes": "2x4", "queues": {"a": {"place": "worst"}}})
    assert "worst-fit" in caught.value.choices
