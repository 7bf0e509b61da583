"""The whole command: a trace in, a result folder out."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.measuring import Timing, time_command
from benchmarks.phases import PHASES
from benchmarks.setting import Setting

CASE = "command"
CPU = at_most(6)
MEMORY = at_most(1000)
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


def _time_phases(setting: Setting) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.phases", str(setting.trace()), str(setting.folder / "phases")]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True, cwd=_ROOT)
    return dict(json.loads(answer.stdout))
