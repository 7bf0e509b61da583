"""The periodic rhythm's parameters and economy, and a rhythm of one's own."""

from __future__ import annotations

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND
from walltime.engine import native
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.source import Observer
from walltime.policy.api import Rhythm
from walltime.scenario import parse


def run(jobs, rhythm, **scheduler):
    """Jobs as (submit, cores, run) on 4 cores."""
    submit, size, length = zip(*jobs, strict=True)
    table = walltime.Workload.from_columns(submit=submit, cores=size, run_time=length, requested_time=length)
    return walltime.simulate(table, cores=4, policy={"order": "fcfs", "rhythm": rhythm} | scheduler)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("sched_interval", 0),
        ("sched_min_interval", -1),
        ("default_queue_depth", 0),
        ("bf_interval", 0.5),
        ("bf_window", 0),
        ("bf_resolution", True),
        ("bf_max_job_test", 0),
        ("bf_max_job_user", "2"),
        ("defer", 1),
        ("bf_continue", False),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused_by_name(parameter, value):
    with pytest.raises(InputError, match=parameter):
        run([(0, 1, 1)], {"name": "periodic", parameter: value})


@pytest.mark.parametrize(
    ("rhythm", "backfill", "message"),
    [
        ({"name": "periodic", "sched_interval": -1}, "none", "no job would ever start"),
        ({"name": "periodic"}, {"name": "easy", "alpha": 0.5}, "alpha"),
    ],
)
def test_what_does_not_go_together_is_refused(rhythm, backfill, message):
    with pytest.raises(InputError, match=message):
        run([(0, 1, 1)], rhythm, backfill=backfill)


def test_passes_that_would_change_nothing_do_not_take_place():
    """For a day nothing happens: 1,440 main and 2,880 backfill passes fall away, and none keeps the clock going."""
    day = 86400
    result = run([(0, 4, day), (1, 4, 10)], "periodic")
    assert result.jobs["start"].to_list() == [0, day]
    assert result.record.facts["passes"] <= 6


def test_a_finished_simulation_is_over():
    """The timer that the last waiting job asked for is not waited for."""
    ends = []

    class Watcher:
        def attach(self, simulation):
            self.simulation = simulation

        def progress(self, now, submitted, ended):
            pass

    watcher = Watcher()
    table = walltime.Workload.from_columns(submit=[0, 1], cores=[4, 4], run_time=[10, 5], requested_time=[10, 5])
    walltime.simulate(table, cores=4, policy={"rhythm": {"name": "periodic", "bf_interval": 1000}}, observer=watcher)
    ends.append(watcher.simulation.now)
    assert ends == [15 * SECOND]


def test_another_policy_gets_the_backfill_pass():
    """Lookahead has passes of its own kind; it is called at 30, when C (1 core, 20 s) is behind B (4 cores)."""
    jobs = [(0, 3, 100), (1, 4, 50), (2, 1, 20)]
    assert run(jobs, "periodic", backfill="lookahead").jobs["start"].to_list() == [0, 100, 30]


class EveryTen(Rhythm):
    """A pass every ten seconds."""

    def due(self, now, causes):
        return causes != 0 and now % (10 * SECOND) == 0

    def next(self, now, causes):
        return now - now % (10 * SECOND) + 10 * SECOND if causes else NEVER


def test_a_rhythm_of_ones_own():
    jobs = [(0, 3, 12), (1, 4, 5), (2, 1, 7), (3, 1, 40)]
    assert run(jobs, EveryTen, backfill="easy").jobs["start"].to_list() == [0, 20, 30, 30]
    assert run(jobs, EveryTen(), backfill="aggressive").jobs["start"].to_list() == [0, 20, 10, 30]


def test_a_rhythm_is_a_rhythm():
    with pytest.raises(InputError, match="Rhythm"):
        run([(0, 1, 1)], dict)


class Listener(Observer):
    """Wants to be told of promises."""


