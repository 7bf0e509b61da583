"""A cluster in the simulation: its resources, its waiting jobs, and the parts of its scheduler."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger import Ledger
from walltime.kernel.lines import Line, LinesQueue
from walltime.kernel.queue import OrderedQueue, Queue
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in cluster.pxd
from walltime.kernel.scan import ScanQueue
from walltime.policy.api import Cause, Estimate, Order, Pass, Policy, Rhythm  # noqa: F401 - as in cluster.pxd

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    ARRIVAL, LIMIT, TIMER = Cause.ARRIVAL, Cause.LIMIT, Cause.TIMER


@cython.final
@cython.cclass
class Island:
    """Queues whose nodes overlap, scheduled together by a policy of their own; most clusters are one island."""

    def __init__(self, queue: Queue, policy: Policy, view: Pass, orders) -> None:
        self.queue = queue
        self.lines = queue if isinstance(queue, LinesQueue) else None
        self.policy = policy
        self.view = view
        self.dynamic = any(order.dynamic for order in orders)
        self.periodic = any(order.periodic for order in orders)
        self.renewed = integers(len(orders), -1)  # the time of the state that the keys of each lane follow
        self.renewal = integers(len(orders), -1)  # the same, as it should be
        self.causes = 0
        self.displacer = None  # whoever makes room for the urgent, and has the suspended
        self.rhythm = None
        self.asked = -1  # for when its rhythm has last asked for a look

    def due(self, now):
        """Whether there is something to decide. With nobody waiting the causes are kept for the next pass."""
        if self.rhythm is not None:
            return self.waits() and self.rhythm.due(now, self.happened(now))
        if self.causes == 0:
            return False
        if self.queue.size > 0 or self.causes & TIMER:
            return True
        if self.displacer is not None and self.displacer.suspended:
            return True
        return self.lines is not None and self.lines.waits_for_time()

    def waits(self):
        """Whether somebody waits who may start without anything else happening to others first."""
        if self.queue.size > 0 or (self.displacer is not None and self.displacer.suspended):
            return True
        return self.lines is not None and self.lines.waits_for_time()

    def happened(self, now):
        """What its rhythm has to know of; a timer at which time alone moves a limit is one more thing."""
        causes: cython.int = self.causes
        if self.lines is not None and self.causes & TIMER and self.lines.opening <= now:
            causes |= LIMIT
        return causes

    def unsettled(self, now):
        """After a pass: whether its decisions changed what it decided upon, as a requeue does."""
        if self.rhythm is not None:
            return self.due(now)
        return self.causes != 0 and self.queue.size > 0

    def next_look(self, now):
        """When its rhythm is to be asked again; NEVER where it did not change its mind since it said so."""
        time: cython.longlong
        if not self.waits():
            if self.rhythm.forgets:
                self.causes = 0
            return NEVER
        time = self.rhythm.next(now, self.happened(now))
        if time == self.asked:
            return NEVER
        self.asked = time
        return time

    def prepare(self, orders, now):
        """Before a pass: limits that time alone has moved, and the keys that change with time."""
        line: Line
        order: Order
        moved: cython.bint
        if self.lines is not None and self.lines.refresh():
            self.causes |= LIMIT
        stale: cython.bint = self.periodic and self.stale(orders, now)
        if not (self.dynamic or stale):
            return 0
        if self.lines is None:
            self.rekey(self.queue, orders[0], 0, now)
        else:
            for line in self.lines.lines:
                order = orders[line.lane]
                if line.queue.size > 0 and (line.open or order.periodic):
                    moved = self.rekey(line.queue, order, line.lane, now)
                    self.lines.disturbed |= moved
        if self.periodic:
            self.renewed[:] = self.renewal
        return 0

    def stale(self, orders, now):
        """Whether keys that change every so often are to be renewed."""
        i: cython.Py_ssize_t
        order: Order
        found: cython.bint = False
        for i in range(len(orders)):
            order = cython.cast(Order, orders[i])
            if order.periodic:
                self.renewal[i] = order.renew(now)
                found |= self.renewal[i] > self.renewed[i]
        return found

    def rekey(self, queue: Queue, order: Order, lane, now):
        """Give the jobs of a queue the keys that they have now; whether some are known to have changed places."""
        scan: ScanQueue
        keys: cython.longlong[::1]
        if order.dynamic:
            scan = queue
            order.keys(scan.jobs, scan.slot[: scan.size], now, scan.key[: scan.size])
            return scan.rekeyed()
        if not order.periodic or self.renewal[lane] <= self.renewed[lane]:
            return 0
        keys = queue.room()
        order.keys(queue.jobs, queue.ordered()[: queue.size], now, keys[: queue.size])
        return queue.rekey()


@cython.final
@cython.cclass
class Cluster:
    """One cluster. `orders` are by lane; a cluster without rules has one lane, one island and no quotas."""

    def __init__(self, name, index, ledger: Ledger, orders, estimate: Estimate, quotas=None, licensed=False) -> None:
        self.name = name
        self.index = index
        self.ledger = ledger
        self.orders = orders
        self.estimate = estimate
        self.quotas = quotas
        self.licensed = licensed
        self.islands = []
        self.reserved = []
        self.several = False
        self.sole = None  # the only island of a cluster without rules
        self.order = orders[0]
        self.charged = [order for order in dict.fromkeys(orders) if order.charges]
        self.charges = bool(self.charged)
        self.passes = 0
        self.longest_queue = 0

    def add_island(self, queue, policy: Policy, ledger=None, rhythm=None, lanes=None) -> None:
        """Waiting jobs with a policy of their own; without a queue, a plain one in the cluster's only order. With a
        `ledger` they have a machine of their own: a reservation.

        `rhythm` says when there are passes, without one there is one whenever something changed; `lanes` tells it
        which of them share nodes."""
        jobs = self.ledger.jobs
        if ledger is not None:
            self.reserved.append(ledger)
        if queue is None:
            queue = ScanQueue(jobs) if self.orders[0].dynamic else OrderedQueue(jobs, self.ledger.size)
        if rhythm is not None:
            rhythm.attach(policy, any(order.dynamic or order.periodic for order in self.orders), lanes)
        view = Pass(jobs, queue, self.ledger if ledger is None else ledger, self.name, policy)
        view.number = len(self.islands)
        island: Island = Island(queue, policy, view, self.orders)
        island.rhythm = rhythm
        self.islands.append(island)
        self.several = len(self.islands) > 1
        plain = not self.several and self.islands[0].lines is None
        self.sole = self.islands[0] if plain else None

    @property
    def queue(self) -> Queue:
        """The waiting jobs of the only island, or of the first."""
        return self.islands[0].queue

    def join(self, jobs: JobTable, slot, now):
        """A job begins to wait here."""
        island: Island = self.sole
        order: Order = self.order
        size: cython.Py_ssize_t = 0
        if island is None:
            island = self.islands[jobs.at[slot].island]
            order = self.orders[jobs.at[slot].lane]
            if self.quotas is not None:
                self.quotas.set_time(now)
        jobs.at[slot].cluster = self.index
        jobs.at[slot].estimate = self.estimate.estimate(jobs, slot)
        if jobs.at[slot].used > 0:  # it goes on from a checkpoint
            jobs.at[slot].estimate = max(jobs.at[slot].estimate - jobs.at[slot].used, 1)
        if not order.dynamic:
            jobs.at[slot].key = order.key(jobs, slot)
        island.queue.push(slot)
        island.causes |= ARRIVAL
        if island.displacer is not None:
            island.displacer.waits(slot)
        if self.sole is not None:
            size = island.queue.size
        else:
            for island in self.islands:
                size += island.queue.size + island.lines.parked
        if size > self.longest_queue:
            self.longest_queue = size
        return 0

    def changed(self, slot, cause):
        """Something happened to a job of this cluster."""
        island: Island
        if self.sole is not None:
            self.sole.causes |= cause
            return 0
        if self.licensed:
            return self.changed_all(cause)
        island = cython.cast(Island, self.islands[self.ledger.jobs.at[slot].island])
        island.causes |= cause
        return 0

    def changed_all(self, cause):
        """Something happened that concerns everybody who waits here."""
        island: Island
        for island in self.islands:
            island.causes |= cause
        return 0

    def set_time(self, now):
        """The clock moved."""
        ledger: Ledger
        if self.quotas is not None:
            self.quotas.set_time(now)
        for ledger in self.reserved:
            ledger.set_time(now)
        return self.ledger.set_time(now)

    def ledger_of(self, slot):
        """The resources from which the job has, or would get, its own."""
        island: Island
        if not self.reserved:
            return self.ledger
        island = cython.cast(Island, self.islands[self.ledger.jobs.at[slot].island])
        return island.view.ledger

    def charge(self, slot, now, started):
        """A job has begun or ceased to use something here."""
        order: Order
        for order in self.charged:
            if started:
                order.started(self.ledger.jobs, slot, now)
            else:
                order.stopped(self.ledger.jobs, slot, now)
        return 0

    def released(self, slot):
        """A running job stopped: what it counted for is free, and may let others in."""
        island: Island
        if self.quotas is None:
            return 0
        self.quotas.give(slot)
        for island in self.islands:
            if island.lines.unpark(slot):
                island.causes |= LIMIT
        return 0
