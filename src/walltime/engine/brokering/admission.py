"""What is known of every job before it has a cluster: its global queue, where it is bound, what each site's rules say.

All of it is decided when a batch of jobs is read, and looked up by the job's row when it is sent somewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from walltime.core.errors import InputError
from walltime.core.workload import MISSING, Workload
from walltime.engine.brokering.assignments import Assignments
from walltime.rules.accounts import Accounts, Charges
from walltime.rules.matching import match_label, match_people, match_size
from walltime.rules.numbering import number_rows
from walltime.rules.site import (
    ELSEWHERE,
    Ruled,
    SiteRules,
    count_nodes,
    refuse_unknown_reservations,
    total_gpus,
    total_memory,
)
from walltime.scenario import Scenario

Array = np.ndarray[Any, Any]
_LABELS = (("queues", "queue"), ("qos", "qos"), ("types", "profile"))


class GlobalRouting:
    """The global queue of each job, and the clusters that the bindings leave to it."""

    def __init__(self, scenario: Scenario) -> None:
        broker = scenario.broker
        self.scenario = scenario
        self.bindings = () if broker is None else broker.bind
        self.queues = () if broker is None else tuple(broker.queues.values())
        ranked = sorted(range(len(self.queues)), key=lambda number: (-self.queues[number].priority, number))
        self.rank = {number: rank for rank, number in enumerate(ranked)}
        names = [cluster.name for cluster in scenario.clusters]
        self.masks = [np.isin(names, list(binding.clusters)) for binding in self.bindings]
        self.accounts = Accounts({name: one for cluster in scenario.clusters for name, one in cluster.accounts.items()})
        self.kinds: dict[tuple[int, bytes], int] = {}
        self.queue_of: list[int] = []
        self.left: list[list[int]] = []
        self.rows: Array = np.zeros(0, np.int32)
        self.live: dict[int, int] = {}

    @property
    def needed(self) -> bool:
        """Whether there is anything to decide."""
        return bool(self.bindings or len(self.queues) > 1 or any(queue != type(queue)() for queue in self.queues))

    def add(self, batch: Workload) -> None:
        """The next rows."""
        self.rows = np.concatenate([self.rows, self._decide(batch)])

    def add_live(self, row: int, batch: Workload, cluster: str | None = None) -> None:
        """A job that was submitted during the run, under its (negative) row; to a `cluster`, if its user chooses."""
        self.live[row] = int(self._decide(batch, cluster)[0])

    def kind(self, row: int) -> int:
        """The number of those jobs that are in the same queue and bound to the same clusters."""
        return int(self.rows[row]) if row >= 0 else self.live[row]

    def queue(self, row: int) -> int:
        """The job's queue, counted in the order in which they are served."""
        return self.queue_of[self.kind(row)]

    def clusters(self, kind: int) -> list[int]:
        """The clusters that the bindings leave to such jobs."""
        return self.left[kind]

    def _decide(self, batch: Workload, cluster: str | None = None) -> Array:
        size = len(batch)
        charges = Charges(self.accounts, batch)
        queue = np.full(size, -1 if self.queues else 0, np.int64)
        for number, rule in enumerate(self.queues):
            queue[(queue < 0) & _match(rule, batch, charges)] = self.rank[number]
        if self.queues and np.any(queue < 0):
            job = int(batch.column("job_id")[int(np.argmax(queue < 0))])
            where = self.scenario.place("broker.queues")
            raise InputError(
                "broker.queues: no global queue takes the job; give one without conditions", value=job, **where
            )
        allowed = np.ones((size, len(self.scenario.clusters)), bool)
        matched = [_match(binding, batch, charges) for binding in self.bindings]
        for mask, rows in zip(self.masks, matched, strict=True):
            allowed[rows] &= mask
        self._refuse_homeless(batch, allowed, matched)
        if cluster is not None:
            allowed &= np.array([one.name == cluster for one in self.scenario.clusters])
        return self._intern(queue, allowed)

    def _refuse_homeless(self, batch: Workload, allowed: Array, matched: list[Array]) -> None:
        """Raise InputError for a job that its bindings leave no cluster."""
        homeless = ~allowed.any(axis=1)
        if homeless.any():
            row = int(np.argmax(homeless))
            numbers = [number for number, rows in enumerate(matched) if rows[row]]
            rules = " and ".join(f"broker.bind.{number}" for number in numbers)
            where = self.scenario.place(f"broker.bind.{numbers[-1]}")
            job = int(batch.column("job_id")[row])
            raise InputError(f"{rules}: together they leave no cluster to a job that both mean", value=job, **where)

    def _intern(self, queue: Array, allowed: Array) -> Array:
        packed = np.packbits(allowed, axis=1)
        numbers, rows = number_rows([queue, *packed.T])
        known = np.empty(len(rows), np.int32)
        for number, row in enumerate(rows.tolist()):
            key = (int(queue[row]), packed[row].tobytes())
            if key not in self.kinds:
                self.kinds[key] = len(self.kinds)
                self.queue_of.append(key[0])
                self.left.append(np.flatnonzero(allowed[row]).tolist())
            known[number] = self.kinds[key]
        return np.asarray(known[numbers])