@pytest.mark.parametrize("backfill", ["easy", {"name": "depth", "depth": 20}, "conservative", "aggressive"])
@pytest.mark.parametrize("cluster", [{"cores": 64}, {"nodes": "16x4", "sharing": "whole"}])
def test_a_pass_that_nobody_hears_starts_the_same_jobs(cluster, backfill):
    """It plans no more than it has to: what is planned in vain, and told, must not make a difference."""
    random = np.random.default_rng(7)
    length = np.round(random.lognormal(5, 1.3, 800)).astype(int) + 1
    jobs = walltime.Workload.from_columns(
        submit=np.sort(random.integers(0, 30_000, 800)),
        cores=4 * np.minimum(random.geometric(0.25, 800), 16),
        run_time=(length * random.random(800)).astype(int) + 1,
        requested_time=length,
    )
    factors = {"name": "multifactor", "weights": {"age": 10_000, "job_size": 500}, "max_age": "1h", "interval": 60}
    rhythm = {"name": "periodic", "bf_interval": 20, "bf_max_job_test": 30, "sched_interval": 300}
    scheduler = {"order": factors, "backfill": backfill, "rhythm": rhythm}
    scenario = parse({"workload": {"table": jobs}, "cluster": cluster | {"scheduler": scheduler}})
    alone, heard = (native.run(scenario, jobs, observers=observers) for observers in ((), (Listener(),)))
    assert alone.jobs["start"].equals(heard.jobs["start"])
    assert alone.jobs["backfilled"].sum() > 20


def test_the_profile_is_what_a_list_of_every_second_says():
    """Random releases and holds; the earliest fit against a search second by second."""
    random = np.random.default_rng(5)
    for _ in range(200):
        profile, horizon = FreeProfile(), 150
        free = np.full(horizon, int(random.integers(0, 5)))
        profile.begin(0, int(free[0]), 1)
        for time in np.sort(random.integers(1, 30, int(random.integers(0, 6)))):
            units = int(random.integers(1, 4))
            profile.release(int(time), units)
            free[time:] += units
        for _ in range(100):  # more than it remembers
            units, length = (int(random.integers(1, 6)) for _ in range(2))
            fits = [t for t in range(horizon - length) if (free[t : t + length] >= units).all()]
            start = profile.earliest(units, length)
            assert start == (fits[0] if fits else NEVER)
            assert profile.fits(units, length) == (bool(fits) and fits[0] == 0)
            if fits and random.random() < 0.15:
                profile.hold(start, start + length, units)
                free[start : start + length] -= units


def test_slurm_keeps_a_place_where_enough_nodes_are_free_but_no_neighbours():
    """Nodes 0 and 2 are free, node 1 is not until 1000: two neighbours are kept from then on, and node 2 is not."""
    length = [100, 1000, 100, 50, 2000, 2000]
    jobs = {"submit": [0, 0, 0, 200, 201, 202], "cores": [1, 1, 1, 2, 1, 1], "nodes": [1, 1, 1, 2, 1, 1]}
    table = walltime.Workload.from_columns(run_time=length, requested_time=length, **jobs)
    scheduler = {"place": "contiguous", "backfill": "conservative", "rhythm": {"name": "slurm", "bf_interval": 30}}
    result = walltime.simulate({"workload": table, "cluster": {"nodes": "3x1", "scheduler": scheduler}})
    assert result.jobs["start"].to_list() == [0, 0, 0, 1000, 230, 1050]


@pytest.mark.parametrize("first", [[], [{"name": "before", "start": 10, "length": 10, "nodes": "n1"}]])
@pytest.mark.parametrize("backfill", ["none", "conservative"])
def test_slurms_passes_know_of_a_reservation_also_when_another_has_begun_before(first, backfill):
    """From 40 to 60 node 1 is shut: too few nodes are left to the first job, which wants both for 30 s. So it does not
    stop the queue, and the second has node 0 at once, until 125."""
    jobs = walltime.Workload.from_columns(
        submit=[15, 25],
        run_time=[30, 100],
        requested_time=[30, 100],
        cores=[2, 1],
        nodes=[2, 1],
        cores_per_node=[1, 1],
    )
    kept = [*first, {"name": "kept", "start": 40, "length": 20, "nodes": "n1"}]
    scheduler = {"backfill": backfill, "rhythm": "slurm"}
    cluster = {"nodes": {"count": 2, "cores": 1, "name": "n"}, "reservations": kept, "scheduler": scheduler}
    result = walltime.simulate({"cluster": cluster, "workload": {"table": jobs}})
    assert result.jobs["start"].to_list() == [125, 25]
