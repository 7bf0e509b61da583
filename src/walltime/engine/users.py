"""Jobs arrive when their users submit them: a closed loop, in which a job's end may bring the next one."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.kernel.closed_loop import ClosedLoop
from walltime.kernel.source import Engine, Moment

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    LEFT = Moment.LEFT


@cython.final
@cython.cclass
class Users(Arrivals):
    """The arrivals of one workload, whose jobs come as `plan` (walltime.workload.users.plan) says."""

    def __init__(self, workloads, plan, site=None, admission=None) -> None:
        Arrivals.__init__(self, workloads, site, admission)
        self.closed = ClosedLoop(plan)
        self.came = np.full(len(plan.rows), -1, np.int64)
        self.hears = LEFT

    def attach(self, engine: Engine):
        Arrivals.attach(self, engine)
        self.closed.begin()
        self.next = self.closed.next

    def fire(self, now):
        sim: Simulation = self.engine
        row: cython.Py_ssize_t
        while self.closed.next <= now:
            row = self.closed.pop()
            self.came[row] = now
            self.enter(row, now)
            if sim.per_event:
                break
        self.next = self.closed.next

    def left(self, slot, state):
        row: cython.Py_ssize_t = self.engine.jobs.at[slot].row
        if row >= 0:
            self.closed.leave(row, self.engine.now)
            self.next = self.closed.next

    def submissions(self):
        return np.asarray(self.came)
