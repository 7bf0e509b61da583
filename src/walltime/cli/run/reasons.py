"""Why a run is slow, and what would be faster: what is likely is tried for a moment before it is told."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from walltime.cli.terminal.progress import RemainingTime, look_ahead
from walltime.core.time import format_duration

if TYPE_CHECKING:
    from walltime.core.workload import Workload
    from walltime.pipeline import Prepared
    from walltime.scenario import Part, Scenario

TRIAL = 1.0
"""Real seconds in which a faster choice is tried."""
PROMISING = ("conservative", "plan", "depth", "lookahead")
"""Backfill parts that plan more than one job."""
RHYTHMS = ("slurm", "periodic")
"""Rhythms whose cycles plan the waiting jobs from scratch."""
SLICED = ("time-shared", "gang")
"""Execution models that play slices of time."""


@dataclass(frozen=True)
class SlowFeature:
    """Something that takes time: what it is, what to do, and a choice that can be tried, with the change to it."""

    reason: str
    advice: str
    choice: str = ""
    change: Callable[[Scenario], Scenario] | None = None


def give_reasons(prepared: Prepared, left: float | None, waiting: int) -> list[str]:
    """The reason and the faster choice, a line each. Of several causes it is the first without which the run would take
    less than half of the `left` seconds, as far as a moment tells; with None nothing is tried."""
    causes = find_causes(prepared, waiting)
    for cause in causes if left is not None else []:
        scenario = None if cause.change is None else cause.change(prepared.scenario)
        if scenario is None or not is_built_in(scenario):
            continue
        faster = time_instead(prepared, scenario)
        if faster is not None and left is not None and faster < left / 2:
            return [cause.reason, f"{cause.choice} would take about {format_duration(max(1, round(faster)))}."]
    return [causes[0].reason, causes[0].advice]


def find_causes(prepared: Prepared, waiting: int) -> list[SlowFeature]:
    """What in the scenario may take the time, the likeliest first; at least one."""
    scenario = prepared.scenario
    if scenario.engine == "slurm":
        return [
            SlowFeature(
                f"{waiting:,} jobs have not ended, and Slurm's controller looks at them in each of its cycles.",
                "The native engine (engine: native) has no controller to wait for; a part of the trace: --until.",
            )
        ]
    if {cluster.scheduler.rhythm.name for cluster in scenario.clusters} & set(RHYTHMS):
        return [
            SlowFeature(
                f"{waiting:,} jobs wait, and each cycle of the rhythm plans them from scratch.",
                "A smaller bf_max_job_test or a longer bf_interval plans fewer of them; so does --until.",
            )
        ]
    causes = _blame_optimiser(scenario, waiting) + _blame_backfill(scenario, waiting) + _blame_order(scenario, waiting)
    causes += _blame_execution(scenario, len(prepared.workload)) + _blame_others(scenario)
    size = f"{len(prepared.workload):,} jobs are simulated, of which {waiting:,} wait."
    return causes or [SlowFeature(size, "A part of the trace takes less: see --until.")]


def _blame_optimiser(scenario: Scenario, waiting: int) -> list[SlowFeature]:
    for cluster in scenario.clusters:
        wanted = cluster.scheduler.backfill.parameters.get("optimise")
        if cluster.scheduler.backfill.name != "plan" or wanted is None:
            continue
        told = wanted if isinstance(wanted, Mapping) else {"name": str(wanted)}
        rounds = told.get("rounds")
        tries = f"tries {rounds:,} changes" if isinstance(rounds, int) else "tries changes"
        return [
            SlowFeature(
                f"{waiting:,} jobs wait, and {told.get('name', 'the optimiser')} {tries} of their plan each time.",
                "Fewer `rounds`, a shorter `reach` or a longer `every` try fewer of them; so does a plan without "
                "`optimise`.",
                "The plan without `optimise`",
                _leave_out_optimiser,
            )
        ]
    return []


def _blame_backfill(scenario: Scenario, waiting: int) -> list[SlowFeature]:
    backfill = {cluster.scheduler.backfill.name for cluster in scenario.clusters}
    easy = "EASY (backfill: easy)"
    if planners := backfill & set(PROMISING):
        on = " on nodes" if any(cluster.nodes is not None for cluster in scenario.clusters) else ""
        planner = " and ".join(sorted(planners))
        reason = f"{waiting:,} jobs wait, and {planner}{on} plans each of them again and again."
        return [SlowFeature(reason, f"{easy} plans one job at a time.", easy, _replace("backfill", "easy"))]
    if own := sorted(backfill - _known()):
        reason = f"{waiting:,} jobs wait, and {' and '.join(own)} is asked in Python at every event."
        advice = "p.start_heads() and p.start_candidates() find the jobs that fit without a look at each of them."
        return [SlowFeature(reason, advice, f"{easy}, which is compiled,", _replace("backfill", "easy"))]
    return []


def _blame_order(scenario: Scenario, waiting: int) -> list[SlowFeature]:
    """Orders that change as time passes, and those that are somebody's own."""
    from walltime.policy import registry

    named = {part.name: part for _, kind, part in scenario.parts() if kind == "order"}
    changing = [name for name, part in named.items() if name in _known() and registry.build("order", part).dynamic]
    own = sorted(set(named) - _known())
    if not changing and not own:
        return []
    slow = " and ".join([*sorted(changing), *own])
    advice = (
        "An order that stays as it is while jobs wait (fcfs, sjf, smallest, a formula without wait and now) is faster."
    )
    return [
        SlowFeature(
            f"{waiting:,} jobs wait, and {slow} puts all of them in order again at every pass.",
            advice,
            "First come, first served (order: fcfs)",
            _replace("order", "fcfs"),
        )
    ]


