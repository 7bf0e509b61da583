"""What the native engine refuses by name, before a job runs."""

from __future__ import annotations

import pytest

from walltime.api import simulate
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.engine.native import unsupported
from walltime.scenario import parse

MINUTES = {"running_core_minutes": 5}


@pytest.mark.parametrize(
    "rules",
    [
        {"limits": [MINUTES]},
        {"limits": [{"per": "user", "running_core_minutes": 1}]},
        {"queues": {"q": MINUTES}},
        {"queues": {"q": {"per_group": MINUTES}}},
    ],
)
def test_core_minutes_of_jobs_that_may_run_on(rules):
    """A job that outlives its request has no time that it may still run, so such a limit has no meaning."""
    cluster = {"cores": 4} | rules
    site = {"workload": {"trace": "jobs.swf"}, "cluster": cluster}
    assert unsupported(parse(site)) == []
    refused = unsupported(parse(site | {"execution": {"overrun": "extend"}}))
    assert refused == [("execution.overrun", "extend, together with a limit on running_core_minutes")]


def test_of_several_clusters_one_is_enough():
    clusters = [{"name": "a", "cores": 4}, {"name": "b", "cores": 4, "limits": [MINUTES]}]
    site = {"workload": {"trace": "jobs.swf"}, "clusters": clusters, "broker": "first"}
    assert unsupported(parse(site)) == []
    assert [key for key, _ in unsupported(parse(site | {"execution": {"overrun": "extend"}}))] == ["execution.overrun"]


@pytest.mark.parametrize("reservations", [[], [{"name": "r0", "start": 100, "length": 10}]])
@pytest.mark.parametrize("machine", [{"cores": 4}, {"nodes": "2x2"}])
def test_a_reservation_that_no_job_can_use_is_told(machine, reservations):
    """There is none of that name, or it is maintenance; whatever else the cluster has."""
    jobs = Workload.from_columns(submit=[0], run_time=[5], requested_time=[5], cores=[1], reservation=["r0"])
    with pytest.raises(InputError, match="a reservation that no job can use: 'r0'"):
        simulate({"workload": {"table": jobs}, "cluster": machine | {"reservations": reservations}})
