"""Loads of nodes and groups of nodes, queues and dominant shares of users, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import walltime
from walltime import Workload
from walltime.analysis.charts import make_chart
from walltime.core.errors import InputError

NODES = [
    {"count": 2, "cores": 4, "memory": 8, "gpus": 1, "name": "g"},
    {"count": 1, "cores": 8, "memory": 16, "name": "c"},
]


def monitor(by: list[str], **columns: Any) -> walltime.Result:
    jobs = {
        "submit": [0, 0, 5],
        "run_time": [20, 10, 10],
        "requested_time": [20, 10, 10],
        "cores": [2, 8, 8],
        "nodes": [1, 1, 1],
        "memory": [6, 4, 4],
        "gpus": [1, 0, 0],
        "user": ["ann", "bo", "bo"],
    }
    record = {"interval": 10, "by": by}
    scenario = {"workload": {"table": Workload.from_columns(**(jobs | columns))}, "cluster": {"nodes": NODES}}
    return walltime.simulate(scenario | {"record": record})


def values(result: walltime.Result, series: str, entity: str) -> list[float]:
    chosen = (pl.col("series") == series) & (pl.col("entity") == entity)
    return result.series.filter(chosen)["value"].to_list()


def test_loads_of_nodes_and_groups():
    result = monitor(["node", "node-group"])
    assert values(result, "load_cores_by_node", "g0") == [0.5, 0.5]
    assert values(result, "load_memory_by_node", "g0") == [0.75, 0.75]
    assert values(result, "load_gpus_by_node", "g0") == [1, 1]
    assert values(result, "load_cores_by_node", "g1") == [0, 0]
    assert values(result, "load_cores_by_node", "c0") == [1, 1]
    assert values(result, "load_cores_by_node_group", "g") == [0.25, 0.25]
    assert values(result, "load_gpus_by_node_group", "g") == [0.5, 0.5]
    assert values(result, "load_gpus_by_node_group", "c") == []  # it has none
    assert values(result, "load_memory_by_node_group", "c") == [0.25, 0.25]
    assert values(result, "load_cores", "cluster") == [10 / 16, 10 / 16]
    assert values(result, "load_memory", "cluster") == [10 / 32, 10 / 32]


def test_what_a_job_has_on_several_nodes():
    """Five cores on two nodes: three and two, and half of the memory on each."""
    columns = {"cores": [5, 8, 8], "nodes": [2, 1, 1], "memory": [8, 4, 4], "gpus": [2, 0, 0]}
    result = monitor(["node"], **columns)
    assert values(result, "load_cores_by_node", "g0") == [0.75, 0.75]
    assert values(result, "load_cores_by_node", "g1") == [0.5, 0.5]
    assert values(result, "load_memory_by_node", "g0") == values(result, "load_memory_by_node", "g1") == [0.5, 0.5]


def test_dominant_shares_are_the_largest_of_the_shares():
    """Ann holds 2 of 16 cores, 6 of 32 of memory and one of two GPUs; bo 8 of 16 cores."""
    result = monitor(["user"])
    assert values(result, "dominant_share_by_user", "ann") == [0.5, 0.5]
    assert values(result, "dominant_share_by_user", "bo") == [0.5, 0.5]
    assert values(result, "waiting_jobs_by_user", "bo") == [0.5, 0]


def test_the_files_have_the_columns_of_dslab(tmp_path: Path):
    paths = monitor(["user", "node", "node-group"]).write_monitoring(tmp_path / "new")
    assert [path.name for path in paths] == ["load.csv", "scheduler_info.csv", "fair_share.csv"]
    load, queues, shares = (path.read_text().splitlines() for path in paths)
    assert load[0] == "time,name,cpu_load,memory_load,disk_load"
    assert load[1:8] == [
        "0.0,g0,0.5,0.75,0.0",
        "0.0,g1,0.0,0.0,0.0",
        "0.0,c0,1.0,0.25,0.0",
        "0.0,group-g,0.25,0.375,0.0",
        "0.0,group-c,1.0,0.25,0.0",
        "0.0,TOTAL,0.625,0.3125,0.0",
        "10.0,g0,0.5,0.75,0.0",
    ]
    every = ["TOTAL", "bo", "ann"]
    assert queues[0] == "time,queue_size,user"
    assert queues[1:] == [
        *(f"0.0,{0.0 if name == 'ann' else 0.5},{name}" for name in every),
        *(f"10.0,0.0,{name}" for name in every),
    ]
    assert shares[0] == "time,user,share"
    assert sorted(shares[1:3]) == ["0.0,ann,0.5", "0.0,bo,0.5"]


def test_what_was_not_kept_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="node-group"):
        monitor(["user"]).write_monitoring(tmp_path)
    with pytest.raises(InputError, match="no series of users"):
        monitor(["node-group"]).write_monitoring(tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_disk_that_is_counted_has_a_load():
    nodes = [{"count": 1, "cores": 4, "resources": {"disk": 100}}]
    jobs = Workload.from_columns(
        submit=[0], run_time=[10], requested_time=[10], cores=[1], nodes=[1], resources=["disk:25"]
    )
    scenario = {"workload": {"table": jobs}, "cluster": {"nodes": nodes}, "record": {"interval": 10, "by": ["node"]}}
    result = walltime.simulate(scenario)
    assert values(result, "load_disk_by_node", "n0") == [0.25]


def test_the_picture_has_a_line_for_each_user():
    chart = make_chart("shares", [monitor([])])
    share, waiting = chart.panels
    assert [line.label for line in share.marks] == [line.label for line in waiting.marks] == ["ann", "bo"]
