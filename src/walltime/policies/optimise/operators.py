"""Ways to change a plan, one class each."""

from __future__ import annotations

import cython

from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.policy.optimise import Operator, RandomNumbers


@cython.cfunc
def move_to_another(draft: Draft, random: RandomNumbers, job: cython.Py_ssize_t, able: cython.bint):
    """The job goes to the earliest gap of another place, if it may change it."""
    others: cython.Py_ssize_t = draft.other_options(job) if able else 0
    draft.lift(job)
    if others > 0:
        draft.move_to(job, random.below(others))
    return draft.settle(job, draft.now)


@cython.cclass
class Earliest(Operator):
    """The job goes to the earliest gap that has room for it."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        draft.shift(job, draft.now)


@cython.cclass
class Gap(Operator):
    """The job goes to a gap that was drawn: the first with room from a random time of the plan on."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        after: cython.longlong
        last: cython.longlong = draft.last_start()
        after = draft.now + cython.cast(cython.longlong, random.uniform() * (last - draft.now))
        draft.shift(job, after)


@cython.cclass
class Swap(Operator):
    """The job and another one are taken out; the one that was planned later is placed first."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        other: cython.Py_ssize_t = random.below(draft.size)
        first: cython.Py_ssize_t = other
        second: cython.Py_ssize_t = job
        if other == job:
            return
        if draft.start[job] > draft.start[other]:
            first = job
            second = other
        draft.lift(job)
        draft.lift(other)
        draft.settle(first, draft.now)
        draft.settle(second, draft.now)


@cython.cclass
class Sequence(Operator):
    """The job goes to another place in the sequence of starts, and all jobs behind are placed again."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        source: cython.Py_ssize_t
        target: cython.Py_ssize_t
        if draft.size < 2:
            return
        draft.sort()
        source = job  # a place in the sequence, as good a draw as a job
        target = random.below(draft.size - 1)
        draft.move_in_sequence(source, target + (target >= source))


@cython.cclass
class OtherCluster(Operator):
    """The job goes to the earliest gap of another cluster that can take it, which is drawn; where there is none, of its
    own."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        move_to_another(draft, random, job, draft.across)


@cython.cclass
class OtherQueue(Operator):
    """The job goes to the earliest gap that it has in another of the queues that it names, which is drawn; where there
    is none, in its own."""

    def apply(self, draft: Draft, random: RandomNumbers, job):
        move_to_another(draft, random, job, not draft.across)


@cython.cclass
class SameUser(Operator):
    """All jobs of the job's user are taken out and placed again, the one that was drawn first."""

    def __init__(self) -> None:
        self.found = integers(64)

    def apply(self, draft: Draft, random: RandomNumbers, job):
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = 1
        if len(self.found) < draft.size:
            self.found = integers(2 * draft.size)
        self.found[0] = job
        for i in range(draft.size):
            if i != job and draft.user[i] == draft.user[job]:
                self.found[count] = i
                count += 1
        for k in range(count):
            draft.lift(self.found[k])
        for k in range(count):
            i = self.found[k]
            draft.settle(i, draft.now)
