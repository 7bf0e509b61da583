"""The description of a workload, checked by hand on a few jobs."""

import json

import pytest

from walltime.core.workload import Origin, Workload
from walltime.workload.describe import describe


def five(**other):
    jobs = Workload.from_columns(
        submit=[0, 3600, 3600, 7200, 86_400],
        run_time=[3600, 1800, None, 7200, 3600],
        requested_time=[7200, 900, 60, 7200, None],
        cores=[1, 2, 4, 3, 20],
        user=["ann", "bo", "ann", "ann", None],
        cancel=[None, None, 4000, None, None],
        recorded_wait=[10, 20, 400, None, 30],
    )
    return jobs.replace(jobs.columns, **other)


def test_by_hand():
    facts = describe(five(machine_cores=10))
    assert facts["jobs"] == 5
    assert facts["span"] == 86_400
    assert facts["jobs_per_day"] == 5
    assert facts["core_hours"] == pytest.approx(1 + 1 + 6 + 20)
    assert facts["offered_load"] == pytest.approx(28 / 240)
    assert (facts["users"], facts["groups"], facts["queues"]) == (2, None, None)
    assert facts["run_time"]["min"] == 1800
    assert facts["requested_time"]["max"] == 7200
    assert facts["accuracy"]["median"] == 1.0
    assert facts["cores"]["median"] == 3
    assert facts["recorded_wait"] == {"min": 10, "p25": 15, "median": 20, "p75": 25, "p95": 29, "max": 30}
    assert facts["serial_share"] == pytest.approx(0.2)
    assert facts["power_of_two_share"] == pytest.approx(0.6)
    assert facts["killed_at_limit"] == 1
    assert facts["missing_requests"] == 1
    assert facts["larger_than_machine"] == 1
    assert facts["cancelled_before_start"] == 1
    assert facts["busiest_users"][0] == {"user": "ann", "jobs": 3, "core_hours": pytest.approx(7)}
    assert facts["arrivals_by_hour"][:4] == [2, 2, 1, 0]
    json.dumps(facts)


def test_the_machine_may_be_given():
    assert describe(five(machine_cores=10), cores=20)["larger_than_machine"] == 0
    facts = describe(five())
    assert (facts["offered_load"], facts["larger_than_machine"]) == (None, None)


def test_hours_are_local_where_the_origin_is_known():
    # 2002-07-28 07:04:05 UTC is 9:04 in Stockholm
    facts = describe(five(origin=Origin(1027839845.0, "Europe/Stockholm")))
    assert facts["first_submission"] == "2002-07-28T09:04:05+02:00"
    assert facts["arrivals_by_hour"][9:12] == [2, 2, 1]
    assert describe(five(origin=Origin(1027839845.0, "Nowhere/Land")))["arrivals_by_hour"][7:10] == [2, 2, 1]


def test_one_job_has_no_rate():
    facts = describe(Workload.from_columns(submit=[5], run_time=[1]), cores=4)
    assert (facts["jobs_per_day"], facts["offered_load"], facts["requested_time"]) == (None, None, None)
