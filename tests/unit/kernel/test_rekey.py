"""Waiting jobs whose keys change all at once: the queue against a sorted list."""

import random

import numpy as np
import pytest

from walltime.core.time import NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.queue import OrderedQueue
from walltime.kernel.sorting import sort_slots

KINDS = {
    "groups": lambda rng, ranks, slot: ranks[slot % 7],
    "anything": lambda rng, ranks, slot: rng.randrange(50),
    "the same order": lambda rng, ranks, slot: slot * 3 + 1,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("widest", [1, 12, 300])
def test_a_queue_whose_keys_change_stays_in_order(kind, widest):
    rng = random.Random(f"{kind} {widest}")
    jobs = JobTable()
    queue = OrderedQueue(jobs, widest)
    waiting = []
    for step in range(900):
        if rng.random() < (0.7 if step < 500 else 0.4) or not waiting:
            slot = jobs.add(0, 0, rng.randrange(40), rng.randint(1, widest))
            jobs.key[slot] = rng.randrange(60)
            queue.push(slot)
            waiting.append(slot)
        else:
            slot = waiting.pop(rng.randrange(len(waiting)))
            queue.remove(slot)
            jobs.drop(slot)
        if step % 5 == 0:
            ranks = [rng.randrange(9) for _ in range(7)]
            for slot in waiting:
                jobs.key[slot] = KINDS[kind](rng, ranks, slot)
            queue.reorder()
        line = sorted(waiting, key=lambda slot: (jobs.key[slot], jobs.seq[slot]))
        assert queue.slots() == line
        if line:
            cores, window = rng.randint(1, widest), rng.choice([NEVER, rng.randrange(40)])
            after = rng.choice([-1, rng.choice(line)])
            behind = line[line.index(after) + 1 :] if after >= 0 else line
            fitting = [slot for slot in behind if jobs.cores[slot] <= cores and jobs.estimate[slot] <= window]
            assert queue.find(cores, 0, window, after, NEVER) == (fitting[0] if fitting else -1)


@pytest.mark.parametrize("runs", [1, 2, 3, 17, 400])
def test_sorting_takes_up_what_is_in_order(runs):
    rng = random.Random(runs)
    jobs = JobTable()
    slots = np.array([jobs.add(0, 0, 0, 1) for _ in range(400)])
    keys = np.concatenate([np.sort([rng.randrange(30) for _ in range(400 // runs + 1)]) for _ in range(runs)])[:400]
    expected = sorted(zip(keys.tolist(), slots.tolist(), strict=True))
    sort_slots(jobs, slots, keys, 400)
    assert list(zip(keys.tolist(), slots.tolist(), strict=True)) == expected
