"""Every rule of a site, broken by hand in a schedule that was legal: the audit says which, whose, when and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from walltime import api
from walltime.analysis.audit.schedule import Violation
from walltime.core.errors import InputError
from walltime.core.tables import Record
from walltime.core.workload import COLUMNS, Workload

NODES = [
    {"count": 2, "cores": 4, "memory": 8, "gpus": 1, "resources": {"scratch": 10}, "features": ["ib"], "name": "a"},
    {"count": 2, "cores": 4, "memory": 16, "name": "b", "features": ["big"]},
]
TREE = {"root": {}, "physics": {"parent": "root", "users": ["di"]}, "bio": {"parent": "root"}}


def job(time: float = 10, cores: int = 1, submit: float = 0, **columns: Any) -> dict[str, Any]:
    return {"submit": submit, "run_time": time, "requested_time": time, "cores": cores} | columns


def simulate(cluster: Mapping[str, Any], *jobs: dict[str, Any]) -> api.Result:
    """A legal schedule."""
    names = [name for name in COLUMNS if any(name in described for described in jobs)]
    absent = {"cores": 1, "gpus": 0, "exclusive": 0}
    table = {name: [described.get(name, absent.get(name)) for described in jobs] for name in names}
    result = api.simulate({"workload": {"table": Workload.from_columns(**table)}, "cluster": dict(cluster)})
    assert result.audit() == []
    return result


def replace(frame: pl.DataFrame, job_id: int, values: Mapping[str, Any]) -> pl.DataFrame:
    chosen = pl.col("job_id") == job_id
    texts = [pl.col(name).cast(pl.String) for name in values if frame.schema[name] == pl.Enum]
    frame = frame.with_columns(texts)
    return frame.with_columns(
        pl.when(chosen).then(pl.lit(value, dtype=frame.schema[name])).otherwise(pl.col(name)).alias(name)
        for name, value in values.items()
    )


def change(result: api.Result, job_id: int, start: float | None = None, nodes: str | None = None, **values: Any) -> Any:
    """The same result with a job at another time, on other nodes, or with other cells in the table of jobs."""
    jobs, allocations = result.jobs, result.allocations
    if start is not None:
        row = jobs.filter(job_id=job_id).row(0, named=True)
        times = {"start": start, "end": start + row["run_time"]}
        jobs = replace(jobs, job_id, times | {"wait": start - row["submit"]})
        allocations = replace(allocations, job_id, times)
    if nodes is not None:
        allocations = replace(allocations, job_id, {"nodes": nodes})
    if values:
        jobs = replace(jobs, job_id, values)
    return api.Result(result.scenario, Record(jobs, allocations, result.record.facts))


def turn_away(result: api.Result, job_id: int) -> api.Result:
    """The same result, the job rejected."""
    nothing = dict.fromkeys(("start", "end", "run_time", "held_time", "wait", "cluster"))
    jobs = replace(result.jobs, job_id, nothing | {"state": "rejected"})
    allocations = result.allocations.filter(pl.col("job_id") != job_id)
    return api.Result(result.scenario, Record(jobs, allocations, result.record.facts))


def told(result: api.Result) -> list[tuple[str, int | None, float | None, str]]:
    return [(found.rule, found.job_id, found.time, found.message) for found in result.audit()]


# ---- resources


@pytest.mark.parametrize(
    ("jobs", "changed", "message"),
    [
        (
            [job(memory_per_node=5, nodes=1), job(memory_per_node=5, nodes=1)],
            {"nodes": "0:1"},
            "is on a node where more memory is in use than it has",
        ),
        ([job(memory_per_node=12, nodes=1)] * 2, {"nodes": "0:1"}, "is on a node that has less memory than it needs"),
        ([job(cores=3, memory=9)] * 2, {"nodes": "0:3"}, "is on a node that has less memory than it needs"),
        ([job(gpus=1)] * 2, {"nodes": "0:1"}, "is on a node where more GPUs is in use than it has"),
        ([job(), job(gpus=1)], {"nodes": "2:1"}, "is on a node that has less GPUs than it needs"),
        ([job(resources="scratch:6")] * 2, {"nodes": "0:1"}, "is on a node where more scratch is in use than it has"),
        ([job(), job(resources="scratch:3/core", cores=4)], {"nodes": "0-1:2"}, None),
        ([job(), job(constraint="ib")], {"nodes": "3:1"}, "is on a node without the properties ib"),
        (
            [job(), job(cores=2, gpus=2)],
            {"nodes": "0:2"},
            "has another number of nodes than the fewest on which it fits",
        ),
        ([job(), job(cores=4, gpus=2)], {"nodes": "0:3,1:1"}, "is not divided evenly over its nodes"),
        (
            [job(), job(exclusive=1)],
            {"nodes": "0:4"},
            "shares a node with a job that asked for nodes of its own, or is that job",
        ),
        ([job(20), job(exclusive=1)], {"nodes": "2:1"}, "has a part of a node, and asked for nodes of its own"),
    ],
)
def test_resources(jobs, changed, message):
    cluster = {"nodes": NODES, "scheduler": {"place": "first-fit"}}
    if message is None:  # as it was: nothing to complain about
        assert told(change(simulate(cluster, *jobs), 2, **changed)) == []
        return
    found = [entry for entry in told(change(simulate(cluster, *jobs), 2, **changed)) if entry[0] == "resources"]
    assert message in [entry[3] for entry in found]
    assert {entry[1] for entry in found} <= {1, 2}
    assert {entry[2] for entry in found} == {0.0}


def test_memory_of_cores_on_whole_nodes():
    cluster = {"nodes": NODES, "sharing": "whole"}
    result = simulate(cluster, job(cores=4, memory=16))
    assert result.allocations["nodes"].to_list() == ["2:4"]
    assert ("resources", 1, 0.0, "has nodes with less memory than it needs") in told(change(result, 1, nodes="0:4"))


def test_licences():
    cluster = {"nodes": NODES, "licences": {"matlab": 2}}
    result = simulate(cluster, job(licences="matlab"), job(licences="matlab:2", submit=1))
    assert result.jobs["start"].to_list() == [0, 10]
    found = told(change(result, 2, start=5.0))
    assert found == [("resources", 2, 5.0, "uses a licence of matlab beyond the 2 that there are")]


def test_nodes_of_a_queue():
    cluster = {"nodes": NODES, "queues": {"small": {"nodes": ["a"]}, "large": {"nodes": "b1", "default": True}}}
    result = simulate(cluster, job(queue="small"), job())
    found = told(change(result, 2, nodes="2:1"))
    assert found == [("resources", 2, 0.0, "is on a node that queue large does not have")]


# ---- queues

QUEUES = {
    "cores": 8,
    "queues": {
        "short": {"max_time": 60, "default": True},
        "wide": {"min_cores": 4, "max_cores": 6},
        "vip": {"users": "ann", "groups": "atlas"},
        "lab": {"accounts": ["physics"]},
    },
    "routes": [{"queue": "wide", "min_cores": 4, "max_time": 100}, {"queue": "vip", "users": "ann", "named": "old"}],
    "accounts": TREE,
}


@pytest.mark.parametrize(
    ("described", "queue", "message"),
    [
        (job(), "wide", "is in queue wide, but belongs in queue short"),
        (job(cores=4), "short", "is in queue short, but belongs in queue wide"),
        (job(cores=4, time=101, queue="wide"), "short", "is in queue short, but belongs in queue wide"),
        (
            job(user="ann", group="atlas", queue="old"),
            "short",
            "is in queue short, but belongs in queue vip",
        ),
        (job(queue="short,wide", cores=4), "vip", "is in queue vip, but asked for one of short, wide"),
        (job(queue="short,wide"), "wide", "asks for fewer cores than queue wide takes (4)"),
        (job(queue="short,wide", cores=7), "wide", "asks for more cores than queue wide takes (6)"),
        (
            job(queue="short,wide", cores=4, time=61),
            "short",
            "asks for more time than queue short gives (1:00 min)",
        ),
        (job(queue="short,vip", user="bo", group="atlas"), "vip", "is not allowed in queue vip"),
        (job(queue="short,vip", user="ann", group="cms"), "vip", "is not allowed in queue vip"),
        (job(queue="short,lab", account="bio"), "lab", "is not allowed in queue lab"),
        (job(queue="short"), None, "is in no queue"),
    ],
)
def test_queues(described, queue, message):
    assert told(change(simulate(QUEUES, described), 1, queue=queue)) == [("queue", 1, 0.0, message)]


def test_whose_account_lets_them_in():
    simulate(QUEUES, job(queue="lab", user="di"), job(queue="lab", account="physics"))


def test_a_label_stays_what_it_is_where_there_are_no_queues():
    result = simulate({"cores": 2, "limits": [{"running_jobs": 2}]}, job(queue="night"), job(queue="day"))
    assert told(change(result, 1, queue="day")) == [("queue", 1, None, "has another queue than in the workload")]


# ---- limits


@pytest.mark.parametrize(
    ("limit", "columns", "words"),
    [
        ({"running_jobs": 1}, {}, "the cluster has 2 of 1 running jobs"),
        ({"per": "user", "running_jobs": 1}, {"user": "ann"}, "user ann has 2 of 1 running jobs"),
        ({"user": "ann", "running_cores": 3}, {"user": "ann"}, "user ann has 4 of 3 cores in use"),
        ({"group": "atlas", "running_gpus": 1}, {"group": "atlas", "gpus": 1}, "group atlas has 2 of 1 GPUs in use"),
        ({"qos": "low", "running_memory": 7}, {"qos": "low", "memory": 4}, "qos low has 8 of 7 bytes of memory in use"),
        (
            {"per": "qos", "running_memory": 7},
            {"qos": "low", "memory_per_core": 2},
            "qos low has 8 of 7 bytes of memory in use",
        ),
        ({"account": "root", "running_cores": 2}, {"account": "bio"}, "account root has 4 of 2 cores in use"),
        ({"per": "account", "running_cores": 2}, {"user": "di"}, "account physics has 4 of 2 cores in use"),
        (
            {"per": "user", "account": "root", "running_cores": 2},
            {"user": "di"},
            "user di in account root has 4 of 2 cores in use",
        ),
        ({"running_core_minutes": 1}, {}, "the cluster has 2 of 1 core-minutes running"),
    ],
)
def test_limits(limit, columns, words):
    """Two jobs of two cores, one after the other; the second is moved to the fifth second."""
    cluster = {"cores": 8, "limits": [limit], "accounts": TREE}
    result = simulate(cluster, job(20, 2, **columns), job(20, 2, submit=1, **columns))
    assert result.jobs["start"][1] > 5
    found = told(change(result, 2, start=5.0))
    assert ("quota", 2, 5.0, words) in found
    assert {entry[0] for entry in found} == {"quota"}


@pytest.mark.parametrize(
    ("caps", "words"),
    [
        ({"running_jobs": 1}, "queue short has 2 of 1 running jobs"),
        ({"per_user": {"running_cores": 3}}, "user ann in queue short has 4 of 3 cores in use"),
        ({"per_group": {"running_cores": 3}}, "group atlas in queue short has 4 of 3 cores in use"),
        ({"per_account": {"running_cores": 3}}, "account bio in queue short has 4 of 3 cores in use"),
    ],
)
def test_caps_of_queues(caps, words):
    cluster = {"cores": 8, "queues": {"short": caps | {"default": True}, "long": {}}, "accounts": TREE}
    owner = {"user": "ann", "group": "atlas", "account": "bio"}
    result = simulate(cluster, job(20, 2, **owner), job(20, 2, submit=1, **owner), job(20, 2, queue="long", **owner))
    assert ("quota", 2, 5.0, words) in told(change(result, 2, start=5.0))


def test_a_limit_by_name_takes_the_place_of_one_for_each():
    limits = [{"per": "user", "running_jobs": 1}, {"user": "ann", "running_jobs": 2}]
    jobs = [job(user="ann"), job(user="ann"), job(user="bo"), job(user="ann", submit=1), job(user="bo", submit=1)]
    result = simulate({"cores": 8, "limits": limits}, *jobs)
    assert result.jobs["start"].to_list() == [0, 0, 0, 10, 10]
    assert told(change(result, 4, start=5.0)) == [("quota", 4, 5.0, "user ann has 3 of 2 running jobs")]
    assert told(change(result, 5, start=5.0)) == [("quota", 5, 5.0, "user bo has 2 of 1 running jobs")]


def test_core_minutes_fall_as_time_goes_by():
    """Two minutes' worth: at 30 s the first job has a minute and a half of its two cores less than at its start."""
    cluster = {"cores": 8, "limits": [{"running_core_minutes": 4}]}
    result = simulate(cluster, job(120, 2), job(30, 2))
    assert result.jobs["start"].to_list() == [0, 30]
    assert told(change(result, 2, start=29.0))[0][0] == "quota"


