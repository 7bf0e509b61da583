"""The cores by expected end against a plain list, on random operations."""

import random

import pytest

from walltime.core.time import NEVER
from walltime.kernel.profiles.release_profile import ReleaseProfile


def when(jobs, need):
    total = 0
    for time in sorted({time for time, _ in jobs}):
        total += sum(cores for end, cores in jobs if end == time)
        if total >= need:
            return time, total
    return NEVER, total


@pytest.mark.parametrize("times", [5, 300, 10**9])
@pytest.mark.parametrize("share", [0.45, 0.6])
def test_answers_are_those_of_a_list(times, share):
    rng = random.Random(f"{times} {share}")
    profile, jobs = ReleaseProfile(), []
    for step in range(3000):
        if not jobs or rng.random() < (share if step < 2500 else 0.2):
            jobs.append((rng.randrange(times), rng.randint(0, 9)))
            profile.insert(*jobs[-1])
        else:
            profile.remove(*jobs.pop(rng.randrange(len(jobs))))
        if step % 7:
            continue
        need, time = rng.randint(1, 10 + 5 * len(jobs)), rng.randrange(times)
        assert (profile.when(need), profile.released) == when(jobs, need)
        if profile.when(need) < NEVER:
            assert profile.released_by(profile.when(need)) == profile.released
        assert profile.released_by(time) == sum(cores for end, cores in jobs if end <= time)
        assert profile.next_end(time) == min((end for end, cores in jobs if end > time and cores > 0), default=NEVER)
    held = {end: sum(cores for other, cores in jobs if other == end) for end, cores in jobs if cores > 0}
    assert profile.entries() == sorted(held.items())


def test_cores_that_are_not_there_are_an_error():
    profile = ReleaseProfile()
    profile.insert(5, 3)
    for time, cores in ((4, 1), (5, 4), (6, 3)):
        with pytest.raises(KeyError):
            profile.remove(time, cores)
    profile.remove(5, 3)
    with pytest.raises(KeyError):
        profile.remove(5, 1)
