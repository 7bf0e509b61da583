"""What the tables of a result tell of jobs that were still there when the simulation ended."""

from __future__ import annotations

import walltime
from walltime import Workload


def test_a_running_job_tells_the_queue_that_it_came_to():
    """One job may run in `long`, so the second one, which names both queues, is in `short`, cut off or not."""
    jobs = Workload.from_columns(submit=[0, 1], run_time=[50, 50], cores=[1, 1], queue=["long", "long,short"])
    cluster = {"cores": 4, "queues": {"long": {"running_jobs": 1}, "short": {}}}
    whole = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    cut = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster, "until": 20})
    for result in (whole, cut):
        assert result.jobs["queue"].cast(str).to_list() == ["long", "short"]
        assert result.audit() == []
    assert cut.jobs["state"].cast(str).to_list() == ["running", "running"]
