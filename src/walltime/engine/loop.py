"""The loop: merges the sources of events, lets the schedulers decide, makes and records every transition.

At one instant: every source that is due, in its rank; the broker; one pass per cluster in which something changed; and
again while something is due at this instant (a job of zero length ends in the instant in which it starts).
"""

from __future__ import annotations

import enum
import time as clock

import cython
import numpy as np

from walltime.core.errors import EngineError, InputError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.engine.cluster import Changes, Cluster, Island
from walltime.engine.dependencies import Dependencies, TaskLimits  # noqa: F401 - as in loop.pxd
from walltime.engine.dispatch import Dispatch, GlobalQueue
from walltime.engine.ending import CHANCES as _CHANCES
from walltime.engine.ending import MOST as _MOST
from walltime.engine.ending import Ending
from walltime.engine.recorder import NOWHERE as _NOWHERE
from walltime.engine.recorder import Recorder
from walltime.engine.sources import Cancellations, Expiries, Interruptions, Limits, Openings, Releases, Timers
from walltime.execution.model import Execution
from walltime.kernel.jobs import JobTable, Outcome, Place, State, done_in, seal, time_for
from walltime.kernel.ledger import Ledger
from walltime.kernel.source import Engine, Observer, Remedy, Source
from walltime.policy.api import Cause, Decision, Pass

NEVER = cython.declare(cython.longlong, _NEVER)
NOWHERE = cython.declare(cython.longlong, _NOWHERE)
CHANCES = cython.declare(cython.longlong, _CHANCES)
MOST = cython.declare(cython.longlong, _MOST)

if not cython.compiled:
    FUTURE, HELD, WAITING, RUNNING, SUSPENDED, ENDING, COMPLETED, TIMEOUT, FAILED, CANCELLED, REJECTED = State
    RELEASE, ARRIVAL, ORDER, LIMIT, CAPACITY, TIMER, ESTIMATE = Cause
    START, RESERVE, CANCEL, PREEMPT, WAKE = Decision
    OUTSIDE = Place.OUTSIDE
    REQUEUED, PREEMPTED = Outcome
    REQUEUE, FAIL, CHECKPOINT = Remedy

    def PyErr_CheckSignals():  # noqa: N802 - the name it has in C
        return 0


class Rank(enum.IntEnum):
    """The order of sources at one instant."""

    EXECUTION = 0
    LIMITS = 1
    CANCELLATIONS = 2
    INTERRUPTIONS = 3
    FAILURES = 4
    RESERVATIONS = 5
    RELEASES = 6
    ARRIVALS = 7
    TIMERS = 8


BY_USER = "by its user"
GAVE_UP = "its user gave up waiting"
TOO_LATE = "a deadline that cannot be met"

CORRECTIONS = tuple(
    minutes * 60 * SECOND for minutes in (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, *(6000 << k for k in range(21)))
)
"""By how much the expected end of a job that outlives it grows, each time; after 100 hours, twice as much each time.
Tsafrir, Etsion, Feitelson, "Backfilling using system-generated predictions", IEEE TPDS 18(6), 2007."""

ROUNDS = cython.declare(cython.longlong, 100_000)

TRANSITIONS = {
    State.FUTURE: (State.HELD, State.WAITING),
    State.HELD: (State.WAITING, State.CANCELLED, State.REJECTED),
    State.WAITING: (State.RUNNING, State.CANCELLED, State.REJECTED),
    State.RUNNING: (
        State.SUSPENDED,
        State.ENDING,
        State.WAITING,
        State.COMPLETED,
        State.TIMEOUT,
        State.FAILED,
        State.CANCELLED,
    ),
    State.SUSPENDED: (State.RUNNING, State.WAITING, State.ENDING, State.FAILED, State.CANCELLED),
    State.ENDING: (State.COMPLETED, State.TIMEOUT, State.FAILED, State.CANCELLED),
}


