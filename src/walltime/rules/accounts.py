"""The tree of accounts, and the account to which each job is charged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from walltime.core.workload import Workload
from walltime.scenario.rules import Account

Array = np.ndarray[Any, Any]


class Accounts:
    """The tree of accounts: which is below which, and the account of each user that one lists."""

    def __init__(self, accounts: Mapping[str, Account]) -> None:
        self.parents = {name: account.parent for name, account in accounts.items()}
        self.of_user = {user: name for name, account in accounts.items() for user in account.users or ()}

    def ancestry(self, account: str | None) -> list[str]:
        """The account and all above it; nothing for none."""
        above = []
        while account is not None:
            above.append(account)
            account = self.parents.get(account)
        return above


class Charges:
    """The account of each row of a batch: its own, or its user's."""

    def __init__(self, accounts: Accounts, batch: Workload) -> None:
        self.accounts = accounts
        self.names = list(batch.label_names("account"))
        self.code: Array = batch.column("account").astype(np.int64)
        if not accounts.of_user or not batch.has("user"):
            return
        theirs = []
        for user in batch.label_names("user"):
            account = accounts.of_user.get(user)
            if account is not None and account not in self.names:
                self.names.append(account)
            theirs.append(-1 if account is None else self.names.index(account))
        self.code = np.where(self.code < 0, np.array([*theirs, -1], np.int64)[batch.column("user")], self.code)

    def among(self, names: tuple[str, ...]) -> Array:
        """Rows that are charged to one of these accounts, or below them."""
        below = [any(above in names for above in self.accounts.ancestry(name)) for name in self.names]
        return np.asarray(np.array([*below, False])[self.code])

    def list(self) -> list[str | None]:
        """The account of each row by name; None for none."""
        return [self.names[code] if code >= 0 else None for code in self.code.tolist()]
