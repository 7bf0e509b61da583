"""The cores of running jobs by expected end: when will so many be free?"""

from __future__ import annotations

import cython
import numpy as np

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.arrays import doubled, integers
from walltime.kernel.profiles.free_profile import FreeProfile

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import count_below, words
    from walltime.kernel.prefetch import prefetch_line  # noqa: F401 - as in release_profile.pxd

    BLOCK = 32
    ENTRY = 2  # words: a time, and the cores that become free then
    WORDS = BLOCK * ENTRY

    def move_up(a, begin, end):
        a[begin + ENTRY : end + ENTRY] = a[begin:end].copy()

    def move_down(a, begin, end):
        a[begin : end - ENTRY] = a[begin + ENTRY : end].copy()

    def fetch_block(at):
        return None


@cython.final
@cython.cclass
class ReleaseProfile:
    """Entries (time, cores), one for each time at which a job is expected to end, in order: blocks of 32 that know
    their last time and their sum of cores.

    An insertion or removal moves at most a block; `when` adds up whole blocks, then entries of one.
    """

    def __init__(self) -> None:
        room: cython.Py_ssize_t = 64
        self.steps = integers(room * WORDS)
        self.order = integers(room)  # where block p's entries lie
        self.count = integers(room)
        self.last = integers(room)
        self.total = integers(room)
        self.spare = np.arange(room - 1, -1, -1)
        self.spares = room - 1
        self.last[0] = -1
        self.blocks = 1
        self.released = 0
        self.asked = -1  # what `when` told last, while nothing has changed since

    def insert(self, time, cores):
        """So many cores more become free then."""
        if cores == 0:
            return 0
        p: cython.Py_ssize_t = self.block_of(time)
        if self.count[p] == BLOCK:
            self.split(p)
            p += time > self.last[p]
        a: cython.p_longlong = words(self.steps)
        i: cython.Py_ssize_t = self.order[p] * WORDS
        e: cython.Py_ssize_t = i + self.count[p] * ENTRY
        fetch_block(cython.address(a[i]))
        i += ENTRY * count_below(cython.address(a[i]), ENTRY, self.count[p], time)
        self.asked = -1
        self.total[p] += cores
        if i < e and a[i] == time:
            a[i + 1] += cores
            return 0
        move_up(a, i, e)
        a[i] = time
        a[i + 1] = cores
        self.count[p] += 1
        if i == e:
            self.last[p] = time
        return 0

    def remove(self, time, cores):
        """So many cores less become free then; KeyError where that were less than none."""
        if cores == 0:
            return 0
        p: cython.Py_ssize_t = self.block_of(time)
        a: cython.p_longlong = words(self.steps)
        i: cython.Py_ssize_t = self.order[p] * WORDS
        e: cython.Py_ssize_t = i + self.count[p] * ENTRY
        fetch_block(cython.address(a[i]))
        i += ENTRY * count_below(cython.address(a[i]), ENTRY, self.count[p], time)
        if i >= e or a[i] != time or a[i + 1] < cores:
            raise KeyError((time, cores))
        self.asked = -1
        self.total[p] -= cores
        if a[i + 1] > cores:
            a[i + 1] -= cores
            return 0
        move_down(a, i, e)
        self.count[p] -= 1
        if self.count[p] == 0:
            self.drop_block(p)
        elif i == e - ENTRY:
            self.last[p] = a[i - ENTRY]
        return 0

    def when(self, need):
        """The earliest expected time by which `need` cores are released (NEVER where they are not in sum);
        `released` is then how many are released by that time, everything that ends at it included."""
        p: cython.Py_ssize_t = 0
        sum: cython.longlong = 0
        total: cython.p_longlong = words(self.total)
        while p < self.blocks and sum + total[p] < need:
            sum += total[p]
            p += 1
        if p == self.blocks:
            self.released = sum
            self.asked = -1
            return NEVER
        a: cython.p_longlong = words(self.steps)
        i: cython.Py_ssize_t = self.order[p] * WORDS
        sum += a[i + 1]
        while sum < need:
            i += ENTRY
            sum += a[i + 1]
        self.released = sum
        self.asked = a[i]
        return a[i]

    def released_by(self, time):
        """Cores of the jobs that are expected to end at `time` or before."""
        p: cython.Py_ssize_t = 0
        x: cython.Py_ssize_t
        sum: cython.longlong = 0
        if time == self.asked:
            return self.released
        while p < self.blocks and self.count[p] > 0 and self.last[p] <= time:
            sum += self.total[p]
            p += 1
        if p < self.blocks:
            for x in range(self.order[p] * WORDS, self.order[p] * WORDS + self.count[p] * ENTRY, 2):
                if self.steps[x] > time:
                    break
                sum += self.steps[x + 1]
        return sum

    def next_end(self, time):
        """The first expected end after `time`, or NEVER."""
        p: cython.Py_ssize_t = self.block_of(time + 1)
        i: cython.Py_ssize_t = self.order[p] * WORDS
        k: cython.Py_ssize_t = count_below(cython.address(self.steps[i]), ENTRY, self.count[p], time + 1)
        return self.steps[i + k * ENTRY] if k < self.count[p] else NEVER

    def tell(self, free_profile: FreeProfile):
        """Write down in the free_profile when the cores become free."""
        p: cython.Py_ssize_t
        x: cython.Py_ssize_t
        for p in range(self.blocks):
            for x in range(self.order[p] * WORDS, self.order[p] * WORDS + self.count[p] * ENTRY, 2):
                free_profile.release(self.steps[x], self.steps[x + 1])
        return 0

    def entries(self) -> list:
        """Everything as (time, cores), in order."""
        out = []
        for p in range(self.blocks):
            for x in range(self.order[p] * WORDS, self.order[p] * WORDS + self.count[p] * ENTRY, 2):
                out.append((self.steps[x], self.steps[x + 1]))
        return out

    def block_of(self, time):
        """The first block whose last time is not before this one; the last one takes everything above."""
        return count_below(words(self.last), 1, self.blocks - 1, time)

    def drop_block(self, p):
        """The block is empty; only the last of all stays."""
        k: cython.Py_ssize_t
        if self.blocks == 1:
            self.last[0] = -1
            return 0
        self.spare[self.spares] = self.order[p]
        self.spares += 1
        self.blocks -= 1
        for k in range(p, self.blocks):
            self.order[k] = self.order[k + 1]
            self.count[k] = self.count[k + 1]
            self.last[k] = self.last[k + 1]
            self.total[k] = self.total[k + 1]
        return 0

    def grow(self):
        room = len(self.order)
        self.steps = doubled(self.steps)
        self.order = doubled(self.order)
        self.count = doubled(self.count)
        self.last = doubled(self.last)
        self.total = doubled(self.total)
        self.spare = np.arange(2 * room - 1, -1, -1)  # at this point every block is in use
        self.spares = room
        return 0

    def split(self, p):
        """The later half of the block's entries becomes the next one."""
        x: cython.Py_ssize_t
        k: cython.Py_ssize_t
        moved: cython.longlong = 0
        if self.spares == 0:
            self.grow()
        self.spares -= 1
        new: cython.Py_ssize_t = self.spare[self.spares]
        half: cython.Py_ssize_t = WORDS // 2
        source: cython.Py_ssize_t = self.order[p] * WORDS + half
        for x in range(half):
            self.steps[new * WORDS + x] = self.steps[source + x]
            moved += self.steps[source + x] if x & 1 else 0
        for k in range(self.blocks, p + 1, -1):
            self.order[k] = self.order[k - 1]
            self.count[k] = self.count[k - 1]
            self.last[k] = self.last[k - 1]
            self.total[k] = self.total[k - 1]
        self.blocks += 1
        self.order[p + 1] = new
        self.count[p + 1] = self.count[p] = BLOCK // 2
        self.last[p + 1] = self.last[p]
        self.total[p + 1] = moved
        self.total[p] -= moved
        self.last[p] = self.steps[source - ENTRY]
        return 0
