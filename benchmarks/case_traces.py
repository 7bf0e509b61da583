"""A million executions of a trace as Google publishes it, streamed to 4,000 hosts with cores and memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.case_hosts import CORES, HOSTS, LOAD, MEMORY, tasks
from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import time_command
from benchmarks.setting import Setting
from walltime.core.errors import EngineError
from walltime.core.workload import Workload
from walltime.engine import native
from walltime.scenario import parse
from walltime.workload.formats import read_batches
from walltime.workload.requests import fill_requests

CASE = "traces"
HOST = f"{CORES}x{MEMORY}M"
ROWS = 50_000
TARGET = at_most(15)
FLAT = at_most(600)
SUBMIT, SCHEDULE, FINISH = 0, 3, 6


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds of reading alone, and of the whole way to the result's tables, by placement."""
    path = write_events(setting.folder / "instance_events.csv", setting.jobs)
    size = f"{setting.jobs:,} executions, {path.stat().st_size / 1e6:.0f} MB"
    timing, count = setting.time(partial(Path, path), _count)
    if count != setting.jobs:
        raise EngineError(f"{count} executions were read, {setting.jobs} were written")
    yield seconds(CASE, f"{size}: read as a stream", timing)
    found = {}
    for place in ("first-fit", "best-fit"):
        timing, _ = setting.time(partial(_scenario, path, place), partial(_run, path))
        found[place] = timing
        yield seconds(CASE, f"{size}: read, simulated, {place}", timing, TARGET)
    best, first = found["best-fit"], found["first-fit"]
    ratio, least = best.median / first.median, best.best / first.best
    yield Figure(CASE, "best-fit over first-fit", ratio, least, "x", at_most(2), None, len(first.runs))
    yield _measure_memory(setting, path)


def _measure_memory(setting: Setting, path: Path) -> Figure:
    """The peak of a run that keeps figures alone; with twice as many executions it is the same."""
    group = {"count": HOSTS, "cores": CORES, "memory": f"{MEMORY} MiB"}
    cluster = {"nodes": [group], "scheduler": {"place": "best-fit", "backfill": "none"}}
    keys = {"workload": {"trace": str(path), "host": HOST}, "cluster": cluster, "record": "summary"}
    scenario = path.with_name("figures.yaml")
    scenario.write_text(json.dumps(keys))
    command = [sys.executable, "-m", "walltime", "run", str(scenario), "--quiet"]
    memory = time_command(command, 1).memory / 1e6
    what = f"walltime run, {setting.jobs:,} executions, record: summary: peak memory"
    return Figure(CASE, what, memory, memory, "MB", FLAT, None, 1)


def write_events(path: Path, count: int) -> Path:
    """The tasks of the case `hosts` as events in the published columns, in order of time."""
    jobs = tasks(count, LOAD)
    submit, run = jobs.columns["submit"], jobs.columns["run_time"]
    begun = submit + 1_000_000
    numbers = np.arange(count)
    parts = [
        pl.DataFrame(
            {
                "time": time,
                "type": np.full(count, kind),
                "collection_id": numbers // 20 + 10**9,
                "scheduling_class": np.full(count, 2),
                "collection_type": np.zeros(count, np.int64),
                "priority": np.full(count, 103),
                "alloc_collection_id": np.zeros(count, np.int64),
                "instance_index": numbers % 20,
                "machine_id": numbers % HOSTS,
                "resource_request.cpus": jobs.columns["cores"] / CORES,
                "resource_request.memory": jobs.columns["memory"] / (MEMORY << 20),
            }
        )
        for kind, time in ((SUBMIT, submit), (SCHEDULE, begun), (FINISH, begun + run))
    ]
    pl.concat(parts).sort("time", maintain_order=True).write_csv(path)
    return path


def _count(path: Path) -> int:
    return sum(len(batch) for batch in read_batches(path, ROWS, host=HOST))


def _stream(path: Path) -> Iterator[Workload]:
    for batch in read_batches(path, ROWS, host=HOST):
        yield fill_requests(batch, "exact", 0)[0]


def _scenario(path: Path, place: str) -> Any:
    group = {"count": HOSTS, "cores": CORES, "memory": f"{MEMORY} MiB"}
    cluster = {"nodes": [group], "scheduler": {"place": place, "backfill": "none"}}
    return parse({"workload": {"trace": str(path)}, "cluster": cluster, "record": {"series": False}}, [])


def _run(path: Path, scenario: Any) -> Any:
    return native.run(scenario, _stream(path))
