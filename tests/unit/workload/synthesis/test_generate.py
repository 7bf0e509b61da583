"""The synthetic model keeps its promises: load, rhythm, sizes, requests, users; the same for the same seed."""

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.workload.describe import describe
from walltime.workload.generate import Model, generate


@pytest.mark.parametrize("jobs", [50, 1000, 20_000])
@pytest.mark.parametrize(("cores", "load"), [(1, 0.5), (64, 0.9), (1000, 1.3)])
@pytest.mark.parametrize("rhythm", [True, False])
def test_offered_load(jobs, cores, load, rhythm):
    workload = generate(jobs, cores, load, seed=jobs, model=Model(rhythm=rhythm))
    span = int(workload.column("submit")[-1] - workload.column("submit")[0])
    work = int(np.sum(workload.column("cores") * workload.column("run_time")))
    assert abs(work / (cores * span) - load) < 0.02
    assert workload.machine_cores == cores
    assert int(workload.column("cores").max()) <= cores


def test_same_seed_same_jobs():
    one, two, other = (generate(500, 64, 0.8, seed=seed) for seed in (4, 4, 5))
    assert all(np.array_equal(one.column(name), two.column(name)) for name in one.columns)
    assert not np.array_equal(one.column("run_time"), other.column("run_time"))


def test_shapes():
    facts = describe(generate(50_000, 512, 0.8))
    assert abs(facts["serial_share"] - 0.3) < 0.02
    assert facts["power_of_two_share"] > 0.8
    assert abs(facts["run_time"]["median"] / 1200 - 1) < 0.1
    assert abs(facts["killed_at_limit"] / facts["jobs"] - 0.05) < 0.01
    assert facts["missing_requests"] == 0
    assert facts["queues"] == 2
    assert facts["users"] == 60
    assert facts["busiest_users"][0]["jobs"] > 50_000 / 60 * 3


def test_requests_are_human_or_exact_or_short():
    jobs = generate(20_000, 64, 0.8)
    run, request = jobs.column("run_time"), jobs.column("requested_time")
    assert abs(np.mean(run == request) - 0.1) < 0.02
    longer = request[request > run]
    assert np.all(longer % 300_000_000 == 0)


def test_rhythm_of_day_and_week():
    seconds = generate(100_000, 100, 0.8, seed=2).column("submit") / 1e6
    hours = np.bincount((seconds // 3600 % 24).astype(int), minlength=24)
    days = np.bincount((seconds // 86_400 % 7).astype(int), minlength=7)
    assert hours[14] > 5 * hours[3]
    assert days[2] > 1.8 * days[6]
    flat = generate(100_000, 100, 0.8, seed=2, model=Model(rhythm=False)).column("submit") / 1e6
    flat_hours = np.bincount((flat // 3600 % 24).astype(int), minlength=24)
    assert flat_hours.max() < 1.15 * flat_hours.min()


def test_one_job_one_core():
    assert generate(1, 1, 1.0).column("submit").tolist() == [0]


@pytest.mark.parametrize(
    "arguments", [(0, 4, 0.5), (5, 0, 0.5), (5, 4, 0), (5, 4, -1), (5, 4, float("nan")), (5, 4, 1000)]
)
def test_impossible_arguments(arguments):
    with pytest.raises(InputError, match="generate"):
        generate(*arguments)


@pytest.mark.parametrize("wrong", [{"serial": 1.5}, {"users": 0}, {"median_run": 0}, {"spread_run": -1}])
def test_impossible_models(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Model(**wrong)
