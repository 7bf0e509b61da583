"""An experiment from beginning to end: checked, registered, run; or only looked at, with an estimate from a trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from walltime.core.errors import InputError
from walltime.core.plugins import allow
from walltime.experiments.definition import Experiment, load_experiment, parse_experiment
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.pool import WorkerPool
from walltime.experiments.tasks import RunLimits, Task, TaskOutcome

if TYPE_CHECKING:
    from walltime.experiments.runner import Progress
    from walltime.experiments.store import Store
    from walltime.experiments.tasks import Workers

TRIAL_RUNS = 5
TRIAL_SECONDS = 30.0
_ROW = 330
_FIGURE = 40
"""Bytes of a run in the database besides its figures, and of a figure."""


@dataclass(frozen=True)
class SweepEstimate:
    """What a sweep would take, told from a trial of a few runs: the mean, and the quickest and the slowest of them."""

    cells: int
    runs: int
    known: int
    """Of the runs those that the store has done already."""
    tried: int
    unfinished: int
    """Runs of the trial that did not end in its time: the estimate is too low then."""
    failed: tuple[str, ...]
    mean: float
    shortest: float
    longest: float
    bytes: float
    """Of one run in the store."""
    workers: int

    @property
    def seconds(self) -> tuple[float, float, float]:
        """How long the rest would take: at the pace of the quickest run, of the mean, of the slowest."""
        share = (self.runs - self.known) / self.workers
        return self.shortest * share, self.mean * share, self.longest * share


def read_experiment(given: Experiment | Mapping[str, Any] | str | Path) -> Experiment:
    """The experiment, from a file, a mapping, or as it is; code that a program names may be imported."""
    if isinstance(given, Experiment):
        return given
    if isinstance(given, Mapping):
        allow(given)
        return parse_experiment(given)
    return load_experiment(given)


def plan_experiment(experiment: Experiment, *, deep: bool = True) -> ExperimentPlan:
    """The experiment's plan, every cell of it checked; raises InputError with the line of what cannot run.

    `deep` also reads or generates the jobs of a few cells, in which every level of the grid appears.
    """
    plan = ExperimentPlan(experiment)
    plan.check()
    if deep:
        plan.check_levels()
    return plan


def sweep(
    experiment: Experiment | Mapping[str, Any] | str | Path,
    store: Store | str | Path | None = None,
    *,
    workers: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    show: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """Run an experiment, or what is left of it; returns how far it came.

    On the cores of this machine, or on a Dask cluster: `dask` is its scheduler's address, or `local`, `slurm` or `pbs`.
    `store` is an open one, a folder or a URL; without it the folder `walltime-store`. Stop it whenever you like and run
    it again. Failed runs stay failed unless `retry` says otherwise; their errors are in the store.
    """
    from walltime.experiments.store import DEFAULT, Store

    chosen = read_experiment(experiment)
    plan = plan_experiment(chosen)
    hired = hire(chosen, workers, dask)
    try:
        opened = store if isinstance(store, Store) else Store(store or DEFAULT, create=True)
        try:
            return run_plan(opened, plan, hired, show, retry=retry)
        finally:
            if opened is not store:
                opened.close()
    finally:
        hired.kill()


def hire(experiment: Experiment, workers: int | None = None, dask: str | None = None) -> Workers:
    """The workers of an experiment, with its limits; raises InputError. End them with `kill`."""
    from walltime.experiments.runner import make_workers

    return make_workers(workers, _limits(experiment), dask)


def run_plan(
    store: Store, plan: ExperimentPlan, workers: Workers, show: Callable[[Progress], None], *, retry: bool = False
) -> Progress:
    """Register a plan that was checked, and run what is left of it."""
    from walltime.experiments.runner import Runner

    number = store.register(plan.experiment, plan.specifications())
    return Runner(store, number, workers).run(show, retry=retry)


def estimate(plan: ExperimentPlan, store: Store | None = None, *, workers: int) -> SweepEstimate:
    """What a sweep would take, from a trial of a few runs; nothing is written."""
    known, wanted = 0, []
    done = _done_digests(store) if store is not None else set()
    for planned in plan.specifications():
        for seed, digest in planned.runs:
            if digest in done:
                known += 1
            else:
                wanted.append((planned.specification, seed, digest))
    chosen = _spread(wanted, TRIAL_RUNS)
    outcomes, unfinished = _try_out([Task(0, *task) for task in _as_tasks(chosen)], plan.experiment, workers)
    ended = [outcome for outcome in outcomes if not outcome.fault]
    walls = [outcome.wall for outcome in outcomes] + [TRIAL_SECONDS] * unfinished or [0.0]
    sizes = [_ROW + _FIGURE * len(own.figures) + sum(map(len, own.files.values())) for own in ended] or [0]
    return SweepEstimate(
        cells=len(plan.cells),
        runs=plan.runs,
        known=known,
        tried=len(chosen),
        unfinished=unfinished,
        failed=tuple(dict.fromkeys(str(outcome.error) for outcome in outcomes if outcome.fault)),
        mean=sum(walls) / len(walls),
        shortest=min(walls),
        longest=max(walls),
        bytes=sum(sizes) / len(sizes),
        workers=workers,
    )


def _as_tasks(chosen: list[tuple[str, int, str]]) -> list[tuple[str, int, int, str, int]]:
    return [(digest, 0, 1, specification, seed) for specification, seed, digest in chosen]


def _spread(items: list[Any], count: int) -> list[Any]:
    """So many of the items, from the first to the last at even distances."""
    if len(items) <= count:
        return items
    return [items[index * (len(items) - 1) // (count - 1)] for index in range(count)]


def _try_out(tasks: list[Task], experiment: Experiment, workers: int) -> tuple[list[TaskOutcome], int]:
    """What a few tasks come to in the time of a trial, and how many did not end in it."""
    pool = WorkerPool(workers, _limits(experiment))
    found: list[TaskOutcome] = []
    end = time.monotonic() + TRIAL_SECONDS
    try:
        waiting = list(tasks)
        while (waiting or pool.held) and time.monotonic() < end:
            while waiting and len(pool.held) < workers:
                pool.give(waiting.pop(0))
            found += pool.collect(0.2)
        return found, len(pool.held)
    finally:
        pool.kill()


def _limits(experiment: Experiment) -> RunLimits:
    return RunLimits(experiment.limits.time, experiment.limits.memory)


def _done_digests(store: Store) -> set[str]:
    import sqlalchemy as sa

    from walltime.experiments.schema import DONE, runs

    return set(
        store.database.read(lambda c: c.execute(sa.select(runs.c.digest).where(runs.c.state == DONE)).scalars().all())
    )


def check_workers(count: int | None) -> None:
    """Raise InputError for a number of workers that there cannot be."""
    if count is not None and not 1 <= count <= 4096:
        raise InputError("--workers must be between 1 and 4096", value=count)
