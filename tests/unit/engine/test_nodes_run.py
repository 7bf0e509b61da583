"""Clusters of nodes from a scenario to the result: placements, own parts, speeds, rejections, the audit."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import walltime
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError, PolicyError, UnsupportedError
from walltime.core.workload import Workload
from walltime.scenario import dump, parse


def run(jobs: Workload, cluster: dict[str, Any], **scheduler: Any) -> walltime.Result:
    return walltime.simulate({"workload": {"table": jobs}, "cluster": cluster | {"scheduler": scheduler}})


def some_jobs(**columns: Any) -> Workload:
    size = len(next(iter(columns.values())))
    given = {"submit": [0] * size, "run_time": [10] * size, "requested_time": [20] * size}
    return Workload.from_columns(**(given | columns))


def where(result: walltime.Result) -> list[str]:
    return result.allocations.sort("job_id")["nodes"].to_list()


def test_the_record_tells_ranges_of_nodes():
    jobs = some_jobs(cores=[72, 29, 5, 1], nodes=[3, -1, -1, -1], cores_per_node=[24, -1, -1, -1])
    result = run(jobs, {"nodes": "8x24"}, place="first-fit")
    assert where(result) == ["0-2:24", "3:24,4:5", "4:5", "4:1"]
    assert result.jobs["nodes"].to_list() == [3, 2, 1, 1]
    assert result.record.facts["nodes"] == {"cluster": {"cores": [[8, 24]], "sharing": "shared"}}


def test_a_plain_number_of_cores_has_no_nodes():
    jobs = some_jobs(cores=[4], nodes=[4], cores_per_node=[1])
    result = run(jobs, {"cores": 4})
    assert where(result) == [None]
    assert result.jobs["nodes"].to_list() == [4]  # as the workload says


def test_a_shape_alone_tells_the_cores():
    result = run(some_jobs(nodes=[2], cores_per_node=[3]), {"nodes": "4x4"})
    assert (result.jobs["cores"].to_list(), where(result)) == ([6], ["0-1:3"])


def test_jobs_run_at_the_speed_of_their_nodes():
    groups = [{"count": 1, "cores": 2, "speed": 2.0}, {"count": 1, "cores": 2, "speed": 0.75}]
    result = run(some_jobs(cores=[2, 2], nodes=[1, 1]), {"nodes": groups}, place="first-fit")
    assert result.jobs["end"].to_list() == [5.0, 13.333334]
    assert result.audit() == []
    slow = run(some_jobs(cores=[2], run_time=[19]), {"nodes": [{"count": 1, "cores": 2, "speed": 0.5}]})
    assert slow.jobs.select("end", "state").row(0) == (20.0, "timeout")  # limits are wall time


def test_jobs_that_no_node_can_hold_are_rejected_with_a_reason():
    jobs = some_jobs(cores=[5, 4, 9, 3, 3], nodes=[1, 4, -1, 3, 1])
    result = run(jobs, {"nodes": [{"count": 1, "cores": 4}, {"count": 2, "cores": 2}]})
    assert result.jobs["state"].to_list() == ["rejected", "rejected", "rejected", "completed", "completed"]
    assert result.record.facts["rejected_reasons"] == {
        "more cores on a node than any node has": 1,
        "more nodes than the cluster has": 1,
        "more cores than the cluster has": 1,
    }


def test_what_a_job_draws_depends_on_the_seed_and_its_number_alone():
    def draw(count: int, seed: int) -> list[str]:
        jobs = some_jobs(cores=[2] * count, nodes=[2] * count)
        scenario = {"workload": {"table": jobs}, "seed": seed}
        return where(walltime.simulate(scenario | {"cluster": {"nodes": "50x50", "scheduler": {"place": "random"}}}))

    assert draw(40, 1)[:20] == draw(20, 1)
    assert draw(20, 1) != draw(20, 2)
    assert len(set(draw(40, 1))) > 30


def test_a_scenario_with_nodes_is_written_as_it_was_read():
    groups = [{"count": 2, "cores": 4, "speed": 1.5, "name": "fast"}, "3x8"]
    scenario = parse({"workload": "a.swf", "cluster": {"nodes": groups, "sharing": "whole"}})
    again = parse({"workload": "a.swf", "cluster": {"nodes": groups, "sharing": "whole"}})
    assert scenario == again
    assert "count: 2" in dump(scenario)
    assert "- 3x8" in dump(scenario)
    layout = scenario.clusters[0].layout()
    assert layout is not None
    assert layout.names() == ["fast0", "fast1", "n0", "n1", "n2"]
    assert (layout.total_cores, layout.whole) == (32, True)


# -------------------------------------------------------------------------------------------- parts of one's own


class Last:
    """The highest numbers first."""

    def choose(self, free, cores, job):
        assert len(free) == len(cores)
        return np.arange(len(free))[::-1]


class Exact:
    """Says everything."""

    def __init__(self, nodes: list[tuple[int, int]] | None = None) -> None:
        self.nodes = nodes or [(1, 2), (3, 1)]

    def choose(self, free, cores, job):
        return self.nodes


class Halves:
    """Says everything of each part; 8 cores go to the last node."""

    def choose(self, free, cores, job):
        return [(3, 2)] if free[3] == 2 else [(1, 1)]


def test_a_placement_in_python_is_asked_for_each_part():
    jobs = some_jobs(cores=[3], parts=["1x1+1x2"])
    assert where(run(jobs, {"nodes": "4x2"}, place=Last())) == ["2:1,3:2"]
    assert where(run(jobs, {"nodes": "4x2"}, place=Halves())) == ["1:1,3:2"]


def test_nodes_that_differ_on_nodes_given_as_a_whole():
    nodes = [{"count": 2, "cores": 2}, {"count": 2, "cores": 8}]
    jobs = some_jobs(cores=[9, 9, 2], parts=["1x8+1x1", "1x8+1x1", None], nodes=[-1, -1, 2])
    result = run(jobs, {"nodes": nodes, "sharing": "whole"})
    assert where(result) == ["0:2,2:8", "1:2,3:8", "0-1:2"]
    assert result.audit() == []


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (
            {"nodes": "4x2", "scheduler": {"place": "contiguous"}},
            "with place: contiguous .*; job 1 with the parts 1x1[+]1x2",
        ),
        ({"nodes": "4x2", "scheduler": {"rhythm": "slurm"}}, "in the rhythm slurm"),
    ],
)
def test_nodes_that_differ_are_refused_by_name(cluster, words):
    with pytest.raises(UnsupportedError, match=words):
        walltime.simulate({"workload": {"table": some_jobs(cores=[3], parts=["1x1+1x2"])}, "cluster": cluster})


def test_a_placement_in_python_gives_an_order_or_everything():
    assert where(run(some_jobs(cores=[3, 2], nodes=[-1, 2]), {"nodes": "4x2"}, place=Last())) == ["2:1,3:2", "1-2:1"]
    assert where(run(some_jobs(cores=[3]), {"nodes": "4x2"}, place=Exact())) == ["1:2,3:1"]
    assert where(run(some_jobs(cores=[3], nodes=[2]), {"nodes": "4x2"}, place=Exact())) == ["1:2,3:1"]
    assert where(run(some_jobs(cores=[3]), {"nodes": "4x2", "sharing": "whole"}, place=Last())) == ["2-3:2"]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([(9, 3)], "node 9, which does not exist"),
        ([(0, 3)], "takes 3 cores on node 0, where 2 are free"),
        ([(0, 1), (0, 2)], "node 0 twice"),
        ([(0, 1), (1, 1)], "gives 2 cores where the job wants 3"),
        ([0], "1 cores are missing"),
        ([0, 1, "x"], "node 'x', which does not exist"),
    ],
)
def test_a_placement_that_oversteps_is_named_with_job_and_node(answer, message):
    with pytest.raises(PolicyError, match=r"place part Exact: job 1 \(3 cores\)") as caught:
        run(some_jobs(cores=[3]), {"nodes": "4x2"}, place=Exact(answer))
    assert message in str(caught.value)


def test_what_cannot_place_is_refused():
    with pytest.raises(UnsupportedError, match="give it nodes"):
        run(some_jobs(cores=[1]), {"cores": 4}, place="best-fit")
    with pytest.raises(InputError, match="a method choose"):
        run(some_jobs(cores=[1]), {"nodes": "4x1"}, place=object())
    with pytest.raises(InputError, match="did you mean 'best-fit'"):
        run(some_jobs(cores=[1]), {"nodes": "4x1"}, place="bestfit")


@pytest.mark.parametrize("backfill", ["conservative", "lookahead", {"name": "easy", "alpha": 0.5}])
@pytest.mark.parametrize("sharing", ["shared", "whole"])
def test_every_backfilling_is_legal_on_nodes(backfill, sharing):
    random = np.random.default_rng(5)
    size = 400
    nodes = np.where(random.random(size) < 0.6, random.integers(1, 6, size), -1)
    run_time = random.integers(1, 50, size)
    jobs = some_jobs(
        submit=np.sort(random.integers(0, 1500, size)),
        run_time=run_time,
        requested_time=run_time * random.integers(1, 4, size),
        cores=np.where(nodes > 0, nodes * random.integers(1, 5, size), random.integers(1, 20, size)),
        nodes=nodes,
    )
    result = run(
        jobs, {"nodes": [{"count": 6, "cores": 4}, {"count": 3, "cores": 8}], "sharing": sharing}, backfill=backfill
    )
    assert audit(result, workload=jobs) == []
    assert set(result.jobs["state"].to_list()) <= {"completed", "timeout", "rejected"}


# ------------------------------------------------------------------------------------------------------ the audit


@pytest.mark.parametrize(
    ("sharing", "nodes", "message"),
    [
        ("shared", ["0:2", "0:3"], "more cores are in use than it has"),
        ("shared", ["0:2", "1:2"], "another sum of cores"),
        ("shared", ["0:2", "7:3"], "does not exist"),
        ("shared", ["0:2", None], "does not say on which nodes"),
        ("shared", ["0:2", "1:x"], "cannot be read"),
        ("shared", ["0:2", "1:2,1:1"], "names a node twice"),
        ("whole", ["0:4", "0:4"], "that another job has"),
        ("whole", ["0:4", "1:3"], "a part of a node"),
    ],
)
def test_the_audit_finds_what_is_wrong_on_nodes(sharing, nodes, message):
    result = run(some_jobs(cores=[2, 3]), {"nodes": "2x4", "sharing": sharing})
    assert result.audit() == []
    result.record.allocations = result.record.allocations.sort("job_id").with_columns(pl.Series("nodes", nodes))
    found = audit(result.record)
    assert any(violation.rule == "nodes" and message in violation.message for violation in found), found


def test_the_audit_finds_a_wrong_shape():
    jobs = some_jobs(cores=[4], nodes=[2])
    result = run(jobs, {"nodes": "3x4"})
    for nodes, message in (("0:4", "another number of nodes"), ("0:3,1:1", "divided evenly")):
        result.record.allocations = result.record.allocations.with_columns(nodes=pl.lit(nodes))
        assert audit(result.record) == []  # the tables alone do not tell what was asked for
        assert any(message in str(found) for found in audit(result.record, workload=jobs))


def test_what_a_plain_number_of_cores_does_not_count_is_told():
    work = walltime.Workload.from_columns(
        submit=[0, 0, 0], run_time=[10, 10, 10], cores=[1, 1, 1], gpus=[2, 0, 0], licences=["matlab:9", "idl", None]
    )
    pool = walltime.simulate(work, cores=4)
    assert pool.summary["facts"]["ignored"] == {"GPUs": 1, "licences": 2}
    cluster = {"nodes": [{"count": 2, "cores": 2}], "licences": {"matlab": 9, "idl": 1}}
    assert walltime.simulate(work, cluster=cluster).summary["facts"]["ignored"] == {"GPUs": 1}
