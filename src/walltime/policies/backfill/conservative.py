"""Conservative backfilling: every job has a promise, made when it is submitted and kept.

A. Mu'alem and D. Feitelson, "Utilization, predictability, workloads, and user runtime estimates in scheduling the IBM
SP2 with backfilling", IEEE TPDS 12(6), 2001.
"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.ledger.interface import Ledger  # noqa: F401 - as in conservative.pxd
from walltime.policies.backfill.candidates import Candidates, find_order
from walltime.policy.api import Cause, InOrder, Pass, Policy, require_open

NEVER = cython.declare(cython.longlong, _NEVER)

MANY = 200
"""So many waiting jobs are worth an index of their promises; with fewer, a look at each of them is cheaper."""

if not cython.compiled:
    RELEASE, _, ORDER, _, CAPACITY, TIMER, ESTIMATE = Cause

    def PyErr_CheckSignals():  # noqa: N802 - the name it has in C
        return 0


@cython.cclass
class Conservative(Policy):
    """Each job is given the earliest start that delays no promise; when jobs end, promises move forward.

    At an instant where jobs ended or left, the waiting ones are looked at one by one in queue order: each moves to the
    earliest time at which it fits, never later than promised (`candidates` names another order for that: which job is
    first to profit from what became free). Then this instant's arrivals are placed, then what is due starts. Where the
    plan itself has broken (the machine shrank, a job outlived its estimate), all jobs are placed again in queue order:
    then a promise may be lost.

    Where many wait and the ledger can tell which promises can move, only these are looked at; the schedule is the same.
    """

    def __init__(self, candidates=None) -> None:
        Policy.__init__(self)
        self.plans = True
        order = find_order(candidates)
        self.candidates = None if order is None else Candidates(order)
        self.rule = InOrder(_NEVER, self.candidates)
        self.asked = -1  # for when the next pass has been asked for
        self.next = NEVER  # the next promise, at which something is to be done
        self.many = MANY
        self.ledger = None
        self.able = self.tracks = False
        self.ready = integers(64)

    def schedule(self, p: Pass):
        waiting: cython.longlong[::1]
        if require_open(p).raw_ledger is not self.ledger:
            self.watch(p)
        if self.able:
            self.choose(p)
        if self.tracks and p.quotas is None and not p.causes & (CAPACITY | ESTIMATE):
            return self.follow(p)
        waiting = p.raw_queue.ordered()
        if p.causes & (CAPACITY | ESTIMATE):
            self.replan(p, waiting)
        elif p.causes & (RELEASE | ORDER):
            self.move_forward(p, waiting)
        if not self.woken_in_vain(p):
            self.place(p, waiting)
        self.improve(p)
        return self.start_due(p, waiting)

    def watch(self, p: Pass):
        """Get to know the ledger. It can tell which promises can move where places in the queue do not change."""
        choices: cython.bint = p.lines is not None and p.lines.choices.size > 0
        self.ledger = p.raw_ledger
        self.able = self.candidates is None and p.raw_queue.fixed and not choices
        self.tracks = False
        return 0

    def choose(self, p: Pass):
        """Have the ledger keep track of the promises while there are many."""
        if not self.tracks and p.raw_queue.size >= self.many:
            self.able = self.tracks = p.raw_ledger.track(p.raw_queue)
        elif self.tracks and p.raw_queue.size < self.many // 2:
            self.tracks = p.raw_ledger.track(None)
        return 0

    def woken_in_vain(self, p: Pass):
        """Whether the pass was asked for a promise that has moved since."""
        return p.causes == TIMER and p.now != self.next and (p.lines is None or p.now != p.lines.opening)

    def place(self, p: Pass, waiting):
        """Promise a start to the jobs that have just come, or that a limit has let in again."""
        i: cython.Py_ssize_t = 0
        while waiting[i] >= 0:
            if p.jobs.at[waiting[i]].promise < 0:
                PyErr_CheckSignals()  # a pass that places tens of thousands of jobs takes seconds
                self.put(p, waiting[i])
            i += 1
        return 0

    def improve(self, p: Pass):
        """Every job has its promise now; one that builds upon this rule may change them before any job starts."""
        return 0

    def put(self, p: Pass, slot):
        """Promise the job a start."""
        p.reserve(slot)
        return 0

    # ---- where the ledger knows which promises can move

    def follow(self, p: Pass):
        """The same pass without a look at each waiting job."""
        if p.causes & (RELEASE | ORDER):
            self.move_movers(p)
        if p.raw_ledger.promises() < p.raw_queue.size and not self.woken_in_vain(p) and not self.place_fresh(p):
            self.place(p, p.raw_queue.ordered())
        self.improve(p)
        self.start_ready(p)
        return self.ask_for(p, p.raw_ledger.next_promise())

    def move_movers(self, p: Pass):
        slot: cython.Py_ssize_t
        p.raw_ledger.begin_moves()
        slot = p.raw_ledger.mover()
        while slot >= 0:
            PyErr_CheckSignals()
            if p.admits(slot):
                p.advance(slot)
            slot = p.raw_ledger.mover()
        return 0

    def place_fresh(self, p: Pass):
        """Place the jobs that joined since the last pass, if no other lacks a promise; whether so."""
        i: cython.Py_ssize_t = 0
        missing: cython.Py_ssize_t = p.raw_queue.size - p.raw_ledger.promises()
        slot: cython.Py_ssize_t
        if not p.raw_queue.known():
            return False
        slot = p.raw_queue.fresh(0)
        while slot > -2:
            missing -= slot >= 0 and p.jobs.at[slot].promise < 0
            i += 1
            slot = p.raw_queue.fresh(i)
        if missing > 0:
            return False
        i = 0
        slot = p.raw_queue.fresh(0)
        while slot > -2:
            if slot >= 0 and p.jobs.at[slot].promise < 0:
                self.put(p, slot)
            i += 1
            slot = p.raw_queue.fresh(i)
        return True

    def start_ready(self, p: Pass):
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t
        while len(self.ready) < p.raw_ledger.promises():
            self.ready = doubled(self.ready)
        n = p.raw_ledger.due(self.ready)
        for i in range(n):
            self.start(p, self.ready[i])
        return 0

    # ---- where it does not

    def move_forward(self, p: Pass, waiting):
        i: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        if self.tracks:
            return self.move_movers(p)
        if self.candidates is not None:
            while waiting[i] >= 0:
                i += 1
            for slot in self.candidates.rank(p, list(waiting[:i])):
                if p.jobs.at[slot].promise >= 0:
                    p.advance(slot)
            return 0
        while waiting[i] >= 0:
            PyErr_CheckSignals()
            slot = waiting[i]
            if p.jobs.at[slot].promise >= 0:
                p.advance(slot)
            i += 1
        return 0

    def replan(self, p: Pass, waiting):
        i: cython.Py_ssize_t = 0
        p.release()
        while waiting[i] >= 0:
            PyErr_CheckSignals()
            self.put(p, waiting[i])
            i += 1
        return 0

    def start_due(self, p: Pass, waiting):
        """Start what is due, and ask for a pass at the next promise."""
        i: cython.Py_ssize_t = 0
        promise: cython.longlong
        next: cython.longlong = NEVER
        while waiting[i] >= 0:
            if 0 <= p.jobs.at[waiting[i]].promise <= p.now:
                self.start(p, waiting[i])
            i += 1
        if p.quotas is not None:
            self.take_back(p, waiting)
        i = 0
        while waiting[i] >= 0:
            promise = p.jobs.at[waiting[i]].promise
            if p.now < promise < next:
                next = promise
            i += 1
        return self.ask_for(p, next)

    def start(self, p: Pass, slot):
        """Start a job that is due. Amid an instant it may have to wait for another end, or a correction, of
        this instant. One with a choice of queues may have come to a limit in the one that it has its promise for, and
        find no room in the others."""
        sure: cython.bint = not p.amid and p.jobs.at[slot].choice < 0
        if p.admits(slot) and (sure or p.fits(slot)):
            p.start(slot)
        return 0

    def ask_for(self, p: Pass, next):
        """Ask for a pass at the next promise."""
        self.next = next
        if next < NEVER and (self.asked <= p.now or next < self.asked):
            p.wake(next)
            self.asked = next
        return 0

    def take_back(self, p: Pass, waiting):
        """A job that has come to a limit by the starts of this pass has no promise any more."""
        i: cython.Py_ssize_t = 0
        counter: cython.Py_ssize_t
        slot: cython.Py_ssize_t
        while waiting[i] >= 0:
            slot = waiting[i]
            counter = p.quotas.refuser(slot) if p.jobs.at[slot].promise >= 0 else -1  # in the queue that it is for
            if counter >= 0:
                p.withdraw(slot, counter)
            i += 1
        return 0
