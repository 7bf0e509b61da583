"""DSLab's configuration runs as it stands; what it means, and what is told of what is wrong."""

import json

import pytest
import yaml

import walltime
from walltime.core.errors import InputError
from walltime.scenario import load

FIGURE = """\
workload:
  - type: Native
    path: {folder}/trace
    options:
      profiles_path: {folder}/profiles

hosts:
  - count: 5
    cpus: 20
    memory: 20
    name_prefix: c
  - count: 5
    cpus: 5
    memory: 60
    name_prefix: m

monitoring:
  host_load_compression_time_interval: 100
  scheduler_queue_compression_time_interval: 100
  display_host_load: false
  collect_user_queues: true

scheduler:
  hosts_invoke_interval: 10
"""
RANDOM = {
    "execution_count": 200,
    "cpu_min": 1,
    "cpu_max": 4,
    "memory_min": 5,
    "memory_max": 9,
    "delay_min": 1,
    "delay_max": 4,
    "duration_mean": 180,
    "duration_dev": 30,
    "user": "user0",
    "collection_id": 0,
}


def write(tmp_path, data, name="config.yaml"):
    (tmp_path / name).write_text(data if isinstance(data, str) else yaml.safe_dump(data), encoding="utf-8")
    return tmp_path / name


@pytest.fixture
def figure(tmp_path):
    executions = [
        {"submit_time": 3, "resources": {"cpu_per_node": 2, "memory_per_node": 4}, "profile": "short"},
        {"submit_time": 12, "resources": {"nodes_count": 5, "cpu_per_node": 1, "memory_per_node": 30},
         "profile": {"type": "sequence", "args": {"repeat": 2, "profiles": ["short", "rest"]}}},
    ]  # fmt: skip
    write(tmp_path, executions, "trace")
    profiles = {
        "short": {"type": "compute-homogenous", "args": {"compute_work": 10}},
        "rest": {"type": "idle", "args": {"time": 2}},
    }
    write(tmp_path, profiles, "profiles")
    return write(tmp_path, FIGURE.format(folder=tmp_path))


def test_the_configuration_of_the_paper_runs_as_it_stands(figure):
    result = walltime.simulate(figure)
    rows = result.jobs.select("start", "end", "state").rows()
    assert rows == [(10, 15, "completed"), (20, 44, "completed")]  # passes every 10 s; 2 x (10 / 1 core + 2)
    assert result.allocations["nodes"].to_list()[1] == "5-9:1"  # only the hosts m have the memory
    assert result.audit() == []


def test_it_is_a_scenario_that_can_be_written_and_changed(figure):
    scenario = load(figure, [("cluster.scheduler.rhythm", "instant"), ("seed", 3)])
    assert [group.cores for group in scenario.clusters[0].nodes] == [20, 5]
    assert scenario.record.interval == 100
    assert scenario.record.by == ("queue", "user", "node-group")
    assert walltime.simulate(scenario).jobs["start"].to_list() == [3, 12]


def test_random_workloads_have_uniform_gaps_and_normal_lengths_and_are_mixed(tmp_path):
    second = RANDOM | {"user": "user1", "start_time": 1000, "duration_dev": 0, "execution_count": 50}
    workloads = [{"type": "Random", "options": options} for options in (RANDOM, second)]
    hosts = [{"count": 9, "cpus": 8, "memory": 90, "name_prefix": "c"}]
    jobs = load(write(tmp_path, {"workload": workloads, "hosts": hosts})).read_workload().to_polars()
    first, other = (jobs.filter(user=name) for name in ("user0", "user1"))
    assert (len(first), len(other)) == (200, 50)
    gaps = first["submit"].diff().drop_nulls()
    assert 1 <= gaps.min() < 1.2
    assert 3.8 < gaps.max() <= 4
    assert abs(gaps.mean() - 2.5) < 0.25
    assert abs(first["run_time"].mean() - 180) < 10
    assert 20 < first["run_time"].std() < 40
    assert set(other["run_time"]) == {180}
    assert other["submit"].min() > 1000
    assert set(first["cores"]) == {1, 2, 3, 4}
    assert set(first["memory"]) == {5, 6, 7, 8, 9}
    assert set(jobs["nodes"]) == {1}
    assert jobs["submit"].is_sorted()


