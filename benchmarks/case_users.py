"""Users who react: what a closed loop costs beside a replay of the same log, from the table of jobs to the summary; and
what more users cost."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.setting import Setting
from walltime import api
from walltime.core.random import stream
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import parse

CASE = "users"
USERS = 1000
CORES = 900
"""As many as the jobs need at 95 %."""


GROWTH = (10, 100, 1_000, 10_000)
"""Users among whom the same jobs are divided."""


def make_log(size: int, users: int = USERS) -> Workload:
    """Jobs of so many users at random times, ten minutes each in the mean, after a wait of five."""
    random = stream(1, "benchmark.users")
    run = random.exponential(600, size).round(3)
    return Workload.from_columns(
        submit=np.sort(random.random(size) * size * 6.0).round(3),
        run_time=run,
        requested_time=(2 * run).round(3),
        cores=random.integers(1, 17, size),
        user=[f"u{code}" for code in random.integers(0, users, size)],
        recorded_wait=random.exponential(300, size).round(3),
    )


def measure(setting: Setting) -> Iterator[Figure]:
    """A run and its summary under EASY, in both modes; then the one by the other."""
    jobs = make_log(setting.jobs)

    def run(mode: str) -> dict[str, Any]:
        return dict(api.simulate(jobs, cores=CORES, policy="easy", users=mode).summary)

    modes = ("replay", "feedback")
    timings = {mode: setting.time(lambda mode=mode: mode, run)[0] for mode in modes}
    for mode in modes:
        target = at_most(10) if mode == "feedback" and setting.jobs >= 1_000_000 else None
        yield seconds(CASE, f"{setting.jobs:,} jobs of {USERS:,} users, {mode}", timings[mode], target)
    median, best = (getattr(timings["feedback"], one) / getattr(timings["replay"], one) for one in ("median", "best"))
    yield Figure(CASE, "feedback by replay", median, best, "x", at_most(2), None, setting.repeats)
    yield from measure_growth(setting)


def measure_growth(setting: Setting) -> Iterator[Figure]:
    """The same jobs of ever more users: ordered by fair share every minute, and with a limit for each user."""
    fair = {"order": {"name": "fairshare", "interval": 60}, "backfill": "easy"}
    limit = {"queues": {"all": {"default": True, "per_user": {"running_cores": CORES // 3}}}}
    kinds: dict[str, dict[str, Any]] = {
        "first come, first served": {"scheduler": {"backfill": "easy"}},
        "fair share every 60 s": {"scheduler": fair},
        "a limit for each user": {"scheduler": {"backfill": "easy"}} | limit,
        "both": {"scheduler": fair} | limit,
    }
    for what, rules in kinds.items():
        for users in GROWTH:
            jobs = make_log(setting.jobs // 10, users)
            make = partial(parse, {"workload": {"table": jobs}, "cluster": {"cores": CORES} | rules}, [])
            timing, record = setting.time(make, partial(native.run, workload=jobs))
            text = f"{len(jobs):,} jobs of {users:,} users, {what} (queue to {record.facts['longest_queue']:,})"
            yield seconds(CASE, text, timing, None)
