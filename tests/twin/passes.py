"""The scheduling passes of the slow twin of a site: every rule of backfilling, one domain after the other.

A domain's line is all that waits in it, in order. A job that its limits refuse is passed over: it is asked when it is
its turn, so what started before it in the same pass counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from twin.jobs import Job
from twin.packing import Packer, pack
from twin.parts import Order
from twin.pool import Hold

if TYPE_CHECKING:
    from twin.site import Site


class Domain:
    """Queues that share nodes, and the state of the rule that schedules them."""

    def __init__(self, site: Site, number: int, backfill: Mapping[str, Any]) -> None:
        self.site = site
        self.number = number
        self.name: str = "conservative" if backfill["name"] == "plan" else backfill["name"]
        self.best_gap = backfill.get("build") == "best-gap"
        self.depth: int = 1 if self.name == "easy" else backfill.get("depth", 50 if self.name == "lookahead" else 1)
        self.alpha = float(backfill.get("alpha", 0.0))
        self.candidates = Order(backfill["candidates"]) if "candidates" in backfill else None
        self.packer = Packer(site, dict(backfill)) if self.name == "tetris" else None
        self.head: Job | None = None  # the blocked head, and the earliest start that it has been found to have
        self.head_start = 0
        self.left: list[Job] = []  # who was in the line after the last pass
        self.known: set[int] | None = None  # their rows, once somebody has asked
        self.blocked: list[Job] = []  # who has a reservation there, or could not be given one
        self.refused: set[int] = set()  # and of those who were at a limit then
        self.joined = False  # since then a job has joined the line,
        self.changed = False  # or one has left it, or ended,
        self.woken = False  # or time alone has let somebody in, or a promise is due,
        self.upset = False  # or the machine itself has changed, or an expected end,
        self.shuffled = False  # or the keys of an order were renewed

    def has_reason(self) -> bool:
        """Whether there is something to decide."""
        reason = self.joined or self.changed or self.woken or self.upset or self.let_in()
        if not reason or self.woken:
            return reason
        return any(job.domain == self.number for job in self.site.queue) or bool(self.suspended())

    def let_in(self) -> bool:
        """Whether limits admit a job that they refused at the last pass."""
        return bool(self.refused) and any(job.row in self.refused and self.site.admitting(job) for job in self.line())

    def schedule(self) -> None:
        """One pass, if there is a reason for one."""
        if not self.has_reason():
            return
        only_arrivals = not (self.changed or self.woken or self.upset or self.let_in())
        if self.site.preemption.act(self, only_arrivals):
            self.upset = True
        RULES[self.name](self, only_arrivals and not self.upset)
        self.left, self.known = self.line(), None
        self.refused = self.site.refused(self.left)
        self.joined = self.changed = self.woken = self.upset = self.shuffled = False

    def line(self) -> list[Job]:
        """Who waits here, in order, at a limit or not."""
        if len(self.site.domains) == 1:
            return list(self.site.queue)
        return [job for job in self.site.queue if job.domain == self.number]

    def nodes(self) -> set[int]:
        """Its nodes: those of its queues, or of its reservation."""
        for booking in self.site.outages.bookings:
            if booking.domain == self.number:
                return set(booking.nodes)
        queues = self.site.queues
        names = [name for name, number in queues.domains.items() if number == self.number]
        return set().union(*(queues.node_set(name) for name in names))

    @property
    def considered(self) -> set[int]:
        """Rows of those who were in the line after the last pass."""
        if self.known is None:
            self.known = {job.row for job in self.left}
        return self.known

    def suspended(self) -> list[Job]:
        if self.site.preemption.by is None:
            return []
        return [job for job in self.site.jobs if job.state == "suspended" and job.domain == self.number]

    def lost(self, job: Job) -> bool:
        """Whether the job's reservation is in a queue where it is at a limit now, or for a time that has gone by."""
        hold = self.hold_of(job)
        return self.at_limit(job) or (hold is not None and hold.start < self.site.now)

    def at_limit(self, job: Job) -> bool:
        """Whether the job may not start now in the queue that its reservation is for; without one, in none."""
        hold = self.hold_of(job)
        admitting = self.site.admitting(job)
        return not admitting if hold is None else hold.queue not in admitting

    def hold_of(self, job: Job) -> Hold | None:
        return next((hold for hold in self.site.ledger.holds if hold.job is job), None)

    def holders(self) -> list[Job]:
        """Who waits here and has a reservation, in order; claims are not the policy's."""
        held = {hold.job.row for hold in self.site.ledger.holds if not self.site.preemption.is_pinned(hold)}
        return [job for job in self.line() if job.row in held]

    def in_turn(self, jobs: list[Job]) -> list[Job]:
        """The candidates in their order; the queue's own where none is given."""
        order = self.candidates
        if order is None:
            return jobs
        ranks = [order.rank(job, self.site.now) for job in jobs]
        return [job for _, job in sorted(zip(ranks, jobs, strict=True), key=lambda pair: pair[0])]

    def start_fitting(self, jobs: list[Job]) -> None:
        """Start what fits, in the candidates' order."""
        free = self.site.ledger.free()
        for job in self.in_turn([job for job in jobs if job.cores <= free]):
            if job.cores <= free and self.site.try_start(job):
                free = self.site.ledger.free()

    def place(self, job: Job) -> None:
        """Promise a start to a job that has none: the earliest, or that of the gap which it fills best."""
        self.site.reserve(job)
        hold = self.hold_of(job)
        if self.best_gap and hold is not None:
            self.site.ledger.drop(job)
            self.site.ledger.hold(job, hold.queue, self.site.ledger.best_gap(job, hold.queue))

    def reserve(self, job: Job) -> None:
        """Keep a place for the blocked job; with `alpha` as much later than it might be as others may delay it."""
        self.site.reserve(job)
        hold = self.hold_of(job)
        if not self.alpha or hold is None:
            return
        if self.head is not job:
            self.head, self.head_start = job, hold.start
        self.head_start = min(self.head_start, hold.start)
        slack = int(self.alpha * float(job.estimate))
        self.site.ledger.hold(job, hold.queue, max(hold.start, self.head_start + slack))


