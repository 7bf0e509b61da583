"""Policies as a user writes them, in plain Python on the compiled engine, against the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.engines import build_simulation, find_starts, require_same, run_through
from benchmarks.figures import Figure, at_least, at_most, speed
from benchmarks.setting import Setting
from benchmarks.workloads import random_jobs
from walltime.policy.api import Policy

CASE = "python"
LOAD = 0.95
FCFS = at_least(0.5)
EASY = at_most(1.3)


class PythonFcfs(Policy):
    """First come, first served."""

    def schedule(self, p: Any) -> int:
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)
        return 0


class PythonEasy(Policy):
    """EASY backfilling, planned anew in each pass."""

    def __init__(self) -> None:
        self.lazy = True

    def schedule(self, p: Any) -> None:
        p.release()
        head = p.start_heads()
        if head >= 0:
            p.reserve(head)
            p.start_candidates()


class PythonEasyByJob(Policy):
    """The same in every pass, and job by job: what a policy costs that looks at each of them."""

    def schedule(self, p: Any) -> int:
        p.release()
        while (job := p.head()) >= 0 and p.fits(job):
            p.start(job)
        if job >= 0:
            p.reserve(job)
            while (job := p.candidate()) >= 0:
                p.start(job)
        return 0


def measure(setting: Setting) -> Iterator[Figure]:
    """Jobs per second of each, and how much slower than compiled; the start times must be the same."""
    jobs = random_jobs(setting.jobs, LOAD)
    for name, own in (("fcfs", PythonFcfs), ("easy", PythonEasy), ("easy", PythonEasyByJob)):
        compiled, built_in = setting.time(partial(build_simulation, jobs, name), run_through)
        timing, simulation = setting.time(partial(build_simulation, jobs, own()), run_through)
        require_same(find_starts(simulation), find_starts(built_in), f"{own.__name__} and {name}")
        yield speed(CASE, f"{own.__name__}, load {LOAD}", len(jobs), timing, FCFS if name == "fcfs" else None)
        what = f"{own.__name__}: time over that of the compiled {name}"
        slower, at_best = timing.median / compiled.median, timing.best / compiled.best
        target = EASY if own is PythonEasy else None
        yield Figure(CASE, what, slower, at_best, "x", target, None, setting.repeats)
