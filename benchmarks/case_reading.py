"""A trace in the standard workload format, plain and packed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.figures import Figure, at_most, seconds
from benchmarks.setting import Setting
from walltime.core.errors import EngineError
from walltime.workload.formats import read

CASE = "reading"
TARGET = at_most(1.5)


def measure(setting: Setting) -> Iterator[Figure]:
    """CPU seconds to read the trace."""
    for packed in (False, True):
        path = setting.trace(packed)
        timing, workload = setting.time(partial(Path, path), read)
        if len(workload) != setting.jobs:
            raise EngineError(f"{len(workload)} jobs were read, {setting.jobs} were written")
        what = f"{setting.jobs:,} jobs, {path.stat().st_size / 1e6:.0f} MB ({path.name})"
        yield seconds(CASE, what, timing, None if packed else TARGET)
