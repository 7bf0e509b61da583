"""What gets in the way of a scenario's jobs, done as an administrator would: nodes set down, reservations made.

Failures and windows are at the same times as on the native engine; what becomes of the jobs the controller decides.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from walltime.cluster.hostlist import compress
from walltime.core.tables import OUTAGES, constant, time_series
from walltime.core.time import NEVER, SECOND, microseconds
from walltime.core.workload import Workload
from walltime.rules.accounts import Accounts, Charges
from walltime.rules.failures import DOWN, NOTICE, FailureCalendar, FailureEvent
from walltime.rules.matching import match_any
from walltime.scenario import Cluster, Reservation, Scenario
from walltime.scenario.outages import known_ahead, occurrences, reserved_nodes
from walltime.slurm.site import Site
from walltime.slurm.translate.submission import ControllerUsers

HORIZON = 7 * 86_400 * SECOND
"""So far ahead the controller plans; that long, and the longest request, before it begins it is told of a window."""
LEAST_DELAY = 6
"""Seconds for which a job that was put back pauses: a credential is good for five at the least, and one more."""
END, BEGIN, MAKE = range(3)
"""What happens to a reservation, in its order at one instant."""


# ---- what cannot be said


def find_problems(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """What of reservations and failures a controller cannot honour, by key."""
    cluster = scenario.clusters[0]
    if cluster.interrupted == "checkpoint":
        yield "cluster.interrupted", "checkpoint: the controller knows of none"
    if cluster.requeue_delay and (cluster.requeue_delay % 1 or cluster.requeue_delay < LEAST_DELAY):
        yield "cluster.requeue_delay", f"the controller takes whole seconds, {LEAST_DELAY} at the least"
    if cluster.reservations and scenario.execution.overrun == "extend":
        yield "execution.overrun", "extend, with reservations: the controller lets the jobs that run there go on"
    for number, reservation in enumerate(cluster.reservations):
        key = f"cluster.reservations.{number}"
        for name in ("start", "length", "every"):
            if (getattr(reservation, name) or 0) % 1:
                yield f"{key}.{name}", "the controller counts whole seconds"
        if not reservation.maintenance and reservation.every is not None:
            yield f"{key}.every", "for users: with the controller no job inside would have to go at the end"
    for number, source in enumerate(cluster.failures):
        key = f"cluster.failures.{number}"
        if cluster.nodes is None:
            yield key, "of a plain number of cores: the controller has nodes; give nodes"
        if source.known:
            yield f"{key}.known", "the controller does not know when a node will be back; say known: false"


def find_guests(cluster: Cluster, workload: Workload) -> tuple[dict[str, tuple[str, ...]], list[tuple[str, str]]]:
    """The users of each reservation, by its name, and what Slurm cannot tell apart: it looks at the user alone."""
    charges = Charges(Accounts(cluster.accounts), workload)
    labels, users = workload.label_names("reservation"), workload.label_names("user")
    found: dict[str, tuple[str, ...]] = {}
    problems = []
    for number, reservation in enumerate(cluster.reservations):
        if reservation.maintenance:
            continue
        allowed = match_any(reservation, workload, charges)
        code = labels.index(reservation.name) if reservation.name in labels else -2
        bound, user = workload.column("reservation") == code, workload.column("user")
        inside = {int(one) for one in user[bound & allowed]}
        if torn := inside & {int(one) for one in user[bound & ~allowed]}:
            name = next((users[one] for one in sorted(torn) if one >= 0), "an unknown user")
            what = f"{name} has jobs that may use it and jobs that may not, and Slurm looks at the user"
            problems.append((f"cluster.reservations.{number}", what))
        found[reservation.name] = tuple(
            ControllerUsers.spell(users[one]) if one >= 0 else "unknown" for one in sorted(inside)
        )
    return found, problems


def spell(name: str) -> str:
    """A reservation's name as Slurm can read it; no dot, which sets the times of a window apart."""
    return re.sub(r"[^\w-]", "_", name)


