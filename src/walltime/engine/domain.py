"""A scheduling domain: queues whose nodes overlap, with one policy over them, and when there is something to decide."""

from __future__ import annotations

from types import MethodType

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.engine.disruptions.preemption import Preemptor  # noqa: F401 - as in domain.pxd
from walltime.kernel.arrays import integers
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.forecast import Forecast  # noqa: F401 - as in domain.pxd
from walltime.kernel.queue.lines import Line, LineKeys, LinesQueue
from walltime.kernel.queue.scan import ScanQueue
from walltime.kernel.queue.waiting import Queue
from walltime.kernel.quotas import Quotas
from walltime.policy.api import Cause, Order, Pass, Policy, Rhythm  # noqa: F401 - as in domain.pxd

NEVER = cython.declare(cython.longlong, _NEVER)
MANY = cython.declare(cython.Py_ssize_t, 100)  # that have come together: more are not placed one by one for a question

if not cython.compiled:
    LIMIT, TIMER = Cause.LIMIT, Cause.TIMER


def find_own(policy):
    """How a policy in Python decides; None for a compiled one. To find it in each pass takes as long as a question."""
    own = getattr(policy, "schedule")  # noqa: B009 - a typed one has another name for it
    return own if isinstance(own, MethodType) else None


@cython.final
@cython.cclass
class Domain(LineKeys):
    """Queues whose nodes overlap, scheduled together by a policy of their own; most clusters are one domain."""

    def __init__(self, queue: Queue, policy: Policy, view: Pass, orders) -> None:
        self.queue = queue
        self.lines = queue if isinstance(queue, LinesQueue) else None
        self.policy = policy
        self.own = find_own(policy)
        self.lazy = policy.lazy
        self.view = view
        self.dynamic = any(order.dynamic for order in orders)
        self.periodic = any(order.periodic for order in orders)
        self.orders = orders
        self.clocks = [order for order in dict.fromkeys(orders) if order.periodic]
        self.clock_of = integers(len(orders), -1)  # by lane: the place of its order among these
        for lane, order in enumerate(orders):
            if order.periodic:
                self.clock_of[lane] = self.clocks.index(order)
        self.renewed = integers(len(self.clocks), -1)  # by clock: which renewal the keys follow
        self.renewal = integers(len(self.clocks), -1)  # which one they should
        self.renewed_at = integers(len(self.clocks))  # and of when that is
        # whether jobs in a line may have their keys once its order is asked for, as long as nothing else looks at them
        self.late = all(order.remembers or not order.periodic for order in orders)
        self.causes = 0
        self.kept = 0  # of earlier instants, as no pass took place; its rhythm knows of it
        self.preemptor = None  # makes room for urgent jobs, and has the suspended ones
        self.rhythm = None
        self.plans = policy.plans  # whether promises outlast a pass
        self.asked = -1  # for when its rhythm has last asked for a look
        self.cores = -1  # of its nodes, where these are not all of the cluster's
        self.mask = None  # which of the nodes these are
        self.forecast = None  # kept once a broker has asked when a job would start

    def due(self, now):
        """Whether there is something to decide. With no job waiting the causes are kept for the next pass."""
        if self.rhythm is not None:
            return self.waits() and self.rhythm.due(now, self.happened(now))
        if self.causes == 0:
            return False
        if self.queue.size > 0 or self.causes & TIMER:
            return True
        if self.preemptor is not None and self.preemptor.suspended:
            return True
        return self.lines is not None and self.lines.waits_for_time()

    def waits(self):
        """Whether a job waits that may start without anything else happening to others first."""
        if self.queue.size > 0 or (self.preemptor is not None and self.preemptor.suspended):
            return True
        return self.lines is not None and self.lines.waits_for_time()

    def happened(self, now):
        """What its rhythm has to know of; a timer at which time alone moves a limit is one more thing."""
        causes: cython.int = self.causes | self.kept
        if self.lines is not None and causes & TIMER and self.lines.opening <= now:
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
        happened: cython.int
        if not self.waits():
            if self.rhythm.forgets:
                self.rhythm.idle(now, self.causes)
                self.causes = self.kept = 0
            return NEVER
        happened = self.happened(now)
        time = self.rhythm.next(now, happened)
        self.kept = happened  # also that time has moved a limit, which is not told again
        self.causes = 0
        if time == self.asked:
            return NEVER
        self.asked = time
        return time

    def prepare(self, now):
        """Before a pass: limits that time alone has moved, and the keys that change with time."""
        lines: list
        order: Order
        if self.lines is not None and self.lines.refresh():
            self.causes |= LIMIT
        stale: cython.bint = self.periodic and self.stale(now)
        if not (self.dynamic or stale):
            return 0
        if self.lines is None:
            order = self.orders[0]
            self.rekey(self.queue, order, now)
            self.queue.shuffled = True
            self.queue.moves += 1
        else:
            if not self.late or self.preemptor is not None:
                self.rekey_lines(self.lines.lines, now)
            else:
                self.lines.keys = self
                if self.dynamic or self.plans or self.rhythm is not None:  # these look at all open lines
                    for lines in self.lines.tiers:
                        self.rekey_lines(lines, now)
            for order in dict.fromkeys(self.orders):
                if order.joint:
                    self.rekey_jointly(order, now)
            self.lines.shuffled = True
            self.lines.moves += 1
        if stale:
            self.renewed[:] = self.renewal
        return 0

    def stale(self, now):
        """Whether keys that change every so often are to be renewed."""
        i: cython.Py_ssize_t
        found: cython.bint = False
        for i in range(len(self.renewal)):
            self.renewal[i] = cython.cast(Order, self.clocks[i]).renew(now)
            if self.renewal[i] > self.renewed[i]:
                self.renewed_at[i] = now
                found = True
        return found

    def rekey_lines(self, lines: list, now):
        """Give the jobs of these lines the keys that they have now, but for those that are looked at together."""
        i: cython.Py_ssize_t
        line: Line
        order: Order
        for i in range(len(lines)):
            line = cython.cast(Line, lines[i])
            order = cython.cast(Order, self.orders[line.lane])
            if order.periodic:
                self.renew(line)
            elif order.dynamic and line.open and line.queue.size > 0 and not order.joint:
                self.rekey(line.queue, order, now)
        return 0

    def is_stale(self, line: Line):
        clock: cython.Py_ssize_t = self.clock_of[line.lane]
        return clock >= 0 and line.renewed < self.renewal[clock]

    def renew(self, line: Line):
        clock: cython.Py_ssize_t = self.clock_of[line.lane]
        if self.is_stale(line):
            line.renewed = self.renewal[clock]
            if line.queue.size > 0:
                self.rekey(line.queue, cython.cast(Order, self.clocks[clock]), self.renewed_at[clock])
        return 0

    def rekey(self, queue: Queue, order: Order, now):
        """Give the jobs of a queue the keys that they have now."""
        scan: ScanQueue
        keys: cython.longlong[::1]
        if order.dynamic:
            scan = queue
            order.keys(scan.jobs, scan.slot[: scan.size], now, scan.key[: scan.size])
            return scan.rekeyed()
        if not order.periodic:
            return 0
        keys = queue.room()
        order.keys(queue.jobs, queue.ordered()[: queue.size], now, keys[: queue.size])
        return queue.rekey()

    def rekey_jointly(self, order: Order, now):
        """The same for all lines under one order, at a limit or not, as it looks at their jobs together."""
        line: Line
        i: cython.Py_ssize_t
        jobs: JobTable = self.queue.jobs
        slots: cython.longlong[::1]
        keys: cython.longlong[::1]
        lines = [line for line in self.lines.lines if line.queue.size > 0 and self.orders[line.lane] is order]
        if not lines:
            return 0
        slots = np.concatenate([np.asarray(line.queue.slots(), np.int64) for line in lines])
        keys = integers(len(slots))
        order.keys(jobs, slots, now, keys)
        for i in range(len(slots)):
            jobs.at[slots[i]].key = keys[i]
        for line in lines:
            line.queue.reorder()
        return 0

    def take_back(self, quotas: Quotas):
        """Before a policy that keeps promises looks: a job that others' starts brought to a limit has none any more."""
        i: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        slots: cython.longlong[::1]
        line: Line
        jobs: JobTable = self.queue.jobs
        for line in list(self.lines.lines):
            slots = np.array(line.queue.ordered()[: line.queue.size])
            for i in range(len(slots)):
                slot = slots[i]
                if jobs.at[slot].promise < 0 or jobs.at[slot].pinned:
                    continue
                counter = quotas.refuser(slot)
                if counter >= 0:
                    self.view.withdraw(slot, counter)
        return 0

    def waiting(self):
        """The waiting jobs in order, without those that wait at a limit."""
        line: Line
        entries: list
        out: list = []
        if self.lines is None:
            return self.queue.slots()
        jobs: JobTable = self.queue.jobs
        for lines in self.lines.tiers:
            entries = []
            for line in lines:
                self.renew(line)
                for slot in line.queue.slots():
                    entries.append((jobs.key[slot], jobs.seq[slot], slot))
            if len(lines) > 1:
                entries.sort()
            out += [entry[2] for entry in entries]
        return out

    def is_fresh(self):
        """Whether jobs wait here, not many, all of which have come since the last pass."""
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = 0
        if self.queue.size == 0 or self.queue.recents > MANY:
            return False
        for i in range(self.queue.recents):
            count += self.queue.fresh(i) >= 0
        return count == self.queue.size

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
