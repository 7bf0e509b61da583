"""A run that will take minutes says so in its first seconds, with the reason and what would be faster."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from walltime.cli.terminal.console import remark
from walltime.cli.terminal.progress import RemainingTime, look_ahead
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.core.workload import Workload
    from walltime.pipeline import Prepared
    from walltime.scenario import Scenario

    Describe = Callable[[str, Prepared, float, int], list[str]]

YOUNG = 3.0
"""Real seconds after which a run is judged for the first time."""
LONG = 60.0
"""Seconds left that are worth a word."""
TRIAL = 1.0
"""Real seconds in which the faster choice is tried."""
PROMISING = ("conservative", "plan", "depth", "lookahead")
"""Backfill parts that plan more than one job."""


RHYTHMS = ("slurm", "periodic")
"""Rhythms whose cycles plan the waiting jobs from scratch."""


class Forewarning:
    """An engine's observer beside the progress bar, if there is one: measures how fast the run is, and speaks once.

    `describe` makes the words, of the run's name, what is run, the seconds left and the jobs that wait.
    """

    def __init__(self, name: str, prepared: Prepared, bar: Any = None, describe: Describe | None = None) -> None:
        self.name = name
        self.prepared = prepared
        self.bar = bar
        self.describe = describe or describe_run
        self.remaining = look_ahead(prepared.workload, prepared.scenario.until)
        self.simulation: Any = None
        self.told = False
        self.steps = 0
        self.began = time.perf_counter()
        if hasattr(bar, "note_waiting"):
            self.note_waiting = bar.note_waiting

    def attach(self, simulation: Any) -> None:
        """Called by an engine that can be looked at."""
        self.simulation = simulation
        if hasattr(self.bar, "attach"):
            self.bar.attach(simulation)

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        """Called by the engine about ten times a second."""
        self.steps += 1
        if self.bar is not None:
            self.bar.progress(now_us, submitted, ended)
        if self.told:
            return
        elapsed = time.perf_counter() - self.began
        left = self.remaining.estimate(elapsed, now_us, ended)
        if elapsed >= YOUNG and left is not None and left > LONG:
            self.told = True
            waiting = submitted - ended if self.simulation is None else count_waiting(self.simulation)
            for line in self.describe(self.name, self.prepared, left, waiting):
                remark(line)


def describe_explanation(name: str, prepared: Prepared, left: float, waiting: int) -> list[str]:
    """What is said of a run that is simulated again to explain a job's wait."""
    return [
        f"{name}: at its speed so far this takes about {format_duration(round(left))} more.",
        f"The whole run is simulated again, and {waiting:,} jobs wait.",
        "A result that ends soon after the job is explained sooner: see --until of walltime run.",
    ]


def describe_run(name: str, prepared: Prepared, left: float, waiting: int) -> list[str]:
    """What is said: how long, why, and what would be faster, each as far as it has been measured."""
    lines = [f"{name}: at its speed so far this run takes about {format_duration(round(left))} more."]
    scenario = prepared.scenario
    backfill = {cluster.scheduler.backfill.name for cluster in scenario.clusters}
    rhythm = {cluster.scheduler.rhythm.name for cluster in scenario.clusters} & set(RHYTHMS)
    if scenario.engine == "slurm":
        lines.append(f"{waiting:,} jobs have not ended, and Slurm's controller looks at them in each of its cycles.")
        lines.append("The native engine (engine: native) has no controller to wait for; a part of the trace: --until.")
        return lines
    if rhythm:
        lines.append(f"{waiting:,} jobs wait, and each cycle of the rhythm plans them from scratch.")
        lines.append("A smaller bf_max_job_test or a longer bf_interval plans fewer of them; so does --until.")
        return lines
    if not backfill & set(PROMISING):
        lines.append(f"{waiting:,} jobs wait. A part of the trace takes less: see --until.")
        return lines
    planner = " and ".join(sorted(backfill & set(PROMISING)))
    on = " on nodes" if any(cluster.nodes is not None for cluster in scenario.clusters) else ""
    lines.append(f"{waiting:,} jobs wait, and {planner}{on} plans each of them again and again.")
    faster = time_easy(prepared) if is_built_in(scenario) else None
    if faster is not None and faster < left / 2:
        lines.append(f"EASY (backfill: easy) would take about {format_duration(max(1, round(faster)))}.")
    else:
        lines.append("EASY (backfill: easy) plans one job at a time.")
    return lines


def count_waiting(simulation: Any) -> int:
    """Jobs that wait at this moment."""
    return sum(domain.queue.size for cluster in simulation.clusters for domain in cluster.domains)


# ---- the faster choice, tried for a moment


class EnoughError(Exception):
    """The trial has taken its time."""


class Trial:
    """Ends a run after a moment; `left` is how long it would go on."""

    def __init__(self, workload: Workload, until: float | None) -> None:
        self.remaining: RemainingTime = look_ahead(workload, until)
        self.began = time.perf_counter()
        self.left: float | None = None

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        elapsed = time.perf_counter() - self.began
        self.left = self.remaining.estimate(elapsed, now_us, ended)
        if elapsed > TRIAL:
            raise EnoughError


def time_easy(prepared: Prepared) -> float | None:
    """Seconds that the same jobs would take under EASY, as far as a moment tells."""
    clusters = []
    for cluster in prepared.scenario.clusters:
        easy = type(cluster.scheduler.backfill)(name="easy")
        clusters.append(
            cluster.model_copy(update={"scheduler": cluster.scheduler.model_copy(update={"backfill": easy})})
        )
    scenario = prepared.scenario.model_copy(update={"clusters": tuple(clusters)})
    trial = Trial(prepared.workload, scenario.until)
    try:
        type(prepared)(scenario, prepared.workload).run(trial)
    except EnoughError:
        return None if trial.left is None else time.perf_counter() - trial.began + trial.left
    return time.perf_counter() - trial.began


def is_built_in(scenario: Scenario) -> bool:
    """Whether all parts are ours: another's might remember from one run to the next."""
    from walltime.policies import PARTS

    known = {entry.name for entry in PARTS}
    return all(part.name in known for _, _, part in scenario.parts())
