"""What failures, maintenance and urgent jobs cost: the month of a large site with all of them, and many failures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.case_site import MONTH_JOBS, make_site, site_jobs
from benchmarks.figures import Figure, at_most
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import Failures, Part, Reservation, Scenario, parse
from walltime.workload.generate import generate

CASE = "disruptions"
DAY = 86_400.0


def measure(setting: Setting) -> Iterator[Figure]:
    """The month with everything against the month without; 100,000 failures of 10,000 nodes."""
    jobs = with_urgent(site_jobs(setting.jobs * 27 // 10))
    plain = make_site(jobs)
    costs = []
    for what, scenario in (("with its rules", plain), ("and failures, maintenance, urgent jobs", disturb(plain, jobs))):
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        costs.append(timing.median * MONTH_JOBS / len(jobs))
        counts = record.facts["disruptions"]
        text = f"{len(jobs):,} jobs, {what} {counts or ''}, scaled to a month"
        yield Figure(CASE, text, costs[-1], costs[-1], "CPU s", None, None, setting.repeats)
    ratio = costs[1] / costs[0]
    yield Figure(CASE, "all of them over none", ratio, ratio, "x", at_most(2), None, setting.repeats)
    yield from measure_failures(setting)


def measure_failures(setting: Setting) -> Iterator[Figure]:
    """What 100,000 failures add to a month of 10,000 nodes. The jobs need a node or less each: else the work that wide
    ones have to do again, and the queue that it makes, would be measured instead."""
    jobs = generate(setting.jobs // 10, 240_000, 0.6, 1)
    jobs = jobs.replace(dict(jobs.columns) | {"cores": np.minimum(jobs.column("cores"), 24)})
    month = float(jobs.column("submit").max()) / SECOND
    costs, failed = [], 0
    for mean in (100 * month, 10_000 * month / 100_000):
        cluster = {"nodes": "10000x24", "interrupted": "requeue"}
        cluster["failures"] = [{"between": {"mean": mean}, "repair": {"mean": month / 720}}]
        scenario = parse({"workload": jobs, "cluster": cluster, "until": month})
        timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=jobs))
        costs.append(timing.median)
        failed = record.facts["disruptions"].get("failures", 0)
    text = f"{failed:,} failures of 10,000 nodes add"
    yield Figure(CASE, text, costs[1] - costs[0], costs[1] - costs[0], "CPU s", at_most(5), None, setting.repeats)


def with_urgent(jobs: Workload) -> Workload:
    """One job in a hundred is urgent."""
    urgent = (stream(1, "benchmark.urgent").random(len(jobs)) < 0.01).astype(np.int32)
    return jobs.replace(dict(jobs.columns) | {"qos": urgent}, labels=dict(jobs.labels) | {"qos": ["normal", "urgent"]})


def disturb(scenario: Scenario, jobs: Workload) -> Scenario:
    """The site with 5,000 failures a month, a day of maintenance of the whole, and preemption."""
    cluster = scenario.clusters[0]
    span = float(jobs.column("submit").max()) / SECOND
    preempt = Part(name="qos", parameters={"ranks": {"urgent": 1}})
    disturbed = cluster.model_copy(
        update={
            "failures": (Failures(between={"mean": 8.4 * DAY}, repair={"mean": 7200.0}),),
            "reservations": (Reservation(name="maintenance", start=span / 2, length=span / 180),),
            "scheduler": cluster.scheduler.model_copy(update={"preempt": preempt}),
        }
    )
    return scenario.model_copy(update={"clusters": (disturbed,)})
