"""The real Slurm controller in virtual time: simulated seconds for a second of its own computing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks.figures import Figure, Target, at_least, at_most
from benchmarks.setting import Setting
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.tables import Record
from walltime.core.workload import Workload
from walltime.scenario import parse
from walltime.slurm import engine
from walltime.slurm.packages import find_installation

CASE = "slurm"
DAY = 86_400


def measure(setting: Setting) -> Iterator[Figure]:
    """A quiet day, and the seed's case at a size that a benchmark can afford; `seed_jobs(3000)` is the whole of it."""
    try:
        find_installation()
    except InputError:
        return
    quiet = Workload.from_columns(submit=[0], run_time=[DAY], requested_time=[DAY + 600], cores=[4])
    record = run(quiet, 10, "shared")
    spent = record.durations["controller_cpu"]
    yield figure("a quiet day on 10 nodes, controller's CPU", spent, "s", at_most(3))
    for sharing, target in (("whole", 300), ("shared", 60)):
        jobs = seed_jobs(300, 500, days=0.5)
        record = run(jobs, 500, sharing)
        speed = record.durations["simulated"] / record.durations["controller_cpu"]
        yield figure(f"300 jobs, 500 nodes x 4, {sharing}: simulated, per CPU second", speed, "s/s", at_least(target))
        share = record.durations["cpu"] / record.durations["controller_cpu"]
        yield figure(f"300 jobs, 500 nodes x 4, {sharing}: our share", share, "x", at_most(0.25))


def figure(what: str, value: float, unit: str, target: Target) -> Figure:
    return Figure(CASE, what, value, value, unit, target)


def run(jobs: Workload, nodes: int, sharing: str) -> Record:
    """The jobs on nodes of four cores under the controller's default backfilling."""
    scenario = parse(
        {
            "workload": {"table": jobs},
            "engine": "slurm",
            "cluster": {"nodes": f"{nodes}x4", "sharing": sharing, "scheduler": {"backfill": "conservative"}},
            "slurm": {"settings": {"SchedulerParameters": "bf_continue"}},
        }
    )
    return engine.run(scenario, jobs)


def seed_jobs(count: int, nodes: int = 1000, days: float = 2.5, load: float = 0.9) -> Workload:
    """Jobs of whole nodes whose work fills the machine to `load` over so many days."""
    draw = stream(0, "slurm-benchmark")
    size = [min(nodes, int(2 ** draw.uniform(0, math.log2(nodes) - 1))) for _ in range(count)]
    run = [max(5.0, min(math.exp(draw.normal(6, 1.3)), 7200.0)) for _ in range(count)]
    stretch = days * DAY * nodes * load / sum(k * t for k, t in zip(size, run, strict=True))
    length = [round(t * stretch) + 1 for t in run]
    return Workload.from_columns(
        submit=sorted(round(draw.uniform(0, days * DAY)) for _ in range(count)),
        run_time=length,
        requested_time=[round(t * draw.uniform(1, 4)) + 60 for t in length],
        cores=[4 * k for k in size],
        nodes=size,
    )
