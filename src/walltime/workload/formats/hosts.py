"""What a machine of a data centre's trace has: such traces tell requests as shares of one."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.reading import reader
from walltime.core.workload import MISSING
from walltime.workload.formats.blocks import read_blocks

_SIZE = re.compile(r"\s*(\d+)\s*[xX*]\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b)?\s*", re.IGNORECASE)
_UNITS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_MOST_CORES = 1 << 23
_MOST_MEMORY = 1 << 53
_SLIGHT = 1e-9


@dataclass(frozen=True)
class ReferenceHost:
    """The machine that requests are shares of: its cores, and its memory in bytes."""

    cores: int
    memory: int

    def cores_of(self, shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Cores of these shares, rounded up; at least one."""
        return np.maximum(1, np.ceil(shares * self.cores - _SLIGHT)).astype(np.int64)

    def memory_of(self, shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Bytes of these shares, rounded up; MISSING where a share is not known."""
        known = ~np.isnan(shares)
        amount = np.ceil(np.where(known, shares, 0) * self.memory - _SLIGHT).astype(np.int64)
        return np.where(known, amount, MISSING)


def parse_host(text: str) -> ReferenceHost:
    """CORESxMEMORY, such as 96x512G; raises InputError."""
    match = _SIZE.fullmatch(text)
    cores = int(match[1]) if match and len(match[1]) < 16 else 0
    memory = float(match[2]) * 1024 ** _UNITS[match[3].lower()] if match and len(match[2]) < 30 else 0.0
    if not 0 < cores <= _MOST_CORES or not 1 <= memory <= _MOST_MEMORY:
        raise InputError("a host is CORESxMEMORY, such as 96x512G", value=text)
    return ReferenceHost(cores, round(memory))


_ADD, _UPDATE = ("1", "ADD"), ("3", "UPDATE")
_MACHINE = ("time", "machine_id", "type", "capacity.cpus", "capacity.memory")


@reader
def read_machine_events(path: str | Path, times: float) -> dict[tuple[int, int], int]:
    """How many machines of (cores, bytes of memory) Google's table of machine events has; both are shares `times` that.

    A machine counts once, as it was first added.
    """
    found: dict[str, tuple[int, int]] = {}
    for block in read_blocks(path, _MACHINE):
        kinds, machines = block.texts("type"), block.texts("machine_id")
        cpus, memory = (_capacity(block, name) for name in ("cpus", "memory"))
        for kind, machine, cores, held in zip(kinds, machines, cpus, memory, strict=True):
            if machine is None or cores is None or held is None or machine in found or kind not in (*_ADD, *_UPDATE):
                continue
            if cores > 0 and 0 <= held < 1e6 and cores < 1e6:
                found[machine] = (max(1, int(cores * times)), int(held * times))
    if not found:
        raise InputError("this table of machine events adds no machine with cpus and memory", file=path)
    return dict(Counter(found.values()))


def _capacity(block: Any, name: str) -> Any:
    columns = [f"capacity.{name}", f"capacity_{name}", name]
    return block.numbers(next((one for one in columns if one in block.table.columns), columns[0]))
