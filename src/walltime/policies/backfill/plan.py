"""A plan: a start for every waiting job, built by a rule of one's choice, kept current, and improved where wanted.

D. Klusacek, V. Chlumsky and H. Rudova, "Planning and optimization in TORQUE resource manager", HPDC 2015.
"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.errors import InputError, PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.kernel.drafts.draft_cores import CoreDraft
from walltime.kernel.drafts.draft_nodes import NodeDraft
from walltime.kernel.queue.waiting import Queue  # noqa: F401 - as in plan.pxd
from walltime.policies.backfill.conservative import Conservative
from walltime.policy.api import Cause, InOrder, Pass
from walltime.policy.optimise import Optimiser, RandomNumbers, UserTotals
from walltime.policy.registry import build as build_part
from walltime.scenario import Part

NEVER = cython.declare(cython.longlong, _NEVER)
if not cython.compiled:
    ARRIVAL = Cause.ARRIVAL

EARLIEST = "earliest"
BEST_GAP = "best-gap"
BUILDS = (EARLIEST, BEST_GAP)


def find_optimiser(wanted):
    """The optimiser that the parameter `optimise` names; None for None."""
    if wanted is None or isinstance(wanted, Optimiser):
        return wanted
    try:
        part = Part.model_validate(wanted)
    except ValueError:
        raise InputError("optimise takes the name of an optimiser, or a mapping with its name", value=wanted) from None
    return build_part("optimise", part, "optimise")


@cython.cclass
class Plan(Conservative):
    """Conservative backfilling with a choice of the place that a job is given when it comes, and of what improves it.

    With `build: earliest` that is the earliest gap, and without `optimise` the schedule is that of conservative
    backfilling. With `best-gap` it is the gap of which the least time is left behind the job; when jobs end it moves
    forward as all others do. What `optimise` names changes the promises before jobs start; where the plan has broken,
    jobs are then placed again in the order in which they were to start.
    """

    def __init__(self, build="earliest", candidates=None, optimise=None) -> None:
        Conservative.__init__(self, candidates)
        if build not in BUILDS:
            raise InputError("build is a rule for the place of a job in the plan", value=build, choices=BUILDS)
        self.build = build
        self.best = build == BEST_GAP
        self.optimiser = find_optimiser(optimise)
        if self.optimiser is not None:
            self.rule = InOrder(_NEVER, self.candidates, lasting="optimise")
        elif self.best:
            self.rule = InOrder(_NEVER, self.candidates, lasting="build: best-gap")
        self.counted, self.named = CoreDraft(), NodeDraft()
        self.people = None if self.optimiser is None else UserTotals()
        self.queue = None
        self.due = self.asked = self.early = 0
        self.slots = integers(64)

    def prepare(self, seed, where):
        if self.optimiser is not None:
            self.optimiser.random = RandomNumbers(seed, where)

    def watch(self, p: Pass):
        """A job that is not in its earliest gap can move though nothing has become free: no ledger can tell."""
        Conservative.watch(self, p)
        self.queue = p.raw_queue
        if p.lines is not None:
            self.counted.know(p.lines.choices, p.quotas)
            self.named.know(p.lines.choices, p.quotas)
        self.able = self.able and not self.best
        return 0

    def put(self, p: Pass, slot):
        if self.best:
            p.reserve_best(slot)
        else:
            p.reserve(slot)
        return 0

    def replan(self, p: Pass, waiting):
        i: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t
        order: cython.longlong[::1]
        if self.optimiser is None:
            return Conservative.replan(self, p, waiting)
        while waiting[i] >= 0:
            i += 1
        count = i
        starts = integers(count)
        for i in range(count):
            starts[i] = p.jobs.at[waiting[i]].promise if p.jobs.at[waiting[i]].promise >= 0 else NEVER
        order = np.argsort(starts, kind="stable")
        p.release()
        for i in range(count):
            self.put(p, waiting[order[i]])
        return 0

    # ---- improving it

    def improve(self, p: Pass):
        if self.optimiser is None or p.amid or p.raw_queue.size == 0:
            return 0
        if self.is_time(p):
            self.optimise(p)
        if self.optimiser.every < NEVER:
            if p.now >= self.due:
                self.due = p.now + self.optimiser.every
            if self.asked <= p.now:
                p.wake(self.due)
                self.asked = self.due
        return 0

    def is_time(self, p: Pass):
        """Whether the plan is to be improved in this pass."""
        ended: cython.bint = p.raw_ledger.early > self.early
        self.early = p.raw_ledger.early
        if self.optimiser.on_arrivals and p.causes & ARRIVAL:
            return True
        return (self.optimiser.on_ends and ended) or (self.optimiser.every < NEVER and p.now >= self.due)

    def changed_from_outside(self):
        """Promises were changed by what plans several clusters together: not every job is in its earliest gap."""
        if self.tracks:
            self.ledger.track(self.queue)
        return 0

    def optimise(self, p: Pass):
        """Have the optimiser change the promises of the jobs that are its business."""
        changed: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.collect(p)
        draft: Draft = self.counted
        if count == 0:
            return 0
        if not self.counted.serves(p.raw_ledger, self.slots, count):
            draft = self.named
        p.open_draft(draft, self.slots, count)
        try:
            self.optimiser.improve(draft, self.people)
            changed = p.adopt(draft)
        except PolicyError as error:
            raise p.violation(-1, str(error)) from error
        finally:
            draft.close()
        if changed > 0 and self.tracks:
            p.raw_ledger.track(p.raw_queue)  # all that is free is offered to all: not every job is in its earliest gap
        return 0

    def collect(self, p: Pass):
        """The promised jobs that are the optimiser's business, in the order of the queue; how many."""
        i: cython.Py_ssize_t = 0
        count: cython.Py_ssize_t = 0
        slot: cython.Py_ssize_t
        waiting: cython.longlong[::1] = p.raw_queue.ordered()
        while waiting[i] >= 0:
            slot = waiting[i]
            i += 1
            if not p.now <= p.jobs.at[slot].promise <= p.now + min(self.optimiser.reach, NEVER - p.now):
                continue
            if p.jobs.at[slot].pinned:
                continue
            if count == len(self.slots):
                self.slots = np.concatenate((self.slots, integers(count)))
            self.slots[count] = slot
            count += 1
        return self.nearest(p, count)

    def nearest(self, p: Pass, count):
        """Of so many jobs those that start first, as long as they ask for no more cores than are wanted together."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        cores: cython.double = 0
        most: cython.double = self.optimiser.most * p.raw_ledger.size
        order: cython.longlong[::1]
        chosen: cython.Py_ssize_t = 0
        starts = integers(count)
        for k in range(count):
            starts[k] = p.jobs.at[self.slots[k]].promise
        order = np.argsort(starts, kind="stable")
        while chosen < count:
            cores += p.jobs.at[self.slots[order[chosen]]].cores
            if cores > most and chosen > 1:
                break
            chosen += 1
        taken = np.sort(np.asarray(order)[:chosen])
        for k in range(chosen):
            i = taken[k]
            self.slots[k] = self.slots[i]
        return chosen
