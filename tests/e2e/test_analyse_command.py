"""`walltime analyse` judges: two results week by week, experiments and cells seed by seed."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import walltime
from walltime.cli.app import app
from walltime.core.errors import InputError

HOURS = 24 * 7 * 11 + 1


def analyse(*words: str) -> dict:
    found = CliRunner().invoke(app, ["analyse", *words, "--json"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def folder(tmp_path, name: str, cores: int) -> str:
    """A job of 30 minutes for one core each hour, and every second day one of an hour, for eleven weeks."""
    run = [3600 if hour % 48 == 7 else 1800 for hour in range(HOURS)]
    jobs = walltime.Workload.from_columns(
        job_id=range(1, HOURS + 1),
        submit=[3600 * hour for hour in range(HOURS)],
        run_time=run,
        requested_time=run,
        cores=[2] * HOURS,
    )
    return str(walltime.simulate(jobs, cores=cores, policy="fcfs").save(tmp_path / name))


def test_single_results_are_judged_week_by_week(tmp_path):
    small, large = folder(tmp_path, "small", 2), folder(tmp_path, "large", 4)
    verdicts = {one["metric"]: one for one in analyse("use", small, large)["verdicts"]}
    # After its warm-up a week has six days: 144 jobs, three of them of an hour. Half of the larger machine is idle.
    assert verdicts["utilization"]["count"] == 11
    assert verdicts["utilization"]["basis"] == "weeks"
    assert verdicts["utilization"]["after"] == pytest.approx(verdicts["utilization"]["before"] / 2, rel=0.01)
    assert verdicts["utilization"]["before"] == pytest.approx(0.51, rel=0.02)
    assert verdicts["utilization"]["outcome"] == "less"


@pytest.fixture
def store(tmp_path):
    experiment = {
        "name": "sizes",
        "scenario": {"workload": {"generate": {"jobs": 40, "cores": 8, "load": 0.9}}, "cluster": {"cores": 8}},
        "grid": {"cores": {"key": "cluster.cores", "values": [8, 16]}},
        "repetitions": 3,
    }
    place = str(tmp_path / "store")
    walltime.sweep(experiment | {"analyses": ["use"]}, place, workers=1)
    walltime.sweep(experiment | {"name": "whole", "keep": "tables"}, place, workers=1)
    walltime.sweep(experiment | {"name": "bare"}, place, workers=1)
    return place


def test_experiments_and_cells_are_judged_seed_by_seed(store):
    found = analyse("use", "sizes", "--store", store)
    assert [side["label"] for side in found["sides"]] == ["8", "16"]
    (verdict,) = (one for one in found["verdicts"] if one["metric"] == "utilization")
    assert (verdict["count"], verdict["baseline"], verdict["subject"]) == (3, "8", "16")
    assert verdict["after"] < verdict["before"]
    cells = analyse("use", "whole:cores=8", "whole:cores=16", "--store", store)  # from the results that were kept
    assert [side["figures"] for side in cells["sides"]] == [side["figures"] for side in found["sides"]]
    for words, told in ((["use", "bare"], "kept neither"), (["sizes", "whole"], "a table, and no figures")):
        with pytest.raises(InputError, match=told):
            CliRunner().invoke(app, ["analyse", *words, "--store", store], catch_exceptions=False)
