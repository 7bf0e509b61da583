"""A plan of jobs with nodes by name: what is known of gaps is what the ledger would say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from walltime.cluster.requests import Request
from walltime.core.time import NEVER
from walltime.kernel.draft_nodes import NodeDraft
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policy import registry
from walltime.scenario import Part


def make_draft(rng: random.Random, nodes: int, waiting: int) -> Any:
    """Nodes of 8 cores and 16 of memory; some jobs run, the others are promised their earliest starts."""
    jobs: Any = JobTable()
    place = registry.build("place", Part(name="first-fit"))
    table = np.tile([8, 16], (nodes, 1))
    ledger: Any = ResourceLedger(jobs, Hardware(table, place, resources=("cores", "memory")))
    slots = []
    while len(slots) < waiting:
        each, count, length = (rng.randint(1, 8), rng.randint(0, 16)), rng.randint(1, nodes), rng.randint(1, 30)
        slot = jobs.add(0, 0, length, each[0] * count)
        jobs.estimate[slot] = length
        jobs.shape[slot] = ledger.intern(Request(each[0] * count, count, each), 0)
        if rng.random() < 0.3 and ledger.fits(slot):
            jobs.expected_end[slot] = length
            ledger.take(slot)
            continue
        start = ledger.earliest(slot, 0)
        ledger.hold(slot, start)
        jobs.promise[slot] = start
        slots.append(slot)
    draft: Any = NodeDraft()
    draft.open(ledger, np.array(slots, np.int64), len(slots))
    return draft


@pytest.mark.parametrize("seed", range(6))
def test_what_is_known_of_gaps_is_what_the_ledger_says(seed: int) -> None:
    """Jobs are moved, kept and undone; each is asked about again and again."""
    rng = random.Random(seed)
    draft = make_draft(rng, rng.choice([2, 5]), rng.choice([3, 25]))
    slots = draft.slots()
    for _ in range(120):
        some = rng.sample(range(draft.size), rng.randint(1, min(3, draft.size)))
        for i in some:
            draft.take_out(i)
        for i in some:
            for after in [0, *(rng.randint(0, draft.end_of_plan() + 5) for _ in range(3))]:
                assert draft.earliest(i, after) == draft.ledger.earliest(slots[i], after)
            start = draft.earliest(i, rng.choice([0, rng.randint(0, 200)]))
            assert start < NEVER
            draft.put(i, start)
        if rng.random() < 0.5:
            draft.keep()
        else:
            draft.undo()
