"""Holds by number can always be honoured, and refuse no start that could be honoured: by brute force on a few nodes.

The ledger agrees with its model to the last answer (test_resources_ledger), so the model is what is judged here. It is
compared with all ways to give each hold without names its cores, on nodes that stay the same for as long as it lasts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walltime.cluster.requests import NodeRequest
from walltime.core.random import stream

sys.path.insert(0, str(Path(__file__).parent))
from resource_model import Model, Stay


def divisions(cores: int, room: list[int]) -> Iterator[tuple[int, ...]]:
    """All ways to have so many cores on nodes with that room."""
    if not room:
        if cores == 0:
            yield ()
        return
    for here in range(min(cores, room[0]) + 1):
        for rest in divisions(cores - here, room[1:]):
            yield (here, *rest)


def left_over(model: Model) -> np.ndarray[Any, Any]:
    """Cores that running jobs and named holds leave, by moment from now on and by node."""
    last = max([model.now, *(stay.end for stay in (*model.holds.values(), *model.running.values()))])
    moments = range(model.now, last + 1)
    return np.array([[model.free(node, model.stays(time, -1))[0] for node in range(model.n)] for time in moments])


def honoured(model: Model) -> bool:
    """Whether all holds can have what they keep, each on the same cores throughout."""
    left = left_over(model)
    return bool(left.min(initial=0) >= 0) and _divide(model, left, [h for h in model.holds.values() if h.count])


def _divide(model: Model, left: np.ndarray[Any, Any], holds: list[Stay]) -> bool:
    if not holds:
        return True
    hold = holds[0]
    while_it_lasts = slice(max(0, hold.start - model.now), max(0, hold.end - model.now))
    room = left[while_it_lasts].min(axis=0, initial=99)
    for cores in divisions(hold.count, [int(room[node]) for node in hold.nodes]):
        after = left.copy()
        after[while_it_lasts, list(hold.nodes)] -= np.array(cores)
        if _divide(model, after, holds[1:]):
            return True
    return False


def can_start(model: Model, nodes: list[int], cores: int, length: int) -> bool:
    """Whether some placement of a job without a shape leaves all holds honoured."""
    room = left_over(model)[: max(length, 1)].min(axis=0)
    for shares in divisions(cores, [int(max(0, room[node])) for node in nodes]):
        model.running[-1] = Stay(
            model.now, model.now + max(length, 1), {node: [c] for node, c in zip(nodes, shares, strict=True)}, False
        )
        fine = honoured(model)
        del model.running[-1]
        if fine:
            return True
    return False


class Play:
    """A random sequence of starts, early ends and reservations on one to four nodes with cores alone."""

    def __init__(self, seed: int) -> None:
        self.random = stream(seed, "counted holds")
        n = self.integer(1, 4)
        self.model = Model([[self.integer(1, 3)] for _ in range(n)], [], [0] * n, "first-fit", False)
        self.sets = [list(range(n)), sorted({self.integer(0, n - 1) for _ in range(2)})]
        self.waiting: dict[int, tuple[list[int], NodeRequest, int]] = {}
        self.slots = 0
        self.starts = self.refusals = 0

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def submit(self) -> None:
        nodes = self.sets[self.random.random() < 0.2]
        shaped = self.random.random() < 0.2
        most = sum(self.model.capacity[node][0] for node in nodes)
        request = NodeRequest(1, 1, (1,)) if shaped else NodeRequest(self.integer(1, most), 0, (1,))
        self.waiting[self.slots] = (nodes, request, self.integer(1, 6))
        self.slots += 1

    def step(self) -> None:
        model, draw = self.model, self.random.random()
        if draw < 0.25 or not self.waiting:
            self.submit()
        elif draw < 0.5:
            slot = list(self.waiting)[self.integer(0, len(self.waiting) - 1)]
            nodes, request, length = self.waiting[slot]
            time = model.earliest(nodes, request, length, slot, model.now)
            if time is not None:
                model.hold(nodes, request, length, slot, time)
        elif draw < 0.75:
            self.try_start(list(self.waiting)[self.integer(0, len(self.waiting) - 1)])
        elif draw < 0.85 and model.running:
            del model.running[list(model.running)[self.integer(0, len(model.running) - 1)]]
        else:
            self.move_on()
        assert honoured(model), model

    def try_start(self, slot: int) -> None:
        model = self.model
        nodes, request, length = self.waiting[slot]
        fits = model.fits(nodes, request, length, slot)
        own = model.holds.pop(slot, None)
        numbers = request.nodes == 0 and not model.unclear(nodes, request, model.now, model.now + length, slot)
        if numbers:
            assert fits == can_start(model, nodes, request.cores, length), (slot, model)
            self.refusals += not fits
        if own is not None:
            model.holds[slot] = own
        if fits:
            model.take(nodes, request, length, slot)
            del self.waiting[slot]
            self.starts += 1

    def move_on(self) -> None:
        """The clock goes on; jobs end as expected, and a hold whose time has passed is dropped."""
        self.model.now += 1
        for slot, stay in list(self.model.running.items()):
            if stay.end <= self.model.now:
                del self.model.running[slot]
        for slot, hold in list(self.model.holds.items()):
            if hold.start < self.model.now:
                del self.model.holds[slot]


@pytest.mark.parametrize("part", range(2))
def test_holds_by_number_are_honoured_and_refuse_nothing_that_could_be(part):
    starts = refusals = counted = mixed = 0
    for seed in range(150 * part, 150 * part + 150):
        play = Play(seed)
        for _ in range(30):
            play.step()
            kinds = {hold.count > 0 for hold in play.model.holds.values()}
            counted += True in kinds
            mixed += len(kinds) == 2
        starts += play.starts
        refusals += play.refusals
    assert min(starts, refusals, counted, mixed) > 100  # or little was tested
