"""Local search over a plan: change it, look at it, keep what is better and undo the rest.

The budget is a number of evaluations, never time on a clock, so that results repeat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import cython
import numpy as np

from walltime.core.errors import InputError, PolicyError
from walltime.kernel.arrays import doubles
from walltime.kernel.drafts.draft import Draft
from walltime.policy.optimise import Objective, Operator, Optimiser, UserTotals
from walltime.policy.registry import build
from walltime.scenario import Part

if not cython.compiled:

    def PyErr_CheckSignals():  # noqa: N802 - the name it has in C
        return 0


ALEA = {"fairness": 10, "response": 1, "wait": 1, "slowdown": 1}
"""Weights of the objectives as Alea has them."""
ACCEPTS = ("weighted", "pareto")


def find_parts(kind, wanted, parameter):
    """The parts that a parameter names, each with a weight: (names, parts, weights)."""
    if not isinstance(wanted, Mapping) or not wanted:
        raise InputError(f"{parameter} takes names with their weights, such as {{wait: 1}}", value=wanted)
    names, parts, weights = [], [], []
    for name, told in wanted.items():
        given = dict(told) if isinstance(told, Mapping) else {"weight": told}
        weight = given.pop("weight", 1)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
            raise InputError(f"{parameter}: the weight of {name} is a number above 0", value=weight)
        try:
            part = Part.model_validate({"name": name, **given} if isinstance(name, str) else name)
        except ValueError:
            raise InputError(f"{parameter} takes names of {kind} parts", value=name) from None
        names.append(part.name)
        parts.append(build(kind, part, f"{parameter}.{part.name}"))
        weights.append(float(weight))
    return names, parts, np.array(weights)


@cython.cclass
class Search(Optimiser):
    """Operators are tried on jobs that are drawn, until the budget of evaluations is used up.

    `rounds` is the budget of one call; None is four times the jobs of the plan. A change is kept where the sum of the
    objectives' relative changes, each with its weight, is above 0 (`accept: weighted`), or where no objective is worse
    and one is better (`pareto`). At the end all jobs move forward as far as they can. Left out, `operators` are the
    `usual` ones of the class.
    """

    usual = (("gap", 1), ("swap", 1))

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
    ) -> None:
        Optimiser.__init__(self, every, on, reach, most)
        if accept not in ACCEPTS:
            raise InputError("accept tells when a change is kept", value=accept, choices=ACCEPTS)
        if rounds is not None and (isinstance(rounds, bool) or not isinstance(rounds, int) or not 0 < rounds < 1 << 40):
            raise InputError("rounds takes a number of evaluations above 0, or null", value=rounds)
        self.pareto = accept == "pareto"
        self.rounds = rounds
        self.names, self.objectives, self.weight = find_parts("objective", objectives or ALEA, "objectives")
        _, self.operators, chances = find_parts("operator", operators or dict(type(self).usual), "operators")
        self.chance = np.cumsum(chances) / chances.sum()
        self.count = len(self.objectives)
        self.current, self.tried, self.given = (doubles(self.count) for _ in range(3))
        self.evaluations = 0
        self.left = 0

    def improve(self, draft: Draft, people: UserTotals):
        """Search; the draft that is left is never worse than the one that was given, by a look at all of its jobs."""
        objective: Objective
        if draft.size == 0:
            return
        for objective in self.objectives:
            objective.people = people
        self.left = 4 * draft.size if self.rounds is None else self.rounds
        self.measure(draft, self.given)
        self.current[:] = self.given
        self.begin(draft)
        while self.left > 0:
            PyErr_CheckSignals()
            self.step(draft)
        self.finish(draft)
        self.compress(draft)
        self.measure(draft, self.current)
        if self.worse_than_given():
            draft.give_back()

    def measure(self, draft: Draft, into):
        """The objectives by a look at all jobs."""
        k: cython.Py_ssize_t
        for k in range(self.count):
            cython.cast(Objective, self.objectives[k]).begin(draft)
            into[k] = cython.cast(Objective, self.objectives[k]).value(draft)
        return 0

    def begin(self, draft: Draft):
        """A search begins."""
        return 0

    def step(self, draft: Draft):
        """One change that is tried."""
        if not self.attempt(draft):
            return 0
        if self.better():
            return self.keep(draft)
        return self.undo(draft)

    def attempt(self, draft: Draft):
        """Change the draft and evaluate it; False, and all is as it was, where a job found no place."""
        self.change(draft, self.pick(draft))
        if draft.stuck:
            self.left -= 1
            self.evaluations += 1
            draft.undo()
            return False
        self.evaluate(draft)
        return True

    def finish(self, draft: Draft):
        """The budget is used up."""
        return 0

    def pick(self, draft: Draft):
        """The job to begin with."""
        return self.random.below(draft.size)

    def change(self, draft: Draft, job):
        """Apply an operator that is drawn."""
        k: cython.Py_ssize_t = 0
        drawn: cython.double
        if len(self.operators) > 1:
            drawn = self.random.uniform()
            while k < len(self.operators) - 1 and drawn >= self.chance[k]:
                k += 1
        cython.cast(Operator, self.operators[k]).apply(draft, self.random, job)
        return 0

    def evaluate(self, draft: Draft):
        """The objectives of the changed draft."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        objective: Objective
        self.left -= 1
        self.evaluations += 1
        if draft.out > 0:
            raise PolicyError("an operator has left a job out of the plan")
        for k in range(self.count):
            objective = cython.cast(Objective, self.objectives[k])
            objective.save()
            for j in range(draft.touches):
                i = draft.touched[j]
                if draft.start[i] != draft.before[i]:
                    objective.moved(draft, i, draft.before[i], draft.start[i])
            self.tried[k] = objective.value(draft)
        return 0

    def score(self):
        """The sum of relative changes, above 0 for a better plan."""
        k: cython.Py_ssize_t
        total: cython.double = 0
        floor: cython.double
        for k in range(self.count):
            floor = cython.cast(Objective, self.objectives[k]).floor
            total += self.weight[k] * (self.current[k] - self.tried[k]) / max(self.current[k], floor)
        return total

    def better(self):
        """Whether the changed draft is to be kept."""
        k: cython.Py_ssize_t
        better: cython.bint = False
        if not self.pareto:
            return self.score() > 0
        for k in range(self.count):
            if self.tried[k] > self.current[k]:
                return False
            better = better or self.tried[k] < self.current[k]
        return better

    def no_worse(self):
        """Whether the changed draft is as good as the one before, or better."""
        k: cython.Py_ssize_t
        worse: cython.bint = False
        if not self.pareto:
            return self.score() >= 0
        for k in range(self.count):
            worse = worse or self.tried[k] > self.current[k]
        return not worse

    def worse_than_given(self):
        """Whether the draft, as last measured, is worse than the one that was given: by its objective, by any of them
        under Pareto's rule, or by their weighted geometric mean."""
        k: cython.Py_ssize_t
        total: cython.double = 0
        for k in range(self.count):
            if self.pareto or self.count == 1:
                if self.current[k] > self.given[k]:
                    return True
            elif self.current[k] != self.given[k]:
                if self.given[k] <= 0:
                    return True
                total += self.weight[k] * (math.log(self.current[k] / self.given[k]) if self.current[k] > 0 else -1e9)
        return total > 0

    def keep(self, draft: Draft):
        self.current[:] = self.tried
        return draft.keep()

    def undo(self, draft: Draft):
        self.back(draft)
        return draft.undo()

    def back(self, draft: Draft):
        """The objectives as they were before `evaluate`; the draft is still the changed one."""
        i: cython.Py_ssize_t
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        objective: Objective
        for k in range(self.count):
            objective = cython.cast(Objective, self.objectives[k])
            for j in range(draft.touches):
                i = draft.touched[j]
                if draft.start[i] != draft.before[i]:
                    objective.moved(draft, i, draft.start[i], draft.before[i])
            objective.back()
        return 0

    def compress(self, draft: Draft):
        """All jobs move forward as far as they can, in the order of their starts, if the plan is not worse for it."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        draft.sort()
        for k in range(draft.size):
            i = draft.sequence[k]
            draft.lift(i)
            draft.settle(i, draft.now)
        self.evaluate(draft)
        self.left += 1  # not one of the budget
        self.evaluations -= 1
        if self.no_worse():
            self.current[:] = self.tried
            return draft.keep()
        return self.undo(draft)


@cython.cclass
class RandomSearch(Search):
    """A job that is drawn goes to a random place in the sequence; all behind it are placed again."""

    usual = (("sequence", 1),)


@cython.cclass
class GapSearch(Search):
    """A job that is drawn goes to a gap, or changes places with another one."""
