"""The scheduling passes of the slow twin: every rule of backfilling, looking at all jobs each time.

A machine has `queue` (waiting jobs in order), `running`, `free`, `now`, and `start(job, backfilled)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from twin.reference_conservative import schedule_conservative
from twin.reference_parts import Order, split
from walltime.core.errors import EngineError, InputError


@dataclass
class Hold:
    """Cores reserved for a waiting job, from `start` up to but without `end`."""

    job: Any
    start: int
    end: int


class Backfill:
    """One of the rules by name, with its parameters; `schedule` is one pass."""

    def __init__(self, part: str | Mapping[str, Any]) -> None:
        self.name, self.parameters = split(part)
        if self.name not in RULES:
            raise InputError("unknown policy", value=self.name, choices=RULES)
        candidates = self.parameters.get("candidates")
        self.candidates = None if candidates is None else Order(candidates)
        self.head: Any = None  # the blocked head, and the earliest start that it has been found to have
        self.head_start = 0

    def schedule(self, machine: Any) -> None:
        RULES[self.name](self, machine)

    def rank(self, machine: Any, jobs: list[Any]) -> list[Any]:
        """The candidates in their order; the queue's own where none is given."""
        order = self.candidates
        if order is None:
            return jobs
        ranks = [order.rank(job, machine.now) for job in jobs]
        return [job for _, job in sorted(zip(ranks, jobs, strict=True), key=lambda pair: pair[0])]


def _start_heads(rule: Backfill, machine: Any) -> None:
    """Start the head of the queue while it fits."""
    while machine.queue and machine.queue[0].cores <= machine.free:
        machine.start(machine.queue[0])


def _start_all(rule: Backfill, machine: Any) -> None:
    """Start heads while they fit, then whatever else fits; nobody's place is kept."""
    _start_heads(rule, machine)
    fitting = [job for job in machine.queue[1:] if job.cores <= machine.free]
    for job in rule.rank(machine, fitting):
        if job.cores <= machine.free:
            machine.start(job, backfilled=True)


def _start_easy(rule: Backfill, machine: Any) -> None:
    """Start heads while they fit; then whoever does not delay the blocked head beyond its reservation."""
    _start_heads(rule, machine)
    if not machine.queue:
        return
    shadow, extra = _reserve(rule, machine)
    fitting = [job for job in machine.queue[1:] if _may_start(machine, job, shadow, extra)]
    for job in rule.rank(machine, fitting):
        if _may_start(machine, job, shadow, extra):
            if machine.now + job.estimate > shadow:
                extra -= job.cores
            machine.start(job, backfilled=True)


def _start_best(rule: Backfill, machine: Any) -> None:
    """As EASY, with the set of jobs that uses the most cores now; of equal sets the first in queue order."""
    _start_heads(rule, machine)
    if not machine.queue:
        return
    shadow, extra = _reserve(rule, machine)
    fitting = [job for job in machine.queue[1:] if _may_start(machine, job, shadow, extra)]
    fitting = fitting[: rule.parameters.get("depth", 50)]

    def left(i: int, extra: int) -> int:
        """What of the extra is left once this job runs."""
        return extra - fitting[i].cores if machine.now + fitting[i].estimate > shadow else extra

    @cache
    def most(i: int, free: int, extra: int) -> int:
        """How many cores the jobs from place i on can use at the most."""
        if i == len(fitting):
            return 0
        without = most(i + 1, free, extra)
        size = fitting[i].cores
        if size > free or left(i, extra) < 0:
            return without
        return max(without, int(size) + most(i + 1, free - size, left(i, extra)))

    free = machine.free
    for i, job in enumerate(fitting):
        size = job.cores
        if size <= free and left(i, extra) >= 0:
            with_it = size + most(i + 1, free - size, left(i, extra))
            if with_it == most(i, free, extra):
                free, extra = free - size, left(i, extra)
                machine.start(job, backfilled=True)


def _start_deep(rule: Backfill, machine: Any) -> None:
    """Through the queue in order: what delays no reservation starts, the first few that do not fit get one each;
    behind the last of these, whoever delays none starts, in the candidates' order."""
    holds: list[Hold] = []
    behind = list(machine.queue)
    while behind and len(holds) < rule.parameters.get("depth", 1):
        job = behind.pop(0)
        if _fits(machine, holds, job):
            machine.start(job, backfilled=bool(holds))
        else:
            start = _earliest(machine, holds, job)
            holds.append(Hold(job, start, start + max(job.estimate, 1)))  # even of no length it needs its cores
    for job in rule.rank(machine, [job for job in behind if _fits(machine, holds, job)]):
        if _fits(machine, holds, job):
            machine.start(job, backfilled=True)


RULES = {
    "none": _start_heads,
    "aggressive": _start_all,
    "easy": _start_easy,
    "lookahead": _start_best,
    "depth": _start_deep,
    "conservative": schedule_conservative,
}
"""The scheduling pass of each rule."""


# ------------------------------------------------------------------------------------------ one reservation


def _may_start(machine: Any, job: Any, shadow: int, extra: int) -> bool:
    in_time = machine.now + job.estimate <= shadow
    return bool(job.cores <= machine.free and (in_time or job.cores <= extra))


def _reserve(rule: Backfill, machine: Any) -> tuple[int, int]:
    """Until when others may use the blocked head's cores, and how many it leaves free then."""
    head = machine.queue[0]
    start = _first_fit(machine, head)
    if rule.head is not head:
        rule.head, rule.head_start = head, start
    rule.head_start = min(rule.head_start, start)
    slack = int(float(rule.parameters.get("alpha", 0.0)) * float(head.estimate))
    shadow = max(start, rule.head_start + slack)
    return shadow, _available(machine, shadow) - head.cores


def _first_fit(machine: Any, job: Any) -> int:
    """When enough running jobs are expected to have ended."""
    free = machine.free
    in_order = sorted(machine.running, key=lambda job: job.expected_end)
    for time, ending in groupby(in_order, key=lambda job: job.expected_end):
        free += sum(job.cores for job in ending)
        if free >= job.cores:
            return int(time)
    raise EngineError(f"job {job.job_id} does not fit the empty machine")


def _available(machine: Any, time: int) -> int:
    """Cores free at that time by the expected ends."""
    return int(machine.free + sum(job.cores for job in machine.running if job.expected_end <= time))


# ---------------------------------------------------------------------------------------- several reservations


def _left(machine: Any, holds: list[Hold], time: int, job: Any) -> int:
    """Cores free at that time, other jobs' reservations taken off."""
    return _available(machine, time) - sum(
        int(hold.job.cores) for hold in holds if hold.start <= time < hold.end and hold.job is not job
    )


def _fits(machine: Any, holds: list[Hold], job: Any) -> bool:
    """Whether the job can start now and leave every reservation alone."""
    if job.cores > machine.free:
        return False
    return all(
        _left(machine, holds, hold.start, hold.job) - hold.job.cores >= job.cores
        for hold in holds
        if hold.start < machine.now + job.estimate
    )


def _earliest(machine: Any, holds: list[Hold], job: Any) -> int:
    """The first time from which the job has its cores for its estimate; only something that ends makes room."""
    ends = {running.expected_end for running in machine.running} | {hold.end for hold in holds}
    for time in sorted({machine.now} | {end for end in ends if end > machine.now}):
        steps = [hold.start for hold in holds if time < hold.start < time + max(job.estimate, 1)]
        if all(_left(machine, holds, step, job) >= job.cores for step in (time, *steps)):
            return int(time)
    raise EngineError(f"job {job.job_id} does not fit the empty machine")
