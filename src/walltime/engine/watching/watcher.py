"""A watcher follows one job through a simulation: what kept it waiting, when it ran and why it had to leave, what went
before it, what was foreseen.

It looks after every instant at which something happened, and changes nothing. What it notes is in microseconds; words
are made of it in `walltime.analysis.explain.explanation`.
"""

from __future__ import annotations

from typing import Any

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.engine.domain import Domain
from walltime.engine.watching.forecasts import find_ahead, find_domain, foresee
from walltime.engine.watching.notes import Passed, QueueSample, Stay, WaitReason
from walltime.engine.watching.obstacles import find_obstacle, name_interruption
from walltime.kernel.jobs import JobTable, State
from walltime.kernel.source import Engine, Observer
from walltime.policy.views import find_ledger, find_quotas, first_promised, judge, see_start

INTERRUPTED = ("waiting", "failed", "cancelled")
"""What a running job may become that does not end by itself."""

GONE = ("completed", "timeout", "failed", "cancelled", "rejected")
"""What a job is that has left."""

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    HELD, WAITING, RUNNING, SUSPENDED = State.HELD, State.WAITING, State.RUNNING, State.SUSPENDED


def _sameness(kind: str, detail: dict[str, Any]) -> tuple[Any, ...]:
    """What two reasons have in common that are one."""
    return kind, detail.get("who"), detail.get("begins"), detail.get("nodes"), detail.get("draining")


LACKING = _sameness("resources", {})
"""Of the reason that tells how much is free."""


