"""The loop: merges the sources of events, lets the schedulers decide, makes and records every transition.

At one instant: every source that is due, in its rank; the clusters in which something has changed; and again while
something is due at this instant (a job of zero length ends in the instant in which it starts).
"""

from __future__ import annotations

import enum
import time as clock
from operator import itemgetter

import cython
import numpy as np

from walltime.core.errors import EngineError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.engine.cluster import Cluster
from walltime.engine.domain import Domain
from walltime.engine.ending import Ending
from walltime.engine.life import Life
from walltime.engine.recording.recorder import NOWHERE as _NOWHERE
from walltime.engine.scheduling import Alone
from walltime.engine.sources import Releases, Timers
from walltime.execution.model import Execution
from walltime.kernel.jobs import Outcome, State
from walltime.kernel.source import Observer, Remedy, Source
from walltime.policy.api import Cause, Decision, Pass

NEVER = cython.declare(cython.longlong, _NEVER)
NOWHERE = cython.declare(cython.longlong, _NOWHERE)
ROUNDS = cython.declare(cython.longlong, 100_000)

if not cython.compiled:
    from walltime.kernel.source import due_address, earliest_of, next_due

    RUNNING, CANCELLED = State.RUNNING, State.CANCELLED
    CAPACITY, PREEMPTED, REQUEUE = Cause.CAPACITY, Outcome.PREEMPTED, Remedy.REQUEUE
    START, RESERVE, CANCEL, PREEMPT, WAKE = Decision

    def PyErr_CheckSignals():  # noqa: N802 - the name it has in C
        return 0


class Rank(enum.IntEnum):
    """The order of sources at one instant, and of those that hear of one moment."""

    EXECUTION = 0
    LIMITS = 1
    CANCELLATIONS = 2
    INTERRUPTIONS = 3
    FAILURES = 4
    RESERVATIONS = 5
    CONDITIONS = 6
    RELEASES = 7
    ARRIVALS = 8
    TIMERS = 9


