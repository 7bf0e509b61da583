"""A cluster in the simulation: its resources, its waiting jobs, and the parts of its scheduler."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.brokering.assignments import Assignments  # noqa: F401 - as in cluster.pxd
from walltime.engine.domain import Domain
from walltime.engine.sources import Openings, Timers  # noqa: F401 - as in cluster.pxd
from walltime.kernel.jobs import JobTable, QueuePosition
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.ledger.forecast import Forecast
from walltime.kernel.ledger.interface import Ledger
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.ledger.trial import Trial
from walltime.kernel.queue.scan import ScanQueue
from walltime.kernel.queue.waiting import OrderedQueue, Queue
from walltime.kernel.quotas import Quotas  # noqa: F401 - as in cluster.pxd
from walltime.policy.api import Cause, Estimate, Order, Pass, Policy
from walltime.policy.clusters import ClusterView

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    ARRIVAL, CAPACITY, ESTIMATE = Cause.ARRIVAL, Cause.CAPACITY, Cause.ESTIMATE
    LIMIT, ORDER, RELEASE, TIMER = Cause.LIMIT, Cause.ORDER, Cause.RELEASE, Cause.TIMER
    OUTSIDE = QueuePosition.OUTSIDE
    JobFields = object  # a copy of a job's fields, in C


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
    """One cluster. `orders` are by lane; a cluster without rules has one lane, one domain and no quotas."""

    def __init__(self, name, index, ledger: Ledger, orders, estimate: Estimate, quotas=None, licensed=False) -> None:
        ClusterView.__init__(self, name, index, ledger)
        self.orders = orders
        self.estimate = estimate
        self.quotas = quotas
        self.licensed = licensed
        self.domains = []
        self.reserved = []
        self.several = False
        self.sole = None  # the only domain of a cluster without rules
        self.order = orders[0]
        self.charged = [order for order in dict.fromkeys(orders) if order.charges]
        self.charges = bool(self.charged)
        self.minds = True  # whether it is to be told of jobs that leave
        self.bare = False  # whether it has one domain and one ledger, without limits, reservations and other clusters
        self.plain = None  # the ledger of a bare cluster that is a number of cores
        self.by_entry = False  # whether a job's key is when it became eligible, and no order need be asked
        self.as_asked = False  # whether its estimate is what its user asked for
        self.passes = 0
        self.longest_queue = 0
        self.changes = None  # where there are several clusters
        self.touched = False
        self.stirred = False
        self.moved = False  # whether something has happened since it was last looked at what time alone will do
        self.idle = False  # whether the last timer was asked for by a plan that has changed since
        self.closed = False  # until its pass, to jobs that are held until they can start
        self.target = False  # of migration, at this moment
        self.machine = None  # knows what is shut now and then, where something is
        self.assignments = None  # what its rules make of each job, where there are several clusters
        self.openings = None  # when limits let in jobs, where there are limits
        self.chosen = {}  # the queue that jobs came to that had a choice, by order of entry
        self.requeue_delay = 0  # how long a job pauses that was put back

    def add_domain(self, queue, policy: Policy, ledger=None, rhythm=None, lanes=None, node_set=-1) -> None:
        """Waiting jobs with a policy of their own; without a queue, a plain one in the cluster's only order. With a
        `ledger` they have a machine of their own: a reservation.

        `rhythm` says when there are passes, without one there is one whenever something changed; `lanes` tells it
        which of them share nodes. `node_set` is the ledger's number for the nodes of the queues."""
        jobs = self.ledger.jobs
        if ledger is not None:
            self.reserved.append(ledger)
        if queue is None:
            queue = ScanQueue(jobs) if self.orders[0].dynamic else OrderedQueue(jobs, self.ledger.size, self.ledger)
        ageing = any(order.dynamic or order.periodic for order in self.orders)
        queue.fixed = not ageing
        if rhythm is not None:
            rhythm.attach(policy, ageing, lanes)
        view = Pass(jobs, queue, self.ledger if ledger is None else ledger, self.name, policy)
        view.number = len(self.domains)
        view.node_set = node_set
        domain: Domain = Domain(queue, policy, view, self.orders)
        domain.rhythm = rhythm
        if rhythm is not None:
            domain.plans = rhythm.keeps_promises(policy)
            view.keeps = domain.lines is not None and not domain.plans
        self.domains.append(domain)
        heard = getattr(policy, "people", None)
        if heard is not None:
            self.charge_to(heard)
        self.several = len(self.domains) > 1
        plain = not self.several and self.domains[0].lines is None
        self.sole = self.domains[0] if plain else None

    def prepare(self):
        """Before the run: what can be left out for its jobs."""
        self.minds = (
            self.sole is None or self.estimate.learns or self.quotas is not None or self.assignments is not None
        )
        ruled: cython.bint = self.sole is None or self.quotas is not None or bool(self.reserved)
        self.bare = not ruled and self.changes is None
        if self.bare and type(self.ledger) is CoreLedger:
            self.plain = self.ledger
        self.by_entry = vars(type(self.order)).get("field") == "eligible"
        self.as_asked = vars(type(self.estimate)).get("field") == "requested"
        return 0

    @property
    def queue(self) -> Queue:
        """The waiting jobs of the only domain, or of the first."""
        return self.domains[0].queue

    def join(self, jobs: JobTable, slot, now):
        """A job begins to wait here."""
        domain: Domain = self.sole
        order: Order = self.order
        size: cython.Py_ssize_t = 0
        self.moved = True
        if domain is None:
            domain = self.domains[jobs.at[slot].domain]
            order = self.orders[jobs.at[slot].lane]
            if self.quotas is not None:
                self.quotas.set_time(now)
        jobs.at[slot].cluster = self.index
        if self.as_asked:
            jobs.at[slot].estimate = jobs.at[slot].requested
        else:
            jobs.at[slot].estimate = self.estimate.estimate(jobs, slot)
        if jobs.at[slot].used > 0:  # it goes on from a checkpoint
            jobs.at[slot].estimate = max(jobs.at[slot].estimate - jobs.at[slot].used, 1)
        if self.by_entry and self.sole is not None:
            jobs.at[slot].key = jobs.at[slot].eligible
        elif not order.dynamic:
            if order.periodic:
                order.set_time(now)
            jobs.at[slot].key = order.key(jobs, slot)
        if self.changes is not None:
            self.count_arrival(jobs, slot, domain)
        domain.queue.push(slot)
        domain.causes |= ARRIVAL
        if domain.preemptor is not None:
            domain.preemptor.waits(slot)
        if self.sole is not None:
            size = domain.queue.size
        else:
            for domain in self.domains:
                size += domain.queue.size + domain.lines.parked
        if size > self.longest_queue:
            self.longest_queue = size
        return 0

    def rejoin(self, jobs: JobTable, slot, now):
        """A job that was put back has paused, and waits again; its rhythm may not notice at once."""
        domain: Domain = cython.cast(Domain, self.domains[jobs.at[slot].domain]) if self.sole is None else self.sole
        causes: cython.int = domain.causes
        self.join(jobs, slot, now)
        if domain.rhythm is not None and domain.rhythm.overlooks():
            domain.causes = causes | TIMER
        return 0

    def changed(self, slot, cause):
        """Something happened to a job of this cluster."""
        domain: Domain
        self.moved = True
        if self.changes is not None:
            self.mark_changed()
        if self.sole is not None:
            self.sole.causes |= cause
            return 0
        if self.licensed:
            return self.changed_all(cause)
        domain = cython.cast(Domain, self.domains[self.ledger.jobs.at[slot].domain])
        domain.causes |= cause
        return 0

    def changed_all(self, cause):
        """Something happened that concerns all that wait here."""
        domain: Domain
        self.moved = True
        if self.changes is not None:
            if cause != TIMER or (self.quotas is not None and self.quotas.pressing):
                self.mark_changed()
            else:
                self.touch()
        for domain in self.domains:
            domain.causes |= cause
            if cause == CAPACITY and domain.forecast is not None:
                domain.forecast.stale = True
        return 0

    def wake(self, now):
        """A pass was asked for at this time."""
        domain: Domain
        self.idle = False
        for domain in self.domains:
            if domain.preemptor is not None:
                self.idle = not self.awaits(now)
                break
        return self.changed_all(TIMER)

    def awaits(self, now):
        """Whether a timer means this time: a promise is due, or time alone lets in a job. Else it was asked for by a
        plan that has changed since."""
        domain: Domain
        slot: cython.Py_ssize_t
        for domain in self.domains:
            if domain.rhythm is not None or (domain.lines is not None and domain.lines.opening == now):
                return True
            for slot in domain.waiting() if domain.plans else ():
                if self.ledger.jobs.at[slot].promise == now and not self.ledger.jobs.at[slot].pinned:
                    return True
        return False

    # ---- a pass

    def begin_pass(self, domain: Domain, now, amid):
        """Everything up to the policy's decisions: limits and keys that time has moved, and room for urgent jobs."""
        view: Pass = domain.view
        causes: cython.int
        self.passes += 1
        self.moved = True
        if self.several:
            self.ledger.domain = view.number
        if self.bare:
            self.set_bare_time(now)
        else:
            self.set_time(now)
        if domain.dynamic or domain.periodic or domain.lines is not None:
            domain.prepare(now)
        causes = domain.causes | domain.kept
        view.begin(now, causes)
        view.fresh = domain.causes
        domain.causes = domain.kept = 0
        view.amid = amid
        if domain.preemptor is not None and not (causes == TIMER and self.idle) and domain.preemptor.act(view):
            if domain.dynamic and domain.causes & (ARRIVAL | LIMIT):  # displaced jobs wait again, or let others in
                domain.prepare(now)
            view.causes |= domain.causes | CAPACITY
            view.fresh |= domain.causes | CAPACITY
            domain.causes = 0
        if self.quotas is not None and domain.plans and (self.several or domain.preemptor is not None):
            domain.take_back(self.quotas)
        return 0

    def end_pass(self, domain: Domain):
        """The decisions of the pass have become true."""
        one: Domain
        if self.changes is not None:
            self.passed(domain)
        if self.quotas is not None and domain.preemptor is not None:
            domain.preemptor.park_refused(domain.lines)
        if self.quotas is not None and domain.lines is not None and not domain.lines.parks:
            for one in self.domains:  # its starts count at limits of other domains' jobs
                if one.lines is not None:
                    one.lines.count_kept()
        return 0

    def plan_looks(self, domain: Domain, timers: Timers, now):
        """Have the rhythm of the domain asked again when it wants to be."""
        time: cython.longlong = domain.next_look(now)
        if time < NEVER:
            timers.plan(self.index, time)
        return 0

    def plan_admissions(self, now):
        """Have a pass when a limit on core-minutes will let in a job if nothing else happens."""
        domain: Domain
        time: cython.longlong
        first: cython.longlong = NEVER
        if not self.moved or self.openings is None or not self.quotas.timed:
            return 0
        self.moved = False
        self.quotas.set_time(now)
        for domain in self.domains:
            time = domain.lines.next_opening()
            if time < first:
                first = time
        return self.openings.plan(self.index, first)

    # ---- jobs in and out

    def admits(self, slot):
        """Whether the size of the cluster is all that could keep the job out, and does not; else `refuse` tells."""
        if self.plain is not None:
            return self.plain.jobs.at[slot].cores <= self.plain.size
        return self.quotas is None and not self.reserved and self.ledger.possible(slot)

    def refuse(self, slot):
        """Why the job cannot be one of this cluster's, in words; None, and it counts as submitted, where it can."""
        jobs: JobTable = self.ledger.jobs
        ledger: Ledger = self.ledger_of(slot) if self.reserved else self.ledger
        counter: cython.Py_ssize_t = -1
        if not ledger.possible(slot):
            return ledger.refuse(jobs.at[slot].cores, jobs.at[slot].nodes, jobs.at[slot].per_node)
        if self.quotas is None:
            return None
        if jobs.at[slot].choice < 0:  # else such queues have been left out
            counter = self.quotas.too_small(slot, jobs.at[slot].rules)
        if counter >= 0:
            return self.quotas.beyond(counter)
        counter = self.quotas.submit(cython.cast(Domain, self.domains[0]).lines.counted_as(slot))
        return self.quotas.too_many(counter) if counter >= 0 else None

    def forget(self, slot, now):
        """A waiting job leaves."""
        jobs: JobTable = self.ledger.jobs
        self.set_time(now)
        self.unqueued(jobs, slot)
        self.domain_of(jobs, slot).queue.remove(slot)
        self.ledger_of(slot).unhold(slot)
        return self.changed(slot, ORDER)

    def put(self, slot, where, now):
        """Give a waiting job its resources whatever the policy and the limits say, on these nodes or anywhere (None);
        whether there was room for it."""
        jobs: JobTable = self.ledger.jobs
        domain: Domain = self.domain_of(jobs, slot)
        ledger: Ledger = domain.view.raw_ledger
        self.set_time(now)
        if not (ledger.fits(slot) if where is None else ledger.has_room(slot, where, now + jobs.at[slot].estimate)):
            return False
        domain.queue.remove(slot)
        jobs.at[slot].expected_end = now + jobs.at[slot].estimate
        jobs.at[slot].start = now
        if where is None:
            ledger.take(slot)
        else:
            ledger.put_back(slot, where)
        if self.quotas is not None:
            self.quotas.take(slot)
        self.changed(slot, ORDER)
        return True

    def put_aside(self, slot):
        """Suspend a running job; whether there is a preemptor that lets it go on."""
        domain: Domain = self.domain_of(self.ledger.jobs, slot)
        if domain.preemptor is None or domain.preemptor.part.mode != "suspend":
            return False
        domain.preemptor.displace(slot)
        return True

    def put_back(self, slot, where, now):
        """A suspended job has its resources again: where it was, as its ledger has told, or anywhere (None)."""
        jobs: JobTable = self.ledger.jobs
        self.set_time(now)
        jobs.at[slot].expected_end = now + jobs.at[slot].estimate
        if where is None:
            self.ledger_of(slot).take(slot)
        else:
            jobs.at[slot].start = now
            self.ledger_of(slot).put_back(slot, where)
        if self.quotas is not None:
            jobs.at[slot].start = now
            self.quotas.take(slot)
        return self.changed(slot, CAPACITY)

    def prolong(self, slot, until, now):
        """A running job is expected to end at another time."""
        domain: Domain
        self.set_time(now)
        self.ledger_of(slot).prolong(slot, until)
        if self.changes is not None:
            domain = self.domain_of(self.ledger.jobs, slot)
            if domain.forecast is not None:
                domain.forecast.prolonged(slot)
        return self.changed(slot, ESTIMATE)

    def left(self, slot):
        """A job has left the system from here."""
        if self.estimate.learns and self.ledger.jobs.at[slot].first_start >= 0:
            self.estimate.ended(self.ledger.jobs, slot, self.ledger.jobs.at[slot].used)
        if self.quotas is not None:
            self.quotas.leave(cython.cast(Domain, self.domains[0]).lines.counted_as(slot))
        if self.assignments is not None or self.ledger.jobs.at[slot].choice >= 0:
            self.note_queue(slot)
        return 0

    def note_queue(self, slot):
        """Which of its own queues, or of several clusters' queues, the job came to: it has left, or the run is over."""
        jobs: JobTable = self.ledger.jobs
        if self.assignments is not None and self.assignments.names:
            self.chosen[jobs.at[slot].seq] = self.index << 16 | jobs.at[slot].queue
        elif jobs.at[slot].choice >= 0 and jobs.at[slot].first_start >= 0:
            self.chosen[jobs.at[slot].seq] = jobs.at[slot].queue
        return 0

    # ---- what it has

    def set_time(self, now):
        """The clock moved."""
        ledger: Ledger
        if self.quotas is not None:
            self.quotas.set_time(now)
        if self.reserved:
            for ledger in self.reserved:
                ledger.set_time(now)
        return self.ledger.set_time(now)

    def set_bare_time(self, now):
        """The same for a bare cluster; time changes nothing of a number of cores of which none are held."""
        if self.plain is None:
            return 0 if self.ledger.now == now else self.ledger.set_time(now)
        if self.plain.holds > 0:
            if self.plain.now != now:
                self.plain.set_time(now)
        else:
            self.plain.now = now
        return 0

    def ledger_of(self, slot):
        """The resources from which the job has, or would get, its own."""
        domain: Domain
        if not self.reserved:
            return self.ledger
        domain = cython.cast(Domain, self.domains[self.ledger.jobs.at[slot].domain])
        return domain.view.raw_ledger

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
        domain: Domain
        if self.quotas is None:
            return 0
        for domain in self.domains:
            domain.lines.note_refused()
        self.quotas.give(slot)
        for domain in self.domains:
            if not domain.lines.parks:  # a pass on an end is one for all that may wait at a limit
                domain.causes |= RELEASE
            elif domain.lines.unpark(slot) or domain.lines.lets_in():
                domain.causes |= LIMIT
        return 0

    # ---- one of several

    def touch(self):
        """There may be something to decide here."""
        if not self.touched and self.changes is not None:
            self.touched = True
            self.changes.touched.append(self)
        return 0

    def mark_changed(self):
        """Something other than an arrival happened, which jobs that wait globally may have waited for."""
        self.touch()
        if not self.stirred:
            self.stirred = True
            self.changes.stirred.append(self)
        return 0

    def count_arrival(self, jobs: JobTable, slot, domain: Domain):
        """A job is about to join the queue of the domain."""
        self.touch()
        self.waiting += 1
        self.waiting_cores += jobs.at[slot].cores
        self.changes.waiting += 1
        if domain.forecast is not None:
            self.set_time(self.changes.now)
            known = not domain.dynamic and not domain.forecast.stale  # a stale line has jobs that have left
            domain.forecast.joined(slot, known and domain.place_of(slot) == len(domain.forecast.line))
        return 0

    def unqueued(self, jobs: JobTable, slot):
        """A job waits here no longer: it starts, leaves, or moves to another cluster."""
        domain: Domain
        if self.changes is None:
            return 0
        domain = self.domain_of(jobs, slot)
        self.waiting -= 1
        self.waiting_cores -= jobs.at[slot].cores
        self.changes.waiting -= 1
        if domain.forecast is not None:
            domain.forecast.stale = True
        return 0

    def started(self, jobs: JobTable, slot):
        """A job runs."""
        domain: Domain
        if self.changes is None:
            return 0
        domain = self.domain_of(jobs, slot)
        self.changes.running += 1
        if domain.forecast is not None:
            domain.forecast.started(slot)
        return 0

    def stopped(self, jobs: JobTable, slot):
        """A job runs no longer."""
        domain: Domain
        if self.changes is None:
            return 0
        domain = self.domain_of(jobs, slot)
        self.changes.running -= 1
        if domain.forecast is not None:
            domain.forecast.stopped(slot)
        return 0

    def shrunk(self, jobs: JobTable, slot):
        """A running job has given some of its nodes back."""
        domain: Domain
        if self.changes is None:
            return 0
        domain = self.domain_of(jobs, slot)
        if domain.forecast is not None:
            domain.forecast.shrunk(slot, self.held_cores(slot))
        return 0

    def passed(self, domain: Domain):
        """A pass of the domain is over; where its promises count in the forecast, these may have moved."""
        if domain.forecast is not None and (domain.forecast.promised or domain.forecast.noded):
            domain.forecast.stale = True
        return 0

    def domain_of(self, jobs: JobTable, slot):
        return self.sole if self.sole is not None else cython.cast(Domain, self.domains[jobs.at[slot].domain])

    def takes(self, slot):
        """Why the job can never run here, in words; None where it can."""
        jobs: JobTable = self.ledger.jobs
        counter: cython.Py_ssize_t = -1
        reason: cython.longlong = -1
        if self.assignments is not None:
            reason = self.assignments.refuses(jobs, slot)
            if reason >= 0:
                return self.assignments.reasons[reason]
        kept: JobFields = jobs.at[slot]
        if self.assignments is not None:
            self.assignments.describe(jobs, slot)
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
        self.assignments.describe(jobs, slot)
        counter = self.quotas.submit(self.domains[0].lines.counted_as(slot))
        jobs.at[slot] = kept
        return self.quotas.too_many(counter) if counter >= 0 else None

    def take_in(self, jobs: JobTable, slot, now):
        """A job that has been counted in begins to wait here."""
        if self.assignments is not None:
            self.assignments.describe(jobs, slot)
        return self.join(jobs, slot, now)

    def give_up(self, jobs: JobTable, slot, now):
        """A waiting job goes to another cluster."""
        domain: Domain = self.domain_of(jobs, slot)
        self.set_time(now)
        self.unqueued(jobs, slot)
        domain.queue.remove(slot)
        domain.view.raw_ledger.unhold(slot)
        if domain.preemptor is not None:
            domain.preemptor.waits_no_more(slot)
        jobs.at[slot].promise = -1
        self.changed(slot, ORDER)
        if self.quotas is not None:
            self.quotas.leave(domain.lines.counted_as(slot))
        return 0

    def waiting_in(self, domain: Domain):
        """The jobs that wait in a domain, in order: one that has just come may have no key yet, or an old one."""
        if domain.dynamic and domain.queue.size > 0:
            domain.prepare(self.changes.now)
        return domain.waiting()

    def describe_as_queued(self, jobs: JobTable, slot, now):
        """Describe the job as if it waited here, to ask about it; the caller keeps what it was."""
        order: Order = self.order
        if self.assignments is not None:
            self.assignments.describe(jobs, slot)
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
        domain: Domain
        able: cython.bint
        if (
            self.closed
            or self.ledger.free <= 0
            or (self.assignments is None and jobs.at[slot].cores > self.ledger.free)
        ):
            return False
        kept: JobFields = jobs.at[slot]
        self.describe_as_queued(jobs, slot, self.changes.now)
        domain = self.domain_of(jobs, slot)
        able = domain.queue.size == 0
        if able:
            self.set_time(self.changes.now)
            able = domain.view.would_fit(slot)
        jobs.at[slot] = kept
        return able

    def keeps_room(self, slot):
        """Whether the job waits here for a reservation that it may use, and nowhere else."""
        jobs: JobTable = self.ledger.jobs
        bound: cython.bint
        if not self.reserved:
            return False
        kept: JobFields = jobs.at[slot]
        self.assignments.describe(jobs, slot)
        bound = self.ledger_of(slot) is not self.ledger
        jobs.at[slot] = kept
        return bound

    def predict(self, slot):
        jobs: JobTable = self.ledger.jobs
        now: cython.longlong = self.changes.now
        time: cython.longlong
        kept: JobFields
        if jobs.at[slot].position != OUTSIDE and jobs.at[slot].cluster == self.index:
            return self.planned(jobs, slot, now)
        kept = jobs.at[slot]
        self.set_time(now)
        self.describe_as_queued(jobs, slot, now)
        jobs.at[slot].promise = -1
        time = self.predict_start(jobs, slot, self.domain_of(jobs, slot), now)
        jobs.at[slot] = kept
        return time

    def planned(self, jobs: JobTable, slot, now):
        """When a job that waits here would start; NEVER for one that waits at a limit."""
        domain: Domain = self.domain_of(jobs, slot)
        self.set_time(now)
        self.refresh(jobs, domain, now)
        return domain.forecast.starts.get(slot, NEVER)

    def predict_start(self, jobs: JobTable, slot, domain: Domain, now):
        """When the job, described as one of the domain's, would start."""
        forecast: Forecast
        time: cython.longlong
        self.refresh(jobs, domain, now)
        forecast = domain.forecast
        before: cython.Py_ssize_t = domain.place_of(slot)
        time = forecast.behind(before, slot, now)
        if time <= now and forecast.noded and domain.view.raw_ledger is self.ledger and domain.is_fresh():
            return max(time, self.fit_behind(slot, domain, before, now))
        return max(time, self.first_fit(slot, domain, forecast, domain.queue.size == 0, now))

    def fit_behind(self, slot, domain: Domain, before, now):
        """From when on the job fits on the nodes behind the first so many that wait there, which no pass has seen yet:
        those of them that fit have their nodes. Where no job overtakes, not before the first that does not fit."""
        ledger: Ledger = domain.view.raw_ledger
        trial: Trial = Trial()
        other: cython.Py_ssize_t
        time: cython.longlong = now
        trial.begin(ledger)
        for other in domain.forecast.line[:before]:
            if not trial.start(other, now) and domain.policy.strict:
                time = ledger.earliest(other, now)
                break
        if time < NEVER:
            time = ledger.earliest(slot, time)
        trial.end()
        return time

    def first_fit(self, slot, domain: Domain, forecast: Forecast, alone, now):
        """From when on the job fits, where a forecast of cores does not tell: on nodes, where no job waits before it,
        and in a reservation; elsewhere `now`."""
        if (forecast.noded and alone) or domain.view.raw_ledger is not self.ledger:
            return domain.view.raw_ledger.earliest(slot, now)
        return now

    def predict_behind(self, slot, before, now):
        """When a job that waits here would start behind these, as `predict` sees it: for watching, at any time; the
        forecast is of this question alone. On nodes it is never before the job fits beside what runs."""
        jobs: JobTable = self.ledger.jobs
        domain: Domain = self.domain_of(jobs, slot)
        forecast: Forecast = self.make_forecast(jobs, domain)
        if self.machine is not None:
            forecast.shut = self.machine.windows(domain.view.raw_ledger, domain.mask)
        forecast.make([*before, slot], now)
        domain.view.raw_ledger.set_time(now)
        time: cython.longlong = forecast.starts[slot]
        return max(time, self.first_fit(slot, domain, forecast, True, now))

    def make_forecast(self, jobs: JobTable, domain: Domain):
        """A forecast of the domain that knows what runs there."""
        s: cython.Py_ssize_t
        policy: Policy = domain.policy
        ledger: Ledger = domain.view.raw_ledger
        noded: cython.bint = not isinstance(ledger, CoreLedger | PlanLedger)
        forecast: Forecast = Forecast(jobs, ledger, domain.cores, policy.strict, domain.plans, noded)
        for s in jobs.slots():
            if jobs.at[s].holding != 1 or jobs.at[s].cluster != self.index or jobs.at[s].seq < 0:
                continue
            if self.domain_of(jobs, s) is domain:
                forecast.started(s)
        return forecast

    def refresh(self, jobs: JobTable, domain: Domain, now):
        """Have a plan of the domain as things are now."""
        if domain.forecast is None:
            domain.forecast = self.make_forecast(jobs, domain)
        if (domain.dynamic or domain.periodic) and domain.forecast.made != now:
            domain.forecast.stale = True
        if domain.forecast.stale and domain.dynamic and domain.lines is None and domain.queue.size > 0:
            domain.prepare(now)
        if not domain.forecast.holds_at(now):
            if self.machine is not None:
                domain.forecast.shut = self.machine.windows(domain.view.raw_ledger, domain.mask)
            domain.forecast.make(domain.waiting(), now)
        return 0
