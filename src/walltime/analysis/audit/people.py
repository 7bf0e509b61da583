"""Whose jobs they are: users, groups, accounts in their tree, and qualities of service, by row of a result."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from walltime.core.workload import Workload
from walltime.scenario import Cluster


class JobOwners:
    """The owners of the jobs that stand at `rows` of the workload, as codes into `names`; -1 for none.

    A job without an account is charged to the one that lists its user. `queue` is where a job is, which others find
    out; it starts as the label that the workload has.
    """

    def __init__(self, workload: Workload, rows: np.ndarray, cluster: Cluster) -> None:
        self.names = {kind: list(workload.label_names(kind)) for kind in ("user", "group", "qos")}
        self.codes = {kind: workload.column(kind)[rows].astype(np.int64) for kind in self.names}
        accounts = list(dict.fromkeys([*workload.label_names("account"), *cluster.accounts]))
        number = {name: code for code, name in enumerate(accounts)}
        of_user = {user: name for name, account in cluster.accounts.items() for user in account.users or ()}
        charged = [number[of_user[user]] if user in of_user else -1 for user in self.names["user"]]
        own = workload.column("account")[rows].astype(np.int64)
        self.names["account"] = accounts
        self.codes["account"] = np.where(own < 0, np.array([*charged, -1], np.int64)[self.codes["user"]], own)
        above = {name: account.parent for name, account in cluster.accounts.items()}
        self.parent = np.array([number[up] if (up := above.get(name)) else -1 for name in accounts] + [-1], np.int64)

    def find(self, kind: str, names: Iterable[str], codes: np.ndarray | None = None) -> np.ndarray:
        """Which jobs are of one of these: users, groups, qualities of service, or accounts and all below them."""
        held = self.codes[kind] if codes is None else codes
        given = frozenset(names)
        table = np.array([*(name in given for name in self.names[kind]), False])
        if kind == "account":
            for _ in range(len(self.names[kind])):  # as deep as a tree can be
                larger = table | np.append(table[self.parent[:-1]], False)
                if np.array_equal(larger, table):
                    break
                table = larger
        return np.asarray(table[held])
