"""Conservative backfilling in the slow twin on nodes: whoever waits has a reservation, and keeps it or betters it.

A reservation names its nodes when it is made, as the placement chooses them from what is left then, and a job that
starts is placed anew beside the reservations of the others. So times and nodes are both determined.
"""

from __future__ import annotations

from typing import Any


def schedule_conservative(machine: Any) -> None:
    """One pass: promises move forward where somebody ended or left, arrivals get theirs, what is due starts."""
    promises = {hold.job.row: hold.start for hold in machine.holds}
    if machine.disturbed:
        for job in machine.queue:
            if job.row in promises:
                machine.drop(job)
                if machine.reserve(job) > promises[job.row]:
                    raise AssertionError("where a job was promised its start, it fits")
    for job in machine.queue:
        if job.row not in promises:
            machine.reserve(job)
    due = {hold.job.row for hold in machine.holds if hold.start <= machine.now}
    for job in list(machine.queue):
        if job.row in due:
            if not machine.suits(job, machine.left_now(job)):
                raise AssertionError("who is due fits")
            machine.start(job)
    machine.disturbed = False
    machine.wake = min((hold.start for hold in machine.holds), default=None)
