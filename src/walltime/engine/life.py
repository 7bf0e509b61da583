"""The life of a job in the system: every transition that it can make, and what is told of it.

Submitted, it is rejected, held or waits; a pass starts it; it ends, is suspended, or is interrupted and waits again.
What takes part in that hears of its moments: see `walltime.kernel.source`.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import EngineError
from walltime.core.time import NEVER as _NEVER
from walltime.engine.cluster import Cluster
from walltime.engine.recording.recorder import NOWHERE as _NOWHERE
from walltime.engine.recording.recorder import Recorder
from walltime.engine.scheduling import Scheduling
from walltime.engine.sources import Releases, Returns
from walltime.execution.model import Execution
from walltime.kernel.jobs import JobTable, Outcome, State, done_in, seal
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.source import GONE as _GONE
from walltime.kernel.source import Engine, Moment, Observer, Remedy, Source
from walltime.policy.api import Cause

NEVER = cython.declare(cython.longlong, _NEVER)
NOWHERE = cython.declare(cython.longlong, _NOWHERE)
GONE = cython.declare(cython.longlong, _GONE)

if not cython.compiled:
    FUTURE, HELD, WAITING, RUNNING, SUSPENDED, COMPLETED, TIMEOUT, FAILED, CANCELLED, REJECTED = State
    RELEASE = Cause.RELEASE
    RESIZED = Outcome.RESIZED
    REQUEUE, FAIL, RESTORE, KILL = Remedy
    ENTERED, ELIGIBLE, STARTED, BEGUN, INTERRUPTED, LEFT, MOVED, OUTLIVES = Moment

COUNTED = {Outcome.PREEMPTED: "preemptions"}
TRANSITIONS = {
    State.FUTURE: (State.HELD, State.WAITING),
    State.HELD: (State.WAITING, State.CANCELLED, State.REJECTED),
    State.WAITING: (State.RUNNING, State.CANCELLED, State.REJECTED),
    State.RUNNING: (
        State.SUSPENDED,
        State.HELD,
        State.WAITING,
        State.COMPLETED,
        State.TIMEOUT,
        State.FAILED,
        State.CANCELLED,
    ),
    State.SUSPENDED: (State.RUNNING, State.HELD, State.WAITING, State.FAILED, State.CANCELLED),
}


@cython.cclass
class Life(Engine):
    """The transitions of jobs. `scheduling` sends waiting ones to clusters, `releases` lets in those that are held."""

    def __init__(self, execution: Execution, scheduling: Scheduling, releases: Releases, observers, jobs) -> None:
        Engine.__init__(self, jobs)
        seal(self.jobs)
        self.execution = execution
        self.scheduling = scheduling
        self.releases = releases
        self.returns = Returns()  # a source where a cluster has jobs pause that were put back
        self.recorder = Recorder()
        self.legal = np.array([sum(1 << after for after in TRANSITIONS.get(before, ())) for before in State], np.int64)
        self.clusters = []
        self.only = None  # the cluster, where there is one and no global scheduler
        self.reasons = {}  # why jobs were rejected, and how many
        self.withdrawn = {}  # why jobs were cancelled, and how many
        self.counts = dict.fromkeys(("preemptions", "suspensions", "interruptions", "requeues", "failures"), 0)
        self.observers = list(observers)
        self.watched = bool(self.observers)
        self.told = self.watched  # whether anything hears of each transition
        self.heard = 0  # the moments of which anything hears
        self.minds = True  # whether the execution model hears of jobs that come and leave
        self.ended = 0
        self.overtime = 0  # so long a job may run beyond its limit
        self.limit_check = 0  # and limits are looked at every so often; 0: at once

    def listen(self, sources):
        """Before the run: which of the sources is told of which moment."""
        self.on_entered = [one for one in sources if one.hears & ENTERED]
        self.on_eligible = [one for one in sources if one.hears & ELIGIBLE]
        self.on_started = [one for one in sources if one.hears & STARTED]
        self.on_begun = [one for one in sources if one.hears & BEGUN]
        self.on_interrupted = [one for one in sources if one.hears & INTERRUPTED]
        self.on_left = [one for one in sources if one.hears & LEFT]
        self.on_moved = [one for one in sources if one.hears & MOVED]
        self.on_outlives = [one for one in sources if one.hears & OUTLIVES]
        self.minds = self.execution.minds()
        self.told = self.watched or bool(self.on_moved)
        self.heard = 0
        for one in sources:
            self.heard |= one.hears
        return 0

    # ---- a job's way in

    def enter(self, slot, begin):
        """Admit or reject a submitted job."""
        i: cython.Py_ssize_t
        if self.minds:
            self.execution.taken(slot)
        if self.only is None or not self.only.admits(slot):
            reason = self.scheduling.refuse(slot) if self.only is None else self.only.refuse(slot)
            if reason is not None:
                return self.reject(slot, reason)
        if self.heard & ENTERED:
            hearers: list = self.on_entered  # one of which may have others listen
            for i in range(len(hearers)):
                begin = cython.cast(Source, hearers[i]).entered(slot, begin)
                if begin == GONE:
                    return 0
        if begin > self.now:
            self.turn(slot, HELD)
            return self.releases.plan(slot, begin) if begin < NEVER else 0
        return self.let_in(slot)

    def reject(self, slot, reason):
        """The job is not let in; the reasons are counted."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.jobs.at[slot].rules = self.jobs.at[slot].choice = -1  # it was not counted
        self.move(slot, HELD)
        return self.leave(slot, REJECTED)

    def turn_away(self):
        """Jobs that waited, and that no cluster lets in any more."""
        slot: cython.Py_ssize_t
        for slot, reason in self.scheduling.rejected:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
            self.leave(slot, REJECTED)
        self.scheduling.rejected = []
        return 0

    def admit(self, slot):
        return self.let_in(slot)

    @cython.final
    def let_in(self, slot):
        """The job begins to wait, where it may."""
        i: cython.Py_ssize_t
        if self.jobs.at[slot].eligible < 0:
            self.jobs.at[slot].eligible = self.now
        if self.heard & ELIGIBLE:
            for i in range(len(self.on_eligible)):
                if not cython.cast(Source, self.on_eligible[i]).admits(slot):
                    return self.move(slot, HELD) if self.jobs.at[slot].state == FUTURE else 0
        self.turn(slot, WAITING)
        if self.only is not None:
            return self.only.join(self.jobs, slot, self.now)
        return self.scheduling.wait(slot, self.now)

    # ---- running

    def start(self, slot):
        """The pass gave the job its resources: it runs."""
        i: cython.Py_ssize_t
        jobs: JobTable = self.jobs
        end: cython.longlong
        self.turn(slot, RUNNING)
        jobs.at[slot].start = self.now
        if jobs.at[slot].first_start < 0:
            jobs.at[slot].first_start = self.now
            if self.heard & STARTED:
                for i in range(len(self.on_started)):
                    cython.cast(Source, self.on_started[i]).started(slot)
        if self.only is None:
            cython.cast(Cluster, self.clusters[jobs.at[slot].cluster]).started(jobs, slot)
        end = self.execution.begin(slot)
        if self.heard & BEGUN:
            for i in range(len(self.on_begun)):
                cython.cast(Source, self.on_begun[i]).begun(slot)
        if end > jobs.at[slot].expected_end or end > self.now + jobs.at[slot].limit - jobs.at[slot].used:
            jobs.at[slot].known_end = end
            for i in range(len(self.on_outlives)):
                cython.cast(Source, self.on_outlives[i]).outlives(slot)
        return 0

    def start_as_running(self, slot, where=None) -> bool:
        """Start a waiting job now whatever the scheduler says, as it runs already in truth; whether it had room. It is
        `where` these (node, cores) are, else where the placement chooses."""
        job: cython.Py_ssize_t = slot
        cluster: Cluster = self.clusters[self.jobs.at[job].cluster]
        if not cluster.put(job, where, self.now):
            return False
        self.start(job)
        if cluster.charges:
            cluster.charge(job, self.now, True)
        return True

    def suspend_as_told(self, slot) -> bool:
        """Suspend a running job, as it is suspended in truth; whether its scheduler lets such jobs go on."""
        job: cython.Py_ssize_t = slot
        cluster: Cluster = self.clusters[self.jobs.at[job].cluster]
        return cluster.put_aside(job)

    @cython.final
    def stop(self, slot, outcome, keep):
        """The job no longer runs here: resources back, the interval written down; stale events lose their stamp."""
        jobs: JobTable = self.jobs
        cluster: Cluster = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster])
        elapsed: cython.longlong = self.now - jobs.at[slot].start
        if outcome == COMPLETED:  # as it mostly is
            if jobs.at[slot].run_time >= 0:
                jobs.at[slot].progress = jobs.at[slot].run_time
            else:
                jobs.at[slot].progress += done_in(elapsed, jobs.at[slot].speed)
            jobs.at[slot].used += elapsed
        else:
            self.execution.interrupt(slot, keep)
            if keep:
                jobs.at[slot].used += elapsed
            else:
                jobs.at[slot].lost += elapsed * jobs.at[slot].cores
        jobs.at[slot].held += elapsed
        jobs.at[slot].stamp += 1
        if cluster.charges:
            cluster.charge(slot, self.now, False)
        if cluster.bare:
            cluster.set_bare_time(self.now)
            self.recorder.allocation(jobs, slot, self.now, outcome, cluster.ledger)
            cluster.ledger.give(slot)
            cluster.sole.causes |= RELEASE
            return 0
        cluster.set_time(self.now)
        ledger: Ledger = cluster.ledger_of(slot) if cluster.reserved else cluster.ledger
        self.recorder.allocation(jobs, slot, self.now, outcome, ledger)
        ledger.give(slot)
        if cluster.changes is not None:
            cluster.stopped(jobs, slot)
        cluster.changed(slot, RELEASE)
        return cluster.released(slot) if cluster.quotas is not None else 0

    def shrink(self, slot, nodes):
        """The interval in which it had them all is written down; another begins."""
        jobs: JobTable = self.jobs
        cluster: Cluster = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster])
        ledger: Ledger = cluster.ledger_of(slot)
        elapsed: cython.longlong = self.now - jobs.at[slot].start
        jobs.at[slot].progress += done_in(elapsed, jobs.at[slot].speed)
        jobs.at[slot].used += elapsed
        jobs.at[slot].held += elapsed
        if cluster.charges:
            cluster.charge(slot, self.now, False)
        cluster.set_time(self.now)
        self.recorder.allocation(jobs, slot, self.now, RESIZED, ledger)
        jobs.at[slot].start = self.now
        for node in nodes:
            ledger.give_node(slot, node)
        if cluster.charges:
            cluster.charge(slot, self.now, True)
        cluster.shrunk(jobs, slot)
        return cluster.changed(slot, RELEASE)

    def kill_time(self, slot):
        time: cython.longlong = self.jobs.at[slot].start + self.jobs.at[slot].limit - self.jobs.at[slot].used
        if (self.overtime > 0 or self.limit_check > 0) and time < NEVER:
            time = max(time + self.overtime, self.jobs.at[slot].start)
            if self.limit_check > 0:
                time += (self.limit_check - time % self.limit_check) % self.limit_check
        return time

    def prolong(self, slot, until):
        return cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster]).prolong(slot, until, self.now)

    def ledger_for(self, slot) -> Ledger:
        job: cython.Py_ssize_t = slot
        return cython.cast(Cluster, self.clusters[self.jobs.at[job].cluster]).ledger_of(job)

    def finish(self, slot, state):
        if self.jobs.at[slot].state == RUNNING:
            self.stop(slot, state, True)
        elif self.jobs.at[slot].state == WAITING:
            self.scheduling.forget(slot, self.now)
        return self.leave(slot, state)

    def withdraw(self, slot, reason):
        self.count_withdrawn(reason)
        return self.finish(slot, CANCELLED)

    def count_withdrawn(self, reason):
        """One more job is cancelled for this reason."""
        self.withdrawn[reason] = self.withdrawn.get(reason, 0) + 1
        return 0

    def interrupt(self, slot, remedy, outcome):
        i: cython.Py_ssize_t
        jobs: JobTable = self.jobs
        kept: cython.longlong = 0
        self.counts[COUNTED.get(outcome, "interruptions")] += 1
        if jobs.at[slot].state == RUNNING:
            self.stop(slot, outcome, True)
        else:
            jobs.at[slot].stamp += 1
        if remedy == RESTORE:
            kept = min(self.execution.restore(slot), jobs.at[slot].used)
        elif remedy == REQUEUE:
            jobs.at[slot].progress = jobs.at[slot].saved = 0
        jobs.at[slot].lost += (jobs.at[slot].used - kept) * jobs.at[slot].cores
        jobs.at[slot].used = kept
        if remedy == FAIL:
            return self.leave(slot, FAILED)
        if remedy == KILL:
            return self.leave(slot, CANCELLED)
        self.counts["requeues"] += 1
        for i in range(len(self.on_interrupted)):
            cython.cast(Source, self.on_interrupted[i]).interrupted(slot)
        pause: cython.longlong = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster]).requeue_delay
        self.move(slot, HELD if pause > 0 else WAITING)
        jobs.at[slot].attempt += 1
        jobs.at[slot].corrections = 0
        jobs.at[slot].promise = -1
        if pause > 0:
            return self.returns.plan(slot, self.now + pause)
        return cython.cast(Cluster, self.clusters[jobs.at[slot].cluster]).join(jobs, slot, self.now)

    def rejoin(self, slot):
        self.move(slot, WAITING)
        return cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster]).rejoin(self.jobs, slot, self.now)

    def suspend(self, slot):
        remaining: cython.longlong = self.jobs.at[slot].expected_end - self.now
        self.counts["suspensions"] += 1
        self.stop(slot, SUSPENDED, True)
        self.jobs.at[slot].estimate = remaining if remaining > 0 else 1
        return self.move(slot, SUSPENDED)

    def resume(self, slot):
        return self.resume_at(slot, None)

    def resume_at(self, slot, where):
        """The suspended job runs on: where it was, as its ledger has told, or anywhere (None)."""
        cluster: Cluster = cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster])
        cluster.put_back(slot, where, self.now)
        self.start(slot)
        return cluster.charge(slot, self.now, True)

    # ---- out, and the record

    @cython.final
    def leave(self, slot, state):
        """The job's last transition; its slot is free for another."""
        i: cython.Py_ssize_t
        cluster: cython.Py_ssize_t = self.jobs.at[slot].cluster
        if self.minds:
            self.execution.ended(slot)
        if cluster != NOWHERE and cython.cast(Cluster, self.clusters[cluster]).minds:
            cython.cast(Cluster, self.clusters[cluster]).left(slot)
        self.turn(slot, state)
        if self.heard & LEFT:
            for i in range(len(self.on_left)):
                cython.cast(Source, self.on_left[i]).left(slot, state)
        self.recorder.job(self.jobs, slot, -1 if state == REJECTED else self.now)
        self.ended += 1
        return self.jobs.leave(slot)

    def move(self, slot, state):
        return self.turn(slot, state)

    @cython.final
    def turn(self, slot, state):
        """Every transition of every job is made here."""
        before: cython.int = self.jobs.at[slot].state
        if not (self.legal[before] >> state) & 1:
            return self.forbid(slot, before, state)
        self.jobs.at[slot].state = state
        return self.tell(slot, before, state) if self.told else 0

    @cython.final
    def forbid(self, slot, before, state):
        raise EngineError(f"job {self.jobs.at[slot].job_id} cannot go from {State(before).name} to {State(state).name}")

    @cython.final
    def tell(self, slot, before, state):
        """All that want to hear of each transition hear of this one."""
        i: cython.Py_ssize_t
        observer: Observer
        for i in range(len(self.on_moved)):
            cython.cast(Source, self.on_moved[i]).moved(slot, before, state)
        for observer in self.observers:
            observer.moved(self, slot, before, state)
        return 0
