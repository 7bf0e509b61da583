"""Conservative backfilling: every waiting job has a promise, and each early end moves some of them forward."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import case_nodes
from benchmarks.engines import Stopwatch, find_starts, require_same, run_through
from benchmarks.figures import Figure, at_least, at_most, per_item, seconds, speed
from benchmarks.measuring import Timing, time_calls
from benchmarks.setting import Setting
from benchmarks.workloads import CORES, POOL, backlog, random_jobs
from building import add_cluster
from twin import reference
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.engine.arrivals import Arrivals
from walltime.engine.assemble import make_simulation
from walltime.engine.loop import Rank
from walltime.execution.trace import TraceExecution
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.ledger.plan import PlanLedger
from walltime.policies.backfill import conservative
from walltime.policies.backfill.conservative import Conservative
from walltime.policies.backfill.easy import Easy
from walltime.scenario import parse

CASE = "conservative"
LOADS = (0.9, 1.0, 1.1)
TWIN_JOBS = 400  # the twin looks at every pair of jobs at every instant
QUEUES = (570, 2_000, 5_000, 20_000)
SITE = [
    {"name": "cn", "count": 352, "cores": 32, "memory": "128G"},
    {"name": "gn", "count": 48, "cores": 32, "memory": "256G", "gpus": 4},
]
WAGAP = Path(os.environ.get("WALLTIME_DATA", Path(__file__).parents[2] / "shared")) / "traces" / "wagap-2013.swf"
WAGAP_NODES = [
    {"name": "zewura", "count": 20, "cores": 80, "memory": "529426432K"},
    {"name": "zegox", "count": 48, "cores": 12, "memory": "94035968K"},
]
STRETCH = (3600 * SECOND, 3 * 3600 * SECOND)
"""From when to when the cost with a queue of some length is measured."""


def measure(setting: Setting) -> Iterator[Figure]:
    """`Simulation.run` with requests of 1 to 10 times the run time, at queues of some hundreds and beyond."""
    for load in LOADS:
        jobs = loosely_requested(setting.jobs * 6 // 100, load)
        timing, simulation = setting.time(partial(build, jobs), run_through)
        longest = simulation.clusters[0].longest_queue
        target = at_least(0.03) if 200 <= longest <= 1000 else None
        yield speed(CASE, f"load {load} (queue to {longest:,})", len(jobs), timing, target, compare_with_twin(jobs))
    yield from measure_pool(setting)
    yield from measure_exact(setting)
    for queue in QUEUES:
        yield from measure_queue(queue, setting)
    for kind, load, target in (("shapeless", 4.0, at_most(15)), ("shaped", 6.0, at_most(15))):
        yield from measure_nodes(kind, load, target, setting)
    yield from measure_site(setting)
    yield from measure_queues(setting)
    yield from measure_trace(setting)
    yield from measure_neighbours(setting)


def measure_nodes(kind: str, load: float, target: Any, setting: Setting) -> Iterator[Figure]:
    """4,000 jobs that come much faster than 139 nodes serve them: for any cores, and for nodes."""
    jobs = loosened(case_nodes.node_jobs(setting.jobs * 4 // 1_000, 139, kind, load, widest=9))
    for backfill in ("conservative", "easy"):
        scenario = case_nodes.make_scenario(jobs, 139, backfill=backfill)
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        what = f"139 x 24 nodes, {len(jobs):,} {kind} jobs, {backfill} (queue to {record.facts['longest_queue']:,})"
        yield seconds(CASE, what, timing, target if backfill == "conservative" else None)


def measure_site(setting: Setting) -> Iterator[Figure]:
    """20,000 jobs with memory, a seventh of them with GPUs, in three queues of 400 nodes."""
    jobs = site_jobs(setting.jobs // 50)
    queues = {"short": {"max_time": "4h", "priority": 2}, "batch": {"nodes": ["cn"]}, "gpu": {"nodes": ["gn"]}}
    for backfill, target in (("conservative", at_most(20)), ("easy", None)):
        cluster = {"nodes": SITE, "queues": queues, "scheduler": {"backfill": backfill}}
        scenario = parse({"workload": {"table": jobs}, "cluster": cluster}, [])
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        what = f"400 nodes with GPUs and queues, {len(jobs):,} jobs, {backfill}"
        yield seconds(CASE, f"{what} (queue to {record.facts['longest_queue']:,})", timing, target)


def measure_queues(setting: Setting) -> Iterator[Figure]:
    """8,000 jobs that come much faster than 12,800 cores serve them: in three queues without limits, and in none."""
    jobs = site_jobs(setting.jobs // 125, load=3.0)
    cores = {name: jobs.column(name) for name in ("submit", "run_time", "requested_time", "cores", "queue")}
    jobs = Workload(cores, jobs.labels)
    timings = []
    for queues in ({"short": {"max_time": "4h", "priority": 2}, "batch": {}, "gpu": {}}, {}):
        cluster = {"cores": 400 * 32, "queues": queues, "scheduler": {"backfill": "conservative"}}
        scenario = parse({"workload": {"table": jobs}, "cluster": cluster}, [])
        timing, _ = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        timings.append(timing)
    some, none = timings
    what = f"{len(jobs):,} jobs in three queues of cores: cost over that without queues"
    yield Figure(CASE, what, some.median / none.median, some.best / none.best, "x", at_most(1.5), None, setting.repeats)


def measure_trace(setting: Setting) -> Iterator[Figure]:
    """`wagap-2013`, 17,898 jobs for nodes with memory: of the external data, where they are at hand."""
    if not WAGAP.exists():
        print(f"skipped: no {WAGAP.name} in the folder traces of $WALLTIME_DATA")
        return
    nodes = {"nodes": WAGAP_NODES}
    jobs = parse({"workload": {"trace": str(WAGAP)}, "cluster": nodes}, []).read_workload()
    for backfill, target in (("conservative", at_most(4)), ("easy", None)):
        cluster = nodes | {"scheduler": {"backfill": backfill}}
        scenario = parse({"workload": {"table": jobs}, "cluster": cluster}, [])
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        what = f"{WAGAP.stem}, {len(jobs):,} jobs, {backfill} (queue to {record.facts['longest_queue']:,})"
        yield seconds(CASE, what, timing, target)


def measure_neighbours(setting: Setting) -> Iterator[Figure]:
    """1,500 jobs for some of 20 whole nodes: neighbours, and any."""
    jobs = loosened(case_nodes.node_jobs(setting.jobs * 15 // 10_000, 20, "shaped", 2.0, widest=6))
    for place in ("contiguous", "best-fit"):
        scheduler = {"backfill": "conservative", "place": place}
        cluster = {"nodes": "20x24", "sharing": "whole", "scheduler": scheduler}
        scenario = parse({"workload": {"table": jobs}, "cluster": cluster}, [])
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        what = f"20 whole nodes, {len(jobs):,} jobs, {place}"
        yield seconds(CASE, f"{what} (queue to {record.facts['longest_queue']:,})", timing, None)


def site_jobs(size: int, load: float = 1.05) -> Workload:
    """Jobs for the site: powers of two of cores with memory for each, those above a node's in whole nodes."""
    draw = stream(1, "benchmark.site")
    gpu = draw.random(size) < 0.15
    cores = 2 ** np.minimum(draw.geometric(0.35, size) - 1, 8)
    cores = np.where(gpu, draw.choice([1, 2, 4, 8], size), cores).astype(np.int64)
    run = np.clip(draw.lognormal(np.log(3600), 1.4, size), 10, 2 * 86_400).astype(np.int64)
    asked = np.minimum(np.ceil(run * draw.uniform(1, 6, size) / 600) * 600, 3 * 86_400).astype(np.int64)
    gaps = draw.exponential(float(np.mean(cores * run)) / (load * 400 * 32), size)
    queue = np.where(gpu, 2, np.where(asked <= 4 * 3600, 0, 1)).astype(np.int32)
    columns = {
        "submit": np.cumsum(gaps).astype(np.int64) * SECOND,
        "run_time": run * SECOND,
        "requested_time": np.maximum(asked, run) * SECOND,
        "cores": cores,
        "nodes": np.where(cores > 32, cores // 32, np.where(gpu, 1, -1)).astype(np.int64),
        "queue": queue,
        "memory_per_core": draw.choice([1, 2, 4], size).astype(np.int64) * 2**30,
        "gpus": np.where(gpu, draw.integers(1, 5, size), 0).astype(np.int64),
    }
    return Workload(columns, {"queue": ["short", "batch", "gpu"]})


def measure_pool(setting: Setting) -> Iterator[Figure]:
    """10,000 jobs, 3,500 of them there at once: with the index, with a look at each promise as before, under EASY."""
    jobs = pool_jobs(setting)
    what = f"{len(jobs):,} jobs, {len(jobs) * 35 // 100:,} at once"
    timing, simulation = setting.time(partial(build, jobs, POOL), run_through)
    moves = simulation.clusters[0].ledger.moves
    yield seconds(CASE, what, timing, at_most(3))
    yield Figure(CASE, f"{what}: moves per end", moves / len(jobs), moves / len(jobs), "")
    yield per_item(CASE, f"{what}: a move, with all else", moves, timing, at_most(3))
    looks, other = time_calls(partial(build, jobs, POOL), run_through_looks, 1)
    require_same(find_starts(simulation), find_starts(other), "with the index and with looks")
    yield seconds(CASE, f"{what}: a look at each promise", looks)
    easy, _ = setting.time(partial(build_easy, jobs), run_through)
    yield seconds(CASE, f"{what}: EASY", easy)


def pool_jobs(setting: Setting) -> Workload:
    """10,000 jobs of which 3,500 are there at once."""
    return backlog(setting.jobs // 100, setting.jobs * 35 // 10_000, 2.0)


def measure_exact(setting: Setting) -> Iterator[Figure]:
    """The same jobs with exact requests: no promise moves, so this is what an end costs without moves."""
    jobs = pool_jobs(setting)
    exact = jobs.replace(jobs.columns | {"requested_time": jobs.columns["run_time"]})
    timing, simulation = setting.time(partial(build, exact, POOL), run_through)
    moves = simulation.clusters[0].ledger.moves
    what = f"{len(jobs):,} jobs, exact requests ({moves:,} moves): arrival, start, end"
    yield per_item(CASE, what, len(jobs), timing, at_most(10))


def measure_queue(queue: int, setting: Setting) -> Iterator[Figure]:
    """What an end and a move cost while about so many jobs wait."""
    jobs = backlog(queue + queue // 2, queue, 1.0)
    parts = [Stretch.of(jobs, conservative.MANY) for _ in range(setting.repeats)]
    timing, first = Timing(tuple(part.cpu for part in parts)), parts[0]
    what = f"{first.waiting:,} waiting, {first.moves / first.ends:.0f} moves per end"
    yield per_item(CASE, f"{what}: an end", first.ends, timing)
    yield per_item(CASE, f"{what}: a move", first.moves, timing, at_most(3))
    looks = Stretch.of(jobs, 10**9)
    yield per_item(CASE, f"{what}: an end with a look at each promise", first.ends, Timing((looks.cpu,)))


@dataclass(frozen=True)
class Stretch:
    """What happened in the stretch of a run in which the queue is about as long as wanted."""

    cpu: float
    ends: int
    moves: int
    waiting: int

    @classmethod
    def of(cls, jobs: Workload, index_from: int) -> Stretch:
        """Run the jobs; the index is used from so many waiting jobs on."""
        watch = Counter(STRETCH)
        before, conservative.MANY = conservative.MANY, index_from
        watch.simulation = simulation = build(jobs, POOL, [(Rank.TIMERS, watch)])
        conservative.MANY = before
        simulation.run(STRETCH[1])
        (ends, moves, waiting), (later, last, _) = watch.counts
        return cls(watch.seen[1] - watch.seen[0], later - ends, last - moves, waiting)


class Counter(Stopwatch):
    """Notes what has happened too."""

    def __init__(self, times: tuple[int, ...]) -> None:
        super().__init__(times)
        self.simulation: Any = None
        self.counts: list[tuple[int, int, int]] = []

    def fire(self, now: int) -> int:
        cluster = self.simulation.clusters[0]
        self.counts.append((self.simulation.ended, cluster.ledger.moves, cluster.queue.size))
        return super().fire(now)


def run_through_looks(simulation: Any) -> Any:
    """Simulate to the end, with a look at each promise."""
    simulation.clusters[0].queue.fixed = False
    return run_through(simulation)


def loosely_requested(size: int, load: float) -> Workload:
    """Random jobs whose requests are uniformly 1 to 10 times their run times."""
    return loosened(random_jobs(size, load))


def loosened(jobs: Workload) -> Workload:
    """The jobs with requests of uniformly 1 to 10 times their run times."""
    factor = stream(1, "request").uniform(1, 10, len(jobs))
    requested = (jobs.columns["run_time"] * factor).astype(np.int64)
    return jobs.replace(jobs.columns | {"requested_time": requested})


def build(workload: Workload, cores: int = CORES, sources: Any = ()) -> Any:
    """A simulation of the jobs on so many cores, ready to run."""
    simulation: Any = make_simulation(Arrivals([workload]), TraceExecution(), sources=sources)
    add_cluster(simulation, PlanLedger(simulation.jobs, cores), Conservative())
    return simulation


def build_easy(workload: Workload) -> Any:
    """The same jobs under EASY."""
    simulation: Any = make_simulation(Arrivals([workload]), TraceExecution())
    add_cluster(simulation, CoreLedger(simulation.jobs, POOL), Easy())
    return simulation


def compare_with_twin(workload: Workload) -> float:
    """How many times faster the engine is than its twin on the first jobs, submitted all but at once."""
    sample = workload.select(np.arange(min(TWIN_JOBS, len(workload))))
    sample = sample.replace(sample.columns | {"submit": sample.columns["submit"] // 50})
    slow, outcomes = time_calls(lambda: sample, lambda jobs: reference.simulate_cores(jobs, CORES, "conservative"), 1)
    fast, simulation = time_calls(lambda: build(sample), run_through, 5)
    expected = [-1 if outcome.start is None else outcome.start for outcome in outcomes]
    require_same(find_starts(simulation), np.array(expected), "conservative: the engine and its twin")
    return slow.median / fast.median
