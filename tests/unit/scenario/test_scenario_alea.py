"""A cluster from the files of an Alea data set."""

from __future__ import annotations

import pytest

from walltime.core.errors import InputError
from walltime.scenario import Cluster, load_cluster
from walltime.scenario.alea import find_data_set, read_data_set
from walltime.scenario.outages import told_failures

WAGAP = "0\tzewura\t20\t80\t1\t529426432\n1\tzegox\t48\t12\t1\t94035968\n"


@pytest.fixture
def files(tmp_path):
    """Writes files `log.swf.KIND`; returns the one of the machines."""

    def write(**texts):
        for kind, text in texts.items():
            (tmp_path / f"log.swf.{kind}").write_text(text)
        return tmp_path / "log.swf.machines"

    return write


def test_two_clusters_become_one_pool(files):
    cluster = Cluster.model_validate(load_cluster(files(machines=WAGAP)))
    layout = cluster.layout()
    assert (cluster.name, layout.count, layout.total_cores) == ("log", 68, 20 * 80 + 48 * 12)
    assert [(group.name, group.cores, group.memory) for group in layout.groups] == [
        ("zewura", 80, 529426432 * 1024),
        ("zegox", 12, 94035968 * 1024),
    ]
    assert layout.with_feature("cl_zewura").tolist() == [True] * 20 + [False] * 48
    assert layout.with_feature("^cl_zewura").tolist() == [False] * 20 + [True] * 48
    assert (cluster.queues, cluster.limits, cluster.routes) == ({}, (), ())


def test_speeds_are_relative_to_the_fastest(files):
    nodes = read_data_set(files(machines="0 old 2 4 100\n1 new 2 4 400 64 ib:ssd 2\n")).cluster["nodes"]
    assert [group["speed"] for group in nodes] == [0.25, 1.0]
    assert nodes[1]["features"] == ["cl_new", "ib", "ssd", "^cl_old"]
    assert (nodes[1]["memory"], nodes[1]["gpus"]) == (64 << 30, 2)
    assert "memory" not in nodes[0]


def test_queues_and_quotas(files):
    path = files(
        machines=WAGAP,
        queues="0 first 500 50\n1 second 400 20\n",
        users="0 ann 2 96\n1 bo 1 64\n",
        groups="0 physics 1 500\n",
    )
    found = read_data_set(path)
    cluster = Cluster.model_validate(found.cluster)
    assert {name: (queue.priority, queue.running_cores) for name, queue in cluster.queues.items()} == {
        "first": (50, 500),
        "second": (20, 400),
    }
    assert [(route.queue, route.named) for route in cluster.routes] == [("first", ("0",)), ("second", ("1",))]
    assert [(limit.names(), limit.caps()) for limit in cluster.limits] == [
        ({"user": ("ann", "0")}, {"running_cores": 96}),
        ({"user": ("bo", "1")}, {"running_cores": 64}),
        ({"group": ("physics", "0")}, {"running_cores": 500}),
    ]
    assert [path.suffix for path in found.files] == [".machines", ".queues", ".users", ".groups"]
    assert found.remarks == []


def test_failures_are_part_of_the_cluster_and_checked(files):
    path = files(machines=WAGAP, failures="1000\tzewura\t3600\t0 1\n")
    data_set = read_data_set(path)
    assert [source["file"].endswith("log.swf.failures") for source in data_set.cluster["failures"]] == [True]
    assert told_failures(Cluster(**data_set.cluster).failures[0], Cluster(**data_set.cluster))[0][2].tolist() == [0, 1]
    files(failures="1000\tzewura\t3600\t20\n")
    with pytest.raises(InputError, match=r"failures:1: zewura has the nodes 0 to 19"):
        read_data_set(path)


def test_a_data_set_is_found_beside_its_trace(files, tmp_path):
    assert find_data_set(tmp_path / "log.swf") is None
    files(machines=WAGAP)
    assert find_data_set(tmp_path / "log.swf").cluster["name"] == "log"
    with pytest.raises(InputError, match="no such file"):
        load_cluster(tmp_path / "other.machines")
