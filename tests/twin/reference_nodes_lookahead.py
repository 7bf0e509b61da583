"""Backfilling with lookahead in the slow twin on nodes: the set of jobs that uses the most cores, by all who wait.

The set is chosen by numbers of cores alone. Who of it finds its nodes, in queue order, starts; then the same with those
who still fit, until nobody does.
"""

from __future__ import annotations

from functools import cache
from typing import Any


def schedule_lookahead(machine: Any) -> None:
    """One pass: heads start, the first that does not fit gets a reservation, and the best sets behind it start."""
    if machine.disturbed or not machine.holds:
        machine.holds, machine.named = [], machine.cluster.whole
        while machine.queue and machine.fits(machine.queue[0]):
            machine.start(machine.queue[0])
        if not machine.queue:
            return
        machine.reserve(machine.queue[0])
    fitting = [job for job in machine.queue[1:] if machine.fits(job)]
    machine.disturbed = len(fitting) > machine.depth  # then the next pass begins anew
    fitting = fitting[: machine.depth]
    while fitting:
        for job in _choose_best(machine, fitting):
            if machine.fits(job):
                machine.start(job)
        fitting = [job for job in fitting if job in machine.queue and machine.fits(job)]


def _choose_best(machine: Any, fitting: list[Any]) -> list[Any]:
    """Those that use the most of the free cores, who outlast the head's reservation only what that leaves free; of
    equal sets the first in queue order."""
    nodes = range(len(machine.cluster.cores))
    free = sum(machine.room(node, machine.used(node, machine.running)) for node in nodes)
    (hold,) = machine.holds
    if machine.named:
        extra = sum(machine.left(None, machine.now, hold.start + 1, machine.running))
    else:
        extra = min(free, machine.spare(hold))

    def left(job: Any, extra: int) -> int:
        """What of the extra is left once this job runs."""
        return int(extra - job.cores) if machine.now + job.requested > hold.start else extra

    @cache
    def most(i: int, free: int, extra: int) -> int:
        """How many cores the jobs from place i on can use at the most."""
        if i == len(fitting):
            return 0
        without, job = most(i + 1, free, extra), fitting[i]
        if job.cores > free or left(job, extra) < 0:
            return without
        return max(without, int(job.cores) + most(i + 1, free - job.cores, left(job, extra)))

    chosen = []
    for i, job in enumerate(fitting):
        if job.cores <= free and left(job, extra) >= 0:
            with_it = job.cores + most(i + 1, free - job.cores, left(job, extra))
            if with_it == most(i, free, extra):
                free, extra = free - job.cores, left(job, extra)
                chosen.append(job)
    return chosen
