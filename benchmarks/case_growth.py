"""How the cost of a job grows when what it grows with is doubled three times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import walltime
from benchmarks import case_centre, case_hosts, case_nodes, case_rhythm, case_site
from benchmarks.case_conservative import build, loosened
from benchmarks.case_fairshare import with_order
from benchmarks.engines import run_through
from benchmarks.figures import Figure
from benchmarks.measuring import time_calls
from benchmarks.setting import Setting
from benchmarks.workloads import POOL, backlog
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.explaining import explain
from walltime.scenario import Scenario, parse

CASE = "growth"
DOUBLINGS = (1, 2, 4, 8)
REPEATS = 1
FAIR = {"name": "fairshare", "interval": 60}
RHYTHM = {"name": "slurm", "bf_interval": 30, "bf_max_job_test": 10_000}


def measure(setting: Setting) -> Iterator[Figure]:
    """Microseconds of CPU time for a job, the longest queue beside it; of `explain`, the multiple of a run."""
    cases: dict[str, Callable[[int], tuple[float, str]]] = {
        "conservative on cores, by the queue": conservative_cores,
        "conservative on 139 nodes, by the queue": partial(on_nodes, "conservative"),
        "EASY on 139 nodes, by the queue": partial(on_nodes, "easy"),
        "EASY on nodes, by the nodes": easy_by_nodes,
        "tasks on hosts, by the hosts": by_hosts,
        "fair share of a large site, by the users": by_users,
        "Slurm's rhythm, by the queue": rhythm_by_queue,
        "explain over a run, in Slurm's rhythm, by the queue": explain_by_queue,
    }
    for what, case in cases.items():
        for times in DOUBLINGS:
            value, size = case(times)
            yield Figure(CASE, f"{what}: {size}", value, value, "x" if "explain" in what else "us", repeats=REPEATS)


def conservative_cores(times: int) -> tuple[float, str]:
    """A backlog on 1,024 cores."""
    jobs = backlog(600 * times, 400 * times, 1.0)
    timing, simulation = time_calls(partial(build, jobs, POOL), run_through, REPEATS)
    return 1e6 * timing.best / len(jobs), f"queue to {simulation.clusters[0].longest_queue:,}"


def on_nodes(backfill: str, times: int) -> tuple[float, str]:
    """Jobs for nodes that come much faster than they are served."""
    jobs = loosened(case_nodes.node_jobs(400 * times, 139, "shaped", 6.0, widest=9))
    return run(case_nodes.make_scenario(jobs, 139, backfill=backfill), jobs)


def easy_by_nodes(times: int) -> tuple[float, str]:
    """As many jobs for each node, at the same load."""
    nodes = 250 * times
    jobs = case_nodes.node_jobs(20 * nodes, nodes, "shaped", case_nodes.LOAD)
    cost, queue = run(case_nodes.make_scenario(jobs, nodes), jobs)
    return cost, f"{nodes:,} nodes, {queue}"


def by_hosts(times: int) -> tuple[float, str]:
    """Tasks with memory, as many for each host."""
    hosts = 500 * times
    jobs = case_hosts.tasks(20 * hosts, case_hosts.LOAD * hosts / case_hosts.HOSTS)
    timing, _ = time_calls(partial(case_hosts.build, jobs, "best-fit", "none", hosts), run_through, REPEATS)
    return 1e6 * timing.best / len(jobs), f"{hosts:,} hosts"


def by_users(times: int) -> tuple[float, str]:
    """The same jobs of a large site, of more and more users."""
    jobs = case_site.site_jobs(60_000, load=3.0)
    users = 180 * times
    jobs = jobs.replace(jobs.columns | {"user": (jobs.columns["user"] % users).astype(np.int32)})
    cost, queue = run(with_order(case_site.make_site(jobs, queues=0, groups=0), FAIR), jobs)
    return cost, f"{users:,} users, {queue}"


def rhythm_by_queue(times: int) -> tuple[float, str]:
    """Jobs for whole nodes of a machine that is asked for half as much again, a cycle every 30 s with no bound on the
    jobs that it tries."""
    jobs = case_rhythm.week_jobs(500 * times, load=1.5)
    scheduler = {"backfill": "easy", "rhythm": RHYTHM}
    cluster = {"nodes": f"{case_rhythm.NODES}x{case_rhythm.CORES}", "sharing": "whole", "scheduler": scheduler}
    return run(parse({"workload": {"table": jobs}, "cluster": cluster}, []), jobs)


def explain_by_queue(times: int) -> tuple[float, str]:
    """The longest wait on the site of `examples/centre`."""
    jobs = case_centre.centre_jobs(300 * times)
    scenario = case_centre.make_centre(jobs, None)
    timing, result = time_calls(lambda: scenario, walltime.simulate, REPEATS)
    longest = int(result.jobs["job_id"][int(result.jobs["wait"].fill_null(-1).arg_max() or 0)])
    told, _ = time_calls(lambda: result, partial(explain, job=longest), REPEATS)
    return told.best / timing.best, f"queue to {result.record.facts['longest_queue']:,}"


def run(scenario: Scenario, jobs: Workload) -> tuple[float, str]:
    """Microseconds a job, tables included, and the longest queue."""
    timing, record = time_calls(lambda: scenario, partial(native.run, workload=jobs), REPEATS)
    facts: dict[str, Any] = record.facts
    return 1e6 * timing.best / len(jobs), f"queue to {facts['longest_queue']:,}"
