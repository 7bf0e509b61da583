"""The whole command: a trace in, a result folder out."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import Timing, time_command
from benchmarks.setting import Setting
from walltime import api
from walltime.analysis.metrics import summarise
from walltime.engine import native
from walltime.scenario import parse, resolve

CASE = "command"
CPU = at_most(6)
MEMORY = at_most(1000)
PHASES = ("read", "simulate", "tables", "summarise", "series", "write")


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds and peak memory of `walltime run`, and where the seconds go."""
    trace, folder = str(setting.trace()), str(setting.folder / "result")
    command = [sys.executable, "-m", "walltime", "run", trace, "--policy", "easy", "--output", folder]
    usage = time_command(command, setting.repeats, lambda: shutil.rmtree(folder, ignore_errors=True))
    what = f"walltime run, {setting.jobs:,} jobs, easy, --output"
    yield seconds(CASE, f"{what}: CPU time", usage.cpu, CPU)
    memory = usage.memory / 1e6
    yield Figure(CASE, f"{what}: peak memory", memory, memory, "MB", MEMORY, None, setting.repeats)
    runs = [_time_phases(setting) for _ in range(setting.repeats)]
    for phase in PHASES:
        yield seconds(CASE, f"  of which, in this process: {phase}", Timing(tuple(run[phase] for run in runs)))


def _time_phases(setting: Setting) -> dict[str, float]:
    """CPU seconds of what the command does after its imports, one call after the other."""
    marks = [time.process_time()]
    scheduler = {"order": "fcfs", "backfill": "easy"}
    scenario = parse({"workload": {"trace": str(setting.trace())}, "cluster": {"scheduler": scheduler}}, [])
    workload = scenario.workload.read(scenario.seed)
    marks.append(time.process_time())
    scenario = resolve(scenario, workload)
    record = native.run(scenario, workload)
    marks += [marks[-1] + record.durations["cpu"], time.process_time()]
    result = api.Result(scenario, record, "easy", summary=summarise(record))
    marks.append(time.process_time())
    assert result.series.height
    marks.append(time.process_time())
    result.save(setting.folder / "phases", force=True)
    marks.append(time.process_time())
    return {phase: marks[i + 1] - marks[i] for i, phase in enumerate(PHASES)}
