"""A scenario's accounts, limits and caps in Slurm's words: associations, qualities of service, partitions' own ones.

Slurm counts at four places: an association (an account with all that is below it, or a user in an account), a quality
of service, and within one of these, or within a partition by a quality of service of its own, each user and each
account. A limit that counts other jobs than one of these places does is refused by its key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from walltime.core.errors import UnsupportedError
from walltime.core.workload import Workload
from walltime.rules.accounts import Accounts, Charges
from walltime.rules.limits import Rule, collect_rules
from walltime.scenario import Cluster
from walltime.scenario.rules import ACCRUING
from walltime.site.associations import Association, Associations, Quality
from walltime.slurm.translate import preemption
from walltime.slurm.translate.priority import is_weighted, qos_priorities
from walltime.slurm.translate.submission import MEGABYTE, ControllerUsers

NO_ACCOUNT = ""
"""The account of jobs that name none: the root of the tree."""
GROUP, EACH_USER, EACH_ACCOUNT = "group", "user", "account"
WORDS: dict[str, Mapping[str, str]] = {
    GROUP: {
        "jobs": "GrpJobs",
        "tres": "GrpTRES",
        "minutes": "GrpTRESRunMins",
        "submitted": "GrpSubmit",
        "accruing": "GrpJobsAccrue",
    },
    EACH_USER: {
        "jobs": "MaxJobsPU",
        "tres": "MaxTRESPU",
        "minutes": "MaxTRESRunMinsPU",
        "submitted": "MaxSubmitPU",
        "accruing": "MaxJobsAccruePU",
    },
    EACH_ACCOUNT: {
        "jobs": "MaxJobsPA",
        "tres": "MaxTRESPA",
        "minutes": "MaxTRESRunMinsPA",
        "submitted": "MaxSubmitPA",
        "accruing": "MaxJobsAccruePA",
    },
}
"""How a quality of service limits all of its jobs, each user's, each account's. An association knows the first."""
CAPS = {
    "running_jobs": ("jobs", ""),
    "running_cores": ("tres", "cpu"),
    "running_gpus": ("tres", "gres/gpu"),
    "running_memory": ("tres", "mem"),
    "running_core_minutes": ("minutes", "cpu"),
    "submitted_jobs": ("submitted", ""),
    ACCRUING: ("accruing", ""),
}


def has_quotas(cluster: Cluster) -> bool:
    """Whether the cluster says anything that needs associations."""
    sizes = any(queue.min_cores or queue.max_cores or queue.accounts for queue in cluster.queues.values())
    return bool(cluster.accounts or cluster.limits or collect_rules(cluster) or sizes)


@dataclass
class Scope:
    """Where Slurm counts: what is limited there, by cap."""

    caps: dict[str, int] = field(default_factory=dict)

    def bound(self, caps: Mapping[str, int]) -> None:
        for cap, most in caps.items():
            self.caps[cap] = min(most, self.caps.get(cap, most))

    def write(self, words: Mapping[str, str]) -> dict[str, str]:
        """The limits as sacctmgr spells them."""
        found: dict[str, list[str]] = {}
        for cap, most in self.caps.items():
            kind, resource = CAPS[cap]
            amount = most // MEGABYTE if cap == "running_memory" else most
            found.setdefault(words[kind], []).append(f"{resource}={amount}" if resource else str(amount))
        return {name: ",".join(parts) for name, parts in found.items()}


class Quotas:
    """The associations that a cluster's rules mean for a workload; `problems` are what cannot be said, by key."""

    def __init__(self, cluster: Cluster, workload: Workload) -> None:
        self.cluster, self.workload = cluster, workload
        self.accounts = Accounts(cluster.accounts)
        self.problems: list[tuple[str, str]] = []
        self.rules = collect_rules(cluster)
        self.charges = self._choose_charged()
        self.members = self._find_members()
        self.qualities = workload.label_names("qos")
        names = [*self.accounts.parents, *(account for _, account in self.members)]
        self.spelled = spell_apart(name for name in names if name) | {NO_ACCOUNT: "root"}
        self.base = "normal" if "normal" not in self.qualities else "walltime"
        self.scopes: dict[tuple[str, str, str], Scope] = {}
        for rule in self.rules:
            self._put(rule)
        self._check_overlap()

    # ---- which user is where

    def _choose_charged(self) -> str:
        """What the jobs are charged to: accounts, or groups where there are no accounts but limits on groups."""
        by_group = any("group" in rule.names or rule.per == "group" for rule in self.rules)
        if is_weighted(self.cluster) and not self.cluster.accounts and not self._mentions_accounts():
            return ""  # fair share is by users alone where the scenario has no accounts
        if by_group and (self.cluster.accounts or self.workload.has("account")):
            for rule in self.rules:
                if "group" in rule.names or rule.per == "group":
                    self.problems.append((rule.key, "groups beside accounts: Slurm counts by accounts alone"))
            return "account"
        return "group" if by_group else "account"

    def _mentions_accounts(self) -> bool:
        kinds = {"account", "group"}
        return any(kinds & {*rule.names, rule.per} for rule in self.rules)

    def _find_members(self) -> dict[tuple[str, str], None]:
        """(user, account) of every job, and of every user whom an account lists."""
        users = self.workload.label_names("user")
        if self.charges == "group":
            groups, codes = self.workload.label_names("group"), self.workload.column("group")
            charged = [groups[code] if code >= 0 else None for code in codes]
        elif self.charges == "account":
            charged = Charges(self.accounts, self.workload).list()
        else:
            charged = [None] * len(self.workload)
        pairs = [
            (users[user] if user >= 0 else "", account or NO_ACCOUNT)
            for user, account in zip(self.workload.column("user"), charged, strict=True)
        ]
        pairs += [(user, account) for user, account in self.accounts.of_user.items()]
        return dict.fromkeys(pairs)

    def accounts_of(self, user: str) -> list[str]:
        return [account for other, account in self.members if other == user]

    # ---- where a rule counts

    def _put(self, rule: Rule) -> None:
        """Bound the places that count just the rule's jobs, or tell why there are none."""
        problem = self._check_caps(rule)
        if problem is None:
            kinds = set(rule.names)
            if kinds <= {"qos"} and rule.per in (None, "qos") and (kinds or rule.per):
                problem = self._put_each(rule, "qos", "qos", self.qualities)
            elif kinds <= {"queue"} and rule.per in (None, "queue") and (kinds or rule.per):
                problem = self._put_each(rule, "queue", "queue", list(self.cluster.queues))
            elif kinds in ({"qos"}, {"queue"}):
                problem = self._put_within(rule, kinds.pop())
            elif kinds <= {"user"} and rule.per in (None, "user") and (kinds or rule.per):
                problem = self._put_users(rule)
            elif kinds <= {self.charges} and rule.per in (None, self.charges):
                problem = self._put_accounts(rule)
            elif (kinds == {self.charges} and rule.per == "user") or (kinds == {"user", self.charges} and not rule.per):
                problem = self._put_users(rule)
            else:
                problem = "no limit of Slurm's counts these jobs together"
        if problem is not None:
            self.problems.append((rule.key, problem))

    def _check_caps(self, rule: Rule) -> str | None:
        whole = "whole" in (self.cluster.sharing, *(queue.sharing for queue in self.cluster.queues.values()))
        if whole and {"running_cores", "running_core_minutes"} & set(rule.caps):
            return "cores: of a node that is given as a whole Slurm counts all cores, not those asked for"
        if "running_memory" in rule.caps and not any(group.memory for group in self.cluster.nodes or ()):
            return "running_memory: the nodes have no memory that is counted"
        if "running_gpus" in rule.caps and not any(group.gpus for group in self.cluster.nodes or ()):
            return "running_gpus: the nodes have none"
        return None

    def _left(self, rule: Rule, kind: str, entity: str) -> dict[str, int]:
        """What a rule on each of a kind leaves for an entity after those that name it."""
        if rule.per is None:
            return dict(rule.caps)
        named: set[str] = set()
        for other in self.rules:
            same = other.per is None and other.without(kind) == rule.without(kind)
            if same and entity in other.names.get(kind, ()):
                named |= set(other.caps)
        return {cap: most for cap, most in rule.caps.items() if cap not in named}

    def _bound(self, where: str, name: str, how: str, caps: Mapping[str, int]) -> None:
        self.scopes.setdefault((where, name, how), Scope()).bound(caps)

    def _put_each(self, rule: Rule, kind: str, where: str, every: Iterable[str]) -> str | None:
        """All jobs of a quality of service, or of a queue."""
        names = rule.names.get(kind)
        if rule.per is None and names is not None and len(names) > 1:
            return f"several of a kind together ({', '.join(names)}): Slurm counts each for itself"
        for name in every if names is None else names:
            self._bound(where, name, GROUP, self._left(rule, kind, name))
        return None

    def _put_within(self, rule: Rule, where: str) -> str | None:
        """Each user, or each account, within a quality of service or a queue."""
        if rule.per not in ("user", self.charges):
            return "no limit of Slurm's counts these jobs together"
        how = EACH_USER if rule.per == "user" else EACH_ACCOUNT
        if how == EACH_ACCOUNT and any(self.accounts.parents.values()):
            return "each account: within a queue or a QOS Slurm does not add up what is below an account"
        if len(rule.names[where]) > 1:
            return f"several of a kind together ({', '.join(rule.names[where])}): Slurm counts each for itself"
        if any(rule.per in other.names and other.without(rule.per) == rule.without(rule.per) for other in self.rules):
            return "an exception by name: within a queue or a QOS Slurm has the same limit for all"
        self._bound(where, rule.names[where][0], how, rule.caps)
        return None

    def _put_users(self, rule: Rule) -> str | None:
        """Users, who are associations below their accounts; of one with several, there is no sum."""
        known = dict.fromkeys(user for user, _ in self.members if user)
        names = rule.names.get("user")
        if rule.per is None and names is not None and len(names) > 1:
            return f"several of a kind together ({', '.join(names)}): Slurm counts each for itself"
        above = rule.names.get(self.charges)
        for user in known if names is None else names:
            accounts = self.accounts_of(user)
            if above is not None:
                accounts = [name for name in accounts if set(self.accounts.ancestry(name)) & set(above)]
            if len(accounts) > 1:
                return f"{user} has jobs of several accounts ({', '.join(accounts)}), which Slurm does not add up"
            for account in accounts:
                self._bound("user", f"{user}\0{account}", GROUP, self._left(rule, "user", user))
        return None

    def _put_accounts(self, rule: Rule) -> str | None:
        """Accounts, each with all that is below it; without a name the whole cluster."""
        names = rule.names.get(self.charges)
        if rule.per is None and names is not None and len(names) > 1:
            return f"several of a kind together ({', '.join(names)}): Slurm counts each for itself"
        if rule.per is None and names is None:
            self._bound("root", "", GROUP, rule.caps)
            return None
        every = dict.fromkeys([*self.accounts.parents, *(account for _, account in self.members)])
        for account in every if rule.per else names or ():
            if account == NO_ACCOUNT or (names is not None and not set(self.accounts.ancestry(account)) & set(names)):
                continue
            self._bound("account", account, GROUP, self._left(rule, self.charges, account))
        return None

    def _check_overlap(self) -> None:
        """A partition's limit takes the place of the same one of a quality of service; in a scenario both hold. That is
        the same where no job has both."""

        def limited(where: str, name: str) -> set[tuple[str, str]]:
            scopes = [(how, scope) for (kind, one, how), scope in self.scopes.items() if (kind, one) == (where, name)]
            return {(how, cap) for how, scope in scopes for cap in scope.caps}

        both = {found for queue, qos in self._find_pairs() for found in limited("queue", queue) & limited("qos", qos)}
        for _, cap in sorted(both):
            keys = [rule.key for rule in self.rules if cap in rule.caps and ("qos" in rule.names or rule.per == "qos")]
            self.problems += [(key, f"{cap}: Slurm looks at a queue's or at a QOS's, not at both") for key in keys[:1]]
        for name in self.qualities:  # in Slurm 22.05 the first of them decides, here the smallest
            scopes = [self.scopes.get(("qos", name, how)) for how in (GROUP, EACH_ACCOUNT, EACH_USER)]
            most = [scope.caps[ACCRUING] for scope in scopes if scope is not None and ACCRUING in scope.caps]
            if most and most[0] > min(most):
                key = next(
                    rule.key for rule in self.rules if ACCRUING in rule.caps and name in rule.names.get("qos", ())
                )
                self.problems.append((key, f"{ACCRUING}: of a QOS Slurm looks at that of all its jobs first"))

    def _find_pairs(self) -> set[tuple[str, str]]:
        """The queues, and the qualities of service, of the jobs that have both; every queue for one that names none."""
        if not self.workload.has("qos"):
            return set()
        queues, codes = self.workload.label_names("queue"), self.workload.column("queue")
        pairs = set(zip(codes.tolist(), self.workload.column("qos").tolist(), strict=True))
        return {
            (name.strip(), self.qualities[qos])
            for code, qos in pairs
            if qos >= 0
            for name in (queues[code].split(",") if code >= 0 else self.cluster.queues)
        }

    # ---- what Slurm is told

    def associations(self) -> Associations:
        """The tree, with every limit at its place; a job beyond a limit by itself is refused at once."""
        entries = [*self._write_accounts(), *self._write_users()]
        strict = {"Flags": "DenyOnLimit"}
        first = {name: {"Priority": str(value)} for name, value in qos_priorities(self.cluster).items()}
        named = [(self.base, None), *((name, name) for name in self.qualities)]
        displaces = {name: preemption.write_quality(self.cluster, name, named) for _, name in named}
        qualities = [Quality(self.base, displaces[None] | strict)]
        for name in self.qualities:
            qualities.append(Quality(name, self._write("qos", name) | first.get(name, {}) | displaces[name] | strict))
        for queue in self.cluster.queues:
            if limits := self._write("queue", queue) | self._write_sizes(queue):
                qualities.append(Quality(name_quality(queue), limits | strict))
        all_qualities = (self.base, *self.qualities)
        root = Association("root", parent="", limits=_for_association(self._write("root", "")), qos=all_qualities)
        return Associations(tuple(entries), tuple(qualities), root)

    def counts(self, cap: str) -> bool:
        """Whether some rule has the cap."""
        return any(cap in rule.caps for rule in self.rules)

    def write_partition(self, queue: str) -> list[str]:
        """What a queue's partition says of its own quality of service and of the accounts that may use it."""
        words = [f"QOS={name_quality(queue)}"] if self._write("queue", queue) | self._write_sizes(queue) else []
        allowed = self.cluster.queues[queue].accounts
        if allowed is not None:
            below = [
                self.spelled[name] for name in self.spelled if set(self.accounts.ancestry(name or None)) & set(allowed)
            ]
            words.append(f"AllowAccounts={','.join(below)}")
        return words

    def _write(self, where: str, name: str) -> dict[str, str]:
        limits: dict[str, str] = {}
        for how, words in WORDS.items():
            scope = self.scopes.get((where, name, how))
            limits |= scope.write(words) if scope is not None else {}
        return limits

    def _write_sizes(self, queue: str) -> dict[str, str]:
        given = self.cluster.queues[queue]
        sizes = {"MinTRES": given.min_cores, "MaxTRES": given.max_cores}
        return {name: f"cpu={cores}" for name, cores in sizes.items() if cores is not None}

    def _write_accounts(self) -> Iterator[Association]:
        """Every account after the one above it."""
        used = dict.fromkeys(account for _, account in self.members)
        done: dict[str, None] = {}

        def visit(account: str) -> Iterator[Association]:
            if account in done:
                return
            parent = self.accounts.parents.get(account)
            if parent is not None:
                yield from visit(parent)
            done[account] = None
            limits = _for_association(self._write("account", account))
            above = "root" if parent is None else self.spelled[parent]
            given = self.cluster.accounts.get(account)
            if given is not None and given.priority:
                limits["Priority"] = str(given.priority)
            share = self._whole(f"cluster.accounts.{account}.shares", 1.0 if given is None else given.shares)
            yield Association(self.spelled[account], parent=above, share=share, limits=limits, qos=self._everyone)

        for account in [*self.accounts.parents, *used]:
            if account != NO_ACCOUNT:
                yield from visit(account)

    def _whole(self, key: str, shares: float) -> int:
        if shares % 1:
            raise UnsupportedError("slurm", [(key, f"{shares:g}: the controller has whole shares")])
        return int(shares)

    @property
    def _everyone(self) -> tuple[str, ...]:
        return (self.base, *self.qualities)

    def _write_users(self) -> Iterator[Association]:
        first: set[str] = set()
        own = self.accounts.of_user
        for user, account in sorted(self.members, key=lambda pair: own.get(pair[0], NO_ACCOUNT) != pair[1]):
            name = ControllerUsers.spell(user) if user else "unknown"
            limits = _for_association(self._write("user", f"{user}\0{account}"))
            known = self.spelled[account]
            share = self._whole(f"cluster.shares.{user}", self.cluster.shares.get(user, 1.0))
            yield Association(known, name, known, share, limits, self._everyone, self.base,
                              is_default=name not in first)  # fmt: skip
            first.add(name)


def _for_association(limits: Mapping[str, str]) -> dict[str, str]:
    """An association has the limits of a group, under names of its own."""
    return {{"GrpSubmit": "GrpSubmitJobs"}.get(name, name): value for name, value in limits.items()}


def name_quality(queue: str) -> str:
    """What the quality of service is called that carries a queue's caps."""
    return f"queue-{queue}"


def spell_apart(names: Iterable[str]) -> dict[str, str]:
    """Names that Slurm can tell apart: no blanks or commas, and different also in small letters."""
    spelled: dict[str, str] = {}
    taken: set[str] = {"root"}
    for name in dict.fromkeys(names):
        clean = re.sub(r"[^\w.@-]", "_", name).lower()
        while clean in taken:
            clean += "_"
        taken.add(clean)
        spelled[name] = clean
    return spelled
