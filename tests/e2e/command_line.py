"""The real command in a process of its own, and small workloads for it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import walltime

Job = tuple[int, int, int, int, int]
"""job number, submission, run time, cores, requested time (-1: none)"""

SOURCE = str(Path(walltime.__file__).parents[1])


@dataclass
class Outcome:
    """What a command did."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> None:
        """Bad input: exit code 2, one message with these words, no traceback, nothing on standard output."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert "Traceback" not in self.err
        assert self.out == ""
        assert self.err.startswith("Error: ")
        for word in words:
            assert word in self.err

    def done(self) -> Outcome:
        assert self.code == 0, (self.code, self.out, self.err)
        assert "Traceback" not in self.err
        return self


def environment() -> dict[str, str]:
    """The tests' own environment, with the package that they test, whatever is installed."""
    path = os.pathsep.join(filter(None, [SOURCE, os.environ.get("PYTHONPATH", "")]))
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "WALLTIME_DEBUG")}
    return {**kept, "PYTHONPATH": path}


def start(folder: Path, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """The command, started in the folder and not waited for."""
    return subprocess.Popen(
        [sys.executable, "-m", "walltime", *map(str, arguments)],
        cwd=folder,
        env=environment(),
        text=True,
        **({"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options),
    )


Command = Callable[..., Outcome]


def swf(jobs: Iterable[Job], processors: int | None = 16) -> str:
    """A trace in the standard workload format; the recorded wait of every job is 5 seconds."""
    header = "; Version: 2.2\n" + (f"; MaxProcs: {processors}\n" if processors else "")
    lines = [
        f"{number} {submit} 5 {run} {cores} -1 -1 {cores} {request} -1 1 {number % 3 + 1} 1 -1 1 -1 -1 -1"
        for number, submit, run, cores, request in jobs
    ]
    return header + "".join(f"{line}\n" for line in lines)


def crowd(count: int = 60) -> list[Job]:
    """Jobs that have to wait for each other on 16 cores, large ones between small ones, with loose requests."""
    return [
        (i, 7 * i, 40 + 37 * i % 90, 12 if i % 5 == 0 else 1 + i % 4, 60 + 53 * i % 300 + 130)
        for i in range(1, count + 1)
    ]


def names(folder: Path) -> set[str]:
    """Everything in the folder, hidden files too."""
    return {entry.name for entry in folder.iterdir() if entry.name != "__pycache__"}
