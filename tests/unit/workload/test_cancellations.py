"""Impatient users, drawn: as many and as patient as was asked for, and the same under every policy."""

from __future__ import annotations

import numpy as np
import pytest

from walltime import api
from walltime.core.errors import InputError
from walltime.core.workload import MISSING, Workload
from walltime.scenario import dump, parse
from walltime.workload.cancellations import draw_cancellations

SIZE = 20_000


@pytest.fixture(scope="module")
def many() -> Workload:
    return Workload.from_columns(job_id=range(SIZE), submit=range(SIZE), run_time=[5] * SIZE, requested_time=[9] * SIZE)


@pytest.mark.parametrize(
    ("distribution", "quantiles"),
    [("lognormal", {0.5: 1.0, 0.8413: np.e}), ("exponential", {0.5: np.log(2), 0.8: np.log(5)}), ("fixed", {0.5: 1.0})],
)
def test_patience_is_distributed_as_asked(many, distribution, quantiles):
    drawn = draw_cancellations(many, 1, 0.25, 600.0, distribution).column("patience")
    known = drawn[drawn != MISSING] / 600e6
    assert abs(len(known) / SIZE - 0.25) < 0.015  # five standard deviations
    for share, value in quantiles.items():
        assert np.quantile(known, share) == pytest.approx(value, rel=0.1)


def test_another_seed_draws_others(many):
    first, again, other = (draw_cancellations(many, seed, 0.5, 60).column("patience") for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_job_keeps_its_patience_in_another_workload(many):
    half = draw_cancellations(many.select(np.arange(0, SIZE, 2)), 3, 0.5, 60).column("patience")
    assert np.array_equal(half, draw_cancellations(many, 3, 0.5, 60).column("patience")[::2])


def test_an_earlier_cancellation_of_the_trace_is_kept():
    jobs = Workload.from_columns(submit=[5, 5, 5], run_time=[1] * 3, cancel=[6, 99, None])
    assert draw_cancellations(jobs, 0, 1.0, 10, "fixed", running=True).column("cancel").tolist() == [
        6_000_000,
        15_000_000,
        15_000_000,
    ]


def test_two_policies_see_the_same_users(many):
    """One core with twice the work: those who give up waiting differ, their patience does not."""
    results = [
        api.simulate(many.select(np.arange(200)), cores=1, policy=policy, seed=4,
                     cancellations={"share": 0.5, "after": "2m"})
        for policy in ("fcfs", "ljf")
    ]  # fmt: skip
    for result in results:
        assert result.audit() == []
        reasons = result.summary["cancelled_reasons"]
        assert reasons == {"its user gave up waiting": result.summary["cancelled"]}
        assert result.summary["cancelled"] > 30
    waits = [result.scenario.read_workload().column("patience").tolist() for result in results]
    assert waits[0] == waits[1]


def test_running_jobs_are_withdrawn_where_asked(many):
    jobs = many.select(np.arange(50))
    result = api.simulate(
        jobs, cores=50, cancellations={"share": 1, "after": 2, "distribution": "fixed", "running": True}
    )
    assert set(result.jobs["run_time"]) == {2.0}
    assert result.summary["cancelled_reasons"] == {"by its user": 50}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"share": 2, "after": 5}, "must be a share"),
        ({"share": 0.1}, "after"),
        ({"share": 0.1, "after": 0}, "longer than zero"),
        ({"share": 0.1, "after": 5, "spread": -1}, "from 0 to 10"),
        ({"share": 0.1, "after": 5, "distribution": "normal"}, "lognormal"),
    ],
)
def test_mistakes(many, given, message):
    with pytest.raises(InputError, match=message):
        parse({"workload": {"table": many}, "cancellations": given})


def test_the_keys_are_written_and_read_again():
    keys = {
        "dependencies": {"never": "stay", "unknown": "met", "preceding": True},
        "deadlines": "cancel",
        "cancellations": {"share": 0.1, "after": "2h", "distribution": "exponential"},
    }
    import yaml

    scenario = parse({"workload": "x.swf"} | keys)
    again = parse(yaml.safe_load(dump(scenario)))
    assert (again.dependencies, again.deadlines, again.cancellations) == (
        scenario.dependencies,
        "cancel",
        scenario.cancellations,
    )
