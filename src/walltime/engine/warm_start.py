"""A simulation that begins in the middle: jobs that run already are placed, and nothing is decided before a time."""

from __future__ import annotations

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
    WAITING = State.WAITING


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


@cython.final
@cython.cclass
class Placements(Source):
    """Starts the jobs that run already at the times at which they started."""

    def __init__(self, started) -> None:
        Source.__init__(self)
        rows = np.flatnonzero(started >= 0)
        self.rows = rows[np.argsort(started[rows], kind="stable")]
        self.times = np.ascontiguousarray(started[self.rows], np.int64)
        self.placed = 0
        self.look_ahead()

    def look_ahead(self):
        self.next = self.times[self.placed] if self.placed < len(self.times) else NEVER
        return 0

    def fire(self, now):
        slot: cython.Py_ssize_t
        while self.next <= now:
            row: cython.longlong = self.rows[self.placed]
            slot = self.find(row)
            if slot < 0:
                raise InputError(
                    "a job that runs already is refused by a rule of the scenario, or was cancelled before: "
                    + "; ".join(getattr(self.engine, "reasons", ())),
                    value=f"job {row + 1} in order of submission",
                )
            if not self.engine.start_as_running(slot):
                raise InputError(
                    "the jobs that run already do not all fit the cluster; the first without room "
                    f"(at {now / SECOND:g} s)",
                    value=int(self.engine.jobs.at[slot].job_id),
                )
            self.placed += 1
            self.look_ahead()
        return 0

    def find(self, row):
        """The slot of the waiting job of that row, or -1."""
        jobs: JobTable = self.engine.jobs
        slot: cython.Py_ssize_t
        for slot in range(jobs.size):
            if jobs.at[slot].row == row and jobs.at[slot].state == WAITING:
                return slot
        return -1
