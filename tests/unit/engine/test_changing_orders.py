"""Orders whose keys change every so often, and that are told who starts and stops."""

import pytest

import walltime
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.kernel.jobs import JobTable
from walltime.policy.api import Order
from walltime.policy.surroundings import Surroundings


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
