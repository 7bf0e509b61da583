"""Room for urgent jobs: who of the running has to go, who was told to, and who is suspended until they may go on."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.jobs import JobTable, Outcome, State  # noqa: F401 - as in displacement.pxd
from walltime.kernel.source import Remedy
from walltime.policy.api import Cause, Pass

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    WAITING, RUNNING, SUSPENDED = State.WAITING, State.RUNNING, State.SUSPENDED
    ARRIVAL = Cause.ARRIVAL

_REMEDIES = {"requeue": Remedy.REQUEUE, "kill": Remedy.FAIL, "checkpoint": Remedy.CHECKPOINT}


@cython.final
@cython.cclass
class Displacer:
    """Works for one island, at the beginning of each of its passes.

    A waiting job of a higher rank than some running one is *urgent*: it starts if it fits, else where it fits once
    others of lower ranks have gone. Where they have time to leave it is a *claimant* until then, with a pinned hold.
    """

    def __init__(self, part, simulation, tiers) -> None:
        self.part = part
        self.simulation = simulation
        self.jobs = simulation.jobs
        self.tiers = tiers  # of the lanes
        self.waiting = {}  # by rank
        self.running = {}  # by rank, without those who were told
        self.rank_of = {}
        self.told = {}  # and when they would have ended, as far as is known
        self.claims = {}  # and when those whom they displace are to be gone
        self.suspended = {}
        self.fresh = []  # who has joined since the last pass

    # ---- what the engine tells

    def waits(self, slot):
        """The job has joined the queue."""
        rank = self.rank_of[slot] = self.part.rank(self.jobs, slot)
        self.waiting.setdefault(rank, {})[slot] = None
        self.fresh.append(slot)

    def moved(self, slot, before, after):
        """The job has gone from one State to another."""
        if before == WAITING and slot in self.rank_of:
            self._started(slot)
        elif before == RUNNING:
            if slot in self.told:
                del self.told[slot], self.rank_of[slot]
            else:
                self._forget(self.running, slot)
        elif before == SUSPENDED:
            self.suspended.pop(slot, None)
        if after == RUNNING:
            rank = self.rank_of[slot] = self.part.rank(self.jobs, slot)
            self.running.setdefault(rank, {})[slot] = None

    def _forget(self, ranks, slot):
        rank = self.rank_of.pop(slot)
        del ranks[rank][slot]
        if not ranks[rank]:
            del ranks[rank]

    # ---- a pass

    def act(self, view: Pass):
        """Make room, and let the suspended go on; whether promises were dropped for that: then all is planned anew."""
        slot: cython.Py_ssize_t
        for slot in list(self.claims):
            if not view.admits(slot):
                view.ledger.unhold(slot)
                self._renounce(slot)
        urgent: list = self._urgent(view)
        self.fresh = []
        if not urgent and not self.suspended:
            return False
        view.release()
        for slot in sorted(urgent, key=self._place):
            self._serve(view, slot)
        self.fresh = []  # whom others have displaced is no news
        for slot in sorted(self.suspended, key=self._precedence):
            until = view.now + self.jobs.at[slot].estimate
            if view.ledger.has_room(slot, self.suspended[slot], until) and view.admits(slot):
                self.simulation.resume_at(slot, self.suspended[slot])
        return True

    def _urgent(self, view: Pass):
        """Claimants, and those who may displace somebody, or go before somebody who is suspended.

        Where nothing but arrivals has happened since the last pass, only who has come since: whom all of a lower rank
        together could not help then, they cannot help now."""
        slot: cython.Py_ssize_t
        urgent: list = list(self.claims)
        if not self.running and not self.suspended:
            return urgent
        ranks: list = list(self.running)
        for slot in self.suspended:
            ranks.append(self.part.rank(self.jobs, slot))
        lowest = min(ranks)
        if view.causes == ARRIVAL:
            seekers = [slot for slot in dict.fromkeys(self.fresh) if self.rank_of.get(slot, lowest) > lowest]
        else:
            seekers = [slot for rank, slots in self.waiting.items() if rank > lowest for slot in slots]
        for slot in seekers:
            # Whoever goes, before a longer one could end all will be shut.
            length = max(self.jobs.at[slot].estimate, 1)
            if length <= view.ledger.closing and slot not in self.claims and view.admits(slot):
                urgent.append(slot)
        return urgent

    def _place(self, slot):
        """Claimants first, then in the order of the queue."""
        i: cython.Py_ssize_t = slot
        return slot not in self.claims, self.tiers[self.jobs.at[i].lane], self.jobs.at[i].key, self.jobs.at[i].seq

    def _precedence(self, slot):
        """Of the suspended, the highest rank first."""
        i: cython.Py_ssize_t = slot
        return -self.part.rank(self.jobs, slot), self.jobs.at[i].seq

    def _serve(self, view: Pass, slot):
        """Start the job if it fits, if need be in the place of others."""
        if view.fits(slot):
            view.start(slot)
            self._started(slot)
        elif slot in self.claims:
            self._pin(view, slot)
        else:
            victims = self._victims(view, slot)
            if victims and self.part.grace == 0:
                for victim in victims:
                    self.displace(victim)
                view.start(slot)
                self._started(slot)
            elif victims:
                time = view.now + self.part.grace
                for victim in victims:
                    self._tell(victim, time)
                self.claims[slot] = time
                self._pin(view, slot)

    def _pin(self, view: Pass, slot):
        """Nobody else may have what the claimant is to get, from the first time on at which it can have it."""
        view.ledger.unhold(slot)
        time = view.ledger.earliest(slot, max(view.now, self.claims[slot]))
        if time < NEVER:
            view.ledger.pin(slot, time)

    def _renounce(self, slot: cython.Py_ssize_t):
        del self.claims[slot]
        self.jobs.at[slot].pinned = 0

    def _started(self, slot):
        """The job waits no more; where a pass has started it, it runs once that is made true."""
        self._forget(self.waiting, slot)
        if slot in self.claims:
            self._renounce(slot)

    def _tell(self, slot: cython.Py_ssize_t, time):
        rank = self.rank_of[slot]
        del self.running[rank][slot]
        if not self.running[rank]:
            del self.running[rank]
        self.told[slot] = self.jobs.at[slot].expected_end
        self.simulation.tell(slot, time)

    def _victims(self, view: Pass, slot):
        """Those who have to go for the job, in the order in which they do; none where that does not help."""
        own = self.rank_of[slot]
        ledger, gone = view.ledger, {}
        try:
            for one in self.told:
                if self.rank_of[one] < own:
                    gone[one] = ledger.where(one)
                    ledger.give(one)
            if view.fits(slot):  # those who leave anyway make room enough, for somebody
                return []
            chosen = self._enough(view, slot, own, gone)
            needed = chosen[len(chosen) - 1 :]
            only = self._only_nodes(slot, gone, needed)
            for one in reversed(chosen[: len(chosen) - 1]):
                ledger.put_back(one, gone[one])
                if (only and only.isdisjoint([node for node, _ in gone[one]])) or view.fits(slot):
                    del gone[one]
                else:
                    ledger.give(one)
                    needed.append(one)
            needed.reverse()
            return needed
        finally:
            for one, where in gone.items():
                ledger.put_back(one, where)

    def _only_nodes(self, slot, gone, last):
        """Of a job that needs a single node: those that it can be on, now that the last one has gone; empty for others.
        Whoever is on none of them need not go."""
        i: cython.Py_ssize_t = slot
        if last and (self.jobs.at[i].nodes == 1 or self.jobs.at[i].cores == 1):
            return {node for node, _ in gone[last[0]]}
        return set()

    def _enough(self, view: Pass, slot, own, gone):
        """Take candidates away, one after the other, until the job fits; none where it never does."""
        chosen = []
        for rank in sorted(self.running):
            if rank >= own:
                break
            for one in self._ranked(self.running[rank]):
                chosen.append(one)
                gone[one] = view.ledger.where(one)
                view.ledger.give(one)
                if view.fits(slot):
                    return chosen
        return []

    def _ranked(self, ones):
        """Jobs of one rank, those first who are the first to go. They are kept in order of their starts, so that the
        youngest are found without a look at the others."""
        one: cython.Py_ssize_t
        if self.part.victims != "youngest":
            yield from sorted(ones, key=self._cost)
            return
        together: list = []
        start: cython.longlong = -1
        for one in reversed(ones):
            if together and self.jobs.at[one].start != start:
                yield from sorted(together, key=self._cost)
                together = []
            start = self.jobs.at[one].start
            together.append(one)
        yield from sorted(together, key=self._cost)

    def _cost(self, slot):
        return self.part.cost(self.jobs, slot)

    # ---- those who go

    def displace(self, slot):
        """The job has to go now."""
        if self.part.mode != "suspend":
            self.simulation.interrupt(slot, _REMEDIES[self.part.mode], Outcome.PREEMPTED)
            return
        end = self.told.get(slot, self.jobs.at[slot].expected_end)
        self.suspended[slot] = self.simulation.ledger_for(slot).where(slot)
        self.simulation.suspend(slot)
        self.jobs.at[slot].estimate = max(end - self.simulation.now, 1)
