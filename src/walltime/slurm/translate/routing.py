"""The way into a scenario's queues, gone before the jobs are submitted: Slurm itself has no rules for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import microseconds
from walltime.core.workload import Workload
from walltime.scenario import Cluster
from walltime.scenario.rules import Queue, Route


@dataclass(frozen=True)
class Members:
    """Some users, groups or accounts; None says nothing."""

    users: tuple[str, ...] | None = None
    groups: tuple[str, ...] | None = None
    accounts: tuple[str, ...] | None = None


class Accounts:
    """Whose jobs are charged where, and which account is below which."""

    def __init__(self, cluster: Cluster) -> None:
        self.parents = {name: account.parent for name, account in cluster.accounts.items()}
        self.of_user = {user: name for name, account in cluster.accounts.items() for user in account.users or ()}

    def line(self, account: str | None) -> list[str]:
        """The account and all above it; nothing for none."""
        above = []
        while account is not None:
            above.append(account)
            account = self.parents.get(account)
        return above

    def charged(self, workload: Workload) -> list[str | None]:
        """The account of each row: its own, or the one that lists its user."""
        accounts, users = workload.label_names("account"), workload.label_names("user")
        return [
            accounts[account] if account >= 0 else self.of_user.get(users[user]) if user >= 0 else None
            for account, user in zip(workload.column("account"), workload.column("user"), strict=True)
        ]


def route(cluster: Cluster, workload: Workload) -> Workload:
    """The jobs in the queues that take them: named, by a route, or by default; raises InputError for a strange one."""
    if not cluster.queues:
        return workload
    names = list(cluster.queues)
    labels, code = workload.label_names("queue"), workload.column("queue")
    known = np.array([*(_is_ours(label, cluster) for label in labels), False])[code]
    chosen: list[str | None] = [labels[number] if ours else None for number, ours in zip(code, known, strict=True)]
    open_rows = ~known
    accounts = Accounts(cluster)
    charged = accounts.charged(workload)
    for rule in cluster.routes:
        rows = open_rows & _find_routed(rule, workload, accounts, charged)
        for row in np.flatnonzero(rows):
            chosen[row] = rule.queue
        open_rows &= ~rows
    default = next((name for name, queue in cluster.queues.items() if queue.default), None)
    for row in np.flatnonzero(open_rows):
        if default is None and code[row] >= 0:
            what = "jobs name a queue that the cluster does not have, and no route takes them"
            raise InputError(what, value=labels[code[row]], file=workload.source or None, choices=names)
        chosen[row] = default
    kinds = list(dict.fromkeys(name for name in chosen if name is not None))
    numbers = {name: number for number, name in enumerate(kinds)}
    codes = np.array([-1 if name is None else numbers[name] for name in chosen], np.int32)
    return workload.replace(dict(workload.columns) | {"queue": codes}, labels=dict(workload.labels) | {"queue": kinds})


def _is_ours(label: str, cluster: Cluster) -> bool:
    return label in cluster.queues or all(name.strip() in cluster.queues for name in label.split(","))


def _find_routed(rule: Route, workload: Workload, accounts: Accounts, charged: list[str | None]) -> np.ndarray:
    """Rows of which all that the rule says is true."""
    mask = find_members(rule, workload, accounts, charged)
    cores, time = workload.column("cores"), workload.column("requested_time")
    bounds = ((cores, rule.min_cores, rule.max_cores), (time, _time(rule.min_time), _time(rule.max_time)))
    for values, least, most in bounds:
        mask &= (values >= least) if least is not None else True
        mask &= (values <= most) if most is not None else True
    return mask & _among(workload, "queue", rule.named) if rule.named is not None else mask


def find_members(
    rule: Queue | Route | Members, workload: Workload, accounts: Accounts, charged: list[str | None]
) -> np.ndarray:
    """Rows whose user, group and account are among those that a queue or a route names."""
    mask = np.ones(len(workload), np.bool_)
    for kind, names in (("user", rule.users), ("group", rule.groups)):
        if names is not None:
            mask &= _among(workload, kind, names)
    if rule.accounts is not None:
        mask &= np.array([any(name in rule.accounts for name in accounts.line(account)) for account in charged])
    return mask


def _time(value: float | None) -> int | None:
    return None if value is None else microseconds(value)


def _among(workload: Workload, kind: str, names: tuple[str, ...]) -> np.ndarray:
    codes = [code for code, name in enumerate(workload.label_names(kind)) if name in names]
    return np.isin(workload.column(kind), codes)
