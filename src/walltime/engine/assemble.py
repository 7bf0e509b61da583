"""A simulation put together from its sources: what every run has, and what its jobs ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from walltime.engine.arrivals import Arrivals
from walltime.engine.dependencies import Dependencies, TaskLimits
from walltime.engine.loop import Rank, Simulation
from walltime.engine.scheduling import Scheduling
from walltime.engine.sources import Deadlines, Notices, Openings, Releases, TimeLimits
from walltime.execution.model import Execution
from walltime.kernel.jobs import JobTable
from walltime.kernel.source import Observer, Source


@dataclass(frozen=True)
class Conditions:
    """What jobs wait for besides resources, and how late they may be.

    `graph` and `arrays` are as `walltime.workload.conditions.dependencies` resolves them, None where no job has any.
    With `stay` jobs are held for ever whose dependencies can no longer be met; with `drop_late` those are cancelled
    that can no longer meet their deadline.
    """

    graph: Any = None
    stay: bool = False
    arrays: Any = None
    drop_late: bool = False


def make_simulation(
    arrivals: Arrivals,
    execution: Execution,
    *,
    conditions: Conditions | None = None,
    scheduling: Scheduling | None = None,
    sources: Iterable[tuple[Rank, Source]] = (),
    observers: Iterable[Observer] = (),
    per_event: bool = False,
    progress: Any = None,
    jobs: JobTable | None = None,
) -> Simulation:
    """A simulation to which clusters are still to be added; `sources` are further ones."""
    given = conditions or Conditions()
    releases = Releases()
    usual: list[tuple[Rank, Source]] = [
        (Rank.LIMITS, TimeLimits(Notices())),
        (Rank.CANCELLATIONS, arrivals.cancellations),
        (Rank.CANCELLATIONS, arrivals.impatience),
    ]
    if given.drop_late:
        usual.append((Rank.CANCELLATIONS, Deadlines()))
    if given.graph is not None:
        usual.append((Rank.CONDITIONS, Dependencies(given.graph, releases, given.stay)))
    if given.arrays is not None:
        usual.append((Rank.CONDITIONS, TaskLimits(given.arrays[0], given.arrays[1], releases)))
    return Simulation(
        arrivals,
        execution,
        sources=[*usual, *sources],
        scheduling=scheduling,
        observers=observers,
        per_event=per_event,
        progress=progress,
        jobs=jobs,
        releases=releases,
    )


def take_openings(simulation: Simulation) -> Openings:
    """The source of passes at which limits on core-minutes let in jobs; a run without limits has none."""
    openings: Openings | None = simulation.find(Openings)
    if openings is None:
        openings = Openings()
        simulation.add_source(Rank.TIMERS, openings)
    return openings


def take_notices(simulation: Simulation) -> Notices:
    """The source of notices to running jobs that have to leave; a run without preemption has none."""
    notices: Notices = simulation.find(TimeLimits).notices
    if notices not in simulation.sources:
        simulation.add_source(Rank.INTERRUPTIONS, notices)
    return notices
