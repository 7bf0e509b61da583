"""Sites of four kinds with a log each, drawn from a seed, in the words of both engines.

`one` has one partition; `five` has five that overlap, with tiers, limits and fair share; `gpus` has nodes with GPUs,
qualities of service and preemption; `closed` is as `one`, with reservations that no job may use: of all nodes and of a
quarter, of one half early or late, or of a quarter every hour. The number of a site chooses its size and load; the seed
draws its jobs.
A micro-cluster is a few jobs, in which single seconds are seen.
"""

from __future__ import annotations

import random
from typing import Any

from walltime import Workload

KINDS = ("one", "five", "gpus", "closed")
USERS = ("ann", "bo", "cy", "di", "eve", "flo")
SIZES = ((16, 8, 1.1), (24, 16, 1.4), (20, 8, 1.8), (32, 12, 1.25))
"""By the number of the site: nodes, cores of each, and the load while jobs come, above one: it has to wait."""


def make_site(kind: str, site: int, seed: int, jobs: int = 200) -> tuple[Workload, dict[str, Any]]:
    """The jobs and the cluster of a site."""
    nodes, cores, load = SIZES[site % len(SIZES)]
    draw = random.Random(f"{kind} {site} {seed}")
    make = {"one": _make_one, "five": _make_five, "gpus": _make_gpus, "closed": _make_closed}[kind]
    return make(draw, nodes, cores, load, jobs)


