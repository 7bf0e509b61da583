"""Slurm's planner together with reservations, failures, preemption, limits and queues that share nodes: it runs to an
end, the audit finds nothing, no job is lost, and twice is the same."""

from __future__ import annotations

from typing import Any

import pytest
from disruption_scenarios import draw_disrupted
from test_mixtures import Patience
from test_slurm_rhythm_twin import BACKFILLS, draw_planner

from walltime import api
from walltime.core.errors import InputError, PolicyError

TOGETHER = 20
ENDED = ("completed", "timeout", "cancelled", "failed", "rejected")


def draw_mixture(seed: int, kind: str) -> dict[str, Any]:
    site, workload = draw_disrupted(seed, kind)
    scheduler = site["cluster"]["scheduler"]
    scheduler["rhythm"] = {"name": "slurm"} | draw_planner(seed, kind)
    scheduler["backfill"] = BACKFILLS[seed % len(BACKFILLS)]
    if seed % 2:
        scheduler.pop("place", None)
    return site | {"workload": {"table": workload}, "seed": seed}


@pytest.mark.parametrize("kind", ["plain", "vectors"])
@pytest.mark.parametrize("first", range(0, 60, TOGETHER))
def test_the_planner_goes_together_with_whatever_gets_in_the_way(first: int, kind: str) -> None:
    ran = 0
    for seed in range(first, first + TOGETHER):
        drawn = draw_mixture(seed, kind)
        try:
            result = api.simulate(drawn, observer=Patience())
        except PolicyError:
            raise
        except InputError:
            continue
        ran += 1
        assert result.audit() == [], (seed, kind)
        assert api.simulate(draw_mixture(seed, kind)).digest == result.digest
        jobs = drawn["workload"]["table"]
        bound = set(jobs.column("job_id")[jobs.column("reservation") >= 0].tolist())
        left = result.jobs.filter(~result.jobs["state"].is_in(ENDED))
        assert set(left["job_id"]) <= bound, (seed, kind)  # whose reservation is over before it could start
    assert ran > TOGETHER // 2
