"""Schedules that independent simulators agree on, and real traces: the engine and its twin to the last start time."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.scenario import parse

POLICIES = ("fcfs", "easy", "aggressive")


def read(trace: Path) -> Workload:
    """A trace as the engine gets it: read, with missing requests filled."""
    return parse({"workload": str(trace)}).read_workload()


def fast_schedule(workload: Workload, cores: int, policy: str) -> list[tuple[object, ...]]:
    """(job, start, end, state) by the compiled engine, in seconds."""
    jobs = api.simulate(workload, cores=cores, policy=policy).jobs
    return jobs.select("job_id", "start", "end", "state").rows()


def slow_schedule(workload: Workload, cores: int, policy: str) -> list[tuple[object, ...]]:
    """The same by the twin."""

    def seconds(time: int | None) -> float | None:
        return None if time is None else time / SECOND

    outcomes = reference.simulate_cores(workload, cores, policy)
    return [(job.job_id, seconds(job.start), seconds(job.end), job.state) for job in outcomes]


FILES = {"fcfs": "fcfs", "easy": "easy", "conservative": "cons"}


@pytest.mark.parametrize("trace", ["hpc2n", "hpc2np"])  # inexact requests, exact requests
@pytest.mark.parametrize("policy", FILES)
@pytest.mark.parametrize("schedule", [fast_schedule, slow_schedule])
def test_the_agreed_schedule_is_reproduced(trace, policy, schedule, external):
    with external(f"oracle/{trace}_{FILES[policy]}.csv").open() as file:
        expected = [(int(row["job_id"]), int(row["start"]), int(row["end"])) for row in csv.DictReader(file)]
    assert len(expected) == 3145
    got = schedule(read(external(f"oracle/{trace}.n.swf")), 240, policy)
    assert [row[:3] for row in got] == expected


TRACES = [("hpc2n-3k.swf", 240, None), ("lublin-256.swf", 256, None)]
CASES = [(*trace, policy) for trace in TRACES for policy in POLICIES]


@pytest.mark.parametrize(("trace", "cores", "given", "policy"), [*CASES, ("wagap-2013.swf", 2176, 2176, "easy")])
def test_a_trace_as_it_is_runs_and_agrees_with_the_twin(trace, cores, given, policy, external):
    """`given` is what the user says about the machine; the other traces tell it in their header."""
    path = external(f"traces/{trace}")
    result = api.simulate(path, cores=given, policy=policy)
    jobs = result.jobs.select("job_id", "start", "end", "state").rows()
    assert len(jobs) > 3000
    assert jobs == slow_schedule(read(path), cores, policy)
    assert audit(result) == []
