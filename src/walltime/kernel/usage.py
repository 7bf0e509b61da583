"""What each association has used of the machine, older use counting for less; brought up to date only when asked.

An association is a number from 0 (`add`). A running job is charged at a *rate*, in cores or what is worth as much;
where several resources are counted there is a rate for each. Rates are multiples of 2**-20, so that a sum of them comes
back to zero exactly when the last job has gone, and the same use gives the same figure whatever came in between.
"""

from __future__ import annotations

import cython

from walltime.core.errors import PolicyError
from walltime.core.time import NEVER as _NEVER
from walltime.core.time import SECOND as _SECOND
from walltime.kernel.arrays import doubled, doubles, integers

NEVER = cython.declare(cython.longlong, _NEVER)
SECOND = cython.declare(cython.double, _SECOND)
GRAIN = cython.declare(cython.double, 1 << 20)
LN2 = cython.declare(cython.double, 0.6931471805599453)
SPLIT = cython.declare(cython.double, (1 << 13) + 1)

if not cython.compiled:
    from math import expm1, pow

    def exp2(x):
        """Two to the power of x."""
        return pow(2.0, x)

    def rint(x):
        """The nearest whole number, even ones of two."""
        return float(round(x))


def blunt(x):
    """The number with its first 40 binary digits: what is equal on paper is equal here, whatever rounding did to it."""
    y: cython.double = SPLIT * x
    if y - y != 0.0:  # too large to be split, or not finite
        return x
    return y - (y - x)


@cython.cclass
class Usage:
    """The use of associations: what has been settled, and what the running jobs add. `width` resources, side by side.

    Times given must not go back. `read` tells a figure at a time that is not before the last change of it.
    """

    def __init__(self, width=1) -> None:
        self.width = width
        self.size = 0
        self.amount = doubles(16 * width)  # settled, in core-seconds, at the time `since`
        self.rate = doubles(16 * width)  # of running jobs
        self.since = integers(16)
        self.running = integers(16)
        self.owner = integers(64)  # of a running job, by slot
        self.rates = doubles(64 * width)
        self.charge = doubles(width)  # the rates that the next `start` takes
        self.changed = integers(16)  # associations of which something has changed since `forget_marks`, each once
        self.changes = 0
        self.marked = integers(16)

    def add(self):
        """The number of a new association, which has used nothing."""
        if self.size == len(self.since):
            self.amount = doubled(self.amount)
            self.rate = doubled(self.rate)
            self.since = doubled(self.since)
            self.running = doubled(self.running)
            self.changed = doubled(self.changed)
            self.marked = doubled(self.marked)
        self.size += 1
        return self.size - 1

    def mark(self, owner):
        """Something of the association has changed, and not by the time alone."""
        if not self.marked[owner]:
            self.marked[owner] = 1
            self.changed[self.changes] = owner
            self.changes += 1
        return 0

    def forget_marks(self):
        """What has changed is known."""
        i: cython.Py_ssize_t
        for i in range(self.changes):
            self.marked[self.changed[i]] = 0
        self.changes = 0
        return 0

    def stands(self, since, time):
        """Whether `read` tells the same at both times of all associations that have not changed in between."""
        return False

    def set_charge(self, k, value):
        """The rate at which the next job to start is charged for the k-th resource, in cores."""
        self.charge[k] = rint(value * GRAIN) / GRAIN
        return 0

    def load(self, owner, k, seconds):
        """Put down earlier use, in core-seconds."""
        self.mark(owner)
        self.amount[owner * self.width + k] += seconds
        return 0

    def start(self, owner, slot, limit, now):
        """A job of the association begins to use what `set_charge` said, for `limit` microseconds at the most."""
        k: cython.Py_ssize_t
        while slot >= len(self.owner):
            self.owner = doubled(self.owner)
            self.rates = doubled(self.rates)
        self.mark(owner)
        self.settle(owner, now)
        self.owner[slot] = owner
        self.running[owner] += 1
        for k in range(self.width):
            self.rates[slot * self.width + k] = self.charge[k]
            self.rate[owner * self.width + k] += self.charge[k]
        return 0

    def stop(self, slot, start, now):
        """The job, which has run since `start`, uses nothing any more."""
        self.require_slot(slot)
        k: cython.Py_ssize_t
        owner: cython.Py_ssize_t = self.owner[slot]
        self.mark(owner)
        self.settle(owner, now)
        self.running[owner] -= 1
        for k in range(self.width):
            self.rate[owner * self.width + k] -= self.rates[slot * self.width + k]
        return 0

    def require_slot(self, slot):
        if not 0 <= slot < len(self.owner):
            raise PolicyError(f"{slot} is not a job that has started")
        return 0

    def settle(self, owner, now):
        """Bring the association's amounts to `now`."""
        raise NotImplementedError(f"{type(self).__name__}.settle")

    def read(self, owner, k, time):
        """The association's use of the k-th resource, in core-seconds, as it counts at the time."""
        raise NotImplementedError(f"{type(self).__name__}.read")


