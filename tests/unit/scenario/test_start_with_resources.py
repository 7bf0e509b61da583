"""From today with GPUs: what running jobs hold is not free, and a prediction asks for what the job asks for."""

import json

import pytest

import walltime
from walltime.core.errors import InputError

SQUEUE = """JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TRES_PER_NODE|MIN_MEMORY
1|RUNNING|ann|2|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|gres:gpu:4|1G
2|PENDING|bo|2|1|1:00:00|2026-11-15T11:40:00|N/A|gres:gpu:4|1G
3|PENDING|cy|2|1|1:00:00|2026-11-15T11:50:00|N/A|N/A|1G
"""


@pytest.fixture
def scenario(tmp_path):
    """One node with 4 GPUs, all of them in use until 13:30."""
    (tmp_path / "squeue.txt").write_text(SQUEUE)
    (tmp_path / "log.csv").write_text("submit,run_time,requested_time,cores\n0,3600,3600,1\n")
    return {
        "workload": str(tmp_path / "log.csv"),
        "cluster": {"nodes": {"count": 1, "cores": 8, "gpus": 4, "memory": "8G"}},
        "start": {"time": "2026-11-15T12:00:00", "jobs": str(tmp_path / "squeue.txt")},
    }


def test_a_job_with_gpus_waits_for_them_and_one_without_does_not(scenario):
    result = walltime.simulate(scenario)
    jobs = {row["job_id"]: row for row in result.jobs.iter_rows(named=True)}
    begun = {number: row["start"] - jobs[1]["start"] for number, row in jobs.items() if number in (2, 3)}
    assert begun == {2: 2 * 3600, 3: 1800}  # at the end of job 1, and at the opening


def test_a_prediction_depends_on_the_gpus(scenario):
    asked = {"cores": 1, "time": "1h", "runs": 2, "arrivals": False}
    without, with_gpus = (walltime.predict(scenario, **asked, **more).waits for more in ({}, {"gpus": 4}))
    assert without == (0.0, 0.0)
    assert with_gpus == (2.5 * 3600, 2.5 * 3600)  # after jobs 1 and 2; every job of the log ran for its whole request
    assert walltime.predict(scenario, **asked, memory="7G").waits[0] == 3600  # when job 3, with 1 GiB, has ended
    with pytest.raises(InputError, match="memory is not an amount of memory"):
        walltime.predict(scenario, **asked, memory="much")
    with pytest.raises(InputError, match="the job would be rejected: more GPUs"):
        walltime.predict(scenario, **asked, gpus=400)
    with pytest.raises(InputError, match="gpus of the job must be at least 0") as error:
        walltime.predict(scenario, **asked, gpus=-4)
    assert error.value.value == -4
    with pytest.raises(InputError, match="the job would be rejected: no node has the property fast"):
        walltime.predict(scenario, **asked, constraint="fast")


STANDING = """JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|NODELIST
1|RUNNING|ann|8|2|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|n[3-4]
2|RUNNING|ann|4|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:31:00|n2
3|RUNNING|bo|4|1|1:00:00|2026-11-15T11:00:00|2026-11-15T11:32:00|elsewhere
4|PENDING|cy|8|2|1:00:00|2026-11-15T11:40:00|N/A|
"""


@pytest.mark.parametrize("text", [STANDING, STANDING.replace("NODELIST", "NODELIST(REASON)")])
def test_running_jobs_stand_on_the_nodes_that_squeue_lists(scenario, tmp_path, text):
    """Of n1 to n4, of 4 cores each, job 1 has the last two and job 2 the second; job 3 is on a node of another site."""
    (tmp_path / "squeue.txt").write_text(text)
    result = walltime.simulate(scenario | {"cluster": {"nodes": [{"name": "n[1-4]", "count": 4, "cores": 4}]}})
    places = dict(result.allocations.select("job_id", "nodes").rows())
    assert [places[number] for number in (1, 2, 3)] == ["2-3:4", "1:4", "0:4"]
    assert places[4] == "0-1:4"  # they become free first
    assert result.audit() == []


def test_a_core_on_a_node_is_not_a_whole_node(scenario, tmp_path):
    """Where squeue tells no cores a job has all of its node's; one that tells as many cores as nodes has these."""
    lines = ["JOBID|STATE|USER|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME"]
    lines += [f"{job}|RUNNING|ann|1|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00" for job in range(1, 9)]
    (tmp_path / "squeue.txt").write_text("\n".join(lines) + "\n")
    result = walltime.simulate(scenario)
    assert result.jobs.filter(result.jobs["state"] != "rejected")["cores"].to_list() == [1] * 9


