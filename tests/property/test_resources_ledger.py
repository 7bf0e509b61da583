"""The ledger of resources and a slow model of it agree on every answer, over random sequences of operations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from walltime.cluster.requests import NodeRequest
from walltime.core.random import stream
from walltime.core.time import NEVER
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policy import registry
from walltime.scenario import Part

sys.path.insert(0, str(Path(__file__).parent))
from resource_model import Model

PLACES = ("first-fit", "best-fit", "worst-fit", "topology", "contiguous")


def longest_run(nodes: list[int]) -> int:
    """How many consecutive numbers there are at most."""
    best, run = 0, 0
    for place, node in enumerate(sorted(nodes)):
        run = run + 1 if place and node - 1 in nodes else 1
        best = max(best, run)
    return best


class Pair:
    """A ledger and its model, side by side, and the jobs that they are asked about."""

    def __init__(self, seed: int, place: str) -> None:
        self.random = stream(seed, f"resources.{place}")
        self.draw_cluster(place)
        self.sets: list[list[int]] = []
        self.jobs: Any = JobTable()
        nodes = Hardware(
            np.array(self.model.capacity),
            registry.build("place", Part(name=place)),
            whole=self.model.whole,
            switches=self.model.switches,
            licences=tuple(self.model.licences),
        )
        self.ledger = ResourceLedger(self.jobs, nodes)
        for mask in [np.ones(self.model.n, bool), *(self.random.random((2, self.model.n)) < 0.6)]:
            number = self.ledger.add_set(mask)
            if number == len(self.sets):
                self.sets.append([int(node) for node in np.flatnonzero(mask)])
        self.waiting: list[int] = []
        self.request: dict[int, NodeRequest] = {}
        self.of: dict[int, list[int]] = {}
        self.story: list[str] = []

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high + 1))

    def draw_cluster(self, place: str) -> None:
        kinds = self.integer(1, 3)
        n = self.integer(1, 6)
        capacity = [[self.integer(1, 6)] + [self.integer(0, 8) for _ in range(kinds - 1)] for _ in range(n)]
        licences = [self.integer(0, 4) for _ in range(self.integer(0, 2))]
        switches = sorted(self.integer(0, 2) for _ in range(n))
        self.model = Model(capacity, licences, switches, place, self.random.random() < 0.2)

    def draw_request(self) -> NodeRequest:
        model = self.model
        nodes = self.integer(0, min(3, model.n)) if self.random.random() < 0.7 else 0
        cores = self.integer(max(1, nodes), max(nodes, 8 if nodes == 0 else nodes * 4))
        rest = [self.integer(0, 5) if self.random.random() < 0.5 else 0 for _ in range(model.kinds - 1)]
        if nodes == 0:
            rest = [min(amount, 2) for amount in rest]
        each = (-(-cores // nodes) if nodes else 1, *rest)
        licences = tuple(self.integer(0, 3) if self.random.random() < 0.4 else 0 for _ in model.licences)
        return NodeRequest(cores, nodes, each, nodes > 0 and self.random.random() < 0.25, licences)

    # ---- operations, each checked

    def submit(self) -> None:
        request, node_set = self.draw_request(), self.integer(0, len(self.sets) - 1)
        slot = self.jobs.add(0, 0, self.integer(0, 9), request.cores)
        self.jobs.shape[slot] = self.ledger.intern(request, node_set)
        self.jobs.domain[slot] = self.integer(0, 1)
        self.request[slot], self.of[slot] = request, self.sets[node_set]
        empty = Model(self.model.capacity, self.model.licences, self.model.switches, self.model.place, self.model.whole)
        possible = empty.by_name(self.of[slot], request, 0, 1, slot)
        assert self.ledger.possible(slot) == possible, self.tell("possible", slot)
        if possible:
            self.waiting.append(slot)
        else:
            self.jobs.drop(slot)

    def length(self, slot: int) -> int:
        return int(self.jobs.estimate[slot])

    def bounds_of(self, number: int, local: bool = False) -> tuple[int, int, int]:
        self.ledger.focus(number, local)
        return self.ledger.most_free, self.ledger.most_extra, self.ledger.most_window

    def check_fits(self, slot: int) -> bool:
        expected = self.model.fits(self.of[slot], self.request[slot], self.length(slot), slot)
        assert self.ledger.fits(slot) == expected, self.tell("fits", slot, expected)
        if expected and slot not in self.model.holds:
            local = self.request[slot].nodes == 1 or self.request[slot].cores == 1
            bounds = self.bounds_of(self.sets.index(self.of[slot]), local)
            cores = self.request[slot].cores
            within = cores <= bounds[1] or (cores <= bounds[0] and self.length(slot) <= bounds[2])
            assert within, self.tell("bounds", slot, bounds)
        return expected

    def start(self, slot: int) -> None:
        if not self.check_fits(slot):
            return
        self.jobs.expected_end[slot] = self.model.now + self.length(slot)
        self.ledger.take(slot)
        shares = self.model.take(self.of[slot], self.request[slot], self.length(slot), slot)
        assert dict(self.ledger.shares_of(slot)) == shares, self.tell("take", slot, shares)
        self.waiting.remove(slot)

    def end(self, slot: int) -> None:
        self.ledger.give(slot)
        del self.model.running[slot]
        self.jobs.drop(slot)

    def prolong(self, slot: int) -> None:
        until = max(0, max(self.model.now, self.model.running[slot].end) + self.integer(-3, 6))
        self.ledger.prolong(slot, until)
        self.model.running[slot].end = until

    def reserve(self, slot: int) -> None:
        after = self.model.now + (self.integer(0, 12) if self.random.random() < 0.3 else 0)
        time = self.model.earliest(self.of[slot], self.request[slot], self.length(slot), slot, after)
        found = self.ledger.earliest(slot, after)
        assert found == (NEVER if time is None else time), self.tell("earliest", slot, (after, time, found))
        if time is None:
            return
        start = time + (self.integer(0, 5) if self.random.random() < 0.2 else 0)
        self.ledger.hold(slot, start)
        kept = self.model.hold(self.of[slot], self.request[slot], self.length(slot), slot, start)
        got = {node: list(amounts) for node, amounts in self.ledger.kept_for(slot)}
        assert got == kept, self.tell("hold", slot, (start, kept, got))

    def release(self) -> None:
        self.ledger.domain = self.integer(-1, 1)
        for slot in list(self.model.holds):
            if self.ledger.domain < 0 or self.jobs.domain[slot] == self.ledger.domain:
                del self.model.holds[slot]
        self.ledger.release_holds()

    def check_bounds(self) -> None:
        """The set in focus: free cores, the first hold that bears on it; beside the only one, what is left."""
        model = self.model
        number = self.integer(0, len(self.sets) - 1)
        nodes = self.sets[number]
        free = {node: max(0, model.free(node, list(model.running.values()))[0]) for node in nodes}
        holds = [h for h in model.holds.values() if h.meets(model.now, NEVER, nodes)]
        window = min((hold.start - model.now for hold in holds), default=NEVER)
        left = dict(free)
        total = sum(free.values())
        if len(holds) == 1 and holds[0].count:
            if set(holds[0].nodes) == set(nodes):
                total = max(0, min(total, model.number(nodes, max(model.now, holds[0].start), -1)))
        elif len(holds) == 1:
            beside = [*model.jobs(holds[0].start), holds[0]]
            left = {
                i: max(0, min(free[i], model.free(i, beside)[0])) if i in holds[0].amounts else free[i] for i in nodes
            }
        total = min(total, sum(left.values()))
        expected = (sum(free.values()), total, window)
        assert self.bounds_of(number) == expected, self.tell("bounds", number, expected)
        expected = (max(free.values(), default=0), min(total, max(left.values(), default=0)), window)
        assert self.bounds_of(number, True) == expected, self.tell("local bounds", number, expected)
        if number == 0:
            assert (self.ledger.free, self.ledger.extra) == (sum(free.values()), total)
        self.check_parts(number, free, left)

    def check_parts(self, number: int, free: dict[int, int], left: dict[int, int]) -> None:
        """Of jobs that want so much of each node: on how many they can be now, and beside the only hold."""
        self.ledger.focus_parts(number)
        for least, bounds in enumerate(zip(self.ledger.part_free, self.ledger.part_extra, strict=True)):
            now, beside = ([node for node in free if least <= have[node]] for have in (free, left))
            if self.model.place == "contiguous":
                assert bounds[0] == least * longest_run(now), self.tell("runs", number, least)
                assert least * longest_run(beside) <= bounds[1] <= bounds[0], self.tell("runs beside", number, least)
            else:
                assert bounds == (least * len(now), least * len(beside)), self.tell("parts", number, least)

    def step(self) -> None:
        draw = self.random.random()
        running = list(self.model.running)
        if draw < 0.2 or not self.waiting:
            self.submit()
        elif draw < 0.4:
            self.start(self.pick(self.waiting))
        elif draw < 0.5 and running:
            self.end(self.pick(running))
        elif draw < 0.7:
            self.reserve(self.pick(self.waiting))
        elif draw < 0.75 and running:
            self.prolong(self.pick(running))
        elif draw < 0.8:
            slot = self.pick(self.waiting)
            self.ledger.unhold(slot)
            self.model.holds.pop(slot, None)
        elif draw < 0.84:
            self.release()
        elif draw < 0.93:
            self.model.now += self.integer(0, 4)
            self.ledger.set_time(self.model.now)
        for slot in self.waiting[:4]:
            self.check_fits(slot)
        self.check_bounds()

    def pick(self, slots: list[int]) -> int:
        return slots[self.integer(0, len(slots) - 1)]

    def tell(self, what: str, slot: int, more: Any = "") -> str:
        return f"{what} of {slot}: {more}; {self.request.get(slot)} on {self.of.get(slot)}; {self.model}"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("part", range(4))
def test_the_ledger_agrees_with_its_model(place, part):
    for seed in range(60 * part, 60 * part + 60):
        pair = Pair(seed, place)
        for _ in range(60):
            pair.step()
