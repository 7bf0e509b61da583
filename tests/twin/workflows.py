"""Workflow-aware tasks in the slow twin: each is ranked as if it were the one job that its workflow would be."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from walltime.core.workload import Workload

if TYPE_CHECKING:
    from twin.jobs import Job


class Pilots:
    """The job that each workflow would be, by the rows of its tasks."""

    def __init__(self, workload: Workload, jobs: list[Job]) -> None:
        self.workload = workload
        self.job = {job.row: job for job in jobs}
        self.tasks: dict[int, list[int]] = {}
        if workload.has("aware") and workload.has("workflow"):
            for row in range(len(workload)):
                if workload.column("aware")[row] > 0 and workload.column("workflow")[row] >= 0:
                    self.tasks.setdefault(int(workload.column("workflow")[row]), []).append(row)
        self.queues: dict[Any, Any] = {}  # in which the first task of each has waited, under each order
        self.flow = {row: flow for flow, rows in self.tasks.items() for row in rows}

    def stand_in(self, job: Job, estimate: Callable[[Job], int] | None = None) -> Job:
        """What an order is asked about instead of the job: itself, or its workflow."""
        if job.row not in self.flow:
            return job
        rows = self.tasks[self.flow[job.row]]
        first, pilot = self.job[rows[0]], copy.copy(job)
        for name in ("submit", "user", "group", "account", "qos", "priority", "deadline"):
            setattr(pilot, name, getattr(first, name))
        pilot.queued = first.submit
        pilot.rest = None  # it has not run yet, whatever the task has
        pilot.queues = self.queues.setdefault((self.flow[job.row], id(job.order)), job.queues)
        asked = {row: max(int(self.workload.column("requested_time")[row]), 0) for row in rows}
        run = {row: int(self.workload.column("run_time")[row]) for row in rows}
        run = {row: asked[row] if time < 0 else time for row, time in run.items()}
        pilot.requested = max(self.begin(row, asked) + asked[row] for row in rows)
        pilot.run_time = max(self.begin(row, run) + run[row] for row in rows)
        for name in ("cores", "nodes", "memory", "gpus"):
            setattr(pilot, name, self.widest(name, rows, asked))
        if estimate is not None:
            pilot.estimate = estimate(pilot)
        return pilot

    def begin(self, row: int, length: dict[int, int]) -> int:
        """When a task would begin on an endless machine."""
        return max((self.begin(other, length) + length[other] for other in self.needed(row)), default=0)

    def needed(self, row: int) -> list[int]:
        """The rows of the same workflow that the task waits for."""
        fellows = {int(self.workload.column("job_id")[other]): other for other in self.tasks[self.flow[row]]}
        words = self.workload.column("dependencies")[row].replace("?", ",").replace(",", ":").split(":")
        numbers = [word.partition("+")[0] for word in words]
        return [fellows[int(number)] for number in numbers if number.isdigit() and int(number) in fellows]

    def widest(self, name: str, rows: list[int], length: dict[int, int]) -> int | None:
        """The most of a resource that is asked for at once; the largest single request where all are of no length."""
        amount = {row: int(self.workload.column(name)[row]) for row in rows}
        if max(amount.values()) <= 0:
            return None if max(amount.values()) < 0 else 0
        begins = {row: self.begin(row, length) for row in rows}
        sums = [
            sum(max(amount[row], 0) for row in rows if begins[row] <= now < begins[row] + length[row])
            for now in begins.values()
        ]
        return max(*sums, *amount.values())
