"""The slow, obvious twin of the engine on a cluster of nodes: plain Python, kept to check the fast one.

It shares no code with the compiled engine, and none with the twin for a plain number of cores. Every question about
nodes is answered by looking at every running job, every reservation and every node. Jobs wait in order of arrival; one
that reaches its request is killed. At one instant: ends, kills, cancellations, arrivals; then a pass; and again while
something is due.

A request is a number of cores (*shapeless*), or nodes with the cores divided evenly over them (*shaped*). While all
reservations are of shapeless jobs on shared nodes they are numbers of cores; otherwise each names its nodes, chosen
when it is made. Reservations stand until something other than an arrival happens; those of `conservative` stay, and
are made anew one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from twin.reference_nodes_conservative import schedule_conservative
from twin.reference_nodes_lookahead import schedule_lookahead
from walltime.core.errors import InputError
from walltime.core.random import stream
from walltime.core.workload import MISSING, Workload

Shares = list[tuple[int, int]]
"""(node, cores), in order of the nodes."""
Left = list[int]
"""By node, the cores that a job may take there."""


@dataclass(frozen=True)
class Cluster:
    """Nodes by number: cores and speeds; `whole`: a node is given to one job at a time."""

    cores: tuple[int, ...]
    speeds: tuple[Fraction, ...] = ()
    whole: bool = False
    place: str = "best-fit"


@dataclass(frozen=True)
class Outcome:
    """What became of one job, in microseconds; `nodes` are those of its run as `0-3:24,7:5`."""

    job_id: int
    start: int | None
    end: int | None
    state: str
    backfilled: bool
    nodes: str | None


def simulate(workload: Workload, cluster: Cluster, policy: str = "easy", depth: int = 1) -> list[Outcome]:
    """The schedule of the workload, in row order; `policy` is one of PASSES; easy makes `depth` reservations, and
    lookahead considers so many jobs."""
    if policy not in PASSES:
        raise InputError("unknown policy", value=policy, choices=PASSES)
    if cluster.place not in PLACES:
        raise InputError("unknown placement", value=cluster.place, choices=PLACES)
    names = ("job_id", "submit", "cores", "requested_time", "run_time", "cancel", "nodes", "cores_per_node")
    rows = zip(*(workload.column(name).tolist() for name in names), strict=True)
    jobs = [_Job(row, *values) for row, values in enumerate(rows)]
    _Machine(jobs, cluster, PASSES[policy], depth).run()
    return [Outcome(job.job_id, job.start, job.end, job.state, job.backfilled, _text(job.shares)) for job in jobs]


@dataclass(eq=False)
class _Job:
    """What the workload says of a job, missing numbers as -1, and what has become of it."""

    row: int
    job_id: int
    submit: int
    cores: int
    requested: int
    run_time: int
    cancel: int
    nodes: int
    each: int
    state: str = "future"
    start: int | None = None
    end: int | None = None
    shares: Shares = field(default_factory=list)
    backfilled: bool = False
    own_end: int | None = None
    expected_end: int = 0

    def shape(self, whole: bool) -> tuple[int, int] | None:
        """(nodes, cores that each of them must have free); None for a shapeless request."""
        if self.nodes <= 0 and self.each <= 0:
            return None
        nodes = self.nodes if self.nodes > 0 else -(-self.cores // self.each)
        if not whole:
            nodes = min(nodes, self.cores)
        least = -(-self.cores // nodes)
        return nodes, max(least, self.each) if whole else least


@dataclass(eq=False)
class _Hold:
    job: _Job
    start: int
    end: int
    shares: Shares | None  # None: a number of cores, on whatever nodes


class _Machine:
    """The nodes, what runs and waits, and what is reserved."""

    def __init__(self, jobs: list[_Job], cluster: Cluster, schedule: Callable[[_Machine], None], depth: int) -> None:
        self.jobs = jobs
        self.cluster = cluster
        self.cores = sum(cluster.cores)
        self.place = PLACES[cluster.place]
        self.schedule = schedule
        self.depth = depth
        self.now = 0
        self.queue: list[_Job] = []
        self.running: list[_Job] = []
        self.holds: list[_Hold] = []
        self.named = cluster.whole
        self.disturbed = True  # something other than arrivals happened since the last pass
        self.considered: set[int] = set()  # who was in the queue then
        self.wake: int | None = None  # when there is a pass whatever happens

    # ---- events

    def run(self) -> None:
        while times := [time for job in self.jobs for time in self.due(job)]:
            self.now = min(times) if self.wake is None else min(*times, self.wake)
            if self.fire() or self.now == self.wake:
                self.schedule(self)

    def due(self, job: _Job) -> list[int]:
        """When something may happen to the job by the passing of time alone."""
        if job.state == "future":
            return [job.submit]
        if job.state not in ("waiting", "running"):
            return []
        times = [] if job.cancel == MISSING else [job.cancel]
        if job.state == "running":
            times += [job.expected_end] if job.own_end is None else [job.expected_end, job.own_end]
        return times

    def fire(self) -> bool:
        happened = False
        for job in list(self.running):
            if job.own_end == self.now:
                happened = self.end(job, "completed")
        for job in list(self.running):
            if job.expected_end == self.now:
                happened = self.end(job, "timeout")
        for job in self.jobs:
            if job.state in ("waiting", "running") and job.cancel == self.now:
                happened = self.end(job, "cancelled")
        for job in self.jobs:
            if job.state == "future" and job.submit == self.now:
                self.arrive(job)
                happened = happened or job.state == "waiting"
        return happened

    def arrive(self, job: _Job) -> None:
        if job.cores > self.cores or not self.suits(job, list(self.cluster.cores)):
            job.state = "rejected"
        elif job.cancel != MISSING and job.cancel <= self.now:
            job.state, job.end = "cancelled", self.now
        else:
            job.state = "waiting"
            self.queue.append(job)

    def start(self, job: _Job) -> None:
        """It overtakes whoever waits before it."""
        self.drop(job)
        job.shares = self.choose(job, self.left_now(job))
        speed = min((self.cluster.speeds[node] for node, _ in job.shares), default=1) if self.cluster.speeds else 1
        job.backfilled = self.queue[0] is not job
        self.queue.remove(job)
        self.running.append(job)
        job.state, job.start, job.expected_end = "running", self.now, self.now + job.requested
        job.own_end = None if job.run_time == MISSING else self.now - int(-job.run_time // speed)  # rounded up

    def end(self, job: _Job, state: str) -> bool:
        (self.running if job.state == "running" else self.queue).remove(job)
        self.drop(job)
        job.state, job.end = state, self.now
        self.disturbed = True
        return True

    # ---- what is left

    def used(self, node: int, jobs: list[_Job]) -> int:
        return sum(cores for job in jobs for where, cores in job.shares if where == node)

    def room(self, node: int, used: int) -> int:
        if self.cluster.whole:
            return self.cluster.cores[node] if used == 0 else 0
        return self.cluster.cores[node] - used

    def left_now(self, job: _Job) -> Left:
        """What the job may take now and keep for its request."""
        return self.left(job, self.now, self.now + max(job.requested, 1), self.running)

    def left_at(self, job: _Job, start: int) -> Left:
        """The same at a later time."""
        return self.left(job, start, start + max(job.requested, 1), self.running_at(start))

    def running_at(self, time: int) -> list[_Job]:
        """Who is still there then by the expected ends; now, everybody, if only for this instant."""
        return [job for job in self.running if time <= self.now or job.expected_end > time]

    def left(self, job: _Job | None, start: int, end: int, running: list[_Job]) -> Left:
        """The least that is left on each node from start to end, beside the named reservations of others."""
        others = [hold for hold in self.holds if hold.job is not job and hold.start < end and hold.shares is not None]
        moments = {start: running}
        for hold in others:
            if hold.start > start:
                moments[hold.start] = self.running_at(hold.start)
        left = []
        for node in range(len(self.cluster.cores)):
            least = []
            for time, then in moments.items():
                kept = sum(
                    cores
                    for hold in others
                    if hold.start <= time < hold.end
                    for where, cores in hold.shares or ()
                    if where == node
                )
                least.append(self.room(node, self.used(node, then) + kept))
            left.append(max(0, min(least)))
        return left

    def suits(self, job: _Job, left: Left) -> bool:
        shape = job.shape(self.cluster.whole)
        if shape is None:
            return job.cores <= sum(left)
        nodes, least = shape
        if self.cluster.place == "contiguous":
            return _find_run(left, nodes, least) is not None
        return sum(cores >= least for cores in left) >= nodes

    def choose(self, job: _Job, left: Left) -> Shares:
        """The placement's choice, with the cores on each node."""
        shape = job.shape(self.cluster.whole)
        if shape is None:
            chosen = sorted(self.place(left, None, job.cores, job.row))
        else:
            nodes, least = shape
            numbers = sorted(node for node, _ in self.place(left, nodes, least, job.row))
            each, odd = divmod(job.cores, nodes)
            chosen = [(node, each + (place < odd)) for place, node in enumerate(numbers)]
        if self.cluster.whole:
            chosen = [(node, self.cluster.cores[node]) for node, _ in chosen]
        return chosen

    # ---- reservations

    def keep(self, job: _Job, left: Left) -> Shares:
        """What a reservation keeps: on each node of a shaped job what it must find free there, odd cores or not."""
        shape = job.shape(self.cluster.whole)
        least = 0 if shape is None else shape[1]
        return [(node, max(cores, least)) for node, cores in self.choose(job, left)]

    def fits(self, job: _Job) -> bool:
        if not self.named:
            end = self.now + job.requested
            for hold in self.holds:
                if hold.job is not job and hold.start < end and self.spare(hold) < job.cores:
                    return False
        return self.suits(job, self.left_now(job))

    def spare(self, hold: _Hold) -> int:
        """Cores that nobody has at the start of a reservation."""
        taken = sum(job.cores for job in self.running_at(hold.start))
        kept = sum(other.job.cores for other in self.holds if other is hold or other.start <= hold.start < other.end)
        return self.cores - taken - kept

    def drop(self, job: _Job) -> None:
        """The job's reservation is gone; where no other is left, the next are numbers of cores again."""
        self.holds = [hold for hold in self.holds if hold.job is not job]
        self.named = self.cluster.whole or (self.named and bool(self.holds))

    def reserve(self, job: _Job) -> int:
        if job.shape(self.cluster.whole) is not None and not self.named:
            self.named = True
            for hold in sorted(self.holds, key=lambda hold: hold.start):
                hold.shares = self.choose(hold.job, self.left_at(hold.job, hold.start))
        times = {self.now, self.now + 1}  # the moment in which those leave who came for no time at all
        times |= {other.expected_end for other in self.running} | {hold.end for hold in self.holds}
        start = next(time for time in sorted(times) if time >= self.now and self.clear(job, time))
        shares = self.keep(job, self.left_at(job, start)) if self.named else None
        self.holds.append(_Hold(job, start, start + max(job.requested, 1), shares))
        return start

    def clear(self, job: _Job, start: int) -> bool:
        if self.named:
            return self.suits(job, self.left_at(job, start))
        end = start + job.requested
        moments = [start] + [hold.start for hold in self.holds if start < hold.start < end]
        for time in moments:
            taken = sum(other.cores for other in self.running_at(time))
            kept = sum(hold.job.cores for hold in self.holds if hold.start <= time < hold.end)
            if self.cores - taken - kept < job.cores:
                return False
        return True


