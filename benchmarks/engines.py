"""The compiled engine put together from the parts that `walltime.engine.native` uses, and its reference twin."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.measuring import time_calls
from benchmarks.workloads import CORES
from building import add_cluster
from twin import reference
from walltime.core.errors import EngineError
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.engine.loop import Rank
from walltime.engine.recording.recorder import JOB
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.source import Source
from walltime.policy import registry
from walltime.policy.api import Policy
from walltime.scenario import Scenario, parse

POLICIES = ("fcfs", "easy", "aggressive")
TWIN_JOBS = 3_000
"""The first so many jobs of a workload are what the twin is asked about: it is linear in all that runs and waits."""


def make_scenario(workload: Workload, policy: str) -> Scenario:
    """The jobs on the 33,000 cores under a preset."""
    return parse(
        {"workload": {"table": workload}, "cluster": {"cores": CORES, "scheduler": registry.preset(policy)}}, []
    )


def build_simulation(workload: Workload, policy: str | Policy, sources: Sequence[tuple[Rank, Source]] = ()) -> Any:
    """A simulation ready to `run`, under a preset or a policy of somebody's own."""
    parts = make_scenario(workload, policy if isinstance(policy, str) else "fcfs").clusters[0].scheduler
    execution = registry.build("execution", make_scenario(workload, "fcfs").execution.model)
    simulation: Any = make_simulation(Arrivals([workload]), execution, sources=sources)
    add_cluster(
        simulation,
        CoreLedger(simulation.jobs, CORES, 0),
        registry.build("backfill", parts.backfill) if isinstance(policy, str) else policy,
        registry.build("order", parts.order),
        registry.build("estimate", parts.estimate),
    )
    return simulation


def find_starts(simulation: Any) -> np.ndarray[Any, Any]:
    """When each job started, in microseconds, in order of entry; -1 for one that did not."""
    jobs = simulation.recorder.take()[0]
    return np.asarray(jobs[np.argsort(jobs[:, JOB.index("seq")], kind="stable"), JOB.index("first_start")])


def compare_with_twin(workload: Workload, policy: str, repeats: int) -> float:
    """How many times faster the engine is than its twin on the first jobs; raises EngineError where they differ."""
    sample = workload.select(np.arange(min(TWIN_JOBS, len(workload))))
    slow, outcomes = time_calls(lambda: sample, lambda jobs: reference.simulate_cores(jobs, CORES, policy), 1)
    fast, simulation = time_calls(lambda: build_simulation(sample, policy), run_through, 5 * repeats)
    expected = [-1 if outcome.start is None else outcome.start for outcome in outcomes]
    require_same(find_starts(simulation), np.array(expected), f"{policy}: the engine and its twin")
    return slow.median / fast.median


def run_through(simulation: Any) -> Any:
    """Simulate to the end; the simulation."""
    simulation.run()
    return simulation


def require_same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], who: str) -> None:
    """Raise EngineError unless the start times are the same: a wrong schedule has no speed."""
    if not np.array_equal(one, other):
        raise EngineError(f"{who} differ in {int(np.sum(one != other))} of {len(one)} start times")


class Stopwatch(Source):
    """Notes the CPU time at given simulated times, so that a stretch of a run can be measured alone."""

    def __init__(self, times: Sequence[int]) -> None:
        super().__init__()
        self.times = list(times)
        self.seen: list[float] = []
        self.next = self.times[0]

    def fire(self, now: int) -> int:
        self.seen.append(time.process_time())
        self.times.pop(0)
        self.next = self.times[0] if self.times else 1 << 62
        return 0
