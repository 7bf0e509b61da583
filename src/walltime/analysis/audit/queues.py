"""Is every job in a queue that takes it, and that the routes send it to?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from walltime.analysis.audit.people import JobOwners
from walltime.analysis.audit.requests import Requests
from walltime.core.time import format_duration, microseconds


class Queues:
    """The queues of a cluster: `options` says which job may be in which, `takes` which queue takes it."""

    def __init__(self, requests: Requests, people: JobOwners, cores: np.ndarray) -> None:
        self.told_cores = cores  # by which jobs are sent to queues
        self.requests, self.people = requests, people
        self.names = list(requests.cluster.queues)
        self.time = requests.column("requested_time")
        self.options = self._find_options()
        self.takes = self._find_takers()

    def _find_options(self) -> np.ndarray:
        """A row for each job: the queues that it names, or the one to which it is sent."""
        workload, cluster = self.requests.workload, self.requests.cluster
        labels = workload.label_names("queue")
        table = np.zeros((len(labels) + 1, len(self.names)), np.bool_)
        for number, label in enumerate(labels):
            named = [label] if label in cluster.queues else [name.strip() for name in label.split(",")]
            if all(name in cluster.queues for name in named):
                table[number, [self.names.index(name) for name in named]] = True
        options = table[self.requests.column("queue")]
        homeless = ~options.any(axis=1)
        for route in cluster.routes:
            sent = homeless & self._find_routed(route)
            options[sent, self.names.index(route.queue)] = True
            homeless &= ~sent
        for number, queue in enumerate(cluster.queues.values()):
            if queue.default:
                options[homeless, number] = True
        return np.asarray(options)

    def _find_routed(self, route: Any) -> np.ndarray:
        cores = self.told_cores
        good = self._find_allowed(route)
        for bound, low, high in ((cores, "min_cores", "max_cores"), (self.time, "min_time", "max_time")):
            least, most = (getattr(route, name) for name in (low, high))
            if bound is self.time:
                least, most = (None if value is None else microseconds(value) for value in (least, most))
            good &= (True if least is None else bound >= least) & (True if most is None else bound <= most)
        if route.named is not None:
            labels = self.requests.workload.label_names("queue")
            good &= np.array([*(label in route.named for label in labels), False])[self.requests.column("queue")]
        return good

    def _find_allowed(self, rule: Any) -> np.ndarray:
        """The jobs of the users, groups and accounts that a queue or a route names."""
        good = np.ones(len(self.time), np.bool_)
        for kind in ("user", "group", "account"):
            names = getattr(rule, f"{kind}s")
            if names is not None:
                good &= self.people.find(kind, names)
        return good

    def _find_takers(self) -> np.ndarray:
        """A row for each job: the queues whose own rules let it in."""
        takes = np.ones((len(self.time), len(self.names)), np.bool_)
        for number, name in enumerate(self.names):
            for bad, _ in self.explain(name):
                takes[:, number] &= ~bad
        return takes

    def explain(self, name: str) -> Iterator[tuple[np.ndarray, str]]:
        """The rules of a queue: which jobs each keeps out, and in words why."""
        queue, cores = self.requests.cluster.queues[name], self.requests.cores
        if queue.max_time is not None:
            late = self.time > microseconds(queue.max_time)
            yield late, f"asks for more time than queue {name} gives ({format_duration(queue.max_time)})"
        if queue.min_cores is not None:
            yield cores < queue.min_cores, f"asks for fewer cores than queue {name} takes ({queue.min_cores})"
        if queue.max_cores is not None:
            yield cores > queue.max_cores, f"asks for more cores than queue {name} takes ({queue.max_cores})"
        if queue.users or queue.groups or queue.accounts:
            yield ~self._find_allowed(queue), f"is not allowed in queue {name}"


def find_misplaced(queues: Queues, queue: np.ndarray, started: np.ndarray, rejected: np.ndarray) -> Iterator[Any]:
    """(jobs, message): those in a queue that is not theirs, or that does not take them; `queue` has its number."""
    names = queues.names
    inside = queue >= 0
    theirs = queues.options[np.arange(len(queue)), queue] & inside
    yield np.flatnonzero(~inside & ~rejected), "is in no queue"
    for number, name in enumerate(names):
        wrong = np.flatnonzero((queue == number) & ~theirs)
        for row in wrong.tolist():
            allowed = [names[other] for other in np.flatnonzero(queues.options[row])]
            yield np.array([row]), f"is in queue {name}, but {_describe(allowed)}"
        # Of several queues, one in which a job never started may be one that would not have taken it.
        sure = started | (queues.options.sum(axis=1) == 1)
        for bad, message in queues.explain(name):
            yield np.flatnonzero(bad & (queue == number) & theirs & sure & ~rejected), message


def _describe(allowed: list[str]) -> str:
    if not allowed:
        return "no queue takes it"
    return f"belongs in queue {allowed[0]}" if len(allowed) == 1 else f"asked for one of {', '.join(allowed)}"
