"""A draft of the plans of several clusters: in which of them a job runs is part of the plan."""

from __future__ import annotations

import cython

from walltime.engine.cluster import Cluster
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.kernel.drafts.draft_cores import CoreDraft
from walltime.kernel.drafts.draft_nodes import NodeDraft
from walltime.kernel.jobs import JobTable  # noqa: F401 - as in joint_draft.pxd
from walltime.kernel.ledger.plan import PlanLedger

if not cython.compiled:
    JobFields = object  # a copy of a job's fields, in C

UNASKED = cython.declare(cython.longlong, -1)
UNFIT = cython.declare(cython.longlong, -2)


@cython.final
@cython.cclass
class JointDraft(Draft):
    """The promised jobs of several clusters, each in the draft of the cluster where it is; it can go to another.

    A job is described as one of the cluster where it is in the draft, and has its estimate there; objectives see the
    estimate that it came with. It joins the draft of another cluster when that is first tried. `close` leaves all
    clusters as they were, `commit` moves the jobs for good.
    """

    def __init__(self, clusters, options) -> None:
        cluster: Cluster
        Draft.__init__(self)
        self.across = True
        self.clusters = clusters
        self.options = options
        self.width = len(clusters)
        self.parts = []
        for cluster in clusters:
            self.parts.append(CoreDraft() if isinstance(cluster.ledger, PlanLedger) else NodeDraft())

    def allocate(self, room) -> None:
        Draft.allocate(self, room)
        self.moved, self.home_estimate, self.home_key = (integers(room) for _ in range(3))

    def open_all(self, slots, now):
        """Begin with the promises of these jobs, an array for each cluster."""
        c: cython.Py_ssize_t
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t = 0
        cluster: Cluster
        part: Draft
        mine: cython.longlong[::1]
        total: cython.Py_ssize_t = sum(len(mine) for mine in slots)
        self.make_room(total)
        self.local = integers(total * self.width, -1)
        self.size = total
        self.now = now
        self.capacity = 0
        for c in range(self.width):
            cluster = cython.cast(Cluster, self.clusters[c])
            part = cython.cast(Draft, self.parts[c])
            mine = slots[c]
            cluster.set_time(now)
            self.jobs = cluster.ledger.jobs
            self.capacity += cluster.ledger.capacity
            part.make_room(total)
            part.open(cluster.ledger, mine, len(mine))
            for k in range(len(mine)):
                self.load(i, mine[k])
                self.where[i] = self.home[i] = c
                self.local[i * self.width + c] = k
                self.moved[i] = 0
                self.home_estimate[i] = self.jobs.at[mine[k]].estimate
                self.home_key[i] = self.jobs.at[mine[k]].key
                i += 1
        self.touches = self.out = 0
        self.sorted = self.resequenced = self.stuck = False
        self.opened = True
        return 0

    def close(self):
        part: Draft
        if self.opened:
            self.give_back()
            for part in self.parts:
                part.close()
            self.opened = False
        return 0

    def commit(self) -> list:
        """Close the draft with what it has: the jobs move, and each is promised its start; (slot, start) of those that
        were changed. One that too many jobs of another cluster keep out stays, to be placed again."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        home: Cluster
        goal: Cluster
        self.remember()
        changed = [i for i in range(self.size) if self.moved[i]]
        self.close()
        for i in changed:
            home = self.clusters[self.home[i]]
            home.ledger.unhold(self.slot[i])
            self.jobs.at[self.slot[i]].promise = -1
        told: list = []
        for i in changed:
            slot = self.slot[i]
            home = self.clusters[self.home[i]]
            goal = self.clusters[self.best_where[i]]
            if goal is not home:
                if goal.count_in(self.jobs, slot) is not None:
                    continue
                home.give_up(self.jobs, slot, self.now)
                goal.take_in(self.jobs, slot, self.now)
            told.append(i)
        for i in told:
            self.where[i] = self.best_where[i]
            if isinstance(self.part_of(i), NodeDraft):
                self.part_of(i).enter_best(self.number(i))
                self.jobs.at[self.slot[i]].promise = self.best[i]
            else:
                cython.cast(Cluster, self.clusters[self.where[i]]).ledger.hold(self.slot[i], self.best[i])
        for part in self.parts:
            if isinstance(part, NodeDraft):
                cython.cast(NodeDraft, part).end()
        return [(self.slot[i], self.best[i]) for i in told]

    def give_back(self):
        i: cython.Py_ssize_t
        self.withdraw()
        for i in range(self.size):
            if self.moved[i]:
                self.settle_in(i, self.home[i])
                self.start[i] = self.part_of(i).start[self.number(i)] = self.first[i]
                self.part_of(i).enter_first(self.number(i))
        self.out = 0
        return self.keep()

    def withdraw(self):
        """Take out all jobs that were ever touched."""
        i: cython.Py_ssize_t
        for i in range(self.size):
            if self.moved[i] and self.start[i] >= 0:
                self.lift(i)
        return 0

    # ---- one job

    def part_of(self, i):
        return cython.cast(Draft, self.parts[self.where[i]])

    def number(self, i):
        """The job's number in the draft of the cluster where it is."""
        return self.local[i * self.width + self.where[i]]

    def find(self, i, after):
        return self.part_of(i).find(self.number(i), after)

    def enter(self, i, start):
        self.part_of(i).start[self.number(i)] = start
        return self.part_of(i).enter(self.number(i), start)

    def enter_again(self, i, start):
        self.part_of(i).start[self.number(i)] = start
        return self.part_of(i).enter_again(self.number(i), start)

    def leave(self, i):
        self.part_of(i).leave(self.number(i))
        self.part_of(i).start[self.number(i)] = -1
        return 0

    def note(self, i):
        self.moved[i] = 1
        return self.part_of(i).touch(self.number(i))

    def free_area(self, start, end):
        part: Draft
        area: cython.double = 0
        for part in self.parts:
            area += part.free_area(start, end)
        return area

    # ---- its cluster

    def first_option(self, i):
        return 0

    def last_option(self, i):
        return self.width

    def suits(self, i, option):
        if self.local[i * self.width + option] == UNASKED:
            self.ask(i, option)
        return self.local[i * self.width + option] >= 0

    def ask(self, i, c):
        """Make it a guest of the cluster's draft, or note that it cannot be one."""
        slot: cython.Py_ssize_t = self.slot[i]
        cluster: Cluster = cython.cast(Cluster, self.clusters[c])
        kept: JobFields = self.jobs.at[slot]
        able: cython.bint
        self.local[i * self.width + c] = UNFIT
        if cluster not in self.options[slot]:
            return 0
        cluster.describe_as_queued(self.jobs, slot, self.now)
        able = self.jobs.at[slot].choice < 0 and cluster.ledger.possible(slot)
        if able and cluster.quotas is not None:
            able = cluster.quotas.refuser(slot) < 0
        if able:
            self.local[i * self.width + c] = cython.cast(Draft, self.parts[c]).admit(slot)
        self.jobs.at[slot] = kept
        return 0

    def settle_in(self, i, option):
        slot: cython.Py_ssize_t = self.slot[i]
        if self.where[i] == option:
            return 0
        self.where[i] = option
        cython.cast(Cluster, self.clusters[option]).describe_as_queued(self.jobs, slot, self.now)
        if option == self.home[i]:
            self.jobs.at[slot].estimate = self.home_estimate[i]
            self.jobs.at[slot].key = self.home_key[i]
        return 0

    # ---- all of them

    def remember(self):
        i: cython.Py_ssize_t
        part: Draft
        for part in self.parts:
            part.remember()
        for i in range(self.size):
            self.best[i] = self.start[i]
            self.best_where[i] = self.where[i]
        return 0

    def recall(self):
        i: cython.Py_ssize_t
        self.withdraw()
        for i in range(self.size):
            if self.moved[i]:
                self.settle_in(i, self.best_where[i])
                self.start[i] = self.part_of(i).start[self.number(i)] = self.best[i]
                self.part_of(i).enter_best(self.number(i))
        self.out = 0
        return self.keep()

    def keep(self):
        part: Draft
        for part in self.parts:
            part.keep()
        return Draft.keep(self)

    def undo(self):
        part: Draft
        Draft.undo(self)
        for part in self.parts:
            part.keep()
        return 0
