"""A cluster in the simulation: its resources, its waiting jobs, and the parts of its scheduler."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.displacement import Displacer  # noqa: F401 - as in cluster.pxd
from walltime.engine.door import Door  # noqa: F401 - as in cluster.pxd
from walltime.kernel.arrays import integers
from walltime.kernel.forecast import Forecast
from walltime.kernel.jobs import JobTable, Place
from walltime.kernel.ledger import CoreLedger, Ledger
from walltime.kernel.lines import Line, LinesQueue
from walltime.kernel.plan import PlanLedger
from walltime.kernel.queue import OrderedQueue, Queue
from walltime.kernel.quotas import Quotas
from walltime.kernel.scan import ScanQueue
from walltime.policy.api import Cause, Estimate, Order, Pass, Policy, Rhythm  # noqa: F401 - as in cluster.pxd
from walltime.policy.clusters import ClusterView

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    ARRIVAL, CAPACITY, LIMIT, ORDER, TIMER = Cause.ARRIVAL, Cause.CAPACITY, Cause.LIMIT, Cause.ORDER, Cause.TIMER
    OUTSIDE = Place.OUTSIDE
    JobFields = object  # a copy of a job's fields, in C


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
        self.renewed = integers(len(orders), -1)  # which renewal the keys of each lane follow
        self.renewal = integers(len(orders), -1)  # which one they should
        self.causes = 0
        self.displacer = None  # whoever makes room for the urgent, and has the suspended
        self.rhythm = None
        self.asked = -1  # for when its rhythm has last asked for a look
        self.cores = -1  # of its nodes, where these are not all of the cluster's
        self.mask = None  # which of the nodes these are
        self.forecast = None  # kept once a broker has asked when a job would start

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
        if self.lines is not None and self.lines.refresh():
            self.causes |= LIMIT
        stale: cython.bint = self.periodic and self.stale(orders, now)
        if not (self.dynamic or stale):
            return 0
        if self.lines is None:
            self.rekey(self.queue, orders[0], 0, now)
            self.queue.disturbed = True
        else:
            for line in self.lines.lines:
                order = orders[line.lane]
                if line.queue.size > 0 and (line.open or order.periodic):
                    self.rekey(line.queue, order, line.lane, now)
            self.lines.shuffled = True
        if stale:
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
        """Give the jobs of a queue the keys that they have now."""
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

    def take_back(self, quotas: Quotas):
        """Before a policy that keeps promises looks: whom others' starts have brought to a limit has none any more."""
        slot: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        line: Line
        jobs: JobTable = self.queue.jobs
        for line in list(self.lines.lines):
            for slot in line.queue.slots():
                if jobs.at[slot].promise < 0 or jobs.at[slot].pinned:
                    continue
                counter = quotas.refuser(slot)
                if counter >= 0:
                    self.view.raw_ledger.unhold(slot)
                    jobs.at[slot].promise = -1
                    self.lines.park(slot, counter)
        return 0

    def waiting(self):
        """Those who wait in the order in which they stand, without those who wait at a limit."""
        line: Line
        entries: list
        out: list = []
        if self.lines is None:
            return self.queue.slots()
        jobs: JobTable = self.queue.jobs
        for lines in self.lines.tiers:
            entries = []
            for line in lines:
                for slot in line.queue.slots():
                    entries.append((jobs.key[slot], jobs.seq[slot], slot))
            if len(lines) > 1:
                entries.sort()
            out += [entry[2] for entry in entries]
        return out

    def place_of(self, slot):
        """How many of those in the forecast stand before the job."""
        line: list = self.forecast.line
        low: cython.Py_ssize_t = 0
        high: cython.Py_ssize_t = len(line)
        middle: cython.Py_ssize_t
        if high == 0 or self.queue.precedes(line[high - 1], slot):  # most come last
            return high
        while low < high:
            middle = (low + high) // 2
            if self.queue.precedes(line[middle], slot):
                low = middle + 1
            else:
                high = middle
        return low


@cython.final
@cython.cclass
class Changes:
    """Which of several clusters have changed: since their last pass, and since the global scheduler looked last."""

    def __init__(self) -> None:
        self.now = 0
        self.touched = []
        self.stirred = []
        self.waiting = 0  # jobs that wait in some cluster
        self.running = 0  # jobs that run in some cluster


