"""Sites on which one thing is asked for, or several together, in the words of both engines.

A feature adds to the jobs and to the cluster of a plain site: 200 jobs, first come, first served.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from slurm_sites import SIZES, draw_jobs, make_partitions, minutes, scheduler

from walltime import Workload

GIGABYTE = 10**9
Columns, Cluster = dict[str, list[Any]], dict[str, Any]
ROOM = {"p0": 0.7, "p1": 0.8, "p2": 0.5, "p3": 1.0, "p4": 0.2}
LONGEST = {"p1": 7200, "p4": 14_400}
MIXTURES = (
    "five+several queues",
    "array+five+shares",
    "memory+nodes+exclusive",
    "gpus+closed+begin",
    "begin+cancel+late",
    "constraint+closed",
    "qos+memory+five",
    "failures+five+qos",
    "memory+five+licences+dependencies+shares+limits+closed",
)


class Draft:
    """A site that features are added to."""

    def __init__(self, site: int, seed: int, jobs: int) -> None:
        self.nodes, self.cores, load = SIZES[site % len(SIZES)]
        self.draw = random.Random(f"features {site} {seed}")
        self.columns: Columns = draw_jobs(self.draw, self.nodes, self.cores, load, jobs)
        self.span = self.columns["submit"][-1]
        group = {"count": self.nodes, "cores": self.cores, "name": "n"}
        self.cluster: Cluster = {"nodes": [group], "scheduler": scheduler("fcfs")}

    @property
    def rows(self) -> range:
        return range(len(self.columns["submit"]))

    def choose(self, *choices: Any) -> list[Any]:
        """One of these for each job."""
        return [self.draw.choice(choices) for _ in self.rows]

    def narrow(self, row: int, cores: int) -> None:
        self.columns["cores"][row] = min(self.columns["cores"][row], cores)

    def split(self, first: Cluster, others: Cluster, count: int) -> None:
        """So many of the nodes are of one kind, the others of another one."""
        groups = ({"count": count, "name": "a"} | first, {"count": self.nodes - count, "name": "n"} | others)
        self.cluster["nodes"] = [{"cores": self.cores} | group for group in groups]


def _five(site: Draft) -> None:
    queues = make_partitions(site.nodes)
    site.cluster["queues"] = queues
    columns = site.columns
    columns["queue"] = site.choose(*queues)
    for row, queue in enumerate(columns["queue"]):
        site.narrow(row, int(site.nodes * ROOM[queue]) * site.cores // 2)
        columns["requested_time"][row] = min(columns["requested_time"][row], LONGEST.get(queue, 1 << 30))
        columns["run_time"][row] = min(columns["run_time"][row], columns["requested_time"][row])


def _several_queues(site: Draft) -> None:
    queues = site.columns["queue"]
    site.columns["queue"] = [one if site.draw.random() < 0.5 else ",".join(sorted({one, "p3"})) for one in queues]


def _memory(site: Draft) -> None:
    site.cluster["nodes"][0]["memory"] = "64GB"
    site.columns["memory_per_core"] = [GIGABYTE * size for size in site.choose(1, 2, 4, 8, 12)]
    for row, memory in enumerate(site.columns["memory_per_core"]):
        if memory > 8 * GIGABYTE:
            site.narrow(row, 4)


def _nodes(site: Draft) -> None:
    columns = site.columns
    columns["nodes"] = site.choose(None, None, 1, 2)
    columns["cores_per_node"] = [nodes and site.draw.randint(1, site.cores) for nodes in columns["nodes"]]
    for row, (nodes, each) in enumerate(zip(columns["nodes"], columns["cores_per_node"], strict=True)):
        columns["cores"][row] = nodes * each if nodes else columns["cores"][row]


def _gpus(site: Draft) -> None:
    site.split({"gpus": 4}, {}, site.nodes // 4)
    site.columns["gpus"] = site.choose(0, 0, 0, 1, 2, 4)
    for row, cards in enumerate(site.columns["gpus"]):
        if cards:
            site.narrow(row, site.cores)


def _constraint(site: Draft) -> None:
    site.split({"features": ["ib"]}, {"features": ["eth", "big"]}, site.nodes // 2)
    site.columns["constraint"] = site.choose("", "", "ib", "big", "eth&big")
    for row, text in enumerate(site.columns["constraint"]):
        if text:
            site.narrow(row, site.nodes * site.cores // 4)


def _licences(site: Draft) -> None:
    site.cluster["licences"] = {"matlab": 6}
    site.columns["licences"] = site.choose("", "", "", "matlab:1", "matlab:3")


def _dependencies(site: Draft) -> None:
    draw = site.draw
    site.columns["job_id"] = [row + 1 for row in site.rows]
    site.columns["dependencies"] = [
        "" if row < 5 or draw.random() < 0.7 else f"afterany:{draw.randint(max(1, row - 30), row)}" for row in site.rows
    ]


def _array(site: Draft) -> None:
    """Some jobs are tasks of arrays of 5 or 12."""
    columns, row = site.columns, 0
    columns["array"] = [""] * len(site.rows)
    while row < len(site.rows):
        size = min(site.draw.choice([1, 1, 1, 5, 12]), len(site.rows) - row)
        for task in range(row, row + size) if size > 1 else ():
            for name in set(columns) - {"run_time", "array", "job_id"}:
                columns[name][task] = columns[name][row]
            columns["array"][task] = str(row + 1)
            columns["run_time"][task] = min(columns["run_time"][task], columns["requested_time"][row])
        row += size


def _shares(site: Draft) -> None:
    weights = {"age": 1000, "fairshare": 100_000}
    order = {"name": "multifactor", "weights": weights, "fairshare": {"half_life": "1d"}}
    site.cluster["scheduler"]["order"] = order
    site.cluster["shares"] = {"ann": 4, "bo": 2}


def _limits(site: Draft) -> None:
    most = site.nodes * site.cores // 3
    site.cluster["limits"] = [{"per": "user", "running_cores": most}, {"per": "user", "running_jobs": 8}]


def _qos(site: Draft) -> None:
    site.columns["qos"] = site.choose("normal", "normal", "normal", "urgent")
    site.cluster["scheduler"]["preempt"] = {"name": "qos", "ranks": {"urgent": 1}}
    site.cluster["requeue_delay"] = 121


def _closed(site: Draft) -> None:
    window = {"name": "m", "start": minutes(site.span / 3), "length": "2h", "count": site.nodes // 4}
    site.cluster["reservations"] = [window]


def _failures(site: Draft) -> None:
    outages = (("n[0-3]", 3000, "1h"), ("n[6-7]", 9000, "2h"))
    site.cluster["failures"] = [
        {"nodes": nodes, "at": at, "length": length, "known": False} for nodes, at, length in outages
    ]


def _begin(site: Draft) -> None:
    draw, submit = site.draw, site.columns["submit"]
    site.columns["begin"] = [None if draw.random() < 0.7 else time + draw.randrange(7200) for time in submit]


def _cancel(site: Draft) -> None:
    draw, submit = site.draw, site.columns["submit"]
    site.columns["cancel"] = [None if draw.random() < 0.9 else time + draw.randrange(20_000) for time in submit]


def _late(site: Draft) -> None:
    """Half of the jobs come to their limit."""
    parts = site.choose(0.5, 1.0, 1.0, 1.5)
    asked = site.columns["requested_time"]
    site.columns["run_time"] = [int(time * part) for time, part in zip(asked, parts, strict=True)]


def _whole(site: Draft) -> None:
    site.cluster["sharing"] = "whole"


def _exclusive(site: Draft) -> None:
    site.columns["exclusive"] = [int(site.draw.random() < 0.3) for _ in site.rows]


def _submission(site: Draft) -> None:
    site.cluster["scheduler"]["order"] = "submission"


FEATURES: dict[str, Callable[[Draft], None]] = {
    "memory": _memory,
    "nodes": _nodes,
    "gpus": _gpus,
    "constraint": _constraint,
    "five": _five,
    "several queues": _several_queues,
    "whole": _whole,
    "exclusive": _exclusive,
    "licences": _licences,
    "dependencies": _dependencies,
    "begin": _begin,
    "submission": _submission,
    "cancel": _cancel,
    "late": _late,
    "array": _array,
    "shares": _shares,
    "limits": _limits,
    "qos": _qos,
    "closed": _closed,
    "failures": _failures,
}
ALONE = tuple(name for name in FEATURES if name not in ("several queues", "submission"))
ROWS = (*ALONE, "dependencies+submission", "begin+submission", *MIXTURES)


def make_features(names: str, site: int, seed: int, jobs: int = 200) -> tuple[Workload, Cluster]:
    """The jobs and the cluster of a site with these features, with + between their names."""
    made = Draft(site, seed, jobs)
    chosen = names.split("+")
    for name in FEATURES:
        if name in chosen:
            FEATURES[name](made)
    return Workload.from_columns(**made.columns), made.cluster
