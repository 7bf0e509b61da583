"""Which waiting jobs grow older, where limits say how many may: the others' age does not count in their priority.

As Slurm's MaxJobsAccrue and its kin: of the jobs that wait, those that came first accrue age; the next one begins when
one of them starts or leaves. A job that was put back begins again. One limit decides, but a job counts at all that are
on it, so that others may be over-full.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from walltime.core.time import NEVER
from walltime.kernel.jobs import State
from walltime.kernel.source import Moment, Source
from walltime.rules.limits import Counters
from walltime.scenario.rules import ACCRUING


class Accrual(Source):
    """Gives waiting jobs their time of accrual, when all else that happens at an instant has happened."""

    def __init__(self, counters: Counters) -> None:
        super().__init__()
        self.hears = Moment.MOVED
        self.counters = counters
        self.bounds: dict[int, list[int]] = {}  # by set of counters: those that bound jobs, the deciding one first
        self.count: dict[int, int] = {}  # by counter: the jobs that accrue
        self.idle: dict[int, int] = {}  # jobs that wait and do not accrue: by slot, the order of entry
        self.lines: dict[int, list[tuple[int, int]]] = {}  # and by the counter that decides, in that order
        self.accruing: dict[int, tuple[int, list[int]]] = {}  # by slot: since when, and where it counts
        self.stirred: set[int] = set()  # counters that may let in a job

    def since(self, slot: int) -> int | None:
        """As in `walltime.policy.surroundings.Accruals`."""
        if slot in self.idle:
            return NEVER
        found = self.accruing.get(slot)
        return None if found is None else found[0]

    def moved(self, slot: int, before: int, after: int) -> None:
        if after == State.WAITING:
            counters = self._bounds(int(self.engine.jobs.rules[slot]))
            if counters:
                self.idle[slot] = int(self.engine.jobs.seq[slot])
                heappush(self.lines.setdefault(counters[0], []), (self.idle[slot], slot))
                self._stir(counters[:1])
        elif before == State.WAITING and self.idle.pop(slot, None) is None and slot in self.accruing:
            _, counters = self.accruing.pop(slot)
            for counter in counters:
                self.count[counter] -= 1
            self._stir(counters)

    def _bounds(self, counter_set: int) -> list[int]:
        if counter_set not in self.bounds:
            self.bounds[counter_set] = self.counters.accruing(counter_set)
        return self.bounds[counter_set]

    def _stir(self, counters: list[int]) -> None:
        self.stirred.update(counters)
        self.next = self.engine.now

    def fire(self, now: int) -> None:
        """Those that came first accrue from now on, as far as there is room."""
        self.next = NEVER
        heads = [(head, counter) for counter in self.stirred if (head := self._first(counter)) is not None]
        self.stirred.clear()
        heapify(heads)
        while heads:
            (_, slot), decides = heappop(heads)
            if self.count.get(decides, 0) >= self.counters.caps[decides][ACCRUING]:
                continue
            counters = self._bounds(int(self.engine.jobs.rules[slot]))
            for counter in counters:
                self.count[counter] = self.count.get(counter, 0) + 1
            del self.idle[slot]
            self.accruing[slot] = now, counters
            if (head := self._first(decides)) is not None:
                heappush(heads, (head, decides))

    def _first(self, counter: int) -> tuple[int, int] | None:
        """The job that has waited there longest without accruing; those that have left the line are dropped from it."""
        line = self.lines.get(counter, [])
        while line and self.idle.get(line[0][1]) != line[0][0]:
            heappop(line)
        return line[0] if line else None
