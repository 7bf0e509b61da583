"""What jobs ask for in all, whether they say it for the whole, for each node or for each core."""

from __future__ import annotations

import numpy as np

from walltime.core.workload import MISSING, Workload


def with_totals(workload: Workload) -> Workload:
    """The same jobs with their memory and GPUs as totals, in the columns `memory` and `gpus`."""
    parts = ("memory_per_node", "memory_per_core", "gpus_per_node")
    if not any(workload.has(name) for name in parts):
        return workload
    nodes = np.maximum(workload.column("nodes"), 1)
    memory = workload.column("memory")
    for name, times in (("memory_per_node", nodes), ("memory_per_core", workload.column("cores"))):
        each = workload.column(name)
        memory = np.where((memory <= 0) & (each > 0), each * times, memory)
    each = workload.column("gpus_per_node")
    gpus = np.where((workload.column("gpus") <= 0) & (each > 0), each * nodes, workload.column("gpus"))
    columns = dict(workload.columns)
    if np.any(memory != MISSING):
        columns["memory"] = memory
    if np.any(gpus != 0):
        columns["gpus"] = gpus
    return workload.replace(columns)
