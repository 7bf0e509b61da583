"""Small plans to change, and what is free in them by sums over all jobs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.kernel.drafts.draft_cores import CoreDraft
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.plan import PlanLedger


@dataclass
class Planned:
    """A ledger with running jobs and with promises to waiting ones, all times in units of the test's own."""

    ledger: Any
    jobs: Any
    capacity: int
    running: list[tuple[int, int]] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    cores: list[int] = field(default_factory=list)
    length: list[int] = field(default_factory=list)

    def open(self) -> Any:
        draft: Any = CoreDraft()
        draft.open(self.ledger, np.array(self.slots, np.int64), len(self.slots))
        return draft

    def run(self, cores: int, length: int) -> None:
        """A job that runs from now on."""
        slot = self.jobs.add(0, 0, length, cores)
        self.jobs.estimate[slot] = length
        self.jobs.expected_end[slot] = self.ledger.now + length
        self.ledger.take(slot)
        self.running.append((cores, self.ledger.now + length))

    def promise(self, cores: int, length: int, user: int = -1, deadline: int = -1, eligible: int = 0) -> None:
        """A job that waits, with the earliest start there is."""
        slot = self.jobs.add(eligible, 0, length, cores)
        self.jobs.estimate[slot] = length
        self.jobs.user[slot] = user
        self.jobs.deadline[slot] = deadline
        self.jobs.eligible[slot] = eligible
        self.ledger.hold(slot, self.ledger.earliest(slot, self.ledger.now))
        self.slots.append(slot)
        self.cores.append(cores)
        self.length.append(length)


def make_ledger(cores: int, now: int = 0) -> Planned:
    jobs: Any = JobTable()
    ledger: Any = PlanLedger(jobs, cores)
    ledger.set_time(now)
    return Planned(ledger, jobs, cores)


def make_plan(seed: int, jobs: int, cores: int, unit: int = 1) -> Planned:
    """Some jobs that run, and `jobs` that wait, promised in the order in which they came."""
    rng = random.Random(seed)
    planned = make_ledger(cores, 10 * unit)
    while planned.ledger.free > cores // 3:
        planned.run(rng.randint(1, planned.ledger.free), rng.randint(1, 20) * unit)
    for _ in range(jobs):
        length = rng.randint(1, 15) * unit
        deadline = rng.choice([-1, (10 + rng.randint(1, 80)) * unit])
        wanted = min(rng.randint(1, cores), rng.randint(1, cores))
        planned.promise(wanted, length, rng.randint(-1, 3), deadline, rng.randint(0, 10) * unit)
    return planned


def free_over_time(planned: Planned, starts: list[int]) -> list[tuple[int, int]]:
    """The free cores as steps (time, free), by the running jobs and these starts, from the ledger's present on."""
    edges: dict[int, int] = {}
    spans = [(planned.ledger.now, end, cores) for cores, end in planned.running]
    spans += [(s, s + n, c) for s, n, c in zip(starts, planned.length, planned.cores, strict=True)]
    for start, end, cores in spans:
        edges[start] = edges.get(start, 0) - cores
        edges[end] = edges.get(end, 0) + cores
    free, steps = planned.capacity, [planned.ledger.plan.steps()[0]]
    for time in sorted(edges):
        free += edges[time]
        if time > steps[-1][0] and free != steps[-1][1]:
            steps.append((time, free))
    return steps
