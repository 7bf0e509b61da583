"""Preemption, reservations and failures of a scenario, on the real controller."""

import polars as pl
import pytest

from walltime import Workload, simulate
from walltime.scenario import parse
from walltime.slurm.translate.refusals import unsupported
from walltime.slurm.translate.scenario import translate

pytestmark = pytest.mark.usefixtures("slurm")

QUEUES = {"low": {"default": True}, "high": {"priority": 3}}


def jobs(**columns):
    return Workload.from_columns(**columns)


def two(**more):
    """One job that fills the machine of four nodes of two cores, and a small one that comes later."""
    columns = {"submit": [0, 200], "run_time": [1000, 100], "requested_time": [1200, 120], "cores": [8, 2]}
    return jobs(**columns | {"user": ["ann", "bo"]} | more)


def run(workload, **cluster):
    result = simulate(workload, engine="slurm", cluster={"nodes": "4x2", **cluster})
    assert result.audit() == []
    return result


def allocations(result, job):
    rows = result.allocations.filter(pl.col("job_id") == job)
    return rows.select("start", "end", "nodes", "outcome").rows()


# ---- what is said


def say(part):
    cluster = {"nodes": "4x2", "queues": QUEUES, "scheduler": {"preempt": part}}
    scenario = parse({"workload": {"table": two()}, "engine": "slurm", "cluster": cluster})
    assert unsupported(scenario) == []
    return translate(scenario, two())


def test_preemption_by_queue_is_said_in_the_controllers_words():
    lines = say({"name": "queue", "grace": "2m"}).settings
    assert {"PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE", "JobRequeue=1"} <= set(lines)
    assert "preempt_youngest_first" in next(line for line in lines if line.startswith("SchedulerParameters"))
    low, high = (line for line in lines if line.startswith("PartitionName"))
    assert "PriorityTier=1 " in low
    assert "PriorityTier=4 " in high
    assert all("GraceTime=120" in line for line in (low, high))
    lines = say({"name": "queue", "mode": "suspend"}).settings
    assert "PreemptMode=SUSPEND,GANG" in lines
    assert sum("OverSubscribe=FORCE:1" in line for line in lines) == 2
    assert "PreemptMode=CANCEL" in say({"name": "queue", "mode": "kill"}).settings


def test_preemption_by_qos_is_said_of_the_qualities():
    cluster = {"nodes": "4x2", "scheduler": {"preempt": {"name": "qos", "ranks": {"urgent": 1}, "grace": 60}}}
    workload = two(qos=["", "urgent"])
    site = translate(parse({"workload": {"table": workload}, "engine": "slurm", "cluster": cluster}), workload)
    assert "PreemptType=preempt/qos" in site.settings
    told = {quality.name: quality for quality in site.associations.qualities}
    assert told["urgent"].preempts == ("normal",)
    assert told["normal"].preempts == ()
    assert told["normal"].limits["GraceTime"] == "60"


PREEMPT = "cluster.scheduler.preempt"


