"""The cores of running jobs by expected end: when will so many be free?"""

from __future__ import annotations

import cython

from walltime.core.time import NEVER as _NEVER
from walltime.kernel.profiles.free_profile import FreeProfile
from walltime.kernel.profiles.sorted_rows import SortedRows, structs

NEVER = cython.declare(cython.longlong, _NEVER)

if not cython.compiled:
    from walltime.kernel.arrays import count_below
    from walltime.kernel.prefetch import prefetch_line  # noqa: F401 - as in release_profile.pxd

    BLOCK, ROW, HEAD = 32, 2, 4

    def fetch_block(at):
        return None


@cython.final
@cython.cclass
class ReleaseProfile(SortedRows):
    """Rows of a time at which a job is expected to end, each time once, and the cores that become free then; each block
    knows its last time and its sum of cores.

    `when` adds up whole blocks, then rows of one.
    """

    def __init__(self) -> None:
        SortedRows.__init__(self, ROW, HEAD, BLOCK, 64)
        self.heads[0].last = -1
        self.released = 0
        self.asked = -1  # what `when` told last, while nothing has changed since

    def see(self):
        self.rows = structs(self.row_words, ROW)
        self.heads = structs(self.head_words, HEAD)
        return 0

    def insert(self, time, cores):
        """So many cores more become free then."""
        if cores == 0:
            return 0
        p: cython.Py_ssize_t = self.block_of(time)
        if self.heads[p].count == BLOCK:
            self.split(p)
            self.sum_up(p)
            self.sum_up(p + 1)
            p += time > self.heads[p].last
        i: cython.Py_ssize_t = self.row_of(p, time)
        head = cython.address(self.heads[p])
        row = cython.address(self.rows[i])
        self.asked = -1
        head.total += cores
        if i < head.base + head.count and row.time == time:
            row.cores += cores
            return 0
        self.open_row(p, i)
        row.time = time
        row.cores = cores
        if time > head.last:
            head.last = time
        return 0

    def remove(self, time, cores):
        """So many cores less become free then; KeyError where that were less than none."""
        if cores == 0:
            return 0
        p: cython.Py_ssize_t = self.block_of(time)
        i: cython.Py_ssize_t = self.row_of(p, time)
        head = cython.address(self.heads[p])
        end: cython.Py_ssize_t = head.base + head.count
        if i == end or self.rows[i].time != time or self.rows[i].cores < cores:
            raise KeyError((time, cores))
        row = cython.address(self.rows[i])
        self.asked = -1
        head.total -= cores
        if row.cores > cores:
            row.cores -= cores
            return 0
        self.close_row(p, i)
        if head.count == 0:
            head.last = -1
            return self.drop_block(p)
        if i == end - 1:
            head.last = self.rows[i - 1].time
        return 0

    def when(self, need):
        """The earliest expected time by which `need` cores are released (NEVER where they are not in sum);
        `released` is then how many are released by that time, everything that ends at it included."""
        p: cython.Py_ssize_t = 0
        sum: cython.longlong = 0
        head = cython.address(self.heads[0])
        while p < self.blocks and sum + head[p].total < need:
            sum += head[p].total
            p += 1
        if p == self.blocks:
            self.released = sum
            self.asked = -1
            return NEVER
        row = cython.address(self.rows[head[p].base])
        sum += row.cores
        while sum < need:
            row += 1
            sum += row.cores
        self.released = sum
        self.asked = row.time
        return self.asked

    def released_by(self, time):
        """Cores of the jobs that are expected to end at `time` or before."""
        p: cython.Py_ssize_t = 0
        x: cython.Py_ssize_t
        sum: cython.longlong = 0
        if time == self.asked:
            return self.released
        while p < self.blocks and self.heads[p].count > 0 and self.heads[p].last <= time:
            sum += self.heads[p].total
            p += 1
        if p < self.blocks:
            for x in range(self.heads[p].base, self.heads[p].base + self.heads[p].count):
                if self.rows[x].time > time:
                    break
                sum += self.rows[x].cores
        return sum

    def next_end(self, time):
        """The first expected end after `time`, or NEVER."""
        p: cython.Py_ssize_t = self.block_of(time + 1)
        i: cython.Py_ssize_t = self.row_of(p, time + 1)
        return self.rows[i].time if i < self.heads[p].base + self.heads[p].count else NEVER

    def tell(self, free_profile: FreeProfile):
        """Write down in the free_profile when the cores become free."""
        p: cython.Py_ssize_t
        x: cython.Py_ssize_t
        for p in range(self.blocks):
            for x in range(self.heads[p].base, self.heads[p].base + self.heads[p].count):
                free_profile.release(self.rows[x].time, self.rows[x].cores)
        return 0

    def entries(self) -> list:
        """Everything as (time, cores), in order."""
        out = []
        for p in range(self.blocks):
            for x in range(self.heads[p].base, self.heads[p].base + self.heads[p].count):
                out.append((self.rows[x].time, self.rows[x].cores))
        return out

    def block_of(self, time):
        """The first block whose last time is not before this one; the last one takes everything above."""
        return count_below(cython.address(self.heads[0].last), HEAD, self.blocks - 1, time)

    def row_of(self, p, time):
        """The block's first row whose time is not before this one."""
        head = cython.address(self.heads[p])
        first = cython.address(self.rows[head.base].time)
        fetch_block(first)
        return head.base + count_below(first, ROW, head.count, time)

    def sum_up(self, p):
        """The block's last time and sum of cores."""
        x: cython.Py_ssize_t
        self.heads[p].total = 0
        for x in range(self.heads[p].base, self.heads[p].base + self.heads[p].count):
            self.heads[p].last = self.rows[x].time
            self.heads[p].total += self.rows[x].cores
        return 0