def _schedule_fcfs(machine: _Machine) -> None:
    while machine.queue and machine.fits(machine.queue[0]):
        machine.start(machine.queue[0])


def _schedule_aggressive(machine: _Machine) -> None:
    for job in list(machine.queue):
        if machine.fits(job):
            machine.start(job)


def _schedule_easy(machine: _Machine) -> None:
    """In queue order: what fits starts, and the first `depth` that do not get a reservation."""
    new = machine.queue
    if machine.holds and not machine.disturbed:
        new = [job for job in machine.queue if job.row not in machine.considered]
    else:
        machine.holds, machine.named = [], machine.cluster.whole
    for job in list(new):
        if machine.fits(job):
            machine.start(job)
        elif len(machine.holds) < machine.depth:
            machine.reserve(job)
    machine.disturbed = machine.disturbed and not machine.queue
    machine.considered = {job.row for job in machine.queue}


PASSES: dict[str, Callable[[_Machine], None]] = {
    "fcfs": _schedule_fcfs,
    "easy": _schedule_easy,
    "aggressive": _schedule_aggressive,
    "conservative": schedule_conservative,
    "lookahead": schedule_lookahead,
}
"""The scheduling pass of each policy."""


# A placement: from what is left on each node, `count` nodes that have `amount` each; or, with count None, nodes and
# cores that make `amount` together. `row` is the job's, for those that draw.


