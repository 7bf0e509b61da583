"""Tabu search: the jobs that were tried last are left alone for a while.

F. Glover, "Tabu search: part I", ORSA Journal on Computing 1(3), 1989; in the form in which Alea has it.
"""

from __future__ import annotations

import cython

from walltime.core.errors import InputError
from walltime.kernel.arrays import integers
from walltime.kernel.drafts.draft import Draft
from walltime.policies.optimise.search import Search


@cython.cclass
class Tabu(Search):
    """Gap search that skips the last `memory` jobs which were tried, at most half of the plan."""

    def __init__(
        self,
        objectives=None,
        operators=None,
        accept="weighted",
        rounds=None,
        every=300,
        on=("ends",),
        reach=172800,
        most=2.0,
        memory=10,
    ) -> None:
        Search.__init__(self, objectives, operators, accept, rounds, every, on, reach, most)
        if isinstance(memory, bool) or not isinstance(memory, int) or not 0 <= memory <= 1 << 20:
            raise InputError("memory takes a number of jobs", value=memory)
        self.memory = memory
        self.lately = integers(max(memory, 1))
        self.remembered = self.next = 0

    def begin(self, draft: Draft):
        self.remembered = self.next = 0
        return 0

    def pick(self, draft: Draft):
        k: cython.Py_ssize_t
        memory: cython.Py_ssize_t = min(self.memory, draft.size // 2)
        known: cython.bint = True
        job: cython.Py_ssize_t = 0
        while known:
            job = self.random.below(draft.size)
            known = False
            for k in range(self.remembered):
                known = known or self.lately[k] == job
        if memory > 0:
            self.lately[self.next] = job
            self.next = (self.next + 1) % memory
            self.remembered = min(self.remembered + 1, memory)
        return job
