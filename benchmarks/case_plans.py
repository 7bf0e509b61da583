"""Plans: evaluated changes in a second, the cost beside conservative backfilling, and a month with tabu search."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from benchmarks.case_conservative import build, pool_jobs
from benchmarks.engines import find_starts, require_same, run_through
from benchmarks.figures import Figure, Target, at_least, at_most, seconds
from benchmarks.setting import Setting
from benchmarks.workloads import POOL, random_jobs
from building import add_cluster
from planning import make_plan
from walltime.cluster.requests import NodeRequest
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.execution.trace import TraceExecution
from walltime.kernel.drafts.draft_cores import CoreDraft
from walltime.kernel.drafts.draft_nodes import NodeDraft
from walltime.kernel.hardware import Hardware
from walltime.kernel.jobs import JobTable
from walltime.kernel.ledger.plan import PlanLedger
from walltime.kernel.ledger.resources import ResourceLedger
from walltime.policies.backfill.plan import Plan
from walltime.policies.optimise.objectives import Wait
from walltime.policies.optimise.search import GapSearch
from walltime.policy import registry
from walltime.policy.optimise import UserTotals
from walltime.scenario import Part

CASE = "plans"
MACHINE = 1_000
CORES, WHOLE, NAMED = "cores", "whole nodes", "nodes with memory"
MACHINES = (CORES, WHOLE, NAMED)
OBJECTIVES = {"fairness": 10, "response": 1, "wait": 1, "slowdown": 1}
MOVES = (100, 1_000, 10_000)
MONTH = 30 * 86400
WIDEST = 256
OPTIMISERS = ("random-search", "gap-search", "tabu", "annealing", "neighbourhoods")


def measure(setting: Setting) -> Iterator[Figure]:
    """Changes of a plan by one operator, objectives as Alea has them; then whole runs."""
    for machine in MACHINES:
        for waiting in MOVES if machine != NAMED else MOVES[:2]:
            ours = waiting == 1_000
            rounds = 20 * setting.jobs // 1_000
            yield evaluations(machine, waiting, "gap", rounds, at_least(20_000) if ours else None, setting)
            yield evaluations(machine, waiting, "swap", rounds, None, setting)
            rounds = max(20, rounds * 50 // waiting) if machine != NAMED else setting.jobs // waiting
            yield evaluations(machine, waiting, "sequence", rounds, at_least(500) if ours else None, setting)
    yield from measure_plain(setting)
    yield from measure_month(setting)
    yield from measure_distance(setting)


@dataclass
class Waiting:
    """A draft of so many jobs, and what is to improve it."""

    draft: Any
    search: Any


def evaluations(
    machine: str, waiting: int, operator: str, rounds: int, target: Target | None, setting: Setting
) -> Figure:
    """Evaluated changes in a CPU second."""
    timing, made = setting.time(partial(make_waiting, machine, waiting, operator, rounds), improve)
    count = made.search.evaluations
    what = f"{waiting:,} waiting, 1,000 {machine}: evaluated changes by {operator}, a second"
    return Figure(CASE, what, count / timing.median, count / timing.best, "/s", target, repeats=len(timing.runs))


def make_ledger(machine: str, jobs: JobTable) -> Any:
    """A thousand cores, or nodes of 32 cores that are given as a whole, or with memory that jobs share."""
    if machine == CORES:
        return PlanLedger(jobs, MACHINE)
    place = registry.build("place", Part(name="first-fit"))
    if machine == WHOLE:
        return ResourceLedger(jobs, Hardware(np.full((MACHINE, 1), 32), place, whole=True))
    return ResourceLedger(jobs, Hardware(np.tile([32, 128], (MACHINE, 1)), place, resources=("cores", "memory")))


def make_waiting(machine: str, waiting: int, operator: str, rounds: int) -> Waiting:
    """A machine that is full, and as many jobs of many sizes that wait."""
    random = stream(waiting, "benchmarks.plans")
    jobs: Any = JobTable()
    ledger: Any = make_ledger(machine, jobs)
    slots = []
    for i in range(waiting + 50):
        cores = int(min(random.integers(1, 200), random.integers(1, 200)))
        length = int(random.lognormal(8, 1.5) + 60) * SECOND
        slot = jobs.add(0, 0, length, cores)
        jobs.estimate[slot], jobs.user[slot] = length, int(random.integers(0, 40))
        if machine != CORES:
            each = (32,) if machine == WHOLE else (int(random.integers(1, 33)), int(random.integers(1, 129)))
            jobs.cores[slot] = each[0] * cores
            jobs.shape[slot] = ledger.intern(NodeRequest(each[0] * cores, cores, each), 0)
        if i < 50 and ledger.free >= jobs.cores[slot] and ledger.fits(slot):
            jobs.expected_end[slot] = length
            ledger.take(slot)
        else:
            start = ledger.earliest(slot, 0)
            ledger.hold(slot, start)
            jobs.promise[slot] = start
            slots.append(slot)
    draft: Any = NodeDraft() if machine == NAMED else CoreDraft()
    slots = slots[:waiting]
    draft.open(ledger, np.array(slots, np.int64), len(slots))
    return Waiting(draft, GapSearch(OBJECTIVES, {operator: 1}, rounds=rounds))


def improve(made: Waiting) -> Waiting:
    made.search.improve(made.draft, UserTotals())
    return made


def measure_plain(setting: Setting) -> Iterator[Figure]:
    """A plan that is not improved beside conservative backfilling: the same schedule."""
    jobs = pool_jobs(setting)
    plain, one = setting.time(partial(build, jobs, POOL), run_through)
    plan, other = setting.time(partial(build_plan, jobs, POOL, {}), run_through)
    require_same(find_starts(one), find_starts(other), "a plan of earliest gaps and conservative backfilling")
    what = f"{len(jobs):,} jobs, a plan without optimising: times conservative backfilling"
    yield Figure(CASE, what, plan.median / plain.median, plan.best / plain.best, "x", at_most(1.5))


def measure_month(setting: Setting) -> Iterator[Figure]:
    """A month of jobs on a machine at a load of 0.95, tabu search of 100 evaluations at each event."""
    jobs, cores = month(setting.jobs * 3 // 100)
    for on in (["ends"], ["arrivals", "ends"]):
        tabu = {"optimise": {"name": "tabu", "rounds": 100, "every": None, "on": on, "reach": None, "most": None}}
        timing, simulation = setting.time(partial(build_plan, jobs, cores, tabu), run_through)
        longest = simulation.clusters[0].longest_queue
        what = f"{len(jobs):,} jobs of a month, tabu 100 on {' and '.join(on)} (queue to {longest:,})"
        yield seconds(CASE, what, timing, at_most(60))


def month(count: int) -> tuple[Workload, int]:
    """Jobs that come within thirty days, and the cores for which that is a load of 0.95."""
    jobs = random_jobs(count, 1.0, people=True)
    columns = dict(jobs.columns)
    columns["cores"] = np.minimum(columns["cores"], WIDEST)  # no job is wider than the machine
    columns["submit"] = columns["submit"] * MONTH // (int(columns["submit"][-1]) // SECOND + 1)
    work = float((columns["cores"] * (columns["run_time"] / SECOND)).sum())
    return jobs.replace(columns), int(work / (0.95 * MONTH)) + 1


def build_plan(workload: Workload, cores: int, parameters: dict[str, Any]) -> Any:
    """A simulation of the jobs under a plan, ready to run."""
    simulation: Any = make_simulation(Arrivals([workload]), TraceExecution())
    add_cluster(simulation, PlanLedger(simulation.jobs, cores), Plan(**parameters))
    return simulation


def measure_distance(setting: Setting) -> Iterator[Figure]:
    """Plans of six jobs after 300 evaluations for the mean wait, beside the best of all 720 orders."""
    plans = 40 * setting.jobs // 100_000 or 4
    best = [best_of_all(seed) for seed in range(plans)]
    for name in ("nothing", *OPTIMISERS):
        far = np.array([improved(seed, name) / best[seed] - 1 for seed in range(plans)])
        what = (
            f"{plans} plans of 6 jobs, {name}: {(far < 1e-9).sum()} best, at most {100 * far.max():.1f} % from it; mean"
        )
        yield Figure(CASE, what, 100 * float(far.mean()), 100 * float(far.mean()), "%")


def improved(seed: int, name: str) -> float:
    """The mean wait of a small plan, improved."""
    draft = make_plan(seed, jobs=6, cores=6, unit=60 * SECOND).open()
    if name != "nothing":
        part = Part(name=name, parameters={"objectives": {"wait": 1}, "rounds": 300})
        registry.build("optimise", part).improve(draft, UserTotals())
    return Wait().measure(draft)


def best_of_all(seed: int) -> float:
    """The least mean wait over all orders in which the jobs can be placed."""
    draft = make_plan(seed, jobs=6, cores=6, unit=60 * SECOND).open()
    best = math.inf
    for order in permutations(range(draft.size)):
        for i in order:
            draft.take_out(i)
        for i in order:
            draft.put(i, draft.earliest(i))
        best = min(best, Wait().measure(draft))
    return best
