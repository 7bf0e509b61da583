"""Waiting jobs that want so many cores on each of some nodes: the queue looks only where there are such nodes."""

import random

import numpy as np
import pytest

from walltime.core.time import NEVER
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.kernel.queue.waiting import OrderedQueue
from walltime.policy import registry
from walltime.scenario import Part

NODES, CORES = 40, 8


def add(jobs, ledger, rng):
    """A job for some nodes, or for any cores."""
    nodes, each = rng.choice([0, 1, 1, 2, 5, 12]), rng.randint(1, CORES)
    cores = nodes * each - rng.randrange(max(1, nodes)) if nodes else rng.randint(1, 60)
    slot = jobs.add(0, 0, rng.randrange(1, 40), cores)
    jobs.key[slot] = rng.randrange(60)
    jobs.shape[slot] = ledger.intern_plain(cores, nodes, 0, 0)
    return slot


def within(jobs, ledger, slot, bounds, extra, window):
    """Whether the job passes the bounds that the ledger tells of its part."""
    part = ledger.part_of(slot)
    ledger.focus_parts(0)
    free, beside = (ledger.part_free[part], ledger.part_extra[part]) if part else (NEVER, NEVER)
    cores = jobs.cores[slot]
    return cores <= min(extra, beside) or (cores <= min(bounds, free) and jobs.estimate[slot] <= window)


@pytest.mark.parametrize("reorders", [False, True])
def test_the_first_job_within_the_bounds_of_its_part_is_found(reorders):
    rng = random.Random(f"parts {reorders}")
    jobs = JobTable()
    place = registry.build("place", Part(name="best-fit"))
    ledger = ResourceLedger(jobs, Hardware(np.full((NODES, 1), CORES), place, seed=1))
    queue = OrderedQueue(jobs, NODES * CORES, ledger)
    waiting, running, passed, refused = [], [], 0, 0
    for step in range(1200):
        action = rng.random()
        if action < 0.45 or not waiting:
            slot = add(jobs, ledger, rng)
            queue.push(slot)
            waiting.append(slot)
        elif action < 0.65 and ledger.fits(waiting[0]):
            slot = waiting.pop(0)
            queue.remove(slot)
            jobs.expected_end[slot] = 100
            ledger.take(slot)
            running.append(slot)
        elif action < 0.8 and running:
            ledger.give(running.pop(rng.randrange(len(running))))
        elif action < 0.9:
            slot = waiting.pop(rng.randrange(len(waiting)))
            queue.remove(slot)
            jobs.drop(slot)
        if reorders and step % 7 == 0:
            for slot in waiting:
                jobs.key[slot] = rng.randrange(60)
            queue.reorder()
        waiting.sort(key=lambda slot: (jobs.key[slot], jobs.seq[slot]))
        assert queue.slots() == waiting
        if waiting:
            after, window = rng.choice([-1, rng.choice(waiting)]), rng.choice([NEVER, rng.randrange(40)])
            extra = rng.randint(0, ledger.free)
            behind = waiting[waiting.index(after) + 1 :] if after >= 0 else waiting
            good = [slot for slot in behind if within(jobs, ledger, slot, ledger.free, extra, window)]
            refused += sum(jobs.cores[slot] <= extra and slot not in good for slot in behind)
            passed += bool(good)
            assert queue.find(ledger.free, extra, window, after, NEVER) == (good[0] if good else -1)
    assert passed > 300
    assert refused > 100  # by the bounds of its part alone
