"""Orders and options of backfilling on a long queue: what do keys that change with time, and choices, cost?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import TWIN_JOBS, find_starts, require_same, run_through
from benchmarks.figures import Figure, at_least, speed
from benchmarks.measuring import time_calls
from benchmarks.setting import Setting
from benchmarks.workloads import CORES, random_jobs
from building import add_cluster
from twin import reference
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.kernel.ledger.cores import CoreLedger
from walltime.policy import registry
from walltime.scenario import Part

CASE = "orders"
LOAD = 1.0
"""As much as the machine can do: the queue under wfp3 comes to about 1,700."""
CUBE = {"name": "formula", "value": "(wait / requested_time) ** 3 * cores"}
SCHEDULERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sjf + easy", {"order": "sjf"}),
    ("f1 + easy", {"order": "f1"}),
    ("wfp3 + easy", {"order": "wfp3"}),
    ("unicef + easy", {"order": "unicef"}),
    ("expansion + easy", {"order": "expansion"}),
    ("formula (as wfp3) + easy", {"order": CUBE}),
    ("fcfs + easy, candidates sjf", {"backfill": {"name": "easy", "candidates": "sjf"}}),
    ("fcfs + easy, alpha 0.5", {"backfill": {"name": "easy", "alpha": 0.5}}),
    ("fcfs + lookahead", {"backfill": "lookahead"}),
)
TARGETS = {"wfp3 + easy": at_least(0.05)}


def measure(setting: Setting) -> Iterator[Figure]:
    """`Simulation.run` on half of the jobs; the first ones also by the twin, which must agree."""
    jobs = random_jobs(setting.jobs // 2, LOAD)
    for name, parts in SCHEDULERS:
        timing, simulation = setting.time(partial(build, jobs, parts), run_through)
        twin = compare_with_twin(jobs, parts, name)
        what = f"{name} (queue to {simulation.clusters[0].longest_queue:,})"
        yield speed(CASE, what, len(jobs), timing, TARGETS.get(name), twin)


def build(workload: Workload, parts: Mapping[str, Any]) -> Any:
    """A simulation of the jobs on the 33,000 cores, ready to run."""
    wanted = {"order": "fcfs", "estimate": "request", "backfill": "easy"} | parts
    simulation: Any = make_simulation(Arrivals([workload]), registry.build("execution", Part(name="trace")))
    made = {kind: registry.build(kind, Part.model_validate(part)) for kind, part in wanted.items()}
    ledger = CoreLedger(simulation.jobs, CORES, 0)
    add_cluster(simulation, ledger, made["backfill"], made["order"], made["estimate"])
    return simulation


def compare_with_twin(workload: Workload, parts: Mapping[str, Any], name: str) -> float:
    """How many times faster the engine is than its twin on the first jobs, squeezed into a queue of hundreds."""
    sample = workload.select(np.arange(min(TWIN_JOBS, len(workload))))
    sample = sample.replace(sample.columns | {"submit": sample.columns["submit"] // 8})
    slow, outcomes = time_calls(lambda: sample, lambda jobs: reference.simulate_cores(jobs, CORES, parts), 1)
    fast, simulation = time_calls(lambda: build(sample, parts), run_through, 5)
    expected = [-1 if outcome.start is None else outcome.start for outcome in outcomes]
    require_same(find_starts(simulation), np.array(expected), f"{name}: the engine and its twin")
    return slow.median / fast.median
