"""Slurm's planner in the slow twin of a site: the rules of its two passes, over sets of nodes and lists of plans.

Where there was a choice:

- A pass on a job's end comes at once; one on anything else at a whole second, `batch_sched_delay` after the last of its
  kind; every multiple of `sched_interval` is one of these, whether somebody waits or not.
- A backfill cycle comes at a whole second, `bf_interval` after the last, if there was news at its instant or since
  then, or the order changes with time. One comes also where no job waits, and only the next one counts from it. News is
  what happens to jobs and nodes; a main pass that met a job of a stopped queue, one without licences or one with too
  few nodes left; a cycle that has started a job, has planned one later than its nodes have room, or has planned with
  idle nodes, or did so the time before.
- Jobs at a limit count for the depth of the main pass, and for nothing in a cycle. With limits an end is one for all
  queues. A job that may run in several queues is tried in one after the other, and counts each time.
- With `assoc_limit_stop` a job at a limit stops its queue, unless one on the number of jobs is among them, and gets a
  place: where it could start now but for that, at the next time at which it would be tried, or in 500 s.
- An array is looked at until one of its tasks has neither started nor got a place, and until so many have one.
- A job that its queue's open nodes could not hold if they were idle does not stop its queue, unless there are fewer
  of them than it wants.
- What is planned is kept from the multiple of the resolution at or before its start to the one at or before its end,
  but for one resolution at least. Nodes are usable from a start to an end if they are kept for nobody between, the end
  included.
- Running jobs are taken away by their expected ends: those of whole nodes one by one, others window by window.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from twin.jobs import Job
from twin.requests import Request, Rooms
from twin.rhythm import Periodic
from walltime.core.time import SECOND

if TYPE_CHECKING:
    from twin.site import Site

OWN = {
    "batch_sched_delay": 3,
    "partition_job_depth": 0,
    "sched_max_job_start": 0,
    "bf_window_linear": 0,
    "bf_max_job_start": 0,
    "bf_max_job_part": 0,
    "bf_max_job_user_part": 0,
    "bf_max_job_assoc": 0,
    "bf_job_part_count_reserve": 0,
    "bf_min_age_reserve": 0,
    "bf_max_job_array_resv": 20,
    "assoc_limit_stop": False,
}
PLACES = {"easy": 1, "conservative": 0}
LIKE: dict[str, Callable[[Job, str | None], Any]] = {
    "bf_max_job_user": lambda job, queue: job.user,
    "bf_max_job_part": lambda job, queue: queue,
    "bf_max_job_user_part": lambda job, queue: (job.user, queue),
    "bf_max_job_assoc": lambda job, queue: (job.account, job.user),
}
"""Of which jobs each parameter lets the cycle look at so many."""


class SlurmPasses(Periodic):
    """The passes of one domain."""

    def __init__(self, site: Site, number: int, backfill: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        own = {name: value for name, value in given.items() if name not in OWN}
        super().__init__(site, number, {"name": backfill["name"]}, own)
        self.told = OWN | {"bf_max_job_user": 0} | dict(given)
        self.interval = self.told.get("bf_interval", 30) * SECOND
        self.cycles = backfill["name"] != "none"
        self.places = self.told["bf_job_part_count_reserve"] or PLACES.get(backfill["name"], backfill.get("depth", 1))
        self.delay = self.told["batch_sched_delay"] * SECOND
        self.age = self.told["bf_min_age_reserve"] * SECOND
        self.last_called = self.stirred_at = -(1 << 60)
        self.gone = 0  # how many runs had ended at the last look
        self.stood: list[Job] = []
        self.ended = self.queued = False
        self.news: int | None = None  # since when there has been something for a cycle
        self.marked = False  # whether the last one has planned with idle nodes
        orders = [site.queues.order_of(name) for name in site.queues.names or (None,)]
        self.ageing = any(order.dynamic or order.fair is not None for order in orders)

    # ---- when

    def stopped(self) -> int:
        """How many runs have ended so far, of all domains where licences or limits are shared."""
        everybody = self.site.licensed or self.site.limits.rules
        return sum(count for domain, count in self.site.stopped.items() if everybody or domain == self.number)

    def called(self) -> int:
        now = self.site.now
        return max(self.last_called, now - now % self.main_every if self.main_every else self.last_called)

    def times(self) -> list[int]:
        now = self.site.now
        times = [now - now % SECOND + SECOND] if self.line() else []
        if times and self.ended and not self.defer and self.last_main + self.pause > now:
            times.append(self.last_main + self.pause)
        return times

    def schedule(self) -> None:
        now = self.site.now
        gone = self.stopped() > self.gone
        if not self.line():
            if gone or self.joined or self.changed or self.woken or any(job.state == "cancelled" for job in self.stood):
                self.note()
            self.joined = self.changed = self.woken = self.ended = self.queued = False
            self.gone, self.stood = self.stopped(), []
            return
        opened = not gone and self.let_in()
        happened = self.joined or self.changed or self.woken or opened
        withdrawn = any(job.state == "cancelled" for job in self.stood)
        self.ended |= gone
        self.queued |= withdrawn or self.joined or self.woken or opened or (gone and self.defer)
        if happened or gone or withdrawn:
            self.stirred_at = now
            self.note()
        self.joined = self.changed = self.woken = False
        beat = now % SECOND == 0
        if self.main_every is not None:
            at_once = self.ended and not self.defer and now >= self.last_main + self.pause
            if now % self.main_every == 0 and self.last_full != now:
                self.last_full = self.last_called = now
                self.main_pass(1 << 60)
            elif at_once:
                self.last_main = now
                self.main_pass(self.main_depth)
            elif self.queued and beat and now >= self.called() + self.delay:
                self.last_called = now
                self.main_pass(self.main_depth)
        if self.cycles and beat:
            self.empty_cycle()
            if now >= self.last_backfill + self.interval and (self.news is not None or self.ageing):
                self.last_backfill = now
                self.news = now if self.cycle() or self.stirred_at == now else None
        self.refused = self.site.refused(self.line())
        self.gone, self.stood = self.stopped(), self.line()
        if not self.line():  # what a main pass was still to look at is done with
            self.ended = self.queued = False

    def empty_cycle(self) -> None:
        """Have had the cycle that came when no job waited."""
        if self.news is not None:
            time = -(-max(self.news, self.last_backfill + self.interval) // SECOND) * SECOND
            if time < self.site.now:
                self.last_backfill, self.news = time, None

    def note(self) -> None:
        self.empty_cycle()
        self.news = self.site.now if self.news is None else self.news

    # ---- nodes

    def nodes_of(self, queue: str | None) -> set[int]:
        own = self.site.queues.node_set(queue)
        return set(range(len(self.site.vectors.capacity))) if own is None else set(own)

    def least(self, job: Job, queue: str | None) -> int:
        return self.site.vectors.request(job, queue).count or 1

    def holds(self, job: Job, queue: str | None, nodes: set[int], running: list[Job]) -> bool:
        """Whether the nodes have room for the job beside these running ones."""
        request, rooms = self.rooms(job, queue, nodes, running)
        if request.count is None:
            return sum(request.offers(rooms)) >= request.cores
        return self.site.vectors.place.suits(request.suitable(rooms), request.count)

    def rooms(self, job: Job, queue: str | None, nodes: set[int], running: list[Job]) -> tuple[Request, Rooms]:
        ledger = self.site.vectors
        request = ledger.request(job, queue)
        rooms = ledger.rooms(request, [ledger.seen_by(job, running)])
        return request, [room if node in nodes else None for node, room in enumerate(rooms)]

    def holds_idle(self, job: Job, queue: str | None, nodes: set[int]) -> bool:
        request, rooms = self.rooms(job, queue, nodes, [])
        if request.count is None:
            return sum(request.offers(rooms)) >= request.cores
        return len(request.suitable(rooms)) >= request.count

    def licensed(self, job: Job, queue: str | None) -> bool:
        ledger = self.site.vectors
        for name, wanted in ledger.request(job, queue).licences.items():
            used = sum(ledger.licences_of(other).get(name, 0) for other in self.site.running)
            if used + wanted > ledger.layout.licences.get(name, 0):
                return False
        return True

    def start_on(self, job: Job, queue: str | None, nodes: set[int]) -> bool:
        """Start the job on some of these nodes, if it fits there now."""
        ledger = self.site.vectors
        ledger.usable = nodes
        fits = ledger.fits(job, queue)
        if fits:
            self.site.start(job, queue)
        ledger.usable = None
        return bool(fits)

    def young(self, job: Job) -> bool:
        since = job.submit if job.queued is None else job.queued
        return bool(self.age > 0 and self.site.now - since < self.age)

    # ---- the main pass

    def main_pass(self, depth: int) -> None:
        self.ended = self.queued = False
        stopped: set[str | None] = set()
        opened = self.nodes_of(None)
        looked: Counter[str | None] = Counter()
        begun = tested = 0
        met = False
        most = self.told["sched_max_job_start"] or 1 << 60
        few = self.told["partition_job_depth"] or 1 << 60
        rejected: str | None = None
        for job in self.line():
            if tested > depth or begun == most:
                break
            if job.array is not None and job.array == rejected:
                continue
            rejected = job.array
            for queue in job.queues:
                looked[queue] += 1
                if looked[queue] > few:
                    continue
                tested += 1
                if queue in stopped:
                    met = True
                    continue
                if queue not in self.site.admitting(job):
                    if self.is_stopped_by_limit(job, queue):
                        stopped.add(queue)
                        opened = opened - self.nodes_of(queue)
                    continue
                if self.start_on(job, queue, opened):
                    begun += 1
                    rejected = None
                    break
                mine = opened & self.nodes_of(queue)
                scarce = len(mine) < self.least(job, queue)
                met |= scarce or not self.licensed(job, queue)
                if self.licensed(job, queue) and (
                    scarce or (self.holds_idle(job, queue, mine) and not self.young(job))
                ):
                    stopped.add(queue)
                    opened = opened - self.nodes_of(queue)
        if begun > 0 or met:
            self.stirred_at = self.site.now
            self.note()

    def is_stopped_by_limit(self, job: Job, queue: str | None) -> bool:
        breaches = self.site.limits.breaches(job, queue, self.site.now)
        numbered = any(breach.cap == "running_jobs" for breach in breaches)
        return bool(self.told["assoc_limit_stop"] and not numbered and not self.young(job))

    # ---- the backfill cycle

    def cycle(self) -> bool:
        """Whether it is news for the next."""
        now = self.site.now
        stirred, self.marked, self.moved = self.marked, False, False
        self.plans: list[tuple[int, int, set[int]]] = []
        self.given: Counter[str | None] = Counter()
        tasks: Counter[str] = Counter()
        per_array = self.told["bf_max_job_array_resv"]
        self.begin, self.close = now - now % self.grain, (now + self.window) // self.grain * self.grain
        counts: Counter[Any] = Counter()
        tested = begun = 0
        most = self.told["bf_max_job_start"] or 1 << 60
        for job in self.line():
            if tested >= self.tests or begun == most:
                break
            if job.array is not None and tasks[job.array] >= per_array:
                continue
            known = self.given.total(), begun
            for queue in job.queues:
                limited = queue not in self.site.admitting(job)
                if limited and not self.told["assoc_limit_stop"]:
                    continue
                brief = self.young(job) or 0 < self.places <= self.given[queue]
                kinds = {name: (name, like(job, queue)) for name, like in LIKE.items() if self.told[name]}
                if any(counts[kind] >= self.told[name] for name, kind in kinds.items()):
                    continue
                counts.update(kinds.values())
                if not self.licensed(job, queue):
                    continue
                asked, started = self.plan(job, queue, brief, limited)
                tested += asked
                begun += started
                if started:
                    break
            if job.array is not None and begun == known[1]:
                tasks[job.array] = tasks[job.array] + 1 if self.given.total() > known[0] else per_array
        return begun > 0 or stirred or self.marked or self.moved

    def plan(self, job: Job, queue: str | None, brief: bool, limited: bool) -> tuple[bool, bool]:
        """Start the job or give it a place, unless `brief`; whether it was tried on nodes, and has started."""
        now = self.site.now
        start, asked = now, False
        while True:
            usable = {node for node in self.nodes_of(queue) if self.is_free(node, start, start + job.length)}
            later = self.next_try(queue, start, start + job.length)
            time = None
            if len(usable) >= self.least(job, queue):
                asked = True
                time = self.will_run(job, queue, usable, brief)
            if time is None:
                if later is None or brief:
                    return asked, False
                start = later
                continue
            self.moved |= time < start
            time = max(time, start)
            if time <= now and not limited:
                return asked, self.start_on(job, queue, usable)
            if time <= now:
                time = now + 500 * SECOND if later is None else later
            if brief:
                return asked, False
            if later is not None and time > later:
                start = later
                continue
            if time > now + self.window:
                return asked, False
            first, last = time // self.grain * self.grain, (time + job.length) // self.grain * self.grain
            if any(self.nodes & nodes and a < last and b > first for a, b, nodes in self.plans):
                start = time
                continue
            self.given[queue] += 1
            self.marked |= not self.nodes <= {node for other in self.site.running for node in other.taken}
            first = max(first, self.begin)
            last = min(max(last, first + self.grain), self.close)
            if first < last:
                self.plans.append((first, last, self.nodes))
            return asked, False

    def is_free(self, node: int, start: int, end: int) -> bool:
        return not any(node in nodes and a <= end and b > start for a, b, nodes in self.plans)

    def next_try(self, queue: str | None, start: int, end: int) -> int | None:
        """The end of the first interval of the plan, from the one of `start` on, behind which there are nodes that are
        not usable in all intervals so far; looked for up to the first that begins after `end`."""
        edges: list[int] = sorted({self.begin, self.close, *(time for a, b, _ in self.plans for time in (a, b))})
        intervals = list(pairwise(edges))
        free = [{node for node in self.nodes_of(queue) if not self.is_kept(node, begin)} for begin, _ in intervals]
        usable = self.nodes_of(queue)
        for place, (begin, stop) in enumerate(intervals):
            if stop <= start:
                continue
            usable = usable & free[place]
            if place + 1 < len(intervals) and not free[place + 1] <= usable:
                return stop
            if begin > end:
                break
        return None

    def is_kept(self, node: int, time: int) -> bool:
        return any(node in nodes and a <= time < b for a, b, nodes in self.plans)

    def will_run(self, job: Job, queue: str | None, usable: set[int], brief: bool) -> int | None:
        """When the usable nodes have room for the job, by what runs; on which of them it would be is in `nodes`."""
        now = self.site.now
        left = list(self.site.running)
        if self.holds(job, queue, usable, left):
            return self.choose(job, queue, usable, left, now)
        if brief:
            return None
        whole = self.site.vectors.layout.whole
        window, limit, untried = 30 * SECOND, None, None
        ends = sorted(left, key=lambda other: (other.expected_end, other.row))  # as the controller lists them
        for place, other in enumerate(ends):
            if usable.isdisjoint(other.taken):
                continue
            left.remove(other)
            if limit is None:
                limit = other.expected_end // (30 * SECOND) * 30 * SECOND + 30 * SECOND
            untried = other.expected_end if other.expected_end > now else now + SECOND
            following = ends[place + 1].expected_end if place + 1 < len(ends) else None
            if not whole and following is not None and following <= limit + window:
                continue
            while not whole and following is not None and following > limit + window:
                step = self.told["bf_window_linear"] * SECOND
                window = window + step if step else 2 * window
            if self.holds(job, queue, usable, left):
                return self.choose(job, queue, usable, left, untried)
        if untried is not None and self.holds(job, queue, usable, left):
            return self.choose(job, queue, usable, left, untried)
        return None

    def choose(self, job: Job, queue: str | None, usable: set[int], left: list[Job], time: int) -> int:
        """Where it would be at that time, when all who are expected to end by then have gone."""
        running = [other for other in left if time == self.site.now or other.expected_end > time]
        request, rooms = self.rooms(job, queue, usable, running)
        place = self.site.vectors.place_of(queue)
        if request.count is None:
            self.nodes = {node for node, _ in place.spread(request.offers(rooms), request.cores, job.row)}
        else:
            free = {node: room["cores"] for node in request.suitable(rooms) if (room := rooms[node]) is not None}
            self.nodes = set(place.pick(list(free), request.count, free, job.row))
        return time
