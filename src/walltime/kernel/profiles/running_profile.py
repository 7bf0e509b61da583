"""Running jobs by their expected end: when will so many cores be free?"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.free_profile import FreeProfile

NEVER = cython.declare(cython.longlong, _NEVER)
BLOCK = cython.declare(cython.Py_ssize_t, 64)

if not cython.compiled:
    from walltime.kernel.arrays import words

    def move_up(a, begin, end):
        a[begin + 1 : end + 1] = a[begin:end].copy()

    def move_down(a, begin, end):
        a[begin:end] = a[begin + 1 : end + 1].copy()


@cython.final
@cython.cclass
class RunningProfile:
    """Entries (time, seq) -> cores in order, in blocks of 64 that know their sum of cores.

    An insertion or removal moves at most a block; `when` adds up whole blocks, then entries of one.
    """

    def __init__(self) -> None:
        room: cython.Py_ssize_t = 64
        self.time = integers(room * BLOCK)
        self.seq = integers(room * BLOCK)
        self.cores = integers(room * BLOCK)
        self.order = integers(room)  # where block p's entries lie
        self.count = integers(room)
        self.last_time = integers(room)
        self.last_seq = integers(room)
        self.total = integers(room)
        self.spare = np.arange(room - 1, -1, -1)
        self.spares = room - 1
        self.order[0] = 0
        self.last_time[0] = -1
        self.blocks = 1
        self.released = 0
        self.asked = -1  # what `when` told last, while nothing has changed since

    def insert(self, time, seq, cores):
        """Add a running job."""
        i: cython.Py_ssize_t
        e: cython.Py_ssize_t
        p: cython.Py_ssize_t = self.block_of(time, seq)
        if self.count[p] == BLOCK:
            self.split(p)
            if time > self.last_time[p] or (time == self.last_time[p] and seq > self.last_seq[p]):
                p += 1
        i = self.slot_of(p, time, seq)
        e = self.order[p] * BLOCK + self.count[p]
        t: cython.p_longlong = words(self.time)
        s: cython.p_longlong = words(self.seq)
        c: cython.p_longlong = words(self.cores)
        move_up(t, i, e)
        move_up(s, i, e)
        move_up(c, i, e)
        t[i] = time
        s[i] = seq
        c[i] = cores
        self.asked = -1
        self.count[p] += 1
        self.total[p] += cores
        if time > self.last_time[p] or (time == self.last_time[p] and seq > self.last_seq[p]):
            self.last_time[p] = time
            self.last_seq[p] = seq
        return 0

    def remove(self, time, seq):
        """Take a job out; KeyError where it is not in."""
        p: cython.Py_ssize_t = self.block_of(time, seq)
        i: cython.Py_ssize_t = self.slot_of(p, time, seq)
        e: cython.Py_ssize_t = self.order[p] * BLOCK + self.count[p] - 1
        t: cython.p_longlong = words(self.time)
        s: cython.p_longlong = words(self.seq)
        c: cython.p_longlong = words(self.cores)
        if i > e or t[i] != time or s[i] != seq:
            raise KeyError((time, seq))
        self.total[p] -= c[i]
        self.asked = -1
        move_down(t, i, e)
        move_down(s, i, e)
        move_down(c, i, e)
        self.count[p] -= 1
        if self.count[p] > 0:
            self.last_time[p] = t[e - 1]
            self.last_seq[p] = s[e - 1]
        elif self.blocks == 1:
            self.last_time[0] = -1
        else:
            self.spare[self.spares] = self.order[p]
            self.spares += 1
            self.blocks -= 1
            while p < self.blocks:
                self.order[p] = self.order[p + 1]
                self.count[p] = self.count[p + 1]
                self.last_time[p] = self.last_time[p + 1]
                self.last_seq[p] = self.last_seq[p + 1]
                self.total[p] = self.total[p + 1]
                p += 1
        return 0

    def when(self, need):
        """The earliest expected time by which `need` cores are released (NEVER where they are not in sum);
        `released` is then how many are released by that time, everything that ends at it included."""
        p: cython.Py_ssize_t = 0
        x: cython.Py_ssize_t = 0
        base: cython.Py_ssize_t
        time: cython.longlong
        sum: cython.longlong = 0
        while p < self.blocks and sum + self.total[p] < need:
            sum += self.total[p]
            p += 1
        if p == self.blocks:
            self.released = sum
            self.asked = -1
            return NEVER
        base = self.order[p] * BLOCK
        while True:
            sum += self.cores[base + x]
            if sum >= need:
                break
            x += 1
        time = self.time[base + x]
        while True:
            x += 1
            if x == self.count[p]:
                x = 0
                p += 1
                if p == self.blocks:
                    break
                base = self.order[p] * BLOCK
            if self.time[base + x] != time:
                break
            sum += self.cores[base + x]
        self.released = sum
        self.asked = time
        return time

    def released_by(self, time):
        """Cores of the jobs that are expected to end at `time` or before."""
        p: cython.Py_ssize_t = 0
        x: cython.Py_ssize_t = 0
        sum: cython.longlong = 0
        if time == self.asked:
            return self.released
        while p < self.blocks and self.count[p] > 0 and self.last_time[p] <= time:
            sum += self.total[p]
            p += 1
        if p < self.blocks:
            while x < self.count[p] and self.time[self.order[p] * BLOCK + x] <= time:
                sum += self.cores[self.order[p] * BLOCK + x]
                x += 1
        return sum

    def next_end(self, time):
        """The first expected end after `time`, or NEVER."""
        p: cython.Py_ssize_t = self.block_of(time + 1, -NEVER)  # blockers have a seq below zero
        i: cython.Py_ssize_t = self.slot_of(p, time + 1, -NEVER)
        return self.time[i] if i < self.order[p] * BLOCK + self.count[p] else NEVER

    def tell(self, free_profile: FreeProfile):
        """Write down in the free_profile when the cores become free."""
        p: cython.Py_ssize_t
        x: cython.Py_ssize_t
        base: cython.Py_ssize_t
        for p in range(self.blocks):
            base = self.order[p] * BLOCK
            for x in range(base, base + self.count[p]):
                free_profile.release(self.time[x], self.cores[x])
        return 0

    def entries(self) -> list:
        """Everything as (time, seq, cores), in order: for checks and for a person."""
        out = []
        for p in range(self.blocks):
            base = self.order[p] * BLOCK
            for x in range(base, base + self.count[p]):
                out.append((self.time[x], self.seq[x], self.cores[x]))
        return out

    def block_of(self, time, seq):
        lo: cython.Py_ssize_t = 0
        hi: cython.Py_ssize_t = self.blocks - 1  # the last block takes everything above
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.last_time[mid] < time or (self.last_time[mid] == time and self.last_seq[mid] < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def slot_of(self, p, time, seq):
        lo: cython.Py_ssize_t = self.order[p] * BLOCK
        hi: cython.Py_ssize_t = lo + self.count[p]
        mid: cython.Py_ssize_t
        while lo < hi:
            mid = (lo + hi) >> 1
            if self.time[mid] < time or (self.time[mid] == time and self.seq[mid] < seq):
                lo = mid + 1
            else:
                hi = mid
        return lo

    def grow(self):
        room = len(self.order)
        self.time = doubled(self.time)
        self.seq = doubled(self.seq)
        self.cores = doubled(self.cores)
        self.order = doubled(self.order)
        self.count = doubled(self.count)
        self.last_time = doubled(self.last_time)
        self.last_seq = doubled(self.last_seq)
        self.total = doubled(self.total)
        self.spare = np.arange(2 * room - 1, -1, -1)  # at this point every block is in use
        self.spares = room
        return 0

    def split(self, p):
        x: cython.Py_ssize_t
        moved: cython.longlong = 0
        if self.spares == 0:
            self.grow()
        self.spares -= 1
        new: cython.Py_ssize_t = self.spare[self.spares]
        half: cython.Py_ssize_t = BLOCK // 2
        source: cython.Py_ssize_t = self.order[p] * BLOCK + half
        target: cython.Py_ssize_t = new * BLOCK
        for x in range(half):
            self.time[target + x] = self.time[source + x]
            self.seq[target + x] = self.seq[source + x]
            self.cores[target + x] = self.cores[source + x]
            moved += self.cores[source + x]
        q: cython.Py_ssize_t = self.blocks
        while q > p + 1:
            self.order[q] = self.order[q - 1]
            self.count[q] = self.count[q - 1]
            self.last_time[q] = self.last_time[q - 1]
            self.last_seq[q] = self.last_seq[q - 1]
            self.total[q] = self.total[q - 1]
            q -= 1
        self.blocks += 1
        self.order[p + 1] = new
        self.count[p + 1] = half
        self.last_time[p + 1] = self.last_time[p]
        self.last_seq[p + 1] = self.last_seq[p]
        self.total[p + 1] = moved
        self.count[p] = half
        self.total[p] -= moved
        self.last_time[p] = self.time[source - 1]
        self.last_seq[p] = self.seq[source - 1]
        return 0
