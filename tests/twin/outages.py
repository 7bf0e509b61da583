"""Reservations, maintenance and failures in the slow twin of a site: what they keep from whom, and when they change.

A `Block` is a time in which some nodes (or cores of a plain number of them) are not there for a job. Where the guide
leaves it open: a node that drains has no part in any plan, as one that is down for nobody knows how long. Nodes may
fail for several reasons at once: they are back when the last one is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twin.jobs import Accounts, Job
from walltime.cluster.failures import renewals
from walltime.core.time import microseconds
from walltime.scenario import Cluster
from walltime.scenario.disruptions import Failures, Reservation
from walltime.scenario.outages import exposed_cores, told_failures

if TYPE_CHECKING:
    from twin.site import Site

DAY = 86_400_000_000
FAR = 30 * DAY
AHEAD = 100  # occurrences of a reservation that are known of at most


@dataclass(frozen=True)
class Block:
    """Nodes, or so many cores, that are away from `start` up to but without `end`; None: nobody knows until when."""

    start: int
    end: int | None
    nodes: frozenset[int]
    cores: int
    down: bool = False  # or draining: a failure, not a reservation

    def covers(self, time: int) -> bool:
        return self.start <= time and (self.end is None or time < self.end)


class Booking:
    """A reservation of the scenario, with all its occurrences."""

    def __init__(self, rule: Reservation, nodes: frozenset[int], cores: int) -> None:
        self.rule = rule
        self.name: str = rule.name
        self.nodes = nodes
        self.cores = cores
        self.start, self.length = microseconds(rule.start), microseconds(rule.length)
        self.every = None if rule.every is None else microseconds(rule.every)
        self.far = FAR  # how long before its start the first occurrence is known of
        self.domain: int | None = None  # of the jobs that are bound to it

    def occurrence(self, number: int) -> tuple[int, int] | None:
        """When the occurrence with that number, from 0, begins and ends."""
        most = 1 if self.every is None else self.rule.times
        if most is not None and number >= most:
            return None
        start = self.start + number * (self.every or 0)
        return start, start + self.length

    def occurrences(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Those that end after `first` and begin at `last` or before."""
        number = 0 if self.every is None else max(0, (first - self.start) // self.every - 1)
        while (times := self.occurrence(number)) is not None and times[0] <= last:
            if times[1] > first:
                yield times
            number += 1

    def known_from(self, start: int) -> int:
        """From when on the occurrence that begins at `start` is known of: the first from afar, further ones as far
        ahead as `AHEAD` of them reach, if that is less."""
        ahead = self.far if self.every is None or start == self.start else min(self.far, AHEAD * self.every)
        return start - ahead

    def known(self, now: int) -> Iterator[tuple[int, int]]:
        """Occurrences that are not over and known of now."""
        for start, end in self.occurrences(now, 1 << 62):
            if self.known_from(start) > now:
                return
            yield start, end

    def open_at(self, now: int) -> bool:
        return any(start <= now for start, _ in self.occurrences(now, now))

    def over(self, now: int) -> bool:
        """Whether there is no occurrence that ends later than now."""
        number = 0 if self.every is None else max(0, (now - self.start) // self.every - 1)
        while (times := self.occurrence(number)) is not None:
            if times[1] > now:
                return False
            number += 1
        return True

    def admits(self, job: Job, accounts: Accounts) -> bool:
        rule = self.rule
        return (
            job.user in (rule.users or ())
            or job.group in (rule.groups or ())
            or any(name in (rule.accounts or ()) for name in accounts.above(job.account))
        )


@dataclass(eq=False)
class Failing:
    """Nodes that fail together, or a unit of cores; `outages` gives (failure, end of repair), in order."""

    source: int
    number: int  # of its first node, or of the unit
    nodes: frozenset[int]
    cores: int
    notice: int
    known: bool
    outages: Iterator[tuple[int, int]]
    renewed: bool = False  # whether it fails again and again
    state: str = "up"
    down_at: int | None = None
    up_at: int = 0
    drain_at: int = 0

    def advance(self) -> None:
        """Look at the next outage."""
        back = self.up_at
        self.down_at, self.up_at = next(self.outages, (None, 0))
        if self.down_at is not None:
            self.drain_at = max(self.down_at - self.notice, back, 0)

    def next(self) -> int | None:
        """When its state changes."""
        if self.state == "down":
            return self.up_at
        if self.down_at is None:
            return None
        return self.drain_at if self.state == "up" else self.down_at

    def block(self, now: int) -> Block | None:
        if self.state == "up":
            return None
        known = self.known and self.state == "down"
        return Block(now, self.up_at if known else None, self.nodes, self.cores, down=True)


class Outages:
    """All of them; `site` has the clock and the jobs."""

    def __init__(self, site: Site, cluster: Cluster, failing: list[Failing], jobs: list[Job]) -> None:
        self.site = site
        self.bookings = [make_booking(cluster, rule) for rule in cluster.reservations]
        self.failing = sorted(failing, key=lambda group: (group.source, group.number))
        for group in self.failing:
            group.advance()
        longest = max((job.requested_time or 0 for job in jobs), default=0)
        for booking in self.bookings:
            booking.far = max(FAR, longest)
        self.record: list[tuple[str, str | None, int, int | None, frozenset[int], int]] = []

    def booking(self, name: str | None) -> Booking | None:
        return next((booking for booking in self.bookings if booking.name == name), None)

    # ---- what is away

    def blocks(self, job: Job) -> list[Block]:
        """Everything that is not there for the job, now or later as far as is known."""
        now = self.site.now
        found = self.down_blocks()
        for booking in self.bookings:
            if booking.name != job.reservation:
                for start, end in booking.known(now):
                    found.append(Block(start, end, booking.nodes, booking.cores))
        return found

    def down_blocks(self) -> list[Block]:
        """What is down or drains."""
        return [block for group in self.failing if (block := group.block(self.site.now)) is not None]

    def present_blocks(self, job: Job) -> list[Block]:
        """What is not there for the job at this moment: failures, and reservations that have begun."""
        return [*self.down_blocks(), *(block for block in self.blocks(job) if block.covers(self.site.now))]

    def inside(self, job: Job, time: int) -> bool:
        """Whether the job would be in an occurrence of its own reservation for all of its time, if it has one."""
        mine = self.booking(job.reservation)
        return mine is None or any(
            start <= time and time + job.length <= end for start, end in mine.occurrences(time, time)
        )

    def openings(self, job: Job) -> list[int]:
        """When the job's own reservation opens, as far as is known."""
        mine = self.booking(job.reservation)
        return [] if mine is None else [start for start, _ in mine.known(self.site.now)]

    def down_cores(self) -> int:
        return sum(group.cores for group in self.failing if group.state == "down")

    # ---- what happens

    def longest_pause(self) -> int:
        """From one occurrence to the next, of reservations that recur."""
        return max((booking.every or 0 for booking in self.bookings), default=0)

    def will_end(self, now: int) -> bool:
        """Whether something is still to come that will not go on for ever."""
        finite = [booking for booking in self.bookings if booking.every is None or booking.rule.times is not None]
        return any(not booking.over(now) for booking in finite) or any(
            group.next() is not None for group in self.failing if not group.renewed
        )

    def next(self) -> list[int]:
        """When something of this happens: the next change of each group, the next edges and announcements."""
        unseen = self.site.unseen
        times = [time for group in self.failing if (time := group.next()) is not None]
        for booking in self.bookings:
            for start, end in booking.occurrences(unseen - 1, 1 << 62):
                times += [time for time in (booking.known_from(start), start, end) if time >= unseen]
                if booking.known_from(start) >= unseen:
                    break
        return times

    def fire(self) -> None:
        """Repairs, then failures, by source and number of the group; then ends of reservations, then beginnings."""
        now = self.site.now
        for change in ("down", "up", "draining"):  # repairs first, then failures, or the notice of them
            for group in self.failing:
                if group.state == change and group.next() == now:
                    self.change(group)
        if now < self.site.unseen:
            return  # the edges of this instant have been seen
        for booking in self.bookings:
            for _, end in booking.occurrences(now - 1, now):
                if end == now:
                    self.close(booking)
        for booking in self.bookings:
            for start, end in booking.known(now):
                if start == now:
                    self.open(booking, end)
                elif booking.known_from(start) == now:
                    self.site.upset()

    def change(self, group: Failing) -> None:
        """The group begins to drain, fails, or is back."""
        now = self.site.now
        if group.state == "up" and group.drain_at < (group.down_at or 0):
            group.state = "draining"
            self.record.append(("drain", None, now, group.down_at, group.nodes, group.cores))
        elif group.state == "down":
            group.state = "up"
            group.advance()
        else:
            self.hit(group)
            group.state = "down"
            self.record.append(("failure", None, now, group.up_at, group.nodes, group.cores))
        self.site.upset()

    def hit(self, group: Failing) -> None:
        """Interrupt who runs or sits on it, in order of entry."""
        site = self.site
        if group.nodes:
            victims = [
                job
                for job in site.jobs
                if job.state in ("running", "suspended") and any(node in group.nodes for node, _ in job.shares)
            ]
        else:
            victims = self.on_the_line(group)
        for job in sorted(victims, key=lambda job: job.turn):
            site.interrupt(job)

    def on_the_line(self, group: Failing) -> list[Job]:
        """Whose cores are hit: the running jobs side by side in the order in which they started."""
        up = self.site.ledger.cores - self.down_cores()
        first = min(group.number * group.cores, up - group.cores)
        place, found = 0, []
        running = [job for job in self.site.running if self.booking(job.reservation) is None]  # the rest is elsewhere
        for job in sorted(running, key=lambda job: (job.course.since, job.turn)):
            if place < first + group.cores and place + job.cores > first:
                found.append(job)
            place += job.cores
        return found

    def close(self, booking: Booking) -> None:
        """An occurrence is over: whoever of its own still runs there is interrupted."""
        for job in [job for job in self.site.jobs if job.state == "running" and job.reservation == booking.name]:
            self.site.interrupt(job)
        self.site.upset()

    def open(self, booking: Booking, end: int) -> None:
        """An occurrence begins: whoever is in its way is interrupted."""
        site = self.site
        kind = "maintenance" if booking.rule.maintenance else "reservation"
        self.record.append((kind, booking.name, site.now, end, booking.nodes, booking.cores))
        if booking.nodes:
            for job in [job for job in site.jobs if job.state == "running"]:
                if any(node in booking.nodes for node, _ in job.shares):
                    site.interrupt(job)
        else:
            while self.free_beside(booking) < booking.cores:
                strangers = [job for job in site.running if self.booking(job.reservation) is None]
                if not strangers:
                    break
                site.interrupt(max(strangers, key=lambda job: (job.course.since, job.turn)))
        site.upset()

    def free_beside(self, booking: Booking) -> int:
        """Cores that are up, not in use, and not kept by another open reservation."""
        site = self.site
        free = site.ledger.cores - self.down_cores()
        for other in self.bookings:
            if other is not booking and other.open_at(site.now):
                free -= other.cores
        used = sum(job.cores for job in site.running if self.booking(job.reservation) is None)
        return free - used


def make_booking(cluster: Cluster, rule: Reservation) -> Booking:
    """The reservation with its nodes, or its cores where there are no nodes."""
    layout = cluster.layout()
    if layout is None:
        assert cluster.cores is not None
        return Booking(rule, frozenset(), cluster.cores if rule.cores is None else rule.cores)
    numbers = range(layout.count)
    if rule.nodes is not None:
        chosen = layout.select(rule.nodes).tolist()
        nodes = frozenset(node for node in numbers if chosen[node])
    else:
        nodes = frozenset(numbers[layout.count - (rule.count or layout.count) :])
    return Booking(rule, nodes, int(sum(layout.cores()[node] for node in nodes)))


def read_failing(cluster: Cluster, seed: int) -> list[Failing]:
    """All groups of nodes that fail, or units of cores, each with its outages."""
    found = []
    for source, rule in enumerate(cluster.failures):
        notice = microseconds(rule.notice)
        for start, end, told in told_failures(rule, cluster):
            nodes = frozenset(told.tolist())
            found.append(Failing(source, min(nodes), nodes, 0, notice, rule.known, iter([(start, end)])))
        for number, nodes, cores in _groups(cluster, rule) if rule.file is None else ():
            if rule.between is not None and rule.repair is not None:
                outages = renewals(seed, source, number, rule.between, rule.repair)
            else:
                at = microseconds(rule.at or 0)
                outages = iter([(at, at + microseconds(rule.length or 0))])
            again = rule.between is not None
            found.append(Failing(source, number, nodes, cores, notice, rule.known, outages, again))
    return found


def _groups(cluster: Cluster, rule: Failures) -> Iterator[tuple[int, frozenset[int], int]]:
    """What fails as one: (number of its first node, nodes, cores), or of a plain number of cores (number, -, cores)."""
    layout = cluster.layout()
    if layout is None:
        assert cluster.cores is not None
        unit = rule.cores or max(1, cluster.cores // 16)
        for number in range(exposed_cores(cluster) // unit if rule.at is None else 1):
            yield number, frozenset(), unit
        return
    chosen = [True] * layout.count if rule.nodes is None else layout.select(rule.nodes).tolist()
    nodes = [node for node in range(layout.count) if chosen[node]]
    together = rule.together if rule.at is None else len(nodes)
    for first in range(0, len(nodes), together):
        group = frozenset(nodes[first : first + together])
        yield min(group), group, int(sum(layout.cores()[node] for node in group))