@cython.final
@cython.cclass
class HalfLife(Usage):
    """Use counts for half after each half-life, smoothly, from the moment of the use; a running job's grows with it.

    At time t: the sum over jobs of the integral of rate * 2**(-(t - s) / half_life) over the times s at which it ran.
    Without a half-life (0) nothing is forgotten. From `reset_at` on, nothing that was before it counts.
    """

    def __init__(self, half_life, width=1) -> None:
        Usage.__init__(self, width)
        self.half_life = half_life
        self.forgotten = 0

    def reset_at(self, time):
        """Usage begins at zero again at this time, for all."""
        self.forgotten = time
        return 0

    def settle(self, owner, now):
        k: cython.Py_ssize_t
        if self.since[owner] == now:
            return 0
        for k in range(self.width):
            self.amount[owner * self.width + k] = self.read(owner, k, now)
        self.since[owner] = now
        return 0

    def read(self, owner, k, time):
        at: cython.Py_ssize_t = owner * self.width + k
        before: cython.double = self.amount[at]
        since: cython.longlong = self.since[owner]
        age: cython.double
        if since < self.forgotten <= time:
            before = 0.0
            since = self.forgotten
        if before == 0.0 and self.rate[at] == 0.0:
            return 0.0
        if self.half_life == 0:
            return before + self.rate[at] * (cython.cast(cython.double, time - since) / SECOND)
        age = cython.cast(cython.double, time - since) / cython.cast(cython.double, self.half_life)
        before *= exp2(-age)
        if self.rate[at] != 0.0:
            before -= self.rate[at] * (cython.cast(cython.double, self.half_life) / SECOND / LN2) * expm1(-LN2 * age)
        return before


@cython.final
@cython.cclass
class SteppedUsage(Usage):
    """Use is put down when a job ends, and multiplied by `factor` each time that `every` microseconds have gone by.

    A running job counts for all that it may use, its rate times its limit, from its start on (`temporary`), or for what
    it has used so far. Neither is multiplied. With `brief` microseconds it counts for what it has used so far and, as
    AleaNG has it, all that it may use is added for so long after its start: further starts within that time add to it
    and prolong it, an end puts an end to it; ends come before the starts of their instant, but for a job's own.
    """

    def __init__(self, factor, every, temporary=True, width=1, brief=0) -> None:
        Usage.__init__(self, width)
        self.factor = factor
        self.every = every
        self.temporary = temporary
        self.brief = brief
        self.recent = doubles(16 * width)  # what jobs may use that have just started, in core-seconds
        self.latest = doubles(16 * width)  # the same of those that started at the last start
        self.last = integers(16)  # the last start
        self.open = integers(16 * width)  # what running jobs may use, in core-seconds times GRAIN
        self.opened = integers(64 * width)  # the same of each, by slot
        self.live = doubles(16 * width)  # what they have used so far, at the time `since`

    def start(self, owner, slot, limit, now):
        k: cython.Py_ssize_t
        Usage.start(self, owner, slot, limit, now)
        while owner * self.width >= len(self.open):
            self.open = doubled(self.open)
            self.live = doubled(self.live)
            self.recent = doubled(self.recent)
            self.latest = doubled(self.latest)
            self.last = doubled(self.last)
        while slot * self.width >= len(self.opened):
            self.opened = doubled(self.opened)
        for k in range(self.width):
            self.opened[slot * self.width + k] = cython.cast(
                cython.longlong, rint(self.charge[k] * (cython.cast(cython.double, limit) / SECOND) * GRAIN)
            )
            self.open[owner * self.width + k] += self.opened[slot * self.width + k]
            if now > self.last[owner]:
                self.recent[owner * self.width + k] += self.latest[owner * self.width + k]
                self.latest[owner * self.width + k] = 0.0
            if now - self.last[owner] > self.brief:
                self.recent[owner * self.width + k] = 0.0
            self.latest[owner * self.width + k] += (
                cython.cast(cython.double, self.opened[slot * self.width + k]) / GRAIN
            )
        self.last[owner] = now
        return 0

    def stop(self, slot, start, now):
        self.require_slot(slot)
        k: cython.Py_ssize_t
        used: cython.double
        owner: cython.Py_ssize_t = self.owner[slot]
        Usage.stop(self, slot, start, now)
        for k in range(self.width):
            used = self.rates[slot * self.width + k] * (cython.cast(cython.double, now - start) / SECOND)
            self.amount[owner * self.width + k] += used
            self.live[owner * self.width + k] -= used
            self.open[owner * self.width + k] -= self.opened[slot * self.width + k]
            self.recent[owner * self.width + k] = 0.0
            if self.last[owner] < now:
                self.latest[owner * self.width + k] = 0.0
            elif start == now:  # it had no length
                self.latest[owner * self.width + k] -= (
                    cython.cast(cython.double, self.opened[slot * self.width + k]) / GRAIN
                )
            if self.running[owner] == 0:
                self.live[owner * self.width + k] = 0.0
        return 0

    def settle(self, owner, now):
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        decay: cython.double = self.decay(self.since[owner], now)
        passed: cython.double = cython.cast(cython.double, now - self.since[owner]) / SECOND
        for k in range(self.width):
            at = owner * self.width + k
            self.amount[at] *= decay
            if self.running[owner] > 0:
                self.live[at] += self.rate[at] * passed
        self.since[owner] = now
        return 0

    def stands(self, since, time):
        return self.temporary and since // self.every == time // self.every

    def decay(self, since, time):
        """By what use that was put down at `since` is multiplied until `time`."""
        steps: cython.longlong = time // self.every - since // self.every
        return 1.0 if steps == 0 else pow(self.factor, cython.cast(cython.double, steps))

    def read(self, owner, k, time):
        at: cython.Py_ssize_t = owner * self.width + k
        found: cython.double = self.amount[at] * self.decay(self.since[owner], time)
        if self.running[owner] == 0:
            return found
        if self.temporary:
            return found + cython.cast(cython.double, self.open[at]) / GRAIN
        if self.brief > 0 and time - self.last[owner] <= self.brief:
            found += self.recent[at] + self.latest[at]
        return found + self.live[at] + self.rate[at] * (cython.cast(cython.double, time - self.since[owner]) / SECOND)