@pytest.mark.parametrize(
    ("cluster", "keys"),
    [
        ({"queues": QUEUES, "scheduler": {"preempt": {"name": "queue", "mode": "checkpoint"}}}, [f"{PREEMPT}.mode"]),
        ({"queues": QUEUES, "scheduler": {"preempt": {"name": "queue", "victims": "lowest"}}}, [f"{PREEMPT}.victims"]),
        (
            {"queues": QUEUES, "scheduler": {"preempt": {"name": "queue", "victims": "smallest"}}},
            [f"{PREEMPT}.victims"],
        ),
        (
            {"queues": QUEUES | {"top": {"priority": 9}}, "scheduler": {"preempt": {"name": "queue"}}},
            [f"{PREEMPT}.victims"],
        ),
        ({"queues": QUEUES, "scheduler": {"preempt": {"name": "queue", "ranks": {"low": 5}}}}, [f"{PREEMPT}.ranks"]),
        (
            {"scheduler": {"preempt": {"name": "qos", "mode": "suspend", "ranks": {"a": 1}}}},
            [f"{PREEMPT}.mode"],
        ),
        ({"scheduler": {"backfill": "none", "preempt": {"name": "qos", "ranks": {"a": 1}}}}, [PREEMPT]),
        ({"failures": [{"at": 1, "length": 2}]}, ["cluster.failures.0.known"]),
        (
            {"nodes": None, "cores": 8, "failures": [{"at": 1, "length": 2, "known": False}]},
            ["cluster.failures.0"],
        ),
        ({"interrupted": "checkpoint"}, ["cluster.interrupted"]),
        (
            {"reservations": [{"name": "r", "start": 1, "length": 60, "every": 3600, "users": "ann"}]},
            ["cluster.reservations.0.every"],
        ),
        ({"reservations": [{"name": "r", "start": 1.5, "length": 60}]}, ["cluster.reservations.0.start"]),
    ],
)
def test_what_the_controller_means_otherwise_is_refused_by_its_key(cluster, keys):
    given = {key: value for key, value in ({"nodes": "4x2"} | cluster).items() if value is not None}
    execution = {"checkpoint": {"interval": 60}} if "checkpoint" in repr(cluster) else {}
    scenario = parse({"workload": {"table": two()}, "engine": "slurm", "cluster": given, "execution": execution})
    assert [key for key, _ in unsupported(scenario) if key != "execution.checkpoint"] == keys


def test_a_slurm_conf_leaves_no_word_of_the_cluster_unheard(tmp_path):
    (tmp_path / "slurm.conf").write_text("NodeName=n1 CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n")
    given = {"failures": [{"at": 1, "length": 2}], "queues": {"q": {}}, "name": "mine"}
    scenario = parse({"workload": {"table": two()}, "engine": "slurm", "cluster": given,
                      "slurm": {"conf": str(tmp_path / "slurm.conf")}})  # fmt: skip
    assert [key for key, _ in unsupported(scenario)] == ["cluster.queues", "cluster.failures"]


# ---- what happens


@pytest.mark.parametrize(
    ("mode", "outcomes"),
    [
        ("requeue", ["preempted", "completed"]),
        ("kill", ["preempted"]),
        ("suspend", ["suspended", "completed"]),
    ],
)
def test_a_higher_queue_displaces(mode, outcomes):
    result = run(two(queue=["low", "high"]), queues=QUEUES, scheduler={"preempt": {"name": "queue", "mode": mode}})
    start = result.jobs["start"][1]
    assert 200 <= start < 270
    assert [row[3] for row in allocations(result, 1)] == outcomes
    assert result.jobs["state"].to_list() == ["cancelled" if mode == "kill" else "completed", "completed"]


def test_what_is_preempted_waits_again_though_interrupted_jobs_fail():
    scheduler = {"preempt": {"name": "queue"}}
    result = run(two(queue=["low", "high"]), queues=QUEUES, scheduler=scheduler, interrupted="fail")
    assert [row[3] for row in allocations(result, 1)] == ["preempted", "completed"]


def test_a_higher_quality_displaces_and_leaves_a_grace():
    preempt = {"name": "qos", "ranks": {"urgent": 1}, "grace": 60}
    result = run(two(qos=["", "urgent"]), scheduler={"preempt": preempt})
    first, again = allocations(result, 1)
    assert first[3] == "preempted"
    assert 260 <= first[1] <= 350  # sixty seconds, looked at every half minute
    assert result.jobs["start"][1] >= first[1]
    assert again[3] == "completed"