def test_workloads_of_several_formats_are_mixed_in_a_scenario_of_ours_too(tmp_path):
    log = "; MaxProcs: 4\n1 0 0 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1\n2 9 0 10 2 -1 -1 2 20 -1 1 1 1 -1 1 -1 -1 -1\n"
    (tmp_path / "a.swf").write_text(log, encoding="utf-8")
    synthetic = {"jobs": 3, "arrivals": 4, "types": {"x": {"work": 5, "user": "ann"}}}
    path = write(tmp_path, {"workload": ["a.swf", {"synthetic": synthetic}], "cluster": {"cores": 4}})
    jobs = load(path).read_workload()
    assert jobs.column("submit").tolist() == [0, 4_000_000, 8_000_000, 9_000_000, 12_000_000]
    assert len(set(jobs.column("job_id").tolist())) == 5
    assert jobs.machine_cores == 4


def test_hosts_of_googles_table_of_machines(tmp_path):
    rows = ["time,machine_id,type,switch_id,capacity.cpus,capacity.memory", "0,1,1,a,0.5,0.25", "0,2,1,a,0.5,0.25",
            "0,3,1,a,1,1", "9,3,2,a,,", "10,3,1,a,1,1", "0,4,1,b,,"]  # fmt: skip
    write(tmp_path, "\n".join(rows), "machines.csv")
    data = {
        "workload": [{"type": "Random", "options": RANDOM}],
        "trace_hosts": {"path": str(tmp_path / "machines.csv"), "resources_multiplier": 100},
    }
    nodes = load(write(tmp_path, data)).clusters[0].nodes
    assert [(group.count, group.cores, group.memory) for group in nodes] == [(2, 50, 25), (1, 100, 100)]


def test_networks_and_disks_of_hosts_are_those_of_programs(tmp_path, figure):
    data = yaml.safe_load(figure.read_text(encoding="utf-8"))
    link = {"bandwidth": 100, "latency": "1e-4"}
    data["network"] = {"type": "fat-tree", "local": link, "switch": link, "uplink": link, "downlink": link,
                       "l1_switch_count": 2, "l2_switch_count": 1}  # fmt: skip
    data["hosts"][0] |= {"cpu_speed": 2, "disk_capacity": 500, "disk_read_bw": 10, "disk_write_bw": 5}
    data["hosts"][1] |= {"cpu_speed": 4}
    scenario = load(write(tmp_path, data))
    assert scenario.execution.model.parameters["flops"] == 2
    assert [group.speed for group in scenario.clusters[0].nodes] == [1, 2]
    assert scenario.clusters[0].nodes[0].disk.write == 5
    assert scenario.clusters[0].network.type == "fat-tree"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("type: Native", "type: Nativ", 2, "no type of DSLab's workloads: 'Nativ'"),
        ("profiles_path", "profile_file", 5, "DSLab's workload has no such key"),
        ("cpus: 20", "cpus: lots", 9, "cpus has to be a number from 1: 'lots'"),
        ("cpus: 20", "cpus: 1.5", 9, "cpus has to be a whole number"),
        ("memory: 20", "ram: 20", 10, "DSLab's hosts has no such key"),
        ("hosts_invoke_interval: 10", "hosts_invoke_interval: 0", 24, "hosts_invoke_interval has to be a number"),
        ("display_host_load", "display_load", 20, "DSLab's monitoring has no such key"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path, figure, old, new, line, words):
    with pytest.raises(InputError, match=words) as caught:
        load(write(tmp_path, figure.read_text(encoding="utf-8").replace(old, new, 1)))
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"nodes_count_max": 2}, "random jobs are of one host"),
        ({"cpu_min": 9}, "cpu_min is above cpu_max"),
        ({"duration_mean": None}, "this workload needs duration_mean"),
        ({"delay_min": 0, "delay_max": 0}, "the mean gap between arrivals must be above zero"),
    ],
)
def test_random_workloads_are_looked_at(tmp_path, change, words):
    data = {"workload": [{"type": "Random", "options": RANDOM | change}], "hosts": [{"cpus": 4, "memory": 9}]}
    with pytest.raises(InputError, match=words):
        load(write(tmp_path, json.dumps(data)))
