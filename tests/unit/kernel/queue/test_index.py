"""The queue's index against a sorted list, on random operations."""

import random

import pytest

from walltime.core.time import NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.queue.index import QueueIndex
from walltime.kernel.queue.waiting import OrderedQueue


def add(jobs, key, cores, estimate):
    slot = jobs.add(0, 0, estimate, cores)
    jobs.key[slot] = key
    return slot


def expected(line, jobs, cores, window, after):
    bound = (-NEVER, -1) if after < 0 else (jobs.key[after], jobs.seq[after])
    for key, seq, slot in line:
        if (key, seq) > bound and jobs.cores[slot] <= cores and jobs.estimate[slot] <= window:
            return slot
    return -1


@pytest.mark.parametrize("keys", ["append", "random", "front", "few"])
@pytest.mark.parametrize("widest", [1, 7, 16, 100, 5000])
def test_finds_what_a_scan_finds(keys, widest):
    rng = random.Random(f"{keys} {widest}")
    jobs = JobTable()
    index = QueueIndex(jobs, widest.bit_length())
    line = []
    for step in range(3000):
        if rng.random() < (0.6 if step < 1500 else 0.4) or not line:
            key = {"append": step, "random": rng.randrange(10**6), "front": -step, "few": rng.randrange(3)}[keys]
            cores = rng.choice([rng.randint(1, widest), min(widest, 1 << rng.randrange(13))])
            slot = add(jobs, key, cores, rng.randrange(30) * (100 if cores < 5 else 1))
            index.insert(slot)
            line.append((key, jobs.seq[slot], slot))
            line.sort()
        else:
            _, _, slot = line.pop(rng.choice([0, rng.randrange(len(line))]))
            index.remove(slot)
            jobs.drop(slot)
        assert index.size == len(line)
        assert index.head() == (line[0][2] if line else -1)
        after = rng.choice([-1, rng.choice(line)[2]]) if line else -1
        cores, window = rng.randint(0, widest), rng.choice([NEVER, rng.randrange(60), rng.randrange(3000)])
        assert index.find(cores, window, after) == expected(line, jobs, cores, window, after)
        if after >= 0:
            assert index.next(after) == expected(line, jobs, NEVER, NEVER, after)


def test_removing_a_job_that_is_not_in_the_line_is_an_error():
    jobs = JobTable()
    index = QueueIndex(jobs, 4)
    slot = add(jobs, 1, 1, 1)
    with pytest.raises(KeyError):
        index.remove(slot)


@pytest.mark.parametrize("most", [12, 60, 1000])
@pytest.mark.parametrize("keys", ["append", "random", "often"])
def test_queue_against_a_sorted_list(keys, most):
    """Also where it becomes short and long again, so that it has an index now and then."""
    rng = random.Random(keys)
    jobs = JobTable()
    queue = OrderedQueue(jobs, 64)
    line = []
    for step in range(4000):
        action = rng.random() + (0.35 if step // most % 2 else 0)
        if action < 0.5 or not line:
            key = {"append": step, "random": rng.randrange(1000), "often": step - 5 * (rng.random() < 0.1)}[keys]
            slot = add(jobs, key, rng.randint(1, 64), rng.randrange(50))
            queue.push(slot)
            line.append((key, jobs.seq[slot], slot))
        elif action < 0.85 or action >= 1:
            slot = rng.choice([line[0], rng.choice(line)])[2]
            queue.remove(slot)
            line = [entry for entry in line if entry[2] != slot]
            jobs.drop(slot)
        elif action < 0.96:
            for i, (_, seq, slot) in enumerate(line):
                jobs.key[slot] = rng.randrange(1000) + step
                line[i] = (jobs.key[slot], seq, slot)
            queue.reorder()
        line.sort()
        assert queue.size == len(line)
        assert queue.head() == (line[0][2] if line else -1)
        if step % 7 == 0:
            assert queue.slots() == [slot for _, _, slot in line]
        if rng.random() < 0.3:
            free, extra, window = rng.randint(0, 64), rng.randint(-3, 64), rng.randrange(60)
            extra = min(free, extra)
            longest = rng.choice([NEVER, rng.randrange(60)])
            after = rng.choice([-1, rng.choice(line)[2]]) if line else -1
            bound = (-NEVER, -1) if after < 0 else (jobs.key[after], jobs.seq[after])
            found = [
                s
                for key, seq, s in line
                if (key, seq) > bound
                and jobs.estimate[s] <= longest
                and (jobs.cores[s] <= extra or (jobs.cores[s] <= free and jobs.estimate[s] <= window))
            ]
            assert queue.find(free, extra, window, after, longest) == (found[0] if found else -1)


def test_a_job_behind_all_others_whose_leaf_is_full_of_separators_of_the_gone():
    """The last leaf is full, and its separator is that of a job that has left: the new one is beyond all who are there
    once everything was built anew."""
    jobs = JobTable()
    index = QueueIndex(jobs, 8)
    slots = [add(jobs, 10 * number, 1, 1) for number in range(128)]
    for slot in slots:
        index.insert(slot)
    index.remove(slots.pop())
    for key in (1265, 1266, 1267):
        slots.append(add(jobs, key, 1, 1))
        index.insert(slots[-1])
        assert index.slots() == slots
    for slot in slots:
        index.remove(slot)
    assert index.size == 0