def _first_fit(left: Left, count: int | None, amount: int, row: int) -> Shares:
    return _from_order(left, count, amount, list(range(len(left))))


def _worst_fit(left: Left, count: int | None, amount: int, row: int) -> Shares:
    return _from_order(left, count, amount, sorted(range(len(left)), key=lambda node: -left[node]))


def _best_fit(left: Left, count: int | None, amount: int, row: int) -> Shares:
    if count is not None:
        return _from_order(left, count, amount, sorted(range(len(left)), key=lambda node: left[node]))
    left, chosen = list(left), []
    while amount > 0:
        enough = [cores for cores in left if cores >= amount]
        node = left.index(min(enough)) if enough else left.index(max(left))
        chosen.append((node, min(left[node], amount)))
        amount -= chosen[-1][1]
        left[node] = 0
    return chosen


def _contiguous(left: Left, count: int | None, amount: int, row: int) -> Shares:
    if count is not None:
        first = _find_run(left, count, amount)
        return [] if first is None else [(node, amount) for node in range(first, first + count)]
    for first in range(len(left)):
        begins = left[first] > 0 and (first == 0 or left[first - 1] == 0)
        stretch = left[first:].index(0) if 0 in left[first:] else len(left) - first
        if begins and sum(left[first : first + stretch]) >= amount:
            return _from_order(left, None, amount, list(range(first, first + stretch)))
    return _first_fit(left, None, amount, row)


