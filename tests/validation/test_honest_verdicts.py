"""Verdicts are honest: intervals hold a known truth as often as they say, and false alarms are as rare as they say.

The full set, with more pairs and cases, is `soak_verdicts.py`; its figures are in docs/background/verdicts.md.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from honesty import count_alarms, measure_formula, measure_weeks, simulate_clusters

PAIRS = 2000


def test_intervals_hold_the_truth_of_a_formula_in_93_to_97_of_100_cases():
    """Two M/M/1 queues, mean and 95 % wait, 5, 10 and 30 seeds."""
    found = measure_formula(np.random.Generator(np.random.Philox(7)), PAIRS, 8000)
    assert len(found) == 6
    outside = [one for one in found if not all(0.93 <= share <= 0.97 for share in one.shares)]
    assert not outside


def test_intervals_over_weeks_hold_the_truth_too():
    found = measure_weeks(np.random.Generator(np.random.Philox(8)), 400)
    error = math.sqrt(0.05 * 0.95 / 400)
    assert all(abs(share - 0.95) < 3 * error for share in found.shares)


def test_intervals_over_single_jobs_would_be_dishonest():
    """What the rule is for: taken as repetitions, the jobs of one run give intervals that miss the truth most times."""
    from honesty import find_truth, simulate_queues

    from walltime.analysis.noise import estimate

    waits = simulate_queues(np.random.Generator(np.random.Philox(9)), 200, 1000, (0.7,))[0]
    truth = find_truth("mean_wait", 0.7)
    held = sum(1 for run in waits.T if (found := estimate(run)).low <= truth <= found.high)
    assert held < 0.6 * 200


@pytest.fixture(scope="module")
def clusters():
    return simulate_clusters(150, jobs=60)


def test_false_alarms_among_many_figures_are_rare(clusters):
    """Relabelled seeds of one scenario: two sides against a third in four figures, at most 5 % and two errors."""
    families = 1000
    found = count_alarms(np.random.Generator(np.random.Philox(10)), clusters, families, 10)
    assert found <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / families)
