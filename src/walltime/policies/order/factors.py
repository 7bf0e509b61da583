"""The factors of a job that stay as they are while it waits, and the parameters of the weighted sum, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.time import SECOND, parse_duration
from walltime.kernel.jobs import JobTable
from walltime.policies.fairshare.settings import FairShareSettings, read_number, read_settings
from walltime.policies.order.expression import Expression
from walltime.policies.order.job_size import JobSize
from walltime.policy.functions import Waiting
from walltime.policy.surroundings import Surroundings

NAMES = ("age", "association", "fairshare", "job_size", "partition", "qos")
"""Factors with a weight of their own, in the order in which they are told."""
TRES = ("cpu", "mem", "gpu", "node")
QUANTITIES = (*("submit", "eligible", "requested_time", "estimate", "cores", "nodes", "priority", "deadline"),)
"""What a formula of the site's factor or of the nice value may name."""
MINUTE = 60 * SECOND

Factor = Callable[[JobTable, int], float]
"""The value of a factor for the job in a slot."""


def read_weights(given: Any) -> dict[str, float]:
    """Weights by factor, 0 where none is given; raises InputError."""
    return _read_whole("weights", given, NAMES)


def split_fairshare(given: Any, interval: Any) -> FairShareSettings:
    """The settings of fair share; its interval is that of the whole."""
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InputError("fairshare is a mapping of parameters, such as {half_life: 14d}", value=given)
    if "interval" in given:
        raise InputError("the interval is one for all factors: give it beside `fairshare`", value=given["interval"])
    return read_settings({**given, "interval": interval}, "fair-tree")


def _read_whole(what: str, given: Any, names: tuple[str, ...]) -> dict[str, float]:
    if given is None:
        given = {}
    if not isinstance(given, Mapping):
        raise InputError(f"{what} is a mapping from names to whole numbers", value=given, choices=names)
    found = dict.fromkeys(names, 0.0)
    for name, value in given.items():
        if name not in names:
            raise InputError(f"{what} has no such name", value=name, choices=names)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 32:
            raise InputError(f"the weight of {name} must be a whole number from 0 to 4294967295", value=value)
        found[name] = float(value)
    return found


def _read_qos(given: Any) -> dict[str, float]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError("qos is a mapping from names to priorities", value=given)
    return {str(name): read_number(f"the priority of QOS {name}", value) for name, value in given.items()}


