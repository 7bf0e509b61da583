"""The load that programs make on disks and on the network, as means over intervals; worked out by hand."""

from __future__ import annotations

import pytest
from jobs_on_nodes import STAR, job, simulate

from walltime.core.errors import InputError
from walltime.programs.profiles import write_out

DISK = {"capacity": 1_000_000_000, "read": 20.0, "write": 10.0}
NODES = [
    {"name": "a", "count": 1, "cores": 4, "disk": DISK},
    {"name": "b", "count": 1, "cores": 4, "disk": DISK},
]
RECORD = {"interval": 10, "by": ["node", "node-group"]}


def loads(result, name):
    chosen = result.series.filter(result.series["series"] == name)
    found: dict[str, list[float]] = {}
    for _, _, entity, value in chosen.iter_rows():
        found.setdefault(entity, []).append(round(value, 9))
    return found


def test_disks_have_the_larger_load_of_reading_and_writing():
    write = write_out("disk-write", size=50)  # 5 seconds
    both = write_out("disk-ops", read_size=300, write_size=50)  # 15 and 5 seconds
    result = simulate({"nodes": NODES}, job(write, 4), job(both, 4), record=RECORD)
    assert loads(result, "load_disk_by_node") == {"a0": [0.5, 0], "b0": [1, 0.5]}
    assert loads(result, "load_disk_by_node_group") == {"a": [0.5, 0], "b": [1, 0.5]}
    assert loads(result, "load_disk") == {"cluster": [0.5, 0.25]}


def test_the_network_has_the_larger_load_of_both_directions():
    talk = write_out("communication-src-dst", src=[0], dst=[1], size=500)  # 5 seconds at 100 bytes a second
    result = simulate({"nodes": NODES, "network": STAR}, job(talk, 2, 2), record=RECORD)
    assert loads(result, "load_network_by_node") == {"a0": [0.5], "b0": [0.5]}
    assert loads(result, "load_network") == {"cluster": [0.25]}


def test_rates_that_change_are_followed():
    """Two transfers share a link for ten seconds; one of them goes on alone for five."""
    first, second = (write_out("communication-src-dst", src=[0], dst=[1], size=size) for size in (500, 1000))
    result = simulate({"nodes": NODES, "network": STAR}, job(first, 2, 2), job(second, 2, 2), record=RECORD)
    assert loads(result, "load_network_by_node") == {"a0": [1, 0.5], "b0": [1, 0.5]}


def test_one_medium_is_loaded_by_both_directions():
    medium = {"type": "shared", "link": {"bandwidth": 100.0}}
    talk = write_out("communication-homogenous", size=250)  # both send: 500 bytes
    result = simulate({"nodes": NODES, "network": medium}, job(talk, 2, 2), record=RECORD)
    assert loads(result, "load_network_by_node") == {"a0": [0.5], "b0": [0.5]}


def test_a_parallel_task_moves_bytes_too():
    matrix = [[0, 500], [0, 0]]
    task = write_out("parallel-task", compute_work=[0.0, 0.0], matrix=matrix)
    result = simulate({"nodes": NODES, "network": STAR}, job(task, 2, 2), record=RECORD)
    assert loads(result, "load_network_by_node") == {"a0": [0.5], "b0": [0.5]}


def test_components_outside_are_among_the_nodes():
    store = {"store": {"bandwidth": 50.0, "disk": {"read": 100.0, "write": 100.0}}}
    read = write_out("disk-read", size=250, component_name="store")  # 5 seconds at 50 bytes a second
    result = simulate({"nodes": NODES, "network": STAR, "components": store}, job(read, 4), record=RECORD)
    assert loads(result, "load_disk_by_node") == {"a0": [0], "b0": [0], "store": [0.25]}
    assert loads(result, "load_network_by_node") == {"a0": [0.25], "b0": [0], "store": [0.5]}
    assert loads(result, "load_disk") == {"cluster": [0]}


def test_what_goes_on_at_the_end_counts():
    result = simulate({"nodes": NODES}, job(write_out("disk-write", size=1000), 4), record=RECORD, until=15)
    assert loads(result, "load_disk_by_node")["a0"] == [1, 0.5]


@pytest.mark.parametrize("by", [["queue"], []])
def test_nothing_is_measured_that_is_not_asked_for(by):
    result = simulate({"nodes": NODES}, job(write_out("disk-write", size=50)), record={"by": by})
    assert result.record.traffic is None


def test_the_monitor_writes_the_load_of_disks(tmp_path):
    record = {"interval": 10, "by": ["node", "node-group", "user"]}
    result = simulate({"nodes": NODES}, job(write_out("disk-write", size=50), 4, user="ada"), record=record)
    result.write_monitoring(tmp_path)
    lines = (tmp_path / "load.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "time,name,cpu_load,memory_load,disk_load"
    assert "0.0,a0,0.5,0.0,0.5" in lines
    assert "0.0,group-a,0.5,0.0,0.5" in lines


def test_loads_are_drawn_by_group_and_by_node():
    result = simulate({"nodes": NODES}, job(write_out("disk-write", size=50), 4), record=RECORD)
    chart = result.plot.loads().chart
    assert [panel.title for panel in chart.panels] == ["cores", "disk"]
    assert [line.label for line in chart.panels[1].marks] == ["a", "b"]
    assert list(chart.panels[1].marks[0].y) == [0.5]
    assert [line.label for line in result.plot.loads(by="node").chart.panels[1].marks] == ["a0", "b0"]
    with pytest.raises(InputError, match=r"the result has no loads; record: \{by: \[node-group\]\} keeps them"):
        simulate({"nodes": NODES}, job(write_out("disk-write", size=50))).plot.loads()
