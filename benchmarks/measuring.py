"""CPU seconds of a call and of a command, several times over."""

from __future__ import annotations

import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

_Made = TypeVar("_Made")
_Got = TypeVar("_Got")
_LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass(frozen=True)
class Timing:
    """CPU seconds of the repetitions of one measurement."""

    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    @property
    def best(self) -> float:
        return min(self.runs)


def time_calls(make: Callable[[], _Made], call: Callable[[_Made], _Got], repeats: int) -> tuple[Timing, _Got]:
    """The CPU time of `call(make())`, in which `make` is not counted, and what the last call gave.

    All threads of this process count. Collecting garbage is done before, not during.
    """
    runs = []
    for _ in range(repeats):
        made = make()
        gc.collect()
        gc.disable()
        begin = time.process_time()
        got = call(made)
        runs.append(time.process_time() - begin)
        gc.enable()
    return Timing(tuple(runs)), got


@dataclass(frozen=True)
class Usage:
    """What the repetitions of a command took: CPU seconds, and bytes of memory at the peak of the worst."""

    cpu: Timing
    memory: int


def environment() -> dict[str, str]:
    """That of this process, but for a wish that no compiled Python be kept."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def time_command(
    command: Sequence[str], repeats: int, before: Callable[[], object] | None = None, *, warm: bool = True
) -> Usage:
    """Run a command several times, its output thrown away; `before` is called each time and not counted.

    A process reports as its own peak what its parent held when it was started. So a small launcher stands between. If
    `warm` it is run once more first, and lets Python keep what it has compiled, as an installed package has it.
    """
    runs, memory = [], 0
    for number in range(0 if warm else 1, repeats + 1):
        if before is not None:
            before()
        launched = [sys.executable, "-I", "-S", str(_LAUNCHER), *command]
        answer = subprocess.run(launched, stdout=subprocess.PIPE, check=True, env=environment())
        if number == 0:
            continue
        used = json.loads(answer.stdout)
        runs.append(float(used["cpu"]))
        memory = max(memory, int(used["memory"]))
    return Usage(Timing(tuple(runs)), memory)
