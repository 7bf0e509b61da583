"""Which jobs are tasks of one array."""

from __future__ import annotations

import re

import numpy as np

from walltime.core.workload import Workload

ALIKE = ("submit", "requested_time", "cores", "user", "queue")
_TASK = re.compile(r"(.+)_(\d+)")


def number_arrays(workload: Workload) -> np.ndarray | None:
    """Each row's array by number, -1 for a job of none; None where there is no array.

    Tasks are told by the column `array`, or are jobs `12_1`, `12_2`, ... that come one after the other, at the same
    time and alike.
    """
    found = np.full(len(workload), -1, np.int64)
    if workload.has("name"):
        columns = [workload.column(name).tolist() for name in ALIKE]
        last: object = None
        number = -1
        for row, (name, *rest) in enumerate(zip(workload.column("name"), *columns, strict=True)):
            match = _TASK.fullmatch(name) if name and "_" in name else None
            key = (match[1], rest) if match else None
            number += key is not None and key != last
            found[row] = number if key is not None else -1
            last = key
    if workload.has("array"):
        codes = workload.column("array")
        found = np.where(codes >= 0, codes + len(workload), found)
    return found if (found >= 0).any() else None
