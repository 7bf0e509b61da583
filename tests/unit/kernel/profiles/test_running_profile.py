"""Running jobs by expected end against a plain list, on random operations over many blocks."""

import random

import pytest

from walltime.kernel.profiles.running_profile import RunningProfile


@pytest.mark.parametrize("times", [1, 300, 10**9])
def test_entries_are_those_of_a_list(times):
    rng = random.Random(times)
    profile, jobs = RunningProfile(), []
    for step in range(12_000):
        if not jobs or rng.random() < (0.9 if step < 7000 else 0.02):
            jobs.append((rng.randrange(times), step, rng.randrange(100)))
            profile.insert(*jobs[-1])
        else:
            profile.remove(*jobs.pop(rng.randrange(len(jobs)))[:2])
        if step % 500 == 0:
            assert profile.entries() == sorted(jobs)
    assert profile.entries() == sorted(jobs)
    with pytest.raises(KeyError):
        profile.remove(times, -1)
