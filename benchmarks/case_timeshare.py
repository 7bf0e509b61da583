"""Nodes whose time is shared: task events a second, and a thousand nodes of jobs in lock step."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.figures import Figure, at_least, at_most, seconds
from benchmarks.setting import Setting
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import Scenario, parse, resolve

CASE = "timeshare"
NODES, TASKS, STEPS = 1_000, 4, 10
EVENTS = at_least(1.0)
LOCK_STEP = at_most(10)


def measure(setting: Setting) -> Iterator[Figure]:
    """A task's begin and its end are two events; the tables of the result are made within the time, too."""
    for model in ("processor-sharing", {"name": "time-shared", "quantum": 0.1}):
        name = model if isinstance(model, str) else model["name"]
        for nodes, tasks in ((1, 1), (NODES, TASKS)):
            jobs = setting.jobs // 2 // tasks
            scenario = describe(jobs, nodes, tasks, 1.0, "sequential", model)
            workload = scenario.read_workload()
            timing, _ = setting.time(partial(ready, scenario, workload), partial(native.run, workload=workload))
            what = f"{name}, {nodes:,} nodes, load 0.7, jobs of {tasks}: task events"
            median, best = (2 * jobs * tasks / run / 1e6 for run in (timing.median, timing.best))
            yield Figure(CASE, what, median, best, "M events/s", EVENTS, None, len(timing.runs))
        jobs = setting.jobs // 10
        scenario = describe(jobs, NODES, TASKS, float(STEPS), "lock-step", model)
        workload = scenario.read_workload()
        timing, _ = setting.time(partial(ready, scenario, workload), partial(native.run, workload=workload))
        what = f"{name}, {NODES:,} nodes, {jobs:,} x {TASKS} tasks in lock step, {STEPS} steps"
        yield seconds(CASE, what, timing, LOCK_STEP)


def describe(jobs: int, nodes: int, tasks: int, work: float, profile: str, model: Any) -> Scenario:
    """Poisson arrivals at a load of 0.7, tasks spread evenly."""
    gap = {"name": "exponential", "mean": work * tasks / nodes / 0.7}
    kinds = {"job": {"tasks": tasks, "work": {"name": "exponential", "mean": work}, "profile": profile}}
    return parse(
        {
            "workload": {"synthetic": {"jobs": jobs, "arrivals": gap, "types": kinds}},
            "cluster": {"nodes": {"count": nodes, "cores": 1, "max_load": 100}, "scheduler": {"backfill": "none"}},
            "execution": {"model": model},
        }
    )


def ready(scenario: Scenario, workload: Workload) -> Scenario:
    return resolve(scenario, workload)
