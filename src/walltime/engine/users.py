"""Jobs arrive when their users submit them: a closed loop, in which a job's end may bring the next one."""

from __future__ import annotations

import cython
import numpy as np

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

    `reactions` (walltime.rules.reactions) are asked about each job, where there are any; a job that is not submitted
    as it was in the log is one that is submitted live, and `changed` has the rows of those.
    """

    def __init__(self, workloads, plan, reactions=None, site=None, admission=None) -> None:
        Arrivals.__init__(self, workloads, site, admission)
        self.closed = ClosedLoop(plan)
        self.plan = plan
        self.came = np.full(len(plan.rows), -1, np.int64)
        self.reactions = reactions
        self.changed = []
        self.hears = LEFT if reactions is None else LEFT | STARTED

    def attach(self, engine: Engine):
        Arrivals.attach(self, engine)
        if self.reactions is not None and self.batches:
            sent = self.batches[0]
            if self.admission is not None:
                sent = self.admission.find_queues(sent)
            self.reactions.attach(self.asked, self.plan, sent=sent)
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
        answer = self.reactions.ask(row, now, self.find_clusters(row))
        if answer.later > 0 and not (answer.vain and not self.engine.ending.runs()):
            self.closed.put_back(row, now + answer.later)
        elif answer.gone:
            self.closed.leave(row, now)
        for other in answer.again:
            self.closed.put_back(other, now)
        for description, patience in answer.jobs:
            self.came[row] = now
            if description is None:
                self.gives_up = patience
                self.enter(row, now)
                self.gives_up = -1
            else:
                self.changed.append(row)
                self.submit_live(description, row)
        return 0

    def find_clusters(self, row):
        """The names of the clusters to which the job may go by the bindings; None: all of them."""
        if self.admission is None or self.admission.routing is None or not self.reactions.clusters:
            return None
        routing = self.admission.routing
        return tuple(self.reactions.clusters[number] for number in routing.clusters(routing.kind(row)))

    def find_row(self, slot):
        """The row of a job, also of one that was submitted otherwise; -1 where it has none."""
        row: cython.Py_ssize_t = self.engine.jobs.at[slot].row
        return row if row >= 0 else self.changed[-1 - row]

    def started(self, slot):
        sim: Simulation = self.engine
        jobs: JobTable = sim.jobs
        queue: cython.longlong = jobs.at[slot].queue
        cluster = sim.clusters[jobs.at[slot].cluster]
        rules = self.site if cluster.assignments is None else cluster.assignments
        names = rules.names if rules is not None and rules.names else list(self.codes["queue"])
        name = names[queue] if 0 <= queue < len(names) else None
        self.reactions.started(name, cluster.name, jobs.at[slot].cores, sim.now - jobs.at[slot].submit)

    def left(self, slot, state):
        jobs: JobTable = self.engine.jobs
        now: cython.longlong = self.engine.now
        row: cython.Py_ssize_t = self.find_row(slot)
        if self.reactions is None:
            self.closed.leave(row, now)
        else:
            ran = jobs.at[slot].held
            gone, again = self.reactions.left(
                row,
                now,
                cores=jobs.at[slot].cores,
                requested_time=jobs.at[slot].requested,
                wait=now - jobs.at[slot].submit - ran,
                ran=ran,
                completed=state == COMPLETED,
            )
            for other in gone:
                self.closed.leave(other, now)
            if again:
                self.closed.put_back(row, now)
        self.next = self.closed.next

    def count_missing(self):
        """How many rows users have not submitted, neither as they are nor in another job, nor dropped."""
        told = {} if self.reactions is None else self.reactions.counts
        return int(np.count_nonzero(np.asarray(self.came) < 0)) - told.get("abandoned", 0) - told.get("merged", 0)

    def submissions(self):
        return np.asarray(self.came)
