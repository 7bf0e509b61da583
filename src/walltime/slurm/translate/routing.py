"""The way into a scenario's queues, gone before the jobs are submitted: Slurm itself has no rules for it."""

from __future__ import annotations

import numpy as np

from walltime.core.workload import Workload
from walltime.rules.accounts import Accounts, Charges
from walltime.rules.routing import NOWHERE, Router
from walltime.scenario import Cluster


def route(cluster: Cluster, workload: Workload) -> Workload:
    """The jobs in the queues that take them: named, by a route, or by default; raises InputError for a strange one."""
    if not cluster.queues:
        return workload
    router = Router(cluster)
    entry = router.enter(workload, Charges(Accounts(cluster.accounts), workload))
    router.refuse_strangers(workload, entry)
    names, labels = list(cluster.queues), workload.label_names("queue")
    chosen = [
        labels[code] if known else names[to] if to != NOWHERE else None
        for code, known, to in zip(
            workload.column("queue").tolist(), entry.known.tolist(), entry.to.tolist(), strict=True
        )
    ]
    kinds = list(dict.fromkeys(name for name in chosen if name is not None))
    numbers = {name: number for number, name in enumerate(kinds)}
    codes = np.array([-1 if name is None else numbers[name] for name in chosen], np.int32)
    return workload.replace(dict(workload.columns) | {"queue": codes}, labels=dict(workload.labels) | {"queue": kinds})
