"""Large-neighbourhood search: a handful of neighbouring jobs is taken out and put back in the best way there is.

P. Shaw, "Using constraint programming and local search methods to solve vehicle routing problems", CP 1998.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.policies.optimise.search import Search

NEVER = cython.declare(cython.longlong, _NEVER)


@cython.cclass
class Neighbourhoods(Search):
    """`together` jobs that start one after the other are taken out, and every order is tried of putting them back, each
    in the earliest gap; the best stays.

    One of these orders gives the best plan there is for these jobs while all others stay, for every objective that no
    job improves by starting later. Each order is an evaluation.
    """

    def __init__(
        self,
        objectives=None,
        accept="weighted",
        rounds=None,
        every=300,
        on=("ends",),
        reach=172800,
        most=2.0,
        together=4,
    ) -> None:
        Search.__init__(self, objectives, {"earliest": 1}, accept, rounds, every, on, reach, most)
        if isinstance(together, bool) or not isinstance(together, int) or not 2 <= together <= 7:
            raise InputError("together takes 2 to 7 jobs: all of their orders are tried", value=together)
        self.together = together
        self.chosen, self.found, self.order = integers(8), integers(8), integers(8)
        self.depth = 0
        self.lowest = 0.0
        self.improved = False

    def step(self, draft: Draft):
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = self.choose(draft)
        for k in range(count):
            draft.lift(self.chosen[k])
        self.improved = False
        self.lowest = 0.0
        self.arrange(draft)
        if self.improved:
            for k in range(count):
                draft.settle(self.found[k], draft.now)  # in the order in which they found these places
            self.left += 1  # it has been counted
            self.evaluations -= 1
            self.evaluate(draft)
            return self.keep(draft)
        return draft.undo()

    def choose(self, draft: Draft):
        """The jobs around one that is drawn, by start; how many."""
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = min(self.together, draft.size)
        first: cython.Py_ssize_t = self.random.below(draft.size - count + 1)
        draft.sort()
        for k in range(count):
            self.chosen[k] = draft.sequence[first + k]
        for k in range(count, 8):
            self.chosen[k] = -1
        return count

    def arrange(self, draft: Draft):
        """Put back each job that is still out, one after the other, and go on with the rest."""
        k: cython.Py_ssize_t
        i: cython.Py_ssize_t
        start: cython.longlong
        rest: cython.bint = False
        for k in range(self.together):
            i = self.chosen[k]
            if i < 0 or draft.start[i] >= 0 or self.left <= 0:
                continue
            rest = True
            start = draft.find(i, draft.now)
            if start == NEVER:
                self.left -= 1  # an order that does not go
                self.evaluations += 1
                continue
            draft.lay(i, start)
            self.order[self.depth] = i
            self.depth += 1
            self.arrange(draft)
            self.depth -= 1
            draft.remove(i)
        return 0 if rest or self.left <= 0 else self.judge(draft)

    def judge(self, draft: Draft):
        """All jobs are in: is this the best so far?"""
        k: cython.Py_ssize_t
        better: cython.bint
        self.evaluate(draft)
        better = self.better() and (not self.improved or self.score() > self.lowest)
        if better:
            self.improved = True
            self.lowest = self.score()
            for k in range(self.depth):
                self.found[k] = self.order[k]
        return self.back(draft)
