"""What programs do, on a clock: an activity waits for its delay, then has its amount done at its fair share.

A sleep is a delay alone; a computation an amount alone; a transfer waits for the latency of its route and has its bytes
flow after that. The clock counts microseconds and parts of them, so that a chain of many short activities takes as
long as their sum.
"""

from __future__ import annotations

import enum
from collections import deque

import cython
import numpy as np

from walltime.kernel.arrays import doubled, integers
from walltime.programs.sharing import FairShares

FIELDS = ("seq", "heap_index", "phase", "gate")
"""The whole numbers of ActivityFields in activities.pxd, in their order, after the others."""

INFINITE = cython.declare(cython.double, float("inf"))
SECOND = cython.declare(cython.double, 1e6)


class Phase(enum.IntEnum):
    """Where an activity is; the compiled modules know the same numbers from activities.pxd."""

    IDLE = 0  # not begun, or paused
    QUEUED = 1  # waits until its gate lets it in
    DELAYED = 2
    FLOWING = 3


if not cython.compiled:
    IDLE, QUEUED, DELAYED, FLOWING = Phase


@cython.cclass
class Waiter:
    """Something that is told when an activity is over."""

    def wake(self, a):
        """The activity of this number is over; the number may be used again."""
        raise NotImplementedError(f"{type(self).__name__}.wake")


@cython.final
@cython.cclass
class Gate:
    """Lets `limit` activities in at a time; `queue` are (number, seq) of those that wait, some of which have gone."""

    def __init__(self, limit) -> None:
        self.limit = limit
        self.inside = 0
        self.queue = deque()


