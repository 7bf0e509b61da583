"""A cluster from the files of an Alea data set."""

from __future__ import annotations

import pytest

import walltime
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


JOBS = "".join(
    f"{number} 0 -1 100 4 -1 -1 4 100 -1 1 {owner} {owner} -1 -1 -1 -1 -1\n"
    for number, owner in enumerate([1, 1, 1, 1, 2, 2, 2, 2], 1)
)
OWNERS = {"users": "1 ann 3 64\n2 bo 1 64\n", "groups": "1 physics 1 64\n2 biology 3 64\n"}


@pytest.mark.parametrize(
    ("by", "order"),
    [
        # One job at a time, 100 s each. u / S of ann and bo: 0 0, 1.33 0, 0.67 2, 0.89 1.33, 1 1 (in order), 1.07 0.8
        ("user", "A B A A A B B B"),
        # and of physics and biology: 0 0, 4 0, 2 0.67, 1.33 0.89, 1 1, 1.6 0.8, and biology has no more
        ("group", "A B B B A B A A"),
    ],
)
def test_shares_of_users_and_of_groups_decide_who_is_next(files, tmp_path, by, order):
    """Both are numbered from 1, and the shares of the one are not those of the other."""
    (tmp_path / "log.swf").write_text(JOBS)
    path = files(machines="0 farm 1 4 1\n", **OWNERS)
    fair = {"order": {"name": "fairshare", "by": by, "interval": 0}, "backfill": "none"}
    cluster = load_cluster(path) | {"scheduler": fair}
    result = walltime.simulate({"workload": {"trace": str(tmp_path / "log.swf")}, "cluster": cluster})
    begun = result.jobs.sort("start")
    assert begun["start"].to_list() == [100.0 * number for number in range(8)]
    assert begun["user"].replace_strict({"ann": "A", "bo": "B"}).to_list() == order.split()
    shown = {"user": {"ann": 0.75, "bo": 0.25}, "group": {"physics": 0.25, "biology": 0.75}}[by]
    for job in (3, 6):
        parts = walltime.explain(result, job).standings[-1].parts
        assert parts["shares"] == shown[begun.filter(begun["job_id"] == job)[by][0]]


def test_shares_are_by_name_and_by_number_and_equal_ones_are_none(files):
    cluster = read_data_set(files(machines=WAGAP, **OWNERS)).cluster
    assert cluster["shares"] == {
        **{"ann": 3, "1": 3, "bo": 1, "2": 1},
        **{"group:physics": 1, "group:1": 1, "group:biology": 3, "group:2": 3},
    }
    equal = read_data_set(files(machines=WAGAP, users="1 ann 2 64\n2 bo 2 64\n", groups="1 physics 5 64\n")).cluster
    assert "shares" not in equal
    with pytest.raises(InputError, match=r"users:2"):
        read_data_set(files(machines=WAGAP, users="1 ann 2 64\n2 bo much 64\n"))


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
