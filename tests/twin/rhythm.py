"""The periodic rhythm in the slow twin of a site: every tick is an instant, and every pass looks at everything.

Intervals are counted from zero. A tick at which somebody waits is a pass, whether or not anything has happened since
the last one. Where there was a choice:

- The main pass forgets all reservations. A queue stops at its first job that its limits admit and that does not fit,
  and with it each queue that shares nodes with it; a job that may run in several queues waits if one of them shares
  nodes with one that has stopped.
- Jobs at a limit count neither for the main pass's depth nor for the backfill pass's; those of queues that have stopped
  do.
- What is planned ends at a multiple of the resolution: the first at or after start + request. A job that would be kept
  at a time at which it cannot stay so long is kept at the first at which it can.
- A plain number of cores, and whole nodes that are all alike and may lie anywhere, are planned as numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from twin.jobs import Job
from twin.parts import Order
from twin.pool import Pool
from walltime.core.time import SECOND

if TYPE_CHECKING:
    from twin.site import Site

DEFAULTS = {
    "sched_interval": 60,
    "sched_min_interval": 2,
    "default_queue_depth": 100,
    "defer": False,
    "bf_interval": 30,
    "bf_window": 1440,
    "bf_resolution": 60,
    "bf_max_job_test": 500,
    "bf_max_job_user": 0,
}
RESERVATIONS = {"aggressive": 0, "easy": 1, "conservative": 1 << 60}


class Periodic:
    """The rhythm of one domain."""

    def __init__(self, site: Site, number: int, backfill: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        told = DEFAULTS | dict(given)
        self.site = site
        self.number = number
        self.main_every = told["sched_interval"] * SECOND if told["sched_interval"] > 0 else None
        self.pause = told["sched_min_interval"]
        self.main_depth = told["default_queue_depth"]
        self.defer = told["defer"]
        self.backfill_every = None if backfill["name"] == "none" else told["bf_interval"] * SECOND
        self.window = told["bf_window"] * 60 * SECOND
        self.grain = told["bf_resolution"] * SECOND
        self.tests = told["bf_max_job_test"]
        self.per_user = told["bf_max_job_user"]
        self.depth = RESERVATIONS.get(backfill["name"], backfill.get("depth", 1))
        self.candidates = Order(backfill["candidates"]) if "candidates" in backfill else None
        self.last_main = self.last_full = self.last_backfill = -(1 << 60)
        self.refused: set[int] = set()
        self.joined = self.changed = self.woken = False
        self.upset = self.shuffled = False  # which it does not look at

    def line(self) -> list[Job]:
        """Who waits here, in order, at a limit or not."""
        return [job for job in self.site.queue if job.domain == self.number]

    def let_in(self) -> bool:
        """Whether a limit has let somebody in since the last instant."""
        return any(job.row in self.refused and self.site.admitting(job) for job in self.line())

    def events(self) -> bool:
        return self.changed or self.woken or (self.joined and not self.defer)

    def times(self) -> list[int]:
        """When next there is a pass by the passing of time alone."""
        now = self.site.now
        if not self.line():
            return []
        times = [now - now % every + every for every in (self.main_every, self.backfill_every) if every is not None]
        if self.main_every is not None and self.events() and self.last_main + self.pause > now:
            times.append(self.last_main + self.pause)
        return times

    def schedule(self) -> None:
        now = self.site.now
        if not self.line():  # what happens while nobody waits is of no interest later
            self.joined = self.changed = self.woken = False
            return
        self.woken |= self.let_in()
        if self.main_every is not None:
            if now % self.main_every == 0 and self.last_full != now:
                self.last_full = now
                self.run_main(len(self.site.jobs))
            elif self.events() and now >= self.last_main + self.pause:
                self.last_main = now
                self.run_main(self.main_depth)
        if self.backfill_every is not None and now % self.backfill_every == 0 and self.last_backfill != now:
            self.last_backfill = now
            self.run_backfill()
        self.refused = self.site.refused(self.line())

    # ---- the main pass

    def run_main(self, depth: int) -> None:
        site = self.site
        self.joined = self.changed = self.woken = False
        self.forget()
        stopped: list[Job] = []
        for job in self.line():
            if depth == 0:
                break
            if not site.admitting(job):
                continue
            depth -= 1
            if not any(self.share_nodes(job, other) for other in stopped) and not site.try_start(job):
                stopped.append(job)

    def share_nodes(self, one: Job, other: Job) -> bool:
        """Whether a queue of the one and a queue of the other share nodes."""
        sets = [self.site.queues.node_set(queue) for queue in one.queues]
        others = [self.site.queues.node_set(queue) for queue in other.queues]
        return any(a is None or b is None or bool(set(a) & set(b)) for a in sets for b in others)

    def forget(self) -> None:
        for hold in list(self.site.ledger.holds):
            if hold.job.domain == self.number:
                self.site.ledger.drop(hold.job)

    # ---- the backfill pass

    def run_backfill(self) -> None:
        self.forget()
        counts = _count(self.site)
        tested: Counter[str | None] = Counter()
        reserved = 0
        rest = []
        for job in self.line():
            if tested.total() == self.tests:
                break
            if not self.site.admitting(job) or (self.per_user and tested[job.user] == self.per_user):
                continue
            tested[job.user] += 1
            if reserved >= self.depth and self.candidates is not None:
                rest.append(job)
            elif self.fits(job, counts):
                self.start(job)
            elif reserved < self.depth:
                reserved += self.reserve(job, counts)
        order = self.candidates
        if order is not None:
            for _, job in sorted(((order.rank(job, self.site.now), job) for job in rest), key=lambda pair: pair[0]):
                if self.site.admitting(job) and self.fits(job, counts):
                    self.start(job)

    def up(self, time: int) -> int:
        return int(-(-time // self.grain) * self.grain)

    def fits(self, job: Job, counts: Numbers | None) -> bool:
        now = self.site.now
        until = self.up(now + job.length)
        if counts is not None:
            return counts.clear(job, now, until)
        queues = self.site.admitting(job)
        asked, job.estimate = job.estimate, until - now
        fits = any(self.site.ledger.fits(job, queue) for queue in queues)
        job.estimate = asked
        return fits

    def start(self, job: Job) -> None:
        """In the first of its queues that lets it, for what it really asks."""
        self.site.try_start(job)

    def reserve(self, job: Job, counts: Numbers | None) -> int:
        """Keep a place for the job; how many were made."""
        site = self.site
        asked = job.estimate
        queues = site.admitting(job)

        def first() -> tuple[int, str | None]:
            if counts is not None:
                return counts.earliest(job), None
            known = [(site.ledger.earliest(job, queue), queue) for queue in queues]
            return min(((time, queue) for time, queue in known if time is not None), key=lambda one: one[0])

        start, _ = first()
        if start - site.now > self.window:
            return 0
        job.estimate = self.up(start + job.length) - start
        start, queue = first()
        within = start - site.now <= self.window
        if within and counts is not None:
            counts.holds.append((start, start + job.length, counts.units(job)))
        elif within:
            site.ledger.hold(job, queue, start)
        job.estimate = asked
        return int(within)


class Numbers:
    """Cores, or whole nodes, as one number: what runs, and what is kept as (start, end, how many)."""

    def __init__(self, site: Site, capacity: int, size: int | None) -> None:
        self.site = site
        self.capacity = capacity
        self.size = size  # the cores of a node
        self.holds: list[tuple[int, int, int]] = []

    def units(self, job: Job) -> int:
        if self.size is None:
            return job.cores
        return self.site.vectors.request(job, job.queues[0] if job.queues else None).count or -(-job.cores // self.size)

    def free_at(self, time: int) -> int:
        """Now, everybody is still there, if only for this instant."""
        there = [job for job in self.site.running if time <= self.site.now or job.expected_end > time]
        kept = sum(units for start, end, units in self.holds if start <= time < end)
        return self.capacity - sum(self.units(job) for job in there) - kept

    def clear(self, job: Job, start: int, until: int) -> bool:
        steps = [start, *(time for time, _, _ in self.holds if start < time < until)]
        return all(self.free_at(step) >= self.units(job) for step in steps)

    def earliest(self, job: Job) -> int:
        now = self.site.now
        ends = {max(other.expected_end, now + 1) for other in self.site.running} | {end for _, end, _ in self.holds}
        return next(time for time in sorted({now} | ends) if self.clear(job, time, time + job.length))


def _count(site: Site) -> Numbers | None:
    ledger = site.ledger
    if isinstance(ledger, Pool):
        return Numbers(site, ledger.cores, None)
    sizes = {capacity["cores"] for capacity in ledger.capacity}
    alike = ledger.layout.whole and len(sizes) == 1
    if alike and ledger.place.name != "contiguous" and all(_any_nodes(site, job) for job in site.jobs):
        return Numbers(site, len(ledger.capacity), sizes.pop())
    return None


def _any_nodes(site: Site, job: Job) -> bool:
    return all(site.vectors.any_serve(site.vectors.request(job, queue)) for queue in job.queues or (None,))