@cython.final
@cython.cclass
class Activities:
    """All that goes on. Activities that end together are told in the order in which they began.

    `open`, `use_resource` for each resource, `go`; then `waiter.wake` once it is over, unless it is cancelled before.
    Delays are seconds, rates amounts in a second, moments microseconds. A gate lets in so many activities at a time,
    first come, first served.
    """

    def __init__(self) -> None:
        self.shares = FairShares()
        self.now = 0.0
        self.live = self.made = self.spares = self.heaped = 0
        self.begun = 0
        reals = [(name, np.float64) for name in ("left", "since", "finish", "delay")]
        self.activities = np.zeros(64, [*reals, *((name, np.int64) for name in FIELDS)])
        self.waiter = [None] * 64
        self.spare = integers(64)
        self.heap = integers(64)
        self.gates = []
        self.metered = {}  # the number of its kind, of each activity that is measured
        self.spans = []  # where what was measured goes: (number, from, to, rate)
        self.view()

    def view(self):
        if not cython.compiled:
            self.activities = self.activities.view(np.recarray)
        self.at = self.activities
        return 0

    # ---- beginning and ending

    def open(self, amount, delay, weight, bound, waiter: Waiter):
        """A new activity; its number. It gets on at `bound` at most, and with a share in proportion to `weight`."""
        a: cython.Py_ssize_t
        if self.spares > 0:
            self.spares -= 1
            a = self.spare[self.spares]
        else:
            a = self.made
            if a == len(self.at):
                larger = np.zeros(2 * a, self.activities.dtype)
                larger[:a] = self.activities
                self.activities = larger
                self.view()
                self.waiter.extend([None] * a)
                self.spare = doubled(self.spare)
                self.heap = doubled(self.heap)
            self.made += 1
        self.at[a].left = amount
        self.at[a].delay = delay
        self.at[a].seq = self.begun
        self.at[a].heap_index = -1
        self.at[a].phase = IDLE
        self.at[a].gate = -1
        self.waiter[a] = waiter
        self.begun += 1
        self.live += 1
        self.shares.open(a, weight, bound)
        return a

    def use_resource(self, a, r, coefficient):
        """The activity takes so much of the resource for each unit of its amount."""
        return self.shares.use_resource(a, r, coefficient)

    def add_gate(self, limit) -> int:
        """One more gate; its number."""
        self.gates.append(Gate(limit))
        return len(self.gates) - 1

    def pass_gate(self, a, gate):
        """The activity, which has not begun, needs to be let in by the gate."""
        self.at[a].gate = gate
        return 0

    def measure(self, a, number):
        """What the activity moves is noted, under this number."""
        self.metered[a] = number
        return 0

    def note(self, a, rate):
        """The activity has gone on at this rate since it was looked at last."""
        number = self.metered.get(a)
        if number is not None and rate > 0 and self.now > self.at[a].since:
            self.spans.append((number, self.at[a].since, self.now, rate))
        return 0

    def note_all(self):
        """The run is over: note what is still going on."""
        a: cython.Py_ssize_t
        self.settle()
        for number in self.metered:
            a = number
            if self.at[a].phase == FLOWING:
                self.note(a, self.shares.rate_of(a))
        return 0

    def go(self, a):
        """The activity begins now, or goes on after a pause."""
        gate: Gate
        if self.at[a].gate >= 0:
            gate = cython.cast(Gate, self.gates[self.at[a].gate])
            if gate.inside >= gate.limit:
                self.at[a].phase = QUEUED
                gate.queue.append((a, self.at[a].seq))
                return 0
            gate.inside += 1
        return self.let_in(a)

    def let_in(self, a):
        if self.at[a].delay > 0:
            self.at[a].phase = DELAYED
            return self.plan(a, self.now + self.at[a].delay * SECOND)
        return self.enter(a)

    def enter(self, a):
        """Its delay is over: its amount begins to be done."""
        self.at[a].phase = FLOWING
        self.at[a].delay = 0.0
        self.at[a].since = self.now
        if self.at[a].left > 0:
            return self.shares.start(a)
        return self.plan(a, self.now)

    def pause(self, a):
        """The activity stops where it is; `go` lets it go on."""
        phase: cython.longlong = self.at[a].phase
        if phase == DELAYED:
            self.at[a].delay = (self.at[a].finish - self.now) / SECOND
        elif phase == FLOWING:
            if self.metered:
                self.note(a, self.shares.rate_of(a))
            self.at[a].left = self.left_of(a)
            self.shares.stop(a)
        if self.at[a].heap_index >= 0:
            self.leave(self.at[a].heap_index)
        self.at[a].phase = IDLE
        return self.leave_gate(a, phase)

    def cancel(self, a):
        """The activity ends without having been done, and its waiter hears nothing."""
        if self.at[a].heap_index >= 0:
            self.leave(self.at[a].heap_index)
        return self.free(a)

    def free(self, a):
        phase: cython.longlong = self.at[a].phase
        if self.metered:
            if phase == FLOWING:
                self.note(a, self.shares.rate_of(a))
            self.metered.pop(a, None)
        self.shares.drop(a)
        self.at[a].heap_index = -1
        self.at[a].phase = IDLE
        self.at[a].seq = -1
        self.waiter[a] = None
        self.spare[self.spares] = a
        self.spares += 1
        self.live -= 1
        return self.leave_gate(a, phase)

    def leave_gate(self, a, phase):
        """The activity, which was in that phase, is outside its gate: the next may come in."""
        gate: Gate
        following: cython.Py_ssize_t
        if self.at[a].gate < 0 or phase < DELAYED:
            return 0
        gate = cython.cast(Gate, self.gates[self.at[a].gate])
        gate.inside -= 1
        while gate.queue and gate.inside < gate.limit:
            following, seq = gate.queue.popleft()
            if self.at[following].seq == seq and self.at[following].phase == QUEUED:
                gate.inside += 1
                self.let_in(following)
        return 0

    def left_of(self, a):
        """What is still to be done of its amount."""
        left: cython.double = self.at[a].left
        if self.at[a].phase == FLOWING and self.at[a].left > 0:
            left -= self.shares.rate_of(a) * (self.now - self.at[a].since) / SECOND
        return left if left > 0 else 0.0

    # ---- time

    def next_time(self):
        """When the next activity changes or ends; infinite where none will."""
        self.settle()
        return self.at[self.heap[0]].finish if self.heaped > 0 else INFINITE

    def advance(self, until):
        """Let everything happen up to that moment, and set the clock to it."""
        a: cython.Py_ssize_t
        moment: cython.double
        waiter: Waiter
        self.settle()
        while self.heaped > 0 and self.at[self.heap[0]].finish <= until:
            moment = self.at[self.heap[0]].finish
            if moment > self.now:
                self.now = moment
            while self.heaped > 0 and self.at[self.heap[0]].finish <= moment:
                a = self.heap[0]
                self.leave(0)
                if self.at[a].phase == DELAYED and self.at[a].left > 0:
                    self.enter(a)
                    continue
                waiter = cython.cast(Waiter, self.waiter[a])
                self.free(a)
                waiter.wake(a)
            self.settle()
        if until > self.now:
            self.now = until
        return 0

    def settle(self):
        """The rates are right again, and so is the moment at which each activity will end."""
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        n: cython.Py_ssize_t = self.shares.settle()
        rate: cython.double
        for k in range(n):
            a = self.shares.changed[k]
            if self.metered:
                self.note(a, self.shares.flow[a].before)
            self.at[a].left -= self.shares.flow[a].before * (self.now - self.at[a].since) / SECOND
            if self.at[a].left < 0:
                self.at[a].left = 0.0
            self.at[a].since = self.now
            rate = self.shares.flow[a].rate
            if rate > 0:
                self.plan(a, self.now + self.at[a].left / rate * SECOND)
            elif self.at[a].heap_index >= 0:
                self.leave(self.at[a].heap_index)
        return 0

    # ---- a heap of activities by (finish, seq), each of which knows its index there

    def before(self, a, b):
        if self.at[a].finish != self.at[b].finish:
            return self.at[a].finish < self.at[b].finish
        return self.at[a].seq < self.at[b].seq

    def plan(self, a, time):
        """The activity changes or ends at that moment."""
        index: cython.Py_ssize_t = self.at[a].heap_index
        earlier: cython.bint = index < 0 or time < self.at[a].finish
        self.at[a].finish = time
        if index < 0:
            index = self.heaped
            self.heaped += 1
        return self.rise(index, a) if earlier else self.fall(index, a)

    def rise(self, i, a):
        p: cython.Py_ssize_t
        while i > 0:
            p = (i - 1) >> 1
            if not self.before(a, self.heap[p]):
                break
            self.heap[i] = self.heap[p]
            self.at[self.heap[i]].heap_index = i
            i = p
        self.heap[i] = a
        self.at[a].heap_index = i
        return 0

    def fall(self, i, a):
        c: cython.Py_ssize_t
        while True:
            c = 2 * i + 1
            if c >= self.heaped:
                break
            if c + 1 < self.heaped and self.before(self.heap[c + 1], self.heap[c]):
                c += 1
            if not self.before(self.heap[c], a):
                break
            self.heap[i] = self.heap[c]
            self.at[self.heap[i]].heap_index = i
            i = c
        self.heap[i] = a
        self.at[a].heap_index = i
        return 0

    def leave(self, i):
        """Take the activity at that index off the heap."""
        a: cython.Py_ssize_t = self.heap[i]
        last: cython.Py_ssize_t
        self.heaped -= 1
        if i < self.heaped:
            last = self.heap[self.heaped]
            if i > 0 and self.before(last, self.heap[(i - 1) >> 1]):
                self.rise(i, last)
            else:
                self.fall(i, last)
        self.at[a].heap_index = -1
        return 0
