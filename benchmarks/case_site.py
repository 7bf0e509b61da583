"""A month of a large high-throughput site: 2.7 million jobs on 1,400 nodes, with queues, caps and quotas."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, at_most
from benchmarks.setting import Setting
from walltime.core.random import stream
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import Scenario, parse

CASE = "site"
MONTH_JOBS = 2_700_000
NODES: list[dict[str, Any]] = [{"count": 1376, "cores": 24, "name": "a"}, {"count": 24, "cores": 18, "name": "b"}]
CORES = 1376 * 24 + 24 * 18  # 33,456
QUEUES = ("2h", "4h", "8h", "16h", "1d", "2d", "4d", "1w", "2w", "grid")
HOURS = (2, 4, 8, 16, 24, 48, 96, 168, 336, 48)
GROUPS, USERS = 200, 1_500
DAY = 86_400


def measure(setting: Setting) -> Iterator[Figure]:
    """The month with its rules, without them, and what the cost grows with."""
    jobs = site_jobs(setting.jobs * 27 // 10)
    scale = MONTH_JOBS / len(jobs)
    what = "10 queues with caps, 200 groups with quotas"
    with_rules = seconds(setting, jobs, make_site(jobs), what, at_most(60), scale)
    yield with_rules
    without = seconds(setting, jobs, make_site(jobs, queues=0, groups=0), "without rules", None, scale)
    yield without
    ratio = with_rules.median / without.median
    yield Figure(CASE, "rules on over rules off", ratio, ratio, "x", at_most(4), None, with_rules.repeats)
    yield from measure_growth(setting)


def measure_growth(setting: Setting) -> Iterator[Figure]:
    """The cost of a job by what there is more of; at most in proportion to it."""
    few = site_jobs(setting.jobs // 4)
    crowded = site_jobs(setting.jobs // 4, load=1.05)
    spread = site_jobs(setting.jobs, load=4 * 0.97)  # as many for each node
    cases = {
        "5 queues to 40": (make_site(few, queues=5), make_site(few, queues=40), 8),
        "50 groups with quotas to 200": (make_site(few, groups=50), make_site(few), 4),
        "1,400 nodes to 5,600": (make_site(few), make_site(spread, machines=4), 4),
        "load 0.97 to 1.05": (make_site(few), make_site(crowded), None),
    }
    for what, (first, second, factor) in cases.items():
        costs, queues = [], []
        for scenario in (first, second):
            workload = scenario.workload.table
            timing, record = setting.time(lambda made=scenario: made, partial(native.run, workload=workload))
            costs.append(timing.median / len(workload))
            queues.append(record.facts["longest_queue"])
        factor = factor or max(1.0, queues[1] / queues[0])
        text = f"cost of a job, {what} (queue to {queues[0]:,} and {queues[1]:,})"
        yield Figure(CASE, text, costs[1] / costs[0], costs[1] / costs[0], "x", at_most(factor), None, setting.repeats)


def seconds(setting: Setting, jobs: Workload, scenario: Scenario, what: str, target: Any, scale: float) -> Figure:
    """CPU seconds of the month; a shorter run is scaled up to it."""
    timing, record = setting.time(lambda: scenario, partial(native.run, workload=jobs))
    queue = record.facts["longest_queue"]
    text = f"{len(jobs):,} jobs, {what} (queue to {queue:,}), scaled to a month"
    return Figure(CASE, text, timing.median * scale, timing.best * scale, "CPU s", target, None, setting.repeats)


def site_jobs(jobs: int, load: float = 0.97) -> Workload:
    """Jobs as such a site has them: seven of ten serial, the others on some cores of one node; more by day."""
    draw = stream(1, "benchmark.site")
    cores = np.where(draw.random(jobs) < 0.7, 1, draw.choice([2, 4, 8, 12, 16], jobs, p=[0.3, 0.25, 0.3, 0.1, 0.05]))
    user = np.minimum((USERS * draw.random(jobs) ** 2.5).astype(np.int64), USERS - 1)  # few users have most of the jobs
    group = user % GROUPS
    run = np.clip(draw.lognormal(np.log(5_000), 1.4, jobs), 10, 13 * DAY).astype(np.int64)
    asked = np.minimum(np.ceil(run * (1 + draw.exponential(2.0, jobs)) / 600) * 600, 14 * DAY).astype(np.int64)
    length = float((cores * run).sum()) / (load * CORES)
    moments = np.sort(draw.random(jobs)) * length
    moments += 0.15 * DAY * np.sin(2 * np.pi * moments / DAY) + 0.3 * DAY  # crowded by day
    queue = np.searchsorted(np.array(HOURS[:9]) * 3600, asked)
    queue = np.where((group % 10 == 0) & (asked <= HOURS[9] * 3600), 9, queue)
    columns = {
        "submit": np.sort(moments * SECOND).astype(np.int64),
        "run_time": run * SECOND,
        "requested_time": np.maximum(asked, run) * SECOND,
        "cores": cores.astype(np.int64),
        "nodes": np.where(cores > 1, 1, -1).astype(np.int64),
        "user": user.astype(np.int32),
        "group": group.astype(np.int32),
        "queue": queue.astype(np.int32),
    }
    labels = {
        "user": [f"u{number}" for number in range(USERS)],
        "group": [f"g{number}" for number in range(GROUPS)],
        "queue": list(QUEUES),
    }
    return Workload(columns, labels)


def make_site(jobs: Workload, queues: int = len(QUEUES), groups: int = GROUPS, machines: int = 1) -> Scenario:
    """The site, or some times as many nodes: queues by length, the longer ones with tighter caps, a quota a group."""
    cluster: dict[str, Any] = {"nodes": [group | {"count": group["count"] * machines} for group in NODES]}
    if queues:
        cluster["queues"] = {
            name: {
                "priority": 10 - number,
                "max_time": f"{HOURS[number]}h",
                "running_cores": machines * (CORES - 2_500 * number if number < 9 else CORES // 3),
                "per_user": {"running_cores": 4_000},
            }
            for number, name in enumerate(QUEUES)
        }
    if queues and queues != len(QUEUES):  # more or fewer of them: users are dealt over as many queues as there are
        cluster["queues"] = {
            f"q{number}": {"priority": number, "running_cores": CORES, "per_user": {"running_cores": 4_000}}
            for number in range(queues)
        }
        dealt = [
            {"queue": f"q{number}", "users": [f"u{user}" for user in range(number, USERS, queues)]}
            for number in range(queues)
        ]
        cluster["routes"] = dealt
    if groups:
        share = np.bincount(jobs.column("group"), jobs.column("cores") * jobs.column("run_time"), GROUPS)
        share = share / share.sum()
        cluster["limits"] = [
            {
                "group": f"g{number}",
                "running_cores": int(24 + 1.02 * machines * CORES * share[number]),
                "optional": True,
            }
            for number in range(groups)
        ]
    return parse({"workload": {"table": jobs}, "cluster": cluster}, [])
