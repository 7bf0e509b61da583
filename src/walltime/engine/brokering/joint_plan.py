"""One plan over several clusters: an optimiser changes when, and in which cluster, waiting jobs will start.

D. Klusacek and H. Rudova, "The use of incremental schedule-based approach for efficient job scheduling", 2010.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.engine.brokering.joint_draft import JointDraft
from walltime.engine.cluster import Changes, Cluster
from walltime.engine.domain import Domain
from walltime.kernel.jobs import JobTable
from walltime.kernel.source import Engine, Observer, Source  # noqa: F401 - as in joint_plan.pxd
from walltime.policies.backfill.plan import Plan
from walltime.policy.api import Cause
from walltime.policy.optimise import Optimiser, RandomNumbers, UserTotals

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    ORDER = Cause.ORDER


@cython.final
@cython.cclass
class JointPlan(Source):
    """Improves the plans of all clusters with `backfill: plan` together, after the passes of an instant: every so many
    seconds, and on arrivals or early ends, as the optimiser says. `moves` counts the jobs that changed cluster.

    Clusters that keep no such plan, and those whose queues are planned apart, keep their jobs; so do reservations.
    """

    def __init__(self, optimiser: Optimiser, seed) -> None:
        Source.__init__(self)
        self.background = self.endless = True
        self.optimiser = optimiser
        self.optimiser.random = RandomNumbers(seed, "broker")
        self.people = UserTotals()
        self.moves = 0
        self.clusters = []
        self.changes = None
        self.draft = None
        self.due = self.came = self.armed = False
        self.done = -1  # the instant of the last look
        self.early = 0

    def join(self, clusters, changes: Changes, options) -> None:
        """Called once, before the run; `options` are the clusters that each job may go to, by slot."""
        cluster: Cluster
        domain: Domain
        self.changes = changes
        for cluster in clusters:
            cluster.charge_to(self.people)
            domain = cluster.domains[0]
            apart: cython.bint = len(cluster.domains) - len(cluster.reserved) > 1
            if not apart and domain.rhythm is None and isinstance(domain.policy, Plan):
                self.clusters.append(cluster)
        self.draft = JointDraft(self.clusters, options)

    def fire(self, now):
        self.due = True
        self.next = NEVER
        return 0

    def wants(self, now):
        """After the passes of an instant: whether the plan is to be improved now."""
        cluster: Cluster
        early: cython.longlong = 0
        ended: cython.bint
        if self.done == now or self.changes.waiting == 0:
            return False
        for cluster in self.clusters:
            early += cluster.ledger.early
        ended = early > self.early
        self.early = early
        if self.next == NEVER and not self.due and self.optimiser.every < NEVER:
            self.next = now + self.optimiser.every
        self.armed = self.due or (self.optimiser.on_ends and ended) or (self.optimiser.on_arrivals and self.came)
        self.came = False
        return self.armed

    def look(self, now):
        """Improve the plan, if it is time."""
        if not self.armed:
            return 0
        self.armed = self.due = False
        self.done = now
        slots = self.collect(now)
        if sum(len(mine) for mine in slots) == 0:
            return 0
        return self.improve(slots, now)

    def collect(self, now):
        """Of each cluster the promised jobs that are the optimiser's business: those that start first, as long as they
        ask for no more cores than are wanted together."""
        slot: cython.Py_ssize_t
        c: cython.Py_ssize_t
        last: cython.longlong = now + min(self.optimiser.reach, NEVER - now)
        cores: cython.double = 0
        most: cython.double = 0
        cluster: Cluster
        jobs: JobTable
        found: list = []
        for c in range(len(self.clusters)):
            cluster = cython.cast(Cluster, self.clusters[c])
            jobs = cluster.ledger.jobs
            most += self.optimiser.most * cluster.ledger.size
            for slot in cluster.waiting_in(cluster.domains[0]):
                if now <= jobs.at[slot].promise <= last and jobs.at[slot].choice < 0 and not jobs.at[slot].pinned:
                    found.append((jobs.at[slot].promise, len(found), c, slot))
        chosen: set = set()
        for _, number, _, slot in sorted(found):
            cores += jobs.at[slot].cores
            if cores > most and len(chosen) > 1:
                break
            chosen.add(number)
        mine: list = [[] for _ in self.clusters]
        for _, number, c, slot in found:
            if number in chosen:
                mine[c].append(slot)
        return [np.array(slots, np.int64) for slots in mine]

    def improve(self, slots, now):
        self.draft.open_all(slots, now)
        try:
            self.optimiser.improve(self.draft, self.people)
            return self.adopt(now)
        except PolicyError as error:
            raise PolicyError(f"broker: {error} (time {now / SECOND:g} s)") from error
        finally:
            self.draft.close()

    def adopt(self, now):
        """Make the draft true; the clusters whose plans have changed have a pass."""
        slot: cython.Py_ssize_t
        cluster: Cluster
        observer: Observer
        jobs: JobTable = self.draft.jobs
        before: dict = {slot: jobs.at[slot].cluster for slot in self.draft.slots()}
        changed: list = self.draft.commit()
        for slot, start in changed:
            self.moves += jobs.at[slot].cluster != before[slot]
            for observer in self.engine.observers:
                observer.promised(self.engine, slot, start)
        for cluster in self.clusters if changed else ():
            cluster.changed_all(ORDER)
            cython.cast(Plan, cython.cast(Domain, cluster.domains[0]).policy).changed_from_outside()
        return 0
