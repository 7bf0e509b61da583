"""A watcher follows one job through a simulation: what kept it waiting, when it ran and why it had to leave, what went
before it, what was foreseen.

It looks after every instant at which something happened, and changes nothing. What it notes is in microseconds; words
are made of it in `walltime.analysis.explain.explanation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from walltime.core.time import NEVER
from walltime.engine.watching.forecasts import find_ahead, find_domain, foresee
from walltime.engine.watching.obstacles import find_obstacle, name_interruption
from walltime.kernel.jobs import State
from walltime.kernel.source import Engine, Observer, Source
from walltime.policy.views import find_ledger, find_quotas, first_promised, judge, see_start

INTERRUPTED = ("waiting", "failed", "cancelled")
"""What a running job may become that does not end by itself."""

GONE = ("completed", "timeout", "failed", "cancelled", "rejected")
"""What a job is that has left."""

RUNNING = int(State.RUNNING)


@dataclass
class Reason:
    """What kept the job back from `start` to `end`: a kind, and what there is to say about it."""

    kind: str
    start: int
    end: int
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stay:
    """The job had its resources from `start` to `end`, on these nodes (none where the machine has none), and became
    `state` then; `cause` says what made it leave, where it did not end by itself."""

    start: int
    nodes: set[int]
    end: int = -1
    state: str = "running"
    cause: dict[str, Any] = field(default_factory=dict)


class Passed(NamedTuple):
    """A job that started while the watched one waited, though it was behind it in the order, or submitted later."""

    job_id: int
    time: int
    cores: int
    submit: int
    estimate: int
    behind: bool
    later: bool


@dataclass(frozen=True)
class Sample:
    """The job's place in the order, and what its place is made of."""

    time: int
    ahead: int
    waiting: int
    parts: dict[str, float]


def _sameness(kind: str, detail: dict[str, Any]) -> tuple[Any, ...]:
    """What two reasons have in common that are one."""
    return kind, detail.get("who"), detail.get("begins"), detail.get("nodes"), detail.get("draining")


LACKING = _sameness("resources", {})
"""Of the reason that tells how much is free."""


class Alarm(Source):
    """Nothing happens at these times, but there is an instant, at which observers look."""

    def __init__(self, times: list[int]) -> None:
        super().__init__()
        self.times = sorted(times, reverse=True)
        self.next = self.times[-1] if self.times else NEVER

    def fire(self, now: int) -> None:
        while self.times and self.times[-1] <= now:
            self.times.pop()
        self.next = self.times[-1] if self.times else NEVER