class Admission:
    """The routing of the global scheduler and the assignments of the clusters; a None for what does not exist."""

    def __init__(
        self, routing: GlobalRouting | None, sites: list[SiteRules | None], assignments: list[Assignments | None]
    ) -> None:
        self.routing = routing
        self.sites = sites
        self.assigned = assignments
        self.sent: list[Ruled | None] = []  # the last batch, as each site has it
        self.reservations = [bound.reservation.name for site in sites if site is not None for bound in site.bound]

    def add(self, batch: Workload) -> None:
        """The next batch of the workload, its labels numbered as in all others; raises InputError."""
        refuse_unknown_reservations(batch, self.reservations)
        if self.routing is not None:
            self.routing.add(batch)
        self.sent = [None] * len(self.sites)
        for number, (site, assignments) in enumerate(zip(self.sites, self.assigned, strict=True)):
            if assignments is not None:
                self.sent[number] = ruled = _unruled(batch, assignments) if site is None else site.apply(batch)
                assignments.add(ruled)

    def find_queues(self, batch: Workload) -> Workload:
        """The last batch, its jobs in the queues to which the clusters that take them send them, or that refuse them
        where none takes them; a job for which these differ is in no queue."""
        size = len(batch)
        names: dict[str, int] = {}
        found, told = np.full(size, MISSING, np.int32), np.zeros(size, bool)
        for refusing in (False, True):
            left = ~told
            for number, ruled in enumerate(self.sent):
                rows = left & self._may_go(number, size)
                if ruled is not None and not refusing:
                    rows &= ruled.refused < 0
                queued = batch if ruled is None else ruled.batch
                numbers = [names.setdefault(name, len(names)) for name in queued.label_names("queue")]
                codes = np.array([*numbers, MISSING], np.int32)[queued.column("queue")]
                found[rows] = np.where(told[rows] & (found[rows] != codes[rows]), MISSING, codes[rows])
                told |= rows
        return batch.replace(dict(batch.columns) | {"queue": found}, labels=dict(batch.labels) | {"queue": list(names)})

    def _may_go(self, number: int, size: int) -> Array:
        """To which of the last so many jobs the bindings leave the cluster of this number."""
        if self.routing is None:
            return np.ones(size, bool)
        left = np.array([number in clusters for clusters in self.routing.left], bool)
        return np.asarray(left[self.routing.rows[-size:]])

    def add_live(self, row: int, batch: Workload, cluster: str | None = None) -> None:
        """The same for one job that is submitted during the run, to a `cluster` if its user chooses one."""
        if self.routing is not None:
            self.routing.add_live(row, batch, cluster)
        for site, assignments in zip(self.sites, self.assigned, strict=True):
            if assignments is not None:
                assignments.add_live(row, _unruled(batch, assignments) if site is None else site.apply(batch))


def _match(rule: Any, batch: Workload, charges: Charges) -> Array:
    mask = match_size(rule, batch) & match_people(rule, batch, charges)
    for key, kind in _LABELS:
        names = getattr(rule, key)
        if names is not None:
            mask &= match_label(batch, kind, names)
    return np.asarray(mask)


def _unruled(batch: Workload, assignments: Assignments) -> Ruled:
    """What a cluster without rules makes of jobs, where others have some."""
    size = len(batch)
    none, nothing = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    refused = none
    if batch.has("reservation") and np.any(batch.column("reservation") >= 0):
        if not assignments.reasons:
            assignments.reasons.append(ELSEWHERE)
        refused = np.where(batch.column("reservation") >= 0, 0, -1)
    return Ruled(
        batch,
        lane=nothing,
        domain=nothing,
        queue=batch.column("queue").astype(np.int64),
        rules=none,
        shape=none,
        choice=none,
        memory=total_memory(batch, count_nodes(batch)),
        gpus=total_gpus(batch, count_nodes(batch)),
        refused=refused,
    )
