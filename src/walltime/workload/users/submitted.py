"""A workload as users have submitted it in a simulation: to be replayed, or to be held against the result."""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.workload import COLUMNS, Workload

MOMENTS = ("begin", "cancel", "deadline")
"""Times of a job that keep their distance from its submission."""


def as_submitted(workload: Workload, rows: np.ndarray, submit: np.ndarray) -> Workload:
    """The rows, in this order, submitted at these times (microseconds), which do not fall."""
    later = submit - workload.column("submit")[rows]
    columns: dict[str, Any] = {}
    for name, values in {"job_id": workload.column("job_id"), **workload.columns}.items():
        if COLUMNS[name].kind == "text":
            columns[name] = [values[row] for row in rows.tolist()]
            continue
        columns[name] = values[rows]
        if name == "submit":
            columns[name] = submit
        elif name in MOMENTS:
            columns[name] = np.where(columns[name] >= 0, columns[name] + later, columns[name])
    return workload.replace(columns)
