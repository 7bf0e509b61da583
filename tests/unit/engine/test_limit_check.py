"""Limits that are looked at every so often, or may be outlived by some time: by hand, and as the twin has it."""

from __future__ import annotations

from typing import Any

import pytest

from twin import reference
from walltime import api
from walltime.analysis.audit.schedule import audit
from walltime.core.errors import InputError
from walltime.core.workload import Workload
from walltime.scenario import parse

ROWS = [(0, 50, 60), (7, 1000, 60), (8, 62, 60), (30, 1000, 60), (35, 25, 20)]
"""Submission, run time, request."""


def scenario(**execution: Any) -> Any:
    submit, run_time, requested = zip(*ROWS, strict=True)
    table = Workload.from_columns(submit=submit, run_time=run_time, requested_time=requested, cores=[1] * len(ROWS))
    return parse({"workload": {"table": table}, "cluster": {"nodes": "1x5"}, "execution": execution})


@pytest.mark.parametrize(
    ("execution", "ends", "states"),
    [
        ({}, [50, 67, 68, 90, 55], "CTTTT"),
        ({"limit_check": 30}, [50, 90, 70, 90, 60], "CTCTC"),
        ({"overtime": 4}, [50, 71, 70, 94, 59], "CTCTT"),
        ({"overtime": 4, "limit_check": 30}, [50, 90, 70, 120, 60], "CTCTC"),
    ],
)
def test_when_jobs_are_killed(execution, ends, states):
    given = scenario(**execution)
    result = api.simulate(given)
    jobs = result.jobs.sort("job_id")
    assert jobs["end"].to_list() == ends
    assert "".join(state[0].upper() for state in jobs["state"].to_list()) == states
    assert [one.end / 1e6 for one in reference.simulate(given)] == ends
    assert result.audit() == []


def test_the_audit_blames_who_outlives_even_that():
    result = api.simulate(scenario(limit_check=30))
    result.record.facts["limit_slack"] = 1.0
    assert {one.rule for one in audit(result)} == {"limit", "state"}


@pytest.mark.parametrize("key", ["overtime", "limit_check"])
def test_where_no_job_is_killed_they_are_refused(key):
    with pytest.raises(InputError, match=f"has {key}, but no job is killed"):
        scenario(overrun="extend", **{key: 30})
