"""Sizing against Erlang's formula: the fewest servers of M/M/c for a wanted mean wait, from noisy runs."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.analysis.queueing import erlang_c
from walltime.analysis.solving import SearchGoal, solve

ARRIVALS = 8.0  # a second; each is served for a second on average
SERVERS = range(9, 25)
RUNS = 600
WANTED = SearchGoal(bound=0.10, zone=0.25, error=0.01, most=120)


def simulate(random: np.random.Generator, servers: int, jobs: int = 900, settle: int = 200) -> np.ndarray:
    """The mean wait of each of many runs of M/M/c in order of arrival (Kiefer and Wolfowitz's recursion)."""
    free = np.zeros((RUNS, servers))
    now, waits, rows = np.zeros(RUNS), np.zeros(RUNS), np.arange(RUNS)
    for job in range(jobs):
        now += random.exponential(1 / ARRIVALS, RUNS)
        chosen = free.argmin(axis=1)
        wait = np.maximum(0.0, free[rows, chosen] - now)
        free[rows, chosen] = now + wait + random.exponential(1.0, RUNS)
        if job >= settle:
            waits += wait
    return waits / (jobs - settle)


def theory(servers: int) -> float:
    return erlang_c(servers, ARRIVALS) / (servers - ARRIVALS)


@pytest.fixture(scope="module")
def pool():
    random = np.random.Generator(np.random.Philox(21))
    return [simulate(random, servers) for servers in SERVERS]


def test_the_fewest_servers_are_found_or_one_inside_the_zone_in_95_of_100_seeds(pool):
    """Right: it holds there, by more than the zone it does not fail there, nor hold with one server less."""
    right, runs = 0, []
    for seed in range(100):
        order = np.random.Generator(np.random.Philox(seed)).permuted(np.tile(np.arange(RUNS), (len(pool), 1)), axis=1)
        found = solve(lambda place, count, order=order: pool[place][order[place][:count]], len(SERVERS), WANTED)
        servers = SERVERS[found.place]
        low, high = WANTED.bound - WANTED.width, WANTED.bound + WANTED.width
        right += theory(servers) < high and theory(servers - 1) > low
        runs.append(found.runs)
        assert len(found.trials) <= 9
    assert right >= 95
    assert max(runs) > min(runs)  # repetitions are added only where they are needed
    exact = next(servers for servers in SERVERS if theory(servers) < WANTED.bound)
    assert SERVERS[0] < exact < SERVERS[-1]
