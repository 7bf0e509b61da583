"""Snapshots of a site that preempts by suspension: schedules worked out by hand, in hours from the start."""

from __future__ import annotations

import json

import pytest

import walltime
from walltime.core.errors import InputError

HOUR = 3600
NOON = "2026-11-15T12:00:00"
PREEMPT = {"name": "queue", "mode": "suspend"}
QUEUES = {"low": {"priority": 1}, "high": {"priority": 5}}
SQUEUE = """\
JOBID|STATE|USER|PARTITION|CPUS|NODES|TIME_LIMIT|SUBMIT_TIME|START_TIME|TIME|NODELIST
1|SUSPENDED|ann|low|4|1|10:00:00|2026-11-15T03:00:00|2026-11-15T04:00:00|6:00:00|n1
2|RUNNING|bo|high|4|1|3:00:00|2026-11-15T11:00:00|2026-11-15T11:00:00|1:00:00|n1
3|RUNNING|ann|low|4|1|9:00:00|2026-11-15T01:00:00|2026-11-15T02:00:00|7:00:00|n2
4|PENDING|cy|low|4|1|1:00:00|2026-11-15T11:30:00|N/A|0:00|
"""


@pytest.fixture
def snapshot(tmp_path):
    def run(text=SQUEUE, name="squeue.txt", preempt=PREEMPT, **more):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / "log.csv").write_text("submit,run_time,requested_time,cores,queue\n360000,60,60,1,low\n")
        cluster = {"nodes": {"name": "n[1-2]", "count": 2, "cores": 4}, "queues": QUEUES}
        scheduler = {} if preempt is None else {"scheduler": {"preempt": preempt}}
        scenario = {
            "workload": str(tmp_path / "log.csv"),
            "cluster": cluster | scheduler,
            "start": {"time": NOON, "jobs": str(tmp_path / name)},
        }
        return walltime.simulate(scenario | more)

    return run


def hours(result):
    """Each interval of the snapshot's jobs, as (job, begin, end, outcome)."""
    noon = 24 * HOUR
    rows = result.allocations.filter(result.allocations["start"] < noon + 100 * HOUR)
    return [
        (row["job_id"], (row["start"] - noon) / HOUR, (row["end"] - noon) / HOUR, row["outcome"])
        for row in rows.sort("job_id", "start").iter_rows(named=True)
    ]


AS_TOLD = [
    (1, -8, -2, "suspended"),
    (1, 2, 6, "timeout"),  # 4 of its 10 hours are left
    (2, -1, 2, "timeout"),
    (3, -7, 2, "timeout"),  # was suspended for 3 hours, and has 2 of 9 left
    (4, 2, 3, "timeout"),
]


def test_a_suspended_job_goes_on_where_it_was_when_there_is_room(snapshot):
    result = snapshot()
    assert hours(result) == AS_TOLD
    assert not result.audit()
    told = result.summary["facts"]["start"]
    assert (told["running"], told["suspended"], told["waiting"]) == (3, 1, 1)


def test_the_same_from_json(snapshot):
    at = {f"2026-11-15T{hour:02}": 1794700800 + hour * HOUR for hour in range(24)}
    names = ["job_id", "job_state", "user_name", "partition", "cpus", "node_count", "time_limit", "submit_time"]
    lines = [line.split("|") for line in SQUEUE.splitlines()[1:]]
    jobs = []
    for line in lines:
        jobs.append(dict(zip(names, line, strict=False)))
        hour, minute, _ = line[6].split(":")
        jobs[-1]["time_limit"] = int(hour) * 60 + int(minute)
        jobs[-1]["submit_time"] = at[line[7][:13]] + (1800 if line[0] == "4" else 0)
        jobs[-1]["nodes"] = line[10]
        if line[8] != "N/A":
            jobs[-1]["start_time"] = at[line[8][:13]]
    jobs[0] |= {"suspend_time": at["2026-11-15T11"], "pre_sus_time": {"set": True, "number": 6 * HOUR}}
    jobs[2] |= {"suspend_time": at["2026-11-15T10"], "pre_sus_time": 5 * HOUR}  # it goes on since 10:00
    assert hours(snapshot(json.dumps({"jobs": jobs}), "squeue.json")) == AS_TOLD


def test_the_same_from_a_table(snapshot):
    table = """\
job_id,submit,started,suspended,requested_time,cores,nodes,queue,nodelist
1,2026-11-15T03:00,2026-11-15T04:00,2026-11-15T10:00,10h,4,1,low,n1
2,2026-11-15T11:00,2026-11-15T11:00,,3h,4,1,high,n1
3,2026-11-15T01:00,2026-11-15T05:00,,9h,4,1,low,n2
4,2026-11-15T11:30,,,1h,4,1,low,
"""
    with pytest.raises(InputError, match="a job that has not started by then"):
        snapshot(table.replace("T10:00,", "T03:30,"), "standing.csv")
    assert hours(snapshot(table, "standing.csv")) == AS_TOLD


def test_without_its_start_it_was_suspended_when_the_first_that_runs_started(snapshot):
    short = "JOBID|ST|PARTITION|CPUS|NODES|TIME_LIMIT|TIME|NODELIST\n1|S|low|4|1|10:00:00|6:00:00|n1\n"
    assert hours(snapshot(short + "2|R|high|4|1|3:00:00|1:00:00|n1\n")) == [
        (1, -7, -1, "suspended"),
        (1, 2, 6, "timeout"),
        (2, -1, 2, "timeout"),
    ]


def test_one_that_does_not_tell_how_long_it_has_run_is_refused(snapshot):
    with pytest.raises(InputError, match="a suspended job does not tell for how long it has run") as error:
        snapshot(SQUEUE.replace("|6:00:00|n1", "|N/A|n1"))
    assert error.value.value == "1"


def test_where_nothing_lets_it_go_on_it_counts_as_running(snapshot):
    free = SQUEUE.replace("2|RUNNING|bo|high|4|1", "2|PENDING|bo|high|4|1").replace(
        "2026-11-15T11:00:00|1:00:00", "N/A|"
    )
    assert hours(snapshot(free, preempt=None))[0] == (1, -6, 4, "timeout")
    with pytest.raises(InputError, match="do not all fit"):
        snapshot(preempt=None)


def test_a_prediction_draws_from_what_it_has_not_outlived(snapshot, tmp_path):
    snapshot()
    scenario = {
        "workload": str(tmp_path / "log.csv"),
        "cluster": {
            "nodes": {"name": "n[1-2]", "count": 2, "cores": 4},
            "queues": QUEUES,
            "scheduler": {"preempt": PREEMPT},
        },
        "start": {"time": NOON, "jobs": str(tmp_path / "squeue.txt")},
    }
    answer = walltime.predict(scenario, cores=8, nodes=2, time="1h", queue="low", runs=2, arrivals=False)
    assert answer.waits == (6 * HOUR, 6 * HOUR)  # every job of the log ran for its whole request


def test_nodes_and_sums_are_divided_so_that_all_have_room(snapshot):
    """Three cores of each job on the node that both have are more than it has."""
    told = SQUEUE.splitlines()[0] + (
        "\n1|RUNNING|ann|low|5|2|2:00:00|2026-11-15T11:00:00|2026-11-15T11:00:00|1:00:00|n[1-2]"
        "\n2|RUNNING|ann|low|2|1|2:00:00|2026-11-15T11:00:00|2026-11-15T11:00:00|1:00:00|n1\n"
    )
    result = snapshot(told)
    assert sorted(result.allocations["nodes"].to_list()[:2]) == ["0:2", "0:2,1:3"]
    assert not result.audit()
