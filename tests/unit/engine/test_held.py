"""For how long limits kept jobs waiting: where that is counted, and where it is not."""

from __future__ import annotations

import pytest

import walltime
from walltime.core.workload import Workload

LIMIT = [{"per": "user", "running_jobs": 1}]


@pytest.mark.parametrize(
    ("rhythm", "limits", "held"),
    [
        ("instant", LIMIT, {"user ann": pytest.approx(1.0)}),
        ("slurm", LIMIT, None),
        ("slurm", [], {}),
    ],
)
def test_what_is_not_counted_is_not_told_as_nothing(rhythm, limits, held):
    jobs = Workload.from_columns(
        submit=[0, 0], run_time=[3600, 60], requested_time=[3600, 60], cores=[1, 1], user=["ann", "ann"]
    )
    cluster = {"nodes": "2x2", "limits": limits, "scheduler": {"rhythm": rhythm}}
    result = walltime.simulate({"workload": {"table": jobs}, "cluster": cluster})
    assert result.jobs["wait"][1] == pytest.approx(3600, abs=60) if limits else result.jobs["wait"][1] < 60
    assert result.summary["held"] == held
    assert result.record.facts["held"] == held
