"""The whole command: a trace in, a result folder out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import Timing, environment, time_command
from benchmarks.phases import PHASES
from benchmarks.setting import Setting
from benchmarks.workloads import CORES, random_jobs
from walltime.workload.formats import write

CASE = "command"
CPU = at_most(2.5)
MEMORY = at_most(500)
CPU_TEN = at_most(30)
MEMORY_TEN = at_most(3000)
MEMORY_STREAM = at_most(1000)
STREAM = ["--set", "record=summary", "--cores", str(CORES)]
_ROOT = Path(__file__).parent.parent


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
        yield seconds(CASE, f"  of which {phase}", Timing(tuple(run[phase] for run in runs)))
    yield from _measure_ten(setting)


def _measure_ten(setting: Setting) -> Iterator[Figure]:
    """Ten times as many jobs, once: whole, and as a stream of which the figures alone are kept."""
    jobs, folder = random_jobs(10 * setting.jobs, 0.95, people=True), str(setting.folder / "ten")
    for name, wanted, cpu, memory in (
        ("ten.swf", [], CPU_TEN, MEMORY_TEN),
        ("ten.parquet", STREAM, None, MEMORY_STREAM),
    ):
        write(jobs, setting.folder / name)
        command = [sys.executable, "-m", "walltime", "run", str(setting.folder / name), "--policy", "easy", *wanted]
        usage = time_command([*command, "--output", folder, "--force"], 1, warm=False)
        what = f"{len(jobs):,} jobs, {'record: summary of Parquet' if wanted else 'whole'}"
        yield seconds(CASE, f"{what}: CPU time", usage.cpu, cpu)
        yield Figure(CASE, f"{what}: peak memory", usage.memory / 1e6, usage.memory / 1e6, "MB", memory, None, 1)


def _time_phases(setting: Setting) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.phases", str(setting.trace()), str(setting.folder / "phases")]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=_ROOT, env=environment())
    return dict(json.loads(answer.stdout))
