"""Cores over time: how many are free from when to when, with every running job and every promise entered."""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers

NEVER = cython.declare(cython.longlong, _NEVER)
BLOCK = cython.declare(cython.Py_ssize_t, 32)


@cython.final
@cython.cclass
class Availability:
    """A step function of time: from `time[i]` to the next, `free[i]` cores. The last step lasts for ever.

    The steps lie in blocks of up to 32. A block knows the least and the most that is free in it, and a bias that all
    its steps have in common; so a change of a long interval, and a search through one, touch whole blocks at once.
    """

    def __init__(self, capacity) -> None:
        room: cython.Py_ssize_t = 16
        self.time = integers(room * BLOCK)
        self.free = integers(room * BLOCK)
        self.order = integers(room)
        self.count = integers(room)
        self.bias = integers(room)
        self.low = integers(room)
        self.high = integers(room)
        self.first = integers(room)
        self.spare = np.arange(room - 1, -1, -1)
        self.spares = room - 1
        self.blocks = 1
        self.p = self.k = 0
        self.left_p = self.left_k = self.right_p = self.right_k = 0
        self.piece_p = self.piece_k = 0
        self.piece_start = self.piece_end = 0
        self.count[0] = 1
        self.time[0] = -NEVER
        self.first[0] = -NEVER
        self.free[0] = capacity
        self.low[0] = self.high[0] = capacity

    def clear(self, capacity):
        """Everything is free again."""
        i: cython.Py_ssize_t
        room: cython.Py_ssize_t = len(self.order)
        for i in range(room - 1):
            self.spare[i] = room - 1 - i
        self.spares = room - 1
        self.blocks = 1
        self.order[0] = self.bias[0] = 0
        self.count[0] = 1
        self.time[0] = self.first[0] = -NEVER
        self.free[0] = self.low[0] = self.high[0] = capacity
        return 0

    def copy(self, other: Availability):
        """Be the same as another one."""
        if len(self.order) != len(other.order):
            self.time, self.free = integers(len(other.time)), integers(len(other.free))
            self.order, self.count = integers(len(other.order)), integers(len(other.order))
            self.bias, self.first = integers(len(other.order)), integers(len(other.order))
            self.low, self.high = integers(len(other.order)), integers(len(other.order))
            self.spare = integers(len(other.order))
        self.time[:] = other.time
        self.free[:] = other.free
        self.order[:] = other.order
        self.count[:] = other.count
        self.bias[:] = other.bias
        self.low[:] = other.low
        self.high[:] = other.high
        self.first[:] = other.first
        self.spare[:] = other.spare
        self.spares = other.spares
        self.blocks = other.blocks
        self.p = self.k = 0
        return 0

    def area(self, start, end):
        """The core-microseconds that are free from `start` to `end`."""
        total: cython.double = 0
        stop: cython.longlong
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.seek(start)
        p = self.p
        k = self.k
        while start < end:
            stop = min(self.step_end(p, k), end)
            total += cython.cast(cython.double, self.free[self.order[p] * BLOCK + k] + self.bias[p]) * (stop - start)
            start = stop
            k += 1
            if k == self.count[p]:
                p += 1
                k = 0
        return total

    def add(self, start, end, cores):
        """`cores` more (or fewer) are free from `start` to `end`."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        q: cython.Py_ssize_t
        i: cython.Py_ssize_t
        blocks: cython.Py_ssize_t
        if start >= end or cores == 0:
            return 0
        self.cut(start)
        p = self.p
        k = self.k
        if end < NEVER:
            blocks = self.blocks
            self.cut(end)
            q = self.p
            i = self.k
            if self.blocks != blocks:  # a block was split: `start` may lie elsewhere now
                self.seek(start)
                p = self.p
                k = self.k
        else:
            q = self.blocks
            i = 0
        self.shift(p, k, q, i, cores)
        if end < NEVER:
            self.join(q, i)
        self.join(p, k)
        return 0

    def shift(self, p, k, q, i, cores):
        """Add to every step from (p, k) up to and without (q, i)."""
        base: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        while p < q or (p == q and k < i):
            if k == 0 and p < q:
                self.bias[p] += cores
                self.low[p] += cores
                self.high[p] += cores
            else:
                base = self.order[p] * BLOCK
                stop = self.count[p] if p < q else i
                while k < stop:
                    self.free[base + k] += cores
                    k += 1
                self.bound(p)
            p += 1
            k = 0
        return 0

    def forget(self, now):
        """What was before `now` is of no interest any more."""
        while True:
            if self.count[0] > 1:
                if self.time[self.order[0] * BLOCK + 1] > now:
                    break
            elif self.blocks == 1 or self.first[1] > now:
                break
            self.drop(0, 0)
        return 0

    def at(self, time):
        """Cores free at a time."""
        self.seek(time)
        return self.free[self.order[self.p] * BLOCK + self.k] + self.bias[self.p]

    def earliest(self, cores, duration, after, limit):
        """The first time s >= `after`, s < `limit`, from which `cores` cores are free until s + duration or `limit`,
        whichever comes first; NEVER where there is none."""
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        base: cython.Py_ssize_t
        need: cython.longlong  # in the block's own terms, without its bias
        start: cython.longlong = -1
        until: cython.longlong = 0
        time: cython.longlong
        if self.count[0] > 1 and self.time[self.order[0] * BLOCK + 1] > after:
            p = k = 0  # the first step: what a search from now on asks for, most of the time
        else:
            self.seek(after)
            p = self.p
            k = self.k
        while p < self.blocks:
            if start < 0 and self.high[p] < cores:
                p += 1
                k = 0
                continue
            if start >= 0 and self.low[p] >= cores:
                if self.first[p] >= until:
                    return start
                p += 1
                k = 0
                continue
            base = self.order[p] * BLOCK
            need = cores - self.bias[p]
            while k < self.count[p]:
                time = self.time[base + k]
                if start >= 0:
                    if time >= until:
                        return start
                    if self.free[base + k] < need:
                        start = -1
                elif self.free[base + k] >= need:
                    start = time if time > after else after
                    if start >= limit:
                        return NEVER
                    until = start + duration
                    if until > limit:
                        until = limit
                k += 1
            p += 1
            k = 0
        return start if start >= 0 else NEVER

    # ---- runs: the longest intervals in which so many cores are free

    def stand(self, p, k):
        """Begin at this step to walk outwards: `left` and `right` are asked for fewer and fewer cores."""
        self.left_p = self.right_p = p
        self.left_k = self.right_k = k
        return 0

    def left(self, cores, floor):
        """Where the run around the step begins, but not before `floor`."""
        p: cython.Py_ssize_t = self.left_p
        k: cython.Py_ssize_t = self.left_k
        base: cython.Py_ssize_t
        need: cython.longlong
        while True:
            base = self.order[p] * BLOCK
            need = cores - self.bias[p]
            if self.low[p] >= cores:
                k = 0
            else:
                while k > 0 and self.free[base + k - 1] >= need:
                    k -= 1
            if k > 0 or p == 0 or self.time[base] <= floor:
                break
            if self.free[self.order[p - 1] * BLOCK + self.count[p - 1] - 1] + self.bias[p - 1] < cores:
                break
            p -= 1
            k = self.count[p] - 1
        self.left_p = p
        self.left_k = k
        return max(self.time[base + k], floor)

    def right(self, cores):
        """Where the run around the step ends, or NEVER."""
        p: cython.Py_ssize_t = self.right_p
        k: cython.Py_ssize_t = self.right_k
        base: cython.Py_ssize_t
        need: cython.longlong
        found: cython.longlong = NEVER
        while p < self.blocks:
            if self.low[p] < cores:
                base = self.order[p] * BLOCK
                need = cores - self.bias[p]
                while k < self.count[p] and self.free[base + k] >= need:
                    k += 1
                if k < self.count[p]:
                    found = self.time[base + k]
                    break
            p += 1
            k = 0
        self.right_p = p
        self.right_k = k
        return found

    def seek_pieces(self, start):
        """Begin to look for runs from `start` on; nothing may change until the last is found."""
        self.seek(start)
        self.piece_p = self.p
        self.piece_k = self.k
        self.piece_end = start
        return 0

    def next_piece(self, cores, until):
        """Find the next run, cut at the start and at `until`: `piece_start` to `piece_end`; whether there is one."""
        p: cython.Py_ssize_t = self.piece_p
        k: cython.Py_ssize_t = self.piece_k
        base: cython.Py_ssize_t = 0
        need: cython.longlong
        while True:
            if p == self.blocks or self.first[p] >= until:
                return False
            if self.high[p] >= cores:
                base = self.order[p] * BLOCK
                need = cores - self.bias[p]
                while k < self.count[p] and self.free[base + k] < need:
                    k += 1
                if k < self.count[p]:
                    break
            p += 1
            k = 0
        self.piece_start = max(self.piece_end, self.time[base + k])
        if self.piece_start >= until:
            return False
        self.right_p = p
        self.right_k = k
        self.piece_end = min(self.right(cores), until)
        self.piece_p = self.right_p
        self.piece_k = self.right_k
        return True

    def step_end(self, p, k):
        """When the step is over, or NEVER."""
        if k + 1 < self.count[p]:
            return self.time[self.order[p] * BLOCK + k + 1]
        return self.first[p + 1] if p + 1 < self.blocks else NEVER

    def steps(self) -> list:
        """Everything as (time, free), in order: for checks and for a person."""
        out = []
        for p in range(self.blocks):
            base = self.order[p] * BLOCK
            for k in range(base, base + self.count[p]):
                out.append((self.time[k], self.free[k] + self.bias[p]))
        return out

    # ---- inside

    def seek(self, time):
        """Set (p, k) to the step that `time` lies in, or to the first. Often it is in the same block as the last."""
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.blocks - 1
        mid: cython.Py_ssize_t = self.p
        base: cython.Py_ssize_t
        if mid <= hi and self.first[mid] <= time and (mid == hi or time < self.first[mid + 1]):
            lo = hi = mid
        while lo < hi:
            mid = (lo + hi + 1) >> 1
            if self.first[mid] <= time:
                lo = mid
            else:
                hi = mid - 1
        self.p = lo
        base = self.order[lo] * BLOCK
        hi = self.count[lo] - 1
        lo = 0
        while lo < hi:
            mid = (lo + hi + 1) >> 1
            if self.time[base + mid] <= time:
                lo = mid
            else:
                hi = mid - 1
        self.k = lo
        return 0

    def cut(self, time):
        """Make sure that a step begins at `time`; (p, k) is that step."""
        base: cython.Py_ssize_t
        i: cython.Py_ssize_t
        self.seek(time)
        if self.time[self.order[self.p] * BLOCK + self.k] == time:
            return 0
        if self.count[self.p] == BLOCK:
            self.split(self.p)
            self.seek(time)
        base = self.order[self.p] * BLOCK
        i = base + self.count[self.p]
        while i > base + self.k + 1:
            self.time[i] = self.time[i - 1]
            self.free[i] = self.free[i - 1]
            i -= 1
        self.time[i] = time
        self.free[i] = self.free[i - 1]
        self.count[self.p] += 1
        self.k += 1
        return 0

    def join(self, p, k):
        """Forget the step at (p, k) if it is no different from the one before."""
        before: cython.longlong
        base: cython.Py_ssize_t = self.order[p] * BLOCK
        if k > 0:
            before = self.free[base + k - 1] + self.bias[p]
        elif p > 0:
            before = self.free[self.order[p - 1] * BLOCK + self.count[p - 1] - 1] + self.bias[p - 1]
        else:
            return 0
        if self.free[base + k] + self.bias[p] == before:
            self.drop(p, k)
        return 0

    def drop(self, p, k):
        """Take a step out."""
        base: cython.Py_ssize_t = self.order[p] * BLOCK
        i: cython.Py_ssize_t
        value: cython.longlong = self.free[base + k] + self.bias[p]
        self.count[p] -= 1
        for i in range(base + k, base + self.count[p]):
            self.time[i] = self.time[i + 1]
            self.free[i] = self.free[i + 1]
        if self.count[p] > 0:
            self.first[p] = self.time[base]
            if value == self.low[p] or value == self.high[p]:
                self.bound(p)
            return 0
        self.spare[self.spares] = self.order[p]
        self.spares += 1
        self.blocks -= 1
        for i in range(p, self.blocks):
            self.order[i] = self.order[i + 1]
            self.count[i] = self.count[i + 1]
            self.bias[i] = self.bias[i + 1]
            self.low[i] = self.low[i + 1]
            self.high[i] = self.high[i + 1]
            self.first[i] = self.first[i + 1]
        return 0

    def bound(self, p):
        """The block's least and most."""
        base: cython.Py_ssize_t = self.order[p] * BLOCK
        i: cython.Py_ssize_t
        low: cython.longlong = self.free[base]
        high: cython.longlong = low
        for i in range(base + 1, base + self.count[p]):
            if self.free[i] < low:
                low = self.free[i]
            if self.free[i] > high:
                high = self.free[i]
        self.low[p] = low + self.bias[p]
        self.high[p] = high + self.bias[p]
        return 0

    def split(self, p):
        """Move the second half of a full block into a new one."""
        i: cython.Py_ssize_t
        if self.spares == 0:
            self.grow()
        self.spares -= 1
        new: cython.Py_ssize_t = self.spare[self.spares]
        half: cython.Py_ssize_t = BLOCK // 2
        source: cython.Py_ssize_t = self.order[p] * BLOCK + half
        for i in range(half):
            self.time[new * BLOCK + i] = self.time[source + i]
            self.free[new * BLOCK + i] = self.free[source + i]
        i = self.blocks
        while i > p + 1:
            self.order[i] = self.order[i - 1]
            self.count[i] = self.count[i - 1]
            self.bias[i] = self.bias[i - 1]
            self.low[i] = self.low[i - 1]
            self.high[i] = self.high[i - 1]
            self.first[i] = self.first[i - 1]
            i -= 1
        self.blocks += 1
        self.order[p + 1] = new
        self.count[p] = self.count[p + 1] = half
        self.bias[p + 1] = self.bias[p]
        self.first[p + 1] = self.time[new * BLOCK]
        self.bound(p)
        self.bound(p + 1)
        return 0

    def grow(self):
        room = len(self.order)
        self.time = doubled(self.time)
        self.free = doubled(self.free)
        self.order = doubled(self.order)
        self.count = doubled(self.count)
        self.bias = doubled(self.bias)
        self.low = doubled(self.low)
        self.high = doubled(self.high)
        self.first = doubled(self.first)
        self.spare = np.arange(2 * room - 1, -1, -1)  # at this point every block is in use
        self.spares = room
        return 0
