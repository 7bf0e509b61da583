"""Jobs arrive when their users submit them: a closed loop, in which a job's end may bring the next one."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import SECOND
from walltime.engine.arrivals import Arrivals
from walltime.engine.loop import Simulation
from walltime.kernel.closed_loop import ClosedLoop
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Engine, Moment

if not cython.compiled:
    STARTED, LEFT = Moment.STARTED, Moment.LEFT
    COMPLETED = State.COMPLETED


@cython.final
@cython.cclass
class Users(Arrivals):
    """The arrivals of one workload, whose jobs come as `plan` (walltime.workload.users.plan) says.

    `reactions` (walltime.engine.reactions) are asked about each job, where there are any; a job that is not submitted
    as it was in the log is one that is submitted live, and `changed` has the rows of those.
    """

    def __init__(self, workloads, plan, reactions=None, site=None, admission=None) -> None:
        Arrivals.__init__(self, workloads, site, admission)
        self.closed = ClosedLoop(plan)
        self.came = np.full(len(plan.rows), -1, np.int64)
        self.reactions = reactions
        self.changed = []
        self.hears = LEFT if reactions is None else LEFT | STARTED

    def attach(self, engine: Engine):
        Arrivals.attach(self, engine)
        if self.reactions is not None and self.batches:
            self.reactions.attach(self.batches[0])
        self.closed.begin()
        self.next = self.closed.next

    def fire(self, now):
        sim: Simulation = self.engine
        row: cython.Py_ssize_t
        while self.closed.next <= now:
            row = self.closed.pop()
            if self.reactions is None:
                self.came[row] = now
                self.enter(row, now)
            else:
                self.consider(row, now)
            if sim.per_event:
                break
        self.next = self.closed.next

    def consider(self, row, now):
        """Have the reactions say what becomes of a job that is due."""
        job, description, patience = self.reactions.ask(row, now)
        if job.later > 0:
            self.closed.put_back(row, now + max(1, round(job.later * SECOND)))
        elif job.dropped:
            self.closed.leave(row, now)
        elif description is None:
            self.came[row] = now
            self.gives_up = patience
            self.enter(row, now)
            self.gives_up = -1
        else:
            self.came[row] = now
            self.changed.append(row)
            self.submit_live(description, row)
        return 0

    def find_row(self, slot):
        """The row of a job, also of one that was submitted otherwise; -1 where it has none."""
        row: cython.Py_ssize_t = self.engine.jobs.at[slot].row
        return row if row >= 0 else self.changed[-1 - row]

    def started(self, slot):
        jobs: JobTable = self.engine.jobs
        queue: cython.longlong = jobs.at[slot].queue
        names = list(self.codes["queue"])
        name = names[queue] if 0 <= queue < len(names) else None
        self.reactions.started(name, self.engine.now - jobs.at[slot].submit)

    def left(self, slot, state):
        jobs: JobTable = self.engine.jobs
        row: cython.Py_ssize_t = self.find_row(slot)
        if self.reactions is not None:
            ran = jobs.at[slot].held
            self.reactions.left(
                row,
                self.engine.now,
                cores=jobs.at[slot].cores,
                requested_time=jobs.at[slot].requested,
                wait=self.engine.now - jobs.at[slot].submit - ran,
                ran=ran,
                completed=state == COMPLETED,
            )
        self.closed.leave(row, self.engine.now)
        self.next = self.closed.next

    def submissions(self):
        return np.asarray(self.came)