class Watcher(Observer):
    """Watches the job with this number, the first of them; `step` are the microseconds between two samples, `times`
    moments at which one is wanted whatever happens then. `thorough` has every planning cycle give all jobs a place
    while the job waits; without it some are left out, and where one of these is asked for the account is `unsure`."""

    def __init__(self, job_id: int, step: int, times: tuple[int, ...] = (), thorough: bool = False) -> None:
        self.job_id = job_id
        self.step = max(step, 1)
        self.times = frozenset(times)
        self.thorough = thorough
        self.unsure = False
        self.slot = -1
        self.seq = -1
        self.cores = 0
        self.moves: list[tuple[int, str]] = []
        self.reasons: list[Reason] = []
        self.stays: list[Stay] = []
        self.passed: list[Passed] = []
        self.promises: list[tuple[int, int]] = []
        self.plans: list[tuple[int, int]] = []
        self.samples: list[Sample] = []
        self.waiting = False
        self.deaf = True
        self.open: Reason | None = None
        self.same: tuple[Any, ...] = ()  # what makes a reason the one that is open
        self.where: Any = None  # the domain in which it waits, once that is known and cannot change
        self.due = -NEVER
        self.stirred = True  # whether any job has become something else since the last look
        self.calm = False  # whether what that look saw holds until then
        self.fitted = False  # whether it could have started when a backfill pass last took place
        self.others: dict[int, tuple[int, int, int]] = {}  # promised starts of others: slot -> (seq, start, when told)

    @property
    def gone(self) -> bool:
        """Whether the job has left for good: nothing that comes then is noted."""
        return bool(self.moves) and self.moves[-1][1] in GONE

    # ---- what the engine tells

    def moved(self, engine: Engine, slot: int, before: int, after: int) -> None:
        jobs = engine.jobs
        self.stirred = True
        if slot == self.slot and int(jobs.seq[slot]) == self.seq:
            self._follow(engine, before, after)
        elif self.seq < 0 and int(jobs.job_id[slot]) == self.job_id:
            self.slot, self.seq = slot, int(jobs.seq[slot])
            self._follow(engine, before, after)
        elif after == RUNNING and self.waiting:
            self._see_start(engine, slot)

    def _follow(self, engine: Engine, before: int, after: int) -> None:
        now = int(engine.now)
        self.where = None
        self.moves.append((now, State(after).name.lower()))
        self._close(now)
        self.waiting = after == State.WAITING
        self.cores = int(engine.jobs.cores[self.slot])
        for cluster in engine.clusters:
            for rhythm in (domain.rhythm for domain in cluster.domains if hasattr(domain.rhythm, "watched")):
                rhythm.watched = self.slot if self.waiting else -1
                if hasattr(rhythm, "thorough"):
                    rhythm.thorough = self.thorough
        self.due = -NEVER if self.waiting else self.due
        if before == State.RUNNING:
            self._leave(engine, now, after)
        if after == State.SUSPENDED:
            self.open = Reason("suspended", now, now, dict(self.stays[-1].cause))
        elif after == State.HELD and self.stays:
            self.open = Reason("paused", now, now)
        elif after == State.RUNNING:
            where = find_ledger(self._home(engine).view).where(self.slot)
            self.stays.append(Stay(now, {int(node) for node, _ in where}))

    def _leave(self, engine: Engine, now: int, after: int) -> None:
        stay = self.stays[-1]
        stay.end, stay.state = now, State(State.WAITING if after == State.HELD else after).name.lower()
        preemptor = self._home(engine).preemptor
        if preemptor is not None and preemptor.going == self.slot:
            stay.cause = {"how": "displaced", "who": preemptor.made_way.get(self.slot)}

    def _see_start(self, engine: Engine, slot: int) -> None:
        jobs, mine, clusters = engine.jobs, self.slot, engine.clusters
        domain = self._domain(engine)
        if domain is None or (len(clusters) > 1 and jobs.cluster[slot] != jobs.cluster[mine]):
            return
        home = clusters[0] if len(clusters) == 1 else clusters[jobs.cluster[slot]]
        if len(home.domains) > 1 and jobs.domain[slot] != jobs.domain[mine]:
            return
        seen = see_start(domain.view, mine, slot)
        if seen is not None:
            self.passed.append(Passed(seen[0], int(engine.now), *seen[1:]))

    def promised(self, engine: Engine, slot: int, time: int) -> None:
        if slot == self.slot and int(engine.jobs.seq[slot]) == self.seq:
            if self.waiting and (not self.promises or self.promises[-1][1] != time):
                self.promises.append((int(engine.now), int(time)))
        elif self.waiting:
            self.others[slot] = (int(engine.jobs.seq[slot]), int(time), int(engine.now))

    def settled(self, engine: Engine) -> None:
        now = int(engine.now)
        for stay in self.stays[-2:] if self.stays else ():  # it may have begun again at the same instant
            if stay.end == now and stay.state in INTERRUPTED and not stay.cause:
                stay.cause = self._name_interruption(engine, stay)
        if not self.waiting:
            return
        if self.stirred or not self.calm:
            self._look(engine, now)
        elif self.fitted:
            self.fitted = self._domain(engine).rhythm.planned != now
        if now >= self.due or now in self.times:
            self._sample(engine)
            self.due = now + self.step

    def _look(self, engine: Engine, now: int) -> None:
        """What keeps the job waiting now?"""
        self.stirred = self.calm = False
        kind, detail = self._ask(engine)
        same = LACKING if "free" in detail else _sameness(kind, detail)
        if self.open is not None and self.same != same:
            self._close(now)
        if self.open is None:
            self.open, self.same = Reason(kind, now, now, detail), same
        elif same is LACKING:
            noted, free = self.open.detail, detail["free"]
            if free > noted["most_free"]:
                noted["most_free"] = free
            elif free < noted["free"]:
                noted["free"] = free

    def finish(self, now: int) -> None:
        """The simulation is over."""
        self._close(now)

    def _close(self, now: int) -> None:
        """The reason that is open ends now; one of no length was none."""
        if self.open is not None and now > self.open.start:
            self.open.end = now
            self.reasons.append(self.open)
        self.open = None

    # ---- asking

    def _domain(self, engine: Engine) -> Any:
        """Where the job waits; None before a broker has sent it anywhere."""
        if self.where is not None:
            return self.where
        found = find_domain(engine, self.slot)
        if self.waiting and len(engine.clusters) == 1:
            self.where = found
        return found

    def _home(self, engine: Engine) -> Any:
        """The domain of the job, whether it waits there or runs."""
        cluster = engine.clusters[int(engine.jobs.cluster[self.slot])]
        return cluster.domains[int(engine.jobs.domain[self.slot]) if len(cluster.domains) > 1 else 0]

    def _machine(self, engine: Engine) -> Any:
        """What is shut now and then of the job's cluster; None where nothing is."""
        if not engine.machines:
            return None
        cluster = int(engine.jobs.cluster[self.slot])
        return next((machine for machine in engine.machines if machine.index == cluster), None)

    def _name_interruption(self, engine: Engine, stay: Stay) -> dict[str, Any]:
        domain = int(engine.jobs.domain[self.slot])
        found = name_interruption(self._machine(engine), domain, stay.nodes, stay.end)
        if found is None:
            return {"how": "policy"} if stay.state == "waiting" else {}
        return found

    def _ask(self, engine: Engine) -> tuple[str, dict[str, Any]]:
        domain = self._domain(engine)
        if domain is None:
            return "cluster", {}
        now, view = int(engine.now), domain.view
        kind, counter = judge(view, self.slot, now)
        rhythm = domain.rhythm
        if hasattr(rhythm, "watched") and rhythm.planned == now:
            self.fitted = kind == ""
        self.calm = kind != "" and self._lasts(engine, domain)
        if kind == "limit":
            return kind, {"who": find_quotas(view).titles[counter], "text": find_quotas(view).why(counter, self.slot)}
        if kind in ("resources", "reservation"):
            return self._find_obstacle(engine, domain, kind)
        if hasattr(rhythm, "watched") and rhythm.depth > -2:
            return self._ask_rhythm(engine, rhythm)
        ahead = find_ahead(engine, domain, self.slot)
        if len(ahead):
            return "priority", {"who": int(engine.jobs.job_id[ahead[0]]), "ahead": len(ahead)}
        return ("rhythm" if rhythm is not None else "policy"), {}

    def _lasts(self, engine: Engine, domain: Any) -> bool:
        """Whether what keeps the job back stays the same while no job becomes something else: passes keep nothing
        beyond their end, nothing is shut now and then, and no limit counts time."""
        if not hasattr(domain.rhythm, "first_planned") or engine.machines:
            return False
        quotas = find_quotas(domain.view)
        return find_ledger(domain.view).holds == 0 and (quotas is None or not quotas.timed)

    def _find_obstacle(self, engine: Engine, domain: Any, kind: str) -> tuple[str, dict[str, Any]]:
        """It does not fit, now or for as long as it takes: what has its place?"""
        machine = self._machine(engine)
        if machine is not None:
            found = find_obstacle(machine, int(engine.jobs.domain[self.slot]), domain.view, self.slot, kind)
            if found is not None:
                return found
        if kind == "reservation":
            return kind, self._holder(engine)
        free = int(find_ledger(domain.view).free)
        detail = {"needs": self.cores, "free": free, "most_free": free}
        if domain.preemptor is not None and self.slot in domain.preemptor.claims:
            detail["room_by"] = int(domain.preemptor.claims[self.slot])
        return kind, detail

    def _ask_rhythm(self, engine: Engine, rhythm: Any) -> tuple[str, dict[str, Any]]:
        """It could start: what did the last backfill pass say?"""
        if rhythm.planned < 0 or rhythm.planned < self.moves[-1][0]:
            return "rhythm", {}
        if rhythm.seen != rhythm.planned:
            return "depth", {}
        return ("reservation", self._holder(engine)) if self.fitted else ("rhythm", {})

    def _holder(self, engine: Engine) -> dict[str, Any]:
        """The job with the first reservation."""
        found = first_promised(engine.jobs, self.slot) or self._first_planned(engine)
        if found is None:
            return {}
        start, slot = found
        return {"who": int(engine.jobs.job_id[slot]), "promised": start}

    def _first_planned(self, engine: Engine) -> tuple[int, int] | None:
        """The first of the planned starts of other jobs when some were last told: (start, slot)."""
        jobs, rhythm = engine.jobs, self._home(engine).rhythm
        if hasattr(rhythm, "first_planned"):
            self.unsure = self.unsure or rhythm.partial
            found: tuple[int, int] | None = rhythm.first_planned(self.slot)
            return found
        told = max((when for _, _, when in self.others.values()), default=-1)
        planned = [
            (start, slot)
            for slot, (seq, start, when) in self.others.items()
            if when == told and slot != self.slot and jobs.seq[slot] == seq and jobs.state[slot] == State.WAITING
        ]
        return min(planned, default=None)

    # ---- the order

    def _sample(self, engine: Engine) -> None:
        domain = self._domain(engine)
        if domain is None:
            return
        jobs, now = engine.jobs, int(engine.now)
        ahead = find_ahead(engine, domain, self.slot)
        cluster = engine.clusters[int(jobs.cluster[self.slot])]
        order = cluster.orders[int(jobs.lane[self.slot]) if domain.lines is not None else 0]
        if now in self.times and order.periodic:  # what is asked for is that of this moment, not of the last pass
            order.renew(now)
        parts = {name: float(value) for name, value in order.parts(jobs, self.slot, now).items()}
        parked = 0 if domain.lines is None else int(domain.lines.parked)
        self.samples.append(Sample(now, len(ahead), int(domain.queue.size) + parked, parts))
        start = foresee(engine, domain, self.slot, ahead)
        if start is not None and (not self.plans or self.plans[-1][1] != start):
            self.plans.append((now, start))
