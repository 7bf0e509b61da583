"""The engine alone, and the engine with its tables, at three loads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.engines import POLICIES, build_simulation, compare_with_twin, make_scenario, run_through
from benchmarks.figures import Figure, Target, at_least, at_most, speed
from benchmarks.setting import Setting
from benchmarks.workloads import random_jobs
from walltime.engine import native

CASE = "engine"
LOADS = (0.70, 0.95, 1.30)
TARGETS: dict[tuple[str, float], Target] = {
    **{("fcfs", load): at_least(2.0) for load in LOADS},
    ("easy", 0.95): at_least(1.0),
    ("easy", 1.30): at_least(0.5),
}
GROWTH = at_most(4)


def measure(setting: Setting) -> Iterator[Figure]:
    """`Simulation.run` by policy and load, with its twin; how the cost of a job grows; `native.run`."""
    for policy in POLICIES:
        alone = {}
        for load in LOADS:
            jobs = random_jobs(setting.jobs, load)
            timing, simulation = setting.time(partial(build_simulation, jobs, policy), run_through)
            queue = simulation.clusters[0].longest_queue
            twin = compare_with_twin(jobs, policy, setting.repeats)
            what = f"{policy}, load {load:.2f} (queue to {queue:,}): Simulation.run"
            alone[load] = speed(CASE, what, len(jobs), timing, TARGETS.get((policy, load)), twin)
            yield alone[load]
            timing, _ = setting.time(partial(make_scenario, jobs, policy), partial(native.run, workload=jobs))
            yield speed(CASE, f"{policy}, load {load:.2f}: native.run, tables included", len(jobs), timing)
        low, high = alone[LOADS[0]], alone[LOADS[-1]]
        what = f"{policy}: cost of a job at load {LOADS[-1]:.2f} over that at {LOADS[0]:.2f}"
        yield Figure(CASE, what, low.median / high.median, low.best / high.best, "x", GROWTH, None, low.repeats)