def make_micro(seed: int) -> tuple[Workload, dict[str, Any]]:
    """A micro-cluster: 20 jobs of seconds to minutes on 10 nodes, within five minutes."""
    draw = random.Random(f"micro {seed}")
    rows = []
    for _ in range(20):
        run = draw.choice([draw.randint(5, 60), draw.randint(60, 300)])
        asked = 60 * (int(run * draw.uniform(1, 3)) // 60 + 1)
        rows.append((draw.randrange(300), run, asked, draw.choice([1, 1, 2, 3, 5, 8])))
    submit, run_time, requested, nodes = (list(column) for column in zip(*sorted(rows), strict=True))
    columns = {"submit": submit, "run_time": run_time, "requested_time": requested, "cores": nodes, "nodes": nodes}
    return Workload.from_columns(**columns), {"nodes": "10x1", "scheduler": scheduler("fcfs")}


def draw_jobs(draw: random.Random, nodes: int, cores: int, load: float, jobs: int) -> dict[str, list[Any]]:
    """Sizes, lengths and arrivals: whole minutes are asked for, up to four times too many."""
    size = [min(draw.choice([1, 1, 2, 4, cores, 2 * cores, 4 * cores]), nodes * cores // 2) for _ in range(jobs)]
    run = [30 * draw.randint(1, 110) for _ in range(jobs)]
    work = sum(a * b for a, b in zip(size, run, strict=True))
    span = int(work / (nodes * cores * load))
    return {
        "submit": sorted(draw.randrange(span) for _ in range(jobs)),
        "run_time": run,
        "requested_time": [60 * (int(length * draw.uniform(1, 4)) // 60 + 1) for length in run],
        "cores": size,
        "user": [draw.choice(USERS) for _ in range(jobs)],
    }


def scheduler(order: Any) -> dict[str, Any]:
    return {"order": order, "backfill": "conservative", "rhythm": "slurm"}


def _make_one(draw: random.Random, nodes: int, cores: int, load: float, jobs: int) -> tuple[Workload, dict[str, Any]]:
    columns = draw_jobs(draw, nodes, cores, load, jobs)
    return Workload.from_columns(**columns), {"nodes": f"{nodes}x{cores}", "scheduler": scheduler("fcfs")}


def make_partitions(nodes: int, tiers: bool = True) -> dict[str, dict[str, Any]]:
    """Five partitions on overlapping parts of the nodes: of the last the tier is higher, two have a time limit."""
    part = [round(nodes * share) - 1 for share in (0.7, 0.2, 0.5, 0.2)]
    queues: dict[str, dict[str, Any]] = {
        "p0": {"nodes": [f"n[0-{part[0]}]"], "default": True},
        "p1": {"nodes": [f"n[{part[1] + 1}-{nodes - 1}]"]},
        "p2": {"nodes": [f"n[{part[2] + 1}-{nodes - 1}]"]},
        "p3": {},
        "p4": {"nodes": [f"n[0-{part[3]}]"]},
    }
    if tiers:
        queues["p1"] |= {"max_time": "2h"}
        queues["p4"] |= {"max_time": "4h", "priority": 1}
    return queues


def _make_five(draw: random.Random, nodes: int, cores: int, load: float, jobs: int) -> tuple[Workload, dict[str, Any]]:
    columns = draw_jobs(draw, nodes, cores, load, jobs)
    queues = make_partitions(nodes)
    room = {"p0": 0.7, "p1": 0.8, "p2": 0.5, "p3": 1.0, "p4": 0.2}
    longest = {"p1": 7200, "p4": 14_400}
    columns["queue"] = [draw.choice(list(queues)) for _ in range(jobs)]
    for row, queue in enumerate(columns["queue"]):
        columns["cores"][row] = min(columns["cores"][row], int(nodes * room[queue]) * cores // 2)
        columns["requested_time"][row] = min(columns["requested_time"][row], longest.get(queue, 1 << 30))
        columns["run_time"][row] = min(columns["run_time"][row], columns["requested_time"][row])
    order = {"name": "multifactor", "weights": {"age": 1000, "fairshare": 100_000}, "fairshare": {"half_life": "1d"}}
    cluster = {
        "nodes": f"{nodes}x{cores}",
        "queues": queues,
        "shares": {"ann": 4, "bo": 2},
        "limits": [{"per": "user", "running_cores": nodes * cores // 3}],
        "scheduler": scheduler(order),
    }
    return Workload.from_columns(**columns), cluster


def _make_gpus(draw: random.Random, nodes: int, cores: int, load: float, jobs: int) -> tuple[Workload, dict[str, Any]]:
    columns = draw_jobs(draw, nodes, cores, load, jobs)
    quarter = nodes // 4
    columns["gpus"] = [draw.choice([0, 0, 0, 1, 2, 4]) for _ in range(jobs)]
    for row, cards in enumerate(columns["gpus"]):
        if cards:
            columns["cores"][row] = min(columns["cores"][row], cores)
    columns["qos"] = [draw.choice(["normal", "normal", "normal", "urgent"]) for _ in range(jobs)]
    cluster = {
        "nodes": [
            {"count": quarter, "cores": cores, "gpus": 4, "name": "g"},
            {"count": nodes - quarter, "cores": cores},
        ],
        "requeue_delay": 121,
        "scheduler": scheduler("fcfs") | {"preempt": {"name": "qos", "ranks": {"urgent": 1}}},
    }
    return Workload.from_columns(**columns), cluster


def _make_closed(
    draw: random.Random, nodes: int, cores: int, load: float, jobs: int
) -> tuple[Workload, dict[str, Any]]:
    columns = draw_jobs(draw, nodes, cores, load, jobs)
    span = columns["submit"][-1]
    half, begin = nodes // 2, draw.randrange(2) * nodes // 2
    windows = {
        16: [
            {"start": minutes(span * 2 / 5), "length": "1h", "count": nodes},
            {"start": minutes(span * 4 / 5), "length": "2h", "nodes": [f"n[{begin}-{begin + half // 2 - 1}]"]},
        ],
        24: [{"start": minutes(span / 5), "length": "4h", "nodes": [f"n[{begin}-{begin + half - 1}]"]}],
        20: [{"start": minutes(span), "length": "2h", "nodes": [f"n[{begin}-{begin + half - 1}]"]}],
        32: [{"start": minutes(span / 10), "length": "20m", "every": "1h", "times": 8, "count": half // 2}],
    }
    reservations = [window | {"name": f"m{number}"} for number, window in enumerate(windows[nodes])]
    cluster = {"nodes": f"{nodes}x{cores}", "reservations": reservations, "scheduler": scheduler("fcfs")}
    return Workload.from_columns(**columns), cluster


def minutes(seconds: float) -> int:
    return 60 * int(seconds // 60)