@cython.final
@cython.cclass
class Simulation(Life):
    """One run. `sources` are (Rank, Source); `progress(now, entered, ended)` is called now and then.

    `scheduling` sends jobs to clusters, without one there is one cluster. `per_event` makes a pass after every event,
    as some simulators do.
    """

    def __init__(
        self,
        arrivals: Source,
        execution: Execution,
        sources=(),
        scheduling=None,
        observers=(),
        per_event=False,
        progress=None,
        jobs=None,
        releases=None,
    ) -> None:
        Life.__init__(
            self, execution, scheduling or Alone(), Releases() if releases is None else releases, observers, jobs
        )
        self.per_event = per_event
        self.arrivals = arrivals
        self.timers = Timers()
        self.over = -1  # when nothing could start or end a job any more; not where the time was over before
        self.unfinished = {}  # the jobs that are left although everything has happened, by reason
        self.chosen = {}  # the queue that jobs came to that had a choice, by order of entry
        self.progress = progress
        self.reported = self.polled = clock.monotonic()
        self.mask = 0  # between two looks for Ctrl-C lie so many instants: 0, 1, 3, ... 63
        self.every = 0.1  # seconds between signs of life
        self.instants = 0
        self.upcoming = NEVER
        self.machines = []  # clusters on which something is shut now and then
        self.attended = False  # whether a source is in the background
        self.sourced = []
        self.deciding = False
        self.ending = Ending(self)
        own = [(Rank.EXECUTION, execution), (Rank.RELEASES, self.releases), (Rank.ARRIVALS, arrivals)]
        for rank, source in [*own, (Rank.TIMERS, self.timers), *sources]:
            self.add_source(rank, source)

    def add_source(self, rank, source: Source) -> None:
        """One more source of events; `rank` is its Rank."""
        self.sourced = sorted([*self.sourced, (rank, source)], key=itemgetter(0))
        self.sources = [source for _, source in self.sourced]
        self.attend()
        self.attended |= source.background and not isinstance(source, Timers)

    def attend(self):
        """From now on look at the sources that are awake."""
        for one in self.sources:
            one.asleep = one.asleep and one.next >= NEVER
        self.awake = [one for one in self.sources if not one.asleep]
        self.dues = np.fromiter([due_address(one) for one in self.awake], np.int64)
        self.awoken = True
        return 0

    def find(self, kind):
        """The source of this class; None where there is none."""
        return next((source for source in self.sources if isinstance(source, kind)), None)

    def add(self, cluster: Cluster):
        """One more cluster; its number is that of those before it."""
        cluster.chosen = self.chosen
        self.clusters.append(cluster)
        return cluster

    # ---- time

    def run(self, until=NEVER):
        """Simulate to the end, or to `until` inclusive; then everything is in the recorder."""
        time: cython.longlong
        last: cython.longlong = until
        source: Source
        self.scheduling.attach(self.jobs, self.clusters)
        self.only = self.scheduling.only
        for source in self.sources:
            source.attach(self)
        self.attend()
        self.ending.attach(self)
        self.ending.watch(self.attended)
        self.listen_again()
        for cluster in self.clusters:
            cython.cast(Cluster, cluster).prepare()
            for domain in cluster.domains:
                domain.view.heard = self.watched
        try:
            time = self.go_on(last)
        except BaseException as error:
            if self.deciding:
                self.undo(error)
            raise
        if time >= NEVER or time <= last:
            self.over = self.now
            self.unfinished = self.ending.explain(last)
        self.close(self.now if last >= NEVER else last)

    def listen_again(self):
        return self.listen([*self.sources, self.ending])

    def go_on(self, last):
        """One instant after the other, until nothing is left to come by `last`; when the next one would be."""
        time: cython.longlong
        self.earliest()
        while True:
            time = self.upcoming
            if time >= NEVER or time > last or (self.attended and not self.ending.worthwhile(time, self.sources)):
                break
            if time == self.timers.next and self.ending.is_called_in_vain(time, self.is_over()):
                break
            if time < self.now:
                raise EngineError(f"an event at {time / SECOND:g} s, but it is {self.now / SECOND:g} s already")
            self.now = time
            self.instant()
            self.instants += 1
            if self.instants & self.mask == 0:
                self.poll()
                self.earliest()
        return time

    def undo(self, error):
        """The policy has failed in its pass: nothing that it decided there has happened."""
        view: Pass
        self.deciding = False
        for view in [domain.view for cluster in self.clusters for domain in cluster.domains]:
            if not view.open:
                continue
            view.rollback()
            view.end()
            if isinstance(error, SystemExit):
                raise PolicyError(f"{view.name()}: tried to end the program at {self.now / SECOND:g} s") from error

    def earliest(self):
        """Find out when something happens next."""
        self.upcoming = earliest_of(cython.address(self.dues[0]), len(self.dues), NEVER)
        return 0

    def is_over(self):
        """Whether nothing is left to come but passes that were asked for."""
        source: Source
        for source in self.sources:  # noqa: SIM110 - a generator would be an object
            if source.next < NEVER and source is not self.timers:
                return False
        return True

    def is_amid(self):
        """Whether more is to happen at this instant; between passes only with `per_event`."""
        return earliest_of(cython.address(self.dues[0]), len(self.dues), NEVER) <= self.now

    def instant(self):
        """Everything that happens at `now`; then `upcoming` is when something happens next."""
        again: cython.bint = True
        rounds: cython.longlong = 0
        observer: Observer
        now: cython.longlong = self.now
        while again:
            rounds += self.fire_due()
            again = self.run_clusters() if self.only is None else self.run_cluster(self.only)
            self.earliest()
            again |= self.upcoming <= now
            if rounds & 63 == 0:
                self.poll()
                if rounds > ROUNDS + 4 * self.jobs.live:
                    names = ", ".join([cluster.domains[0].view.name() for cluster in self.clusters])
                    raise PolicyError(f"{names}: time stands still at {now / SECOND:g} s after {rounds} rounds")
        if self.watched:
            for observer in self.observers:
                observer.settled(self)
            self.earliest()
        return 0

    def fire_due(self):
        """All sources that are due, in their rank, with `per_event` the first: 0 where that is an arrival, else 1."""
        source: Source
        now: cython.longlong = self.now
        i: cython.Py_ssize_t = next_due(cython.address(self.dues[0]), 0, len(self.dues), now)
        self.awoken = False
        while i < len(self.dues):
            source = cython.cast(Source, self.awake[i])
            source.fire(now)
            if self.per_event:
                return source is not self.arrivals
            if self.awoken:  # the places of the others have changed
                i = self.awake.index(source)
                self.awoken = False
            i = next_due(cython.address(self.dues[0]), i + 1, len(self.dues), now)
        return 1

    def poll(self):
        """Ctrl-C, and a sign of life: some ten times a second also where each instant is slow."""
        time: cython.double = clock.monotonic()
        PyErr_CheckSignals()
        if time - self.polled > 0.1:
            self.mask >>= 1
        elif time - self.polled < 0.01 and self.mask < 63:
            self.mask = 2 * self.mask + 1
        self.polled = time
        if self.progress is not None and time - self.reported >= self.every:
            self.reported = time
            self.progress(self.now, self.jobs.entered, self.ended)
        return 0

    def submit(self, **description):
        return self.arrivals.submit_live(description)

    # ---- decisions

    def run_clusters(self):
        """The passes of every cluster of several in which something has changed; whether once more."""
        cluster: Cluster
        k: cython.Py_ssize_t
        again: cython.bint = False
        changed: list = self.scheduling.decide(self.now)
        if self.scheduling.rejected:
            self.turn_away()
        for k in range(len(changed)):
            cluster = cython.cast(Cluster, changed[k])
            cluster.touched = False
            if self.run_cluster(cluster):
                cluster.touch()
                again = True
        return again or self.scheduling.restless()

    def run_cluster(self, cluster: Cluster):
        """The passes that are due in a cluster; whether their decisions make another one due: a requeue."""
        domain: Domain = cluster.sole
        k: cython.Py_ssize_t
        again: cython.bint = False
        if domain is not None and domain.rhythm is None:  # as it mostly is
            if domain.causes != 0 and (domain.queue.size > 0 or domain.due(self.now)):
                self.run_pass(cluster, domain)
            return domain.causes != 0 and domain.unsettled(self.now)
        domains: list = cluster.domains
        for k in range(len(domains)):
            domain = cython.cast(Domain, domains[k])
            if domain.due(self.now):
                self.run_pass(cluster, domain)
        for k in range(len(domains)):
            domain = cython.cast(Domain, domains[k])
            if domain.rhythm is not None:
                again |= domain.unsettled(self.now)
                cluster.plan_looks(domain, self.timers, self.now)
            elif domain.causes != 0:
                again |= domain.unsettled(self.now)
        if cluster.openings is not None:
            cluster.plan_admissions(self.now)
        return again

    def run_pass(self, cluster: Cluster, domain: Domain):
        view: Pass = domain.view
        if self.watched:
            view.heard = self.is_heard()
        cluster.begin_pass(domain, self.now, self.per_event and self.is_amid())
        self.deciding = True  # and what it decided is undone where it fails
        if domain.rhythm is not None:
            domain.rhythm.schedule(view)
        elif domain.own is None:
            domain.policy.schedule(view)
        elif not domain.lazy or not view.is_idle():
            domain.own(view)
        self.deciding = False
        view.end()
        if view.decided > 0:
            self.commit(cluster, view)
        return cluster.end_pass(domain)

    def is_heard(self):
        """Whether an observer wants to be told of promises."""
        observer: Observer
        for observer in self.observers:  # noqa: SIM110 - a generator would be an object
            if not observer.deaf:
                return True
        return False

    def commit(self, cluster: Cluster, view: Pass):
        """Make the decisions of the pass true, in their order."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        kind: cython.longlong
        observer: Observer
        for i in range(view.decided):
            slot = view.slot[i]
            kind = view.kind[i]
            if kind == START:
                if cluster.changes is not None:
                    cluster.unqueued(self.jobs, slot)
                self.start(slot)
                if cluster.charges:
                    cluster.charge(slot, self.now, True)
            elif kind == RESERVE:
                for observer in self.observers:
                    observer.promised(self, slot, view.value[i])
            elif kind == CANCEL:
                cluster.unqueued(self.jobs, slot)
                cluster.ledger_of(slot).unhold(slot)
                self.count_withdrawn("by the policy")
                self.leave(slot, CANCELLED)
            elif kind == PREEMPT:
                self.interrupt(slot, REQUEUE, PREEMPTED)
            else:
                self.timers.plan(cluster.index, view.value[i])
        return 0

    # ---- clusters

    def wake(self, cluster):
        return cython.cast(Cluster, self.clusters[cluster]).wake(self.now)

    def capacity_changed(self, cluster) -> None:
        """Something was shut or opened on the cluster: its schedulers think again."""
        cython.cast(Cluster, self.clusters[cluster]).changed_all(CAPACITY)

    def close(self, time):
        """The simulation is over at `time`: write down the jobs that are still in it."""
        slot: cython.Py_ssize_t
        cluster: Cluster
        self.now = time
        for slot in self.jobs.slots():
            if self.jobs.at[slot].seq < 0:  # no job
                continue
            if self.jobs.at[slot].cluster != NOWHERE:
                cluster = cython.cast(Cluster, self.clusters[self.jobs.at[slot].cluster])
                cluster.note_queue(slot)
                if self.jobs.at[slot].state == RUNNING:
                    self.jobs.at[slot].held += self.now - self.jobs.at[slot].start
                    self.execution.interrupt(slot, True)
                    self.recorder.allocation(self.jobs, slot, -1, RUNNING, cluster.ledger_of(slot))
            self.recorder.job(self.jobs, slot, -1)
