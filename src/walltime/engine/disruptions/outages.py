"""What is not there for all jobs: nodes that fail and come back, reservations that begin and end."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from walltime.core.time import NEVER, SECOND, microseconds
from walltime.kernel.jobs import Outcome, State, add_blocker, drop_blocker
from walltime.kernel.ledger.cores import CoreLedger
from walltime.kernel.source import Remedy, Source
from walltime.policy.views import find_ledger
from walltime.rules.failures import DOWN, NOTICE, FailureCalendar, FailureEvent
from walltime.scenario import Cluster, Reservation
from walltime.scenario.outages import failing_cores, known_ahead, occurrences, reserved_cores, reserved_nodes

Array = np.ndarray[Any, Any]
REMEDIES = {"requeue": Remedy.REQUEUE, "fail": Remedy.FAIL, "checkpoint": Remedy.RESTORE}
MONTH = 30 * 86_400 * SECOND


@dataclass
class Outage:
    """A row of the table of outages; `end` is -1 while it lasts."""

    kind: str
    name: str
    start: int
    end: int
    nodes: Array | None
    shares: Array | None
    """The cores of each of the nodes."""
    cores: int


@dataclass
class OutageState:
    """A cluster of the simulation as outages see it: its ledgers, which job is where, and what has happened to it."""

    index: int
    cluster: Cluster
    simulation: Any
    bound: int
    """Jobs of domains from this number on have their own ledgers: reservations."""
    outages: list[Outage] = field(default_factory=list)
    draining: Counter[int] = field(default_factory=Counter)
    closures: dict[int, tuple[Any, int, int, Array | None, int]] = field(default_factory=dict)
    """By blocker: the ledger on which something is or will be shut, from when to when, the nodes and the cores."""
    reserved: list[ReservationWindow] = field(default_factory=list)
    shut_now: list[tuple[list[Any], Outage]] = field(default_factory=list)
    """What is shut, as `open` needs it."""
    coming: dict[int, tuple[int, int, str, Array | None]] = field(default_factory=dict)
    """Reservations that the scheduler knows of and that have not begun: start, end, name, nodes; by their blockers."""
    down: int = 0
    """Cores that have failed."""

    def __post_init__(self) -> None:
        layout = self.cluster.layout()
        self.cores = None if layout is None else layout.cores()
        self.remedy = REMEDIES[self.cluster.interrupted]
        for ledger in self.ledgers():
            if isinstance(ledger, CoreLedger):
                ledger.profile()

    @property
    def ledger(self) -> Any:
        return self.simulation.clusters[self.index].ledger

    def ledgers(self) -> list[Any]:
        """All of its ledgers, the machine's own first."""
        return [self.ledger, *self.simulation.clusters[self.index].reserved]

    def count(self, nodes: Array | None, cores: int) -> int:
        """The cores of nodes; those that are told, where there are no nodes."""
        return cores if nodes is None or self.cores is None else int(self.cores[nodes].sum())

    def set_time(self) -> None:
        for ledger in self.ledgers():
            ledger.set_time(self.simulation.now)

    def windows(self, ledger: Any, mask: Array | None) -> list[tuple[int, int, int]]:
        """What is shut on a ledger, now or later, as (start, end, cores); of some nodes only, where there is a mask.
        What is shut twice is there twice."""
        found = []
        for whose, start, end, nodes, cores in self.closures.values():
            if whose is ledger:
                meant = nodes if nodes is None or mask is None else nodes[mask[nodes]]
                found.append((start, end, self.count(meant, cores)))
        return found

    # ---- which job is where

    def running(self, domain: int | None = None) -> list[int]:
        """Jobs that run on the machine's own ledger, or in a domain that has one; the oldest start first."""
        jobs = self.simulation.jobs
        found = np.flatnonzero(
            (jobs.holding[: jobs.size] == 1)
            & (jobs.state[: jobs.size] == State.RUNNING)
            & (jobs.seq[: jobs.size] >= 0)
            & (jobs.cluster[: jobs.size] == self.index)
            & (jobs.domain[: jobs.size] < self.bound if domain is None else jobs.domain[: jobs.size] == domain)
        )
        return [int(slot) for slot in found[np.lexsort((jobs.seq[found], jobs.start[found]))]]

    def interrupt(self, slots: list[int]) -> None:
        """These jobs cannot stay, in order of entry."""
        jobs = self.simulation.jobs
        for slot in sorted(slots, key=jobs.seq.__getitem__):
            outcome = State.FAILED if self.remedy == Remedy.FAIL else Outcome.REQUEUED
            self.simulation.interrupt(slot, self.remedy, outcome)

    def on_nodes(self, nodes: Array) -> list[int]:
        """Jobs that run on one of the nodes, or are suspended there."""
        found = [slot for ledger in self.ledgers() for slot in ledger.jobs_on(nodes)]
        there = set(nodes.tolist())
        for domain in self.simulation.clusters[self.index].domains:
            if domain.preemptor is not None:
                suspended = domain.preemptor.suspended.items()
                found += [slot for slot, where in suspended if any(node in there for node, _ in where)]
        return found

    def on_unit(self, number: int, unit: int) -> list[int]:
        """Of a plain number of cores: the jobs on the unit, all of them laid on a line, the oldest first."""
        jobs, found = self.simulation.jobs, []
        first = max(min(number * unit, self.ledger.size - self.down - unit), 0)
        at = 0
        for slot in self.running():
            cores = int(jobs.cores[slot])
            if at < first + unit and at + cores > first:
                found.append(slot)
            at += cores
        return found

    # ---- shut and open

    def shut(self, kind: str, name: str, nodes: Array | None, cores: int, until: int) -> tuple[list[Any], Outage]:
        """No job can use these any more, as far as is known until `until`; what `open` needs."""
        blockers = []
        for ledger in self.ledgers() if kind == "failure" and nodes is not None else [self.ledger]:
            blocker = add_blocker(self.simulation.jobs, self.count(nodes, cores))
            ledger.shut(blocker, nodes, until)
            self.closures[blocker] = (ledger, self.simulation.now, until, nodes, self.count(nodes, cores))
            blockers.append((ledger, blocker))
        shares = None if nodes is None or self.cores is None else self.cores[nodes]
        outage = Outage(kind, name, self.simulation.now, -1, nodes, shares, self.count(nodes, cores))
        self.outages.append(outage)
        self.down += outage.cores if kind == "failure" else 0
        self.simulation.capacity_changed(self.index)
        self.shut_now.append((blockers, outage))
        return self.shut_now[-1]

    def open(self, shut: tuple[list[Any], Outage]) -> None:
        """They are there again."""
        blockers, outage = shut
        self.shut_now = [other for other in self.shut_now if other is not shut]
        self.set_time()
        for ledger, blocker in blockers:
            ledger.give(blocker)
            del self.closures[blocker]
            drop_blocker(self.simulation.jobs, blocker)
        outage.end = self.simulation.now
        self.down -= outage.cores if outage.kind == "failure" else 0
        self.simulation.capacity_changed(self.index)

    def drain(self, nodes: Array, begins: bool) -> None:
        """Nothing new starts on the nodes; or as ever."""
        self.set_time()
        for node in nodes.tolist():
            self.draining[node] += 1 if begins else -1
        changed = [node for node in nodes.tolist() if self.draining[node] == (1 if begins else 0)]
        for ledger in self.ledgers():
            ledger.drain(changed, begins)
        self.simulation.capacity_changed(self.index)


