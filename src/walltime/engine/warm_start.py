"""A simulation that begins in the middle: jobs that run already are placed, and nothing is decided before a time."""

from __future__ import annotations

import re

import cython
import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Source
from walltime.policy.api import Pass, Policy, Rhythm

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    RUNNING, WAITING = State.RUNNING, State.WAITING


@cython.final
@cython.cclass
class WarmStart(Rhythm):
    """No pass before `time`; from then on another rhythm's passes, or one whenever something has happened."""

    def __init__(self, time, inner) -> None:
        Rhythm.__init__(self)
        self.time = time
        self.inner = inner
        self.opened = False
        self.replans = inner is not None and inner.replans
        self.asks_limits = inner is not None and inner.asks_limits

    def attach(self, policy: Policy, ageing, lanes=None):
        Rhythm.attach(self, policy, ageing, lanes)
        if self.inner is not None:
            self.inner.attach(policy, ageing, lanes)

    def keeps_promises(self, policy: Policy) -> bool:
        return policy.plans if self.inner is None else self.inner.keeps_promises(policy)

    def set_partitions(self, masks):
        if self.inner is not None:
            self.inner.set_partitions(masks)

    def set_arrays(self, arrays):
        if self.inner is not None:
            self.inner.set_arrays(arrays)

    def set_surroundings(self, around):
        if self.inner is not None:
            self.inner.set_surroundings(around)

    def idle(self, now, causes):
        if self.inner is not None:
            self.inner.idle(now, causes)

    def overlooks(self):
        return self.inner is not None and self.inner.overlooks()

    def due(self, now, causes):
        if now < self.time:
            return False
        return causes != 0 if self.inner is None or not self.opened else self.inner.due(now, causes)

    def schedule(self, p: Pass):
        if self.inner is None:
            self.policy.schedule(p)
        else:
            self.inner.schedule(p)
        self.opened = True
        self.forgets = self.inner is not None and self.inner.forgets
        return 0

    def next(self, now, causes):
        if now < self.time:
            return self.time
        return NEVER if self.inner is None else self.inner.next(now, causes)


def read_places(text: str, nodes: int) -> list[tuple[int, int]]:
    """(node, cores) of `0-1:5,2:7`, of so many nodes; raises InputError."""
    found: list[tuple[int, int]] = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?:(\d{1,7})", part.strip())
        if match is None or int(match[3]) < 1:
            raise InputError("running_on: not cores on nodes, such as 0-1:5,2:7", value=text)
        if int(match[2] or match[1]) >= nodes:
            raise InputError(f"running_on: names a node beyond the last, {nodes - 1}", value=text)
        found += [(node, int(match[3])) for node in range(int(match[1]), int(match[2] or match[1]) + 1)]
    if len({node for node, _ in found}) < len(found):
        raise InputError("running_on: names a node twice", value=text)
    return sorted(found)


@cython.final
@cython.cclass
class RunningPlacements(Source):
    """Starts the jobs that run already at the times at which they started, where `running_on` tells if there are so
    many `nodes` that jobs share; and suspends those that are suspended."""

    def __init__(self, workload, nodes=0) -> None:
        Source.__init__(self)
        started = workload.column("started")
        self.workload = workload
        self.where = [read_places(text, nodes) for text in workload.label_names("running_on")] if nodes else []
        self.codes = workload.column("running_on")
        for row in np.flatnonzero(self.codes >= 0).tolist() if nodes else ():
            if sum(cores for _, cores in self.where[self.codes[row]]) != workload.column("cores")[row]:
                what = "running_on: another sum of cores than the job has"
                raise InputError(what, value=workload.label_names("running_on")[self.codes[row]])
        suspended = workload.column("suspended")
        begun, halted = np.flatnonzero(started >= 0), np.flatnonzero(suspended >= 0)
        times = np.concatenate([suspended[halted], started[begun]])  # at one time they leave room before others start
        self.rows = np.concatenate([~halted, begun])[np.argsort(times, kind="stable")]
        self.times = np.sort(times)
        self.placed = 0
        self.look_ahead()

    def name(self, row):
        """What the snapshot calls the job: its name, else its number."""
        return self.workload.column("name")[row] or int(self.workload.column("job_id")[row])

    def look_ahead(self):
        self.next = self.times[self.placed] if self.placed < len(self.times) else NEVER
        return 0

    def fire(self, now):
        slot: cython.Py_ssize_t
        while self.next <= now:
            row: cython.longlong = self.rows[self.placed]
            self.placed += 1
            self.look_ahead()
            if row < 0:
                self.halt(~row)
                continue
            slot = self.find(row, WAITING)
            if slot < 0:
                raise InputError(
                    "a job that runs already is refused by a rule of the scenario, or was cancelled before: "
                    + "; ".join(getattr(self.engine, "reasons", ())),
                    value=self.name(row),
                )
            where = self.where[self.codes[row]] if self.where and self.codes[row] >= 0 else None
            if not self.engine.start_as_running(slot, where):
                raise InputError(
                    "the jobs that run already do not all fit the cluster; the first without room "
                    f"(at {now / SECOND:g} s)",
                    value=self.name(row),
                )
        return 0

    def halt(self, row):
        """The running job of that row is suspended, unless it has ended."""
        slot: cython.Py_ssize_t = self.find(row, RUNNING)
        if slot >= 0 and not self.engine.suspend_as_told(slot):
            what = "a job is suspended, and nothing lets it go on (scheduler.preempt with mode: suspend does)"
            raise InputError(what, value=self.name(row))
        return 0

    def find(self, row, state):
        """The slot of the job of that row in that state, or -1."""
        jobs: JobTable = self.engine.jobs
        slot: cython.Py_ssize_t
        for slot in range(jobs.size):
            if jobs.at[slot].row == row and jobs.at[slot].state == state:
                return slot
        return -1
