"""From a scenario's limits to counters: which of them a job counts at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from walltime.core.time import SECOND
from walltime.kernel.quotas import Quotas
from walltime.policies import PARTS
from walltime.rules.accounts import Accounts
from walltime.scenario import Cluster
from walltime.scenario.rules import ACCRUING, ENTITIES

NEAR = {"qos": 0, "user": 1, "account": 2, "group": 2}
"""Whose limit on the number of jobs that grow older comes first."""
AGEING = "multifactor"
"""The order in which the age of jobs counts."""
Identity = Mapping[str, str | None]
"""What a job belongs to, by kind of entity: user, group, account, qos, queue; None for none."""


def find_ageless(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """Limits on the jobs that grow older where no order counts age, as (key, reason); one's own order may."""
    orders = [cluster.scheduler.order, *(queue.order for queue in cluster.queues.values() if queue.order is not None)]
    built_in = {entry.name for entry in PARTS if entry.kind == "order"} - {AGEING}
    if not all(order.instance is None and order.name in built_in for order in orders):
        return
    for number, limit in enumerate(cluster.limits):
        if limit.accruing_jobs is not None:
            yield f"limits.{number}.{ACCRUING}", f"age, which the order {orders[0].name} does not count; {AGEING} does"


@dataclass(frozen=True)
class Rule:
    """One limit: jobs that match all `names`, counted together or, with `per`, for each entity of that kind."""

    key: str
    """Where the scenario says it."""
    caps: Mapping[str, int]
    names: Mapping[str, tuple[str, ...]]
    per: str | None = None
    instead: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Caps that another limit sets for an entity by name, in the place of this one's."""

    def without(self, kind: str) -> dict[str, frozenset[str]]:
        """Its names but those of a kind."""
        return {other: frozenset(names) for other, names in self.names.items() if other != kind}

    def title(self, entity: str | None) -> str:
        """For a person: `group atlas`, `user ann in queue short`; without an entity `a user in queue short`."""
        article = "an" if self.per == "account" else "a"
        words = [f"{self.per} {entity}" if entity else f"{article} {self.per}"] if self.per else []
        for kind, names in self.names.items():
            named = sorted(set(names))
            one = f"{kind} {named[0]}" if len(named) == 1 else f"the {kind}s {', '.join(named)}"
            words.append(f"in {one}" if words and kind == "queue" else f"of {one}" if words else one)
        return " ".join(words) or "the cluster"


def collect_rules(cluster: Cluster) -> list[Rule]:
    """Every limit of a cluster, in the order in which they are looked at: those of the queues, then the others."""
    rules = []
    for name, queue in cluster.queues.items():
        for per, caps in ((None, queue), *((kind, getattr(queue, f"per_{kind}")) for kind in ENTITIES[:3])):
            if caps is not None and caps.caps():
                key = f"cluster.queues.{name}" + (f".per_{per}" if per else "")
                rules.append(Rule(key, caps.caps(), {"queue": (name,)}, per))
    for number, limit in enumerate(cluster.limits):
        rules.append(Rule(f"cluster.limits.{number}", limit.caps(), limit.names(), limit.per))
    return [_with_exceptions(rule, rules) for rule in rules]


def _with_exceptions(rule: Rule, rules: list[Rule]) -> Rule:
    """A limit on each of a kind gives way to one that names one of them and is otherwise on the same jobs."""
    if rule.per is None:
        return rule
    instead: dict[str, frozenset[str]] = {}
    for other in rules:
        if other.per is None and rule.per in other.names and other.without(rule.per) == rule.without(rule.per):
            for name in other.names[rule.per]:
                instead[name] = instead.get(name, frozenset()) | frozenset(other.caps)
    return replace(rule, instead=instead)


