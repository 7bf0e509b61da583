"""The ledger of cores against sums over every job and every hold, on random operations."""

import random

import pytest

from walltime.core.errors import EngineError
from walltime.core.time import NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.cores import CoreLedger

CAPACITY = 12
HORIZON = 200


class Model:
    """Every question answered by looking at every moment."""

    def __init__(self):
        self.now, self.running, self.holds = 0, {}, {}

    def left(self, time, slot=None):
        busy = sum(cores for cores, end in self.running.values() if end > time)
        held = sum(cores for other, (cores, start, end) in self.holds.items() if other != slot and start <= time < end)
        return CAPACITY - busy - held

    def fits(self, slot, cores, estimate):
        free = CAPACITY - sum(cores for cores, _ in self.running.values())
        return cores <= free and all(self.left(t, slot) >= cores for t in range(self.now, self.now + estimate))

    def earliest(self, slot, cores, estimate, after):
        for start in range(after, HORIZON):
            if all(self.left(t, slot) >= cores for t in range(start, start + estimate)):
                return start
        return NEVER


@pytest.mark.parametrize("seed", range(40))
def test_questions_and_changes_agree_with_sums(seed):
    rng = random.Random(seed)
    jobs, model = JobTable(), Model()
    ledger = CoreLedger(jobs, CAPACITY)
    size = {}
    for _ in range(60):
        model.now += rng.choice([0, 0, 1, 3])
        ledger.set_time(model.now)
        for slot in [slot for slot, (_, end) in model.running.items() if end <= model.now or rng.random() < 0.1]:
            ledger.give(slot)
            del model.running[slot]
        for slot in [slot for slot in model.holds if rng.random() < 0.1 or model.holds[slot][1] < model.now]:
            ledger.unhold(slot)
            del model.holds[slot]
        cores, estimate = rng.randint(1, CAPACITY), rng.randint(1, 20)
        slot = rng.choice(list(model.holds)) if model.holds and rng.random() < 0.4 else jobs.add(0, 0, estimate, cores)
        cores, estimate = size.setdefault(slot, (cores, estimate))
        assert ledger.fits(slot) == model.fits(slot, cores, estimate)
        if slot not in model.holds:
            time = model.earliest(slot, cores, estimate, model.now)
            assert ledger.earliest(slot, model.now) == time
            assert ledger.fits(slot) <= (cores <= ledger.extra or (cores <= ledger.free and estimate <= ledger.window))
        if ledger.fits(slot) and rng.random() < 0.7:
            jobs.expected_end[slot] = model.now + estimate
            ledger.take(slot)
            model.holds.pop(slot, None)
            model.running[slot] = (cores, model.now + estimate)
        elif slot not in model.holds and rng.random() < 0.6:
            ledger.hold(slot, time)
            model.holds[slot] = (cores, time, time + estimate)
        assert ledger.free == CAPACITY - sum(cores for cores, _ in model.running.values())


def test_taking_what_is_not_there_is_an_error():
    jobs = JobTable()
    ledger = CoreLedger(jobs, 4)
    slot = jobs.add(0, 0, 10, 5)
    assert not ledger.possible(slot)
    assert ledger.earliest(slot, 0) == NEVER
    with pytest.raises(EngineError, match="5 cores taken where 4 are free"):
        ledger.take(slot)
