"""Simulated annealing: what is worse is kept too, the more often the warmer it is.

S. Kirkpatrick, C. Gelatt and M. Vecchi, "Optimization by simulated annealing", Science 220(4598), 1983.
"""

from __future__ import annotations

import math

import cython

from walltime.core.errors import InputError
from walltime.kernel.drafts.draft import Draft
from walltime.policies.optimise.search import Search

LEAST = cython.declare(cython.double, 1e-13)


@cython.cclass
class Annealing(Search):
    """A change that raises the weighted logarithms of the objectives by d is kept with probability exp(-d / T).

    T falls from `temperature` to `final` by the same factor at each evaluation; the best plan on the way is the result.
    """

    usual = (("gap", 1), ("swap", 4), ("sequence", 1))

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
        temperature=0.05,
        final=0.0001,
    ) -> None:
        Search.__init__(self, objectives, operators, accept, rounds, every, on, reach, most)
        for name, value in (("temperature", temperature), ("final", final)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
                raise InputError(f"{name} takes a number above 0", value=value)
        if accept != "weighted":
            raise InputError("annealing weighs what is worse: accept takes weighted alone", value=accept)
        self.temperature = temperature
        self.final = min(final, temperature)

    def begin(self, draft: Draft):
        self.warmth = self.temperature
        self.cooling = math.pow(self.final / self.temperature, 1.0 / max(self.left, 1))
        self.height = self.lowest = 0.0
        return draft.remember()

    def rise(self):
        """By how much the weighted logarithms of the objectives rise."""
        k: cython.Py_ssize_t
        total: cython.double = 0
        weights: cython.double = 0
        for k in range(self.count):
            total += self.weight[k] * math.log((self.tried[k] + LEAST) / (self.current[k] + LEAST))
            weights += self.weight[k]
        return total / weights

    def step(self, draft: Draft):
        rise: cython.double
        self.warmth *= self.cooling
        if not self.attempt(draft):
            return 0
        rise = self.rise()
        if rise > 0 and self.random.uniform() >= math.exp(-rise / self.warmth):
            return self.undo(draft)
        self.keep(draft)
        self.height += rise
        if self.height < self.lowest:
            self.lowest = self.height
            draft.remember()
        return 0

    def finish(self, draft: Draft):
        """Go to the best plan."""
        draft.recall()
        return self.measure(draft, self.current)
