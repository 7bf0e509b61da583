"""Cores of several threads: a job has whole ones, on each of its nodes."""

from __future__ import annotations

import numpy as np
import pytest

import walltime
from walltime.analysis.audit.schedule import audit


def simulate(jobs: dict[str, list[int]], threads: int = 2, nodes: str = "1x8") -> walltime.Result:
    count = len(jobs["cores"])
    times = {"submit": [0] * count, "run_time": [10] * count, "requested_time": [10] * count}
    table = walltime.Workload.from_columns(**times, **jobs)
    cluster = {"nodes": nodes, "threads_per_core": threads, "scheduler": {"backfill": "easy"}}
    return walltime.simulate({"workload": {"table": table}, "cluster": cluster})


def test_a_core_is_one_jobs():
    result = simulate({"cores": [3, 3, 1]})
    rows = result.jobs.sort("job_id")
    assert rows["start"].to_list() == [0, 0, 10]  # 4 + 4 threads are all that there are
    assert rows["cores"].to_list() == [4, 4, 2]
    assert result.audit() == []


@pytest.mark.parametrize(
    ("jobs", "cores"),
    [
        ({"cores": [6], "nodes": [2], "cores_per_node": [3]}, 8),
        ({"cores": [6], "nodes": [2]}, 8),
        ({"cores": [8], "nodes": [2]}, 8),
        ({"cores": [5]}, 6),
    ],
)
def test_they_are_whole_on_each_node(jobs, cores):
    result = simulate(jobs, nodes="2x8")
    assert result.jobs["cores"].to_list() == [cores]
    assert result.audit() == []


def test_the_audit_finds_half_a_core():
    jobs = {"cores": [3, 3, 1]}
    halves, whole = simulate(jobs, threads=1), simulate(jobs)
    asked = whole.scenario.read_workload()
    assert halves.audit() == []
    assert {fault.rule for fault in audit(halves.record, workload=asked, scenario=whole.scenario)} >= {"request"}


@pytest.mark.parametrize("backfill", ["none", "easy", "conservative", "plan"])
def test_jobs_that_ask_for_whole_cores_run_as_without(backfill):
    random = np.random.default_rng(3)
    asked, run, cores = random.integers(30, 120, 60), random.integers(1, 90, 60), 2 * random.integers(1, 9, 60)
    times = {"submit": sorted(random.integers(0, 300, 60).tolist()), "run_time": run, "requested_time": asked}
    jobs = walltime.Workload.from_columns(**times, cores=cores)
    made = []
    for threads in (1, 2):
        cluster = {"nodes": "4x8", "threads_per_core": threads, "scheduler": {"backfill": backfill}}
        made.append(walltime.simulate({"workload": {"table": jobs}, "cluster": cluster}))
    assert made[0].jobs.equals(made[1].jobs)
    assert made[0].allocations.equals(made[1].allocations)
