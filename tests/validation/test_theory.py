"""The simulator against queueing theory: inside a 99.9 % interval that is at most 2 % of the value wide to each side.

Every system is also broken on purpose, and then theory must lie outside.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from systems import Interval, System, arrivals, make_systems, mean_response, shared

from walltime import api
from walltime.analysis.queueing import response_mmc, response_sharing
from walltime.core.random import stream
from walltime.policy.api import Broker

SYSTEMS = make_systems()


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_theory_lies_in_a_narrow_interval(system: System):
    found = system.estimate()
    assert found.narrow(system.theory), f"{found.half / system.theory:.2%} of the value: too few jobs to tell"
    assert found.holds(system.theory), f"{found.mean:g} ± {found.half:g}, theory {system.theory:g}"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_broken_system_is_found_out(system: System):
    found = system.estimate(min(system.runs, 10), settings=system.broken)
    assert not found.holds(system.theory), f"{found.mean:g} ± {found.half:g} would pass for {system.theory:g}"


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_jobs_in_the_system_are_rate_times_response(system: System):
    """Little's law, exactly: from empty to empty the integral of the jobs in the system is the sum of responses."""
    result = system.run(seed=1)
    jobs = result.jobs.filter(result.jobs["state"] != "rejected")
    series = result.series
    width = float(np.diff(series["time"].unique().sort().to_numpy()[:2])[0])
    present = series.filter(series["series"].is_in(["running_jobs", "waiting_jobs"]))
    assert float(present["value"].sum()) * width == pytest.approx(float((jobs["end"] - jobs["submit"]).sum()), rel=1e-9)


def test_round_robin_tends_to_processor_sharing_as_its_quantum_shrinks():
    """The same jobs, so that what differs is the quantum alone; constant work, where first come first served differs
    most. One round of turns of everybody is what a quantum can make of a difference."""
    gaps = []
    for quantum in (1.0, 0.1, 0.01, 0.001):
        differences = [
            mean_response(_share(seed, "time-shared", quantum=quantum))
            - mean_response(_share(seed, "processor-sharing"))
            for seed in range(1, 5)
        ]
        gaps.append(float(np.mean(np.abs(differences))))
    assert gaps[0] > 0.1
    assert all(later < earlier / 3 for earlier, later in pairwise(gaps))
    assert gaps[-1] < 0.001 * response_sharing(0.7, 1)


def test_a_switch_that_costs_time_keeps_round_robin_from_it():
    """Broken on purpose: a tenth of every slice is lost, which a load of 0.7 feels as 0.77."""
    costly = _share(1, "time-shared", quantum=0.01, switch_cost=0.001)
    assert mean_response(costly) > 1.15 * mean_response(_share(1, "processor-sharing"))


def test_round_robin_with_a_quantum_beyond_every_job_is_first_come_first_served():
    shared_time, plain = _share(1, "time-shared", quantum=1e6), _share(1, "trace")
    assert shared_time.jobs["end"].equals(plain.jobs["end"])


def _share(seed: int, model: str, **parameters: float):
    cluster = {"cores": 1} if model == "trace" else shared()
    scenario = {
        "workload": arrivals(0.7, 1.0, 10_000),
        "cluster": cluster,
        "execution": {"model": {"name": model, **parameters}},
    }
    return api.simulate(scenario, seed=seed, policy="fcfs")


class Random(Broker):
    """Sends each job to a cluster drawn for it alone."""

    def __init__(self, seed: int) -> None:
        self.random = stream(seed, "routing")

    def route(self, slot, clusters):
        return int(self.random.integers(len(clusters)))


@pytest.mark.parametrize(("clusters", "fair"), [(3, True), (3, False)])
def test_random_routing_makes_independent_queues(clusters, fair):
    """A Poisson stream that is divided at random is three Poisson streams; taking turns, or a shorter queue, is not."""
    rate, values = 0.6, []
    for seed in range(1, 37):
        names = [{"name": f"c{number}", "cores": 1, "scheduler": {"backfill": "none"}} for number in range(clusters)]
        scenario = {"workload": arrivals(clusters * rate, jobs=20_000), "clusters": names}
        broker = Random(seed) if fair else Turns()
        values.append(mean_response(api.simulate(scenario, seed=seed, broker=broker)))
    found, expected = Interval.of(values), response_mmc(rate, 1)
    assert found.narrow(expected)
    assert found.holds(expected) == fair


class Turns(Broker):
    """Broken on purpose: the clusters in turn."""

    def __init__(self) -> None:
        self.last = 0

    def route(self, slot, clusters):
        self.last = (self.last + 1) % len(clusters)
        return self.last
