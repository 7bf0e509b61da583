"""What jobs hold of each resource, worked by hand."""

from __future__ import annotations

import polars as pl
import pytest

import walltime
from walltime.analysis.charts import make_chart
from walltime.analysis.compare import compare
from walltime.analysis.headline import find_figures
from walltime.core.errors import InputError
from walltime.core.workload import Workload

GIB = 1 << 30
SITE = {
    "name": "site",
    "nodes": [
        {"name": "c", "count": 2, "cores": 4, "memory": "8G"},
        {"name": "g", "count": 2, "cores": 4, "memory": "8G", "gpus": 4},
    ],
    "licences": {"matlab": 4},
    "queues": {"main": {"nodes": ["c"], "default": True}, "gpu": {"nodes": ["g"]}},
}


def simulated(**cluster) -> walltime.Result:
    """From 0 to 100 s: 8 cores of main; from 0 to 50 s: 4 GPUs of gpu, a licence and 1 GiB with each of 2 cores. The
    third job wants all 8 GPUs and waits until 50 s, then has them for 50 s. A fourth marks the end of the window."""
    jobs = Workload.from_columns(
        submit=[0, 0, 0, 100],
        run_time=[100, 50, 50, 1],
        requested_time=[100, 50, 50, 1],
        cores=[8, 2, 2, 1],
        nodes=[2, 1, 2, 1],
        gpus_per_node=[-1, 4, 4, -1],
        memory_per_core=[-1, GIB, -1, -1],
        licences=["", "matlab:1", "", ""],
        queue=["main", "gpu", "gpu", "main"],
        account=["a", "a", "b", "b"],
    )
    made = walltime.simulate({"workload": jobs, "cluster": SITE | cluster, "record": {"interval": 10}}, label="by hand")
    return made.observe(warmup=0, cooldown=0)


def series_of(result: walltime.Result, name: str, entity: str) -> list[float]:
    return result.series.filter((pl.col("series") == name) & (pl.col("entity") == entity))["value"].to_list()


def test_the_summary_tells_the_use_of_each_resource() -> None:
    found = simulated().summary["resources"]
    assert {name: told["total"] for name, told in found.items()} == {
        "cores": 16,
        "memory": 32 * GIB,
        "gpus": 8,
        "matlab": 4,
    }
    assert found["gpus"]["seconds"] == 4 * 50 + 8 * 50
    assert found["gpus"]["utilization_window"] == pytest.approx(600 / 800)
    assert found["memory"]["utilization_window"] == pytest.approx(2 * 50 / 3200)
    assert found["matlab"]["utilization_window"] == pytest.approx(50 / 400)
    assert found["cores"]["utilization_window"] == simulated().summary["utilization_window"]


def test_jobs_that_ask_for_gpus_on_each_node_have_them_all_in_the_table() -> None:
    assert simulated().jobs["gpus"].to_list() == [0, 4, 8, 0]
    assert simulated().by("resource")["resource"].to_list() == ["cores", "gpus"]


def test_a_queue_uses_its_own_nodes_and_an_account_all_of_them() -> None:
    queues = {(row["queue"], row["resource"]): row for row in simulated().use("queue").rows(named=True)}
    assert queues["gpu", "gpus"]["total"] == 8
    assert queues["gpu", "cores"]["total"] == 8
    assert queues["gpu", "gpus"]["share"] == 1.0
    assert queues["gpu", "gpus"]["utilization"] == pytest.approx(0.75)
    assert queues["main", "gpus"]["utilization"] is None
    assert queues["main", "cores"]["utilization"] == pytest.approx(1.0)
    accounts = {(row["account"], row["resource"]): row for row in simulated().use("account").rows(named=True)}
    assert accounts["a", "gpus"]["utilization"] == pytest.approx(200 / 800)
    assert accounts["b", "gpus"]["share"] == pytest.approx(400 / 600)


def test_jobs_with_gpus_and_without_are_groups_too() -> None:
    rows = simulated().use("resource").rows(named=True)
    found = {(row["jobs_with"], row["resource"]): row["seconds"] for row in rows}
    assert found["gpus", "gpus"] == 600
    assert found["cores", "cores"] == 801


