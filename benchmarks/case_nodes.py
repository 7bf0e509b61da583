"""A cluster of nodes: spreading and shaped requests, 1,500 nodes and 10,000."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.engines import run_through
from benchmarks.figures import Figure, at_least, at_most, speed
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.engine.build import build_simulation
from walltime.policy import registry
from walltime.scenario import Part, parse

CASE = "nodes"
CORES = 24
FEW, MANY = 1_500, 10_000
LOAD = 0.95
OVERLOAD = 1.1
TARGETS = {"shapeless": at_least(0.4), "shaped": at_least(0.3)}
OVERLOADED = {"shapeless": None, "shaped": at_least(0.1)}
PLACES = {"first-fit": None, "worst-fit": None, "contiguous": at_least(0.05), "random": None}
GROWTH = at_most(1.5)
OVER_CORES = at_most(1.5)


def measure(setting: Setting) -> Iterator[Figure]:
    """EASY with best fit by kind of request, the growth with the number of nodes; then the other placements."""
    for kind, share in (("shapeless", 1), ("shaped", 4)):
        jobs = node_jobs(setting.jobs // share, FEW, kind, LOAD)
        timing, simulation = setting.time(partial(build, jobs, FEW, "best-fit"), run_through)
        what = f"easy, best-fit, {kind}, {FEW:,} x {CORES} (queue to {simulation.clusters[0].longest_queue:,})"
        yield speed(CASE, f"{what}: Simulation.run", len(jobs), timing, TARGETS[kind])
        timing, _ = setting.time(partial(make_scenario, jobs, FEW), partial(native.run, workload=jobs))
        yield speed(CASE, f"easy, best-fit, {kind}: native.run, tables included", len(jobs), timing)
        alone = {}
        for nodes in (FEW, MANY):  # as many jobs for each node, and overloaded: else there is no queue after so few
            jobs = node_jobs(setting.jobs // share * nodes // MANY, nodes, kind, OVERLOAD)
            timing, simulation = setting.time(partial(build, jobs, nodes, "best-fit"), run_through)
            queue = simulation.clusters[0].longest_queue
            what = f"easy, best-fit, {kind}, load {OVERLOAD}, {nodes:,} x {CORES} (queue to {queue:,})"
            alone[nodes] = speed(CASE, what, len(jobs), timing, OVERLOADED[kind])
            yield alone[nodes]
        few, many = alone[FEW], alone[MANY]
        what = f"{kind}: cost of a job on {MANY:,} nodes over that on {FEW:,}"
        yield Figure(CASE, what, few.median / many.median, few.best / many.best, "x", GROWTH, None, few.repeats)
    yield compare_with_cores(setting)
    for place, target in PLACES.items():
        jobs = node_jobs(setting.jobs // 20, FEW, "shaped", LOAD)
        timing, _ = setting.time(partial(build, jobs, FEW, place), run_through)
        yield speed(CASE, f"easy, {place}, shaped, {FEW:,} x {CORES}", len(jobs), timing, target)


def compare_with_cores(setting: Setting) -> Figure:
    """Jobs for any cores of nodes that have memory, too, over the same jobs on a plain number of cores, by turns."""
    jobs = node_jobs(setting.jobs, FEW, "shapeless", LOAD)
    scheduler = {"backfill": "easy"}
    nodes = [{"name": f"n[1-{FEW}]", "cores": CORES, "memory": "96GB"}]
    clusters = [{"cores": FEW * CORES, "scheduler": scheduler}, {"nodes": nodes, "scheduler": scheduler}]
    taken: list[list[float]] = [[], []]
    for _ in range(setting.repeats):
        for cluster, found in zip(clusters, taken, strict=True):
            simulation = build_from(parse({"workload": {"table": jobs}, "cluster": cluster}, []), jobs)
            started = time.process_time()
            run_through(simulation)
            found.append(time.process_time() - started)
    plain, shared = taken
    what = "easy, shapeless, nodes with memory that is not asked for: cost of a job over that on plain cores"
    ratio = statistics.median(shared) / statistics.median(plain)
    return Figure(CASE, what, ratio, min(shared) / min(plain), "x", OVER_CORES, None, setting.repeats)


def node_jobs(jobs: int, nodes: int, kind: str, load: float, widest: int = 11) -> Workload:
    """Jobs for a cluster of nodes: total cores as in the other benchmarks, up to 2,048 (and half as many again).

    Shaped ones: seven of ten ask for whole nodes (or one node, where they are smaller), the others for 4, 8 or 12
    cores on each node.
    """
    draw = stream(1, "benchmark.nodes")
    cores = 2 ** np.minimum(draw.geometric(0.4, jobs) - 1, widest)
    odd = draw.random(jobs) < 0.25
    cores = np.where(odd, np.maximum(cores * draw.uniform(0.5, 1.5, jobs), 1), cores).astype(np.int64)
    columns: dict[str, Any] = {}
    if kind == "shaped":
        each = np.where(draw.random(jobs) < 0.7, CORES, draw.choice([4, 8, 12], jobs))
        each = np.minimum(each, cores)
        count = -(-cores // each)
        cores = count * each
        columns = {"nodes": count, "cores_per_node": each}
    run = np.clip(draw.lognormal(np.log(1800), 1.5, jobs), 1, 2 * 86_400).astype(np.int64)
    asked = np.ceil(run * (1 + draw.exponential(2.0, jobs)) / 300) * 300
    asked = np.where(draw.random(jobs) < 0.1, run, asked).astype(np.int64)
    gaps = draw.exponential(float(np.mean(cores * run)) / (load * nodes * CORES), jobs)
    columns |= {
        "submit": np.cumsum(gaps).astype(np.int64) * SECOND,
        "run_time": run * SECOND,
        "requested_time": asked * SECOND,
        "cores": cores,
    }
    return Workload(columns)


def make_scenario(workload: Workload, nodes: int, place: str = "best-fit", backfill: str = "easy") -> Any:
    cluster = {"nodes": f"{nodes}x{CORES}", "scheduler": {"place": place, "backfill": backfill}}
    return parse({"workload": {"table": workload}, "cluster": cluster}, [])


def build(workload: Workload, nodes: int, place: str) -> Any:
    """A simulation under EASY, ready to run."""
    return build_from(make_scenario(workload, nodes, place), workload)


def build_from(scenario: Any, workload: Workload) -> Any:
    execution = registry.build("execution", Part(name="trace"))
    return build_simulation(scenario, workload, [workload], {"execution": execution})[0]