class FailureSource(Source):
    """Failures, repairs, and the notice before a failure, of one cluster; at one instant repairs come first."""

    def __init__(self, machine: OutageState, seed: int, cluster: str = "") -> None:
        """`cluster` is the name that tells its draws from those of others, where there are several."""
        Source.__init__(self)
        self.background = True
        self.machine = machine
        self.calendar = FailureCalendar(machine.cluster, seed, cluster)
        self.down: dict[tuple[int, int], Any] = {}
        self._look()

    def _look(self) -> None:
        self.endless = self.calendar.finite == 0
        self.next = self.calendar.next

    def fire(self, now: int) -> None:
        while self.calendar.next <= now:
            event = self.calendar.pop()
            if event.what == NOTICE:
                self.machine.drain(event.nodes, True)
            elif event.what == DOWN:
                self._fail(event)
            else:
                self.machine.open(self.down.pop(event.key))
            if self.engine.per_event:
                break
        self._look()

    def _fail(self, event: FailureEvent) -> None:
        machine, source, nodes = self.machine, self.machine.cluster.failures[event.source], event.nodes
        machine.set_time()
        plain = machine.cores is None
        unit = failing_cores(source, machine.cluster) if plain else 0
        machine.interrupt(machine.on_unit(int(nodes[0]), unit) if plain else machine.on_nodes(nodes))
        if event.noticed:
            machine.drain(nodes, False)
        until = event.end if source.known else NEVER
        self.down[event.key] = machine.shut("failure", "", None if plain else nodes, unit, until)
        machine.simulation.counts["failures"] += 1 if plain else len(nodes)


