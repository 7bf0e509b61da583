"""The compiled band against the rule in plain words."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.workload.synthesis.band import keep_within
from walltime.workload.synthesis.load_control import hold, press


def keep_plainly(work, least, most, spare):
    """The same, one job after another."""
    kept, added_at, total = [], [], 0.0
    for row, amount in enumerate(work):
        if total > 0 and total > most[row]:
            continue
        kept.append(row)
        total += amount
        while total < least[row] and len(added_at) < len(spare):
            total += spare[len(added_at)]
            added_at.append(row)
    return kept, list(range(len(added_at))), added_at


@pytest.mark.parametrize("seed", range(40))
def test_it_keeps_and_adds_as_the_plain_rule_does(seed):
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 200))
    work, spare = random.exponential(10.0, count), random.exponential(10.0, int(random.choice([0, 3, 500])))
    least = np.cumsum(random.exponential(random.choice([2.0, 10.0, 20.0]), count))
    most = least + random.choice([0.0, 5.0, 50.0])
    asked = []

    def more(given):
        """A few at a time, as long as there are any."""
        asked.append(given)
        return spare[: given + 7]

    found = keep_within(work, least, most, more)
    assert [rows.tolist() for rows in found] == list(map(list, keep_plainly(work, least, most, spare)))
    assert asked == sorted(set(asked)) or asked[-1] >= len(spare)


def test_under_pressure_a_job_is_dropped_at_the_band_itself_and_the_first_is_taken():
    times, work = np.array([0.0, 10.0, 10.0, 20.0]), np.array([10.0, 10.0, 5.0, 1.0])
    held = press(times, work, lambda count: np.full(count + 1, 3.0), 1, 0.9, 1.0)
    assert held.kept.tolist() == [0, 3]  # at 10 s the first one's 10 core-seconds are all that one core can do
    assert held.added_at.tolist() == [3, 3, 3]  # 10 + 1 + 3 x 3 reaches 18


def test_a_band_without_spare_jobs_adds_none():
    held = hold(np.array([0.0, 1e6]), np.array([1.0, 1.0]), np.empty(0), 1.0, 10, 0.1)
    assert held.kept.tolist() == [0, 1]
    assert held.added.tolist() == []