NEW = {
    "nodes": {
        "allocation": [
            {"name": "n1", "cpus": {"count": 1}},
            {"name": "n2", "cpus": {"count": 4}},
            {"name": "n3", "cpus": {"count": 3}},
        ]
    }
}
CORE = {"cores": {"0": "allocated"}}
OLD = {
    "nodes": "n[1-3]",
    "allocated_nodes": [
        {"nodename": "n1", "sockets": {"0": CORE}},
        {"nodename": "n2", "sockets": {"0": {"cores": {str(i): "allocated" for i in range(4)}}}},
        {"nodename": "n3", "sockets": {"0": CORE, "1": CORE, "2": CORE}},
    ],
}


def make_queue(uneven):
    """Job 1 has one core of n1, all of n2 and three of n3; job 2 the other three of n1."""
    times = {"time_limit": 120, "submit_time": 1_794_740_400, "start_time": 1_794_742_200}
    first = {
        "job_id": 1,
        "job_state": "RUNNING",
        "cpus": 8,
        "node_count": 3,
        "nodes": "n[1-3]",
        "job_resources": uneven,
    }
    second = {"job_id": 2, "job_state": "RUNNING", "cpus": 3, "node_count": 1, "nodes": "n1"}
    return json.dumps({"jobs": [first | times, second | times]})


@pytest.mark.parametrize("uneven", [NEW, OLD])
def test_a_running_job_has_its_cores_on_each_node_where_these_differ(scenario, tmp_path, uneven):
    """In even parts, three cores on each, it would leave no room for job 2."""
    (tmp_path / "squeue.txt").write_text(make_queue(uneven))
    cluster = {"cluster": {"nodes": [{"name": "n[1-4]", "count": 4, "cores": 4}]}}
    result = walltime.simulate(scenario | cluster)
    assert dict(result.allocations.select("job_id", "nodes").rows()[:2]) == {1: "0:1,1:4,2:3", 2: "0:3"}
    assert result.audit() == []


def test_a_running_job_of_a_queue_with_nodes_of_its_own_has_all_of_them(scenario, tmp_path):
    queue = json.loads(make_queue(NEW))
    queue["jobs"] = [queue["jobs"][0] | {"partition": "own"}]
    (tmp_path / "squeue.txt").write_text(json.dumps(queue))
    queues = {"main": {"default": True}, "own": {"sharing": "whole"}}
    nodes = [{"name": "n[1-4]", "count": 4, "cores": 4}]
    result = walltime.simulate(scenario | {"cluster": {"nodes": nodes, "queues": queues}})
    assert dict(result.allocations.select("job_id", "nodes").rows()) == {1: "0-2:4", 2: "3:1"}
    assert result.audit() == []


def test_a_job_on_larger_and_smaller_nodes_is_not_refused(scenario, tmp_path):
    """It has all of a large node and a small one; half of its cores are more than the small one has."""
    nodes = {"allocation": [{"name": "big", "cpus": {"count": 7}}, {"name": "small", "cpus": {"count": 1}}]}
    text = make_queue({"nodes": nodes}).replace(
        '"node_count": 3, "nodes": "n[1-3]"', '"node_count": 2, "nodes": "big,small"'
    )
    (tmp_path / "squeue.txt").write_text(text.replace('"nodes": "n1"', '"nodes": "other"'))
    groups = [{"name": "big,", "cores": 7}, {"name": "small,", "cores": 2}, {"name": "other,", "cores": 4}]
    result = walltime.simulate(scenario | {"cluster": {"nodes": [{"count": 1, **group} for group in groups]}})
    assert result.allocations["nodes"].to_list()[0] == "0:7,1:1"
    assert result.audit() == []


WHOLE = [
    {"count": 2, "cores": 4, "memory": "4G", "gpus": 1, "name": "a[1-2]"},
    {"count": 2, "cores": 8, "memory": "16G", "gpus": 4, "name": "b[1-2]"},
]
STANDING = """JOBID|STATE|USER|PARTITION|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TRES_PER_NODE|MIN_MEMORY|NODELIST
1|RUNNING|ann|own|12|2|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|N/A|0|a1,b2
2|RUNNING|bo|own|8|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:30:00|N/A|0|b1
3|PENDING|cy|own|4|1|1:00:00|2026-11-15T11:40:00|N/A|N/A|0|
4|PENDING|cy|own|8|1|1:00:00|2026-11-15T11:40:00|N/A|N/A|0|
"""


