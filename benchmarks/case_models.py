"""Logs of Slurm read, models fitted to them, workloads generated from models."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.figures import Figure, at_least, at_most, seconds
from benchmarks.setting import Setting
from benchmarks.workloads import random_jobs
from walltime.core.errors import EngineError
from walltime.core.time import SECOND
from walltime.core.workload import Workload
from walltime.workload.formats.sacct.reader import read_sacct
from walltime.workload.models.empirical import FittedModel
from walltime.workload.models.fit import fit
from walltime.workload.synthesis import SynthesisPlan, synthesize

CASE = "models"
_HEADER = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|Submit|Start|End|Elapsed|Timelimit|State|AllocCPUS|ReqMem|AllocTRES"
)


def measure(setting: Setting) -> Iterator[Figure]:
    """Lines a CPU second for sacct, CPU seconds for the rest."""
    jobs = random_jobs(setting.jobs, 0.95, people=True)
    path, lines = _write_sacct(jobs, setting.folder / "jobs.sacct")
    timing, read = setting.time(partial(Path, path), read_sacct)
    if len(read) != len(jobs):
        raise EngineError(f"{len(read)} jobs were read, {len(jobs)} were written")
    what = f"sacct: {lines:,} lines, {path.stat().st_size / 1e6:.0f} MB"
    rates = sorted(lines / run / 1e6 for run in timing.runs)
    yield Figure(CASE, what, rates[len(rates) // 2], rates[-1], "M lines/s", at_least(0.5), None, len(rates))
    timing, model = setting.time(lambda: jobs, fit)
    yield seconds(CASE, f"a model fitted to {len(jobs):,} jobs", timing, at_most(5.0))
    cores = jobs.machine_cores or 1024
    days = len(jobs) / model.rates.jobs_per_day
    plan = SynthesisPlan(cores=cores, days=days, load=model.rates.offered_load or 0.9, seed=1)
    timing, made = setting.time(lambda: FittedModel(model), lambda loaded: synthesize(loaded, plan))
    yield seconds(CASE, f"{len(made):,} jobs generated, pressure held", timing, at_most(5.0))


def _write_sacct(jobs: Workload, path: Path) -> tuple[Path, int]:
    """The jobs as sacct prints them, each with the step of its batch script."""
    names = jobs.label_names("user") or ["someone"]
    begin = datetime.datetime(2024, 1, 1)
    columns = (jobs.column(name).tolist() for name in ("submit", "run_time", "requested_time", "cores", "user"))
    with path.open("w", encoding="ascii") as file:
        file.write(f"{_HEADER}\n")
        for number, (submit, run, request, cores, user) in enumerate(zip(*columns, strict=True), 1):
            at = (begin + datetime.timedelta(seconds=submit // SECOND)).isoformat()
            elapsed, limit = _span(max(run // SECOND, 1)), _span(max(request // SECOND, 60))
            name = names[user] if user >= 0 else ""
            rest = f"{at}|{at}|{at}|{elapsed}|{limit}|COMPLETED|{cores}|4Gc|billing={cores},cpu={cores},mem=8G,node=1"
            file.write(f"{number}|{number}|job|{name}|a{user % 7}|batch|{rest}\n")
            file.write(f"{number}.batch|{number}.batch|batch||a{user % 7}||{rest}\n")
    return path, 2 * len(jobs) + 1


def _span(length: int) -> str:
    days, rest = divmod(length, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days}-{clock}" if days else clock
