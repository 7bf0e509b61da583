"""A plan as a model of a constraint solver: CP-SAT of Google's OR-Tools, where that is installed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import NEVER, SECOND
from walltime.policies.optimise.search import find_parts
from walltime.policy.optimise import Optimiser, PlannedJobs

LINEAR = ("wait", "response", "slowdown", "makespan", "tardiness", "missed-deadlines")
"""Objectives that the model has."""
SCALE = 1_000_000  # objectives are whole numbers in the model


class CpSat(Optimiser):
    """The jobs of the plan, at most `jobs` of them, are placed again in the order of the best starts that it finds.

    Its budget is `limit`, in the solver's deterministic seconds, with one worker and a fixed seed, so that results
    repeat. The model knows cores over time, in whole seconds; every job then goes to the earliest gap that the plan
    itself has for it, on its nodes, and a plan that is worse than before by the objectives is not used.
    """

    def __init__(
        self,
        objectives: Any = None,
        limit: float = 1.0,
        jobs: int = 300,
        every: float | None = 300,
        on: Any = ("ends",),
        reach: float | None = 172800,
        most: float | None = 2.0,
    ) -> None:
        Optimiser.__init__(self, every, on, reach, most)
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < 1e6:
            raise InputError("limit takes deterministic seconds above 0", value=limit)
        if isinstance(jobs, bool) or not isinstance(jobs, int) or not 2 <= jobs <= 10_000:
            raise InputError("jobs takes a number of jobs from 2 on", value=jobs)
        if not _installed():
            raise InputError("cp-sat needs OR-Tools: pip install 'walltime[solver]'")
        self.wanted = dict(objectives or {"wait": 1}) if isinstance(objectives or {}, Mapping) else objectives
        self.names, self.objectives, self.weights = find_parts("objective", self.wanted, "objectives")
        for name in self.names:
            if name not in LINEAR:
                raise InputError("objectives of cp-sat are linear", value=name, choices=LINEAR)
        self.limit = float(limit)
        self.jobs = jobs

    def improve(self, draft: Any, people: Any) -> None:
        """Place the jobs as the solver found, if the plan is better for it."""
        if draft.size < 2:
            return
        for objective in self.objectives:
            objective.know(people)
        before = self.measure(draft)
        chosen = np.sort(np.argsort(draft.starts(), kind="stable")[: self.jobs]).tolist()
        planned = PlannedJobs(draft)
        for job in chosen:
            draft.take_out(job)
        starts = self.solve(draft, planned, chosen, before)
        placed = starts is not None
        for job in sorted(chosen, key=lambda job: (starts[job], job)) if starts is not None else ():
            start = draft.earliest(job)
            placed = placed and start < NEVER
            if placed:
                draft.put(job, start)
        if placed and self.is_better(before, self.measure(draft)):
            draft.keep()
        else:
            draft.undo()

    def measure(self, draft: Any) -> list[float]:
        return [objective.measure(draft) for objective in self.objectives]

    def is_better(self, before: list[float], after: list[float]) -> bool:
        """By the objective, or by the weighted geometric mean of several."""
        if len(before) == 1:
            return after[0] < before[0]
        if any(new > old for old, new in zip(before, after, strict=True) if old <= 0):
            return False
        pairs = zip(self.weights, before, after, strict=True)
        return sum(w * math.log(max(new, 1e-13) / old) for w, old, new in pairs if old > 0) < 0

    def solve(self, draft: Any, planned: PlannedJobs, chosen: list[int], before: list[float]) -> dict[int, int] | None:
        """The start of each chosen job in the best solution found, in seconds from now; None if there is none."""
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        length = {job: max(1, math.ceil(planned.estimate[job])) for job in chosen}
        steps = self.steps_of(draft)
        horizon = steps[-1][0] + sum(length.values()) + 1
        start = {job: model.new_int_var(0, horizon, f"s{job}") for job in chosen}
        spans = [model.new_fixed_size_interval_var(start[job], length[job], f"i{job}") for job in chosen]
        needs = [int(planned.cores[job]) for job in chosen]
        most = max(max(free for _, free in steps), *needs)
        for (since, free), (until, _) in zip(steps, [*steps[1:], (horizon, 0)], strict=True):
            if free < most and until > since:
                spans.append(model.new_fixed_size_interval_var(since, until - since, f"b{since}"))
                needs.append(most - max(free, 0))
        model.add_cumulative(spans, needs, most)
        model.minimize(self.terms(model, planned, chosen, start, length, horizon, before))
        for job in chosen:
            model.add_hint(start[job], int(max(0, planned.start[job] - planned.now)))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = self.random.below(1 << 30)
        solver.parameters.max_deterministic_time = self.limit
        if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return None
        return {job: int(solver.value(start[job])) for job in chosen}

    def steps_of(self, draft: Any) -> list[tuple[int, int]]:
        """Free cores over time in whole seconds from now on; of a second that is cut the least."""
        found: dict[int, int] = {}
        current = 0
        for time, free in draft.steps():
            second, rest = divmod(max(0, time - draft.now), SECOND)
            found[second] = min(found.get(second, current), free) if rest else free
            if rest:
                found[second + 1] = free
            current = free
        return sorted(found.items())

    def terms(
        self, model: Any, planned: Any, chosen: list[int], start: Any, length: Any, horizon: int, before: list[float]
    ) -> Any:
        """The weighted sum of the objectives' relative changes, in whole numbers."""
        total: Any = 0
        size = len(planned)
        area = planned.cores * np.maximum(planned.estimate, 1e-6)
        waited = {job: int(planned.now - planned.eligible[job]) for job in chosen}
        for name, weight, value in zip(self.names, self.weights, before, strict=True):
            options = self.wanted[name] if isinstance(self.wanted[name], Mapping) else {}
            share = area / area.sum() if options.get("weighted") else np.full(size, 1 / size)
            unit = SCALE * weight / max(value, 1e-6)
            if name == "makespan":
                last = model.new_int_var(0, 2 * horizon, "makespan")
                model.add_max_equality(last, [start[job] + length[job] for job in chosen])
                total += max(1, round(unit)) * last
                continue
            for job in chosen:
                factor = unit * share[job]
                if name == "slowdown":
                    factor /= max(planned.estimate[job], options.get("bound", 10))
                if name in ("wait", "response", "slowdown"):
                    total += max(1, round(factor)) * start[job]
                elif math.isfinite(planned.deadline[job]):
                    due = int(planned.deadline[job] - planned.now)
                    total += self.lateness(model, name, factor, start[job] + length[job] - due, horizon + waited[job])
        return total

    def lateness(self, model: Any, name: str, factor: float, late: Any, most: int) -> Any:
        """What a job adds that is so many seconds late."""
        if name == "tardiness":
            tardy = model.new_int_var(0, 4 * most, "tardy")
            model.add(tardy >= late)
            return max(1, round(factor)) * tardy
        missed = model.new_bool_var("missed")
        model.add(late <= 0).only_enforce_if(missed.negated())
        return max(1, round(factor)) * missed


def _installed() -> bool:
    """Whether OR-Tools can be imported; it is not, for it is large."""
    try:
        return find_spec("ortools") is not None
    except ValueError:  # it has been looked for before, and was not there
        return False
