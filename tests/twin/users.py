"""The slow twin's rules about users who react: plain Python, looking at everything.

It shares no code with the inference or the compiled engine. A batch begins at a time that follows from what has become
of the jobs before it; nothing is kept of that, it is found again whenever it is asked for. The clock begins on Monday.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import MISSING, Workload
from walltime.scenario.users import Users as Rules

if TYPE_CHECKING:
    from twin.jobs import Job

GONE = ("completed", "timeout", "failed", "cancelled", "rejected")
HOUR = 3600 * SECOND


@dataclass(eq=False)
class Batch:
    """Jobs that one user submitted without waiting for them, and what that was after."""

    user: int
    jobs: list[Job]
    start: int
    end: int
    reacts_to: Batch | None = None
    think: int = 0
    follows: Batch | None = None
    gap: int = 0
    offsets: list[int] = field(default_factory=list)


@dataclass
class Session:
    """In Alea's mode: from its first arrival on a user submits, as long as it is some time before its last one."""

    first: int
    last: int


class Users:
    """`rules` are a scenario's `users`, in the modes `feedback` and `alea`."""

    def __init__(self, workload: Workload, jobs: list[Job], rules: Rules, seed: int) -> None:
        if rules.files is not None or rules.population is not None or rules.reactions:
            raise InputError("the twin does not know such users", value=rules.mode)
        self.workload = workload
        self.alea = rules.mode == "alea"
        self.session_gap = microseconds(rules.session_gap)
        self.campaign = microseconds(rules.campaign)
        self.all = rules.overlap == "any"
        self.waits = rules.waits == "recorded"
        self.by_hours = rules.hours == "own"
        self.came: dict[int, int] = {}
        self.batches: list[Batch] = []
        people: dict[int, list[Job]] = {}
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
        if rules.think == "drawn":
            self.draw_think_times(seed)
        self.sessions = {user: self.find_sessions(batches) for user, batches in self.own.items()}
        self.current: dict[int, Session] = {}
        self.begun: dict[int, int] = {}  # in Alea's mode: when each batch begins, once that is known
        if self.alea:
            for batch in self.batches:
                batch.think = batch.gap = 0

    def recorded_end(self, job: Job) -> int:
        """When the job left in the log."""
        run, cancel, wait = (
            int(self.workload.column(name)[job.row]) for name in ("run_time", "cancel", "recorded_wait")
        )
        submit = int(self.workload.column("submit")[job.row])
        if run == MISSING and cancel != MISSING:
            return max(cancel, submit)
        return submit + (max(wait, 0) if self.waits else 0) + max(run, 0)

    def batch(self, user: int, jobs: list[Job]) -> Batch:
        start = min(job.submit for job in jobs)
        end = max(self.recorded_end(job) for job in jobs)
        return Batch(user, jobs, start, end, offsets=[job.submit - start for job in jobs])

    def cut(self, user: int, jobs: list[Job]) -> list[Batch]:
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

    def same_array(self, one: Job, other: Job) -> bool:
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

    def silence(self, batch: Batch) -> int:
        """How long the user had given no sign before the batch: had neither submitted nor had something that ended."""
        before = [other for other in self.own[batch.user] if other.start <= batch.start and other is not batch]
        before = before[: self.own[batch.user].index(batch)]
        previous = before[-1]
        signs = [previous.start + max(previous.offsets)]
        signs += [other.end for other in before if other.end <= batch.start]
        signs += [end for end in [self.recorded_end(previous.jobs[-1])] if end <= batch.start]
        return batch.start - max(signs)

    def draw_think_times(self, seed: int) -> None:
        """Think times inside sessions from those of the same user, or from all where there are fewer than five."""
        inside = {
            user: [batch for batch in own if batch.reacts_to is not None and self.silence(batch) <= self.session_gap]
            for user, own in self.own.items()
        }
        recorded = {user: sorted(batch.think for batch in some) for user, some in inside.items()}
        everything = sorted(think for some in recorded.values() for think in some)
        for user, some in inside.items():
            values = recorded[user] if len(recorded[user]) >= 5 else everything
            name = self.workload.label_names("user")[user]
            for batch in some:
                number = self.own[user].index(batch)
                draw = float(uniforms(seed, f"users.think.{name}", np.array([number]))[0])
                batch.think = values[int(draw * len(values))]

    def find_sessions(self, batches: list[Batch]) -> list[Session]:
        """The user's sessions in the log."""
        found: list[Session] = []
        for batch in batches:
            last = batch.start + max(batch.offsets)
            if not found or self.silence(batch) > self.session_gap:
                found.append(Session(batch.start, last))
            found[-1].last = max(found[-1].last, last)
        return found

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
        ready = max(times, default=batch.start)
        if self.alea and batch.user != MISSING:
            if id(batch) not in self.begun:
                self.begun[id(batch)] = self.in_session(batch.user, ready)
            return self.begun[id(batch)]
        return self.at_work(batch.user, ready)

    def in_session(self, user: int, time: int) -> int:
        """In the session that the user is in, while it takes more; else in the next one, or the day after from nine to
        three. The first of the list is the one that the user is in."""
        current = self.current.get(user)
        if current is None or time + 35 * 60 * SECOND >= current.last:
            left = self.sessions[user]
            midnight = (time // (24 * HOUR) + 1) * 24 * HOUR
            current = left.pop(0) if left else Session(midnight + 9 * HOUR, midnight + 15 * HOUR)
            self.current[user] = current
        return max(time, current.first)

    def left(self, job: Job) -> int:
        return int(self.came[job.row] if job.end is None else job.end)

    def at_work(self, user: int, time: int) -> int:
        """The next moment at which the user works."""
        if user == MISSING or self.alea or not self.by_hours:
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
