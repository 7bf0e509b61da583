"""The global scheduler: jobs wait in its queues until a broker sends them to one of the clusters.

It is asked when jobs arrive, about these, and when something other than an arrival has happened in a cluster, about
all jobs that wait here. Where jobs are held until a cluster could start them at once, only those are looked at that
are small enough for what is free where something has happened: they are found by the queue's index.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND
from walltime.engine.brokering.joint_plan import JointPlan  # noqa: F401 - as in dispatch.pxd
from walltime.engine.brokering.migration import Migration  # noqa: F401 - as in dispatch.pxd
from walltime.engine.cluster import Changes, Cluster
from walltime.engine.recording.recorder import NOWHERE as _NOWHERE
from walltime.engine.scheduling import Scheduling
from walltime.kernel.jobs import JobTable, QueuePosition
from walltime.kernel.queue.scan import ScanQueue
from walltime.kernel.queue.waiting import OrderedQueue
from walltime.policy.api import Broker, Order  # noqa: F401 - as in dispatch.pxd

NEVER = cython.declare(cython.longlong, _NEVER)
NOWHERE = cython.declare(cython.longlong, _NOWHERE)

if not cython.compiled:
    OUTSIDE = QueuePosition.OUTSIDE


@cython.final
@cython.cclass
class GlobalQueue:
    """Jobs that have no cluster yet, in an order of their own, with a broker of their own. Without an order: as they
    became eligible; without a broker: the first cluster that may take a job."""

    def __init__(self, name, order, broker) -> None:
        self.name = name
        self.order = order
        self.broker = broker
        self.queue = None
        self.changing = False  # whether keys change while jobs wait
        self.number = 0

    def attach(self, jobs: JobTable, number, cores):
        """Called once, before the run."""
        self.number = number
        self.changing = self.order is not None and (self.order.dynamic or self.order.periodic)
        self.queue = ScanQueue(jobs) if self.changing else OrderedQueue(jobs, cores)
        self.queue.notes = False  # brokers look at all of it
        return 0

    def push(self, jobs: JobTable, slot, now):
        """The job begins to wait here."""
        if self.order is None:
            jobs.at[slot].key = jobs.at[slot].eligible
        elif not self.order.dynamic:
            if self.order.periodic:
                self.order.set_time(now)
            jobs.at[slot].key = self.order.key(jobs, slot)
        jobs.at[slot].line = self.number
        return self.queue.push(slot)

    def rank(self, now):
        """Bring keys up to date that change with time."""
        scan: ScanQueue
        if self.changing and self.queue.size > 0:
            if self.order.periodic:
                self.order.renew(now)
            scan = self.queue
            self.order.keys(scan.jobs, scan.slot[: scan.size], now, scan.key[: scan.size])
            scan.rekeyed()
        return 0


@cython.final
@cython.cclass
class Dispatch(Scheduling):
    """The global queues, in the order in which they are served, and the rules for leaving them.

    `hold`: a job stays until some cluster could start it at once, or keeps a reservation for it. `overtake`: whether
    those behind one that stays are asked about. `shared`: the clusters' limits are the same counters, so that what
    happens in one may let a job start in another, and one job is sent at a time. `routing` tells each job's queue and
    the clusters that it is bound to, by its row; None where there is one queue and no job is bound. `migration` moves
    jobs between clusters, where that is wanted; `joint` plans them all together.
    """

    def __init__(
        self, queues, hold=False, overtake=True, routing=None, migration=None, seed=0, shared=False, joint=None
    ) -> None:
        Scheduling.__init__(self)
        self.queues = list(queues)
        self.hold = hold
        self.overtake = overtake
        self.shared = shared
        self.routing = routing
        self.migration = migration
        self.joint = joint
        self.seed = seed
        self.size = 0
        self.longest = 0
        self.fresh = []
        self.closed = []
        self.changes = Changes()
        self.options = {}
        self.known = {}
        self.assigned = False

    def attach(self, jobs: JobTable, clusters):
        global_queue: GlobalQueue
        cluster: Cluster
        largest: cython.longlong = 1
        prepared: list = []
        Scheduling.attach(self, jobs, clusters)
        for cluster in clusters:
            cluster.changes = self.changes
            if cluster.assignments is not None:
                self.assigned = True
            if cluster.ledger.size > largest:
                largest = cluster.ledger.size
        for global_queue in self.queues:
            global_queue.attach(jobs, self.queues.index(global_queue), largest)
            if global_queue.order is not None and global_queue.order.charges:
                for cluster in clusters:
                    cluster.charge_to(global_queue.order)
            if global_queue.broker is not None and global_queue.broker not in prepared:
                global_queue.broker.prepare(jobs, clusters, self.seed)
                prepared.append(global_queue.broker)
        if self.migration is not None:
            self.migration.join(clusters, self.changes, self.options)
        if self.joint is not None:
            self.joint.join(clusters, self.changes, self.options)
        return 0

    # ---- in

    def refuse(self, slot):
        """Why the job can run on none of the clusters that it may go to, in words; None where it can."""
        jobs: JobTable = self.jobs
        kind = 0 if self.routing is None else self.routing.kind(jobs.at[slot].row)
        jobs.at[slot].cluster = NOWHERE
        if self.assigned:
            options = self.able(slot, kind)
        else:
            key = (kind, jobs.at[slot].cores, jobs.at[slot].nodes, jobs.at[slot].per_node)
            if key not in self.known:
                self.known[key] = self.able(slot, kind)
            options = self.known[key]
        self.options[slot] = options
        return None if options else self.refusal(slot, kind)

    def able(self, slot, kind):
        """The clusters that could ever run the job, of those to which it may go."""
        cluster: Cluster
        found: list = []
        for cluster in self.allowed(kind):
            if cluster.takes(slot) is None:
                found.append(cluster)
        return found

    def allowed(self, kind):
        """The clusters to which a kind of jobs may go by the bindings."""
        return (
            self.clusters if self.routing is None else [self.clusters[number] for number in self.routing.clusters(kind)]
        )

    def refusal(self, slot, kind) -> str:
        """Why none of the clusters can ever run the job."""
        cluster: Cluster
        reasons: dict = {}
        for cluster in self.allowed(kind):
            reasons.setdefault(cluster.takes(slot), []).append(cluster.name)
        if not reasons:
            return "bound to clusters by rules that no cluster meets together"
        if len(reasons) == 1:
            return next(iter(reasons))
        return "; ".join(f"{names[0]}: {reason}" for reason, names in sorted(reasons.items(), key=lambda item: item[1]))

    def wait(self, slot, now):
        """The job begins to wait globally."""
        global_queue: GlobalQueue = self.queues[
            0 if self.routing is None else self.routing.queue(self.jobs.at[slot].row)
        ]
        global_queue.push(self.jobs, slot, now)
        self.fresh.append(slot)
        self.size += 1
        if self.size > self.longest:
            self.longest = self.size
        return 0

    def leave(self, slot):
        """The job waits here no longer."""
        global_queue: GlobalQueue = self.queues[self.jobs.at[slot].line]
        global_queue.queue.remove(slot)
        self.size -= 1
        return 0

    def forget(self, slot, now):
        if self.jobs.at[slot].cluster == NOWHERE:
            return self.leave(slot)
        return Scheduling.forget(self, slot, now)

    # ---- out

    def decide(self, now):
        touched: list
        self.ask(now)
        touched = self.changes.touched
        self.changes.touched = []
        if len(touched) > 1:
            touched.sort(key=_index)
        return touched

    def ask(self, now):
        """Send those down that can go, at this instant; those that no cluster takes are in `rejected` afterwards."""
        cluster: Cluster
        opened: list = self.changes.stirred
        fresh: list = self.fresh
        self.changes.now = now
        self.changes.stirred = []
        self.fresh = []
        for cluster in opened:
            cluster.stirred = False
        for cluster in self.closed:
            cluster.closed = False
            if cluster not in opened:
                opened.append(cluster)
        self.closed = []
        if self.shared and opened:
            opened = list(self.clusters)
        if self.size > 0:
            if not self.overtake:
                if fresh or opened:
                    self.ask_in_turn(now)
            elif self.size > len(fresh) and opened:
                self.ask_all(opened, fresh, now)
            else:
                self.ask_fresh(fresh, now)
        if self.migration is not None:
            self.migration.look(opened, now)
        if self.joint is not None:
            self.joint.came = self.joint.came or len(fresh) > 0
            self.joint.look(now)
        return 0

    def restless(self):
        """Whether jobs should be asked about again once the passes of this instant are over."""
        if self.joint is not None and self.joint.wants(self.changes.now):
            return True
        return self.size > 0 and (len(self.closed) > 0 or len(self.changes.stirred) > 0)

    def ask_in_turn(self, now):
        """From the first on, until one has to stay."""
        global_queue: GlobalQueue
        slot: cython.Py_ssize_t
        for global_queue in self.queues:
            global_queue.rank(now)
            slot = global_queue.queue.head()
            while slot >= 0:
                if not self.consider(global_queue, slot, self.options[slot]):
                    return 0
                slot = global_queue.queue.head()
        return 0

    def ask_all(self, opened, fresh, now):
        """All jobs, in order; held jobs that were here before can only go where something has happened."""
        global_queue: GlobalQueue
        slot: cython.Py_ssize_t
        after: cython.Py_ssize_t
        new: set = set(fresh)
        if self.hold:
            for global_queue in self.queues:
                global_queue.rank(now)
                after = -1
                slot = self.next_small(global_queue, opened, after)
                while slot >= 0:
                    among = self.options[slot]
                    if slot not in new:
                        among = [cluster for cluster in opened if cluster in among]
                        among.sort(key=_index)
                    if not self.consider(global_queue, slot, among):
                        after = slot
                    slot = self.next_small(global_queue, opened, after)
            return self.ask_fresh(fresh, now)
        for global_queue in self.queues:
            global_queue.rank(now)
            for slot in global_queue.queue.slots():
                self.consider(global_queue, slot, self.options[slot])
        return 0

    def next_small(self, global_queue: GlobalQueue, opened, after):
        """The first job behind `after` that asks for no more than is free in one of these clusters, or -1."""
        cluster: Cluster
        most: cython.longlong = 0
        for cluster in opened:
            if not cluster.closed and cluster.ledger.free > most:
                most = cluster.ledger.free
        return global_queue.queue.find(most, most, NEVER, after, NEVER) if most > 0 else -1

    def ask_fresh(self, fresh, now):
        """The jobs that have just come, and are still here."""
        global_queue: GlobalQueue
        slot: cython.Py_ssize_t
        if len(fresh) > 1:
            fresh = self.in_order(fresh, now)
        for slot in fresh:
            if self.jobs.at[slot].position != OUTSIDE and self.jobs.at[slot].cluster == NOWHERE:
                global_queue = self.queues[self.jobs.at[slot].line]
                self.consider(global_queue, slot, self.options[slot])
        return 0

    def in_order(self, fresh, now):
        """These jobs as they stand in the queues."""
        global_queue: GlobalQueue
        slot: cython.Py_ssize_t
        keyed: list = []
        for global_queue in self.queues:
            global_queue.rank(now)
        for slot in fresh:
            keyed.append((self.jobs.at[slot].line, self.jobs.at[slot].key, self.jobs.at[slot].seq, slot))
        keyed.sort()
        return [entry[3] for entry in keyed]

    def consider(self, global_queue: GlobalQueue, slot, among):
        """Ask the broker; whether the job has left the queue."""
        cluster: Cluster
        reason: str
        if self.hold:
            able = []
            for cluster in among:
                if cluster.could_start(slot) or cluster.keeps_room(slot):
                    able.append(cluster)
            among = able
        while among:
            cluster = self.choose(global_queue, slot, among)
            if cluster is None:
                return False
            reason = self.send(slot, cluster)
            if reason is None:
                return True
            among = [other for other in among if other is not cluster]
            if not among and not self.hold:
                self.leave(slot)
                self.rejected.append((slot, reason))
                return True
        return False

    def choose(self, global_queue: GlobalQueue, slot, among):
        """The broker's choice among these clusters; None for none."""
        cluster: Cluster
        number: cython.int
        if global_queue.broker is None:
            return among[0]
        number = global_queue.broker.route(slot, among)
        if number == -1:
            return None
        for cluster in among:
            if cluster.index == number:
                return cluster
        raise self.misrouted(global_queue, slot, number)

    def misrouted(self, global_queue: GlobalQueue, slot, number) -> PolicyError:
        """The error of a broker that names a cluster that it may not."""
        i: cython.Py_ssize_t = slot
        broker = type(getattr(global_queue.broker, "broker", global_queue.broker))
        who = f"{broker.__qualname__}: sent job {self.jobs.at[i].job_id} to cluster"
        if not 0 <= number < len(self.clusters):
            return PolicyError(
                f"{who} {number}; they are numbered 0 to {len(self.clusters) - 1}, and -1 means: not yet"
            )
        cluster: Cluster = self.clusters[number]
        why = cluster.takes(i) or "it is not among those that may take it now"
        return PolicyError(f"{who} {cluster.name}, which may not take it: {why} (time {self.changes.now / SECOND:g} s)")

    def send(self, slot, cluster: Cluster):
        """The job goes to the cluster; why not, where the cluster has too many jobs already."""
        one: Cluster
        reason = cluster.count_in(self.jobs, slot)
        if reason is not None:
            return reason
        self.leave(slot)
        cluster.take_in(self.jobs, slot, self.changes.now)
        if self.hold:
            for one in self.clusters if self.shared else [cluster]:
                one.closed = True
                self.closed.append(one)
        return None


def _index(cluster):
    return cluster.index
