"""More or fewer users from the same pool."""

from __future__ import annotations

import numpy as np
import pytest
from test_inference import generate, log

from walltime.core.errors import InputError
from walltime.core.time import SECOND
from walltime.workload.users.population import resample
from walltime.workload.users.sessions import infer_acts

WEEK = 7 * 86_400 * SECOND


def of_user(jobs, name):
    return jobs.select(jobs.column("user") == jobs.label_names("user").index(name))


def test_each_drawn_user_does_what_the_users_of_the_log_do_whole_weeks_apart():
    jobs, _ = generate(3, users=8)
    many = resample(jobs, 30, seed=1)
    names = many.label_names("user")
    assert len(names) == len(set(names)) == 30
    assert len(set(many.column("job_id").tolist())) == len(many)
    for name in names:
        theirs, model = of_user(many, name), of_user(jobs, name.split(".")[0])
        shift = set((theirs.column("submit") - model.column("submit")).tolist())
        assert len(shift) == 1
        assert shift.pop() % WEEK == 0
        for column in ("run_time", "recorded_wait"):
            assert theirs.column(column).tolist() == model.column(column).tolist()
    assert int(many.column("submit").min()) >= int(jobs.column("submit").min())
    assert int(many.column("submit").max()) <= int(jobs.column("submit").max())
    infer_acts(many)


def test_a_larger_population_has_all_users_of_a_smaller_one():
    jobs, _ = generate(3, users=8)
    few, many = resample(jobs, 5, seed=1), resample(jobs, 9, seed=1)
    for name in few.label_names("user"):
        assert of_user(few, name).column("submit").tolist() == of_user(many, name).column("submit").tolist()
    assert resample(jobs, 9, seed=2).label_names("user") != many.label_names("user")


def test_jobs_without_a_user_stay_and_a_log_without_users_is_refused():
    mixed = log(("", 0, 0, 1), ("a", 1, 0, 1))
    assert np.count_nonzero(resample(mixed, 3, 0).column("user") < 0) == 1
    with pytest.raises(InputError, match="no users"):
        resample(log(("", 0, 0, 1)), 3, 0)
    with pytest.raises(InputError, match="name other jobs"):
        resample(log(("a", 0, 0, 1), ("a", 1, 0, 1), dependencies=["", "afterok:1"]), 3, 0)