def _start_heads(domain: Domain, only_arrivals: bool) -> None:
    """Start the first while it fits."""
    for job in domain.line():
        if domain.site.admitting(job) and not domain.site.try_start(job):
            return


def _start_all(domain: Domain, only_arrivals: bool) -> None:
    """Start heads while they fit, then whatever else fits; no place is kept."""
    _start_heads(domain, only_arrivals)
    domain.start_fitting(domain.line())


def _start_deep(domain: Domain, only_arrivals: bool) -> None:
    """In order: what fits starts, and the first `depth` that do not get a reservation each, where that can be planned;
    behind the last of these, whatever fits starts, in the candidates' order.

    Reservations stand while nothing but arrivals happens, behind those who have one, and their jobs are not at a limit;
    then only the new jobs are looked at.
    """
    site, line = domain.site, domain.line()
    blocked = [job for job in line if job in domain.blocked]
    stand = blocked and only_arrivals and _at_the_end(domain, line, blocked)
    if stand and not any(domain.lost(job) for job in blocked):
        line = [job for job in line if job.row not in domain.considered]
    else:
        for job in domain.holders():
            site.ledger.drop(job)
        blocked = []
    while line and len(blocked) < domain.depth:
        job = line.pop(0)
        if site.admitting(job) and not site.try_start(job):
            domain.reserve(job)
            blocked.append(job)
    domain.start_fitting(line)
    domain.blocked = blocked


def _at_the_end(domain: Domain, line: list[Job], blocked: list[Job]) -> bool:
    """Whether nobody's place in the line can have changed, and the new ones stand behind those with a reservation."""
    if domain.shuffled or any(job.order.dynamic for job in line):
        return False
    return not any(job.row not in domain.considered for job in line[: line.index(blocked[-1])])


