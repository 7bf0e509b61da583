"""Users who react, before the controller: when they submit what, by the same rules as on the native engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.workload import COLUMNS, Workload, encode_labels
from walltime.kernel.closed_loop import ClosedLoop
from walltime.rules.reactions import Description, Reactions
from walltime.slurm.translate.submission import TraceJob
from walltime.workload.users.plan import UserPlan


@dataclass
class Submissions:
    """What is submitted now: jobs of an array together, others alone, each with its user's patience in microseconds
    (-1: no end); and how many jobs of the log will never come, as they were dropped or are in others."""

    jobs: list[tuple[list[TraceJob], int]] = field(default_factory=list)
    gone: int = 0


class Users:
    """The users of one run. `remake` makes a job of a row as its user asks for it instead; times of `now` are in
    microseconds since the trace's zero."""

    def __init__(
        self,
        plan: UserPlan,
        workload: Workload,
        reactions: Reactions | None = None,
        remake: Callable[[int, Description], TraceJob] | None = None,
    ) -> None:
        self.plan, self.workload, self.reactions, self.remake = plan, workload, reactions, remake
        self.loop = ClosedLoop(plan)

    @property
    def next(self) -> int:
        """When the next job is due."""
        return int(self.loop.next)

    def begin(self, groups: Sequence[Sequence[TraceJob]]) -> None:
        """Called once, with the jobs that are submitted together."""
        if self.reactions is not None:
            together = [job.row for group in groups if len(group) > 1 for job in group]
            self.reactions.attach(self.workload, self.plan, together)
        self.loop.begin()

    def ask(self, row: int, group: list[TraceJob], now: int, busy: bool) -> Submissions:
        """What comes of a job that is due, or of an array; `busy`: some job runs."""
        if self.reactions is None:
            return Submissions([(group, -1)])
        answer = self.reactions.ask(row, now, tasks=len(group))
        if answer.later > 0 and (busy or not answer.vain):
            self.loop.put_back(row, now + answer.later)
        for other in answer.again:
            self.loop.put_back(other, now)
        if answer.gone:
            for job in group:
                self.loop.leave(job.row, now)
            return Submissions(gone=len(group))
        made = [(group if one is None else [self._make(row, one)], patience) for one, patience in answer.jobs]
        return Submissions(made, len(answer.merged))

    def _make(self, row: int, description: Description) -> TraceJob:
        assert self.remake is not None
        return self.remake(row, description)

    def start(self, job: TraceJob, now: int) -> None:
        """The job has started."""
        if self.reactions is not None and len(job.attempts) == 1:
            attempt = job.attempts[0]
            wait = now - (job.submit - attempt.start + now)
            self.reactions.started(attempt.partition, None, int(job.request.get("min_cpus", 1)), wait)

    def leave(self, job: TraceJob, now: int) -> None:
        """The job has left, or was never let in."""
        if self.reactions is None:
            self.loop.leave(job.row, now)
            return
        asked = job.asked.get("requested_time", int(self.workload.column("requested_time")[job.row]))
        last = job.end if job.end is not None else job.submit
        ran = sum(attempt.held(last) for attempt in job.attempts)
        rows, again = self.reactions.left(
            job.row,
            now,
            cores=int(job.request.get("min_cpus", 1)),
            requested_time=asked,
            wait=max(0, last - job.submit - ran),
            ran=ran,
            completed=job.state == "completed",
        )
        for row in rows:
            self.loop.leave(row, now)
        if again:
            self.loop.put_back(job.row, now)

    def tell(self, jobs: Sequence[TraceJob]) -> dict[str, Any]:
        """How many jobs were not submitted, and what users did besides."""
        told = {} if self.reactions is None else self.reactions.tell()
        future = sum(job.state == "future" for job in jobs)
        return {"not_submitted": future - told.get("abandoned", 0) - told.get("merged", 0)} | told


def ask_instead(workload: Workload, row: int, description: Description) -> Workload:
    """A workload of the one job, as it is asked for by its columns (labels as names, times in microseconds)."""
    one = workload.select(np.array([row]))
    columns: dict[str, Any] = {"job_id": one.column("job_id"), **one.columns}
    labels = dict(one.labels)
    for name, value in description.items():
        kind = COLUMNS[name].kind if name in COLUMNS else None
        if kind == "text":
            columns[name] = [value]
        elif kind == "label":
            columns[name], labels[name] = _label(labels.get(name, []), value)
        elif kind is not None:
            columns[name] = np.array([value], np.int64)
    return one.replace(columns, labels=labels)


def _label(known: list[str], value: str | None) -> tuple[np.ndarray, list[str]]:
    """The label's number among those that are known, or one more; numbers of people stay as they are."""
    if not value:
        return np.array([-1], np.int32), known
    if value in known:
        return np.array([known.index(value)], np.int32), known
    return np.array([len(known)], np.int32), [*known, *encode_labels([value])[1]]