@cython.final
@cython.cclass
class Watcher(Observer):
    """Watches the job with this number, the first of them; `step` are the microseconds between two samples, `times`
    moments at which one is wanted whatever happens then.

    Slurm's backfill cycles, which plan from scratch each time, are asked for the job's place once in a step. Which job
    has the nodes that it could start on is asked then too, and when the job that was named no longer waits."""

    deaf = True

    def __init__(self, job_id: int, step: int, times: tuple[int, ...] = ()) -> None:
        self.job_id = job_id
        self.step = max(step, 1)
        self.times = frozenset(times)
        self.slot = -1
        self.seq = -1
        self.cores = 0
        self.moves = []
        self.reasons = []
        self.stays = []
        self.passed = []
        self.promises = []
        self.plans = []
        self.samples = []
        self.waiting = False
        self.open = None
        self.same = ()  # what makes a reason the one that is open
        self.where = None  # the domain in which it waits, once that is known and cannot change
        self.due = -NEVER
        self.stirred = True  # whether any job has become something else since the last look
        self.calm = False  # whether what that look saw holds until then
        self.fitted = False  # whether it could have started when a backfill pass last took place
        self.rival = None  # the job that a cycle has named as having its nodes; None: not asked since it could start
        self.rival_slot = self.rival_seq = -1
        self.cycles = self.asked = 0  # how many of Slurm's backfill cycles it saw, and asked for its place
        self.others = {}  # promised starts of others: slot -> (seq, start, when told)

    @property
    def gone(self) -> bool:
        """Whether the job has left for good: nothing that comes then is noted."""
        return bool(self.moves) and self.moves[len(self.moves) - 1][1] in GONE

    # ---- what the engine tells

    def moved(self, engine: Engine, slot, before, after):
        jobs: JobTable = engine.jobs
        self.stirred = True
        if slot == self.slot and jobs.at[slot].seq == self.seq:
            self.follow(engine, before, after)
        elif self.seq < 0 and jobs.at[slot].job_id == self.job_id:
            self.slot, self.seq = slot, jobs.at[slot].seq
            self.follow(engine, before, after)
        elif after == RUNNING and self.waiting:
            self.see_start(engine, slot)
        return 0

    def follow(self, engine: Engine, before, after):
        """The job itself has become something else."""
        now: cython.longlong = engine.now
        self.where = self.rival = None
        self.moves.append((now, State(after).name.lower()))
        self.close(now)
        self.waiting = after == WAITING
        self.cores = engine.jobs.at[self.slot].cores
        for cluster in engine.clusters:
            for rhythm in (domain.rhythm for domain in cluster.domains if hasattr(domain.rhythm, "watched")):
                rhythm.watched = self.slot if self.waiting else -1
                if hasattr(rhythm, "naming"):
                    rhythm.asked_from, rhythm.naming = -NEVER, True
        self.due = -NEVER if self.waiting else self.due
        if before == RUNNING:
            self.leave(engine, now, after)
        if after == SUSPENDED:
            self.open = WaitReason("suspended", now, now, dict(self.stays[len(self.stays) - 1].cause))
        elif after == HELD and self.stays:
            self.open = WaitReason("paused", now, now)
        elif after == RUNNING:
            where = find_ledger(self.home(engine).view).where(self.slot)
            self.stays.append(Stay(now, {int(node) for node, _ in where}))
        return 0

    def leave(self, engine: Engine, now, after):
        stay = self.stays[len(self.stays) - 1]
        stay.end, stay.state = now, State(State.WAITING if after == HELD else after).name.lower()
        preemptor = self.home(engine).preemptor
        if preemptor is not None and preemptor.going == self.slot:
            stay.cause = {"how": "displaced", "who": preemptor.made_way.get(self.slot)}
        return 0

    def see_start(self, engine: Engine, slot):
        """Another job starts while this one waits."""
        jobs: JobTable = engine.jobs
        domain: Domain = self.find_domain(engine)
        clusters: list = engine.clusters
        if domain is None or jobs.at[slot].cluster != jobs.at[self.slot].cluster:
            return 0
        if len(clusters[jobs.at[slot].cluster].domains) > 1 and jobs.at[slot].domain != jobs.at[self.slot].domain:
            return 0
        seen = see_start(domain.view, self.slot, slot)
        if seen is not None:
            self.passed.append(Passed(seen[0], engine.now, *seen[1:]))
        return 0

    def promised(self, engine: Engine, slot, time):
        jobs: JobTable = engine.jobs
        if slot == self.slot and jobs.at[slot].seq == self.seq:
            if self.waiting and not hasattr(self.home(engine).rhythm, "naming"):
                self.note_promise(engine.now, time)
        elif self.waiting:
            self.others[slot] = (jobs.at[slot].seq, time, engine.now)
        return 0

    def note_promise(self, now, time):
        if not self.promises or self.promises[len(self.promises) - 1][1] != time:
            self.promises.append((now, time))
        return 0

    def settled(self, engine: Engine):
        now: cython.longlong = engine.now
        domain: Domain
        for stay in self.stays[max(len(self.stays) - 2, 0) :]:  # it may have begun again at the same instant
            if stay.end == now and stay.state in INTERRUPTED and not stay.cause:
                stay.cause = self.name_interruption(engine, stay)
        if not self.waiting:
            return 0
        if self.stirred or not self.calm:
            self.look(engine, now)
        elif self.fitted:
            domain = self.find_domain(engine)
            self.fitted = domain.rhythm.planned != now
        if now >= self.due or now in self.times:
            self.sample(engine)
            self.due = now + self.step
        domain = self.find_domain(engine)
        if domain is not None and hasattr(domain.rhythm, "naming"):
            self.question(engine, domain.rhythm)
        return 0

    def question(self, engine: Engine, rhythm):
        """Note the job's place in a cycle that was asked for it, and say what the next ones are asked."""
        jobs: JobTable = engine.jobs
        slot: cython.Py_ssize_t = self.rival_slot
        if rhythm.planned == engine.now:
            self.cycles += 1
            if engine.now >= rhythm.asked_from:
                self.asked += 1
                if rhythm.start_planned >= 0:
                    self.note_promise(engine.now, rhythm.start_planned)
                rhythm.asked_from = engine.now + self.step
        if not self.fitted:
            self.rival = None
        rhythm.naming = self.rival is None or (
            slot >= 0 and (jobs.at[slot].seq != self.rival_seq or jobs.at[slot].state != WAITING)
        )
        return 0

    def look(self, engine: Engine, now):
        """What keeps the job waiting now?"""
        self.stirred = self.calm = False
        kind, detail = self.ask(engine)
        same = LACKING if "free" in detail else _sameness(kind, detail)
        if self.open is not None and self.same != same:
            self.close(now)
        if self.open is None:
            self.open, self.same = WaitReason(kind, now, now, detail), same
        elif same is LACKING:
            noted, free = self.open.detail, detail["free"]
            if free > noted["most_free"]:
                noted["most_free"] = free
            elif free < noted["free"]:
                noted["free"] = free
        return 0

    def finish(self, now) -> None:
        """The simulation is over."""
        self.close(now)

    def close(self, now):
        """The reason that is open ends now; one of no length was none."""
        if self.open is not None and now > self.open.start:
            self.open.end = now
            self.reasons.append(self.open)
        self.open = None
        return 0

    # ---- asking

    def find_domain(self, engine: Engine):
        """Where the job waits; None before a broker has sent it anywhere."""
        if self.where is None:
            found: Domain = find_domain(engine, self.slot)
            if not self.waiting or len(engine.clusters) > 1:
                return found
            self.where = found
        return self.where

    def home(self, engine: Engine):
        """The domain of the job, whether it waits there or runs."""
        jobs: JobTable = engine.jobs
        domains: list = engine.clusters[jobs.at[self.slot].cluster].domains
        return domains[jobs.at[self.slot].domain if len(domains) > 1 else 0]

    def machine(self, engine: Engine):
        """What is shut now and then of the job's cluster; None where nothing is."""
        for machine in engine.machines:
            if machine.index == engine.jobs.at[self.slot].cluster:
                return machine
        return None

    def name_interruption(self, engine: Engine, stay):
        domain: cython.longlong = engine.jobs.at[self.slot].domain
        found = name_interruption(self.machine(engine), domain, stay.nodes, stay.end)
        if found is None:
            return {"how": "policy"} if stay.state == "waiting" else {}
        return found

    def ask(self, engine: Engine):
        """What keeps the job waiting: a kind, and what there is to say about it."""
        domain: Domain = self.find_domain(engine)
        if domain is None:
            return "cluster", {}
        kind, counter = judge(domain.view, self.slot, engine.now)
        rhythm = domain.rhythm
        periodic: cython.bint = rhythm is not None and hasattr(rhythm, "watched")
        if periodic and rhythm.planned == engine.now:
            self.fitted = kind == ""
        self.calm = kind != "" and self.lasts(engine, domain)
        if kind == "limit":
            quotas = find_quotas(domain.view)
            return kind, {"who": quotas.titles[counter], "text": quotas.why(counter, self.slot)}
        if kind == "resources" or kind == "reservation":
            return self.find_obstacle(engine, domain, kind)
        if periodic and rhythm.depth > -2:
            return self.ask_rhythm(engine, rhythm)
        ahead = find_ahead(engine, domain, self.slot)
        if len(ahead):
            return "priority", {"who": int(engine.jobs.job_id[ahead[0]]), "ahead": len(ahead)}
        return ("rhythm" if rhythm is not None else "policy"), {}

    def lasts(self, engine: Engine, domain: Domain):
        """Whether what keeps the job back stays the same while no job becomes something else: passes keep nothing
        beyond their end, nothing is shut now and then, and no limit counts time."""
        if domain.rhythm is None or not hasattr(domain.rhythm, "naming") or engine.machines:
            return False
        quotas = find_quotas(domain.view)
        return find_ledger(domain.view).holds == 0 and (quotas is None or not quotas.timed)

    def find_obstacle(self, engine: Engine, domain: Domain, kind):
        """It does not fit, now or for as long as it takes: what has its place?"""
        free: cython.longlong
        machine = self.machine(engine)
        if machine is not None:
            found = find_obstacle(machine, engine.jobs.at[self.slot].domain, domain.view, self.slot, kind)
            if found is not None:
                return found
        if kind == "reservation":
            return kind, self.holder(engine)
        free = find_ledger(domain.view).free
        detail = {"needs": self.cores, "free": free, "most_free": free}
        if domain.preemptor is not None and self.slot in domain.preemptor.claims:
            detail["room_by"] = int(domain.preemptor.claims[self.slot])
        return kind, detail

    def ask_rhythm(self, engine: Engine, rhythm):
        """It could start: what did the last backfill pass say?"""
        planned: cython.longlong = rhythm.planned
        if planned < 0 or planned < self.moves[len(self.moves) - 1][0]:
            return "rhythm", {}
        if rhythm.seen != planned:
            return "depth", {}
        if not self.fitted:
            return "rhythm", {}
        return "reservation", self.holder(engine)

    def holder(self, engine: Engine):
        """The job with the first reservation, of those that may be in the way."""
        rhythm = self.home(engine).rhythm
        if hasattr(rhythm, "naming"):
            return self.name_rival(engine, rhythm)
        found = first_promised(engine.jobs, self.slot) or self.first_planned(engine)
        if found is None:
            return {}
        start, slot = found
        jobs: JobTable = engine.jobs
        at: cython.Py_ssize_t = slot
        return {"who": jobs.at[at].job_id, "promised": start}

    def name_rival(self, engine: Engine, rhythm):
        """As the last cycle that was asked had it."""
        jobs: JobTable = engine.jobs
        at: cython.Py_ssize_t
        if rhythm.planned == engine.now and (rhythm.naming or engine.now >= rhythm.asked_from):
            found = rhythm.rival
            self.rival, self.rival_slot = {}, -1
            if found is not None:
                start, slot = found
                at = slot
                self.rival_slot, self.rival_seq = at, jobs.at[at].seq
                self.rival = {"who": jobs.at[at].job_id, "promised": start}
        return {} if self.rival is None else self.rival

    def first_planned(self, engine: Engine):
        """The first of the planned starts of other jobs when some were last told: (start, slot)."""
        jobs: JobTable = engine.jobs
        at: cython.Py_ssize_t
        told: cython.longlong = -1
        for _, _, when in self.others.values():
            told = max(told, when)
        first: tuple = None
        for slot, (seq, start, when) in self.others.items():
            at = slot
            if when != told or at == self.slot or jobs.at[at].seq != seq or jobs.at[at].state != WAITING:
                continue
            if first is None or (start, slot) < first:
                first = (start, slot)
        return first

    # ---- the order

    def sample(self, engine: Engine):
        """Note its place in the order, and when it would start."""
        now: cython.longlong = engine.now
        domain: Domain = self.find_domain(engine)
        if domain is None:
            return 0
        jobs = engine.jobs
        ahead = find_ahead(engine, domain, self.slot)
        cluster = engine.clusters[int(jobs.cluster[self.slot])]
        order = cluster.orders[int(jobs.lane[self.slot]) if domain.lines is not None else 0]
        if now in self.times and order.periodic:  # what is asked for is that of this moment, not of the last pass
            order.renew(now)
        parts = {name: float(value) for name, value in order.parts(jobs, self.slot, now).items()}
        parked = 0 if domain.lines is None else int(domain.lines.parked)
        self.samples.append(QueueSample(now, len(ahead), int(domain.queue.size) + parked, parts))
        start = foresee(engine, domain, self.slot, ahead)
        if start is not None and (not self.plans or self.plans[len(self.plans) - 1][1] != start):
            self.plans.append((now, start))
        return 0
