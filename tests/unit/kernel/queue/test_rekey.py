"""Waiting jobs whose keys change all at once: the queue against a sorted list."""

import random

import numpy as np
import pytest

from walltime.core.time import NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.queue.sorting import sort_by
from walltime.kernel.queue.waiting import OrderedQueue

KINDS = {
    "groups": lambda rng, ranks, slot: ranks[slot % 7],
    "anything": lambda rng, ranks, slot: rng.randrange(50),
    "the same order": lambda rng, ranks, slot: slot * 3 + 1,
    "nearly the same order": lambda rng, ranks, slot: slot // 2 + rng.randrange(3),
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


@pytest.mark.parametrize("widest", [3, 40, 700])
def test_jobs_that_join_together_with_new_keys_are_found(widest):
    """Short lives, so that many counts of cores have never been met when the queue is searched."""
    rng = random.Random(widest)
    for _ in range(400):
        jobs = JobTable()
        queue = OrderedQueue(jobs, widest)
        for _ in range(rng.randint(1, 4)):
            for _ in range(rng.randint(1, 3)):
                slot = jobs.add(0, 0, rng.randrange(4), rng.randint(1, widest))
                jobs.key[slot] = rng.randrange(9)
                queue.push(slot)
            for slot in queue.slots():
                jobs.key[slot] = rng.randrange(9)
            queue.reorder()
            cores, window = rng.randint(1, widest), rng.choice([NEVER, 2])
            fitting = [slot for slot in queue.slots() if jobs.cores[slot] <= cores and jobs.estimate[slot] <= window]
            assert queue.find(cores, 0, window, -1, NEVER) == (fitting[0] if fitting else -1)
            for slot in queue.slots():
                if rng.random() < 0.5:
                    queue.remove(slot)
                    jobs.drop(slot)


MANY = 5_000  # enough for every way of sorting
SHAPES = {
    "in order": lambda rng: np.arange(MANY),
    "upside down": lambda rng: np.arange(MANY)[::-1] // 3,
    "all alike": lambda rng: np.zeros(MANY),
    "two runs": lambda rng: np.arange(MANY) % (MANY // 2),
    "nearly in order": lambda rng: np.arange(MANY) // 3 + rng.integers(0, 3, MANY),
    "nearly in order, but for the last": lambda rng: np.append(
        np.arange(MANY - 1) // 3 + rng.integers(0, 3, MANY - 1), 0
    ),
    "nearly in order, then anything": lambda rng: np.maximum(np.arange(MANY), rng.integers(0, MANY, MANY)),
    "short runs": lambda rng: np.arange(MANY) % 7,
    "groups": lambda rng: rng.permutation(40)[np.arange(MANY) // 125],
    "groups of which some have the same key": lambda rng: rng.integers(0, 9, 40)[np.arange(MANY) // 125],
    "a digit": lambda rng: rng.integers(0, 2_000, MANY),
    "several digits": lambda rng: rng.integers(-(1 << 30), 1 << 30, MANY),
    "any number": lambda rng: rng.integers(-(1 << 62), 1 << 62, MANY),
    "the ends of all numbers": lambda rng: rng.choice([-(1 << 63) + 1, 0, (1 << 63) - 1], MANY),
}


@pytest.mark.parametrize("few", [0, 1, 2, 37, MANY])
@pytest.mark.parametrize("ties", [1, 50, 1 << 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_sorting_is_stable_and_right(shape, ties, few):
    rng = np.random.default_rng(len(shape) + ties + few)
    keys = SHAPES[shape](rng).astype(np.int64)[:few].copy()
    second = rng.integers(0, ties, len(keys))
    items = np.arange(len(keys))
    expected = sorted(zip(keys.tolist(), second.tolist(), items.tolist(), strict=True))
    sort_by(keys, second, items, len(keys))
    assert list(zip(keys.tolist(), second.tolist(), items.tolist(), strict=True)) == expected


@pytest.mark.parametrize("users", [1, 100, 0])
def test_sorting_anew_moves_no_more_than_n_log_n(users):
    """Jobs of users who change places are moved once each; where everybody does, n log n times at the most."""
    rng = np.random.default_rng(users)
    for size in (500, 4_000, 20_000):
        jobs = JobTable()
        queue = OrderedQueue(jobs, 64)
        for _ in range(size):
            queue.push(jobs.add(0, 0, 1, 1))
        owner = rng.integers(0, users or size, size)
        for _ in range(3):
            before = queue.sorter.moves
            jobs.key[:size] = rng.permutation(users or size)[owner]
            queue.reorder()
            most = size * np.log2(size)
        assert queue.slots() == sorted(range(size), key=lambda slot: (jobs.key[slot], slot))
        assert queue.sorter.moves - before <= (most if not users else 1.5 * size + users * np.log2(users))


@pytest.mark.parametrize(("size", "spread"), [(300, 30), (5_000, 40), (5_000, 2_000)])
def test_priorities_that_grow_alike_and_are_cut_to_whole_numbers(size, spread):
    """Half of each number's jobs go on to the next: runs of one key are merged, two and more of them."""
    random = np.random.default_rng(size + spread)
    values = random.random(size) * spread
    ties = np.arange(size)
    order = np.lexsort((ties, np.floor(values)))
    for _ in range(5):
        values += 0.45 * (random.random(size) < 0.9)
        keys, items = np.floor(values[order]).astype(np.int64), order.astype(np.int64)
        arrays = keys.copy(), ties[order].astype(np.int64), items.copy()
        sort_by(*arrays, size)
        order = np.lexsort((ties, np.floor(values)))
        assert np.array_equal(arrays[2], order)
        assert np.array_equal(arrays[0], np.floor(values[order]))
        assert np.array_equal(arrays[1], ties[order])