@cython.final
@cython.cclass
class Cluster(ClusterView):
    """One cluster. `orders` are by lane; a cluster without rules has one lane, one island and no quotas."""

    def __init__(self, name, index, ledger: Ledger, orders, estimate: Estimate, quotas=None, licensed=False) -> None:
        ClusterView.__init__(self, name, index, ledger)
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
        self.changes = None  # where there are several clusters
        self.touched = False
        self.stirred = False
        self.moved = False  # whether something has happened since it was last looked at what time alone will do
        self.idle = False  # whether the last timer was asked for by a plan that has changed since
        self.closed = False  # until its pass, to jobs that are held until they can start
        self.target = False  # of migration, at this moment
        self.machine = None  # who knows what is shut now and then, where something is
        self.door = None  # what its rules make of each job, where there are several clusters

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
        self.moved = True
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
            if order.periodic:
                order.set_time(now)
            jobs.at[slot].key = order.key(jobs, slot)
        if self.changes is not None:
            self.welcome(jobs, slot, island)
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
        self.moved = True
        if self.changes is not None:
            self.stir()
        if self.sole is not None:
            self.sole.causes |= cause
            return 0
        if self.licensed:
            return self.changed_all(cause)
        island = cython.cast(Island, self.islands[self.ledger.jobs.at[slot].island])
        island.causes |= cause
        return 0

    def changed_all(self, cause):
        """Something happened that concerns all that wait here."""
        island: Island
        self.moved = True
        if self.changes is not None:
            if cause != TIMER or (self.quotas is not None and self.quotas.timed):
                self.stir()
            else:
                self.touch()
        for island in self.islands:
            island.causes |= cause
            if cause == CAPACITY and island.forecast is not None:
                island.forecast.stale = True
        return 0

    def awaits(self, now):
        """Whether a timer means this time: a promise is due, or time alone lets in a job. Else it was asked for by a
        plan that has changed since."""
        island: Island
        slot: cython.Py_ssize_t
        for island in self.islands:
            if island.rhythm is not None or (island.lines is not None and island.lines.opening == now):
                return True
            for slot in island.waiting() if island.policy.plans else ():
                if self.ledger.jobs.at[slot].promise == now and not self.ledger.jobs.at[slot].pinned:
                    return True
        return False

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
        return island.view.raw_ledger

    def charge_to(self, order: Order):
        """Have an order hear of what jobs use here, besides those of the cluster's own queues."""
        self.charged.append(order)
        self.charges = True
        return 0

    def charge(self, slot, now, started):
        """A job has begun or ceased to use something here."""
        order: Order
        cores: cython.longlong = self.held_cores(slot) if started else 0
        for order in self.charged:
            if started:
                order.started(self.ledger.jobs, slot, now, cores)
            else:
                order.stopped(self.ledger.jobs, slot, now)
        return 0

    def held_cores(self, slot):
        """The cores that a running job holds: on whole nodes more than it may have asked for."""
        k: cython.Py_ssize_t
        ledger: Ledger = self.ledger_of(slot)
        found: cython.Py_ssize_t = ledger.describe(slot)
        cores: cython.longlong = 0
        if found == 0:
            return ledger.jobs.at[slot].cores
        for k in range(found):
            cores += ((ledger.ranges[k] >> 24 & 0xFFFFF) + 1) * (ledger.ranges[k] & 0xFFFFFF)
        return cores

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

    # ---- one of several

    def touch(self):
        """There may be something to decide here."""
        if not self.touched:
            self.touched = True
            self.changes.touched.append(self)
        return 0

    def stir(self):
        """Something other than an arrival happened, which jobs that wait globally may have waited for."""
        self.touch()
        if not self.stirred:
            self.stirred = True
            self.changes.stirred.append(self)
        return 0

    def welcome(self, jobs: JobTable, slot, island: Island):
        """A job is about to join the queue of the island."""
        self.touch()
        self.waiting += 1
        self.waiting_cores += jobs.at[slot].cores
        self.changes.waiting += 1
        if island.forecast is not None:
            self.set_time(self.changes.now)
            island.forecast.joined(slot, not island.dynamic and island.place_of(slot) == len(island.forecast.line))
        return 0

    def unqueued(self, jobs: JobTable, slot):
        """A job waits here no longer: it starts, leaves, or moves to another cluster."""
        island: Island = self.island_of(jobs, slot)
        self.waiting -= 1
        self.waiting_cores -= jobs.at[slot].cores
        self.changes.waiting -= 1
        if island.forecast is not None:
            island.forecast.stale = True
        return 0

    def started(self, jobs: JobTable, slot):
        """A job runs."""
        island: Island = self.island_of(jobs, slot)
        self.changes.running += 1
        if island.forecast is not None:
            island.forecast.started(slot)
        return 0

    def stopped(self, jobs: JobTable, slot):
        """A job runs no longer."""
        island: Island = self.island_of(jobs, slot)
        self.changes.running -= 1
        if island.forecast is not None:
            island.forecast.stopped(slot)
        return 0

    def prolonged(self, jobs: JobTable, slot):
        """A running job is expected to end at another time."""
        island: Island = self.island_of(jobs, slot)
        if island.forecast is not None:
            island.forecast.prolonged(slot)
        return 0

    def passed(self, island: Island):
        """A pass of the island is over; where its promises count in the forecast, these may have moved."""
        if island.forecast is not None and (island.forecast.promised or island.forecast.noded):
            island.forecast.stale = True
        return 0

    def island_of(self, jobs: JobTable, slot):
        return self.sole if self.sole is not None else cython.cast(Island, self.islands[jobs.at[slot].island])

    def takes(self, slot):
        """Why the job can never run here, in words; None where it can."""
        jobs: JobTable = self.ledger.jobs
        counter: cython.Py_ssize_t = -1
        reason: cython.longlong = -1
        if self.door is not None:
            reason = self.door.refuses(jobs, slot)
            if reason >= 0:
                return self.door.reasons[reason]
        kept: JobFields = jobs.at[slot]
        if self.door is not None:
            self.door.describe(jobs, slot)
        possible: cython.bint = self.ledger_of(slot).possible(slot)
        if possible and self.quotas is not None and jobs.at[slot].choice < 0:
            counter = self.quotas.too_small(slot, jobs.at[slot].rules)
        jobs.at[slot] = kept
        if not possible:
            return self.ledger.refuse(jobs.at[slot].cores, jobs.at[slot].nodes, jobs.at[slot].per_node)
        return None if counter < 0 else self.quotas.beyond(counter)

    def count_in(self, jobs: JobTable, slot):
        """The job counts as submitted here; which limit does not let it, in words, or None."""
        counter: cython.Py_ssize_t
        if self.quotas is None:
            return None
        kept: JobFields = jobs.at[slot]
        self.door.describe(jobs, slot)
        counter = self.quotas.submit(self.islands[0].lines.counted_as(slot))
        jobs.at[slot] = kept
        return self.quotas.too_many(counter) if counter >= 0 else None

    def take_in(self, jobs: JobTable, slot, now):
        """A job that has been counted in begins to wait here."""
        if self.door is not None:
            self.door.describe(jobs, slot)
        return self.join(jobs, slot, now)

    def give_up(self, jobs: JobTable, slot, now):
        """A waiting job goes to another cluster."""
        island: Island = self.island_of(jobs, slot)
        self.set_time(now)
        self.unqueued(jobs, slot)
        island.queue.remove(slot)
        island.view.raw_ledger.unhold(slot)
        if island.displacer is not None:
            island.displacer.waits_no_more(slot)
        jobs.at[slot].promise = -1
        self.changed(slot, ORDER)
        if self.quotas is not None:
            self.quotas.leave(island.lines.counted_as(slot))
        return 0

    def waiting_in(self, island: Island):
        """Those who wait in an island, in order."""
        return island.waiting()

    def dress(self, jobs: JobTable, slot, now):
        """Describe the job as if it waited here, to ask about it; the caller keeps what it was."""
        order: Order = self.order
        if self.door is not None:
            self.door.describe(jobs, slot)
            order = self.orders[jobs.at[slot].lane]
        jobs.at[slot].estimate = self.estimate.estimate(jobs, slot)
        if jobs.at[slot].used > 0:
            jobs.at[slot].estimate = max(jobs.at[slot].estimate - jobs.at[slot].used, 1)
        if order.dynamic:
            slots = np.array([slot], np.int64)
            keys = np.zeros(1, np.int64)
            order.keys(jobs, slots, now, keys)
            jobs.at[slot].key = keys[0]
        else:
            jobs.at[slot].key = order.key(jobs, slot)
        return 0

    def could_start(self, slot):
        jobs: JobTable = self.ledger.jobs
        island: Island
        able: cython.bint
        if self.closed or self.ledger.free <= 0 or (self.door is None and jobs.at[slot].cores > self.ledger.free):
            return False
        kept: JobFields = jobs.at[slot]
        self.dress(jobs, slot, self.changes.now)
        island = self.island_of(jobs, slot)
        able = island.queue.size == 0
        if able:
            self.set_time(self.changes.now)
            able = island.view.raw_ledger.fits(slot) if island.lines is None else island.view.fits_by_rules(slot)
        jobs.at[slot] = kept
        return able

    def keeps_room(self, slot):
        """Whether the job waits here for a reservation that it may use, and nowhere else."""
        jobs: JobTable = self.ledger.jobs
        bound: cython.bint
        if not self.reserved:
            return False
        kept: JobFields = jobs.at[slot]
        self.door.describe(jobs, slot)
        bound = self.ledger_of(slot) is not self.ledger
        jobs.at[slot] = kept
        return bound

    def predict(self, slot):
        jobs: JobTable = self.ledger.jobs
        now: cython.longlong = self.changes.now
        time: cython.longlong
        kept: JobFields
        if jobs.at[slot].place != OUTSIDE and jobs.at[slot].cluster == self.index:
            return self.planned(jobs, slot, now)
        kept = jobs.at[slot]
        self.set_time(now)
        self.dress(jobs, slot, now)
        jobs.at[slot].promise = -1
        time = self.foresee(jobs, slot, self.island_of(jobs, slot), now)
        jobs.at[slot] = kept
        return time

    def planned(self, jobs: JobTable, slot, now):
        """When a job that waits here would start; NEVER for one that waits at a limit."""
        island: Island = self.island_of(jobs, slot)
        self.set_time(now)
        self.refresh(jobs, island, now)
        return island.forecast.starts.get(slot, NEVER)

    def foresee(self, jobs: JobTable, slot, island: Island, now):
        """When the job, dressed as one of the island's, would start."""
        forecast: Forecast
        time: cython.longlong
        exact: cython.longlong
        self.refresh(jobs, island, now)
        forecast = island.forecast
        time = forecast.behind(island.place_of(slot), slot, now)
        if (forecast.noded and island.queue.size == 0) or island.view.raw_ledger is not self.ledger:
            exact = island.view.raw_ledger.earliest(slot, now)
            if exact > time:
                time = exact
        return time

    def refresh(self, jobs: JobTable, island: Island, now):
        """Have a plan of the island as things are now."""
        s: cython.Py_ssize_t
        policy: Policy = island.policy
        if island.forecast is None:
            ledger = island.view.raw_ledger
            noded = not isinstance(ledger, CoreLedger | PlanLedger)
            island.forecast = Forecast(jobs, ledger, island.cores, policy.strict, policy.plans, noded)
            for s in jobs.slots():
                if jobs.at[s].holding != 1 or jobs.at[s].cluster != self.index or jobs.at[s].seq < 0:
                    continue
                if self.island_of(jobs, s) is island:
                    island.forecast.started(s)
        if (island.dynamic or island.periodic) and island.forecast.made != now:
            island.forecast.stale = True
        if island.forecast.stale and island.dynamic and island.lines is None and island.queue.size > 0:
            island.prepare(self.orders, now)
        if not island.forecast.holds_at(now):
            if self.machine is not None:
                island.forecast.shut = self.machine.windows(island.view.raw_ledger, island.mask)
            island.forecast.make(island.waiting(), now)
        return 0
