"""Conservative backfilling in the slow twin: every promise is looked at against every running job and every other."""

from __future__ import annotations

from typing import Any


def schedule_conservative(rule: Any, machine: Any) -> None:
    """One pass: promises move forward where somebody ended or left, arrivals get theirs, what is due starts.

    Where the plan has broken (a job outlived its estimate), everybody is placed anew in queue order.
    """
    if "corrected" in machine.changes:
        for job in machine.queue:
            job.promise = None
    elif machine.changes & {"ended", "left"}:
        for job in rule.rank(machine, list(machine.queue)):
            if job.promise is not None:
                job.promise = min(job.promise, _earliest(machine, job))
    for job in machine.queue:
        if job.promise is None:
            job.promise = _earliest(machine, job)
    for job in list(machine.queue):
        if job.promise <= machine.now:
            machine.start(job, backfilled=job is not machine.queue[0])


def _earliest(machine: Any, job: Any) -> int:
    """The first time from now on at which the job has its cores for as long as it takes."""
    busy = [
        (running.start, _end(running, running.start, running.expected_end), running.cores)
        for running in machine.running
    ]
    busy += [
        (other.promise, _end(other, other.promise, other.promise + other.estimate), other.cores)
        for other in machine.queue
        if other is not job and other.promise is not None
    ]
    for time in sorted({machine.now} | {end for _, end, _ in busy if end > machine.now}):
        until = _end(job, time, time + job.estimate)
        steps = [time, *(start for start, _, _ in busy if time < start < until)]
        if all(machine.cores - _taken(busy, step) >= job.cores for step in steps):
            return int(time)
    raise AssertionError("every job fits once everything has ended")


def _taken(busy: list[tuple[int, int, int]], time: int) -> int:
    return sum(cores for start, end, cores in busy if start <= time < end)


def _end(job: Any, start: int, end: int) -> int:
    """A job takes up at least a microsecond."""
    return max(end, start + 1)
