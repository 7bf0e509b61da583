"""Topology, licences, features, generic resources, shared and exclusive nodes: of a slurm.conf and of a scenario."""

import pytest

from walltime import Workload, simulate
from walltime.site.conf import read_conf
from walltime.slurm import engine
from walltime.slurm.conf.simulated import make_site
from walltime.slurm.record import build_tables

pytestmark = pytest.mark.usefixtures("slurm")

CONF = """
ClusterName=zoo
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
TopologyPlugin=topology/tree
GresTypes=gpu,fpga
Licenses=matlab:2,ansys:1,cad@server:2
NodeName=DEFAULT CPUs=8 CoresPerSocket=8
NodeName=a[1-4] Feature=fast,ib Gres=gpu:a100:2,fpga:1
NodeName=b[1-4] Feature=slow
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=twice Nodes=b[1-2] OverSubscribe=FORCE:2 State=UP
PartitionName=alone Nodes=b[3-4] OverSubscribe=EXCLUSIVE State=UP
"""
TOPOLOGY = "SwitchName=s1 Nodes=a[1-4]\nSwitchName=s2 Nodes=b[1-4]\nSwitchName=top Switches=s[1-2]\n"


@pytest.fixture
def zoo(tmp_path):
    (tmp_path / "slurm.conf").write_text(CONF)
    (tmp_path / "topology.conf").write_text(TOPOLOGY)

    def run(count, **columns):
        """name -> (state, start, nodes) of `count` jobs of 100 s that come together."""
        jobs = Workload.from_columns(
            submit=[0] * count, run_time=[100] * count, requested_time=[120] * count, **columns
        )
        started = engine.start(make_site(read_conf(tmp_path / "slurm.conf")), jobs)
        with started.controller:
            started.simulation.run()
        table, allocations = build_tables(
            started.jobs, jobs, started.site, "c", started.base, started.simulation.link.now
        )
        nodes = dict(zip(allocations["job_id"], allocations["nodes"], strict=True))
        return [(job["state"], job["start"], nodes.get(job["job_id"])) for job in table.iter_rows(named=True)]

    return run


def test_jobs_stay_below_one_switch(zoo):
    places = [nodes for _, _, nodes in zoo(2, cores=[24, 24], nodes=[3, 3])]
    assert places == ["0-2:8", "4-6:8"]


def test_licences(zoo):
    found = zoo(4, licences=["matlab", "matlab:1", "matlab:1", "ansys:2"])
    assert [state for state, _, _ in found] == ["completed"] * 3 + ["rejected"]
    assert sorted(start > 100 for _, start, _ in found[:3]) == [False, False, True]


def test_licences_of_a_server_are_asked_for_by_the_sites_name(zoo):
    found = zoo(3, licences=["cad_server:2", "matlab:1,cad_server:1", "cad_server:3"])
    assert [state for state, _, _ in found] == ["completed", "completed", "rejected"]
    assert found[1][1] > 100 > found[0][1]


def test_features(zoo):
    found = zoo(3, constraint=["fast&ib", "slow", "purple"])
    assert [nodes for _, _, nodes in found] == ["0:1", "4:1", None]
    assert found[2][0] == "rejected"


def test_generic_resources_of_several_kinds(zoo):
    found = zoo(
        6,
        cores=[1, 1, 4, 1, 1, 2],
        nodes=[1, 1, 4, 1, 1, None],
        gpus=[2, 2, 0, 0, 0, 4],
        resources=["", "", "fpga:1", "fpga", "fpga:2", ""],
    )
    assert [state for state, _, _ in found] == ["completed"] * 4 + ["rejected", "completed"]
    assert found[2][2] == "0-3:1"  # one on each of the nodes that have one
    assert found[3][1] > 100  # and so none was left
    assert {nodes for _, _, nodes in found[:2]} == {"0:1", "1:1"}
    assert found[5][2] == "2-3:1"  # four GPUs are on two nodes


def test_oversubscribed_and_exclusive_nodes(zoo):
    found = zoo(6, cores=[16, 16, 16, 1, 1, 1], nodes=[2, 2, 2, 1, 1, 1], queue=["twice"] * 3 + ["alone"] * 3)
    assert [start > 100 for _, start, _ in found] == [False, False, True, False, False, True]
    assert {nodes for _, _, nodes in found[:3]} == {"4-5:8"}
    assert {nodes for _, _, nodes in found[3:]} == {"6:8", "7:8"}


@pytest.mark.parametrize("sharing", ["shared", "whole"])
def test_memory_with_each_core_is_for_those_asked_for_also_on_nodes_of_their_own(sharing):
    gigabytes = 10**9
    jobs = Workload.from_columns(
        submit=[0, 200, 400, 600],
        run_time=[100] * 4,
        requested_time=[120] * 4,
        cores=[2, 4, 8, 8],
        nodes=[None, 2, None, None],
        cores_per_node=[None, 2, None, None],
        memory_per_core=[6 * gigabytes, 6 * gigabytes, 4 * gigabytes, None],
        memory=[None, None, None, 32 * gigabytes],
        exclusive=[1] * 4,
    )
    cluster = {"nodes": [{"count": 2, "cores": 8, "memory": "16GB"}], "sharing": sharing}
    both = [simulate(jobs, engine=engine, cluster=cluster) for engine in ("native", "slurm")]
    assert [result.audit() for result in both] == [[], []]
    assert [result.jobs["state"].to_list() for result in both] == [["completed"] * 4] * 2
    used = [result.allocations.sort("start")["nodes"].to_list() for result in both]
    assert [[len(nodes.split(",")) + nodes.count("-") for nodes in one] for one in used] == [[1, 2, 2, 2]] * 2


def test_resources_and_switches_of_a_scenario():
    jobs = Workload.from_columns(
        submit=[0] * 5,
        run_time=[100] * 5,
        requested_time=[120] * 5,
        cores=[2, 2, 1, 1, 1],
        nodes=[2, 2, 1, 1, 1],
        resources=["", "", "scratch:300", "scratch:300", "scratch:300"],
        licences=["", "", "sim", "", ""],
    )
    nodes = [
        {"count": 4, "cores": 1, "per_switch": 2},
        {"count": 1, "cores": 4, "name": "s", "resources": {"scratch": 400}},
    ]
    cluster = {"nodes": nodes, "licences": {"sim": 1}, "scheduler": {"place": "topology"}}
    result = simulate(jobs, engine="slurm", cluster=cluster)
    assert result.audit() == []
    places = result.allocations.sort("job_id")["nodes"].to_list()
    assert set(places[:2]) == {"0-1:1", "2-3:1"}
    assert set(places[2:]) == {"4:1"}
    starts = sorted(result.jobs["start"].to_list()[2:])
    assert starts[1] - starts[0] >= 100
    assert starts[2] - starts[1] >= 100