def test_jobs_in_the_system():
    cluster = {"cores": 1, "limits": [{"per": "user", "submitted_jobs": 2}]}
    jobs = [job(user="ann"), job(user="ann"), job(user="ann", submit=1), job(user="bo", submit=1)]
    result = simulate(cluster, *jobs)
    assert result.jobs["state"].to_list() == ["completed", "completed", "rejected", "completed"]
    loose = api.simulate({"workload": {"table": result.scenario.workload.table}, "cluster": {"cores": 1}})
    found = told(api.Result(result.scenario, loose.record))
    assert found == [("quota", 3, 1.0, "user ann has 3 of 2 jobs in the system")]


# ---- who is turned away


@pytest.mark.parametrize(
    ("cluster", "described"),
    [
        ({"cores": 4}, job(cores=4)),
        ({"nodes": "2x4"}, job(cores=8)),
        ({"nodes": NODES}, job(cores=8, gpus=2)),
        ({"nodes": NODES}, job(cores=16, memory_per_core=2)),
        ({"nodes": NODES}, job(constraint="ib|big", cores=16)),
        ({"nodes": NODES, "licences": {"matlab": 2}}, job(licences="matlab:2")),
        (QUEUES, job(queue="short,wide")),
        ({"cores": 8, "limits": [{"per": "user", "running_cores": 4, "submitted_jobs": 2}]}, job(cores=4, user="ann")),
    ],
)
def test_somebody_who_could_have_been_let_in(cluster, described):
    ruled = {"limits": [{"running_jobs": 9}]} | cluster
    found = told(turn_away(simulate(ruled, described, job(user="bo")), 1))
    assert found == [("rejection", 1, 0.0, "was rejected, but no rule keeps it out")]


