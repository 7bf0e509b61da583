"""What all cases share: how many jobs, how many repetitions, and a folder for files that are made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.measuring import Timing, time_calls
from benchmarks.workloads import random_jobs
from walltime.workload.formats import write

_Made = TypeVar("_Made")
_Got = TypeVar("_Got")


@dataclass(frozen=True)
class Setting:
    """`folder` is temporary and empty at first."""

    folder: Path
    jobs: int = 1_000_000
    repeats: int = 5

    def time(self, make: Callable[[], _Made], call: Callable[[_Made], _Got]) -> tuple[Timing, _Got]:
        """`time_calls` with as many repetitions as this setting has."""
        return time_calls(make, call, self.repeats)

    def trace(self, packed: bool = False) -> Path:
        """The jobs at load 0.95 as an SWF file, written when first asked for."""
        path = self.folder / ("jobs.swf.gz" if packed else "jobs.swf")
        if not path.exists():
            write(random_jobs(self.jobs, 0.95, people=True), path)
        return path


def quick(folder: Path) -> Setting:
    """A tenth of the jobs: enough to see whether something has gone wrong, too few for the targets to be fair."""
    return Setting(folder, jobs=100_000, repeats=3)
