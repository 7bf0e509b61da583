"""By whom fair share is counted: from the numbers in the job table to the leaves of the tree."""

from __future__ import annotations

from typing import Any

from walltime.core.errors import InputError
from walltime.policy.surroundings import Surroundings

KINDS = ("user", "group", "account")
NOBODY = "(none)"
OWN = "(own)"
"""The leaf of an account for its own jobs, where accounts are counted and others stand below them."""


class ShareLeaves:
    """The leaves by name. Counted by users, they stand below their accounts where the scenario has accounts; a job's
    account is its own or, where it names none, its user's. Counted by accounts, each account has one leaf.
    """

    def __init__(self, tree: Any, usage: Any, by: str, surroundings: Surroundings) -> None:
        self.tree = tree
        self.usage = usage
        self.kind = KINDS.index(by)
        self.codes = surroundings.codes
        self.accounts = surroundings.cluster.accounts
        self.shares = surroundings.cluster.shares
        self.flat = self.kind == 1 or not self.accounts
        self.names = ["(all)"]
        self.account_node: dict[str, int] = {}
        self.leaf_node: dict[tuple[str | None, str], int] = {}
        self.home = {user: name for name, account in self.accounts.items() for user in account.users or ()}
        if not self.flat:
            for name, account in self.accounts.items():
                self._account(name)
                for user in account.users or () if self.kind == 0 else ():
                    self._leaf(name, user)

    def leaf(self, code: int, account: int) -> int:
        """The node of a job's user (or group, or account) and its account, by their numbers; -1 for none."""
        name = self._name(KINDS[self.kind], code)
        if self.flat:
            return self._leaf(None, name or NOBODY)
        if self.kind == 2:
            return self._leaf(name, OWN) if name else self._leaf(None, NOBODY)
        above = self._name("account", account)
        if above is None and name is not None:
            above = self.home.get(name)
        return self._leaf(above, name or NOBODY)

    def named(self, text: str) -> int:
        """The node of a leaf by its name, `user` or `account/user`; made if it is not there. Where there are no
        accounts, or nothing but accounts, the other half of the name does not count."""
        above, slash, name = text.rpartition("/")
        if self.kind == 2:
            account = above if slash else text
            return self._leaf(None, account) if self.flat else self._leaf(account, OWN)
        if self.flat:
            return self._leaf(None, name if self.kind == 0 else text)
        return self._leaf(above, name) if slash else self._leaf(self.home.get(text), text)

    def _name(self, kind: str, code: int) -> str | None:
        return None if code < 0 else list(self.codes[kind])[code]

    def _account(self, name: str) -> int:
        """The node of an account; those above it are made first."""
        if name not in self.account_node:
            account = self.accounts.get(name)
            above = self._account(account.parent) if account is not None and account.parent else 0
            self.account_node[name] = self._add(above, 1.0 if account is None else account.shares, -1, name)
        return self.account_node[name]

    def _leaf(self, account: str | None, name: str) -> int:
        if (account, name) not in self.leaf_node:
            above = 0 if account is None else self._account(account)
            shown = name if account is None else f"{account}/{name}"
            self.leaf_node[account, name] = self._add(above, self._shares(name), self.usage.add(), shown)
        return self.leaf_node[account, name]

    def _shares(self, name: str) -> float:
        """The shares of a user or group; a group may have others than a user of the same name."""
        plain = self.shares.get(name, 1.0)
        return self.shares.get(f"group:{name}", plain) if KINDS[self.kind] == "group" else plain

    def _add(self, above: int, shares: float, charged: int, name: str) -> int:
        self.names.append(name)
        return int(self.tree.add(above, shares, charged))

    def find(self, name: str) -> int:
        """The node of a name as `names` has it; raises InputError."""
        if name not in self.names:
            raise InputError("nobody of this name is charged", value=name, choices=self.names[1:])
        return self.names.index(name)