def _blame_execution(scenario: Scenario, jobs: int) -> list[SlowFeature]:
    model = scenario.execution.model.name
    if model == "programs":
        reason = f"{jobs:,} jobs run as programs, each operation of which is simulated."
        return [SlowFeature(reason, "Fewer and larger operations in the profiles take less; so does --until.")]
    if model in SLICED:
        return [
            SlowFeature(
                f"The slices of time of all tasks that share a core are played ({model}).",
                "Processor sharing (execution.model: processor-sharing) has no slices; a longer quantum makes fewer.",
                "Processor sharing (execution.model: processor-sharing)",
                _share_processors,
            )
        ]
    return []


def _blame_others(scenario: Scenario) -> list[SlowFeature]:
    """Parts that are somebody's own, in Python, and asked for each job."""
    own = sorted({part.name for _, kind, part in scenario.parts() if kind not in ("order", "backfill")} - _known())
    if not own:
        return []
    reason = f"{' and '.join(own)} is asked in Python for each job."
    return [
        SlowFeature(
            reason, "Built-in parts are compiled; so may yours be (see CONTRIBUTING.md). Less at once: --until."
        )
    ]


# ---- other choices


def _replace(kind: str, name: str) -> Callable[[Scenario], Scenario]:
    """The change to another part of this kind on all clusters, and in all their queues."""

    def change(scenario: Scenario) -> Scenario:
        clusters = []
        for cluster in scenario.clusters:
            part: Part = type(cluster.scheduler.backfill)(name=name)
            update: dict[str, Any] = {"scheduler": cluster.scheduler.model_copy(update={kind: part})}
            if kind == "order":
                update["queues"] = {
                    label: queue.model_copy(update={"order": None}) for label, queue in cluster.queues.items()
                }
            clusters.append(cluster.model_copy(update=update))
        return scenario.model_copy(update={"clusters": tuple(clusters)})

    return change


def _leave_out_optimiser(scenario: Scenario) -> Scenario:
    clusters = []
    for cluster in scenario.clusters:
        backfill = cluster.scheduler.backfill
        kept = {name: value for name, value in backfill.parameters.items() if name != "optimise"}
        scheduler = cluster.scheduler.model_copy(
            update={"backfill": backfill.model_copy(update={"parameters": kept, "instance": None})}
        )
        clusters.append(cluster.model_copy(update={"scheduler": scheduler}))
    return scenario.model_copy(update={"clusters": tuple(clusters)})


def _share_processors(scenario: Scenario) -> Scenario:
    model = type(scenario.execution.model)(name="processor-sharing")
    return scenario.model_copy(update={"execution": scenario.execution.model_copy(update={"model": model})})


class EnoughError(Exception):
    """The trial has taken its time."""


class TrialRun:
    """Ends a run after a moment; `left` is how long it would go on."""

    def __init__(self, workload: Workload, until: float | None) -> None:
        self.remaining: RemainingTime = look_ahead(workload, until)
        self.began = time.perf_counter()
        self.left: float | None = None

    def progress(self, now_us: int, submitted: int, ended: int) -> None:
        elapsed = time.perf_counter() - self.began
        self.left = self.remaining.estimate(elapsed, now_us, submitted, ended)
        if elapsed > TRIAL:
            raise EnoughError


def time_instead(prepared: Prepared, scenario: Scenario) -> float | None:
    """Seconds that the same jobs would take in this other scenario, as far as a moment tells; None where it cannot
    be run so."""
    from walltime.core.errors import WalltimeError

    trial = TrialRun(prepared.workload, scenario.until)
    try:
        type(prepared)(scenario, prepared.workload).run(trial)
    except EnoughError:
        return None if trial.left is None else time.perf_counter() - trial.began + trial.left
    except WalltimeError:
        return None
    return time.perf_counter() - trial.began


def is_built_in(scenario: Scenario) -> bool:
    """Whether all parts are ours: another's might remember from one run to the next."""
    return all(part.name in _known() for _, _, part in scenario.parts())


def _known() -> set[str]:
    from walltime.policies import PARTS

    return {entry.name for entry in PARTS}
