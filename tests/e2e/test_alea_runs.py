"""Alea's data sets run as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Command

import walltime
from walltime.engine.native import unsupported
from walltime.scenario import parse

COUNTED = {"workload": "a.swf", "cluster": {"nodes": {"count": 1, "cores": 1, "memory": 1, "features": ["a"]}}}
needs_resources = pytest.mark.skipif(bool(unsupported(parse(COUNTED))), reason="the engine counts no memory yet")

NODES = "{" + ",".join(["4"] * 16) + "}"
JOBS = f"""\
1  0 -1 3600 16 -1 -1 16 7200 68719476736 1 1 1 -1 -1 1 -1 -1 {NODES} q_2h 1:ppn=16:x86_64:cl_big#excl
2 60 -1 7000  8 -1 -1  8 7200  8589934592 1 1 1 -1 -1 1 -1 -1 {{1,1,1,1,2,2,2,2}} q_2h 2:ppn=4:^cl_big
3 90 -1 9000  4 -1 -1  4 86400 8589934592 1 2 1 -1 -1 1 -1 -1 {{1,1,1,1}} q_1d 1:ppn=4
4 95 -1 9000  7 -1 -1  7 86400 1073741824 1 2 1 -1 -1 1 -1 -1 {{1,2,2,3,3,4,4}} q_1d 1:ppn=1+3:ppn=2
5 99 -1  100  1 -1 -1  1  3600 274877906944 1 2 1 -1 -1 1 -1 -1 {{1}} q_2h 1:ppn=1
"""
MACHINES = "0\tbig\t2\t16\t1\t134217728\n1\tsmall\t4\t4\t1\t16777216\n"
WAGAP = "0\tzewura\t20\t80\t1\t529426432\n1\tzegox\t48\t12\t1\t94035968\n"


@pytest.fixture
def site(trace: Path) -> Path:
    """A folder with a small data set."""
    folder = trace.parent
    (folder / "site.swf").write_text(JOBS)
    (folder / "site.swf.machines").write_text(MACHINES)
    (folder / "site.swf.queues").write_text("q_2h\t32\t50\nq_1d\t8\t20\n")
    return folder


@needs_resources
def test_the_files_beside_a_trace_tell_the_cluster(command: Command, site: Path) -> None:
    shown = command("run", "site.swf", "--output", "out").done().out
    assert "Cluster: as site.swf.machines, site.swf.queues tell." in shown
    assert "Not looked at: properties of nodes that jobs ask for, x86_64 (1)." in shown
    result = walltime.load(site / "out")
    jobs = result.jobs
    # 4 waits for the cap of q_1d: 4 + 7 cores are more than 8, until 3 ends; 5 asks for more memory than a node has
    assert jobs["start"].to_list() == [0.0, 60.0, 90.0, 9090.0, None]
    assert jobs["state"].cast(str).to_list() == ["completed"] * 4 + ["rejected"]
    assert jobs["queue"].cast(str).to_list() == ["q_2h", "q_2h", "q_1d", "q_1d", "q_2h"]
    assert result.audit() == []
    where = {row["job_id"]: (str(row["cluster"]), row["nodes"]) for row in result.allocations.iter_rows(named=True)}
    assert where == {1: ("big", "0:16"), 2: ("small", "0-1:4"), 3: ("big", "1:4"), 4: ("small", "0-2:2,3:1")}
    assert walltime.simulate(site / "site.swf").digest == result.digest


@needs_resources
def test_the_cluster_may_be_named(command: Command, site: Path) -> None:
    (site / "site.swf.machines").rename(site / "other.machines")
    command("run", "site.swf", "--cluster", "other.machines", "--output", "out").done()
    result = walltime.load(site / "out")
    # no queues beside that file, so no cap: 4 waits for four nodes with two free cores each, until 2 ends
    assert result.jobs["start"].to_list()[:4] == [0.0, 60.0, 90.0, 7060.0]
    command("run", "site.swf", "--cores", "64", "--output", "pool").done()
    assert walltime.load(site / "pool").summary["clusters"] == {"cluster": 64}


def test_failures_run_and_mistakes_are_refused(command: Command, site: Path) -> None:
    (site / "site.swf.failures").write_text("100\tbig\t3600\t0\n")
    assert "1 failure" in command("run", "site.swf").done().out
    (site / "site.swf.failures").write_text("100\tbigger\t3600\t0\n")
    command("run", "site.swf").refused("site.swf.failures", "no cluster has this name")
    (site / "site.swf.failures").unlink()
    (site / "site.swf.machines").write_text(MACHINES + "2\tsmall\t4\t4\n")
    command("run", "site.swf").refused("site.swf.machines:3", "4 fields")


@needs_resources
def test_two_heterogeneous_clusters(command: Command, trace: Path, external: Callable[[str], Path]) -> None:
    (trace.parent / "wagap.machines").write_text(WAGAP)
    log = external("traces/wagap-2013.swf")
    done = command("run", log, "--cluster", "wagap.machines", "--output", "out", "--json").done()
    (run,) = json.loads(done.out)["runs"]
    assert run["summary"]["clusters"] == {"zewura": 20 * 80, "zegox": 48 * 12}
    assert (run["summary"]["jobs"], run["summary"]["rejected"]) == (17_898, 1)
    result = walltime.load(trace.parent / "out")
    assert result.audit() == []
    rejected = result.jobs.filter(result.jobs["state"].cast(str) == "rejected")
    assert rejected["memory"].to_list() == [512 << 30]
