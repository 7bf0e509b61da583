"""Each job has a number of its own, however large those are that the workload gives."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.core.workload import Workload
from walltime.workload.numbering import number_apart

LAST = (1 << 63) - 1


@pytest.mark.parametrize("number", [7, 1 << 31, (1 << 53) + 1, 1 << 62, LAST])
def test_two_jobs_with_one_number(number):
    jobs = Workload.from_columns(
        job_id=[number, number, 1], submit=[0, 1, 2], run_time=[5] * 3, requested_time=[5] * 3, cores=[1] * 3,
        dependencies=["", "", f"after:{number}"],
    )  # fmt: skip
    result = api.simulate(jobs, cores=1)
    assert result.audit() == []
    assert result.jobs["start"].to_list() == [0, 5, 10]
    assert result.jobs["job_id"].n_unique() == 3
    assert result.jobs["job_id"][0] == number
    assert result.record.facts["renumbered"] == 1


def test_numbers_apart():
    ids, count = number_apart(np.array([LAST, 3, LAST, 3, -1], np.int64))
    assert (ids.tolist(), count) == ([LAST, 3, 4, 5, -1], 2)
    assert number_apart(np.array([5, 2, 9], np.int64))[1] == 0
