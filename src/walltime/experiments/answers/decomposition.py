"""What part of a difference between two systems is the scheduler's, and what part the users' who react to it.

Four runs for each seed: each system with its own users, and each on the submissions that the other one's users made.
The difference from A to B is then the scheduler's part, B on A's submissions less A, and the users' part, B less B on
A's submissions. The other order, users first, gives other parts, as the two work on each other; both are told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.analysis.headline import FIGURES, percent
from walltime.analysis.noise import Interval, estimate
from walltime.api import Result
from walltime.core.errors import InputError
from walltime.core.tables import ticks
from walltime.core.time import format_duration
from walltime.pipeline import Prepared, prepare
from walltime.scenario import Scenario
from walltime.workload.users.submitted import as_asked, as_submitted, find_origins

FIGURE_NAMES = ("mean_wait", "median_wait", "mean_response", "mean_bounded_slowdown", "utilization", "makespan")


@dataclass(frozen=True)
class Parts:
    """One figure: of both systems, of each on the other's submissions, and the parts of the difference, paired by seed.

    `scheduler` and `users` add up to the difference when the scheduler changes first; `scheduler_last` and
    `users_first` when the users do.
    """

    figure: str
    before: Interval
    after: Interval
    after_on_before: Interval
    before_on_after: Interval
    difference: Interval
    scheduler: Interval
    users: Interval
    users_first: Interval
    scheduler_last: Interval

    def write(self, value: float) -> str:
        """A value of the figure, for a person."""
        known = {one.key: one.text for one in FIGURES} | {"mean_response": format_duration, "utilization": percent}
        return str(known.get(self.figure, "{:,.4g}".format)(value))

    def tell(self) -> str:
        """The parts in a sentence."""
        parts = (self.difference, self.scheduler, self.users, self.users_first, self.scheduler_last)
        whole, scheduler, users, first, last = map(self._write_change, parts)
        return (
            f"{self.figure}: {whole}, of it {scheduler} by the scheduler and {users} by its users; "
            f"users first: {first} by the users and {last} by the scheduler"
        )

    def _write_change(self, one: Interval) -> str:
        def write(value: float) -> str:
            return ("-" if value < 0 else "+") + self.write(abs(value))

        if one.low is None or one.high is None or not one.deviation:  # one seed, or seeds that change nothing
            return write(one.mean)
        return f"{write(one.mean)} ({write(one.low)} to {write(one.high)})"


def decompose(
    before: Scenario, after: Scenario, figures: Sequence[str] = FIGURE_NAMES, seeds: Sequence[int] = (0,)
) -> list[Parts]:
    """The parts of the difference from one scenario to another, in both of which users react; raises InputError."""
    for scenario in (before, after):
        if scenario.users is None or not scenario.users.reacts:
            raise InputError("users have to react in both scenarios", value=scenario.workload.trace)
    runs = [_run_four(_seeded(before, seed), _seeded(after, seed)) for seed in seeds]
    return [_find_parts(figure, runs) for figure in figures]


def _seeded(scenario: Scenario, seed: int) -> Scenario:
    return scenario.model_copy(update={"seed": seed}).placed_as(scenario)


def _run_four(before: Scenario, after: Scenario) -> dict[str, Mapping[str, Any]]:
    """The summaries: of A, B, B on A's submissions, A on B's."""
    ready = {"a": prepare(before), "b": prepare(after)}
    closed = {name: Result(one.scenario, one.run(), name) for name, one in ready.items()}
    crossed = {"b on a": _replay(ready["b"], closed["a"]), "a on b": _replay(ready["a"], closed["b"])}
    return {name: result.summary for name, result in (closed | crossed).items()}


def _replay(ready: Prepared, other: Result) -> Result:
    """A system's run on the submissions of another, as its users asked for them: jobs that were not submitted there are
    not here either."""
    from walltime.analysis.audit.rules import find_rows

    acts = (other.record.facts.get("users") or {}).get("acts") or {}
    table = other.jobs
    rows = find_rows(find_origins(table["job_id"].to_numpy(), acts), ready.workload)
    if np.any(rows < 0):
        raise InputError("both scenarios need the same jobs", value=int(table["job_id"][int(np.argmax(rows < 0))]))
    users = None if other.scenario is None else other.scenario.users
    if users is not None and users.reactions:
        told = {name: table[name].to_numpy() for name in ("job_id", "cores")}
        told |= {name: ticks(table[name]) for name in ("submit", "requested_time")}
        jobs = as_asked(ready.workload, rows, told, acts)
    else:
        jobs = as_submitted(ready.workload, rows, ticks(table["submit"]))
    scenario = ready.scenario.model_copy(update={"users": None})
    return Result(scenario, Prepared(scenario, jobs).run(), "replay")


def _find_parts(figure: str, runs: Sequence[Mapping[str, Mapping[str, Any]]]) -> Parts:
    values: dict[str, np.ndarray] = {}
    for name in ("a", "b", "b on a", "a on b"):
        found = [run[name].get(figure) for run in runs]
        if any(not isinstance(value, int | float) for value in found):
            raise InputError("not every run has a value of this figure", value=figure)
        values[name] = np.array(found, np.float64)
    a, b, b_on_a, a_on_b = (values[name] for name in ("a", "b", "b on a", "a on b"))
    made = (a, b, b_on_a, a_on_b, b - a, b_on_a - a, b - b_on_a, a_on_b - a, b - a_on_b)
    return Parts(figure, *(estimate(one) for one in made))