@pytest.mark.parametrize("by_queue", [True, False])
@pytest.mark.parametrize(
    ("before", "after"), [("", ""), ("|12|2|", "|11|2|"), ("|N/A|0|a1", "|gres:gpu:4|10G|a1"), ("a1,b2", "a1,b[2]")]
)
def test_a_running_job_has_nodes_of_its_own_that_differ(scenario, tmp_path, by_queue, before, after):
    """Four cores and eight: six on each are more than the smaller has."""
    (tmp_path / "squeue.txt").write_text(STANDING.replace(before, after) if before else STANDING)
    queues = {"own": {"sharing": "whole"} if by_queue else {}, "other": {"default": True}}
    cluster = {"nodes": WHOLE, "queues": queues} | ({} if by_queue else {"sharing": "whole"})
    result = walltime.simulate(scenario | {"cluster": cluster})
    held = dict(result.allocations.select("job_id", "nodes").rows())
    assert [held[number] for number in (1, 2, 3)] == ["0:4,3:8", "2:8", "1:4"]
    starts = dict(result.jobs.select("job_id", "start").rows())
    assert starts[3] == starts[1] + 1800  # at the opening, on the last free node
    assert starts[4] == starts[1] + 7200  # when the first ends
    assert result.audit() == []


def test_a_table_of_running_jobs_need_not_tell_how_many_nodes_they_have(scenario, tmp_path):
    (tmp_path / "standing.csv").write_text(
        'name,started,submit,requested_time,cores,queue,nodelist\n1,-60,-90,3600,12,own,"a1,b2"\n'
    )
    start = {"time": 0, "jobs": str(tmp_path / "standing.csv")}
    queues = {"own": {"sharing": "whole"}, "other": {"default": True}}
    result = walltime.simulate(scenario | {"start": start, "cluster": {"nodes": WHOLE, "queues": queues}})
    assert result.allocations["nodes"].to_list()[0] == "0:4,3:8"


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("0:4,9:4", "beyond the last"),
        ("0:4,1:3", "another sum of cores"),
        ("0:4,0:4", "names a node twice"),
        ("0:4,1:0", "not cores on nodes"),
        ("n1", "not cores on nodes"),
    ],
)
def test_where_a_job_runs_is_checked(tmp_path, told, said):
    (tmp_path / "log.csv").write_text(
        f'submit,run_time,requested_time,cores,started,running_on\n0,3600,3600,8,0,"{told}"\n'
    )
    with pytest.raises(InputError, match=said):
        walltime.simulate({"workload": str(tmp_path / "log.csv"), "cluster": {"nodes": "4x4"}})


def test_where_a_job_runs_is_told_by_a_table_too(tmp_path):
    (tmp_path / "log.csv").write_text(
        'submit,run_time,requested_time,cores,started,running_on\n0,60,60,8,0,"0-1:1,3:3,2:3"\n'
    )
    result = walltime.simulate({"workload": str(tmp_path / "log.csv"), "cluster": {"nodes": "4x4"}})
    assert result.allocations["nodes"].to_list() == ["0-1:1,2-3:3"]


def test_a_job_of_which_only_nodes_are_told_has_all_of_its_own(scenario, tmp_path):
    """Of its own nodes, and while it waits of the first of its queue; two of them cannot share one."""
    squeue = "JOBID PARTITION ST TIME NODES NODELIST(REASON)\n1 all R 1:00 2 c2,g1\n2 big PD 0:00 1 (Resources)\n"
    (tmp_path / "squeue.txt").write_text(squeue)
    nodes = [{"name": "c[1-2]", "count": 2, "cores": 4}, {"name": "g[1-2]", "count": 2, "cores": 16}]
    queues = {"all": {"default": True, "max_time": "1h"}, "big": {"nodes": ["g[1-2]"], "max_time": "1h"}}
    site = {"nodes": nodes, "queues": queues}
    result = walltime.simulate(scenario | {"cluster": site})
    assert result.allocations["nodes"].to_list()[:2] == ["1:4,2:16", "3:16"]
    assert not result.audit()
    (tmp_path / "squeue.txt").write_text(squeue + "3 all R 1:00 1 g1\n")
    with pytest.raises(InputError, match=r"shares its nodes with others, and its cores are not told.*-t R,S,PD"):
        walltime.simulate(scenario | {"cluster": site})


def test_a_start_that_is_no_time_is_told_with_its_line(tmp_path):
    (tmp_path / "site.yaml").write_text(
        "workload: log.csv\ncluster: {cores: 4}\nstart: {time: noon, jobs: squeue.txt}\n"
    )
    with pytest.raises(InputError, match=r"start.time is not a time \(seconds, or a date") as error:
        walltime.simulate(str(tmp_path / "site.yaml"))
    assert (error.value.line, error.value.value) == (3, "noon")