class ReservationSource(Source):
    """The beginnings and ends of a cluster's reservations, and the day from which the scheduler knows of one."""

    END, START, ANNOUNCE = range(3)

    def __init__(self, machine: OutageState, domains: dict[int, int], horizon: int) -> None:
        """`domains` are those of the reservations that jobs may use, by the reservation's number; `horizon` is how long
        before its start the first occurrence of one is known of, at least as long as any job may run."""
        Source.__init__(self)
        self.background = True
        self.machine = machine
        self.domains = domains
        self.horizon = horizon
        self.reservations: tuple[Reservation, ...] = machine.cluster.reservations
        self.nodes = [reserved_nodes(one, machine.cluster) for one in self.reservations]
        self.cores = [reserved_cores(one, machine.cluster) for one in self.reservations]
        self.futures = [occurrences(one) for one in self.reservations]
        self.ahead = [horizon] * len(self.reservations)  # how long before its start the next occurrence is known of
        self.heap: list[tuple[int, int, int, int]] = []  # time, kind, reservation, end
        self.announced: dict[tuple[int, int], int] = {}  # the blockers of those that are to come, by number and start
        self.open: dict[int, Any] = {}
        self.windows: dict[int, ReservationWindow] = {}
        self.finite = 0
        self.under_way = False  # whether a reservation that becomes known is news to the scheduler

    def attach(self, engine: Any) -> None:
        super().attach(engine)
        for number in range(len(self.reservations)):
            if number in self.domains:
                name = self.reservations[number].name
                window = ReservationWindow(
                    self.machine, self.domains[number], self.nodes[number], self.cores[number], name
                )
                self.machine.reserved.append(window)
                self.windows[number] = window
            self._follow(number)
        self.fire(0)
        self.under_way = True

    def _follow(self, number: int) -> None:
        """The next occurrence: the first is known from the horizon before its start on, a further one as `known_ahead`
        says."""
        start, _ = next(self.futures[number], (NEVER, NEVER))
        ahead = self.ahead[number]
        self.ahead[number] = known_ahead(self.reservations[number], self.horizon)
        if start >= NEVER and number in self.windows:
            self.windows[number].last = True
        if start < NEVER:
            heapq.heappush(self.heap, (max(start - ahead, 0), self.ANNOUNCE, number, start))
            self.finite += not self._recurs(number)

    def _recurs(self, number: int) -> bool:
        return self.reservations[number].every is not None and self.reservations[number].times is None

    def fire(self, now: int) -> None:
        while self.heap and self.heap[0][0] <= now:
            _, kind, number, start = heapq.heappop(self.heap)
            end = start + microseconds(self.reservations[number].length)
            if kind == self.ANNOUNCE:
                self._announce(number, start, end)
            elif kind == self.START:
                self._begin(number, start, end)
            else:
                self._end(number)
            if self.engine.per_event and now > 0:
                break
        self.endless = self.finite == 0
        self.next = self.heap[0][0] if self.heap else NEVER

    def _announce(self, number: int, start: int, end: int) -> None:
        machine = self.machine
        machine.set_time()
        if start > machine.simulation.now:
            blocker = add_blocker(machine.simulation.jobs, self.cores[number])
            machine.ledger.keep_shut(blocker, self.nodes[number], start, end)
            machine.closures[blocker] = (machine.ledger, start, end, self.nodes[number], self.cores[number])
            self.announced[number, start] = blocker
            machine.coming[blocker] = (start, end, self.reservations[number].name, self.nodes[number])
        if number in self.windows:
            self.windows[number].announce(start, end)
        heapq.heappush(self.heap, (start, self.START, number, start))
        if self.under_way:
            machine.simulation.capacity_changed(machine.index)
        self._follow(number)

    def _begin(self, number: int, start: int, end: int) -> None:
        machine, reservation, nodes = self.machine, self.reservations[number], self.nodes[number]
        machine.set_time()
        blocker = self.announced.pop((number, start), None)
        if blocker is not None:
            machine.ledger.unhold(blocker)
            del machine.closures[blocker]
            drop_blocker(machine.simulation.jobs, blocker)
            del machine.coming[blocker]
        if nodes is not None:
            machine.interrupt(machine.ledger.jobs_on(nodes))
        else:
            while machine.ledger.free < self.cores[number] and (running := machine.running()):
                machine.interrupt(running[-1:])
        kind = "maintenance" if reservation.maintenance else "reservation"
        self.open[number] = machine.shut(kind, reservation.name, nodes, self.cores[number], end)
        if number in self.windows:
            self.windows[number].begin()
        heapq.heappush(self.heap, (end, self.END, number, start))

    def _end(self, number: int) -> None:
        if number in self.windows:
            self.windows[number].end()
        self.machine.open(self.open.pop(number))
        self.finite -= not self._recurs(number)


