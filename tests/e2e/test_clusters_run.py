"""Several clusters from the command line: mistakes are told by name and line, results tell each cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Command

import walltime
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.scenario.clusterfile import read_clusters, write_table

HEAD = "workload: {generate: {jobs: 20, cores: 4}}\nclusters:\n  - {name: a, cores: 4}\n  - {name: b, cores: 8}\n"
MISTAKES = [
    ("broker:\n  name: random\n  bind:\n    - {types: [spmd], clusters: []}\n", ["binds jobs to no cluster", ":8:"]),
    ("broker:\n  name: random\n  bind:\n    - {users: [x], clusters: [c]}\n", ["not there", "'c'", "a, b", ":8:"]),
    ("broker: nearest\n", ["nearest", "earliest-start", ":5:"]),
    ("broker:\n  name: weighted\n  weights: {charm: 1}\n", ["charm", "no such attribute", ":7:"]),
    ("broker: {name: random, by: size}\n", ["size", "cluster", "cores"]),
    ("broker:\n  name: random\n  migrate: {gain: 0}\n", ["gain", "longer than zero", ":7:"]),
    ("broker:\n  name: random\n  queues: {wide: {min_cores: 4}}\n", ["no global queue takes the job"]),
]


@pytest.mark.parametrize(("text", "told"), MISTAKES)
def test_mistakes_are_told_by_name_and_line(text: str, told: list[str], command: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text(HEAD + text)
    done = command("run", "grid.yaml")
    done.refused(*told)


def test_a_cluster_without_nodes_is_told(command: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text(HEAD.replace("{name: b, cores: 8}", "{name: b}") + "broker: random\n")
    done = command("run", "grid.yaml")
    done.refused("a cluster without nodes or cores", "'b'", ":4:")


def test_compare_and_report_tell_each_cluster(command: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.yaml").write_text(HEAD + "broker: least-loaded\n")
    assert command("run", "grid.yaml", "--output", "one").code == 0
    assert command("run", "grid.yaml", "--set", "broker=random", "--output", "two").code == 0
    done = command("compare", "one", "two", "--by", "cluster")
    assert done.code == 0, done.err
    assert {"a", "b"} <= set(done.out.split())
    done = command("report", "one", "two", "--output", "report.html")
    assert done.code == 0, done.err
    assert command("audit", "one").code == 0


def test_clusters_in_a_file_of_their_own(command: Command, tmp_path: Path) -> None:
    (tmp_path / "grid.csv").write_text("# resources\ncluster,count,cores,speed\nws,4,1,1.0\nhpc,2,8,2.5\nws,2,1,\n")
    (tmp_path / "run.yaml").write_text(
        "workload: {generate: {jobs: 20, cores: 8}}\nclusters: grid.csv\nbroker: fastest\n"
    )
    done = command("run", "run.yaml", "--output", "out")
    assert done.code == 0, done.err
    assert "6 + 16 cores" in done.out
    read = read_clusters(tmp_path / "grid.csv")
    assert read is not None
    scenario = parse({"workload": {"generate": {"jobs": 1, "cores": 1}}, **read, "broker": "first"})
    assert write_table(scenario.clusters) == "cluster,count,cores,speed\nws,4,1,\nws,2,1,\nhpc,2,8,2.5\n"


def test_a_mistake_in_a_table_of_resources_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "grid.csv").write_text("cluster,count,speed\nws,4,1.0\nws,0,1.0\n")
    with pytest.raises(InputError, match=r"grid\.csv:3.*count"):
        read_clusters(tmp_path / "grid.csv")


def test_the_audit_knows_bindings() -> None:
    jobs = Workload.from_columns(submit=[0, 0], run_time=[5, 5], requested_time=[5, 5], cores=[1, 1], user=["x", "y"])
    grid = [{"name": "a", "cores": 4}, {"name": "b", "cores": 4}]
    broker = {"name": "first", "bind": [{"users": ["x"], "clusters": ["b"]}]}
    result = walltime.simulate({"workload": jobs, "clusters": grid, "broker": broker})
    assert result.jobs["cluster"].to_list() == ["b", "a"]
    assert result.audit() == []
    other = walltime.simulate({"workload": jobs, "clusters": grid, "broker": "first"})
    other.scenario = result.scenario
    assert [violation.rule for violation in other.audit()] == ["binding"]
