"""How a started job unfolds: the interface that every execution model has."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.source import Engine, Source

NEVER = cython.declare(cython.longlong, _NEVER)
CORES = cython.declare(cython.longlong, 0xFFFFFF)  # the part of a ledger's range that is the cores of each node


@cython.cclass
class Execution(Source):
    """A source that ends jobs. It calls `engine.finish(slot, COMPLETED)` when a job's work is done.

    With `extends` jobs run beyond their limits. `spent_aside` are core-microseconds that were none of the jobs' work.
    """

    def __init__(self) -> None:
        Source.__init__(self)
        self.to_running = True
        self.extends = False
        self.spent_aside = 0

    def equip(self, layouts, seed, profiles=()):
        """Called once, before the run: the nodes of each cluster (None: a plain number of cores), the seed, and the
        profiles that jobs are known to have."""
        return 0

    def attach(self, engine: Engine):
        self.engine = engine
        sim: object = engine
        self.arrivals = sim.arrivals
        self.live_jobs = sim.arrivals.live_jobs
        return 0

    def connect(self, machines):
        """Called once, before the run: of each cluster its nodes, disks, network and components outside, as a Machine;
        None for a plain number of cores."""
        return 0

    def minds(self):
        """Whether it is to be told, by `taken` and `ended`, of jobs that come and leave; asked before the run."""
        return True

    def taken(self, slot):
        """The job is submitted, and about to enter the system."""
        jobs: JobTable = self.engine.jobs
        if self.extends:
            jobs.at[slot].limit = NEVER
        return 0

    def begin(self, slot):
        """The job starts, or runs on after an interruption, now. Returns when it will end if that is known for
        certain, else NEVER: the engine then keeps a timer for its limit."""
        raise NotImplementedError(f"{type(self).__name__}.begin")

    def interrupt(self, slot, keep):
        """The running job stops now, by whatever cause. With `keep`, jobs.progress[slot] is what it has done so far,
        and a later `begin` goes on from there; otherwise its work is lost."""
        raise NotImplementedError(f"{type(self).__name__}.interrupt")

    def profile_of(self, job):
        """What the job's profile says; None where nothing."""
        slot: cython.Py_ssize_t = job
        row: cython.longlong = self.engine.jobs.at[slot].row
        if row < 0:
            return self.live_jobs[-row - 1].get("profile") or None
        for batch in self.arrivals.batches:
            if row < len(batch):
                code = batch.column("profile")[row] if batch.has("profile") else -1
                return batch.label_names("profile")[code] if code >= 0 else None
            row -= len(batch)
        return None

    def shares_of(self, job) -> list:
        """(node, tasks) of the job: as its ledger gave them, of whole nodes evenly over them."""
        jobs: JobTable = self.engine.jobs
        slot: cython.Py_ssize_t = job
        ledger: Ledger = self.engine.ledger_for(slot)
        ranges: cython.Py_ssize_t = ledger.describe(slot)
        k: cython.Py_ssize_t
        left: cython.longlong = jobs.at[slot].cores
        found = []
        for k in range(ranges):
            first = ledger.ranges[k] >> 44
            for node in range(first, first + ((ledger.ranges[k] >> 24) & 0xFFFFF) + 1):
                found.append((node, ledger.ranges[k] & CORES))
        if sum([tasks for _, tasks in found]) <= left:
            return found
        evenly = []
        for index, (node, _) in enumerate(found):
            tasks = -(-left // (len(found) - index))
            left -= tasks
            evenly.append((node, tasks))
        return evenly

    def ended(self, slot):
        """The job is about to leave the system."""
        return 0

    def write_checkpoints(self, interval, cost, restart) -> None:
        """From now on jobs write a checkpoint after each `interval` of work; all three in microseconds."""
        raise NotImplementedError(f"{type(self).__name__} writes no checkpoints")

    def restore(self, slot):
        """The interrupted job is to go on from its last checkpoint: jobs.progress[slot] is what it had done by then.
        Returns the time that took, of the time that it ran. Without checkpoints it has done nothing."""
        jobs: JobTable = self.engine.jobs
        jobs.at[slot].progress = 0
        return 0
