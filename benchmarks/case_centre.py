"""The site that a newcomer brings: the files of `examples/centre`, 400 nodes, 48 of them with GPUs, and 20,000 jobs."""

from __future__ import annotations

import copy
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import walltime
from benchmarks.figures import Figure, Target, at_most, seconds
from benchmarks.measuring import environment, time_command
from benchmarks.setting import Setting
from walltime.core.workload import Workload
from walltime.explaining import explain
from walltime.site.importing.scenario import import_site

CASE = "centre"
HERE = Path(__file__).parents[1] / "examples" / "centre"
FILES = [HERE / name for name in ("slurm.conf", "associations.dump", "qos.txt", "gres.conf")]
CORES = 400 * 32
LOAD = 1.0
LIMITS = (600, 1800, 3600, 7200, 4 * 3600, 12 * 3600, 86_400, 2 * 86_400)
USERS = {
    **{"ada": "astro", "alan": "astro", "anna": "astro", "carl": "chem", "clara": "chem", "ben": "bio"},
    **{"bella": "bio", "ida": "industry", "ivan": "industry"},
}


def measure(setting: Setting) -> Iterator[Figure]:
    """The site under EASY and in Slurm's rhythm, a tenth of the jobs under conservative, and what explaining costs; and
    when one more job would start."""
    jobs = centre_jobs(setting.jobs // 50)
    yield from measure_run(setting, jobs, "EASY", make_centre(jobs, "easy"), at_most(2))
    yield from measure_run(setting, jobs, "Slurm's rhythm", make_centre(jobs, None), at_most(3))
    fewer = centre_jobs(setting.jobs // 500)
    yield from measure_run(setting, fewer, "conservative", make_centre(fewer, "conservative"), None)
    yield measure_predict(setting, 700, 1.4, "2026-10-05T18:00:00")
    days = setting.jobs // 25_000
    yield measure_predict(setting, setting.jobs // 50, days, f"{date(2026, 10, 3) + timedelta(days)}T12:00:00")


def measure_predict(setting: Setting, jobs: int, days: float, moment: str) -> Figure:
    """`walltime predict` as the guide has it, with as many runs as it makes by default: so many days of log, and a
    moment of its replay in place of `squeue`."""
    folder = setting.folder / f"centre-{jobs}"
    shutil.copytree(HERE, folder)
    walltime_command = [sys.executable, "-m", "walltime"]
    zone = ["--timezone", "Europe/Prague"]
    files = [path.name for path in FILES]
    for command in (
        [sys.executable, "make_log.py", "week.sacct", "--jobs", str(jobs), "--days", str(days)],
        [*walltime_command, "site", "import", *files, "events.txt", "week.sacct", *zone, "-o", "centre.yaml", "-q"],
        [*walltime_command, "run", "centre.yaml", "--output", "now", "-q"],
        [sys.executable, "make_squeue.py", "now", moment, "squeue.txt"],
    ):
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=folder, env=environment())
    start = f'start: {{time: "{moment}", jobs: squeue.txt, timezone: Europe/Prague}}'
    today = folder / "today.yaml"
    today.write_text((folder / "centre.yaml").read_text(encoding="utf-8") + start, encoding="utf-8")
    asked = {"queue": "gpu", "gpus": 64, "nodes": 16, "cores": 512, "time": "12h"}
    asked |= {"user": "ben", "account": "bio", "qos": "normal"}
    options = [word for name, value in asked.items() for word in (f"--{name}", str(value))]
    usage = time_command([*walltime_command, "predict", str(today), *options], setting.repeats)
    return seconds(CASE, f"walltime predict, {jobs:,} jobs of log, 100 runs: CPU time", usage.cpu, at_most(3))


def measure_run(setting: Setting, jobs: Workload, name: str, scenario: Any, target: Target | None) -> Iterator[Figure]:
    timing, result = setting.time(lambda: scenario, walltime.simulate)
    queue = result.record.facts["longest_queue"]
    yield seconds(CASE, f"{len(jobs):,} jobs, {name} (queue to {queue:,})", timing, target)
    longest = int(result.jobs["job_id"][int(result.jobs["wait"].fill_null(-1).arg_max() or 0)])
    told, _ = setting.time(lambda: result, partial(explain, job=longest))
    ratio = told.median / timing.median
    yield Figure(CASE, f"{name}: explain over a run", ratio, told.best / timing.best, "x", at_most(1.5))


def make_centre(jobs: Workload, backfill: str | None) -> dict[str, Any]:
    """The site as it is imported, in Slurm's rhythm; or with another backfilling, at every event."""
    scenario = copy.deepcopy(import_site(FILES).data)
    scenario.pop("slurm", None)
    scheduler = scenario["cluster"]["scheduler"]
    if backfill is not None:
        scheduler["backfill"] = backfill
        scheduler.pop("rhythm", None)
    scenario["workload"] = jobs
    return scenario


def centre_jobs(count: int) -> Workload:
    """Jobs for its three partitions: a fifth with GPUs, a quarter short, the others on up to 40 nodes."""
    dice = random.Random(1)
    columns: dict[str, list[Any]] = {}
    for _ in range(count):
        for name, value in draw_job(dice).items():
            columns.setdefault(name, []).append(value)
    work = sum(cores * run for cores, run in zip(columns["cores"], columns["run_time"], strict=True))
    columns["submit"] = sorted(dice.randrange(int(work / (LOAD * CORES))) for _ in range(count))
    return Workload.from_columns(**columns)


def draw_job(dice: random.Random) -> dict[str, Any]:
    kind = dice.choices(("gpu", "short", "main"), (0.2, 0.25, 0.55))[0]
    limit = dice.choice(LIMITS[:4] if kind == "short" else LIMITS[2:7] if kind == "gpu" else LIMITS[1:])
    nodes = dice.choice((1, 1, 1, 1, 2, 4)) if kind != "main" else dice.choice((1, 1, 1, 2, 4, 8, 16, 40))
    cores = 32 * nodes if nodes > 1 or dice.random() < 0.5 else dice.choice((1, 2, 4, 8, 16))
    user = dice.choice(list(USERS))
    urgent = user == "bella" and dice.random() < 0.3
    return {
        "run_time": max(20, round(limit * min(dice.lognormvariate(-1.2, 0.9), 1.0))),
        "requested_time": limit,
        "cores": cores,
        "nodes": nodes,
        "gpus": nodes * dice.choice((1, 2, 4)) if kind == "gpu" else 0,
        "memory": cores * 3 * 2**30,
        "user": user,
        "account": USERS[user],
        "queue": kind,
        "qos": "urgent" if urgent else dice.choices(("normal", "idle"), (0.85, 0.15))[0],
    }
