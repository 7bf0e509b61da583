"""The promise of EASY, replayed from the tables: a blocked head starts no later than the requests allowed for.

Whenever a job becomes the blocked head of the queue (in order of eligibility, then of entry), the cores that it needs
will be free at the latest when enough of the running jobs have reached their requests. EASY (Lifka, 1995; Mu'alem and
Feitelson, 2001) lets no job overtake that would make that later, so the head's real start is never after the first such
promise. It holds for arrival order, requests as estimates, jobs killed at their limits, and one pass at an instant.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappop, heappush

import numpy as np

from walltime.analysis.intervals import ABSENT

_END, _ARRIVE, _START = 0, 1, 2


def find_broken_promises(
    capacity: int,
    cores: np.ndarray,
    eligible: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    requested: np.ndarray,
    *,
    horizon: int,
) -> list[tuple[int, int, int]]:
    """(row, promised start, when it was promised) for each job that started later, or not by the horizon.

    Rows are in order of entry, times in microseconds, ABSENT where a job did not start or end.
    """
    sweep = _Sweep(capacity, *(column.tolist() for column in (cores, eligible, start, end, requested)))
    broken = []
    for row, promised, seen in sweep.run():
        left = sweep.end[row] if sweep.end[row] != ABSENT else horizon
        real = sweep.start[row] if sweep.start[row] != ABSENT else left
        if real > promised:
            broken.append((row, promised, seen))
    return broken


class _Sweep:
    """The machine and the queue at one instant after another."""

    def __init__(
        self,
        capacity: int,
        cores: list[int],
        eligible: list[int],
        start: list[int],
        end: list[int],
        requested: list[int],
    ) -> None:
        self.cores, self.start, self.end, self.requested = cores, start, end, requested
        self.eligible = eligible
        self.free = capacity
        self.running: list[tuple[int, int]] = []  # (latest end, row), sorted
        self.waiting: list[tuple[int, int]] = []  # heap of (eligible, row); those that left are dropped when met
        self.left: set[int] = set()
        self.promised: set[int] = set()

    def run(self) -> list[tuple[int, int, int]]:
        """(row, promised start, now) for each job, at the first instant after which it is the blocked head."""
        events = self._events()
        promises = []
        first = 0
        while first < len(events):
            now, last = events[first][0], first
            started: list[int] = []
            while last < len(events) and events[last][0] == now:
                self._apply(events[last][1], events[last][2], started)
                last += 1
            first = last
            head = self._head()
            if head is not None and head not in self.promised:
                self.promised.add(head)
                promises.append((head, self._promise(head, now, started), now))
        return promises

    def _events(self) -> list[tuple[int, int, int]]:
        """(time, kind, row) in order: ends and departures from the queue, arrivals, starts."""
        events = []
        for row, (eligible, start, end) in enumerate(zip(self.eligible, self.start, self.end, strict=True)):
            if end != ABSENT and start == ABSENT and end <= eligible:
                continue  # cancelled before it ever waited
            events.append((eligible, _ARRIVE, row))
            if start != ABSENT:
                events.append((start, _START, row))
            if end != ABSENT:
                # An end at the instant of its own start comes after it.
                events.append((end, _START if end == start else _END, row))
        return sorted(events)

    def _apply(self, kind: int, row: int, started: list[int]) -> None:
        if kind == _ARRIVE:
            heappush(self.waiting, (self.eligible[row], row))
        elif kind == _END and self.start[row] != ABSENT:
            del self.running[bisect_left(self.running, (self.start[row] + self.requested[row], row))]
            self.free += self.cores[row]
        elif kind == _END:
            self.left.add(row)  # cancelled while it waited
        elif row not in self.left:
            self.left.add(row)
            started.append(row)
            if self.end[row] != self.start[row]:
                insort(self.running, (self.start[row] + self.requested[row], row))
                self.free -= self.cores[row]

    def _head(self) -> int | None:
        while self.waiting and self.waiting[0][1] in self.left:
            heappop(self.waiting)
        return self.waiting[0][1] if self.waiting else None

    def _promise(self, head: int, now: int, started: list[int]) -> int:
        """The earliest time at which the head fits if all run as long as they asked.

        Jobs that overtook the head at this very instant do not count: the promise was made before them. Jobs of zero
        length that started ahead of it do: the pass that made the promise may have seen them running.
        """
        place = (self.eligible[head], head)
        overtook = {row for row in started if (self.eligible[row], row) > place}
        instant = [row for row in started if row not in overtook and self.end[row] == now]
        free = self.free + sum(self.cores[row] for row in overtook if self.end[row] != now)
        free -= sum(self.cores[row] for row in instant)
        if free >= self.cores[head]:
            return now
        ends = sorted([*self.running, *((now + self.requested[row], row) for row in instant)])
        for time, row in ends:
            if row not in overtook:
                free += self.cores[row]
                if free >= self.cores[head]:
                    return time
        return now
