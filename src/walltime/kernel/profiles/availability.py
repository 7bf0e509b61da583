"""Cores over time: how many are free from when to when, with every running job and every promise entered."""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.profiles.sorted_rows import SortedRows, structs

NEVER = cython.declare(cython.longlong, _NEVER)
BLOCK = cython.declare(cython.Py_ssize_t, 32)


@cython.final
@cython.cclass
class Availability(SortedRows):
    """A step function of time: from the `time` of one to that of the next, `free` cores. The last step lasts for ever.

    A block of steps knows the least and the most that is free in it, and a bias that all its steps have in common; so a
    change of a long interval, and a search through one, touch whole blocks at once.
    """

    def __init__(self, capacity) -> None:
        SortedRows.__init__(self, 2, 6, BLOCK, 16)
        self.left_p = self.left_k = self.right_p = self.right_k = 0
        self.piece_p = self.piece_k = 0
        self.piece_start = self.piece_end = 0
        self.clear(capacity)

    def see(self):
        self.rows = structs(self.row_words, 2)
        self.heads = structs(self.head_words, 6)
        return 0

    def clear(self, capacity):
        """Everything is free again."""
        self.begin()
        self.p = self.k = 0
        self.heads[0].count = 1
        self.heads[0].bias = 0
        self.heads[0].first = self.rows[0].time = -NEVER
        self.heads[0].low = self.heads[0].high = self.rows[0].free = capacity
        return 0

    def copy(self, other: Availability):
        """Be the same as another one."""
        self.p = self.k = 0
        return self.be(other)

    def area(self, start, end):
        """The core-microseconds that are free from `start` to `end`."""
        total: cython.double = 0
        stop: cython.longlong
        free: cython.longlong
        p: cython.Py_ssize_t
        k: cython.Py_ssize_t
        self.seek(start)
        p = self.p
        k = self.k
        while start < end:
            stop = min(self.step_end(p, k), end)
            free = self.rows[self.heads[p].base + k].free + self.heads[p].bias
            total += cython.cast(cython.double, free) * (stop - start)
            start = stop
            k += 1
            if k == self.heads[p].count:
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
                self.heads[p].bias += cores
                self.heads[p].low += cores
                self.heads[p].high += cores
            else:
                base = self.heads[p].base
                stop = self.heads[p].count if p < q else i
                while k < stop:
                    self.rows[base + k].free += cores
                    k += 1
                self.bound(p)
            p += 1
            k = 0
        return 0

    def forget(self, now):
        """What was before `now` is of no interest any more."""
        while True:
            if self.heads[0].count > 1:
                if self.rows[self.heads[0].base + 1].time > now:
                    break
            elif self.blocks == 1 or self.heads[1].first > now:
                break
            self.drop(0, 0)
        return 0

    def at(self, time):
        """Cores free at a time."""
        self.seek(time)
        return self.rows[self.heads[self.p].base + self.k].free + self.heads[self.p].bias

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
        if self.heads[0].count > 1 and self.rows[self.heads[0].base + 1].time > after:
            p = k = 0  # the first step: what a search from now on asks for, most of the time
        else:
            self.seek(after)
            p = self.p
            k = self.k
        while p < self.blocks:
            if start < 0 and self.heads[p].high < cores:
                p += 1
                k = 0
                continue
            if start >= 0 and self.heads[p].low >= cores:
                if self.heads[p].first >= until:
                    return start
                p += 1
                k = 0
                continue
            base = self.heads[p].base
            need = cores - self.heads[p].bias
            while k < self.heads[p].count:
                time = self.rows[base + k].time
                if start >= 0:
                    if time >= until:
                        return start
                    if self.rows[base + k].free < need:
                        start = -1
                elif self.rows[base + k].free >= need:
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
            base = self.heads[p].base
            need = cores - self.heads[p].bias
            if self.heads[p].low >= cores:
                k = 0
            else:
                while k > 0 and self.rows[base + k - 1].free >= need:
                    k -= 1
            if k > 0 or p == 0 or self.rows[base].time <= floor:
                break
            if self.rows[self.heads[p - 1].base + self.heads[p - 1].count - 1].free + self.heads[p - 1].bias < cores:
                break
            p -= 1
            k = self.heads[p].count - 1
        self.left_p = p
        self.left_k = k
        return max(self.rows[base + k].time, floor)

    def right(self, cores):
        """Where the run around the step ends, or NEVER."""
        p: cython.Py_ssize_t = self.right_p
        k: cython.Py_ssize_t = self.right_k
        base: cython.Py_ssize_t
        need: cython.longlong
        found: cython.longlong = NEVER
        while p < self.blocks:
            if self.heads[p].low < cores:
                base = self.heads[p].base
                need = cores - self.heads[p].bias
                while k < self.heads[p].count and self.rows[base + k].free >= need:
                    k += 1
                if k < self.heads[p].count:
                    found = self.rows[base + k].time
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
            if p == self.blocks or self.heads[p].first >= until:
                return False
            if self.heads[p].high >= cores:
                base = self.heads[p].base
                need = cores - self.heads[p].bias
                while k < self.heads[p].count and self.rows[base + k].free < need:
                    k += 1
                if k < self.heads[p].count:
                    break
            p += 1
            k = 0
        self.piece_start = max(self.piece_end, self.rows[base + k].time)
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
        if k + 1 < self.heads[p].count:
            return self.rows[self.heads[p].base + k + 1].time
        return self.heads[p + 1].first if p + 1 < self.blocks else NEVER

    def steps(self) -> list:
        """Everything as (time, free), in order: for checks and for a person."""
        out = []
        for p in range(self.blocks):
            base = self.heads[p].base
            for k in range(base, base + self.heads[p].count):
                out.append((self.rows[k].time, self.rows[k].free + self.heads[p].bias))
        return out

    # ---- inside

    def seek(self, time):
        """Set (p, k) to the step that `time` lies in, or to the first. Often it is in the same block as the last."""
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.blocks - 1
        mid: cython.Py_ssize_t = self.p
        base: cython.Py_ssize_t
        if mid <= hi and self.heads[mid].first <= time and (mid == hi or time < self.heads[mid + 1].first):
            lo = hi = mid
        while lo < hi:
            mid = (lo + hi + 1) >> 1
            if self.heads[mid].first <= time:
                lo = mid
            else:
                hi = mid - 1
        self.p = lo
        base = self.heads[lo].base
        hi = self.heads[lo].count - 1
        lo = 0
        while lo < hi:
            mid = (lo + hi + 1) >> 1
            if self.rows[base + mid].time <= time:
                lo = mid
            else:
                hi = mid - 1
        self.k = lo
        return 0

    def cut(self, time):
        """Make sure that a step begins at `time`; (p, k) is that step."""
        i: cython.Py_ssize_t
        self.seek(time)
        if self.rows[self.heads[self.p].base + self.k].time == time:
            return 0
        if self.heads[self.p].count == BLOCK:
            self.split(self.p)
            self.heads[self.p + 1].first = self.rows[self.heads[self.p + 1].base].time
            self.bound(self.p)
            self.bound(self.p + 1)
            self.seek(time)
        i = self.heads[self.p].base + self.k + 1
        self.open_row(self.p, i)
        self.rows[i].time = time
        self.rows[i].free = self.rows[i - 1].free
        self.k += 1
        return 0

    def join(self, p, k):
        """Forget the step at (p, k) if it is no different from the one before."""
        before: cython.longlong
        base: cython.Py_ssize_t = self.heads[p].base
        if k > 0:
            before = self.rows[base + k - 1].free + self.heads[p].bias
        elif p > 0:
            before = self.rows[self.heads[p - 1].base + self.heads[p - 1].count - 1].free + self.heads[p - 1].bias
        else:
            return 0
        if self.rows[base + k].free + self.heads[p].bias == before:
            self.drop(p, k)
        return 0

    def drop(self, p, k):
        """Take a step out."""
        base: cython.Py_ssize_t = self.heads[p].base
        value: cython.longlong = self.rows[base + k].free + self.heads[p].bias
        self.close_row(p, base + k)
        if self.heads[p].count == 0:
            return self.drop_block(p)
        self.heads[p].first = self.rows[base].time
        if value == self.heads[p].low or value == self.heads[p].high:
            self.bound(p)
        return 0

    def bound(self, p):
        """The block's least and most."""
        base: cython.Py_ssize_t = self.heads[p].base
        i: cython.Py_ssize_t
        low: cython.longlong = self.rows[base].free
        high: cython.longlong = low
        for i in range(base + 1, base + self.heads[p].count):
            if self.rows[i].free < low:
                low = self.rows[i].free
            if self.rows[i].free > high:
                high = self.rows[i].free
        self.heads[p].low = low + self.heads[p].bias
        self.heads[p].high = high + self.heads[p].bias
        return 0
