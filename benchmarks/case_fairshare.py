"""Fair share: the month of a large site put in order every minute, what sorting costs, and a week of large jobs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.case_rhythm import CORES, NODES, week_jobs
from benchmarks.case_site import MONTH_JOBS, make_site, seconds, site_jobs
from benchmarks.figures import Figure, at_most
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import NEVER
from walltime.engine import native
from walltime.kernel.jobs import JobTable
from walltime.kernel.queue.waiting import OrderedQueue
from walltime.scenario import Part, Scenario, parse

CASE = "fairshare"
QUEUES = 40
"""Of the month."""


def measure(setting: Setting) -> Iterator[Figure]:
    """The month, the sorting, the week."""
    jobs = site_jobs(setting.jobs * 27 // 10)
    scale = MONTH_JOBS / len(jobs)
    for what, part, target in (
        ("fair share every 60 s", {"name": "fairshare", "interval": 60}, at_most(30)),
        ("Fair Tree every 60 s", {"name": "fairshare", "formula": "fair-tree", "interval": 60}, None),
        ("first come, first served", "fcfs", at_most(15)),
    ):
        figure = seconds(setting, jobs, with_order(make_site(jobs, queues=QUEUES), part), what, target, scale)
        yield Figure(CASE, figure.what, figure.median, figure.best, figure.unit, target, None, figure.repeats)
    yield from measure_sorting()
    yield from measure_week(setting)


def with_order(scenario: Scenario, part: Any) -> Scenario:
    """The same scenario with another order."""
    cluster = scenario.clusters[0]
    scheduler = cluster.scheduler.model_copy(update={"order": Part.model_validate(part)})
    return scenario.model_copy(update={"clusters": (cluster.model_copy(update={"scheduler": scheduler}),)})


def measure_sorting() -> Iterator[Figure]:
    """Putting n waiting jobs in order anew: by other places of 100 users, and at random.

    Told are the steps of sorting (entries written) for each job, of which n log n allows 16, and the time: sixteen
    times as many jobs may take 16 x (log 16 n / log n) = 21.3 times as long, and half as much again, as 4,000 jobs are
    in the nearest caches and 64,000 are not.
    """
    few, many = 4_000, 64_000
    for what, users in (("100 users", 100), ("everybody anew", 0)):
        (_, first), (steps, second) = _sorting_cost(few, users), _sorting_cost(many, users)
        yield Figure(CASE, f"steps a job, sorting 64,000, {what}", steps, steps, "steps", at_most(16), None, 1)
        yield Figure(
            CASE, f"sorting 64,000 waiting jobs, {what}", 1000 * second, 1000 * second, "CPU ms", None, None, 1
        )
        growth = second / first
        text = f"sorting 64,000 waiting jobs over 4,000, {what}"
        yield Figure(CASE, text, growth, growth, "x", at_most(1.5 * 16 * 16 / 12), None, 1)


def _sorting_cost(size: int, users: int) -> tuple[float, float]:
    """Steps for each job, and CPU seconds, of one re-ordering, the mean of several."""
    random = stream(1, "benchmark.sorting")
    jobs = JobTable()
    queue = OrderedQueue(jobs, 4096)
    for _ in range(size):
        queue.push(jobs.add(0, 0, int(random.integers(1, 1000)), int(random.integers(1, 4096))))
    queue.find(4096, 0, 500, -1, NEVER)  # so that there is an index
    owner = random.integers(0, users or size, size)
    rounds = max(10, 200_000 // size)
    spent = steps = 0.0
    for number in range(rounds + 1):
        before = queue.sorter.moves
        jobs.key[:size] = random.permutation(users or size)[owner]
        begin = time.process_time()
        queue.reorder()
        if number:  # the first time all come as they were submitted, into fresh memory
            spent += time.process_time() - begin
            steps += queue.sorter.moves - before
    return steps / rounds / size, spent / rounds


def measure_week(setting: Setting) -> Iterator[Figure]:
    """A week of a machine like Edison, by age and size, 50 reservations; and where its time goes."""
    jobs = week_jobs()
    factors = {"name": "multifactor", "weights": {"age": 10_000, "job_size": 1_000}, "favor_small": True}
    fair = factors | {"weights": {"age": 10_000, "job_size": 1_000, "fairshare": 5_000}}
    often = {"name": "periodic", "bf_interval": 30, "bf_max_job_test": 50}
    deep = {"name": "depth", "depth": 50}
    for what, order, backfill, target in (
        ("age + small jobs, depth 50 every 30 s", factors, deep, at_most(0.25)),
        ("the same with fair share", fair, deep, None),
        ("age + small jobs, no backfilling", factors, "none", None),
    ):
        scheduler = {"order": order, "backfill": backfill, "rhythm": often}
        cluster = {"nodes": f"{NODES}x{CORES}", "sharing": "whole", "scheduler": scheduler}
        make = partial(parse, {"workload": {"table": jobs}, "cluster": cluster}, [])
        timing, record = setting.time(make, partial(native.run, workload=jobs))
        wait = float(record.jobs["wait"].mean()) / 3600
        text = f"week, {what} (wait {wait:.1f} h, queue to {record.facts['longest_queue']:,})"
        yield Figure(CASE, text, timing.median, timing.best, "CPU s", target, None, setting.repeats)
