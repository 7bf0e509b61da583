"""After a trial a ledger answers as before, whatever was taken off it in between."""

from __future__ import annotations

import numpy as np
import pytest

from walltime.cluster.requests import NodeRequest
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable, add_blocker
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.ledger.trial import Trial
from walltime.policy import registry
from walltime.scenario import Part

NODES = np.array([1])  # of two nodes with four cores each


class Machine:
    """Eight cores: four run until 100, two are shut until 50 (a node, where there are nodes), two more from 200 on."""

    def __init__(self, kind: str) -> None:
        self.jobs = JobTable()
        if kind == "nodes":
            place = registry.build("place", Part(name="first-fit"))
            self.ledger = ResourceLedger(self.jobs, Hardware(np.array([[4], [4]]), place))
        else:
            self.ledger = {"cores": CoreLedger, "plan": PlanLedger}[kind](self.jobs, 8)
        self.nodes = NODES if kind == "nodes" else None
        self.runs = self.add(3, 100)
        self.jobs.expected_end[self.runs] = 100
        self.ledger.take(self.runs)
        self.shut, self.to_come = add_blocker(self.jobs, 4), add_blocker(self.jobs, 4)
        self.ledger.shut(self.shut, self.nodes, 50)
        self.ledger.keep_shut(self.to_come, self.nodes, 200, 300)
        self.waiting = [self.add(cores, length) for cores in (1, 2, 4, 5, 8) for length in (10, 120, 400)]

    def add(self, cores: int, estimate: int) -> int:
        slot = int(self.jobs.add(0, estimate, estimate, cores))
        if isinstance(self.ledger, ResourceLedger):
            self.jobs.shape[slot] = self.ledger.intern(NodeRequest(cores, 0, (1,)), 0)
        return slot

    def answers(self) -> list[tuple[bool, int]]:
        return [(bool(self.ledger.fits(slot)), int(self.ledger.earliest(slot, 0))) for slot in self.waiting]


@pytest.fixture(params=["cores", "plan", "nodes"])
def machine(request):
    return Machine(request.param)


def test_a_trial_sees_what_is_gone_and_leaves_all_as_it_was(machine):
    before = machine.answers()
    trial = Trial()
    for _ in range(2):
        trial.begin(machine.ledger)
        trial.take_away(machine.runs)
        trial.take_away(machine.shut)
        trial.lift(machine.to_come, machine.nodes, 200, 300)
        assert machine.answers() == [(True, 0)] * len(machine.waiting)
        trial.end()
        assert machine.answers() == before


def test_one_by_one(machine):
    """Eight cores for 10: with the running job back from 100 on, with what is shut as well no earlier."""
    whole, small = machine.waiting[-3], machine.waiting[3]
    trial = Trial()
    trial.begin(machine.ledger)
    trial.take_away(machine.shut)
    trial.take_away(machine.runs)
    assert machine.ledger.earliest(whole, 0) == 0
    trial.bring_back(machine.runs)
    assert machine.ledger.earliest(whole, 0) == 100
    assert machine.ledger.fits(small)
    trial.bring_back(machine.shut)
    assert machine.ledger.earliest(whole, 0) == 100
    assert not machine.ledger.fits(small)
    trial.end()


def test_draining_nodes_take_jobs_for_the_time_of_a_trial():
    machine = Machine("nodes")
    machine.ledger.drain([0], True)
    one = machine.waiting[0]
    assert not machine.ledger.fits(one)
    trial = Trial()
    trial.begin(machine.ledger)
    trial.open_up([0])
    assert machine.ledger.fits(one)
    trial.end()
    assert not machine.ledger.fits(one)
