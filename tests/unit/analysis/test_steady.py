"""Intervals of the steady state cover the truth as often as they say, and a run that is too short is told so."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.analysis.queueing import response_mmc
from walltime.analysis.statistics import student_quantile
from walltime.core.errors import InputError


def mm1(seed: int, rate: float = 0.5, jobs: int = 20_000):
    kinds = {"job": {"work": {"name": "exponential", "mean": 1.0}}}
    synthetic = {"jobs": jobs, "arrivals": {"name": "exponential", "mean": 1 / rate}, "types": kinds}
    return api.simulate({"workload": {"synthetic": synthetic}, "cluster": {"cores": 1}}, seed=seed, policy="fcfs")


@pytest.fixture(scope="module")
def runs():
    return [mm1(seed) for seed in range(1, 41)]


def test_batch_means_cover_the_truth_as_often_as_they_say(runs):
    theory = response_mmc(0.5, 1)
    covered = [run.steady(settle=100, confidence=0.9) for run in runs]
    hits = sum(found.low <= theory <= found.high for found in covered)
    assert 30 <= hits <= 40  # 36 of 40 in the mean
    naive = 1.645 * runs[0].jobs["wait"].std() / runs[0].jobs.height ** 0.5
    assert np.mean([found.half_width for found in covered]) > 1.5 * naive  # what an interval over jobs would claim


def test_windows_and_replications_agree_with_theory(runs):
    theory = response_mmc(0.5, 1)
    for found, method, samples in (
        (runs[0].steady(*runs[1:], settle=100), "replications", 40),
        (runs[0].steady(settle=100, sample=1500, separate=50), "windows", None),
    ):
        assert found.method == method
        assert samples is None or found.samples == samples
        assert abs(found.mean - theory) < 2 * found.half_width
        assert not found.warnings, found.warnings


def test_nothing_of_a_settling_window_is_sampled(runs):
    jobs = runs[0].jobs.sort("end", "job_id")
    ends = (jobs["end"] - jobs["submit"].min()).to_numpy()
    response = (jobs["end"] - jobs["submit"]).to_numpy()
    first, length, gap = 1000.0, 2000.0, 500.0
    means = [
        response[(ends >= begin) & (ends < begin + length)].mean()
        for begin in np.arange(first, ends[-1] - length, length + gap)
    ]
    found = runs[0].steady(settle=first, sample=length, separate=gap)
    assert found.samples == len(means)
    assert found.mean == pytest.approx(np.mean(means))


def test_a_run_that_is_too_short_is_told_so():
    assert any("too short" in text for text in mm1(1, 0.9, 300).steady().warnings)
    assert any("not steady" in text for text in mm1(1, 1.5, 5000).steady(settle=0).warnings)
    assert any("samples" in text for text in mm1(1).steady(settle=0, batches=5).warnings)


def test_a_beginning_unlike_the_rest_is_found():
    """A burst at the start, long gone by: White's rule leaves it out."""
    quiet = mm1(2, 0.3, 5000).jobs
    burst = api.Workload.from_columns(
        submit=[0.0] * 300 + (quiet["submit"] + 1).to_list(),
        run_time=[1.0] * 300 + quiet["run_time"].to_list(),
    )
    found = api.simulate(burst, cores=1, policy="fcfs").steady()
    assert 300 < found.settled < 5000
    assert found.mean < 3


def test_throughput_counts_what_ended_within_the_time(runs):
    jobs = runs[0].jobs
    inside = jobs.filter((jobs["end"] > 500) & (jobs["end"] <= 4500))
    found = runs[0].throughput(500, 4000)
    assert found.jobs == inside.height
    assert found.core_seconds == pytest.approx(inside["run_time"].sum())
    assert found.cores == pytest.approx(0.5, rel=0.1)


def test_work_of_shared_cores_is_cpu_time_and_load_is_told_by_node():
    kinds = {"job": {"work": {"name": "exponential", "mean": 1.0}, "tasks": 2}}
    scenario = {
        "workload": {"synthetic": {"jobs": 5000, "arrivals": {"name": "exponential", "mean": 2.5}, "types": kinds}},
        "cluster": {"nodes": {"count": 2, "cores": 1, "max_load": 50}},
        "execution": {"model": "processor-sharing"},
    }
    result = api.simulate(scenario, policy="fcfs")
    done = result.throughput(0, float(result.jobs["end"].max()))
    assert done.core_seconds == pytest.approx(2 * result.scenario.read_workload().column("run_time").sum() / 1e6)
    load = result.series.filter(result.series["series"] == "load")
    assert load["entity"].unique().sort().to_list() == ["cluster/0", "cluster/1"]
    width = float(np.diff(load["time"].unique().sort().to_numpy()[:2])[0])
    assert load["value"].sum() * width == pytest.approx(2 * result.jobs["held_time"].sum())


def test_quantiles_of_student_are_those_of_the_tables():
    for probability, freedom, value in (
        (0.975, 1, 12.7062),
        (0.975, 10, 2.22814),
        (0.9995, 31, 3.63346),
        (0.95, 1000, 1.64638),
    ):
        assert student_quantile(probability, freedom) == pytest.approx(value, abs=2e-5)
        assert student_quantile(1 - probability, freedom) == pytest.approx(-value, abs=2e-5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measure": "respones"}, "response"),
        ({"settle": -1}, "settle"),
        ({"settle": 1e9}, "nothing is left"),
        ({"sample": 0}, "longer than zero"),
        ({"sample": 1e9}, "too few samples"),
        ({"batches": 1}, "at least 2"),
        ({"confidence": 95}, "between 0 and 1"),
    ],
)
def test_mistakes_are_told(runs, options, words):
    with pytest.raises(InputError, match=words):
        runs[0].steady(**options)
