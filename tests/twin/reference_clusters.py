"""The slow twin of several clusters: machines of the plain twin, joined by a global scheduler that looks at everything.

Each cluster is a `reference` machine with its own order, estimate and backfilling. At one instant: what is due on the
machines; cancellations, begin times and arrivals; then the global scheduler; then a pass on every machine on which
something has changed. That is repeated while a job is due at this same instant, or, where jobs are held until they can
start, while some were sent and others still wait.

A *prediction* of a job's start on a machine plans those who run until their expected ends, then in queue order those
who wait there before the job, then the job: each as early as its cores are free for its estimate; where nobody
overtakes, none before the one ahead. Under conservative backfilling the promises that were made stand.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from twin.reference import Outcome, _Job, _outcome, _read_jobs, _Simulation
from twin.reference_gates import Gates
from twin.reference_parts import Order, split
from walltime.core.errors import InputError
from walltime.core.random import uniforms
from walltime.core.time import NEVER, SECOND
from walltime.core.workload import Workload


@dataclass(frozen=True)
class Options:
    """How jobs wait globally and move; times in microseconds. `every` None: whenever something has happened."""

    order: str | Mapping[str, Any] = "fcfs"
    hold: bool = False
    overtake: bool = True
    migrate: bool = False
    every: int | None = None
    gain: int = 60 * SECOND
    most: int = 3
    depth: int = 100


@dataclass(frozen=True)
class Placed:
    """What became of a job, and on which cluster; None for one that never had one."""

    outcome: Outcome
    cluster: str | None
    moves: int


def simulate(
    workload: Workload,
    clusters: Sequence[Mapping[str, Any]],
    broker: str | Mapping[str, Any] = "first",
    options: Options | None = None,
    bound: Mapping[int, Sequence[str]] | None = None,
    seed: int = 0,
    until: int | None = None,
) -> list[Placed]:
    """The schedule of the workload on clusters given as {name, cores, scheduler, speed, attributes}, in row order.

    `bound` tells to which clusters a row is bound, by its number; `speed` is what brokers see of a cluster and does
    not change how long jobs run.
    """
    jobs = _read_jobs(workload, until)
    gates = Gates(workload, jobs)
    machines = [_Machine(number, cluster, gates) for number, cluster in enumerate(clusters)]
    grid = _Grid(jobs, machines, _Broker(broker, seed), options or Options(), bound or {})
    grid.run(until)
    return [
        Placed(_outcome(job, until), grid.where[job.row].name if job.row in grid.where else None, grid.moves[job.row])
        for job in grid.jobs
    ]


def _begins(job: _Job) -> int:
    """From when on the job may wait."""
    return job.submit if job.begin is None else max(job.submit, job.begin)


class _Machine(_Simulation):
    """One cluster."""

    def __init__(self, number: int, given: Mapping[str, Any], gates: Gates) -> None:
        super().__init__([], given["cores"], given.get("scheduler", {}), True, gates, False)
        self.number = number
        self.name: str = given["name"]
        self.speed = float(given.get("speed", 1.0))
        self.attributes = dict(given.get("attributes", {}))

    @property
    def load(self) -> Fraction:
        return Fraction(self.cores - self.free + self.asked, self.cores)

    @property
    def asked(self) -> int:
        return sum(job.cores for job in self.queue)

    def dress(self, job: _Job) -> _Job:
        """The job as it would wait here."""
        twin = replace(job, promise=None)
        twin.estimate = self.estimate.of(twin)
        twin.rank = self.rank(twin)
        return twin

    def predict(self, job: _Job) -> int:
        """When the job would start here, whether it waits here already or not."""
        if self.order.dynamic:
            for waiting in self.queue:
                waiting.rank = self.rank(waiting)
            self.queue.sort(key=lambda waiting: waiting.rank)
        here = any(waiting is job for waiting in self.queue)
        mine = job if here else self.dress(job)
        plan = _Plan(self.cores, self.now, [(job.expected_end, job.cores) for job in self.running])
        keeps = self.backfill.name == "conservative"
        strict = self.backfill.name == "none"
        if keeps:
            for waiting in self.queue:
                if waiting.promise is not None:
                    plan.put(waiting, max(self.now, waiting.promise))
            if here and job.promise is not None:
                return max(self.now, job.promise)
        floor = self.now
        for waiting in self.queue:
            if waiting.rank >= mine.rank:
                break
            if not keeps or waiting.promise is None:
                start = plan.earliest(waiting, floor)
                plan.put(waiting, start)
                floor = start if strict else floor
        return plan.earliest(mine, floor)

    def could_start(self, job: _Job) -> bool:
        return not self.queue and job.cores <= self.free

    def give_up(self, job: _Job) -> None:
        self.queue.remove(job)
        job.promise = None
        self.changes.add("left")


class _Plan:
    """Cores in use over time, as a list of (start, end, cores)."""

    def __init__(self, cores: int, now: int, running: list[tuple[int, int]]) -> None:
        self.cores = cores
        self.taken = [(now, max(end, now + 1), size) for end, size in running]

    def put(self, job: _Job, start: int) -> None:
        if start < NEVER:
            self.taken.append((start, start + max(job.estimate, 1), job.cores))

    def earliest(self, job: _Job, after: int) -> int:
        """Something can only begin to fit at `after`, or where something ends."""
        for time in sorted({after} | {end for _, end, _ in self.taken if end > after}):
            if self.fits(job, time):
                return time
        return NEVER

    def fits(self, job: _Job, start: int) -> bool:
        end = start + max(job.estimate, 1)
        moments = {start} | {begin for begin, _, _ in self.taken if start < begin < end}
        used = (sum(size for begin, stop, size in self.taken if begin <= time < stop) for time in moments)
        return all(amount + job.cores <= self.cores for amount in used)


class _Grid:
    """All clusters, the jobs that have none yet, and the clock."""

    def __init__(
        self,
        jobs: list[_Job],
        machines: list[_Machine],
        broker: _Broker,
        options: Options,
        bound: Mapping[int, Sequence[str]],
    ) -> None:
        self.jobs = jobs
        self.machines = machines
        self.broker = broker
        self.options = options
        self.order = Order(options.order)
        self.bound = bound
        self.now = 0
        self.waiting: list[_Job] = []  # globally
        self.where: dict[int, _Machine] = {}
        self.moves: dict[int, int] = defaultdict(int)
        self.fresh = False  # whether jobs have come since the global scheduler was asked
        self.left: set[int] = set()  # machines that jobs have moved away from since then
        self.round: int | None = None  # when jobs are looked at for migration next
        self.arrivals: dict[int, list[_Job]] = defaultdict(list)
        self.releases: dict[int, list[_Job]] = defaultdict(list)
        self.cancellations: dict[int, list[_Job]] = defaultdict(list)
        for job in jobs:
            self.arrivals[job.submit].append(job)
            if _begins(job) > job.submit:
                self.releases[_begins(job)].append(job)
            if job.cancel is not None and job.cancel > job.submit:
                self.cancellations[job.cancel].append(job)

    def run(self, until: int | None) -> None:
        fixed = sorted(self.arrivals.keys() | self.releases.keys() | self.cancellations.keys(), reverse=True)
        while True:
            times = fixed[-1:] + [machine.due(job) for machine in self.machines for job in machine.running]
            times += [time for machine in self.machines for time in machine.promises()]
            times += [] if self.round is None else [self.round]
            if not times:
                return
            self.now = min(times)
            if until is not None and self.now > until:
                return
            if fixed and fixed[-1] == self.now:
                fixed.pop()
            self.instant()

    def instant(self) -> None:
        again = True
        sent = False
        while again:
            happened = self.fire()
            sent = self.ask() if happened or self.fresh or sent else False
            self.migrate(happened)
            for machine in self.machines:
                if machine.changes or any(job.promise == self.now for job in machine.queue):
                    machine.schedule()
                    machine.changes.clear()
            again = self.options.hold and sent and bool(self.waiting)
            again |= any(machine.due(job) == self.now for machine in self.machines for job in machine.running)

    def fire(self) -> set[int]:
        """Everything that is due now; the machines on which something other than an arrival happened."""
        for machine in self.machines:
            machine.now = self.now
            machine.fire()
        for job in self.cancellations.pop(self.now, ()):
            self.cancel(job)
        for job in self.releases.pop(self.now, ()):
            if job.state == "held":
                self.wait(job)
        for job in self.arrivals.pop(self.now, ()):
            self.arrive(job)
        happened = self.left | {machine.number for machine in self.machines if machine.changes}
        self.left = set()
        return happened

    def arrive(self, job: _Job) -> None:
        if not self.choices(job):
            job.state = "rejected"
        elif job.cancel is not None and job.cancel <= job.submit:
            job.state, job.end = "cancelled", self.now
        elif _begins(job) > self.now:
            job.state = "held"
        else:
            self.wait(job)

    def choices(self, job: _Job) -> list[_Machine]:
        """The clusters that the job may go to."""
        names = self.bound.get(job.row)
        return [each for each in self.machines if job.cores <= each.cores and (names is None or each.name in names)]

    def wait(self, job: _Job) -> None:
        job.state, job.queued, job.estimate = "waiting", self.now, job.requested
        self.waiting.append(job)
        self.fresh = True

    def cancel(self, job: _Job) -> None:
        if any(job is other for other in self.waiting):
            self.waiting.remove(job)
            job.state, job.end = "cancelled", self.now
        elif job.state == "held":
            job.state, job.end = "cancelled", self.now
        elif job.row in self.where:
            self.where[job.row].cancel(job)

    # ---- the global scheduler

    def ask(self) -> bool:
        """Send down who can go, in order; whether somebody went. A held job's cluster takes no other until its pass."""
        closed: set[int] = set()
        sent = False
        self.fresh = False
        for job in sorted(self.waiting, key=lambda job: self.order.rank(self.stand_in(job), self.now)):
            among = self.choices(job)
            if self.options.hold:
                among = [machine for machine in among if machine.number not in closed and machine.could_start(job)]
            if not among:
                if self.options.overtake:
                    continue
                break
            machine = self.broker.choose(job, among)
            self.waiting.remove(job)
            self.send(job, machine)
            closed.add(machine.number)
            sent = True
        return sent

    def stand_in(self, job: _Job) -> _Job:
        """What the global order is asked about: the job, or its workflow; no cluster has an estimate of it yet."""
        pilots = self.machines[0].gates.pilots
        return cast(_Job, pilots.stand_in(job, lambda pilot: int(pilot.requested)))

    def send(self, job: _Job, machine: _Machine) -> None:
        self.where[job.row] = machine
        job.state = "waiting"
        job.estimate = machine.estimate.of(job)
        machine.now = self.now
        job.rank = machine.rank(job)
        insort(machine.queue, job, key=lambda waiting: waiting.rank)
        machine.changes.add("arrived")

    def migrate(self, happened: set[int]) -> None:
        """Move who would start earlier elsewhere by the gain."""
        options = self.options
        if not options.migrate:
            return
        if options.every is not None:
            happened = {machine.number for machine in self.machines} if self.round == self.now else set()
            self.round = None if self.round == self.now else self.round
        for machine in self.machines if happened else ():
            for job in list(machine.queue)[: options.depth]:
                self.consider(job, machine, happened)
        if options.every is not None and self.round is None and any(machine.queue for machine in self.machines):
            self.round = (self.now // options.every + 1) * options.every

    def consider(self, job: _Job, machine: _Machine, happened: set[int]) -> None:
        among = [other for other in self.choices(job) if other is not machine and other.number in happened]
        if not among or self.moves[job.row] >= self.options.most:
            return
        here = machine.predict(job)
        if here < self.now + self.options.gain:
            return
        there, number = min((other.predict(job), other.number) for other in among)
        if there <= here - self.options.gain:
            self.moves[job.row] += 1
            machine.give_up(job)
            self.left.add(machine.number)
            self.send(job, self.machines[number])


class _Broker:
    """Which of some machines a job goes to; of equals the first."""

    def __init__(self, part: str | Mapping[str, Any], seed: int) -> None:
        self.name, self.parameters = split(part)
        if self.name not in CHOICES:
            raise InputError("unknown broker", value=self.name, choices=CHOICES)
        self.seed = seed
        self.last = -1

    def choose(self, job: _Job, among: list[_Machine]) -> _Machine:
        chosen = CHOICES[self.name](self, job, among)
        self.last = chosen.number
        return chosen


def _random(broker: _Broker, job: _Job, among: list[_Machine]) -> _Machine:
    draw = float(uniforms(broker.seed, "broker", np.array([job.row]))[0])
    if broker.parameters.get("by", "cluster") == "cluster":
        return among[int(draw * len(among))]
    mark = int(draw * sum(machine.cores for machine in among))
    for machine in among:
        if mark < machine.cores:
            return machine
        mark -= machine.cores
    return among[-1]


def _weighted(broker: _Broker, job: _Job, among: list[_Machine]) -> _Machine:
    scores = [0.0] * len(among)
    for name, weight in broker.parameters["weights"].items():
        values = [_criterion(name, machine, job) for machine in among]
        largest = max(map(abs, values))
        for place, value in enumerate(values):
            scores[place] += weight * value / largest if largest > 0 else 0.0
    return among[scores.index(max(scores))]


def _criterion(name: str, machine: _Machine, job: _Job) -> float:
    known: dict[str, Callable[[], float]] = {
        "performance": lambda: machine.speed,
        "available": lambda: float(max(machine.free - machine.asked, 0)),
        "load": lambda: (machine.cores - machine.free + machine.asked) / machine.cores,
        "queue": lambda: float(len(machine.queue)),
        "start": lambda: (machine.predict(job) - machine.now) / SECOND,
    }
    return float(machine.attributes[name]) if name in machine.attributes else known[name]()


CHOICES: dict[str, Callable[[_Broker, _Job, list[_Machine]], _Machine]] = {
    "first": lambda broker, job, among: among[0],
    "random": _random,
    "round-robin": lambda broker, job, among: next((one for one in among if one.number > broker.last), among[0]),
    "least-loaded": lambda broker, job, among: min(among, key=lambda one: one.load),
    "most-free": lambda broker, job, among: max(among, key=lambda one: one.free - one.asked),
    "shortest-queue": lambda broker, job, among: min(among, key=lambda one: (len(one.queue), one.load)),
    "earliest-start": lambda broker, job, among: min(among, key=lambda one: (one.predict(job), one.load)),
    "fastest": lambda broker, job, among: min(among, key=lambda one: (-one.speed, one.load)),
    "weighted": _weighted,
}
"""How each broker chooses."""