def test_nodes_fail_and_come_back_as_natively():
    """A node that comes back costs nobody elsewhere their job, and what was down is what was down natively."""
    workload = jobs(submit=[0, 0, 10], run_time=[2000, 900, 300], requested_time=[2400, 1200, 600], cores=[4, 2, 2])
    cluster = {
        "failures": [
            {"nodes": "n0", "at": 400, "length": 300, "known": False, "notice": 100},
            {"nodes": "n[0-1]", "at": 500, "length": 600, "known": False},
            {"nodes": "n3", "between": {"mean": "1h"}, "repair": "5m", "known": False},
        ]
    }
    result = run(workload, **cluster)
    native = simulate(workload, cluster={"nodes": "4x2", **cluster})
    assert result.jobs["state"].to_list() == ["completed"] * 3
    hurt = [row for row in allocations(result, 1) if row[3] == "requeued"]
    assert [row[1] for row in hurt] == [400.0]
    assert sum(row[3] == "requeued" for job in (2, 3) for row in allocations(result, job)) <= 2
    end = min(result.jobs["end"].max(), native.jobs["end"].max())
    told = [one.outages.filter(pl.col("start") < end).drop("cluster", "end").rows() for one in (result, native)]
    assert told[0] == told[1]


def test_whoever_is_hit_has_failed_where_the_scenario_says_so():
    cluster = {"failures": [{"nodes": "n1", "at": 300, "length": 60, "known": False}], "interrupted": "fail"}
    result = run(two(), **cluster)
    assert result.jobs["state"].to_list() == ["failed", "completed"]
    assert allocations(result, 1)[0][1] == 300.0


def test_windows_are_kept_free_and_courses_have_their_guests():
    workload = jobs(
        submit=[0, 100, 200, 300],
        run_time=[900, 500, 200, 200],
        requested_time=[1200, 600, 300, 300],
        cores=[4, 8, 2, 2],
        user=["ann", "ann", "bo", "ann"],
        reservation=["", "", "the course", "the course"],
    )
    cluster = {
        "reservations": [
            {"name": "week", "start": 600, "length": 600, "every": 3600, "nodes": "n3"},
            {"name": "the course", "start": 1800, "length": 600, "count": 2, "users": "bo"},
        ]
    }
    result = run(workload, **cluster)
    assert result.jobs["state"].to_list() == ["completed", "completed", "completed", "rejected"]
    assert result.jobs["start"][1] >= 2400  # ten minutes on all nodes do not fit before
    assert 1800 <= result.jobs["start"][2] < 1870
    assert result.outages.select("start", "kind", "name", "nodes").rows()[:2] == [
        (600.0, "maintenance", "week", "3:2"),
        (1800.0, "reservation", "the course", "2-3:2"),
    ]


@pytest.mark.parametrize("engine", ["native", "slurm"])
@pytest.mark.parametrize(
    ("nodes", "states"),
    [("4x2", ["completed", "completed"]), ([{"count": 4, "cores": 2, "memory": "4G"}], ["completed", "rejected"])],
)
@pytest.mark.parametrize("failures", [[], [{"nodes": "n3", "at": 5000, "length": 60, "known": False}]])
def test_what_nodes_do_not_tell_counts_alike_on_both_engines_with_failures_or_without(engine, nodes, states, failures):
    result = simulate(two(gpus=[0, 1]), engine=engine, cluster={"nodes": nodes, "failures": failures})
    assert result.jobs["state"].to_list() == states
    assert result.audit() == []


def test_jobs_of_a_trace_are_bound_to_what_an_administrator_reserves(tmp_path):
    (tmp_path / "slurm.conf").write_text(
        "SelectType=select/linear\nNodeName=n[1-2] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n"
    )
    made = "10 scontrol create reservation=talk starttime=now+600seconds duration=60 nodes=n2 users=bo\n"
    (tmp_path / "events").write_text(made)
    workload = jobs(submit=[60], run_time=[60], requested_time=[120], cores=[1], user=["bo"], reservation=["talk"])
    slurm = {"conf": str(tmp_path / "slurm.conf"), "events": str(tmp_path / "events")}
    result = simulate(workload, engine="slurm", slurm=slurm)
    assert 610 <= result.jobs["start"][0] < 680
    assert result.allocations["nodes"].to_list() == ["1:2"]  # a whole node
