"""The plan of cores over time against a plain list, on random operations."""

import random
from itertools import pairwise

import pytest

from walltime.core.time import NEVER
from walltime.kernel.profiles.availability import Availability

END = 400


def earliest(cores_free, cores, duration, after, limit):
    """By looking at every time: `cores_free[t]` for t < END, everything free afterwards."""
    for start in range(after, END + 1):
        if start >= limit:
            return NEVER
        if all(cores_free[t] >= cores for t in range(start, min(start + duration, limit, END))):
            return start
    return END


@pytest.mark.parametrize("seed", range(6))
def test_steps_and_searches_agree_with_a_list(seed):
    rng = random.Random(seed)
    capacity = rng.choice([4, 50])
    plan = Availability(capacity)
    cores_free = [capacity] * (END + 1)
    now = 0
    for _ in range(1500):
        start = rng.randint(now, END - 1)
        end = rng.randint(start, END)
        change = rng.choice([-1, 1]) * rng.randint(0, 5)
        if all(0 <= cores_free[t] + change <= capacity for t in range(start, end)):
            plan.add(start, end, change)
            for t in range(start, end):
                cores_free[t] += change
        if rng.random() < 0.02:
            now = min(now + rng.randint(0, 3), END - 50)
            plan.forget(now)
        t = rng.randint(now, END)
        assert plan.at(t) == cores_free[t]
        cores, duration = rng.randint(0, capacity), rng.randint(1, 60)
        limit = rng.choice([NEVER, rng.randint(now, END)])
        after = rng.choice([now, t])
        assert plan.earliest(cores, duration, after, limit) == earliest(cores_free, cores, duration, after, limit)
    steps = plan.steps()
    assert [time for time, _ in steps] == sorted({time for time, _ in steps})
    assert all(a[1] != b[1] for a, b in pairwise(steps[1:])), "equal neighbours are joined"


def test_a_change_for_ever():
    plan = Availability(10)
    plan.add(5, NEVER, -4)
    assert [plan.at(4), plan.at(5), plan.at(10**12)] == [10, 6, 6]
    assert plan.earliest(7, 1, 0, NEVER) == 0
    assert plan.earliest(7, 6, 0, NEVER) == NEVER
    assert plan.earliest(7, 6, 6, NEVER) == NEVER
