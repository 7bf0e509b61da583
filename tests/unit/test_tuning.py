"""Fill and pressure are found by simulation: a small machine whose hourly median wait stays where it should."""

import json
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import walltime
from walltime.cli.app import app
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.tuning import count_outside, hourly_medians, tune_workload
from walltime.workload.models.sample import Sample
from walltime.workload.synthesis import synthesize
from walltime.workload.synthesis.workflow_mix import Mix
from walltime.workload.workflow import Task, Workflow

HOUR = 3600.0
MACHINE = {
    "cluster": {
        "nodes": "60x24",
        "sharing": "whole",
        "scheduler": {
            "order": {"name": "multifactor", "weights": {"age": 1000, "job_size": 300}, "favor_small": True},
            "backfill": "conservative",
            "rhythm": {"name": "periodic", "bf_interval": 30, "bf_max_job_test": 50},
        },
    }
}


class Small:
    """One or two nodes for up to 20 minutes."""

    title, jobs_per_day = "small jobs", 2000.0

    def clock(self, days):
        return np.ones(days * 24)

    def draw(self, jobs, span, cores, seed, name):
        random = stream(seed, name)
        run = random.integers(60, 1200, jobs)
        return Sample({
            "submit": np.sort(random.integers(0, int(span), jobs)) * SECOND,
            "cores": 24 * random.integers(1, 3, jobs),
            "run_time": run * SECOND,
            "requested_time": (run + random.integers(0, 600, jobs)) * SECOND,
        })  # fmt: skip


@pytest.fixture(scope="module")
def tuned():
    return tune_workload(
        Small(), MACHINE, wait=2 * HOUR, within=0.5 * HOUR, days=1.5, stabilization=12 * HOUR, seed="t"
    )


def test_every_hour_of_the_experiment_is_inside(tuned):
    assert tuned.outside == 0
    assert len(tuned.medians) == 36
    # The same by hand, from the tables of a run of the jobs that were found.
    result = walltime.simulate(MACHINE | {"workload": {"table": tuned.workload}})
    begin, end = tuned.workload.notes["phases"]["experiment"]
    jobs = result.jobs.filter((result.jobs["submit"] >= begin) & (result.jobs["submit"] < end))
    for hour in range(36):
        inside = (jobs["submit"] >= begin + hour * HOUR) & (jobs["submit"] < begin + (hour + 1) * HOUR)
        median = jobs.filter(inside)["wait"].median()
        assert 1.5 * HOUR <= median <= 2.5 * HOUR
        assert median == tuned.medians[hour]


def test_fill_jobs_are_whole_nodes(tuned):
    fill = tuned.workload.select(tuned.workload.column("phase") == 0)
    assert len(fill)
    assert set(fill.column("cores").tolist()) == {24}
    assert np.all(np.diff(fill.column("submit")) == 10 * SECOND)


def test_what_is_frozen_gives_the_same_ordinary_jobs_and_other_waits(tuned):
    flow = Workflow.of("w", [Task("a", cores=480, run_time=3600), Task("b", cores=24, run_time=600, needs=("a",))])
    cell = synthesize(Small(), replace(tuned.plan, insertions=(Mix([flow], "multi", every=HOUR),)))
    assert np.isin(tuned.workload.column("job_id"), cell.column("job_id")).all()
    result = walltime.simulate(MACHINE | {"workload": {"table": cell}})
    medians = hourly_medians(result, *cell.notes["phases"]["experiment"])
    assert np.median(medians[-6:]) > np.median(tuned.medians[-6:]) + 2 * HOUR  # a third more work


def test_hours_without_jobs_and_jobs_that_never_start():
    jobs = walltime.Workload.from_columns(
        submit=[0, 10, 20, 7200, 7300], run_time=[100, 100, 10, 9000, 9000], cores=[1, 1, 1, 1, 1]
    )
    result = walltime.simulate(jobs, cores=1, policy="fcfs", until=8000)
    medians = hourly_medians(result, 0.0, 4 * HOUR)
    assert medians[0] == 90.0
    assert np.isnan(medians[1])
    assert np.isinf(medians[2])  # 0 and for ever
    assert count_outside(medians, 50.0, 100.0) == 1


def test_what_cannot_be_tuned_is_told():
    with pytest.raises(InputError, match="longer"):
        tune_workload(Small(), MACHINE, wait=10.0, within=20.0)
    with pytest.raises(InputError, match="one cluster"):
        tune_workload(Small(), {"cluster": {}})


def test_the_command(tmp_path):
    (tmp_path / "machine.yaml").write_text("workload: jobs.parquet\ncluster: {cores: 256}\n")
    arguments = ["workload", "tune", "lublin", str(tmp_path / "machine.yaml"), "-o", str(tmp_path / "jobs.parquet")]
    arguments += ["--wait", "4h", "--within", "3h", "--days", "0.5", "--stabilization", "6h", "--drain", "1h"]
    told = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert told.exit_code == 0, told.output
    assert "frozen: --cores 256 --pressure 1:" in told.output
    assert "a run ends with the drain" in told.output
    facts = json.loads(CliRunner().invoke(app, [*arguments, "--json", "--force"], catch_exceptions=False).output)
    assert facts["hours"] == 12
    frozen = [f"--pressure={facts['pressure'][0]}:{facts['pressure'][1]}", f"--fill={facts['fill_hours']}h"]
    again = [
        "workload",
        "generate",
        "lublin",
        "--cores",
        "256",
        "--days",
        "0.5",
        "--stabilization",
        "6h",
        "--drain",
        "1h",
    ]
    made = CliRunner().invoke(app, [*again, *frozen, "-o", str(tmp_path / "again.parquet")], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    first, second = (walltime.read_workload(tmp_path / name) for name in ("jobs.parquet", "again.parquet"))
    assert first.to_polars().equals(second.to_polars())