class StaticFactors:
    """Association, size, partition, QOS, TRES, site and nice, of one cluster."""

    def __init__(
        self,
        weights: Mapping[str, float],
        favor_small: Any,
        relative_to_time: Any,
        qos: Any,
        tres: Any,
        site: Any,
        nice: Any,
    ) -> None:
        self.weights = weights
        self.favor_small = _flag("favor_small", favor_small)
        self.relative = _flag("relative_to_time", relative_to_time)
        self.tres = {name: weight for name, weight in _read_whole("tres", tres, TRES).items() if weight}
        self.qos = _read_qos(qos)
        self.site = _formula("site", site)
        self.nice = _formula("nice", nice)

    @staticmethod
    def read_age(max_age: Any, accrue_always: Any) -> tuple[int, bool]:
        """Microseconds after which the age counts in full, and whether it counts from submission."""
        try:
            length = parse_duration(max_age)
        except InputError as error:
            raise InputError("max_age is not a duration (seconds, 90s, 15m, 1.5h, 2d)", value=error.value) from None
        if length <= 0:
            raise InputError("max_age must be longer than zero", value=max_age)
        return length, _flag("accrue_always", accrue_always)

    def attach(self, surroundings: Surroundings) -> None:
        """Get to know the cluster's size, queues and accounts."""
        cluster, layout = surroundings.cluster, surroundings.cluster.layout()
        self.codes = surroundings.codes
        self.cores = float(cluster.total_cores or 1)
        nodes = float(layout.count) if layout is not None else 0.0
        self.size = JobSize(self.cores, nodes, self.favor_small, self.relative)
        queues = list(cluster.queues.values())
        most = max([queue.job_factor for queue in queues], default=0)
        self.queue_factor = [queue.job_factor / most if most else 0.0 for queue in queues]
        masks = [None if layout is None or queue.nodes is None else layout.select(queue.nodes) for queue in queues]
        self.totals = [self._totals(layout, mask) for mask in masks]
        self.total = self._totals(layout, None)
        self.most_qos = max(self.qos.values(), default=0.0)
        self.priority = {name: self._inherited(name, cluster.accounts) for name in cluster.accounts}
        self.most_priority = max(self.priority.values(), default=0)
        self.home = {user: name for name, account in cluster.accounts.items() for user in account.users or ()}
        self.names: dict[str, list[str]] = {}
        unused = {name for name, formula in (("site", self.site), ("nice", self.nice)) if formula == 0.0}
        terms = self._list_terms()
        self.weighed = [(factor, weight) for name, factor, weight in terms if weight and name not in unused]

    def _totals(self, layout: Any, mask: Any) -> dict[str, float]:
        """What a queue has of each resource that can be weighed; nothing where it is not known."""
        if layout is None:
            return {"cpu": self.cores}
        found = {"node": float(layout.count if mask is None else mask.sum())}
        for name, resource in (("cpu", "cores"), ("mem", "memory"), ("gpu", "gpus")):
            if resource in layout.resources():
                amounts = layout.amounts(resource)
                found[name] = float(amounts.sum() if mask is None else amounts[mask].sum())
        return found

    @staticmethod
    def _inherited(name: str, accounts: Mapping[str, Any]) -> int:
        """The priority of an account: its own, or that of the nearest above it that has one."""
        above: str | None = name
        while above is not None and accounts[above].priority == 0:
            above = accounts[above].parent
        return 0 if above is None else int(accounts[above].priority)

    def _list_terms(self) -> Iterator[tuple[str, Factor, float]]:
        """Every factor, what tells its value of a job, and its weight; the nice value weighs -1."""
        weights = self.weights
        yield "association", self._association, weights["association"]
        yield "job_size", self.size.of, weights["job_size"]
        yield "partition", self._partition, weights["partition"]
        yield "qos", self._qos, weights["qos"]
        for name, weight in self.tres.items():
            yield f"tres.{name}", partial(self._tres, name), weight
        yield "site", partial(self._value, self.site), 1.0
        yield "nice", partial(self._value, self.nice), -1.0

    def uses(self, quantity: str) -> bool:
        """Whether a formula names that quantity."""
        return any(isinstance(one, Expression) and quantity in one.names for one in (self.site, self.nice))

    def sum(self, jobs: JobTable, slot: int) -> float:
        """What these factors add to the priority of the job."""
        total = 0.0
        for factor, weight in self.weighed:
            total += factor(jobs, slot) * weight
        return total

    def only_labels(self) -> bool:
        """Whether, but for the size, jobs of the same queue, QOS, account and user have the same factors."""
        return not self.tres and not any(isinstance(one, Expression) for one in (self.site, self.nice))

    def split(self, jobs: JobTable, slot: int) -> tuple[list[float], list[float]]:
        """The terms of `sum` before that of the size, and those behind it."""
        first, sized = bool(self.weights["association"]), bool(self.weights["job_size"])
        terms = [0.0 if sized and i == first else factor(jobs, slot) * w for i, (factor, w) in enumerate(self.weighed)]
        return terms[:first], terms[first + sized :]

    def only_size(self) -> tuple[JobSize | None, float]:
        """The size factor and its weight, where nothing else counts; else None."""
        weight = self.weights["job_size"]
        return (self.size, weight) if weight and len(self.weighed) == 1 else (None, 0.0)

    def factors(self, jobs: JobTable, slot: int) -> dict[str, tuple[float, float]]:
        """Every factor and its weight."""
        return {name: (factor(jobs, slot) if weight else 0.0, weight) for name, factor, weight in self._list_terms()}

    def _name(self, kind: str, code: int) -> str | None:
        if code < 0:
            return None
        if code >= len(self.names.get(kind, ())):
            self.names[kind] = list(self.codes[kind])
        return self.names[kind][code]

    def _association(self, jobs: JobTable, slot: int) -> float:
        account = self._name("account", int(jobs.account[slot]))
        if account is None:
            account = self.home.get(self._name("user", int(jobs.user[slot])) or "")
        return self.priority.get(account or "", 0) / self.most_priority if self.most_priority else 0.0

    def _partition(self, jobs: JobTable, slot: int) -> float:
        queue = int(jobs.queue[slot])
        return self.queue_factor[queue] if 0 <= queue < len(self.queue_factor) else 0.0

    def _qos(self, jobs: JobTable, slot: int) -> float:
        name = self._name("qos", int(jobs.qos[slot]))
        return self.qos.get(name or "", 0.0) / self.most_qos if self.most_qos else 0.0

    def _tres(self, name: str, jobs: JobTable, slot: int) -> float:
        queue = int(jobs.queue[slot])
        total = self.totals[queue] if 0 <= queue < len(self.totals) else self.total
        asked = {
            "cpu": int(jobs.cores[slot]),
            "mem": int(jobs.memory[slot]),
            "gpu": int(jobs.gpus[slot]),
            "node": max(int(jobs.nodes[slot]), 1),
        }[name]
        return asked / total[name] if total.get(name) else 0.0

    def _value(self, formula: Expression | float, jobs: JobTable, slot: int) -> float:
        if isinstance(formula, float):
            return formula
        waiting = Waiting(jobs, np.array([slot]), 0)
        values = {name: np.asarray(getattr(waiting, name), np.float64) for name in formula.names}
        with np.errstate(all="ignore"):
            value = float(np.broadcast_to(formula.evaluate(values), (1,))[0])
        return value if np.isfinite(value) else 0.0


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false", value=value)
    return value


def _formula(name: str, given: Any) -> Expression | float:
    """A number, or a formula of what is known of a job."""
    if isinstance(given, str):
        return Expression(given, QUANTITIES)
    return read_number(name, given, -float(1 << 31), float(1 << 31))
