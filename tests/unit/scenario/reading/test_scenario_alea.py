"""A cluster from the files of an Alea data set."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.errors import InputError
from walltime.scenario import Cluster, load_cluster
from walltime.scenario.outages import told_failures
from walltime.scenario.reading.alea import find_data_set, read_data_set

WAGAP = "0\tzewura\t20\t80\t1\t529426432\n1\tzegox\t48\t12\t1\t94035968\n"


@pytest.fixture
def files(tmp_path):
    """Writes files `log.swf.KIND`; returns the one of the machines."""

    def write(**texts):
        for kind, text in texts.items():
            (tmp_path / f"log.swf.{kind}").write_text(text)
        return tmp_path / "log.swf.machines"

    return write


def clusters_of(data_set):
    return [Cluster.model_validate(cluster) for cluster in data_set.scenario["clusters"]]


def test_each_line_is_a_cluster_the_largest_first(files):
    found = read_data_set(files(machines="2 tiny 1 4 1\n" + WAGAP + "3 fast 1 4 2\n4 last 1 4 1\n"))
    clusters = clusters_of(found)
    assert [(one.name, one.total_cores) for one in clusters] == [
        *(("zewura", 20 * 80), ("zegox", 48 * 12), ("fast", 4), ("tiny", 4), ("last", 4)),
    ]
    assert [(group.cores, group.memory) for group in clusters[0].layout().groups] == [(80, 529426432 * 1024)]
    assert clusters[0].layout().with_feature("cl_zewura").all()
    assert clusters[1].layout().with_feature("^cl_zewura").all()
    assert not clusters[0].layout().with_feature("^cl_zewura").any()
    assert found.scenario["broker"] == {"name": "first", "hold": True}
    with pytest.raises(InputError, match="several clusters"):
        load_cluster(tmp := files(machines=WAGAP))
    assert tmp.exists()


def test_one_line_is_one_cluster(files):
    cluster = Cluster.model_validate(load_cluster(files(machines=WAGAP.splitlines()[0])))
    assert (cluster.name, cluster.layout().count, cluster.total_cores) == ("log", 20, 1600)
    assert (cluster.queues, cluster.limits, cluster.routes) == ({}, (), ())


def test_speeds_are_relative_to_the_fastest(files):
    found = read_data_set(files(machines="0 old 2 4 100\n1 new 2 4 400 64 ib:ssd 2\n")).scenario["clusters"]
    (new,), (old,) = (cluster["nodes"] for cluster in found)  # as many cores: the faster one first
    assert (old["speed"], new["speed"]) == (0.25, 1.0)
    assert new["features"] == ["cl_new", "ib", "ssd", "^cl_old"]
    assert (new["memory"], new["gpus"]) == (64 << 30, 2)
    assert "memory" not in old


def test_queues_and_quotas(files):
    path = files(
        machines=WAGAP,
        queues="0 first 500 50\n1 second 400 20\n",
        users="0 ann 2 96\n1 bo 1 64\n",
        groups="0 physics 1 500\n",
    )
    found = read_data_set(path)
    cluster, other = clusters_of(found)
    assert (cluster.queues, cluster.limits, cluster.routes) == (other.queues, other.limits, other.routes)
    assert found.scenario["broker"] == {
        **{"name": "first", "hold": True, "shared_limits": True},
        "queues": {
            "first": {"queues": ["first", "0"], "priority": 50},
            "second": {"queues": ["second", "1"], "priority": 20},
            "others": {"priority": 19},
        },
    }
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
    assert "inside one cluster" in found.remarks[0]


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
    cluster = read_data_set(files(machines=WAGAP, **OWNERS)).scenario["clusters"][0]
    assert cluster["shares"] == {
        **{"ann": 3, "1": 3, "bo": 1, "2": 1},
        **{"group:physics": 1, "group:1": 1, "group:biology": 3, "group:2": 3},
    }
    equal = read_data_set(files(machines=WAGAP, users="1 ann 2 64\n2 bo 2 64\n", groups="1 physics 5 64\n"))
    assert "shares" not in equal.scenario["clusters"][0]
    with pytest.raises(InputError, match=r"users:2"):
        read_data_set(files(machines=WAGAP, users="1 ann 2 64\n2 bo much 64\n"))


def test_failures_are_part_of_the_cluster_and_checked(files):
    path = files(machines=WAGAP, failures="1000\tzewura\t3600\t0 1\n2000\tzegox\t60\n")
    first, second = clusters_of(read_data_set(path))
    assert [one.model_dump(include={"at", "length", "nodes"}) for one in first.failures] == [
        {"at": 1000.0, "length": 3600.0, "nodes": ("zewura0", "zewura1")}
    ]
    assert [(one.at, one.nodes) for one in second.failures] == [(2000.0, None)]
    alone = files(machines=WAGAP.splitlines()[0], failures="1000\tzewura\t3600\t0 1\n")
    cluster = Cluster.model_validate(load_cluster(alone))
    assert told_failures(cluster.failures[0], cluster)[0][2].tolist() == [0, 1]
    files(machines=WAGAP)
    files(failures="1000\tzewura\t3600\t20\n")
    with pytest.raises(InputError, match=r"failures:1: zewura has the nodes 0 to 19"):
        read_data_set(path)


def test_a_data_set_is_found_beside_its_trace(files, tmp_path):
    assert find_data_set(tmp_path / "log.swf") is None
    files(machines=WAGAP)
    assert [one["name"] for one in find_data_set(tmp_path / "log.swf").scenario["clusters"]] == ["zewura", "zegox"]
    with pytest.raises(InputError, match="no such file"):
        load_cluster(tmp_path / "other.machines")


GRID = """\
1 0 -1 100 4 -1 -1 4 100 -1 1 1 1 -1 1 -1 -1 -1 {1} low 1:ppn=4
2 1 -1 100 8 -1 -1 8 100 -1 1 1 1 -1 1 -1 -1 -1 {1} low 2:ppn=4
3 2 -1 100 4 -1 -1 4 100 -1 1 2 1 -1 1 -1 -1 -1 {1} low 1:ppn=4
4 3 -1 100 4 -1 -1 4 100 -1 1 3 1 -1 1 -1 -1 -1 {1} high 1:ppn=4
"""


@pytest.mark.parametrize(
    ("policy", "large", "quota", "starts"),
    [
        # Clusters of 2 x 4 and 1 x 4 cores. 2 does not span them: it waits for the first, though 8 cores are free from
        # the start. Whatever fits overtakes it: 3 goes to the first cluster, 4 to the second.
        ("aggressive", 2, 64, [0, 102, 2, 3]),
        # In order: 3 waits for 2; 4 does not, as its queue is served before theirs.
        ("fcfs", 2, 64, [0, 103, 103, 3]),
        # With a quota of 4 cores for its user, 2 can never run, and 3 does not wait for it.
        ("fcfs", 2, 4, [0, None, 2, 3]),
        # 3 x 4 cores: 2 fits at once, 3 into the small cluster, and 4 waits for the end of 1.
        ("fcfs", 3, 64, [0, 1, 2, 100]),
        # A quota of 8: 2 is the first of its queue and at its quota until 1 has ended, and 3 waits for it.
        ("fcfs", 3, 8, [0, 100, 100, 3]),
        ("aggressive", 3, 8, [0, 102, 2, 3]),
    ],
)
def test_jobs_run_inside_one_cluster_in_aleas_order(files, tmp_path, policy, large, quota, starts):
    (tmp_path / "log.swf").write_text(GRID)
    users = "".join(f"{number} u{number} 1 {quota if number == 1 else 64}\n" for number in (1, 2, 3))
    files(machines=f"0 small 1 4 1\n1 large {large} 4 1\n", queues="low 64 1\nhigh 64 9\n", users=users)
    result = walltime.simulate(tmp_path / "log.swf", policy=policy)
    assert result.jobs["start"].to_list() == starts
    assert result.jobs["user"].cast(str).to_list() == ["u1", "u1", "u2", "u3"]
    assert set(result.jobs["cluster"].drop_nulls().cast(str)) <= {"large", "small"}
    assert result.audit() == []