@cython.final
@cython.cclass
class Simulation(Engine):
    """One run. `sources` are further sources as (Rank, Source); `progress(now, entered, ended)` is called now and then.

    `dispatch` is the global scheduler of several clusters; a `broker` alone stands for one with a single queue.
    `extend` lets jobs run beyond their limits; `per_event` makes a pass after every event, as some simulators do.
    `dependencies` and `task_limits` hold jobs back until it is their turn; with `drop_late` a job that can no longer
    meet its deadline is cancelled.
    """

    def __init__(
        self,
        arrivals: Source,
        execution: Execution,
        broker=None,
        sources=(),
        observers=(),
        extend=False,
        per_event=False,
        progress=None,
        jobs=None,
        dependencies=None,
        task_limits=None,
        drop_late=False,
        dispatch=None,
    ) -> None:
        Engine.__init__(self, jobs)
        seal(self.jobs)
        self.per_event = per_event
        self.extend = extend
        self.arrivals = arrivals
        self.execution = execution
        self.dispatch = (
            Dispatch([GlobalQueue("", None, broker)]) if dispatch is None and broker is not None else dispatch
        )
        self.changes = Changes()
        self.interruptions = Interruptions()
        self.limits = Limits(self.interruptions)
        self.cancellations = Cancellations()
        self.impatience = Expiries(GAVE_UP)
        self.deadlines = Expiries(TOO_LATE)
        self.drop_late = drop_late
        self.releases = Releases()
        self.timers = Timers()
        self.openings = Openings()
        self.timers.background = self.timers.endless = self.openings.background = self.openings.endless = True
        self.recorder = Recorder()
        self.legal = np.array([sum(1 << after for after in TRANSITIONS.get(before, ())) for before in State], np.int64)
        self.clusters = []
        self.only = None
        self.live_jobs = []
        self.reasons = {}  # why jobs were rejected, and how many
        self.withdrawn = {}  # why jobs were cancelled, and how many
        self.over = -1  # when nothing could start or end a job any more; not where the time was over before
        self.left = {}  # the jobs that are left although everything has happened, by reason
        self.chosen = {}  # the queue that jobs came to that had a choice, by order of entry
        self.observers = list(observers)
        self.watched = bool(self.observers)
        self.progress = progress
        self.reported = clock.monotonic()
        self.every = 0.1  # seconds between signs of life
        self.instants = 0
        self.ended = 0
        ranked = [
            (Rank.EXECUTION, execution),
            (Rank.LIMITS, self.limits),
            (Rank.CANCELLATIONS, self.cancellations),
            (Rank.CANCELLATIONS, self.impatience),
            (Rank.RELEASES, self.releases),
            (Rank.ARRIVALS, arrivals),
            (Rank.TIMERS, self.openings),
            (Rank.TIMERS, self.timers),
            *sources,
        ]
        if drop_late:
            ranked.append((Rank.CANCELLATIONS, self.deadlines))
        self.dependencies = dependencies
        if dependencies is not None:
            dependencies.bind(self.releases)
            ranked.insert(0, (Rank.RELEASES, dependencies))  # before those whom it lets in
        self.task_limits = task_limits
        if task_limits is not None:
            task_limits.bind(self.jobs, self.releases)
        self.sourced = sorted(ranked, key=_rank)
        self.sources = [source for _, source in self.sourced]
        self.machines = []  # clusters on which something is shut now and then
        self.ranked = False  # whether some scheduler displaces jobs
        self.attended = False  # whether a source is in the background
        self.ending = Ending(self)
        self.idle = 0  # instants since something last happened that was not in the background
        self.active = 0  # and when that was
        self.patience = 0  # so long at least is waited for what recurs without end
        self.checkpointed = False
        self.overhead = 0  # core-microseconds of checkpoints and restarts
        self.counts = dict.fromkeys(("preemptions", "suspensions", "interruptions", "requeues", "failures"), 0)

    def add_source(self, rank, source: Source) -> None:
        """One more source of events; `rank` is its Rank."""
        self.sourced = sorted([*self.sourced, (rank, source)], key=_rank)
        self.sources = [source for _, source in self.sourced]
        self.attended |= source.background

    def add_displacer(self, cluster, island, displacer) -> None:
        """Somebody who makes room for the urgent jobs of an island."""
        if not self.ranked:
            self.add_source(Rank.INTERRUPTIONS, self.interruptions)
            self.ranked = True
        self.clusters[cluster].islands[island].displacer = displacer

    def add_cluster(self, name, ledger: Ledger, order, estimate, policy, rhythm=None):
        """One more cluster without rules; the ledger was made for `self.jobs` and this cluster's number."""
        cluster: Cluster = self.add_site(name, ledger, [order], estimate)
        cluster.add_island(None, policy, None, rhythm)
        return cluster

    def add_site(self, name, ledger: Ledger, orders, estimate, quotas=None, licensed=False):
        """One more cluster, with an order for each lane, whose islands are still to be added."""
        cluster: Cluster = Cluster(name, len(self.clusters), ledger, orders, estimate, quotas, licensed)
        self.clusters.append(cluster)
        self.only = cluster if len(self.clusters) == 1 and self.dispatch is None else None
        return cluster

    def join_clusters(self):
        """Before the run: clusters that are not alone get a global scheduler."""
        cluster: Cluster
        if self.only is not None:
            return 0
        if self.dispatch is None:
            self.dispatch = Dispatch([GlobalQueue("", None, None)])
        for cluster in self.clusters:
            cluster.changes = self.changes
        return self.dispatch.attach(self.jobs, self.clusters, self.changes)

    def run(self, until=NEVER):
        """Simulate to the end, or to `until` inclusive; then everything is in the recorder."""
        time: cython.longlong
        last: cython.longlong = until
        source: Source
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = len(self.sources)
        self.join_clusters()
        for i in range(n):
            source = cython.cast(Source, self.sources[i])
            source.attach(self)
        while True:
            time = NEVER
            for i in range(n):
                source = cython.cast(Source, self.sources[i])
                if source.next < time:
                    time = source.next
            if time >= NEVER or time > last or (self.attended and not self.worthwhile(time)):
                break
            if time == self.timers.next and self.jobs.live == 0 and self.is_over():
                break
            if time < self.now:
                raise EngineError(f"an event at {time / SECOND:g} s, but it is {self.now / SECOND:g} s already")
            self.now = time
            self.instant()
            self.instants += 1
            if self.instants & 63 == 0:
                self.poll()
        if time >= NEVER or time <= last:
            self.over = self.now
            self.left = self.ending.explain(last)
        self.close(self.now if last >= NEVER else last)

    def worthwhile(self, time):
        """Whether something that can still happen could start or end a job; see `walltime.engine.ending`."""
        source: Source
        endless: cython.bint = True
        vain: cython.bint = self.ending.exhausted > 0  # then what is to happen to running jobs tells nothing
        for source in self.sources:
            if source.next < NEVER and not source.background:
                source.forget()
            if source.next >= NEVER:
                continue
            if source.background:
                endless &= source.endless
            elif not vain or not (source is self.execution or source is self.limits or source is self.interruptions):
                self.idle = 0
                return True
        if vain and self.ending.runs():
            return True
        if self.idle == 0 or not endless:
            self.active = time
        self.idle += 1
        patient: cython.bint = time - self.active <= self.patience and self.idle <= MOST
        return (self.idle <= CHANCES or patient) and self.ending.hopes()

    def is_over(self):
        """Whether nothing is left to come but passes over nobody."""
        source: Source
        for source in self.sources:  # noqa: SIM110 - a generator would be an object
            if source.next < NEVER and source is not self.timers:
                return False
        return True

    def instant(self):
        """Everything that happens at `now`."""
        source: Source
        i: cython.Py_ssize_t
        again: cython.bint = True
        rounds: cython.longlong = 0
        observer: Observer
        bound: cython.longlong = ROUNDS + 4 * self.jobs.live
        while again:
            for i in range(len(self.sources)):
                source = cython.cast(Source, self.sources[i])
                if source.next <= self.now:
                    source.fire(self.now)
                    if self.per_event:
                        rounds -= source is self.arrivals
                        break
            again = self.run_cluster(self.only) if self.only is not None else self.run_clusters()
            for i in range(len(self.sources)):
                source = cython.cast(Source, self.sources[i])
                if source.next <= self.now:
                    again = True
            rounds += 1
            if rounds > bound:
                names = ", ".join(cluster.islands[0].view.name() for cluster in self.clusters)
                raise PolicyError(f"{names}: time stands still at {self.now / SECOND:g} s after {rounds} rounds")
            if rounds & 63 == 0:
                self.poll()
        if self.watched:
            for observer in self.observers:
                observer.settled(self)
        return 0

    def is_amid(self):
        """Whether more is to happen at this instant; between passes only with `per_event`."""
        source: Source
        for source in self.sources:  # noqa: SIM110 - a generator would be an object
            if source.next <= self.now:
                return True
        return False

    def run_clusters(self):
        """Ask the global scheduler, then every cluster in which something has changed; whether once more."""
        cluster: Cluster
        again: cython.bint = False
        touched: list
        self.dispatch.ask(self.now)
        if self.dispatch.rejected:
            self.turn_away()
        touched = self.changes.touched
        self.changes.touched = []
        if len(touched) > 1:
            touched.sort(key=_index)
        for cluster in touched:
            cluster.touched = False
            if self.run_cluster(cluster):
                cluster.touch()
                again = True
        return again or self.dispatch.restless()

    def run_cluster(self, cluster: Cluster):
        """The passes that are due in a cluster; whether their decisions make another one due: a requeue."""
        island: Island
        k: cython.Py_ssize_t
        again: cython.bint = False
        if cluster.sole is not None:
            if cluster.sole.due(self.now):
                self.run_pass(cluster, cluster.sole)
                again = cluster.sole.unsettled(self.now)
            if cluster.sole.rhythm is not None:
                self.ask_again(cluster, cluster.sole)
            return again
        for k in range(len(cluster.islands)):
            island = cython.cast(Island, cluster.islands[k])
            if island.due(self.now):
                self.run_pass(cluster, island)
        for k in range(len(cluster.islands)):
            island = cython.cast(Island, cluster.islands[k])
            again |= island.unsettled(self.now)
            if island.rhythm is not None:
                self.ask_again(cluster, island)
        if cluster.moved and cluster.quotas is not None and cluster.quotas.timed:
            self.foresee_openings(cluster)
        return again

    def ask_again(self, c: Cluster, island: Island):
        """Have the cluster's rhythm asked again when it wants to be."""
        time: cython.longlong = island.next_look(self.now)
        if time < NEVER:
            self.timers.plan(c.index, time)
        return 0

    def foresee_openings(self, c: Cluster):
        """Have a pass when a limit on core-minutes will let in a job if nothing else happens."""
        island: Island
        time: cython.longlong
        first: cython.longlong = NEVER
        c.moved = False
        c.quotas.set_time(self.now)
        for island in c.islands:
            time = island.lines.next_opening()
            if time < first:
                first = time
        return self.openings.plan(c.index, first)

    def run_pass(self, c: Cluster, island: Island):
        view: Pass = island.view
        causes: cython.int
        c.passes += 1
        c.moved = True
        c.set_time(self.now)
        if c.several:
            c.ledger.island = view.number
        if island.dynamic or island.periodic or island.lines is not None:
            island.prepare(c.orders, self.now)
        causes = island.causes
        island.causes = 0
        view.begin(self.now, causes)
        view.amid = self.per_event and self.is_amid()
        if island.displacer is not None and not (causes == TIMER and c.idle) and island.displacer.act(view):
            if island.dynamic and island.causes & (ARRIVAL | LIMIT):  # displaced jobs wait again, or let others in
                island.prepare(c.orders, self.now)
            view.causes |= island.causes | CAPACITY
            island.causes = 0
        if c.quotas is not None and island.policy.plans and (c.several or island.displacer is not None):
            island.take_back(c.quotas)
        try:
            if island.rhythm is None:
                island.policy.schedule(view)
            else:
                island.rhythm.schedule(view)
        except SystemExit as error:
            view.rollback()
            view.end()
            raise PolicyError(f"{view.name()}: tried to end the program at {self.now / SECOND:g} s") from error
        except BaseException:
            view.rollback()
            view.end()
            raise
        view.end()
        if view.decided > 0:
            self.commit(c, view)
        if c.changes is not None:
            c.passed(island)
        if c.quotas is not None and island.displacer is not None:
            island.displacer.park_refused(island.lines)
        return 0

    def commit(self, c: Cluster, view: Pass):
        """Make the decisions of the pass true, in their order."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        kind: cython.longlong
        observer: Observer
        for i in range(view.decided):
            slot = view.slot[i]
            kind = view.kind[i]
            if kind == START:
                if c.changes is not None:
                    c.unqueued(self.jobs, slot)
                self.start(slot)
                if c.charges:
                    c.charge(slot, self.now, True)
            elif kind == RESERVE:
                for observer in self.observers:
                    observer.promised(self, slot, view.value[i])
            elif kind == CANCEL:
                if c.changes is not None:
                    c.unqueued(self.jobs, slot)
                c.ledger_of(slot).unhold(slot)
                self.count_withdrawn("by the policy")
                self.leave(slot, CANCELLED)
            elif kind == PREEMPT:
                self.interrupt(slot, REQUEUE, PREEMPTED)
            else:
                self.timers.plan(c.index, view.value[i])
        return 0

    # ---- a job's way in

    def submit(self, **description):
        submitted: cython.longlong = self.now
        slot: cython.Py_ssize_t
        for name in ("dependencies", "array"):
            if description.get(name):
                raise InputError(f"a job that is submitted during the run cannot have {name}", value=description[name])
        slot = self.jobs.enter(
            submitted, description["run_time"], description["requested_time"], description.get("cores", 1)
        )
        self.live_jobs.append(description)
        self.jobs.at[slot].row = -len(self.live_jobs)
        self.jobs.at[slot].job_id = description.setdefault("job_id", self.jobs.entered)
        description["submit"] = self.now
        self.jobs.at[slot].priority = description.get("priority", 0)
        if getattr(self.arrivals, "site", None) is not None or getattr(self.arrivals, "admission", None) is not None:
            reason = self.arrivals.describe_live(slot, description)
            if reason is not None:
                self.reject(slot, reason)
                return slot
        if description.get("patience", -1) >= 0:
            self.impatience.plan(slot, submitted + description["patience"])
        self.enter(slot, description.get("begin", -1), description.get("cancel", -1))
        return slot

    def enter(self, slot, begin, cancel):
        """A new job stands at the door."""
        jobs: JobTable = self.jobs
        if self.checkpointed:
            self.execution.allow(slot)
        if self.extend:
            jobs.at[slot].limit = NEVER
        if self.only is None:
            reason = self.dispatch.enter(slot)
            if reason is not None:
                return self.reject(slot, reason)
        elif not self.only.ledger_of(slot).possible(slot):
            return self.reject(slot, self.impossible(slot))
        elif self.only.quotas is not None:
            reason = self.exceeds(self.only, slot)
            if reason is not None:
                return self.reject(slot, reason)
        if cancel >= 0:
            if cancel <= self.now:
                self.move(slot, HELD)
                return self.withdraw(slot, BY_USER)
            self.cancellations.plan(slot, cancel)
        if self.drop_late and jobs.at[slot].deadline >= 0:
            if self.now + jobs.at[slot].requested > jobs.at[slot].deadline:
                self.move(slot, HELD)
                return self.withdraw(slot, TOO_LATE)
            self.deadlines.plan(slot, jobs.at[slot].deadline - jobs.at[slot].requested + 1)
        if self.dependencies is not None:
            begin = self.dependencies.entered(slot, begin)
        if begin > self.now:
            self.move(slot, HELD)
            return self.releases.plan(slot, begin) if begin < NEVER else 0
        return self.admit(slot)

    def impossible(self, slot) -> str:
        """Why the only cluster could never run the job."""
        i: cython.Py_ssize_t = slot
        job = self.jobs.at[i]
        return self.only.ledger_of(i).refuse(job.cores, job.nodes, job.per_node)

    def exceeds(self, cluster: Cluster, slot):
        """Which limit keeps the job out of the system for good, in words; None, and it is counted, where none does."""
        i: cython.Py_ssize_t = slot
        counter: cython.Py_ssize_t = -1
        if self.jobs.at[i].choice < 0:  # else such queues have been left out
            counter = cluster.quotas.too_small(i, self.jobs.at[i].rules)
        if counter >= 0:
            return cluster.quotas.beyond(counter)
        counter = cluster.quotas.submit(cluster.islands[0].lines.counted_as(i))
        return cluster.quotas.too_many(counter) if counter >= 0 else None

    def reject(self, slot, reason):
        """The job is not let in; the reasons are counted."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        self.jobs.at[slot].rules = self.jobs.at[slot].choice = -1  # it was not counted
        self.move(slot, HELD)
        return self.leave(slot, REJECTED)

    def wake(self, cluster):
        target: Cluster = self.clusters[cluster]
        target.idle = self.ranked and not target.awaits(self.now)
        return target.changed_all(TIMER)

    def admit(self, slot):
        if self.jobs.at[slot].eligible < 0:
            self.jobs.at[slot].eligible = self.now if self.dependencies is None else self.dependencies.since(slot)
        if self.task_limits is not None and not self.task_limits.admits(slot):
            return self.move(slot, HELD) if self.jobs.at[slot].state == FUTURE else 0
        self.move(slot, WAITING)
        if self.only is not None:
            return self.only.join(self.jobs, slot, self.now)
        return self.dispatch.wait(slot, self.now)

    def turn_away(self):
        """Jobs that waited globally, and that no cluster lets in any more."""
        slot: cython.Py_ssize_t
        for slot, reason in self.dispatch.rejected:
            self.reasons[reason] = self.reasons.get(reason, 0) + 1
            self.leave(slot, REJECTED)
        self.dispatch.rejected = []
        return 0

    # ---- running

    def start(self, slot):
        """The pass gave the job its resources: it runs."""
        jobs: JobTable = self.jobs
        self.move(slot, RUNNING)
        jobs.at[slot].start = self.now
        if jobs.at[slot].first_start < 0:
            jobs.at[slot].first_start = self.now
            self.idle = 0
            if self.dependencies is not None:
                self.dependencies.started(slot)
        if self.only is None:
            cython.cast(Cluster, self.clusters[jobs.at[slot].cluster]).started(jobs, slot)
        jobs.at[slot].known_end = self.execution.begin(slot)
        return self.limits.watch(slot)

    def place(self, slot) -> bool:
        """Start a waiting job now whatever the scheduler and the limits say, as it runs already in truth; whether
        there was room for it."""
        i: cython.Py_ssize_t = slot
        jobs: JobTable = self.jobs
        cluster: Cluster = self.clusters[jobs.at[i].cluster]
        island: Island = cluster.islands[jobs.at[i].island]
        ledger: Ledger = island.view.raw_ledger
        cluster.set_time(self.now)
        ledger.set_time(self.now)
        if not ledger.fits(i):
            return False
        island.queue.remove(i)
        jobs.at[i].expected_end = self.now + jobs.at[i].estimate
        jobs.at[i].start = self.now
        ledger.take(i)
        if cluster.quotas is not None:
            cluster.quotas.take(i)
        self.start(i)
        if cluster.charges:
            cluster.charge(i, self.now, True)
        cluster.changed(i, ORDER)
        return True

    def stop(self, slot, outcome, keep):
        """The job no longer runs here: resources back, the interval written down; stale events lose their stamp."""
        jobs: JobTable = self.jobs
        cluster: Cluster = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster])
        elapsed: cython.longlong = self.now - jobs.at[slot].start
        if outcome == COMPLETED:
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
        cluster.set_time(self.now)
        self.recorder.allocation(jobs, slot, self.now, outcome, cluster.ledger_of(slot))
        cluster.ledger_of(slot).give(slot)
        if cluster.changes is not None:
            cluster.stopped(jobs, slot)
        cluster.changed(slot, RELEASE)
        return cluster.released(slot)

    def kill_time(self, slot):
        jobs: JobTable = self.jobs
        return jobs.at[slot].start + jobs.at[slot].limit - jobs.at[slot].used

    def correct(self, slot):
        jobs: JobTable = self.jobs
        cluster: Cluster = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster])
        step: cython.Py_ssize_t = jobs.at[slot].corrections
        until: cython.longlong = jobs.at[slot].expected_end
        until += CORRECTIONS[min(step, len(CORRECTIONS) - 1)]
        until = min(until, self.kill_time(slot), self.interruptions.leave_time(slot))
        cluster.set_time(self.now)
        cluster.ledger_of(slot).prolong(slot, until)
        if cluster.changes is not None:
            cluster.prolonged(jobs, slot)
        jobs.at[slot].corrections = step + 1
        return cluster.changed(slot, ESTIMATE)

    def finish(self, slot, state):
        cluster: Cluster
        jobs: JobTable = self.jobs
        if jobs.at[slot].state == RUNNING:
            self.stop(slot, state, True)
        elif jobs.at[slot].state == WAITING and jobs.at[slot].cluster == NOWHERE:
            self.dispatch.leave(slot)
        elif jobs.at[slot].state == WAITING:
            cluster = self.clusters[jobs.at[slot].cluster]
            cluster.set_time(self.now)
            if cluster.changes is not None:
                cluster.unqueued(jobs, slot)
            cluster.islands[jobs.at[slot].island].queue.remove(slot)
            cluster.ledger_of(slot).unhold(slot)
            cluster.changed(slot, ORDER)
        return self.leave(slot, state)

    def withdraw(self, slot, reason):
        self.count_withdrawn(reason)
        return self.finish(slot, CANCELLED)

    def count_withdrawn(self, reason):
        """One more job is cancelled for this reason."""
        self.withdrawn[reason] = self.withdrawn.get(reason, 0) + 1
        return 0

    def requeue(self, slot):
        return self.interrupt(slot, REQUEUE, REQUEUED)

    def interrupt(self, slot, remedy, outcome):
        jobs: JobTable = self.jobs
        cluster: Cluster = self.clusters[jobs.at[slot].cluster]
        kept: cython.longlong = 0
        self.counts["preemptions" if outcome == PREEMPTED else "interruptions"] += 1
        if jobs.at[slot].state == RUNNING:
            self.stop(slot, outcome, True)
        else:
            jobs.at[slot].stamp += 1
        if remedy == CHECKPOINT:
            kept = min(self.execution.restore(slot), jobs.at[slot].used)
        elif remedy == REQUEUE:
            jobs.at[slot].progress = jobs.at[slot].saved = 0
        jobs.at[slot].lost += (jobs.at[slot].used - kept) * jobs.at[slot].cores
        jobs.at[slot].used = kept
        if remedy == FAIL:
            if outcome == PREEMPTED:
                self.count_withdrawn("preempted")
            return self.leave(slot, CANCELLED if outcome == PREEMPTED else FAILED)
        self.counts["requeues"] += 1
        self.ending.interrupted(slot)
        self.move(slot, WAITING)
        jobs.at[slot].attempt += 1
        jobs.at[slot].corrections = 0
        jobs.at[slot].promise = -1
        return cluster.join(jobs, slot, self.now)

    def tell(self, slot, time):
        """The running job is told to leave at `time` at the latest; its scheduler displaces it then."""
        jobs: JobTable = self.jobs
        end: cython.longlong = time
        cluster: Cluster = self.clusters[jobs.at[slot].cluster]
        if end < jobs.at[slot].expected_end:
            cluster.ledger_of(slot).prolong(slot, end)
        self.interruptions.plan(slot, time)

    def ledger_for(self, slot) -> Ledger:
        """The resources from which the job has, or would get, its own."""
        job: cython.Py_ssize_t = slot
        cluster: Cluster = self.clusters[self.jobs.at[job].cluster]
        return cluster.ledger_of(job)

    def capacity_changed(self, cluster) -> None:
        """Something was shut or opened on the cluster: its schedulers think again."""
        target: Cluster = self.clusters[cluster]
        target.changed_all(CAPACITY)

    def displace(self, slot):
        job: cython.Py_ssize_t = slot
        self.clusters[self.jobs.at[job].cluster].islands[self.jobs.at[job].island].displacer.displace(slot)

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
        jobs: JobTable = self.jobs
        cluster: Cluster = cython.cast(Cluster, self.clusters[jobs.at[slot].cluster])
        cluster.set_time(self.now)
        jobs.at[slot].expected_end = self.now + jobs.at[slot].estimate
        if where is None:
            cluster.ledger_of(slot).take(slot)
        else:
            jobs.at[slot].start = self.now
            cluster.ledger_of(slot).put_back(slot, where)
        if cluster.quotas is not None:
            jobs.at[slot].start = self.now
            cluster.quotas.take(slot)
        cluster.changed(slot, CAPACITY)
        self.start(slot)
        return cluster.charge(slot, self.now, True)

    def set_capacity(self, cluster, cores):
        target: Cluster = self.clusters[cluster]
        target.set_time(self.now)
        target.ledger.set_capacity(cores)
        return target.changed_all(CAPACITY)

    # ---- out, and the record

    def leave(self, slot, state):
        """The job's last transition; its slot is free for another."""
        cluster: Cluster
        if self.jobs.at[slot].cluster == NOWHERE:
            return self.drop(slot, state)
        cluster = cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster])
        if self.checkpointed:
            self.account(slot)
        if self.jobs.at[slot].first_start >= 0 and cluster.estimate.learns:
            cluster.estimate.ended(self.jobs, slot, self.jobs.at[slot].used)
        if cluster.quotas is not None:
            cluster.quotas.leave(cluster.islands[0].lines.counted_as(slot))
        if self.jobs.at[slot].choice >= 0 and self.jobs.at[slot].first_start >= 0:
            self.chosen[self.jobs.at[slot].seq] = self.jobs.at[slot].queue
        if cluster.door is not None and cluster.door.names:
            self.chosen[self.jobs.at[slot].seq] = cluster.index << 16 | self.jobs.at[slot].queue
        return self.drop(slot, state)

    def drop(self, slot, state):
        """The job has left its cluster, if it had one."""
        self.move(slot, state)
        if self.dependencies is not None:
            self.dependencies.ended(slot, state)
        if self.task_limits is not None:
            self.task_limits.ended(slot, self.now)
        self.recorder.job(self.jobs, slot, -1 if state == REJECTED else self.now)
        self.idle = 0
        if self.ending.fruitless:
            self.ending.left(self.jobs.at[slot].seq)
        self.ended += 1
        return self.jobs.leave(slot)

    def account(self, slot):
        """Of the time that the job ran, writing checkpoints and starting from them was none of its work."""
        jobs: JobTable = self.jobs
        extra: cython.longlong = jobs.at[slot].used - time_for(jobs.at[slot].progress, jobs.at[slot].speed)
        if extra > 0:
            jobs.at[slot].used -= extra
            self.overhead += extra * jobs.at[slot].cores
        return 0

    def move(self, slot, state):
        """Every transition of every job is made here."""
        before: cython.int = self.jobs.at[slot].state
        observer: Observer
        cluster: Cluster
        island: Island
        if not (self.legal[before] >> state) & 1:
            raise EngineError(
                f"job {self.jobs.at[slot].job_id} cannot go from {State(before).name} to {State(state).name}"
            )
        self.jobs.at[slot].state = state
        if self.ranked and self.jobs.at[slot].cluster != NOWHERE:
            cluster = cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster])
            island = cluster.island_of(self.jobs, slot)
            if island.displacer is not None:
                island.displacer.moved(slot, before, state)
        if self.watched:
            for observer in self.observers:
                observer.moved(self, slot, before, state)
        return 0

    def close(self, time):
        """The simulation is over at `time`: write down those who are still in it."""
        slot: cython.Py_ssize_t
        cluster: Cluster
        self.now = time
        for slot in self.jobs.slots():
            if self.jobs.at[slot].seq < 0:  # no job
                continue
            cluster = None if self.jobs.at[slot].cluster == NOWHERE else self.clusters[self.jobs.at[slot].cluster]
            if cluster is not None and cluster.door is not None and cluster.door.names:
                self.chosen[self.jobs.at[slot].seq] = cluster.index << 16 | self.jobs.at[slot].queue
            if self.jobs.at[slot].state == RUNNING:
                self.jobs.at[slot].held += self.now - self.jobs.at[slot].start
                self.execution.interrupt(slot, True)
                self.recorder.allocation(self.jobs, slot, -1, RUNNING, cluster.ledger_of(slot))
            self.recorder.job(self.jobs, slot, -1)

    def poll(self):
        """Ctrl-C, and a sign of life."""
        PyErr_CheckSignals()
        if self.progress is not None:
            time = clock.monotonic()
            if time - self.reported >= self.every:
                self.reported = time
                self.progress(self.now, self.jobs.entered, self.ended)
        return 0


def _rank(pair):
    return pair[0]


def _index(cluster):
    return cluster.index
