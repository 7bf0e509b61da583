"""Orders whose keys change every so often, and that are told who starts and stops."""

import numpy as np
import pytest

import walltime
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.kernel.jobs import JobTable
from walltime.kernel.source import Observer
from walltime.pipeline import prepare
from walltime.policy.api import Order
from walltime.policy.surroundings import Surroundings
from walltime.scenario import parse

LIMITS = {"short": 20, "long": 14}


class Turns(Order):
    """Every 100 s the users change places: first the one with the lower number, then the other one."""

    def __init__(self):
        super().__init__()
        self.periodic = True
        self.charges = True
        self.time = 0
        self.told = []
        self.asked = []

    def attach(self, surroundings):
        self.around = surroundings

    def renew(self, now):
        self.time = now // (100 * SECOND) * 100 * SECOND
        return self.time // (100 * SECOND)

    def key(self, jobs, slot):
        turn = self.time // (100 * SECOND) % 2
        return int(jobs.user[slot]) * (-1 if turn else 1)

    def keys(self, jobs, slots, now, keys):
        self.asked.append(now // SECOND)
        for place, slot in enumerate(slots):
            keys[place] = self.key(jobs, slot)

    def started(self, jobs, slot, now, cores):
        self.told.append(("started", int(jobs.job_id[slot]), now // SECOND))

    def stopped(self, jobs, slot, now):
        self.told.append(("stopped", int(jobs.job_id[slot]), now // SECOND))

    def parts(self, jobs, slot, now):
        return {"user": float(jobs.user[slot])}


def jobs_of_two():
    return Workload.from_columns(
        submit=[0] * 8,
        run_time=[60] * 8,
        requested_time=[60] * 8,
        cores=[4] * 8,
        user=["ann", "bob"] * 4,
        queue=["q"] * 8,
    )


@pytest.mark.parametrize("rules", [{}, {"queues": {"q": {}}, "limits": [{"per": "user", "running_cores": 4}]}])
def test_keys_are_renewed_before_the_first_pass_of_each_period(rules):
    order = Turns()
    scenario = {
        "workload": {"table": jobs_of_two()},
        "cluster": {"cores": 4, **rules, "scheduler": {"order": order, "backfill": "none"}},
    }
    result = walltime.simulate(scenario)
    by_start = result.jobs.sort("start")["user"].to_list()
    # passes at 0, 60 | 120, 180 | 240 ... with the users' turns ann | bob | ann | bob ...
    assert by_start == ["ann", "ann", "bob", "bob", "ann", "bob", "bob", "ann"]
    assert order.asked == [0, 120, 240, 300, 420]
    assert order.told[:3] == [("started", 1, 0), ("stopped", 1, 60), ("started", 3, 60)]
    assert len(order.told) == 16
    assert isinstance(order.around, Surroundings)
    assert list(order.around.codes["user"]) == ["ann", "bob"]


def test_an_order_without_parts_has_none():
    assert Order().parts(JobTable(), 0, 0) == {}


@pytest.mark.parametrize(
    "order",
    [
        {"name": "fairshare", "interval": 60},
        {"name": "multifactor", "interval": 60, "weights": {"age": 1000, "fairshare": 2000}},
    ],
)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("backfill", ["easy", "none", "aggressive", {"name": "depth", "depth": 3}, "lookahead"])
def test_jobs_may_get_their_keys_when_the_order_of_their_line_is_asked_for(order, backfill, seed):
    """An observer wants the keys of all jobs at every renewal; without one, lines have theirs later."""
    random = np.random.default_rng(seed)
    size = 600
    length = random.integers(20, 900, size)
    jobs = Workload.from_columns(
        submit=np.sort(random.integers(0, 9_000, size)).tolist(),
        run_time=length.tolist(),
        requested_time=(length * random.integers(1, 4, size)).tolist(),
        cores=random.integers(1, 5, size).tolist(),
        user=[f"u{number}" for number in random.integers(0, 12, size)],
        queue=[("short", "long")[number] for number in random.integers(0, 2, size)],
    )
    queues = {
        name: {"running_cores": cores, "per_user": {"running_cores": 6}, "priority": seed % 2 * cores}
        for name, cores in LIMITS.items()
    }
    scheduler = {"order": order, "backfill": backfill}
    cluster = {"nodes": "8x4", "queues": queues, "scheduler": scheduler, "limits": [{"user": "u0", "running_jobs": 1}]}
    prepared = prepare(parse({"workload": {"table": jobs}, "cluster": cluster}))
    late, eager = (prepared.run(observers=observers) for observers in ((), [Observer()]))
    assert late.facts["held"]
    assert late.jobs.equals(eager.jobs)
    assert late.facts == eager.facts