class Counters:
    """The counters of a cluster's rules, made as jobs that count at them appear."""

    def __init__(self, rules: list[Rule], accounts: Accounts, quotas: Quotas) -> None:
        self.rules = rules
        self.accounts = accounts
        self.quotas = quotas
        self.numbers: dict[tuple[int, str | None], int] = {}
        self.titles: dict[int, str] = {}
        self.members: dict[int, list[int]] = {-1: []}
        self.caps: dict[int, Mapping[str, int]] = {}
        self.ranks: dict[int, tuple[int, int]] = {}
        self.general: list[int] = []
        self.named: dict[tuple[str, str], list[int]] = {}
        for number, rule in enumerate(rules):
            if not rule.names:
                self.general.append(number)
                continue
            kind = next(iter(rule.names))  # one kind of names suffices to find the rules that may match
            for name in rule.names[kind]:
                self.named.setdefault((kind, name), []).append(number)

    def counter_set(self, job: Identity) -> int:
        """The number of the counters at which such a job counts, for `jobs.rules`; -1 for none."""
        found = list(self.general)
        ancestry = self.accounts.ancestry(job["account"])
        for kind in ENTITIES:
            names = ancestry if kind == "account" else [name] if (name := job[kind]) is not None else []
            for name in names:
                found += self.named.get((kind, name), ())
        counters: list[int] = []
        for number in sorted(set(found)):
            rule = self.rules[number]
            if len(rule.names) < 2 or self.matches(rule, job, ancestry):  # one name has been looked up
                counters += self.counters(number, job, ancestry)
        return self.define(counters)

    def accruing(self, counter_set: int) -> list[int]:
        """The counters of the set that bound how many jobs grow older. The first of them decides alone, as in Slurm:
        that of the QOS, else of the user, else of the nearest account; of equals the one that lets the fewest."""
        found = [counter for counter in self.members[counter_set] if ACCRUING in self.caps[counter]]
        return sorted(found, key=lambda counter: (self.ranks[counter], self.caps[counter][ACCRUING], counter))

    def _rank(self, rule: Rule, entity: str | None) -> tuple[int, int]:
        """How near to a job the rule's counter for the entity is; nearer ones are smaller."""
        named = (entity,) if rule.per == "account" else rule.names.get("account", ())
        depth = max((len(self.accounts.ancestry(name)) for name in named), default=0)
        return min((NEAR[kind] for kind in (*rule.names, rule.per) if kind in NEAR), default=len(NEAR)), -depth

    def define(self, counters: list[int]) -> int:
        number = self.quotas.define(counters) if counters else -1
        self.members[number] = counters
        return number

    def together(self, counter_sets: list[int]) -> int:
        """The set of the counters of all of these."""
        return self.define(list(dict.fromkeys(counter for one in counter_sets for counter in self.members[one])))

    def too_small(self, counter_set: int, cores: int, gpus: int, memory: int, time: int) -> str | None:
        """The caps of the set that a job exceeds alone, in words; None where it exceeds none."""
        amounts = {
            "running_cores": int(cores),
            "running_gpus": int(gpus),
            "running_memory": int(memory),
            "running_core_minutes": -(-int(cores) * int(time) // (60 * SECOND)),
        }
        for counter in self.members[counter_set]:
            if any(amounts.get(cap, 0) > most for cap, most in self.caps[counter].items()):
                return str(self.quotas.kind_titles[counter])
        return None

    def matches(self, rule: Rule, job: Identity, ancestry: list[str]) -> bool:
        """Whether the rule is on such a job; one of an account is on all below it."""
        return all(
            any(name in names for name in ancestry) if kind == "account" else job[kind] in names
            for kind, names in rule.names.items()
        )

    def counters(self, number: int, job: Identity, ancestry: list[str]) -> Iterator[int]:
        """The rule's counters for such a job: one, or one for each account up the tree."""
        rule = self.rules[number]
        entities: list[str | None] = [None] if rule.per is None else [job[rule.per]]
        if rule.per == "account":
            above = rule.names.get("account")  # only those at or below an account that is named
            entities = [
                name for name in ancestry if above is None or any(top in above for top in self.accounts.ancestry(name))
            ]
        for entity in entities:
            if rule.per is not None and entity is None:
                continue
            key = (number, entity)
            if key not in self.numbers:
                left = {cap: most for cap, most in rule.caps.items() if cap not in rule.instead.get(entity or "", ())}
                if not left:
                    continue
                if number not in self.titles:
                    self.titles[number] = rule.title(None)
                self.numbers[key] = self.quotas.add(rule.title(entity), left, self.titles[number])
                self.caps[self.numbers[key]] = left
                if ACCRUING in left:
                    self.ranks[self.numbers[key]] = self._rank(rule, entity)
            yield self.numbers[key]
