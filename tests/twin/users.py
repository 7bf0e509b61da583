"""The slow twin's rules about users who react: plain Python, looking at everything.

It shares no code with the inference or the compiled engine. A batch begins at a time that follows from what has become
of the jobs before it; nothing is kept of that, it is found again whenever it is asked for. The clock begins on Monday.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from walltime.core.errors import InputError
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import MISSING, Workload

GONE = ("completed", "timeout", "failed", "cancelled", "rejected")
HOUR = 3600 * SECOND


@dataclass(eq=False)
class Batch:
    """Jobs that one user submitted without waiting for them, and what that was after."""

    user: int
    jobs: list[Any]
    start: int
    end: int
    reacts_to: Batch | None = None
    think: int = 0
    follows: Batch | None = None
    gap: int = 0
    offsets: list[int] = field(default_factory=list)


class Users:
    """`rules` are a scenario's `users`, in the mode `feedback`."""

    def __init__(self, workload: Workload, jobs: list[Any], rules: Any) -> None:
        if rules.mode != "feedback" or rules.think != "recorded" or rules.population is not None:
            raise InputError("the twin does not know such users", value=rules.mode)
        self.workload = workload
        self.campaign = microseconds(rules.campaign)
        self.all = rules.overlap == "any"
        self.waits = rules.waits == "recorded"
        self.by_hours = rules.hours == "own"
        self.came: dict[int, int] = {}
        self.batches: list[Batch] = []
        people: dict[int, list[Any]] = {}
        for job in jobs:
            user = int(workload.column("user")[job.row])
            if user == MISSING:
                self.batches.append(self.batch(user, [job]))
            else:
                people.setdefault(user, []).append(job)
        self.own = {user: self.cut(user, theirs) for user, theirs in people.items()}
        for batches in self.own.values():
            for place, batch in enumerate(batches):
                self.connect(batch, batches[:place])
            self.batches += batches

    def recorded_end(self, job: Any) -> int:
        """When the job left in the log."""
        run, cancel, wait = (
            int(self.workload.column(name)[job.row]) for name in ("run_time", "cancel", "recorded_wait")
        )
        submit = int(self.workload.column("submit")[job.row])
        if run == MISSING and cancel != MISSING:
            return max(cancel, submit)
        return submit + (max(wait, 0) if self.waits else 0) + max(run, 0)

    def batch(self, user: int, jobs: list[Any]) -> Batch:
        start = min(job.submit for job in jobs)
        end = max(self.recorded_end(job) for job in jobs)
        return Batch(user, jobs, start, end, offsets=[job.submit - start for job in jobs])

    def cut(self, user: int, jobs: list[Any]) -> list[Batch]:
        """The user's batches."""
        groups = [[jobs[0]]]
        for before, job in pairwise(jobs):
            open_until = max(map(self.recorded_end, groups[-1])) if self.all else self.recorded_end(before)
            same_act = job.submit - before.submit <= self.campaign or self.same_array(before, job)
            if job.submit < open_until or same_act:
                groups[-1].append(job)
            else:
                groups.append([job])
        return [self.batch(user, group) for group in groups]

    def same_array(self, one: Any, other: Any) -> bool:
        for name in ("array", "workflow"):
            first, second = (int(self.workload.column(name)[job.row]) for job in (one, other))
            if first == second != MISSING:
                return True
        return False

    def connect(self, batch: Batch, before: list[Batch]) -> None:
        """What the batch waited for in the log."""
        if not before:
            return
        previous = before[-1]
        ended = [other for other in before if previous.start <= other.end <= batch.start]
        if not ended:
            batch.follows, batch.gap = previous, batch.start - previous.start
            return
        latest = max(other.end for other in ended)
        batch.reacts_to = [other for other in ended if other.end == latest][-1]
        batch.think = batch.start - latest
        if batch.reacts_to is not previous:
            batch.follows = previous

    # ---- in the simulation

    def begin(self, batch: Batch) -> int | None:
        """When the batch begins; None while that is not known."""
        times = []
        if batch.reacts_to is not None:
            if any(job.state not in GONE for job in batch.reacts_to.jobs):
                return None
            times.append(max(self.left(job) for job in batch.reacts_to.jobs) + batch.think)
        if batch.follows is not None:
            arrived = self.came.get(batch.follows.jobs[0].row)
            if arrived is None:
                return None
            times.append(arrived + batch.gap)
        return self.at_work(batch.user, max(times, default=batch.start))

    def left(self, job: Any) -> int:
        return int(self.came[job.row] if job.end is None else job.end)

    def at_work(self, user: int, time: int) -> int:
        """The next moment at which the user works."""
        if user == MISSING or not self.by_hours:
            return time
        while not self.works(user, time):
            time = (time // HOUR + 1) * HOUR
        return time

    def works(self, user: int, time: int) -> bool:
        own = [_place(batch.start) for batch in self.own[user]]
        if _place(time) in own:
            return True
        if len(own) >= 20:
            return False
        every = [_place(batch.start) for batches in self.own.values() for batch in batches]
        days = {0: 5, 1: 1, 2: 1}
        rates = {(kind, hour): every.count((kind, hour)) / days[kind] for kind in days for hour in range(24)}
        rate = rates[_place(time)]
        return rate > 0 and rate >= 0.5 * sum(rates.values()) / 72

    def due(self) -> list[tuple[int, int, Any]]:
        """(time, row, job) of everything that is known to come."""
        found = []
        for batch in self.batches:
            if any(job.row not in self.came for job in batch.jobs) and (begin := self.begin(batch)) is not None:
                later = zip(batch.jobs, batch.offsets, strict=True)
                found += [(begin + offset, job.row, job) for job, offset in later if job.row not in self.came]
        return sorted(found, key=lambda item: item[:2])


def _place(time: int) -> tuple[int, int]:
    """The kind of day, and the hour of the day."""
    day = time // (24 * HOUR) % 7
    return max(0, day - 4), time // HOUR % 24