# ---- what is done


@dataclass
class Outage:
    """A row of the table of outages, in microseconds after the trace's zero; `end` is -1 while it lasts."""

    kind: str
    name: str | None
    start: int
    nodes: np.ndarray[Any, Any]
    end: int = -1


class Outages:
    """The failures and reservations of a scenario, one after the other, as commands to the controller."""

    def __init__(self, scenario: Scenario, site: Site, workload: Workload, base: int) -> None:
        self.cluster, self.base = scenario.clusters[0], base
        self.site = site
        self.guests, _ = find_guests(self.cluster, workload)
        self.rows: list[Outage] = []
        self._finite = 0
        self._down: Counter[int] = Counter()
        self._draining: Counter[int] = Counter()
        self._open: dict[tuple[int, int, int], Outage] = {}
        self._failures = FailureCalendar(self.cluster, scenario.seed)
        self._heap: list[tuple[int, int, int, int, int]] = []  # time, what, number of the reservation, its turn, end
        longest = int(workload.column("requested_time").max()) if len(workload) else 0
        self._horizon = HORIZON + longest
        self._nodes = [self._reserved(one) for one in self.cluster.reservations]
        self._windows = [occurrences(one) for one in self.cluster.reservations]
        for number in range(len(self._windows)):
            self._announce(number, 1)

    @property
    def next(self) -> int | None:
        """When the next thing happens, in microseconds after the trace's zero."""
        first = min(self._failures.next, self._heap[0][0] if self._heap else NEVER)
        return None if first == NEVER else first

    @property
    def pending(self) -> bool:
        """Whether something of what does not go on for ever lasts, or is still to come."""
        return self._failures.finite + self._finite > 0

    @property
    def patience(self) -> int:
        """For how long a job may have to wait for what goes on for ever: the next occurrence, or a repair."""
        rhythms = [one.every for one in self.cluster.reservations if one.every is not None]
        repairs = [one.repair.mean for one in self.cluster.failures if one.repair is not None]
        return microseconds(2 * max(rhythms, default=0) + 5 * max(repairs, default=0))

    def fire(self) -> list[str]:
        """Let the next thing happen: the commands that an administrator gives."""
        if self._fails_first():
            return self._follow(self._failures.pop())
        at, what, number, turn, end = heapq.heappop(self._heap)
        if what == MAKE:
            return self._make(number, turn, end)
        self._turn(at, what, number, turn, end)
        return []

    def _fails_first(self) -> bool:
        """Whether a failure's event is next: at one instant returns come first, then ends, then failures, and so on."""
        time, what = self._failures.peek()
        return not self._heap or (time, what) <= self._heap[0][:2]

    # ---- failures

    def _follow(self, event: FailureEvent) -> list[str]:
        """Nodes are to fail, fail, or come back."""
        nodes = event.nodes.tolist()
        if event.what == NOTICE:
            self._draining.update(nodes)
            return self._say("drain", [node for node in nodes if not self._down[node]])
        if event.what == DOWN:
            if event.noticed:
                self._draining.subtract(nodes)
            self._down.update(nodes)
            self._begin((0, *event.key), Outage("failure", None, event.time, event.nodes))
            return self._say("down", [node for node in nodes if self._down[node] == 1])
        self._down.subtract(nodes)
        self._open.pop((0, *event.key)).end = event.time
        back = [node for node in nodes if not self._down[node]]
        return self._say("resume", back) + self._say("drain", [node for node in back if self._draining[node] > 0])

    def _say(self, state: str, nodes: list[int]) -> list[str]:
        names = compress([self.site.nodes[node].name for node in nodes])
        reason = "" if state == "resume" else " reason=failure"
        return [f"scontrol update nodename={names} state={state}{reason}"] if nodes else []

    # ---- reservations

    def _reserved(self, reservation: Reservation) -> np.ndarray[Any, Any]:
        """Its nodes; of a plain number of cores, each a node, the last ones."""
        found = reserved_nodes(reservation, self.cluster)
        if found is not None:
            return found
        count = len(self.site.nodes)
        return np.arange(count - (reservation.cores or count), count)

    def _announce(self, number: int, turn: int) -> None:
        """The next occurrence, known from the horizon on, a hundred at most; one that jobs may be bound to, from
        the first instant."""
        reservation = self.cluster.reservations[number]
        start, end = next(self._windows[number], (-1, -1))
        if start < 0:
            return
        self._finite += reservation.every is None or reservation.times is not None
        ahead = self._horizon if turn == 1 else known_ahead(reservation, self._horizon)
        known = max(start - ahead, 0) if reservation.maintenance else 0
        heapq.heappush(self._heap, (known, MAKE, number, turn, end))
        heapq.heappush(self._heap, (start, BEGIN, number, turn, end))

    def _make(self, number: int, turn: int, end: int) -> list[str]:
        reservation = self.cluster.reservations[number]
        start = end - microseconds(reservation.length)
        name = spell(reservation.name)
        if reservation.maintenance:
            users, flags = "root", "maint,ignore_jobs"
            name += f".{turn}" if reservation.every is not None else ""
            self._announce(number, turn + 1)
        else:
            users, flags = ",".join(self.guests[reservation.name]) or "root", "ignore_jobs"
        nodes = compress([self.site.nodes[node].name for node in self._nodes[number]])
        times = f"starttime=uts{(self.base + start) // SECOND} endtime=uts{(self.base + end) // SECOND}"
        return [f"scontrol create reservation={name} {times} nodes={nodes} users={users} flags={flags}"]

    def _turn(self, at: int, what: int, number: int, turn: int, end: int) -> None:
        reservation = self.cluster.reservations[number]
        if what == BEGIN:
            kind = "maintenance" if reservation.maintenance else "reservation"
            self._begin((1, number, turn), Outage(kind, reservation.name, at, self._nodes[number]))
            heapq.heappush(self._heap, (end, END, number, turn, end))
        else:
            self._open.pop((1, number, turn)).end = at
            self._finite -= reservation.every is None or reservation.times is not None

    # ---- what a result tells

    def _begin(self, key: tuple[int, int, int], outage: Outage) -> None:
        self.rows.append(outage)
        self._open[key] = outage

    def count_failures(self) -> int:
        """Of nodes, so far."""
        return sum(len(row.nodes) for row in self.rows if row.kind == "failure")

    def table(self) -> pl.DataFrame | None:
        """The table of outages so far, in order of start; None where nothing was ever shut."""
        if not self.rows:
            return None
        rows = sorted(self.rows, key=lambda row: row.start)
        sizes = np.array([node.cpus for node in self.site.nodes])
        columns = {
            "cluster": constant("cluster", self.cluster.name, len(rows)),
            "start": time_series("start", np.array([row.start for row in rows])),
            "end": time_series("end", np.array([row.end for row in rows])),
            "kind": pl.Series("kind", [row.kind for row in rows], dtype=pl.String),
            "name": pl.Series("name", [row.name for row in rows], dtype=pl.String),
            "nodes": pl.Series("nodes", [self._write(row.nodes, sizes) for row in rows], dtype=pl.String),
            "cores": pl.Series("cores", [int(sizes[row.nodes].sum()) for row in rows]),
        }
        return pl.DataFrame([columns[name].alias(name) for name in OUTAGES])

    def _write(self, nodes: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any]) -> str | None:
        """Nodes as allocations write them, `0-3:24,7:5`; a pool has none."""
        if self.site.pool:
            return None
        cores = sizes[nodes]
        cuts = np.flatnonzero((np.diff(nodes) != 1) | (np.diff(cores) != 0)) + 1
        runs = zip(np.split(nodes, cuts), np.split(cores, cuts), strict=True)
        return ",".join(
            f"{run[0]}:{each[0]}" if len(run) == 1 else f"{run[0]}-{run[-1]}:{each[0]}" for run, each in runs
        )
