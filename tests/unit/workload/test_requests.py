"""Filling missing requests: exactly, by the maximum, by the accuracy of the other jobs."""

import numpy as np
import pytest

from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.workload.requests import fill_requests


def trace(requests, runs=None):
    runs = runs or [10 * (i + 1) for i in range(len(requests))]
    return Workload.from_columns(submit=range(len(requests)), run_time=runs, requested_time=requests)


def filled(workload, how, seed=0):
    after, count = fill_requests(workload, how, seed)
    return (after.column("requested_time") / 1e6).tolist(), count


def test_nothing_missing_is_the_same_object():
    jobs = trace([50, 60])
    assert fill_requests(jobs, "model") == (jobs, 0)


def test_exact():
    assert filled(trace([50, None, None]), "exact") == ([50, 20, 30], 2)


def test_max():
    assert filled(trace([50, None, 40]), "max") == ([50, 50, 40], 1)
    assert filled(trace([None, None]), "max") == ([20, 20], 2)


def test_an_absent_column_is_missing_throughout():
    jobs = Workload.from_columns(submit=[0, 1], run_time=[3, 4])
    assert filled(jobs, "exact") == ([3, 4], 2)


def test_model_draws_from_the_accuracy_of_the_others():
    runs = [10.0] * 4000
    requests = [20.0] * 1000 + [100.0] * 1000 + [None] * 2000
    requests[0] = 5  # ran longer than it asked: as if exact, never a request below the run time
    values, count = filled(trace(requests, runs), "model", seed=3)
    assert count == 2000
    drawn = np.array(values[2000:])
    assert set(np.round(drawn, 6)) <= {10.0, 20.0, 100.0}
    assert abs(np.mean(drawn == 100.0) - 0.5) < 5 * np.sqrt(0.25 / 2000)
    assert values[:2000] == requests[:2000]


@pytest.mark.filterwarnings("error")
def test_a_request_of_no_time_is_one_that_was_outrun():
    assert filled(trace([0, None], runs=[10, 30]), "model") == ([0, 30], 1)


def test_model_depends_on_the_job_not_on_its_neighbours():
    jobs = trace([20, 30, 90, *[None] * 20])
    whole = dict(zip(jobs.column("job_id").tolist(), filled(jobs, "model", 1)[0], strict=True))
    jobs = jobs.replace(jobs.columns | {"job_id": jobs.column("job_id")})
    part = jobs.select(np.arange(len(jobs)) != 5)
    values = dict(zip(part.column("job_id").tolist(), filled(part, "model", 1)[0], strict=True))
    assert values.items() <= whole.items()
    assert filled(jobs, "model", 1) != filled(jobs, "model", 2)


def test_model_needs_something_to_learn_from():
    with pytest.raises(InputError, match="exact or max"):
        fill_requests(trace([None, None]), "model")


def test_a_job_that_never_ran_needs_a_request():
    with pytest.raises(InputError, match="without a run time"):
        fill_requests(trace([None], [None]), "exact")


def test_unknown_way():
    with pytest.raises(InputError, match="choices"):
        fill_requests(trace([None]), "maximum")
