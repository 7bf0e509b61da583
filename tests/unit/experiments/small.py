"""Small experiments, and stores with runs that nothing has to simulate."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from walltime.experiments.definition import Experiment, load_experiment, parse_experiment
from walltime.experiments.leases import Leases
from walltime.experiments.planning import ExperimentPlan
from walltime.experiments.store import Store
from walltime.experiments.tasks import Task, TaskOutcome

SCENARIO: dict[str, Any] = {
    "workload": {"generate": {"jobs": 30, "cores": 8, "load": 0.9}},
    "cluster": {"cores": 8},
}
TEXT = """\
scenario:
  workload: {generate: {jobs: 30, cores: 8, load: 0.9}}
  cluster: {cores: 8}
"""


def make(**keys: Any) -> Experiment:
    """An experiment with a small scenario."""
    return parse_experiment({"name": "small", "scenario": SCENARIO} | keys)


def write(folder: Path, text: str, name: str = "small.yaml") -> Path:
    """An experiment's file: a small scenario of three lines, and this."""
    path = folder / name
    path.write_text(TEXT + text, encoding="utf-8")
    return path


def plan_of(path: Path) -> ExperimentPlan:
    return ExperimentPlan(load_experiment(path))


def registered(open_store: Callable[[], Store], seeds: int = 4, **keys: Any) -> tuple[Store, int]:
    """A store with an experiment of so many runs, all waiting."""
    experiment = make(repetitions=seeds, **keys)
    store = open_store()
    return store, store.register(experiment, ExperimentPlan(experiment).specifications())


def done(task: Task, **more: Any) -> TaskOutcome:
    """An outcome as a worker would tell it."""
    return TaskOutcome(task, figures={"mean_wait": 1.0}, result="0" * 64, host="here", **more)


def finish_all(store: Store, experiment: int, **more: Any) -> None:
    leases = Leases(store)
    leases.finish([done(task, **more) for task in leases.take(experiment, 1000)])
    leases.close()


class Clock:
    """A steady clock that a test winds by hand."""

    def __init__(self) -> None:
        self.now = time.monotonic()

    def __call__(self) -> float:
        return self.now