def _find_run(left: Left, count: int, amount: int) -> int | None:
    for first in range(len(left) - count + 1):
        if all(cores >= amount for cores in left[first : first + count]):
            return first
    return None


def _from_order(left: Left, count: int | None, amount: int, order: list[int]) -> Shares:
    if count is not None:
        return [(node, amount) for node in order if left[node] >= amount][:count]
    chosen = []
    for node in order:
        if amount > 0 and left[node] > 0:
            chosen.append((node, min(left[node], amount)))
            amount -= chosen[-1][1]
    return chosen


def _random(left: Left, count: int | None, amount: int, row: int) -> Shares:
    """Nodes on which the job fits, shuffled (Fisher-Yates) by SplitMix64 numbers that depend on seed and row alone."""
    lot = [node for node, cores in enumerate(left) if cores >= (1 if count is None else amount)]
    state = int(stream(0, "place").integers(0, 1 << 62)) + row * 0x632BE59BD9B4E019
    for k in range(len(lot)):
        state = (state + 0x9E3779B97F4A7C15) % (1 << 64)
        z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % (1 << 64)
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % (1 << 64)
        z ^= z >> 31
        other = k + (z >> 11) % (len(lot) - k)
        lot[k], lot[other] = lot[other], lot[k]
    return _from_order(left, count, amount, lot)


PLACES: dict[str, Callable[[Left, int | None, int, int], Shares]] = {
    "first-fit": _first_fit,
    "best-fit": _best_fit,
    "worst-fit": _worst_fit,
    "contiguous": _contiguous,
    "random": _random,
}
"""The placements by name; of equal nodes the lowest number comes first, but for `random`, which draws with seed 0."""


def _text(shares: Shares) -> str | None:
    """`0-3:24,7:5`: ranges of consecutive nodes with equal cores."""
    ranges: list[tuple[int, int, int]] = []
    for node, cores in shares:
        if ranges and ranges[-1][1] == node - 1 and ranges[-1][2] == cores:
            ranges[-1] = (ranges[-1][0], node, cores)
        else:
            ranges.append((node, node, cores))
    return ",".join(f"{a}:{c}" if a == b else f"{a}-{b}:{c}" for a, b, c in ranges) or None
