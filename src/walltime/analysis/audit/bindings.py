"""Does every job run on a cluster that it is bound to? The rules of a global scheduler, looked at once more.

Rule, by its name in a Violation: binding (a job that a rule of `broker.bind` means runs on one of its clusters).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from walltime.analysis.audit.people import JobOwners
from walltime.analysis.audit.tables import REPORTED, Tables, Violation
from walltime.core.time import SECOND, microseconds
from walltime.core.workload import Workload
from walltime.scenario import Binding, Scenario


def find_strays(tables: Tables, scenario: Scenario, workload: Workload, at: np.ndarray) -> Iterator[Violation]:
    """Jobs on clusters to which they are not bound; `at` is the workload's row of each job of the table."""
    bindings = () if scenario.broker is None else scenario.broker.bind
    if not bindings:
        return
    accounts = {name: account for cluster in scenario.clusters for name, account in cluster.accounts.items()}
    people = JobOwners(workload, at, scenario.clusters[0].model_copy(update={"accounts": accounts}))
    names = [cluster.name for cluster in scenario.clusters]
    for number, binding in enumerate(bindings):
        allowed = np.array([*(name in binding.clusters for name in names), True])  # the last: on no cluster
        where = np.where(tables.placed, tables.cluster, -1)
        stray = _meant(binding, people, workload, at) & ~allowed[where]
        for row in np.flatnonzero(stray)[:REPORTED].tolist():
            submit = int(tables.time["submit"][row]) / SECOND
            what = f"is on {names[int(where[row])]}, to which broker.bind.{number} does not bind it"
            yield Violation("binding", int(tables.job_id[row]), submit, what)


def _meant(binding: Binding, people: JobOwners, workload: Workload, at: np.ndarray) -> np.ndarray:
    """Which jobs a rule means."""
    cores, time = workload.column("cores")[at], workload.column("requested_time")[at]
    meant = np.ones(len(at), np.bool_)
    if binding.min_cores is not None:
        meant &= cores >= binding.min_cores
    if binding.max_cores is not None:
        meant &= cores <= binding.max_cores
    if binding.min_time is not None:
        meant &= time >= microseconds(binding.min_time)
    if binding.max_time is not None:
        meant &= time <= microseconds(binding.max_time)
    for kind, given in (("user", binding.users), ("group", binding.groups), ("account", binding.accounts)):
        if given is not None:
            meant &= people.find(kind, given)
    for kind, given in (("queue", binding.queues), ("qos", binding.qos), ("profile", binding.types)):
        if given is not None:
            table = np.array([*(name in given for name in workload.label_names(kind)), False])
            meant &= table[workload.column(kind)[at]]
    return meant