@pytest.mark.parametrize(
    ("cluster", "described"),
    [
        ({"nodes": NODES}, job(cores=12, gpus=3)),
        ({"nodes": NODES}, job(cores=13, memory_per_core=4)),
        ({"nodes": NODES}, job(constraint="big", cores=9)),
        ({"nodes": NODES, "licences": {"matlab": 2}}, job(licences="matlab:3")),
        (QUEUES, job(time=61)),
        ({"cores": 8, "queues": {"only": {}}}, job()),
        ({"cores": 8, "limits": [{"running_core_minutes": 1}]}, job(31, 2)),
    ],
)
def test_somebody_who_could_not(cluster, described):
    assert simulate(cluster, described).jobs["state"].to_list() == ["rejected"]


# ---- requests


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"user": "bo"}, "has another user than in the workload"),
        ({"requested_time": 30.0}, "has another requested time than in the workload"),
    ],
)
def test_the_table_says_what_the_workload_says(changed, message):
    result = simulate({"cores": 2, "limits": [{"running_jobs": 1}]}, job(user="ann"))
    assert told(change(result, 1, **changed)) == [("request", 1, None, message)]


def test_a_job_from_nowhere():
    result = simulate({"cores": 2, "limits": [{"running_jobs": 1}]}, job())
    strange = (
        result.jobs.with_columns(job_id=pl.lit(7, pl.Int64)),
        result.allocations.with_columns(job_id=pl.lit(7, pl.Int64)),
    )
    found = api.Result(result.scenario, Record(*strange, result.record.facts)).audit()
    assert found == [Violation("request", 7, None, "is not in the workload")]


def test_a_saved_result_is_audited_with_its_workload(tmp_path):
    cluster = {"cores": 8, "limits": [{"per": "user", "running_jobs": 1}]}
    result = simulate(cluster, job(user="ann"), job(user="ann"))
    result.save(tmp_path / "out")
    assert api.load(tmp_path / "out").audit() == []
    (tmp_path / "out" / "workload.parquet").unlink()
    with pytest.raises(InputError, match=r"workload\.parquet: missing"):
        api.load(tmp_path / "out").audit()
