"""A policy that is called back: when a node is there, when a job comes, when one has ended, when a node asks for work.

Each call answers with decisions, or with nothing; they take effect at once, before the next call:

    class FirstFit(HostPolicy):
        every = 10

        def host_asks(self, host):
            for job in self.waiting:
                if job.fits(host):
                    return [Start(job, host)]

It is a `backfill` part like any other, by its name or in Python. A cluster that is a plain number of cores is one node.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from walltime.core.errors import PolicyError
from walltime.core.time import microseconds
from walltime.policy.api import Pass, Policy
from walltime.policy.surroundings import Surroundings

__all__ = ["Cancel", "Decided", "Host", "HostPolicy", "HostedJob", "Start"]


@dataclass(frozen=True)
class Host:
    """A node: its number and name, what it has, and what is free on it now, by resource."""

    number: int
    name: str
    has: dict[str, float]
    free: dict[str, float]


@dataclass(frozen=True, eq=False)
class HostedJob:
    """A job as the policy knows it from its coming to its end; `each` is what it wants on every one of its `nodes`, or,
    where it asks for cores alone, in all."""

    slot: int
    job_id: int
    user: str | None
    submit: float
    requested_time: float
    priority: int
    nodes: int
    each: dict[str, float]

    def fits(self, host: Host) -> bool:
        """Whether the node has so much free; whether the job may have it, the pass says."""
        return all(host.free[name] >= amount for name, amount in self.each.items())


@dataclass(frozen=True)
class Start:
    """The job starts: on these nodes, or, where none are named, on those that the `place` part chooses."""

    job: HostedJob
    hosts: Host | Sequence[Host] = ()


@dataclass(frozen=True)
class Cancel:
    """The waiting job is withdrawn."""

    job: HostedJob


Decided = Iterable[Start | Cancel] | None
"""What a call answers with."""


class HostPolicy(Policy):
    """Called back with what has happened since its last pass, in this order: ends, new jobs, and where it is time the
    view of all nodes, then each node in order of their numbers.

    With `every` (seconds) there is a view, and every node asks, at multiples of it while jobs wait; without, at each
    pass. `waiting` are the jobs that have come and neither started nor left, in the order of the queue.
    """

    every: float = 0

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[HostedJob] = []
        self._begin()

    # ---- what you write

    def host_added(self, host: Host) -> None:
        """A node is there; called for each before the first job."""

    def requested(self, job: HostedJob) -> Decided:
        """A job has come, or one that was interrupted is back."""
        return None

    def finished(self, job: HostedJob, hosts: Sequence[Host]) -> Decided:
        """A job runs no more; these are its nodes, with what is free there now."""
        return None

    def viewed(self, hosts: Sequence[Host]) -> Decided:
        """What all nodes have free now."""
        return None

    def host_asks(self, host: Host) -> Decided:
        """The node asks for work; it asks again for as long as it is given some."""
        return None

    # ---- how it is called

    def _begin(self) -> None:
        self._around: Surroundings | None = None
        self._names: list[str] = []
        self._jobs: dict[tuple[int, int], HostedJob] = {}
        self._running: dict[tuple[int, int], tuple[HostedJob, list[int]]] = {}
        self._asked = -1

    def attach(self, surroundings: Surroundings) -> None:
        self._begin()
        self._around = surroundings
        layout = surroundings.cluster.layout()
        self._names = [surroundings.cluster.name] if layout is None else layout.names()

    def schedule(self, p: Pass) -> None:
        if self._around is None:
            raise PolicyError(f"{type(self).__qualname__}: it is attached to no cluster, or overrides attach alone")
        if self._asked < 0:
            self._asked = 0
            for host in self._hosts(p):
                self.host_added(host)
        self._note_ends(p)
        self._note_arrivals(p)
        every = microseconds(self.every)
        if every == 0 or p.now % every == 0:
            self._obey(p, self.viewed(self._hosts(p)))
            for number in range(len(self._names)):
                while self.waiting and self._obey(p, self.host_asks(self._hosts(p, [number])[0])):
                    pass
        if every > 0 and self.waiting and p.now - p.now % every + every != self._asked:
            self._asked = p.now - p.now % every + every
            p.wake(self._asked)

    def _note_ends(self, p: Pass) -> None:
        jobs = p.jobs
        for key, (job, nodes) in list(self._running.items()):
            if _key(jobs, job.slot) != key or jobs.holding[job.slot] != 1:
                del self._running[key]
                self._obey(p, self.finished(job, self._hosts(p, nodes)))

    def _note_arrivals(self, p: Pass) -> None:
        """Jobs that are new to it come, those that have left are forgotten, and all stand as in the queue."""
        known, self._jobs, self.waiting = self._jobs, {}, []
        fresh = []
        for slot in p.waiting():
            key = _key(p.jobs, slot)
            job = known.get(key)
            if job is None:
                job = self._meet(p, slot)
                fresh.append(job)
            self._jobs[key] = job
            self.waiting.append(job)
        for job in fresh:
            if job in self.waiting:
                self._obey(p, self.requested(job))

    def _meet(self, p: Pass, slot: int) -> HostedJob:
        view = p.job(slot)
        names = p.ledger.resources
        if p.ledger.nodes == 0:
            nodes, each = 0, [float(view.cores)]
        else:
            request = p.ledger.request(slot)
            nodes, each = request.nodes, request.each.tolist()
            if nodes == 0:
                each = [request.cores * amount for amount in each]
        wants = {name: amount for name, amount in zip(names, each, strict=True) if amount > 0}
        return HostedJob(
            slot, view.job_id, self._user(view.user), view.submit, view.requested_time, view.priority, nodes, wants
        )

    def _user(self, code: int) -> str | None:
        if self._around is None or code < 0:
            return None
        return next((name for name, number in self._around.codes["user"].items() if number == code), None)

    def _hosts(self, p: Pass, numbers: Iterable[int] | None = None) -> list[Host]:
        names = p.ledger.resources
        if p.ledger.nodes == 0:
            has, free = np.array([[float(p.ledger.size)]]), np.array([[float(p.ledger.free)]])
        else:
            has, free = p.ledger.node_vectors(), p.ledger.free_vectors()
        return [
            Host(i, self._names[i], _by_name(names, has[i]), _by_name(names, free[i]))
            for i in (range(len(self._names)) if numbers is None else numbers)
        ]

    def _obey(self, p: Pass, decided: Decided) -> bool:
        """Make the decisions true, in the pass; whether there were any."""
        done = False
        for one in decided or ():
            if not isinstance(one, Start | Cancel):
                raise PolicyError(f"{type(self).__qualname__}: {one!r} is neither Start nor Cancel")
            slot = one.job.slot
            if one.job not in self.waiting:
                raise PolicyError(f"{type(self).__qualname__}: job {one.job.job_id} does not wait any more")
            if isinstance(one, Cancel):
                p.cancel(slot)
            else:
                self._start(p, one)
            self.waiting.remove(one.job)
            del self._jobs[_key(p.jobs, slot)]
            done = True
        return done

    def _start(self, p: Pass, start: Start) -> None:
        slot = start.job.slot
        chosen = [start.hosts] if isinstance(start.hosts, Host) else list(start.hosts)
        if not chosen or p.ledger.nodes == 0:
            p.start(slot)
        else:
            p.start_on(slot, [host.number for host in chosen])
        where = [node for node, _ in p.ledger.where(slot)] if p.ledger.nodes else [0]
        self._running[_key(p.jobs, slot)] = (start.job, where)


def _key(jobs: Any, slot: int) -> tuple[int, int]:
    """A job in one of its attempts: slots are used again."""
    return int(jobs.seq[slot]), int(jobs.attempt[slot])


def _by_name(names: Sequence[str], amounts: Any) -> dict[str, float]:
    return dict(zip(names, amounts.tolist(), strict=True))
