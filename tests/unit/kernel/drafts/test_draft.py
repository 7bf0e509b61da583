"""A plan that is being changed, against sums over all of its jobs."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planning import free_over_time, make_plan
from walltime.core.errors import PolicyError
from walltime.core.time import SECOND


@pytest.mark.parametrize("seed", range(8))
def test_what_is_tried_is_kept_or_undone_to_the_core(seed):
    rng = random.Random(seed)
    planned = make_plan(seed, jobs=rng.randint(2, 60), cores=rng.choice([4, 30]))
    draft = planned.open()
    for _ in range(150):
        before, steps = draft.starts().tolist(), draft.steps()
        if rng.random() < 0.3 and draft.size > 1:
            draft.sort()
            source, target = rng.sample(range(draft.size), 2)
            draft.move_in_sequence(source, target)
        else:
            out = rng.sample(range(draft.size), rng.randint(1, min(4, draft.size)))
            for i in out:
                draft.take_out(i)
            for i in out:
                draft.put(i, draft.earliest(i, rng.choice([0, rng.randint(0, 300)])))
        assert draft.is_whole()
        after = draft.starts().tolist()
        assert draft.steps() == free_over_time(planned, after)
        assert min(free for time, free in draft.steps() if time >= draft.now) >= 0
        if rng.random() < 0.5:
            draft.keep()
            assert draft.starts().tolist() == after
        else:
            draft.undo()
            assert draft.starts().tolist() == before
            assert draft.steps() == steps
    kept = draft.starts().tolist()
    given = [planned.jobs.promise[slot] for slot in planned.slots]
    pairs = zip(planned.slots, given, kept, strict=True)
    assert draft.changes() == [(slot, new) for slot, old, new in pairs if old != new]
    draft.close()
    assert planned.ledger.plan.steps() == free_over_time(planned, given)


def test_closing_leaves_the_ledger_as_it_was():
    planned = make_plan(3, jobs=20, cores=6)
    steps = planned.ledger.plan.steps()
    draft = planned.open()
    draft.take_out(4)
    draft.take_out(7)
    draft.put(7, draft.earliest(7))
    draft.close()
    assert planned.ledger.plan.steps() == steps
    with pytest.raises(PolicyError, match="not being changed"):
        draft.take_out(1)


def test_a_re_ordering_is_the_sequence_placed_again():
    planned = make_plan(5, jobs=30, cores=5)
    draft = planned.open()
    draft.sort()
    order = np.argsort(draft.starts(), kind="stable").tolist()
    draft.move_in_sequence(20, 3)
    order.insert(3, order.pop(20))
    starts = dict(zip(order[:3], draft.starts()[order[:3]].tolist(), strict=True))
    assert all(starts[i] == planned.jobs.promise[planned.slots[i]] for i in order[:3])
    for i in order[3:]:
        starts[i] = earliest_by_looking(planned, starts, i)
    assert draft.starts().tolist() == [starts[i] for i in range(draft.size)]


def earliest_by_looking(planned, starts, i):
    """The first instant from which the job's cores are free beside those that have a start already."""
    length, cores = planned.length[i], planned.cores[i]
    time = planned.ledger.now
    while True:
        if all(used_at(planned, starts, t) + cores <= planned.capacity for t in range(time, time + length)):
            return time
        time += 1


def used_at(planned, starts, time):
    running = sum(cores for cores, end in planned.running if time < end)
    return running + sum(planned.cores[i] for i, s in starts.items() if s <= time < s + planned.length[i])


def test_questions_that_make_no_sense_are_refused():
    draft = make_plan(1, jobs=4, cores=4).open()
    with pytest.raises(PolicyError, match="4 is not the number of a job of the plan, which has 4"):
        draft.take_out(4)
    with pytest.raises(PolicyError, match="in it already"):
        draft.put(0, 0)
    draft.take_out(0)
    with pytest.raises(PolicyError, match="out already"):
        draft.take_out(0)
    with pytest.raises(PolicyError, match="no room"):
        draft.put(0, -5)


def test_single_jobs_and_then_all_behind_one_are_undone_together():
    """What an operator of one's own may do in one change."""
    planned = make_plan(4, jobs=12, cores=6, unit=SECOND)
    draft = planned.open()
    steps, starts = planned.ledger.plan.steps(), draft.starts().tolist()
    for _ in range(2):
        draft.take_out(3)
        draft.put(3, draft.earliest(3, draft.end_of_plan()))
        draft.move_in_sequence(2, 7)
        draft.move_in_sequence(5, 1)
        draft.undo()
        assert planned.ledger.plan.steps() == steps
        assert draft.starts().tolist() == starts


def test_jobs_are_not_placed_again_while_one_is_out_nor_beyond_the_plan():
    draft = make_plan(4, jobs=12, cores=6, unit=SECOND).open()
    with pytest.raises(PolicyError, match="12 is not the number of a job of the plan, which has 12"):
        draft.move_in_sequence(0, 12)
    draft.take_out(3)
    with pytest.raises(PolicyError, match="a job is out of the plan"):
        draft.move_in_sequence(2, 7)
