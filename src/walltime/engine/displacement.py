"""Room for urgent jobs: who of the running has to go, who was told to, and who is suspended until they may go on."""

from __future__ import annotations

from typing import Any

from walltime.core.time import NEVER
from walltime.kernel.jobs import Outcome, State
from walltime.kernel.source import Remedy
from walltime.policy.api import Pass
from walltime.policy.preempt import Preempt

_REMEDIES = {"requeue": Remedy.REQUEUE, "kill": Remedy.FAIL, "checkpoint": Remedy.CHECKPOINT}


class Displacer:
    """Works for one island, at the beginning of each of its passes.

    A waiting job of a higher rank than some running one is *urgent*: it starts if it fits, else where it fits once
    others of lower ranks have gone. Where they have time to leave it is a *claimant* until then, with a pinned hold.
    """

    def __init__(self, part: Preempt, simulation: Any, tiers: list[int]) -> None:
        self.part = part
        self.simulation = simulation
        self.jobs = simulation.jobs
        self.tiers = tiers  # of the lanes
        self.waiting: dict[int, dict[int, None]] = {}  # by rank
        self.running: dict[int, dict[int, None]] = {}  # by rank, without those who were told
        self.rank_of: dict[int, int] = {}
        self.told: dict[int, int] = {}
        self.claims: dict[int, int] = {}  # and when those whom they displace are to be gone
        self.suspended: dict[int, list[Any]] = {}

    # ---- what the engine tells

    def waits(self, slot: int) -> None:
        """The job has joined the queue."""
        rank = self.rank_of[slot] = self.part.rank(self.jobs, slot)
        self.waiting.setdefault(rank, {})[slot] = None

    def moved(self, slot: int, before: int, after: int) -> None:
        """The job has gone from one State to another."""
        if before == State.WAITING and slot in self.rank_of:
            self._started(slot)
        elif before == State.RUNNING:
            if self.told.pop(slot, None) is None:
                self._forget(self.running, slot)
            else:
                del self.rank_of[slot]
        elif before == State.SUSPENDED:
            self.suspended.pop(slot, None)
        if after == State.RUNNING:
            rank = self.rank_of[slot] = self.part.rank(self.jobs, slot)
            self.running.setdefault(rank, {})[slot] = None

    def _forget(self, ranks: dict[int, dict[int, None]], slot: int) -> None:
        rank = self.rank_of.pop(slot)
        del ranks[rank][slot]
        if not ranks[rank]:
            del ranks[rank]

    # ---- a pass

    def act(self, view: Pass) -> bool:
        """Make room, and let the suspended go on; whether promises were dropped for that: then all is planned anew."""
        lowest = min(self.running, default=None)
        for slot in [one for one in self.claims if not view.admits(one)]:
            view.ledger.unhold(slot)
            self._renounce(slot)
        urgent = list(self.claims)
        if lowest is not None:
            urgent += [
                slot
                for rank, slots in self.waiting.items()
                if rank > lowest
                for slot in slots
                if slot not in self.claims and view.admits(slot)
            ]
        if not urgent and not self.suspended:
            return False
        view.release()
        for slot in sorted(urgent, key=self._place):
            self._serve(view, slot)
        for slot in sorted(self.suspended, key=lambda one: (-self.part.rank(self.jobs, one), self.jobs.seq[one])):
            until = view.now + int(self.jobs.estimate[slot])
            if view.ledger.has_room(slot, self.suspended[slot], until) and view.admits(slot):
                self.simulation.resume_at(slot, self.suspended[slot])
        return True

    def _place(self, slot: int) -> tuple[bool, int, int, int]:
        """Claimants first, then in the order of the queue."""
        jobs = self.jobs
        return slot not in self.claims, self.tiers[jobs.lane[slot]], int(jobs.key[slot]), int(jobs.seq[slot])

    def _serve(self, view: Pass, slot: int) -> None:
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

    def _pin(self, view: Pass, slot: int) -> None:
        """Nobody else may have what the claimant is to get, from the first time on at which it can have it."""
        view.ledger.unhold(slot)
        time = view.ledger.earliest(slot, max(view.now, self.claims[slot]))
        if time < NEVER:
            view.ledger.pin(slot, time)

    def _renounce(self, slot: int) -> None:
        del self.claims[slot]
        self.jobs.pinned[slot] = 0

    def _started(self, slot: int) -> None:
        """The job waits no more; where a pass has started it, it runs once that is made true."""
        self._forget(self.waiting, slot)
        if slot in self.claims:
            self._renounce(slot)

    def _tell(self, slot: int, time: int) -> None:
        rank = self.rank_of[slot]
        del self.running[rank][slot]
        if not self.running[rank]:
            del self.running[rank]
        self.told[slot] = time
        self.simulation.tell(slot, time)

    def _victims(self, view: Pass, slot: int) -> list[int]:
        """Those who have to go for the job, in the order in which they do; none where that does not help."""
        own = self.rank_of[slot]
        candidates = sorted(
            (rank, self.part.cost(self.jobs, one), one)
            for rank in self.running
            if rank < own
            for one in self.running[rank]
        )
        if not candidates:
            return []
        ledger, gone = view.ledger, {}
        try:
            for one in self.told:
                if self.rank_of[one] < own:
                    gone[one] = ledger.where(one)
                    ledger.give(one)
            if view.fits(slot):  # those who leave anyway make room enough, for somebody
                return []
            chosen = self._enough(view, slot, [one for *_, one in candidates], gone)
            for one in reversed(chosen[:-1]):
                ledger.put_back(one, gone[one])
                if view.fits(slot):
                    del gone[one]
                    chosen.remove(one)
                else:
                    ledger.give(one)
            return chosen
        finally:
            for one, where in gone.items():
                ledger.put_back(one, where)

    def _enough(self, view: Pass, slot: int, candidates: list[int], gone: dict[int, list[Any]]) -> list[int]:
        """Take candidates away, one after the other, until the job fits; none where it never does."""
        chosen = []
        for one in candidates:
            chosen.append(one)
            gone[one] = view.ledger.where(one)
            view.ledger.give(one)
            if view.fits(slot):
                return chosen
        return []

    # ---- those who go

    def displace(self, slot: int) -> None:
        """The job has to go now."""
        if self.part.mode != "suspend":
            self.simulation.interrupt(slot, _REMEDIES[self.part.mode], Outcome.PREEMPTED)
            return
        ledger = self.simulation.ledger_for(slot)
        self.suspended[slot] = ledger.where(slot)
        self.simulation.suspend(slot)
