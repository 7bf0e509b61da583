"""How far policies are from the best possible schedule, on instances small enough to try every one.

    python tools/optimum.py [INSTANCES]

prints the table of docs/background/optimum.md: some hundred random instances of six or seven jobs on four to eight
cores, exact requests, each under every policy, against the smallest mean wait that any schedule has.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np

import walltime
from walltime.core.random import stream
from walltime.policy import registry

Job = tuple[int, int, int]
"""Submission, cores, run time."""

INSTANCES = 300


def draw_instance(number: int) -> tuple[list[Job], int]:
    """Jobs that compete: all within a few seconds, on a machine that holds two or three of them."""
    random = stream(number, "optimum")
    size, cores = int(random.integers(6, 8)), int(random.integers(4, 9))
    submit = np.sort(random.integers(0, 8, size))
    submit[0] = 0
    wide, run = random.integers(1, cores + 1, size), random.integers(1, 11, size)
    return list(zip(submit.tolist(), wide.tolist(), run.tolist(), strict=True)), cores


def find_earliest(job: Job, placed: Sequence[tuple[int, int, int]], cores: int) -> int:
    """The first start at which the job fits among those placed, each as (start, end, cores)."""
    submit, size, run = job
    for start in sorted({submit} | {end for _, end, _ in placed if end > submit}):
        steps = [start] + [other for other, _, _ in placed if start < other < start + run]
        if all(sum(c for s, e, c in placed if s <= step < e) + size <= cores for step in steps):
            return start
    raise AssertionError("a job fits behind all others at the latest")


def find_optimum(jobs: Sequence[Job], cores: int) -> int:
    """The least sum of waits that any schedule has, one that knows the future included.

    Placing jobs one after the other, each at its earliest fit, gives for some sequence a best schedule: in a best one
    no job can start earlier while the others stay. All sequences are tried; one that cannot become better is given
    up, since a job's earliest fit only moves later as others are placed.
    """
    best = [sum(start - jobs[i][0] for i, (start, _, _) in enumerate(_place(jobs, cores)))]

    def search(left: frozenset[int], placed: list[tuple[int, int, int]], waited: int) -> None:
        if not left:
            best[0] = min(best[0], waited)
            return
        starts = {i: find_earliest(jobs[i], placed, cores) for i in left}
        if waited + sum(starts[i] - jobs[i][0] for i in left) >= best[0]:
            return
        for i in sorted(left, key=lambda i: (starts[i], jobs[i][2])):
            start = starts[i]
            search(left - {i}, [*placed, (start, start + jobs[i][2], jobs[i][1])], waited + start - jobs[i][0])

    search(frozenset(range(len(jobs))), [], 0)
    return best[0]


def _place(jobs: Sequence[Job], cores: int) -> list[tuple[int, int, int]]:
    """All jobs at their earliest fit in the given sequence: a schedule to begin with."""
    placed: list[tuple[int, int, int]] = []
    for job in jobs:
        start = find_earliest(job, placed, cores)
        placed.append((start, start + job[2], job[1]))
    return placed


def simulate(jobs: Sequence[Job], cores: int, policy: str) -> int:
    """The sum of waits under a policy."""
    submit, size, run = zip(*jobs, strict=True)
    table = walltime.Workload.from_columns(submit=submit, cores=size, run_time=run, requested_time=run)
    return round(walltime.simulate(table, cores=cores, policy=policy).jobs["wait"].sum())


def measure(instances: int) -> Iterator[tuple[str, float, float, float]]:
    """For each preset: its mean wait, that over the optimum's, and the share of instances where it is the best."""
    drawn = [draw_instance(number) for number in range(instances)]
    best = [find_optimum(*instance) for instance in drawn]
    total = sum(len(jobs) for jobs, _ in drawn)
    yield "the optimum", sum(best) / total, 1.0, 1.0
    for preset in registry.presets():
        waits = [simulate(*instance, preset.name) for instance in drawn]
        optimal = sum(wait == least for wait, least in zip(waits, best, strict=True)) / instances
        yield preset.name, sum(waits) / total, sum(waits) / sum(best), optimal


def table(instances: int) -> str:
    """The page's table, the best policy first."""
    lines = ["| policy | mean wait (s) | times the optimum | optimal instances |", "|---|---|---|---|"]
    for name, wait, over, share in sorted(measure(instances), key=lambda row: (row[1], row[0] != "the optimum")):
        lines.append(f"| {name} | {wait:.2f} | {over:.2f} | {share:.0%} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(int(sys.argv[1]) if sys.argv[1:] else INSTANCES), end="")
