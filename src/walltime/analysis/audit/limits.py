"""Is every limit, and every cap of a queue, kept at every moment?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from walltime.analysis.audit.people import JobOwners
from walltime.analysis.audit.sweep import sum_between, usage_at_starts
from walltime.core.time import SECOND
from walltime.scenario import Cluster

MINUTE = 60 * SECOND
WORK, SUBMITTED = "running_core_minutes", "submitted_jobs"
NOUNS = {
    "running_jobs": "running jobs",
    "running_cores": "cores in use",
    "running_gpus": "GPUs in use",
    "running_memory": "bytes of memory in use",
    WORK: "core-minutes running",
    SUBMITTED: "jobs in the system",
}


@dataclass(frozen=True)
class Bound:
    """A limit, or a queue's caps: on the jobs that match all names, together or, with `per`, for each of a kind."""

    names: dict[str, frozenset[str]]
    per: str | None
    caps: dict[str, int]

    def replaces(self, cap: str, other: Bound, entity: str) -> bool:
        """Whether it names the entity, of which the other speaks among all, and says this of otherwise the same."""
        if self.per is not None or other.per is None or cap not in self.caps:
            return False
        rest, same = ({k: v for k, v in bound.names.items() if k != other.per} for bound in (self, other))
        return entity in self.names.get(other.per, ()) and rest == same

    def describe(self, entity: str | None) -> str:
        """Whose it is: `user ann in queue long`."""
        words = [] if self.per is None else [f"{self.per} {entity}"]
        words += [f"{kind} {', '.join(sorted(names))}" for kind, names in self.names.items() if kind != self.per]
        return " in ".join(words) or "the cluster"


def collect(cluster: Cluster) -> list[Bound]:
    """Every bound of a cluster."""
    bounds = []
    for name, queue in cluster.queues.items():
        pers = [(None, queue), ("user", queue.per_user), ("group", queue.per_group), ("account", queue.per_account)]
        bounds += [
            Bound({"queue": frozenset([name])}, per, caps.caps())
            for per, caps in pers
            if caps is not None and caps.caps()
        ]
    for limit in cluster.limits:
        names = {kind: frozenset(given) for kind, given in limit.names().items()}
        bounds.append(Bound(names, limit.per, limit.caps()))
    return bounds


@dataclass(frozen=True)
class Counted:
    """Jobs that count under one cap, as `places` in a list of them; what they count for (`entity`, a number), and
    how much each of these may have."""

    bound: Bound
    cap: str
    places: np.ndarray
    entity: np.ndarray
    most: int
    names: list[str]

    def whose(self, place: int) -> str:
        return self.bound.describe(self.names[int(self.entity[place])] if self.bound.per else None)


class Limits:
    """All bounds of a cluster; `queues` are the names behind the numbers of queues."""

    def __init__(self, cluster: Cluster, people: JobOwners, queues: list[str]) -> None:
        self.bounds, self.people, self.queues = collect(cluster), people, queues

    def count(self, jobs: np.ndarray, queue: np.ndarray, caps: tuple[str, ...] = tuple(NOUNS)) -> Iterator[Counted]:
        """Which jobs count where, if they (rows) are in these queues: one Counted for each bound and cap."""
        for bound in self.bounds:
            chosen = [cap for cap in bound.caps if cap in caps]
            if not chosen:
                continue
            good = np.ones(len(jobs), np.bool_)
            for kind, names in bound.names.items():
                good &= self._match(kind, names, jobs, queue)
            pairs = list(self._divide(bound, np.flatnonzero(good), jobs, queue))
            places, entity = (np.concatenate(column) for column in zip(*pairs, strict=True))
            names_of = self._names(bound.per)
            for cap in chosen:
                kept = ~self._find_replaced(bound, cap)[entity]
                yield Counted(bound, cap, places[kept], entity[kept], bound.caps[cap], names_of)

    def _names(self, kind: str | None) -> list[str]:
        return [""] if kind is None else self.queues if kind == "queue" else self.people.names[kind]

    def _match(self, kind: str, names: frozenset[str], jobs: np.ndarray, queue: np.ndarray) -> np.ndarray:
        if kind == "queue":
            return np.asarray(np.array([*(name in names for name in self.queues), False])[queue])
        return self.people.find(kind, names, self.people.codes[kind][jobs])

    def _divide(
        self, bound: Bound, places: np.ndarray, jobs: np.ndarray, queue: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(places, what they count for): all, each of a kind, or an account and, again, all above it."""
        if bound.per is None:
            yield places, np.zeros(len(places), np.int64)
            return
        entity = queue[places] if bound.per == "queue" else self.people.codes[bound.per][jobs[places]]
        while True:
            places, entity = places[entity >= 0], entity[entity >= 0]
            inside = np.ones(len(places), np.bool_)
            if bound.per == "account" and "account" in bound.names:  # not at those above the ones that are named
                inside = self.people.find("account", bound.names["account"], entity)
            yield places[inside], entity[inside]
            if bound.per != "account" or not len(places):
                return
            entity = self.people.parent[entity]

    def _find_replaced(self, bound: Bound, cap: str) -> np.ndarray:
        """Whose share of a bound on each of a kind another one sets by name."""
        names = self._names(bound.per)
        others = [other for other in self.bounds if bound.per is not None and bound.per in other.names]
        return np.array([any(other.replaces(cap, bound, name) for other in others) for name in names], np.bool_)


def find_exceeded(
    counted: Counted, amount: np.ndarray, begin: np.ndarray, stop: np.ndarray, latest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which indices of `counted` start beyond the cap, and what is then in use.

    The arrays are of the list of jobs: what each holds, from when to when. Of core-minutes, `amount` is cores, and
    `latest` is when the request ends.
    """
    jobs, entity = counted.places, counted.entity
    if counted.cap != WORK:
        (used,) = usage_at_starts(begin[jobs], stop[jobs], entity, amount[jobs])
        return np.flatnonzero(used > counted.most), used
    # Cores times what is left of the request fall as time goes by, so that a start is the worst moment. The sums may
    # pass 2**63 on their way, which their difference forgives: it is exact modulo 2**64, and small.
    cores = amount[jobs]
    ends, width = usage_at_starts(begin[jobs], stop[jobs], entity, cores * latest[jobs], cores)
    used = ends - width * begin[jobs]
    return np.flatnonzero(used > counted.most * MINUTE), -(-used // MINUTE)


def count_present(
    counted: Counted, submit: np.ndarray, late: np.ndarray, leave: np.ndarray, at: np.ndarray, entity: np.ndarray
) -> np.ndarray:
    """How many of those that count are, at most, in the system at each time `at`, for each of the entities there.

    A job that ends at that very time is gone, unless it came at that instant, or left `late` in it.
    """
    moments = np.unique(np.concatenate((submit, leave, at)))
    width = 2 * len(moments) + 2
    came, left = submit[counted.places], leave[counted.places]
    whose, base = counted.entity * width, entity * width
    arrivals = np.sort(whose + 2 * np.searchsorted(moments, came))
    lingers = (left <= came) | late[counted.places]
    departures = np.sort(whose + 2 * np.searchsorted(moments, left) + lingers)
    now, ones = base + 2 * np.searchsorted(moments, at) + 1, np.ones(len(came), np.int64)
    return np.asarray(sum_between(arrivals, ones, base, now) - sum_between(departures, ones, base, now))