class ReservationWindow:
    """The way into a reservation that jobs may use: their ledger is shut but during its occurrences."""

    def __init__(self, machine: OutageState, domain: int, nodes: Array | None, cores: int, name: str) -> None:
        self.machine = machine
        self.name = name
        self.domain = domain
        self.nodes = nodes
        self.cores = cores
        self.ledger = find_ledger(machine.simulation.clusters[machine.index].domains[domain].view)
        self.coming: list[tuple[int, int]] = []  # occurrences that are known of and not over
        self.gaps: list[int] = []  # the blockers behind each of them
        self.blocker = add_blocker(machine.simulation.jobs, cores)
        self.ledger.shut(self.blocker, nodes, NEVER)
        self.inside = False
        self.last = False  # whether no further occurrence will be announced

    @property
    def over(self) -> bool:
        """Whether no job will ever get in any more."""
        return self.last and not self.coming and not self.inside

    def running(self) -> list[int]:
        return self.machine.running(self.domain)

    def announce(self, start: int, end: int) -> None:
        """One more occurrence will come, behind all that are known."""
        jobs = self.machine.simulation.jobs
        if self.coming:
            self.ledger.unhold(self.gaps[-1])
            self._keep(self.gaps[-1], self.coming[-1][1], start)
        elif not self.inside:
            self.ledger.prolong(self.blocker, start)
        self.coming.append((start, end))
        self.gaps.append(add_blocker(jobs, self.cores))
        self._keep(self.gaps[-1], end, NEVER)

    def _keep(self, blocker: int, start: int, end: int) -> None:
        """The time between two occurrences; even where one follows the other at once, no job is to stay for both."""
        self.ledger.keep_shut(blocker, self.nodes, start, max(end, start + 1))

    def begin(self) -> None:
        self.inside = True
        self.ledger.give(self.blocker)
        drop_blocker(self.machine.simulation.jobs, self.blocker)

    def end(self) -> None:
        """The jobs still inside have to go; shut until the next time."""
        self.machine.set_time()
        self.machine.interrupt(self.running())
        self.inside = False
        self.coming.pop(0)
        self.blocker = self.gaps.pop(0)
        self.ledger.unhold(self.blocker)
        self.ledger.shut(self.blocker, self.nodes, self.coming[0][0] if self.coming else NEVER)
