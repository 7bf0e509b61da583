"""The exhaustive search finds the optimum, and no policy beats it."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from walltime.policy import registry

TOOL = runpy.run_path(str(Path(__file__).parents[3] / "tools" / "optimum.py"))


def try_every_start(jobs, cores):
    """The least sum of waits over all schedules in whole seconds: every start time of every job."""
    horizon = max(submit for submit, _, _ in jobs) + sum(run for _, _, run in jobs)
    choices = [range(submit, horizon - run + 1) for submit, _, run in jobs]
    best = None
    for starts in product(*choices):
        waited = sum(start - job[0] for start, job in zip(starts, jobs, strict=True))
        if best is not None and waited >= best:
            continue
        used = np.zeros(horizon, int)
        for start, (_, size, run) in zip(starts, jobs, strict=True):
            used[start : start + run] += size
        if used.max() <= cores:
            best = waited
    return best


def test_the_search_finds_what_trying_every_start_finds():
    random = np.random.default_rng(3)
    for _ in range(25):
        cores, size = int(random.integers(2, 5)), int(random.integers(2, 5))
        submit = np.sort(random.integers(0, 3, size)).tolist()
        jobs = [(s, int(random.integers(1, cores + 1)), int(random.integers(1, 4))) for s in submit]
        assert TOOL["find_optimum"](jobs, cores) == try_every_start(jobs, cores), (jobs, cores)


@pytest.mark.parametrize("preset", [preset.name for preset in registry.presets()])
def test_no_policy_beats_the_optimum(preset):
    for number in range(15):
        jobs, cores = TOOL["draw_instance"](number)
        assert TOOL["simulate"](jobs, cores, preset) >= optimum(number)


def optimum(number, known={}):  # noqa: B006 - a cache
    if number not in known:
        known[number] = TOOL["find_optimum"](*TOOL["draw_instance"](number))
    return known[number]


def test_waiting_for_a_job_that_is_still_to_come_can_be_the_best():
    """A long wide job at 0, a short one at 1: the optimum leaves the machine idle for a second."""
    assert TOOL["find_optimum"]([(0, 2, 10), (1, 2, 1)], 2) == 2
    assert TOOL["simulate"]([(0, 2, 10), (1, 2, 1)], 2, "sjf") == 9