def test_nodes_that_are_down_offer_no_gpus() -> None:
    failures = [{"nodes": ["g1"], "at": 60, "length": 20, "known": False}]
    found = simulated(failures=failures, interrupted="fail")
    # The third job loses its 8 GPUs at 60 s; 4 of them are down for 20 s.
    assert found.summary["resources"]["gpus"]["utilization_window"] == pytest.approx((200 + 80) / (800 - 80))
    assert series_of(found, "available_gpus", "site")[5:9] == [8, 4, 4, 8]
    assert series_of(found, "available_gpus_by_queue", "gpu")[5:9] == [8, 4, 4, 8]
    assert series_of(found, "available_cores_by_queue", "main")[5:9] == [8, 8, 8, 8]


def test_series_of_resources_and_of_queues() -> None:
    found = simulated()
    assert series_of(found, "used_gpus", "site") == [4] * 5 + [8] * 5 + [0]
    assert series_of(found, "waiting_gpus", "site") == [8] * 5 + [0] * 6
    assert series_of(found, "waiting_jobs_by_queue", "gpu") == [1] * 5 + [0] * 6
    assert series_of(found, "used_cores_by_queue", "main") == pytest.approx([8] * 10 + [0.1])
    assert series_of(found, "used_matlab", "site")[:6] == [1] * 5 + [0]


def test_a_result_keeps_its_resources(tmp_path) -> None:
    found = simulated()
    again = walltime.load(found.save(tmp_path / "kept"))
    assert again.use("queue").equals(found.use("queue"))
    assert again.record.resources.equals(found.record.resources)


def test_results_are_compared_and_drawn_by_resource() -> None:
    found = simulated()
    assert [one.words for one in find_figures([found.summary])[-3:]] == [
        "use of memory",
        "use of GPUs",
        "use of matlab",
    ]
    metrics = compare([found, found])["metric"].to_list()
    assert "resources.gpus.utilization_window" in metrics
    panels = make_chart("resources", [found]).panels
    assert [panel.title for panel in panels] == ["cores", "memory", "GPUs", "matlab"]
    assert panels[2].marks[0].y.tolist() == [0.5] * 5 + [1.0] * 5 + [0.0]
    shares = make_chart("resources", [found], of="gpus", by="queue").panels
    assert [panel.title for panel in shares] == ["gpu"]
    with pytest.raises(InputError, match="resource"):
        make_chart("resources", [found], of="gups")
    assert make_chart("usage", [found], of="gpus", by="account").title.startswith("GPUs in use by account")


def test_where_cores_are_all_there_is_nothing_more_is_told() -> None:
    jobs = Workload.from_columns(submit=[0, 1], run_time=[10, 5], requested_time=[10, 5], cores=[3, 2])
    found = walltime.simulate(jobs, cores=4)
    assert found.summary["resources"] == {}
    assert found.record.resources is None
    assert set(found.series["series"]) >= {"used_cores", "waiting_cores"}


def test_a_schedule_has_nodes_under_their_names_in_groups_by_partition() -> None:
    from walltime.analysis.charts.schedule.layout import lay_out

    named = [{"name": "c[01-02]", "count": 2, "cores": 4}, {"name": "g[1-1]", "count": 1, "cores": 2, "gpus": 4}]
    queues = {"main": {"nodes": ["c[01-02]"], "default": True}, "gpu": {"nodes": ["g[1-1]"]}, "all": {}}
    jobs = Workload.from_columns(submit=[0], run_time=[10], requested_time=[10], cores=[1], queue=["main"])
    cluster = {"name": "site", "nodes": named, "queues": queues}
    plan = lay_out(walltime.simulate({"workload": jobs, "cluster": cluster}).record)
    assert plan.names == ("c01", "c02", "g1")
    assert [(part.name, part.low, part.high) for part in plan.parts] == [("main", 0, 8), ("gpu", 8, 10)]
    assert lay_out(walltime.simulate(jobs, cores=4).record).parts == ()
