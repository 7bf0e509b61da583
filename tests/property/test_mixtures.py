"""Whatever a scenario mixes: it runs to an end without a fault, the audit finds nothing, twice is the same, and a job's
account is that of the whole run though it is simulated only to the job's end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mixtures import draw_mixture

from walltime import api, explaining
from walltime.analysis.explain.explanation import Explanation
from walltime.core.errors import InputError, PolicyError
from walltime.explaining import explain
from walltime.pipeline import prepare

TOGETHER = 20
"""Mixtures in one test."""
LOOKS = 8_000
"""Signs of life, one after every 64 instants, that no run of so few jobs needs: a job that is interrupted in vain has a
thousand attempts, and between two of them nodes fail a hundred times."""


class Patience:
    """Ends a run that goes on and on."""

    def __init__(self) -> None:
        self.looks = 0

    def attach(self, simulation: Any) -> None:
        simulation.every = 0.0

    def progress(self, now: int, submitted: int, ended: int) -> None:
        self.looks += 1
        assert self.looks < LOOKS, f"no end by {now / 1e6:,.0f} s, {ended} of {submitted} jobs"


def check_mixture(seed: int, folder: Path) -> bool:
    """Fail unless all is as it should be; whether the scenario was one that may be."""
    try:
        result = api.simulate(draw_mixture(seed, folder), observer=Patience())
    except PolicyError:
        raise
    except InputError:
        return False
    assert result.audit() == []
    assert api.simulate(draw_mixture(seed, folder)).digest == result.digest
    left = sum(account["jobs"] for account in result.record.facts.get("left", {}).values())
    there = result.summary["waiting"] + result.summary["running"]
    assert left == there or result.scenario is None or result.scenario.until is not None
    if result.jobs.height:
        job = result.jobs["job_id"][seed % result.jobs.height]
        told = explain(result, job)
        assert [cause.start for cause in told.causes] == sorted(cause.start for cause in told.causes)
        assert told == explain_whole(result, job)
    return True


def explain_whole(result: api.Result, job: int) -> Explanation:
    """As `explain` does, but from a simulation that goes on to the end."""
    assert result.scenario is not None
    row = explaining._find_job(result, job)
    watched = explaining._look(result, row, (), prepare(result.scenario), None)
    return explaining._account(result, row, watched, ())


@pytest.mark.parametrize("first", range(0, 200, TOGETHER))
def test_mixtures(first: int, tmp_path: Path) -> None:
    ran = 0
    for seed in range(first, first + TOGETHER):
        try:
            ran += check_mixture(seed, tmp_path)
        except Exception as error:
            error.add_note(f"mixture {seed}")
            raise
    assert ran > TOGETHER // 2
