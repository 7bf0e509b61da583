"""The options of backfilling on schedules worked out by hand, and the packing against trying everything."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import walltime
from walltime.core.errors import InputError
from walltime.policies.backfill.packing import choose
from walltime.policies.order.length import Ljf


def starts(jobs, backfill, cores, order="fcfs"):
    """Jobs as (submit, cores, run)."""
    submit, size, run = zip(*jobs, strict=True)
    table = walltime.Workload.from_columns(submit=submit, cores=size, run_time=run, requested_time=run)
    done = walltime.simulate(table, cores=cores, policy={"order": order, "backfill": backfill}).jobs
    return done["start"].to_list()


# Six of eight cores are busy until 10, the head wants all; of the candidates two fit.
BLOCKED = [(0, 6, 10), (0, 8, 5)]
CANDIDATES = [(0, 1, 9), (0, 1, 4), (0, 1, 7), (0, 2, 6)]


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [
        (None, [0, 0, 15, 15]),
        ("sjf", [15, 0, 0, 15]),
        ("ljf", [0, 15, 0, 15]),
        ("largest", [15, 6, 15, 0]),
        (Ljf(), [0, 15, 0, 15]),
        ({"name": "formula", "value": "estimate"}, [0, 15, 0, 15]),
    ],
)
def test_candidates_are_tried_in_their_own_order(candidates, expected):
    """Only what ends by second 10 may start; so once the first have started, most have to wait for the head."""
    assert starts([*BLOCKED, *CANDIDATES], {"name": "easy", "candidates": candidates}, 8) == [0, 10, *expected]


def test_arrivals_of_one_instant_are_tried_in_the_candidates_order():
    """The head is blocked already: the shortcut must not take them in order of arrival."""
    jobs = [*BLOCKED, (3, 2, 6), (3, 1, 2), (3, 1, 5)]
    assert starts(jobs, "easy", 8)[2:] == [3, 15, 15]
    assert starts(jobs, {"name": "easy", "candidates": "sjf"}, 8)[2:] == [15, 3, 3]


def test_aggressive_with_candidates_never_passes_over_a_head_that_fits():
    jobs = [(0, 5, 10), (1, 3, 9), (1, 1, 1), (1, 2, 2)]
    assert starts(jobs, {"name": "aggressive", "candidates": "sjf"}, 8)[1] == 1
    jobs = [(0, 6, 10), (1, 3, 9), (1, 2, 5), (1, 1, 1), (1, 1, 2)]
    assert starts(jobs, "aggressive", 8)[2:] == [1, 6, 6]
    assert starts(jobs, {"name": "aggressive", "candidates": "sjf"}, 8)[2:] == [3, 1, 1]


def test_alpha_lets_the_head_be_late_by_its_share():
    """The head, 8 s long, could start at 10. A candidate that ends at 14 is 4 s late: half of its estimate."""
    jobs = [(0, 6, 10), (0, 8, 8), (2, 2, 12)]
    for alpha, expected in [(0, [0, 10, 18]), (0.4, [0, 10, 18]), (0.5, [0, 14, 2]), (5, [0, 14, 2])]:
        assert starts(jobs, {"name": "easy", "alpha": alpha}, 8) == expected


def test_alpha_does_not_add_up():
    """One late candidate after the other must not push the head further and further."""
    jobs = [(0, 6, 10), (0, 8, 8), (2, 2, 12), (3, 2, 12), (11, 6, 3), (11, 3, 4)]
    assert starts(jobs, {"name": "easy", "alpha": 0.5}, 8)[1] == 14


def test_a_depth_of_two_protects_the_second():
    jobs = [(0, 5, 3), (1, 4, 1), (1, 7, 8), (1, 2, 8)]
    assert starts(jobs, "easy", 8) == [0, 3, 9, 1]
    assert starts(jobs, {"name": "depth", "depth": 1}, 8) == [0, 3, 9, 1]
    assert starts(jobs, {"name": "depth", "depth": 2}, 8) == [0, 3, 4, 12]


def test_lookahead_packs_better_than_queue_order():
    """Four cores are left until 10: 3 and then nothing, or 2 and 2."""
    jobs = [(0, 4, 10), (1, 8, 5), (1, 3, 9), (1, 2, 9), (1, 2, 9)]
    assert starts(jobs, "easy", 8) == [0, 10, 1, 15, 15]
    assert starts(jobs, "lookahead", 8) == [0, 10, 15, 1, 1]
    assert starts(jobs, {"name": "lookahead", "depth": 1}, 8) == [0, 10, 1, 15, 15]


@pytest.mark.parametrize("queues", [["a", "a", "a", "a", "a"], ["a", "a", "part", "a", "part"]])
def test_lookahead_fills_the_nodes_of_its_own_queues(queues):
    """The same on eight of sixteen cores. With all that are free the three of them would seem to fit together."""
    columns = {
        "submit": [0, 1, 1, 1, 1],
        "cores": [4, 8, 3, 2, 2],
        "run_time": [10, 5, 9, 9, 9],
        "requested_time": [10, 5, 9, 9, 9],
        "queue": queues,
    }
    nodes = [{"count": 8, "cores": 1, "name": "a"}, {"count": 8, "cores": 1, "name": "b"}]
    cluster = {
        "nodes": nodes,
        "queues": {"a": {"nodes": "a"}, "part": {"nodes": "a[1-7]"}, "b": {"nodes": "b"}},
        "scheduler": {"backfill": "lookahead", "place": "first-fit"},
    }
    done = walltime.simulate({"cluster": cluster, "workload": {"table": walltime.Workload.from_columns(**columns)}})
    assert done.jobs.sort("job_id")["start"].to_list() == [0, 10, 15, 1, 1]


@pytest.mark.parametrize(
    ("backfill", "words"),
    [
        ({"name": "easy", "alpha": -1}, "alpha must be a number from 0: -1"),
        ({"name": "easy", "alpha": "much"}, "alpha must be a number from 0"),
        ({"name": "easy", "candidates": "sfj"}, "unknown order part: 'sfj'; did you mean 'sjf'"),
        ({"name": "easy", "candidates": 3}, "candidates takes the name of an order"),
        ({"name": "easy", "candidates": {"name": "formula"}}, "needs the parameter value"),
        ({"name": "depth", "depth": 0}, "depth must be a whole number from 1: 0"),
        ({"name": "depth", "depth": 1.5}, "depth must be a whole number from 1"),
        ({"name": "lookahead", "depth": True}, "depth must be a whole number from 1"),
        ({"name": "aggressive", "depth": 1}, "no such parameter: 'depth'"),
    ],
)
def test_wrong_options_are_explained(backfill, words):
    with pytest.raises(InputError, match=words):
        starts(BLOCKED, backfill, 8)


def try_everything(sizes, short, free, extra):
    """The best set by trying all of them, the one with the earliest places among equals."""
    best, found = (0,), []
    for picked in product((True, False), repeat=len(sizes)):
        total = sum(size for size, use in zip(sizes, picked, strict=True) if use)
        long = sum(size for size, use, brief in zip(sizes, picked, short, strict=True) if use and not brief)
        if total <= free and long <= extra and (total, picked) > best:
            best, found = (total, picked), [i for i, use in enumerate(picked) if use]
    return found


def test_the_packing_is_the_best_and_the_first_of_its_like():
    random = np.random.default_rng(7)
    for _ in range(800):
        size = int(random.integers(0, 9))
        free = int(random.integers(0, 14))
        extra = int(random.integers(0, free + 1))
        sizes = random.integers(1, 9, size).tolist()
        short = (random.random(size) < 0.5).tolist()
        assert choose(sizes, short, free, extra) == try_everything(sizes, short, free, extra)
