"""Room for urgent jobs: which running jobs have to go, which were told to, and which are suspended."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.engine.disruptions.victims import VictimSearch
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.jobs import JobTable, Outcome, State  # noqa: F401 - as in preemption.pxd
from walltime.kernel.queue.chains import Chains
from walltime.kernel.queue.lines import LinesQueue
from walltime.kernel.source import Engine, Remedy
from walltime.policy.api import Cause, Pass
from walltime.policy.preempt import Preempt

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    WAITING, RUNNING, SUSPENDED = State.WAITING, State.RUNNING, State.SUSPENDED
    ARRIVAL, TIMER = Cause.ARRIVAL, Cause.TIMER

_REMEDIES = {"requeue": Remedy.REQUEUE, "kill": Remedy.KILL, "checkpoint": Remedy.RESTORE}


@cython.final
@cython.cclass
class Preemptor:
    """Works for one domain, at the beginning of each of its passes.

    A waiting job of a higher rank than some running one is *urgent*: it starts if it fits, else where it fits once
    others of lower ranks have gone. Where they have time to leave it is a *claimant* until then, with a pinned hold.
    """

    def __init__(self, part: Preempt, simulation: Engine, notices, tiers) -> None:
        self.part = part
        self.simulation = simulation
        self.notices = notices  # of jobs that have to leave
        self.jobs = simulation.jobs
        self.tiers = tiers  # of the lanes
        self.chains = Chains(self.jobs)
        self.rank = integers(64)  # by slot, of waiting and running jobs
        self.waiting = {}  # the chain of each rank
        self.running = {}  # of each rank, and there of each cost: without those that were told, the youngest last
        self.order = []  # the keys of `running`: which jobs go first
        self.told = {}  # and when they would have ended, as far as is known
        self.claims = {}  # and when the jobs that they preempt are to be gone
        self.suspended = {}
        self.made_way = {}  # for which job another was last told to go, by its number
        self.going = -1  # the job that is made to go at this moment
        self.fresh = []  # the jobs that have joined since the last pass
        self.unasked = False  # whether some have joined in a pass itself, and were never asked
        self.sought = False  # whether a job seeks room in this one
        self.base = -NEVER  # the lowest rank then
        self.hopeless = {}  # of requests that no preemption has helped in this pass: the shortest
        self.search = VictimSearch()

    # ---- what the engine tells

    def waits(self, slot):
        """The job has joined the queue."""
        rank: cython.longlong = self.part.rank(self.jobs, slot)
        self.note(slot, rank)
        chain = self.waiting.get(rank)
        if chain is None:
            chain = self.waiting[rank] = self.chains.add()
        self.chains.join(chain, slot, -1)
        self.fresh.append(slot)

    def moved(self, slot, before, after):
        """The job has gone from one State to another."""
        if before == WAITING:
            if self.chains.chain(slot) >= 0:
                self.waits_no_more(slot)
        elif before == RUNNING:
            if self.chains.chain(slot) >= 0:
                self.chains.leave(slot)
            else:
                self.told.pop(slot, None)
        elif before == SUSPENDED:
            self.suspended.pop(slot, None)
        if after == RUNNING:
            self.runs(slot)

    def runs(self, slot):
        """The job runs, and may have to go for others."""
        key = (self.part.rank(self.jobs, slot), self.part.cost(self.jobs, slot))
        self.note(slot, key[0])
        chain = self.running.get(key)
        if chain is None:
            chain = self.running[key] = self.chains.add()
            self.order = sorted(self.running)
        return self.chains.join(chain, slot, self.simulation.now)

    def note(self, slot, rank):
        while slot >= len(self.rank):
            self.rank = doubled(self.rank)
        self.rank[slot] = rank
        return 0

    # ---- a pass

    def act(self, view: Pass):
        """Make room, and let the suspended go on; whether promises were dropped for that: then all is planned again."""
        slot: cython.Py_ssize_t
        if self.claims:
            for slot in list(self.claims):
                if not view.admits(slot):
                    view.raw_ledger.unhold(slot)
                    self.renounce(slot)
        urgent: list = self.urgent(view)
        if self.fresh:
            self.fresh = []
        if not urgent and not self.sought and not self.suspended:
            return False
        view.release()
        self.hopeless = {}
        if len(urgent) > 1:
            urgent.sort(key=self.urgency)
        for slot in urgent:
            self.serve(view, slot)
        self.unasked = self.unasked or len(self.fresh) > 0
        self.fresh = []  # jobs that others have preempted are no news
        for slot in sorted(self.suspended, key=self.precedence):
            until = view.now + self.jobs.at[slot].estimate
            if view.raw_ledger.has_room(slot, self.suspended[slot], until) and view.admits(slot):
                self.simulation.resume_at(slot, self.suspended[slot])
        return True

    def urgent(self, view: Pass):
        """Claimants, and jobs of a higher rank than some other job here, also where that one only waits.

        Where nothing but arrivals has happened since the last pass, and none of these has the lowest rank of all, only
        the new jobs: the others found no room then, even if all jobs of lower ranks had gone, and find none now. Time
        alone makes none either, unless jobs are about to leave or something will be shut."""
        slot: cython.Py_ssize_t
        lowest: cython.longlong = self.lowest()
        urgent: list = list(self.claims) if self.claims else []
        self.sought = False
        fresh: cython.bint = view.causes & ~(ARRIVAL | TIMER) == 0 and lowest >= self.base
        if view.causes & TIMER and self.in_flux(view):
            fresh = False
        self.base = lowest
        if fresh:
            for slot in self.fresh:
                if self.chains.chain(slot) >= 0 and self.jobs.at[slot].state == WAITING and self.rank[slot] > lowest:
                    self.let_seek(view, slot, urgent)
            if view.causes & TIMER and not self.sought:
                self.sought = self.seeks(view, lowest)
            return urgent
        self.unasked = False
        for key, chain in self.waiting.items():
            if key > lowest:
                slot = self.chains.first[chain]
                while slot >= 0:
                    self.let_seek(view, slot, urgent)
                    slot = self.chains.after[slot]
        return urgent

    def in_flux(self, view: Pass):
        """Whether a job that found no room may find some now, though only time has passed."""
        if self.unasked or self.told or self.claims:
            return True
        return view.raw_ledger.pins > 0 or view.raw_ledger.closing < NEVER

    def seeks(self, view: Pass, lowest):
        """Whether a job that the limits admit is of a higher rank than this."""
        slot: cython.Py_ssize_t
        for key, chain in self.waiting.items():
            slot = self.chains.first[chain] if key > lowest else -1
            while slot >= 0:
                if view.admits(slot):
                    return True
                slot = self.chains.after[slot]
        return False

    def lowest(self):
        """The lowest rank of the jobs that run and were not told to leave, wait, or are suspended."""
        slot: cython.Py_ssize_t
        chain: cython.Py_ssize_t
        rank: cython.longlong
        lowest: cython.longlong = NEVER
        for rank, chain in self.waiting.items():
            if rank < lowest and self.chains.first[chain] >= 0:
                lowest = rank
        for key in self.order:
            chain = self.running[key]
            if self.chains.first[chain] >= 0:
                lowest = min(lowest, key[0])
                break
        for slot in self.suspended:
            rank = self.part.rank(self.jobs, slot)
            lowest = min(lowest, rank)
        return lowest

    def park_refused(self, lines: LinesQueue):
        """After a pass: have a job that a limit keeps from displacing others seek again when that limit moves, also
        where no cores are free and so no policy would look at it."""
        slot: cython.Py_ssize_t
        next: cython.Py_ssize_t
        counter: cython.Py_ssize_t
        lowest: cython.longlong = self.lowest()
        for rank, chain in self.waiting.items():
            slot = self.chains.first[chain] if rank > lowest else -1
            while slot >= 0:
                next = self.chains.after[slot]
                counter = lines.refuser(slot) if self.jobs.at[slot].promise < 0 else -1
                if counter >= 0:
                    lines.park(slot, counter)
                slot = next
        return 0

    def let_seek(self, view: Pass, slot, urgent: list):
        """Let the job seek room, unless it is longer than the time until everything will be shut."""
        length: cython.longlong = max(self.jobs.at[slot].estimate, 1)
        if slot not in self.claims and view.admits(slot):
            self.sought = True
            if length <= view.raw_ledger.closing:
                urgent.append(slot)
        return 0

    def urgency(self, slot: cython.Py_ssize_t):
        """Claimants first, then the highest rank, and in each the order of the queue."""
        order = self.tiers[self.jobs.at[slot].lane], self.jobs.at[slot].key, self.jobs.at[slot].seq
        return (False, 0, *order) if slot in self.claims else (True, -self.rank[slot], *order)

    def precedence(self, slot: cython.Py_ssize_t):
        """Of the suspended, the highest rank first."""
        return -self.part.rank(self.jobs, slot), self.jobs.at[slot].seq

    def serve(self, view: Pass, slot):
        """Start the job if it fits, if need be in the place of others."""
        victim: cython.Py_ssize_t
        if view.fits(slot):
            view.start(slot)
            self.waits_no_more(slot)
        elif slot in self.claims:
            self.pin(view, slot)
        elif view.admits(slot):  # those before it may have used up what is allowed
            victims: list = self.victims(view, slot)
            for victim in victims:
                self.made_way[victim] = self.jobs.at[slot].job_id
            if victims and self.part.grace == 0:
                for victim in victims:
                    self.displace(victim)
                view.start(slot)
                self.waits_no_more(slot)
            elif victims:
                time = view.now + self.part.grace
                for victim in victims:
                    self.chains.leave(victim)
                    self.told[victim] = self.jobs.at[victim].expected_end
                    self.notices.give(victim, time)
                self.claims[slot] = time
                self.pin(view, slot)
        return 0

    def pin(self, view: Pass, slot):
        """No other job may have what the claimant is to get, from the first time on at which it can have it."""
        time: cython.longlong = max(view.now, self.claims[slot])
        view.raw_ledger.unhold(slot)
        time = view.raw_ledger.earliest(slot, time)
        if time < NEVER:
            view.raw_ledger.pin(slot, time)
        return 0

    def renounce(self, slot):
        del self.claims[slot]
        self.jobs.at[slot].pinned = 0
        return 0

    def waits_no_more(self, slot):
        """The job waits no more; where a pass has started it, it runs once that is made true."""
        self.chains.leave(slot)
        if slot in self.claims:
            self.renounce(slot)
        return 0

    # ---- which jobs have to go

    def victims(self, view: Pass, slot):
        """The jobs that have to go for this one, in the order in which they do; none where that does not help."""
        one: cython.Py_ssize_t
        own: cython.longlong = self.rank[slot]
        request = (own, self.jobs.at[slot].shape, self.jobs.at[slot].cores, self.jobs.at[slot].nodes)
        length: cython.longlong = self.hopeless.get(request, NEVER)
        if length <= self.jobs.at[slot].estimate:
            return []
        search: VictimSearch = self.search
        search.begin(view, slot)
        try:
            for one in self.told:
                if self.rank[one] < own:
                    search.trial.take_away(one)
            if self.told and view.fits(slot):  # the jobs that leave anyway make room enough
                return []
            found: list = self.look(search, own)
        finally:
            search.end()
        if not found and self.jobs.at[slot].choice < 0:
            self.hopeless[request] = self.jobs.at[slot].estimate
        return found

    def look(self, search: VictimSearch, own):
        """Let one after the other go, the first to go first, until the job fits; those of them that it needs to go."""
        one: cython.Py_ssize_t
        chain: cython.Py_ssize_t
        cores: cython.longlong = search.ledger.capacity
        for key in self.order:
            if key[0] >= own:
                chain = self.running[key]
                cores -= self.chains.cores[chain]
        if cores < self.jobs.at[search.slot].cores:
            return []
        for key in self.order:
            if key[0] >= own:
                break
            chain = self.running[key]
            one = self.chains.last[chain]
            while one >= 0:
                if search.enough_without(one):
                    return search.needed()
                one = self.chains.before[one]
        return []

    # ---- the jobs that go

    def displace(self, slot):
        """The job has to go now."""
        self.going = slot
        self.send_away(slot)
        self.going = -1

    def send_away(self, slot: cython.Py_ssize_t):
        if self.part.mode != "suspend":
            if self.part.mode == "kill":
                self.simulation.count_withdrawn("preempted")
            self.simulation.interrupt(slot, _REMEDIES[self.part.mode], Outcome.PREEMPTED)
            return
        end = self.told.get(slot, self.jobs.at[slot].expected_end)
        self.suspended[slot] = self.simulation.ledger_for(slot).where(slot)
        self.simulation.suspend(slot)
        self.jobs.at[slot].estimate = max(end - self.simulation.now, 1)