def _keep_promises(domain: Domain, only_arrivals: bool) -> None:
    """Every job has a reservation and keeps or betters it: first those at a limit lose theirs; those that have one are
    placed again one by one if something ended or left, then those that have none are placed, then what is due starts,
    and those at a limit now lose theirs. Where the machine has changed all of them are placed again."""
    site = domain.site
    for job in domain.holders():
        if domain.at_limit(job):
            site.ledger.drop(job)
    holders = domain.holders()
    if domain.upset:
        for job in holders:
            site.ledger.drop(job)
        holders = []
    elif domain.changed:
        for job in domain.in_turn(holders):
            site.reserve(job)
    for job in domain.line():
        if job not in holders and site.admitting(job):
            domain.place(job)
    due = {hold.job.row for hold in site.ledger.holds if hold.start <= site.now}
    for job in domain.line():
        if job.row in due:
            site.try_start(job)
    for job in domain.holders():
        if domain.lost(job):
            site.ledger.drop(job)


def _look_ahead(domain: Domain, only_arrivals: bool) -> None:
    """Heads start, the first that does not fit gets a reservation, and the best sets of jobs behind it start: those
    that use the most cores. A set is chosen by numbers of cores alone; those of it that find their nodes, in order,
    start; then the same with those that still fit. With more than `depth` that fit the next pass begins anew."""
    site, line = domain.site, domain.line()
    blocked = [job for job in line if job in domain.blocked]
    if blocked and only_arrivals and _at_the_end(domain, line, blocked) and not any(map(domain.lost, blocked)):
        line = [job for job in line if job.row not in domain.considered]
    else:
        for job in domain.holders():
            site.ledger.drop(job)
        blocked = []
        while line and not blocked:
            job = line.pop(0)
            if site.admitting(job) and not site.try_start(job):
                site.reserve(job)
                blocked = [job]
    fitting = [job for job in line if _may_start(site, job)]
    domain.blocked = blocked if len(fitting) <= domain.depth else []
    fitting = fitting[: domain.depth]
    head = blocked[0] if blocked else None
    while fitting:
        for job in _choose_best(domain, head, fitting) or fitting[:1]:
            site.try_start(job)
        fitting = [job for job in fitting if job in site.queue and _may_start(site, job)]


def _may_start(site: Site, job: Job) -> bool:
    return any(site.ledger.fits(job, queue) for queue in site.admitting(job))


def _choose_best(domain: Domain, head: Job | None, fitting: list[Job]) -> list[Job]:
    """Those that use the most of the cores that are free on the nodes here, who outlast the start of the head's hold
    only what that leaves free; of equal sets the first in order."""
    site, nodes = domain.site, domain.nodes()
    hold = None if head is None else domain.hold_of(head)
    free = site.ledger.free_for(fitting[0], nodes)
    extra = free if hold is None else site.ledger.beside_hold(hold, nodes)

    def left(job: Job, extra: int) -> int:
        """What of the extra is left once this job runs."""
        return extra if hold is None or site.now + job.estimate <= hold.start else extra - job.cores

    @cache
    def most(i: int, free: int, extra: int) -> int:
        """How many cores the jobs from place i on can use at the most."""
        if i == len(fitting):
            return 0
        without, job = most(i + 1, free, extra), fitting[i]
        if job.cores > free or left(job, extra) < 0:
            return without
        return max(without, job.cores + most(i + 1, free - job.cores, left(job, extra)))

    chosen = []
    for i, job in enumerate(fitting):
        if job.cores <= free and left(job, extra) >= 0:
            with_it = job.cores + most(i + 1, free - job.cores, left(job, extra))
            if with_it == most(i, free, extra):
                free, extra = free - job.cores, left(job, extra)
                chosen.append(job)
    return chosen


RULES: dict[str, Callable[[Domain, bool], None]] = {
    "none": _start_heads,
    "aggressive": _start_all,
    "easy": _start_deep,
    "depth": _start_deep,
    "conservative": _keep_promises,
    "plan": _keep_promises,
    "lookahead": _look_ahead,
    "tetris": pack,
}
"""The scheduling pass of each rule."""
